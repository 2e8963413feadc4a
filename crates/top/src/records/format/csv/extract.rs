//! Extraction from the records of a block, with bit masks of delimiters and quotes.
//!
//! A record is read in windows of 64 bytes from its beginning. If every quote is where a writer of CSV puts it, a byte is quoted if
//! the number of quotes before it is odd (after Langdale and Lemire, Parsing Gigabytes of JSON per Second, 2019, section 3.1.1).
//! Any other record, and one that ends too early, is left to [`Fields`].

use finecomb_sys::simd::{Kernel, Masks, dispatch, window_at};

use super::fields::{Fields, OpenQuote, cell};
use super::{ColumnPlace, CsvRecords, Dialect, WantedColumn};
use crate::cells::{Cell, Cells, Span};

/// Appends a cell to each column, in the order of `csv.wanted`, for each record.
pub(super) fn extract(
    csv: &CsvRecords,
    text: &[u8],
    records: &[Span],
    columns: &mut [Vec<Cell>],
    cells: &mut Cells,
) {
    let first = columns.first().map_or(0, Vec::len);
    let rows = columns.iter_mut().map(|column| {
        column.resize(first + records.len(), Cell::Missing);
        &mut column[first..]
    });
    let out = RecordCells { csv, text, records, first, rows: rows.collect(), cells };
    match (csv.counts_from_end(), csv.dialect.has_quotes) {
        (false, false) => dispatch(ExtractColumns::<false, false>(out)),
        (false, true) => dispatch(ExtractColumns::<true, false>(out)),
        (true, false) => dispatch(ExtractColumns::<false, true>(out)),
        (true, true) => dispatch(ExtractColumns::<true, true>(out)),
    }
}

/// Records and their cells.
struct RecordCells<'a> {
    csv: &'a CsvRecords,
    text: &'a [u8],
    records: &'a [Span],
    /// Number of cells in each column before the cell of the first record.
    first: usize,
    /// The cells of each wanted column.
    rows: Vec<&'a mut [Cell]>,
    cells: &'a mut Cells,
}

impl RecordCells<'_> {
    /// Fills the cells of a record that needs a closer look.
    #[cold]
    #[inline(never)]
    fn fill_one_by_one(&mut self, index: usize) {
        match self.try_fill(index) {
            Ok(true) => {}
            Ok(false) => self.report(index, self.records[index].1, "too few columns"),
            Err(OpenQuote(at)) => self.report(index, at, "unclosed quote"),
        }
    }

    /// Fills the cells of a record. Returns whether it has all columns that it must have.
    fn try_fill(&mut self, index: usize) -> Result<bool, OpenQuote> {
        let dialect = self.csv.dialect;
        let fields = || Fields::new(dialect, self.text, self.records[index]);
        let columns = if self.csv.counts_from_end() {
            fields().try_fold(0, |columns, field| field.map(|_| columns + 1))?
        } else {
            usize::MAX
        };
        let (mut walk, mut next) = (fields(), 0);
        for (wanted, row) in self.csv.wanted.iter().zip(&mut self.rows) {
            let Some(column) = wanted.place.index(columns) else { continue };
            // In a record with few columns, one that is counted from the end may be before one that is counted from the start.
            if column < next {
                (walk, next) = (fields(), 0);
            }
            let Some(field) = walk.skip_and_next(column - next)? else { return Ok(!self.csv.has_header) };
            row[index] = cell(dialect, self.text, field, self.cells);
            next = column + 1;
        }
        Ok(true)
    }

    /// Reports a malformed record and clears its cells.
    fn report(&mut self, index: usize, at: usize, reason: &'static str) {
        self.rows.iter_mut().for_each(|row| row[index] = Cell::Missing);
        self.cells.report(self.first + index, (at, reason));
    }
}

/// Extraction of columns, whose places are counted from the beginning unless some are counted from the end.
struct ExtractColumns<'a, const QUOTES: bool, const FROM_END: bool>(RecordCells<'a>);

