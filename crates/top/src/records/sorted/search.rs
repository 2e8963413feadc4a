//! Search for the ends of a window in a file that is in the order of time.

use std::collections::BTreeMap;
use std::ops::Range;

use finecomb_scan::{Block, LinesAt, Source};
use memchr::memchr;

use crate::records::rows::RowMaker;
use crate::time::order::{RunOrder, Timed};

/// Bytes that are read at a time, at first. A few records fit, and a page is what the kernel reads anyway.
const FIRST_READ: usize = 4 << 10;

/// Growth of a read in which no time was found.
const GROWTH: usize = 4;

/// Bytes that are read at a time, at most, unless a line is longer.
const MAX_READ: usize = 1 << 20;

/// Bytes that are read in search of the next time, at least.
const MIN_LOOK_ON: u64 = 1 << 20;

/// The same as a share of the range that is searched, so that skipping a part without times costs little compared with
/// scanning that range.
const LOOK_ON_SHARE: u64 = 512;

/// A search in a file. It reads records at some offsets, and remembers their times.
pub(crate) struct BorderSearch<'f, 'q> {
    source: &'f Source,
    lines: &'f LinesAt<'f>,
    maker: RowMaker<'q>,
    /// The records that were read, by offset, each with its end and time.
    records: BTreeMap<u64, (u64, i64)>,
    /// Why the search is less exact than it could be.
    pub(crate) stopped: Option<Stopped>,
}

/// Reason why a search is less exact than it could be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stopped {
    /// A large part of the file has no times.
    NoTime,
    /// The file cannot be read.
    Unreadable,
}

/// An end of a window, between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Border {
    /// End of a record before the threshold, or start of the text.
    pub(crate) after_early: u64,
    /// Start of a record that is not before the threshold, or end of the text.
    pub(crate) before_late: u64,
}

impl<'f, 'q> BorderSearch<'f, 'q> {
    /// A search with a maker of rows that finds all times.
    pub(crate) fn new(source: &'f Source, lines: &'f LinesAt<'f>, maker: RowMaker<'q>) -> Self {
        Self { source, lines, maker, records: BTreeMap::new(), stopped: None }
    }

    /// Reads the first records and the last, which often suffice, and which show whether a file is in the reverse order.
    pub(crate) fn read_ends(&mut self) {
        let Range { start, end } = self.lines.range();
        let mut length = self.first_read() as u64;
        loop {
            let offset = end.saturating_sub(length).max(start);
            match self.first_at(offset, end) {
                Ok(None) if offset > start && length < MIN_LOOK_ON => length *= GROWTH as u64,
                _ => break,
            }
        }
        // A failure occurs again in the search for the borders, which reports it.
        let _ = self.first_at(start, end);
    }

    /// Finds two records on both sides of a threshold, with less than a block between them, where there are such records.
    /// A file that is not quite in order has several such places.
    pub(crate) fn border(&mut self, threshold: i64) -> Border {
        let range = self.lines.range();
        let mut border = Border { after_early: range.start, before_late: range.end };
        let late = self.records.iter().find(|(_, (_, instant))| *instant >= threshold);
        if let Some((&offset, _)) = late {
            border.before_late = offset;
        }
        if let Some((_, &(end, _))) = self.records.range(..border.before_late).next_back() {
            border.after_early = end;
        }
        // No record with a time begins in between.
        let mut limit = border.before_late;
        while limit.saturating_sub(border.after_early) > self.grain() {
            let middle = border.after_early.midpoint(limit);
            match self.first_at(middle, limit) {
                Ok(Some((_, end, instant))) if instant < threshold => border.after_early = end,
                Ok(Some((offset, ..))) => (border.before_late, limit) = (offset, middle),
                Ok(None) => limit = middle,
                Err(stopped) => {
                    limit = middle;
                    self.stopped.get_or_insert(stopped);
                }
            }
        }
        border
    }

    /// The text of the file.
    pub(crate) fn range(&self) -> Range<u64> {
        self.lines.range()
    }

    /// Two borders are not searched for more exactly than this, in bytes.
    fn grain(&self) -> u64 {
        self.lines.block_size() as u64
    }

    fn first_read(&self) -> usize {
        self.lines.block_size().clamp(64, FIRST_READ)
    }

    /// The start, the end and the time of the first record with a time that begins at `offset` or after it. `None` if
    /// there is none before `limit`.
    fn first_at(&mut self, offset: u64, limit: u64) -> Result<Option<(u64, u64, i64)>, Stopped> {
        let look_on = MIN_LOOK_ON.max((limit - offset) / LOOK_ON_SHARE);
        let mut length = self.first_read();
        let mut from = offset;
        loop {
            let (start, mut text) = self.lines.read(from, length).map_err(|_| Stopped::Unreadable)?;
            let first = self.read_times(start, &mut text);
            let searched = if text.is_empty() { from + length as u64 } else { start + text.len() as u64 };
            if first.is_some() || searched >= limit {
                return Ok(first);
            }
            if searched - offset >= look_on {
                return Err(Stopped::NoTime);
            }
            if !text.is_empty() {
                from = searched;
            }
            length = (length * GROWTH).min(if text.is_empty() { usize::MAX / GROWTH } else { MAX_READ });
        }
    }

    /// Remembers the times of the records of a text, and returns the first.
    fn read_times(&mut self, start: u64, text: &mut [u8]) -> Option<(u64, u64, i64)> {
        let mut first = None;
        let block = Block::new(self.source, start, text);
        let instants = self.maker.instants(&block);
        for (record, instant) in instants {
            let end =
                memchr(b'\n', &block.bytes[record.1..]).map_or(block.bytes.len(), |end| record.1 + end + 1);
            let (offset, end) = (start + record.0 as u64, start + end as u64);
            first = first.or(Some((offset, end, instant)));
            self.records.insert(offset, (end, instant));
        }
        first
    }

    /// The order of the records that were read.
    pub(crate) fn order(&self) -> RunOrder {
        let mut order = RunOrder::default();
        self.records.iter().for_each(|(&offset, &(_, instant))| order.push(Timed { offset, instant }));
        order
    }

    /// The records that were read.
    pub(crate) fn records(&self) -> impl Iterator<Item = (Timed, u64)> {
        self.records.iter().map(|(&offset, &(end, instant))| (Timed { offset, instant }, end))
    }
}
