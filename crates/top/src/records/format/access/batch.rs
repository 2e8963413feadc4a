//! Extraction of values of many records, a batch at a time.

use finecomb_sys::simd::{Kernel, Masks};
use memchr::memrchr;

use super::ends::{find_byte, find_quote};
use super::request::{Request, RequestPart, ValuePart};
use super::{AccessLog, Check, EndSearch, TextAfter, ValueStep};
use crate::cells::{Cell, Cells, Span};

/// Number of records that go through all steps together. Their text stays in the fastest cache.
const BATCH: usize = 64;

/// Extracts the values of all records. Each step is a loop over a batch of records: the processor overlaps the searches
/// of different records, as none depends on another.
pub(super) struct ExtractValues<'a> {
    pub(super) log: &'a AccessLog,
    pub(super) text: &'a [u8],
    pub(super) records: &'a [Span],
    pub(super) cells: &'a mut Cells,
}

impl Kernel for ExtractValues<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { log, text, records, cells } = self;
        let mut batch =
            RecordBatch { text, records: &[], starts: [0; BATCH], ends: [0; BATCH], failures: Vec::new() };
        for (number, records) in records.chunks(BATCH).enumerate() {
            batch.begin(&log.before, records);
            for step in &log.steps {
                batch.search(masks, step);
                for &(part, column) in &step.wanted {
                    batch.append(masks, part, &mut cells.columns_mut()[column]);
                }
                match step.parts[..] {
                    [] => {}
                    [(part, column)] => {
                        batch.append(masks, ValuePart::Request(part), &mut cells.columns_mut()[column]);
                    }
                    ref parts => batch.append_parts(masks, parts, cells.columns_mut()),
                }
                batch.advance(&step.after);
            }
            batch.report(number * BATCH, cells);
        }
    }
}

/// Position of a record that is malformed.
const NOWHERE: usize = usize::MAX;

/// Records at the same step.
struct RecordBatch<'a> {
    text: &'a [u8],
    records: &'a [Span],
    /// Starts of the values.
    starts: [usize; BATCH],
    /// Ends of the values.
    ends: [usize; BATCH],
    /// The malformed records: index, position and reason.
    failures: Vec<(usize, usize, &'static str)>,
}

/// Finds the end of the value of each record by an expression of the text, and the bounds of the search. A macro, as a closure
/// would be compiled without the instructions of the masks.
macro_rules! find_ends {
    ($batch:expr, $reason:expr, ($text:ident, $start:ident, $end:ident) => $found:expr) => {
        for (index, &(_, $end)) in $batch.records.iter().enumerate() {
            let ($text, $start) = ($batch.text, $batch.starts[index]);
            if $start == NOWHERE {
                continue;
            }
            match $found {
                Some(found) => $batch.ends[index] = found,
                None => $batch.fail(index, $start, $reason),
            }
        }
    };
}

impl<'a> RecordBatch<'a> {
    /// Begins with records, which are no more than [`BATCH`], after the text before the first value.
    #[inline(always)]
    fn begin(&mut self, before: &[u8], records: &'a [Span]) {
        self.records = records;
        self.failures.clear();
        for (index, &(start, end)) in records.iter().enumerate() {
            self.starts[index] = start + before.len();
            if !before.is_empty() && !self.text[start..end].starts_with(before) {
                self.fail(index, start, "the record does not begin like the log format");
            }
        }
    }

