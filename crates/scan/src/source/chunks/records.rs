//! Chunks of a file in which records may span lines.
//!
//! A record belongs to the chunk that holds the end of the record before it, and the first record to the first chunk. A worker
//! finds these ends once it knows the state at the beginning of its chunk, such as whether that is within quotes. So it first computes the effect of the chunk on every
//! state, publishes that, and takes the state at its beginning from the chunks before.
//!
//! This cannot deadlock: chunks are claimed in order, every claimed chunk is published, also one that cannot be read, and no worker waits
//! before it has published its own.

use finecomb_meter::Meter;
use finecomb_sys::ReadBuffer;

use super::ChunkedFile;
use crate::problem::Problems;
use crate::records::rules::{RecordEffect, RecordRules, RecordState, RecordTransition};
use crate::source::TextBlock;

impl ChunkedFile {
    /// Reads the records of a chunk into `buffer` and returns their range in it. A last record over the limit may be
    /// truncated past the limit.
    pub(crate) fn read_records(
        &self,
        rules: RecordRules,
        chunk: u64,
        buffer: &mut ReadBuffer,
        meter: &mut Meter,
        problems: &mut Problems,
    ) -> TextBlock {
        let read = self.read_chunk(chunk, buffer, problems);
        let number = (chunk - self.start) / self.bounds.block_size as u64;
        let Some((owned, got)) = read else {
            self.start_states.exchange(number, RecordTransition::Unknown, &[], meter);
            return TextBlock::default();
        };
        let transition = rules.transition(&buffer[..owned]);
        // Every claimed chunk must be published: others wait for it.
        let (start, effect) = self.start_states.exchange(number, transition, &buffer[..owned], meter);
        let begin = match rules.first_end(&buffer[..owned], start) {
            _ if number == 0 => 0,
            Ok(end) => end + 1,
            Err(_) => return TextBlock::default(),
        };
        let RecordEffect { state, last_record } = effect;
        let is_last = self.end - chunk == owned as u64;
        let (end, unclosed) = if begin == got || is_last && last_record == owned {
            (owned, 0)
        } else {
            let last = LastRecord { begin: last_record, searched: owned, state, got };
            self.end_of_last_record(rules, chunk, last, buffer, problems)
        };
        TextBlock { range: begin..end, offset: chunk + begin as u64, unclosed, ..TextBlock::default() }
    }

    /// Returns the end of the last record of the chunk, which reaches past it. Also returns its length if its quotes are
    /// not closed up to the end of the file, otherwise 0.
    fn end_of_last_record(
        &self,
        rules: RecordRules,
        chunk: u64,
        mut last: LastRecord,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> (usize, usize) {
        loop {
            match rules.first_end(&buffer[last.searched..last.got], last.state) {
                Ok(end) => return (last.searched + end + 1, 0),
                Err(after) => last.state = after,
            }
            last.searched = last.got;
            match self.read_on(chunk, last.begin, last.got, buffer, problems) {
                Some(more) => last.got += more,
                None => {
                    let length = last.got - last.begin;
                    return (last.got, self.bounds.unclosed(length, last.state));
                }
            }
        }
    }
}

/// The last record of a chunk, whose end may be unknown.
struct LastRecord {
    begin: usize,
    /// Its end is not before this position.
    searched: usize,
    /// The state at that position.
    state: RecordState,
    /// End of the bytes that were read.
    got: usize,
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use crate::block::Source;
    use crate::options::ScanOptions;
    use crate::records::Records;

    #[test]
    fn no_chunk_waits_for_one_that_cannot_be_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        std::fs::write(&path, b"\"a\nb\nc\"\nd\n").expect("a file");
        let mut bounds = ScanOptions { block_size: 4, ..ScanOptions::default() }.bounds();
        bounds.records = Records::Quoted { delimiter: b',' };
        let file = |write_only: bool| {
            let opened = OpenOptions::new().read(!write_only).write(write_only).open(&path).expect("opening");
            ChunkedFile::new(Source::named(0, Some(path.clone())), opened, 0..10, bounds.clone())
        };
        let rules = bounds.rules().expect("records span lines");
        let read = |file: &ChunkedFile, chunk| {
            let mut problems = Problems::default();
            let block =
                file.read_records(rules, chunk, &mut ReadBuffer::new(), &mut Meter::off(), &mut problems);
            (block.range, !problems.is_empty())
        };
        let readable = file(false);
        assert_eq!(
            [0, 4, 8].map(|chunk| read(&readable, chunk)),
            [(0..8, false), (4..6, false), (2..2, false)]
        );
        let unreadable = file(true);
        assert_eq!(
            [0, 4, 8].map(|chunk| read(&unreadable, chunk)),
            [(0..0, true), (0..0, true), (0..0, true)]
        );
    }
}
