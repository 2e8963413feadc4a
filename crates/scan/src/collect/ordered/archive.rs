//! Visiting the members of an archive.

use std::sync::Arc;

use super::job::{Unshared, VisitTask};
use super::visit::{Print, Wants};
use super::worker::Visitor;
use crate::block::{Block, Source};
use crate::problem::ProblemKind;
use crate::schedule::sequencer::SlotId;
use crate::source::TextBlock;
use crate::source::archive::{Archive, Member, MemberBatch};
use crate::source::reader::FileContents;
use crate::source::stream::Stream;

/// Maximum size of a member that is visited as a whole, in bytes. A small archive may hold one of any size.
const MAX_WHOLE: usize = 256 << 20;

impl<V: Print> Visitor<'_, V> {
    /// Takes the next members of an archive, returns the archive to other workers, and visits the members.
    pub(super) fn visit_archive(&mut self, slot: SlotId, mut archive: Box<Archive>) {
        let limit = self.limit(&archive.source);
        let names_only = self.wants == Wants::Name;
        let Some(batch) = self.reader.next_members(&mut archive, limit, names_only) else { return };
        if batch.is_streamed() {
            // The last member is read from the archive itself.
            self.visit_members(batch);
            self.sequencer.put_back(slot, VisitTask::Archive(archive));
        } else {
            self.sequencer.put_back(slot, VisitTask::Archive(archive));
            self.visit_members(batch);
        }
    }

    fn visit_members(&mut self, batch: MemberBatch) {
        for Member { source, text } in batch.members {
            if self.sequencer.pool.is_halted() {
                return;
            }
            if self.wants == Wants::Name {
                self.visit_name(&source);
            } else {
                let limit = self.limit(&source).min(MAX_WHOLE);
                let contents = self.reader.read_member(&source, text, limit);
                self.visit_member(&source, contents);
            }
            self.out.flush_if_full();
        }
    }

    fn visit_member(&mut self, source: &Source, mut contents: Result<FileContents, ProblemKind>) {
        if let (Wants::Whole(limit), Ok(FileContents::Stream { .. })) = (self.wants, &contents) {
            return self.reader.problems.add(source, ProblemKind::TooLarge(limit.min(MAX_WHOLE)));
        }
        let recognized = match &mut contents {
            Ok(contents @ FileContents::Stream { .. }) => self.reader.recognize(source, contents),
            _ => Ok(None),
        };
        match (recognized, contents) {
            (Err(kind), _) => self.reader.problems.add(source, kind),
            (_, Ok(FileContents::Stream { mut stream, known })) => {
                let shared = self.share(stream.source.clone(), stream.offset, known, None);
                stream.bounds = stream.bounds.with_ends(shared.nul_ends);
                if let Ok(shared) = Arc::try_unwrap(shared) {
                    let is_over = shared.chain.is_over();
                    let (state, tally) = (shared.chain.state(), V::Tally::default());
                    self.visit_alone(*stream, is_over, Unshared { start: shared.start, state, tally });
                }
            }
            (_, contents) => {
                self.begin(source, contents.map(Some), None);
            }
        }
    }

    /// Visits a stream, block by block.
    fn visit_alone(&mut self, mut stream: Stream, is_over: bool, mut unshared: Unshared<V>) {
        let source = stream.source.clone();
        let ends = self.visit.nul_ends(&source);
        let mut buffer = std::mem::take(&mut self.reader.buffer);
        while !is_over && !self.sequencer.pool.is_halted() {
            self.reader.meter.enter(stream.phase());
            let Some(read) = stream.read(&mut buffer, false, &mut self.reader.problems) else { break };
            let TextBlock { range, offset, in_long_line, first_line, unclosed, .. } = read;
            let block = Block::new(&source, offset - unshared.start, &mut buffer[range]);
            let block = Block { in_long_line, first_line, ..block };
            if self.visit_next(block, unclosed, ends, &mut unshared).is_break() {
                break;
            }
        }
        self.reader.buffer = buffer;
        self.end_file(&source, unshared);
    }
}