impl<const QUOTES: bool, const FROM_END: bool> Kernel for ExtractColumns<'_, QUOTES, FROM_END> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self(mut out) = self;
        let reader =
            WindowReader::<M, QUOTES> { masks, delimiter: out.csv.dialect.delimiter, text: out.text };
        let skips = skips(out.csv);
        let examined = skips.iter().map(|skip| skip + 1).sum();
        for (index, &record) in out.records.iter().enumerate() {
            if record.0 == record.1 {
                continue;
            }
            let window = reader.window(record.0, record.1);
            if !FROM_END && window.quotes == 0 && window.delimiters.count_ones() >= examined {
                fill_from_window(masks, window.delimiters, &mut out.rows, &skips, index, record.0);
                continue;
            }
            let walk = FieldWalk::new(reader, record, window);
            let filled = match FROM_END {
                true => fill_from_end(walk, &mut out, index),
                false => fill_from_start(walk, &mut out, &skips, index),
            };
            if filled.is_none() {
                out.fill_one_by_one(index);
            }
        }
    }
}

/// Returns the number of columns between each wanted column and the one before.
fn skips(csv: &CsvRecords) -> Vec<u32> {
    let mut next = 0;
    let skip = |wanted: &WantedColumn| {
        let ColumnPlace::Start(index) = wanted.place else { return 0 };
        let skip = index - next;
        next = index + 1;
        skip as u32
    };
    csv.wanted.iter().map(skip).collect()
}

/// Fills the cells of a record whose examined columns are in its first window and have no quotes.
#[inline(always)]
fn fill_from_window<M: Masks>(
    masks: M,
    mut delimiters: u64,
    rows: &mut [&mut [Cell]],
    skips: &[u32],
    index: usize,
    at: usize,
) {
    let mut start = at;
    for (&skip, row) in skips.iter().zip(rows) {
        if skip > 0 {
            let delimiter = masks.nth_bit(delimiters, skip);
            delimiters &= u64::MAX << delimiter << 1;
            start = at + delimiter as usize + 1;
        }
        let end = at + delimiters.trailing_zeros() as usize;
        delimiters &= delimiters.wrapping_sub(1);
        row[index] = Cell::raw((start, end));
        start = end + 1;
    }
}

/// Fills the cells of a record. `None` if it needs a closer look.
#[inline(always)]
fn fill_from_start<M: Masks, const QUOTES: bool>(
    walk: Option<FieldWalk<'_, M, QUOTES>>,
    out: &mut RecordCells<'_>,
    skips: &[u32],
    index: usize,
) -> Option<()> {
    let mut walk = walk?;
    for (&skip, row) in skips.iter().zip(&mut out.rows) {
        walk.skip(skip)?;
        row[index] = walk.next_cell(out.csv.dialect, out.cells)?;
    }
    Some(())
}

/// Fills the cells of a record. `None` if it needs a closer look.
#[inline(always)]
fn fill_from_end<M: Masks, const QUOTES: bool>(
    start: Option<FieldWalk<'_, M, QUOTES>>,
    out: &mut RecordCells<'_>,
    index: usize,
) -> Option<()> {
    let start = start?;
    let columns = start.count()?;
    let (mut walk, mut next) = (start, 0);
    for (wanted, row) in out.csv.wanted.iter().zip(&mut out.rows) {
        let Some(column) = wanted.place.index(columns) else { continue };
        if column < next {
            (walk, next) = (start, 0);
        }
        walk.skip((column - next) as u32)?;
        row[index] = walk.next_cell(out.csv.dialect, out.cells)?;
        next = column + 1;
    }
    Some(())
}

/// Reads windows of a text.
#[derive(Clone, Copy)]
struct WindowReader<'t, M, const QUOTES: bool> {
    masks: M,
    delimiter: u8,
    text: &'t [u8],
}

/// The delimiters and quotes in 64 bytes of a record. The end of the record counts as a delimiter.
#[derive(Clone, Copy)]
struct WindowMasks {
    delimiters: u64,
    quotes: u64,
}

impl<M: Masks, const QUOTES: bool> WindowReader<'_, M, QUOTES> {
    /// Reads the window that begins at `at` in a record that ends at `end`.
    #[inline(always)]
    fn window(&self, at: usize, end: usize) -> WindowMasks {
        let (before_end, end) = match end - at {
            rest @ 0..64 => ((1 << rest) - 1, 1 << rest),
            _ => (u64::MAX, 0),
        };
        let mut spare = None;
        let window = window_at(self.text, at, &mut spare);
        let quotes = if QUOTES { self.masks.equal(window, b'"') & before_end } else { 0 };
        WindowMasks { delimiters: self.masks.equal(window, self.delimiter) & before_end | end, quotes }
    }
}

