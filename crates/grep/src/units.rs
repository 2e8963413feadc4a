//! Units of a text that are selected, counted and printed as a whole: lines, or records of several lines.

use std::ops::Range;

use finecomb_scan::{LineRole, RecordStart};
use memchr::{memchr, memchr_iter, memrchr};

use crate::tail::last_lines;

/// Maximum number of bytes before a line that are searched for a line that opens. In a longer text, a look at the lines of a record takes
/// less time.
const SEARCHED: usize = 4 << 10;

/// Division of a text into lines or records. Every text that it is asked about begins with one.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    line_end: u8,
    /// Recognises the first line of a record. `None` if each line is a unit.
    record: Option<RecordStart>,
}

impl Units {
    pub(crate) fn new(line_end: u8, record: Option<RecordStart>) -> Self {
        Self { line_end, record }
    }

    /// Units of one line each.
    #[cfg(test)]
    pub(crate) fn lines(line_end: u8) -> Self {
        Self::new(line_end, None)
    }

    /// Whether a unit may have several lines.
    pub(crate) fn are_records(&self) -> bool {
        self.record.is_some()
    }

    /// Returns the end, terminator included, of the unit that begins at `start`.
    pub(crate) fn end_from(&self, bytes: &[u8], start: usize) -> usize {
        let end = self.line_end(bytes, start);
        if self.are_records() { self.line_after(bytes, start..end).start } else { end }
    }

    /// Returns the line after the unit that begins with `first`, where the unit ends. It is empty at the end of the text.
    fn line_after(&self, bytes: &[u8], first: Range<usize>) -> Range<usize> {
        let line_from = |start: usize| start..self.line_end(bytes, start);
        let Some(record) = &self.record else { return line_from(first.end) };
        let mut next = line_from(first.end);
        let mut is_open = record.may_open() && self.role(record, &bytes[first]) == LineRole::Opens;
        while !next.is_empty() {
            match self.role(record, &bytes[next.clone()]) {
                LineRole::Begins if !is_open => break,
                LineRole::Begins => is_open = false,
                LineRole::Opens => is_open = true,
                LineRole::Continues => {}
            }
            next = line_from(next.end);
        }
        next
    }

    /// Returns the start of the unit with a line, and the line after the unit. A unit begins at `from`.
    pub(crate) fn around(&self, bytes: &[u8], from: usize, line: Range<usize>) -> (usize, Range<usize>) {
        let start = self.start_before(bytes, from, line.clone());
        // The lines from the first one on say whether the next one that would begin a record continues this one.
        let is_known = start == line.start || !self.record.as_ref().is_some_and(RecordStart::may_open);
        let last = if is_known { line } else { start..self.line_end(bytes, start) };
        (start, self.line_after(bytes, last))
    }

    /// Returns the start of the unit with a line. A unit begins at `from`.
    fn start_before(&self, bytes: &[u8], from: usize, mut line: Range<usize>) -> usize {
        let Some(record) = &self.record else { return line.start };
        let before = &bytes[from..line.start];
        let may_open = record.may_open() && (before.len() > SEARCHED || record.may_open_in(before));
        // The last line that begins a record, unless a line before it opens one.
        let mut begin = None;
        while line.start > from {
            match self.role(record, &bytes[line.clone()]) {
                LineRole::Begins if begin.is_none() && may_open => begin = Some(line.start),
                LineRole::Begins => return begin.unwrap_or(line.start),
                LineRole::Opens => begin = None,
                LineRole::Continues => {}
            }
            line = self.line_before(bytes, from, line.start);
        }
        begin.filter(|_| self.role(record, &bytes[line]) != LineRole::Opens).unwrap_or(from)
    }

    fn role(&self, record: &RecordStart, line: &[u8]) -> LineRole {
        record.role_before(self.line_end, line.strip_suffix(&[self.line_end]).unwrap_or(line))
    }

    /// Returns the end of the line that begins at `start`.
    fn line_end(&self, bytes: &[u8], start: usize) -> usize {
        memchr(self.line_end, &bytes[start..]).map_or(bytes.len(), |length| start + length + 1)
    }

    /// Returns the line that ends at `end`.
    fn line_before(&self, bytes: &[u8], from: usize, end: usize) -> Range<usize> {
        memrchr(self.line_end, &bytes[from..end - 1]).map_or(from, |before| from + before + 1)..end
    }

    /// Returns the offset of the last units of `bytes`, at most `wanted`, and their number.
    pub(crate) fn last(&self, bytes: &[u8], wanted: usize) -> (usize, usize) {
        if !self.are_records() {
            return last_lines(bytes, wanted, self.line_end);
        }
        let (mut first, mut count) = (bytes.len(), 0);
        while count < wanted && first > 0 {
            first = self.start_before(bytes, 0, self.line_before(bytes, 0, first));
            count += 1;
        }
        (first, count)
    }

    /// Returns the units from `from` on, terminators included.
    pub(crate) fn iter(&self, bytes: &[u8], from: usize) -> impl Iterator<Item = Range<usize>> {
        let mut first = from..self.line_end(bytes, from);
        std::iter::from_fn(move || {
            let start = first.start;
            if first.is_empty() {
                return None;
            }
            first = self.line_after(bytes, first.clone());
            Some(start..first.start)
        })
    }

    /// Number of lines in a unit, or in several records.
    pub(crate) fn lines_in(&self, units: &[u8]) -> u64 {
        match self.record {
            Some(_) => memchr_iter(self.line_end, units).count() as u64,
            None => 1,
        }
    }
}