    /// Finds the ends of the values of a step.
    #[inline(always)]
    fn search<M: Masks>(&mut self, masks: M, step: &ValueStep) {
        let reason = step.reason();
        match &step.end {
            &EndSearch::Byte(byte) => {
                find_ends!(self, reason, (text, start, end) => find_byte(masks, text, start, end, byte));
            }
            EndSearch::Short(short) => {
                find_ends!(self, reason, (text, start, end) => short.find(masks, text, start, end));
            }
            EndSearch::Long(finder) => {
                find_ends!(self, reason, (text, start, end) => {
                    finder.find(&text[start..end]).map(|at| start + at)
                });
            }
            EndSearch::User(short) => find_ends!(self, reason, (text, start, end) => {
                let found = short.find(masks, text, start, end);
                found.filter(|&found| !text[start..found].starts_with(b"- "))
            }),
            EndSearch::Address => find_ends!(self, reason, (text, start, end) => {
                let word = find_byte(masks, text, start, end, b' ').unwrap_or(end);
                memrchr(b':', &text[start..word]).map(|colon| start + colon)
            }),
            EndSearch::Quote => {
                find_ends!(self, reason, (text, start, end) => find_quote(masks, text, start, end));
            }
            EndSearch::Space => find_ends!(self, reason, (text, start, end) => {
                Some(find_byte(masks, text, start, end, b' ').unwrap_or(end))
            }),
            EndSearch::End => find_ends!(self, reason, (_text, _start, end) => Some(end)),
        }
    }

    /// Appends the parts of the values to a column.
    #[inline(always)]
    fn append<M: Masks>(&self, masks: M, part: ValuePart, column: &mut Vec<Cell>) {
        let values = self.starts.iter().zip(&self.ends).take(self.records.len());
        if part == ValuePart::Whole {
            // Most values are whole, and this loop does nothing but copy.
            column.extend(values.map(|(&start, &end)| match start {
                NOWHERE => Cell::Missing,
                start => Cell::raw((start, end)),
            }));
            return;
        }
        for (&start, &end) in values {
            let found = if start == NOWHERE { None } else { part.of(masks, self.text, (start, end)) };
            column.push(Cell::at(found));
        }
    }

    /// Appends several parts of requests to their columns. Each request is parsed once.
    #[inline(always)]
    fn append_parts<M: Masks>(&self, masks: M, parts: &[(RequestPart, usize)], columns: &mut [Vec<Cell>]) {
        let wants_mark = parts.iter().any(|(part, _)| part.needs_mark());
        for index in 0..self.records.len() {
            let value = (self.starts[index], self.ends[index]);
            let is_there = value.0 != NOWHERE;
            let request = if is_there { Request::parse(masks, self.text, value, wants_mark) } else { None };
            for &(part, column) in parts {
                let found = match &request {
                    Some(request) => part.of(request),
                    None => None,
                };
                columns[column].push(Cell::at(found));
            }
        }
    }

    /// Advances past the text that follows the values.
    #[inline(always)]
    fn advance(&mut self, after: &TextAfter) {
        match &after.check {
            None => {}
            Some(Check::Short(text)) => {
                for (index, &(_, end)) in self.records.iter().enumerate() {
                    if self.starts[index] != NOWHERE && !text.is_at(self.text, self.ends[index], end) {
                        self.fail_after(index);
                    }
                }
            }
            Some(Check::Long(text)) => {
                for (index, &(_, end)) in self.records.iter().enumerate() {
                    if self.starts[index] != NOWHERE && !self.text[self.ends[index]..end].starts_with(text) {
                        self.fail_after(index);
                    }
                }
            }
        }
        for index in 0..self.records.len() {
            if self.starts[index] != NOWHERE {
                self.starts[index] = self.ends[index] + after.length;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn fail_after(&mut self, index: usize) {
        self.fail(index, self.ends[index], "the text after a value is not that of the log format");
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, index: usize, at: usize, reason: &'static str) {
        self.failures.push((index, at, reason));
        self.starts[index] = NOWHERE;
    }

    /// Reports the malformed records, in order, and makes their cells missing. `first` is the index of the first record.
    #[inline(always)]
    fn report(&mut self, first: usize, cells: &mut Cells) {
        if !self.failures.is_empty() {
            self.report_failures(first, cells);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_failures(&mut self, first: usize, cells: &mut Cells) {
        self.failures.sort_unstable();
        for &(index, at, reason) in &self.failures {
            for column in cells.columns_mut() {
                let row = column.len() - self.records.len() + index;
                column[row] = Cell::Missing;
            }
            cells.report(first + index, (at, reason));
        }
    }
}