/// A walk over the fields of a record.
#[derive(Clone, Copy)]
struct FieldWalk<'t, M, const QUOTES: bool> {
    reader: WindowReader<'t, M, QUOTES>,
    /// Beginning of the next field.
    field: usize,
    /// Beginning of the window.
    at: usize,
    /// End of the record.
    end: usize,
    /// The delimiters of the window that are still ahead.
    delimiters: u64,
    /// All ones if the next window begins within quotes.
    within: u64,
    /// Whether the byte before the next window is a closing quote, and whether it is a delimiter: 1 or 0. The beginning of
    /// the record counts as a delimiter.
    after_quote: u64,
    after_delimiter: u64,
    /// The bytes after closing quotes that are no delimiters: the second quote of each `""`, and text.
    special: u64,
}

impl<'t, M: Masks, const QUOTES: bool> FieldWalk<'t, M, QUOTES> {
    /// Begins a walk with the first window of a record. `None` if there is a quote in an unquoted text.
    #[inline(always)]
    fn new(reader: WindowReader<'t, M, QUOTES>, (start, end): Span, window: WindowMasks) -> Option<Self> {
        let mut walk = Self {
            reader,
            field: start,
            at: start,
            end,
            delimiters: 0,
            within: 0,
            after_quote: 0,
            after_delimiter: 1,
            special: 0,
        };
        walk.enter(window)?;
        Some(walk)
    }

    /// Reads the next window. `None` after the last one, and if there is a quote in an unquoted text.
    #[inline(always)]
    fn advance(&mut self) -> Option<()> {
        if self.end - self.at < 64 {
            return None;
        }
        self.at += 64;
        self.enter(self.reader.window(self.at, self.end))
    }

    /// Finds the delimiters of a window that are not quoted. `None` if there is a quote in an unquoted text.
    #[inline(always)]
    fn enter(&mut self, WindowMasks { delimiters, quotes }: WindowMasks) -> Option<()> {
        self.delimiters = delimiters;
        if QUOTES && quotes | self.within | self.after_quote != 0 {
            // The bits of an opening quote and of the quoted text, not those of a closing quote.
            let within = self.reader.masks.prefix_xor(quotes) ^ self.within;
            self.delimiters &= !within;
            let (opening, closing) = (quotes & within, quotes & !within);
            let after_quote = closing << 1 | self.after_quote;
            let after_delimiter = self.delimiters << 1 | self.after_delimiter;
            if opening & !(after_quote | after_delimiter) != 0 {
                return None;
            }
            self.special |= after_quote & !self.delimiters;
            self.within = (within.cast_signed() >> 63).cast_unsigned();
            self.after_quote = closing >> 63;
        }
        self.after_delimiter = self.delimiters >> 63;
        Some(())
    }

    /// Passes the next `count` delimiters and returns the position of the last. `None` if there are fewer, or if the record
    /// needs a closer look.
    #[inline(always)]
    fn pass(&mut self, mut count: u32) -> Option<usize> {
        loop {
            let found = self.delimiters.count_ones();
            if found >= count {
                let delimiter = self.reader.masks.nth_bit(self.delimiters, count);
                self.delimiters &= u64::MAX << delimiter << 1;
                return Some(self.at + delimiter as usize);
            }
            count -= found;
            self.advance()?;
        }
    }

    /// Skips `count` fields. `None` if there are fewer, or if the record needs a closer look.
    #[inline(always)]
    fn skip(&mut self, count: u32) -> Option<()> {
        if count > 0 {
            self.field = self.pass(count)? + 1;
        }
        Some(())
    }

    /// Returns the value of the next field. `None` if there is none, or if the record needs a closer look.
    #[inline(always)]
    fn next_cell(&mut self, dialect: Dialect, cells: &mut Cells) -> Option<Cell> {
        let end = self.pass(1)?;
        let start = std::mem::replace(&mut self.field, end + 1);
        if QUOTES && self.special != 0 {
            return Some(cell(dialect, self.reader.text, (start, end), cells));
        }
        let is_quoted = QUOTES && start < end && self.reader.text.get(start) == Some(&b'"');
        Some(Cell::Raw(start as u32 + u32::from(is_quoted), end as u32 - u32::from(is_quoted)))
    }

    /// Returns the number of fields. `None` if the record needs a closer look.
    #[inline(always)]
    fn count(mut self) -> Option<usize> {
        let mut fields = self.delimiters.count_ones() as usize;
        while self.end - self.at >= 64 {
            self.advance()?;
            fields += self.delimiters.count_ones() as usize;
        }
        (self.within == 0).then_some(fields)
    }
}
