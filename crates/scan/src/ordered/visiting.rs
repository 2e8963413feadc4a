//! How a worker takes a file through its visitor.

use std::mem;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

use finecomb_meter::Phase;

use super::job::{Job, Passing, Shared, Streamed};
use super::plan::SlotId;
use super::worker::Worker;
use super::{FileName, Text, Visit};
use crate::block::Source;
use crate::read::file::ChunkedFile;
use crate::read::stream::StreamBlock;
use crate::read::{Part, parts};

/// A file is as much work as so many bytes of it.
const FILE: u64 = 32 << 10;

impl<V: Visit> Worker<'_, V> {
    /// Books bytes.
    fn took(&mut self, bytes: usize) {
        self.meter.add_bytes(bytes as u64);
        self.plan.pace.book(bytes as u64);
    }

    /// Visits a file that is in the buffer.
    pub(super) fn whole(&mut self, number: usize, name: FileName<'_>, range: Range<usize>) {
        self.visited += 1;
        self.meter.add_file();
        self.plan.pace.book(FILE);
        let mut buffer = mem::take(&mut self.buffer);
        let mut passing = Passing { carry: self.visitor.begin(name, &[]), tally: V::Tally::default() };
        let _ = self.in_turn(number, name, &mut buffer[range], 0, true, &mut passing);
        self.buffer = buffer;
        self.end(name, passing);
    }

    /// Visits a file chunk by chunk. As long as there is nothing in it, its chunks are left out, which saves the
    /// counting of lines; if something is found after all, they are read once more.
    pub(super) fn alone(&mut self, shared: &Shared<V>, file: &ChunkedFile) {
        let (name, number) = (shared.file_name(), shared.source.argument());
        let mut buffer = mem::take(&mut self.buffer);
        let mut passing = Passing { carry: shared.chain.begin(), tally: V::Tally::default() };
        let mut left_out = Vec::new();
        let mut has_nothing = true;
        while let Some(chunk) = file.claim() {
            left_out.push(chunk);
            if has_nothing {
                self.meter.enter(Phase::Read);
                let range = file.read(chunk, &mut buffer, &mut self.problems);
                let bytes = &mut buffer[range];
                self.meter.enter(Phase::Search);
                has_nothing = bytes.len() <= self.context.bounds.max_line
                    && self.visitor.has_nothing(name, Text { bytes, offset: 0, is_whole: false });
                if has_nothing {
                    continue;
                }
            }
            let passed = left_out.drain(..).try_for_each(|chunk| {
                self.meter.enter(Phase::Read);
                let range = file.read(chunk, &mut buffer, &mut self.problems);
                let offset = chunk + range.start as u64 - shared.start;
                self.in_turn(number, name, &mut buffer[range], offset, false, &mut passing)
            });
            if passed.is_break() {
                break;
            }
        }
        self.buffer = buffer;
        self.end(name, passing);
    }

    /// Visits a block of a file that this worker alone visits, when its turn has come.
    fn in_turn(
        &mut self,
        number: usize,
        name: FileName<'_>,
        bytes: &mut [u8],
        start: u64,
        is_whole: bool,
        passing: &mut Passing<V>,
    ) -> ControlFlow<()> {
        let Passing { carry, tally } = passing;
        let total = bytes.len();
        self.took(total);
        for part in parts(bytes, self.context.bounds) {
            self.meter.enter(Phase::Search);
            let offset = start + part.start as u64;
            if let Some(length) = part.too_long {
                let source = Source::new(number, name.path.map(Path::to_owned));
                self.problems.add_long_line(&source, offset, self.context.bounds);
                self.visitor.skip_line(carry, length as u64);
                continue;
            }
            let is_whole = is_whole && part.bytes.len() == total;
            let found = self.visitor.search(name, Text { bytes: part.bytes, offset, is_whole });
            let before = carry.clone();
            let text = Text { bytes: part.bytes, offset, is_whole };
            let passed = self.visitor.pass(name, text, &found, carry);
            self.meter.enter(Phase::Print);
            let text = Text { bytes: part.bytes, offset, is_whole };
            self.visitor.print(name, text, found, &before, tally, &mut self.out);
            passed?;
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, name: FileName<'_>, passing: Passing<V>) {
        self.meter.enter(Phase::Print);
        if self.visitor.end(name, passing.carry, passing.tally, &mut self.out).is_break() {
            self.plan.halt();
        }
    }

    /// Visits a chunk of a file that is shared.
    pub(super) fn chunk(&mut self, shared: &Shared<V>, file: &ChunkedFile, chunk: u64, block: u64) {
        self.meter.enter(Phase::Read);
        let mut buffer = mem::take(&mut self.buffer);
        let range = file.read(chunk, &mut buffer, &mut self.problems);
        let offset = chunk + range.start as u64;
        self.block(shared, block, &mut buffer[range], offset);
        self.buffer = buffer;
    }

    /// Reads a block of a stream, lets others read on, and visits the block.
    pub(super) fn stream(&mut self, slot: SlotId, mut streamed: Box<Streamed<V>>) {
        self.meter.enter(streamed.stream.phase());
        let shared = Arc::clone(&streamed.shared);
        let block = streamed.blocks;
        let mut buffer = mem::take(&mut self.buffer);
        let read = match shared.chain.is_over() {
            true => None,
            false => streamed.stream.read(&mut buffer, true, shared.stop.as_deref(), &mut self.problems),
        };
        match read {
            Some(StreamBlock { range, offset, .. }) => {
                streamed.blocks += 1;
                self.plan.put_back(slot, Job::Stream(streamed));
                self.block(&shared, block, &mut buffer[range], offset);
            }
            None => self.end_shared(&shared, block),
        }
        self.buffer = buffer;
    }

    /// Visits a block of a file that is shared: searches it, waits for its turn, and prints it.
    fn block(&mut self, shared: &Shared<V>, block: u64, bytes: &mut [u8], offset: u64) {
        self.meter.enter(Phase::Search);
        self.took(bytes.len());
        let (name, bounds) = (shared.file_name(), self.context.bounds);
        let is_whole = false;
        let offset_of = |part: &Part<'_>| offset - shared.start + part.start as u64;
        let mut parts: Vec<_> = parts(bytes, bounds).collect();
        let mut found = Vec::with_capacity(parts.len());
        for part in &mut parts {
            let offset = offset_of(part);
            let wanted = part.too_long.is_none() && !shared.chain.is_over();
            found.push(
                wanted.then(|| self.visitor.search(name, Text { bytes: part.bytes, offset, is_whole })),
            );
        }
        self.meter.enter(Phase::Wait);
        let mut befores = Vec::with_capacity(parts.len());
        {
            let mut turn = shared.chain.await_turn(block);
            self.meter.enter(Phase::Search);
            let state = &mut *turn.state;
            for (part, found) in parts.iter_mut().zip(&found) {
                if state.over {
                    break;
                }
                befores.push(state.carry.clone());
                let offset = offset_of(part);
                match (part.too_long, found) {
                    (Some(length), _) => self.visitor.skip_line(&mut state.carry, length as u64),
                    (None, Some(found)) => {
                        let text = Text { bytes: part.bytes, offset, is_whole };
                        let passed = self.visitor.pass(name, text, found, &mut state.carry);
                        state.over = passed.is_break();
                        if state.over
                            && let Some(stop) = &shared.stop
                        {
                            stop.raise();
                        }
                    }
                    // Its search was left out because nothing more was wanted, which stays so.
                    (None, None) => {}
                }
            }
        }
        self.meter.enter(Phase::Print);
        let mut tally = V::Tally::default();
        for ((part, found), before) in parts.iter_mut().zip(found).zip(&befores) {
            let offset = offset_of(part);
            match found {
                Some(found) => {
                    let text = Text { bytes: part.bytes, offset, is_whole };
                    self.visitor.print(name, text, found, before, &mut tally, &mut self.out);
                }
                None => self.problems.add_long_line(&shared.source, shared.start + offset, bounds),
            }
        }
        shared.chain.printed(|sum| V::add(sum, tally));
    }

    /// Ends a file that is shared, of so many blocks.
    pub(super) fn end_shared(&mut self, shared: &Shared<V>, blocks: u64) {
        self.meter.enter(Phase::Wait);
        let (carry, tally) = shared.chain.await_all(blocks);
        self.end(shared.file_name(), Passing { carry, tally });
    }
}
