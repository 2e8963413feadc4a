//! Searching files ahead, while they are collected to be sorted.
//!
//! A sorted search finds all files before it prints anything, and would open each of them twice: to learn its sort key, and to
//! search it. Most files hold no match. If such a file is searched where it is found, while its directory is open, it needs
//! neither a sort key nor a place in the order. That takes a quarter less time.

use std::fs::File;
use std::time::{Duration, Instant};

use finecomb_meter::Phase;

use super::visit::{Print, Wants};
use super::worker::{FILE_WORK, Visitor};
use crate::block::{Block, Source};

/// Time for which files are searched ahead. All output waits for it.
const DELAY: Duration = Duration::from_millis(500);

/// Files are searched ahead while at most one of this many is searched again. Searching again costs about five times the usual
/// saving.
const FILES_PER_REPEAT: u64 = 6;

/// Files that one worker searches again at any rate.
const FIRST_REPEATS: u64 = 16;

/// Decides whether a worker searches files ahead.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    /// The end of the time for it; `None` if no file is searched ahead.
    end: Option<Instant>,
    searched: u64,
    /// Files that are searched again.
    repeats: u64,
}

impl Ahead {
    /// Searches files ahead for a short time from now on.
    pub(crate) fn from_now() -> Self {
        Self { end: Some(Instant::now() + DELAY), ..Self::default() }
    }

    pub(crate) fn is_worthwhile(&self) -> bool {
        let limit = self.searched / FILES_PER_REPEAT + FIRST_REPEATS;
        self.repeats < limit && self.end.is_some_and(|end| Instant::now() < end)
    }

    fn record(&mut self, is_repeated: bool) {
        self.searched += 1;
        self.repeats += u64::from(is_repeated);
    }
}

impl<V: Print> Visitor<'_, V> {
    /// Searches an open file ahead. Returns `true` if it is done: it is small, and has no match. Otherwise, and after any error, it
    /// is to be read in its turn.
    pub(super) fn search_ahead(&mut self, source: &Source, file: &File, short_read_is_end: bool) -> bool {
        debug_assert_eq!(self.wants, Wants::Blocks);
        self.sequencer.pool.add_work(FILE_WORK);
        let is_done = self.has_no_match(source, file, short_read_is_end);
        self.ahead.record(!is_done);
        if is_done {
            self.visited += 1;
            self.reader.meter.add_file();
        }
        is_done
    }

    fn has_no_match(&mut self, source: &Source, file: &File, short_read_is_end: bool) -> bool {
        let Some(text) = self.reader.read_small_text(source, file, short_read_is_end) else { return false };
        if text.len() > self.reader.context.bounds.max_line {
            return false;
        }
        let (start, length) = (text.start as u64, text.len());
        let mut buffer = std::mem::take(&mut self.reader.buffer);
        self.reader.meter.enter(Phase::Search);
        let block = Block { is_whole: true, ..Block::new(source, start, &mut buffer[text]) };
        let has_no_match = self.visit.is_skippable(&block);
        self.reader.buffer = buffer;
        if has_no_match {
            self.record_bytes(length);
        }
        has_no_match
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_searched_ahead_while_few_are_searched_again() {
        let later = Some(Instant::now() + Duration::from_secs(3600));
        let mut ahead = Ahead { end: later, ..Ahead::default() };
        (0..FIRST_REPEATS).for_each(|_| {
            assert!(ahead.is_worthwhile());
            ahead.record(true);
        });
        (0..FILES_PER_REPEAT).for_each(|_| ahead.record(false));
        assert!(ahead.is_worthwhile());
        (0..4).for_each(|_| ahead.record(true));
        assert!(!ahead.is_worthwhile());
    }

    #[test]
    fn no_file_is_searched_ahead_behind_the_end_of_the_time_for_it() {
        assert!(!Ahead::default().is_worthwhile());
        assert!(!Ahead { end: Some(Instant::now()), ..Ahead::default() }.is_worthwhile());
    }
}
