//! Units of a text that are selected, counted and printed as a whole: lines, or records of several lines.

use std::ops::Range;

use finecomb_scan::{LineRole, RecordStart};
use memchr::{memchr, memchr_iter, memrchr};

use crate::tail::last_lines;

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
        match &self.record {
            None => end,
            Some(record) => self.record_end(record, bytes, start..end),
        }
    }

    /// Returns the end of the record whose first line this is.
    fn record_end(&self, record: &RecordStart, bytes: &[u8], first: Range<usize>) -> usize {
        let mut end = first.end;
        let mut is_open = record.may_open() && self.role(record, &bytes[first]) == LineRole::Opens;
        while end < bytes.len() {
            let next = self.line_end(bytes, end);
            match self.role(record, &bytes[end..next]) {
                LineRole::Begins if !is_open => break,
                LineRole::Begins => is_open = false,
                LineRole::Opens => is_open = true,
                LineRole::Continues => {}
            }
            end = next;
        }
        end
    }

    /// Returns the start of the unit with the line that begins at `line`. A unit begins at `from`.
    pub(crate) fn start_before(&self, bytes: &[u8], from: usize, line: usize) -> usize {
        let Some(record) = &self.record else { return line };
        let role = |start: usize| self.role(record, &bytes[start..self.line_end(bytes, start)]);
        let mut start = line;
        while start > from {
            if role(start) == LineRole::Begins {
                let mut before = start;
                while record.may_open() && before > from {
                    before = self.line_before(bytes, from, before);
                    if role(before) != LineRole::Continues {
                        break;
                    }
                }
                // An opening line makes the next one that would begin a record continue its own.
                if before == start || role(before) != LineRole::Opens {
                    return start;
                }
                start = before;
            } else {
                start = self.line_before(bytes, from, start);
            }
        }
        start
    }

    fn role(&self, record: &RecordStart, line: &[u8]) -> LineRole {
        record.role_before(self.line_end, line.strip_suffix(&[self.line_end]).unwrap_or(line))
    }

    /// Returns the end of the line that begins at `start`.
    fn line_end(&self, bytes: &[u8], start: usize) -> usize {
        memchr(self.line_end, &bytes[start..]).map_or(bytes.len(), |length| start + length + 1)
    }

    /// Returns the start of the line that ends at `end`.
    fn line_before(&self, bytes: &[u8], from: usize, end: usize) -> usize {
        memrchr(self.line_end, &bytes[from..end - 1]).map_or(from, |before| from + before + 1)
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
    pub(crate) fn iter(&self, bytes: &[u8], mut from: usize) -> impl Iterator<Item = Range<usize>> {
        std::iter::from_fn(move || {
            let start = from;
            if start == bytes.len() {
                return None;
            }
            from = self.end_from(bytes, start);
            Some(start..from)
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
