//! Processing the members of an archive.

use super::Accumulate;
use super::worker::FoldWorker;
use crate::schedule::queue::FoldWork;
use crate::source::archive::{Archive, Member, MemberBatch};
use crate::source::stream::Stream;

impl<A: Accumulate> FoldWorker<'_, A> {
    /// Takes the next members of an archive, returns the archive to other workers, and processes the members.
    pub(super) fn process_archive(&mut self, mut archive: Box<Archive>) {
        let limit = self.limit();
        let Some(batch) = self.reader.next_members(&mut archive, limit, false) else { return };
        if batch.is_streamed() {
            // The last member is read from the archive itself.
            self.process_members(batch);
            self.queue.add_open(vec![FoldWork::Archive(archive)]);
        } else {
            self.queue.add_open(vec![FoldWork::Archive(archive)]);
            self.process_members(batch);
        }
    }

    fn process_members(&mut self, batch: MemberBatch) {
        let limit = self.limit();
        for Member { source, text } in batch.members {
            if self.queue.pool.is_halted() {
                return;
            }
            let contents = self.reader.read_member(&source, text, limit);
            self.begin(&source, contents, false);
        }
    }

    /// Processes all of a stream.
    pub(super) fn process_alone(&mut self, mut stream: Stream) {
        let source = stream.source.clone();
        while !self.queue.pool.is_halted() {
            self.reader.meter.enter(stream.phase());
            let buffer = &mut self.reader.buffer;
            let Some(block) = stream.read(buffer, false, &mut self.reader.problems) else { return };
            self.process_block(&source, block, false);
        }
    }
}
