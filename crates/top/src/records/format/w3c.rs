//! Logs in the extended format of W3C, as IIS and CloudFront write them.
//!
//! A line `#Fields: date time cs-uri-stem` names the columns of the records after it, up to the next such line, which may name others. Other
//! lines that begin with `#` are no records.
//!
//! If a record has a tab, every tab separates, and all other bytes are data. Otherwise blanks separate. There, a value that begins with a
//! double quote ends at the next one that is not doubled, as in CSV.
//!
//! A column that the names do not have is missing. A record is malformed if it ends before its last wanted column, if a quote up to there is
//! never closed, or if no line has named the columns.

use finecomb_scan::Heading;
use memchr::memmem::Finder;
use memchr::{memchr, memchr2};

use crate::cells::{Cell, Cells, Span, Violation, bytes_of};
use crate::query::field::Field;
use crate::query::fields::index_of;
use crate::records::format::csv::closing_quote;

/// Beginning of the lines that name the columns.
pub(crate) const FIELDS: &[u8] = b"#Fields:";

/// Extracts columns of records.
#[derive(Clone, Debug)]
pub(crate) struct W3cRecords {
    wanted: Vec<Field>,
    finder: Finder<'static>,
}

/// The last line with names before the text, and the columns that were found for one.
#[derive(Debug, Default)]
pub(crate) struct W3cScratch {
    pub(crate) heading: Option<Heading>,
    known: Option<(Vec<u8>, WantedColumns)>,
}

/// The wanted columns that some names have.
#[derive(Clone, Debug, Default)]
struct WantedColumns {
    /// Index of each column in a record with the number of the field, in ascending order.
    places: Vec<(usize, usize)>,
}

impl W3cRecords {
    pub(crate) fn new(fields: &[Field]) -> Self {
        Self { wanted: fields.to_vec(), finder: Finder::new(FIELDS).into_owned() }
    }

    /// Appends a cell for each wanted field of each record. The records are in the order of the text.
    pub(crate) fn extract(&self, scratch: &mut W3cScratch, text: &[u8], records: &[Span], cells: &mut Cells) {
        let mut headings = headings(&self.finder, text).peekable();
        let mut columns = scratch.heading.clone().map(|line| self.columns(scratch, &line));
        for (index, &record) in records.iter().enumerate() {
            while let Some((_, line)) = headings.next_if(|&(at, _)| at < record.0) {
                columns = Some(self.columns(scratch, line));
            }
            let unnamed = || Err((record.0, "no line '#Fields:' precedes the record"));
            cells.push_missing();
            if let Err(violation) =
                columns.as_ref().map_or_else(unnamed, |columns| columns.fill(text, record, cells))
            {
                for column in cells.columns_mut() {
                    column.pop();
                }
                cells.push_malformed(index, violation);
            }
        }
    }

    /// Finds the wanted columns in a line with names.
    fn columns(&self, scratch: &mut W3cScratch, line: &[u8]) -> WantedColumns {
        if let Some((known, columns)) = &scratch.known
            && known == line
        {
            return columns.clone();
        }
        let names: Vec<&[u8]> = names(line).collect();
        let place = |field: &Field| match field {
            Field::Named(name) => names.iter().position(|known| *known == name.text.as_bytes()),
            &Field::Position(number) => index_of(number, names.len()),
        };
        let places =
            self.wanted.iter().enumerate().filter_map(|(number, field)| Some((place(field)?, number)));
        let mut columns = WantedColumns { places: places.collect() };
        columns.places.sort_unstable();
        scratch.known = Some((line.to_vec(), columns.clone()));
        columns
    }
}

impl WantedColumns {
    /// Fills the last cells of the wanted columns.
    fn fill(&self, text: &[u8], record: Span, cells: &mut Cells) -> Result<(), Violation> {
        let has_tabs = memchr(b'\t', bytes_of(text, record)).is_some();
        let mut places = self.places.iter().peekable();
        let mut at = record.0;
        for column in 0.. {
            if places.peek().is_none() {
                break;
            }
            let too_few = (record.1, "too few columns");
            let value = if has_tabs { tabbed(text, at, record.1) } else { blank(text, at, record.1)? };
            let (value, next) = value.ok_or(too_few)?;
            while let Some(&(_, number)) = places.next_if(|&&(place, _)| place == column) {
                let cell = cell(text, value, !has_tabs, cells);
                if let Some(last) = cells.columns_mut()[number].last_mut() {
                    *last = cell;
                }
            }
            at = next;
        }
        Ok(())
    }
}

impl W3cScratch {
    /// Moves past a text whose records have been extracted.
    pub(crate) fn pass(&mut self, text: &[u8]) {
        if let Some((_, line)) = headings(&Finder::new(FIELDS), text).last() {
            self.heading = Some(line.into());
        }
    }
}

/// The lines with names in a text, each with its position.
pub(crate) fn headings<'t>(finder: &Finder<'_>, text: &'t [u8]) -> impl Iterator<Item = (usize, &'t [u8])> {
    let starts = finder.find_iter(text).filter(|&at| at == 0 || text[at - 1] == b'\n');
    starts.map(|at| {
        let line = &text[at..];
        let line = &line[..memchr(b'\n', line).unwrap_or(line.len())];
        (at, line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// The names in a line with names.
pub(crate) fn names(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let names = line.strip_prefix(FIELDS).unwrap_or(line);
    names.split(|&byte| byte == b' ' || byte == b'\t').filter(|name| !name.is_empty())
}

/// Returns the value from `at` on in a record that ends at `end`, and the beginning of the next one; `None` after the last.
fn tabbed(text: &[u8], at: usize, end: usize) -> Option<(Span, usize)> {
    let rest = text.get(at..end)?;
    let length = memchr(b'\t', rest).unwrap_or(rest.len());
    Some(((at, at + length), at + length + 1))
}

/// Returns the value between blanks from `at` on in a record that ends at `end`, and the beginning of the next one; `None` after the last.
fn blank(text: &[u8], mut at: usize, end: usize) -> Result<Option<(Span, usize)>, Violation> {
    let is_blank = |byte: u8| byte == b' ' || byte == b'\t';
    at += text[at.min(end)..end].iter().take_while(|&&byte| is_blank(byte)).count();
    if at >= end {
        return Ok(None);
    }
    let quoted = match text[at] {
        b'"' => closing_quote(&text[at + 1..end]).ok_or((at, "unclosed quote"))? + 2,
        _ => 0,
    };
    let rest = &text[at + quoted..end];
    let length = quoted + memchr2(b' ', b'\t', rest).unwrap_or(rest.len());
    Ok(Some(((at, at + length), at + length)))
}

/// Returns the cell of a value, which loses the quotes around it.
fn cell(text: &[u8], (start, end): Span, may_have_quotes: bool, cells: &mut Cells) -> Cell {
    let value = &text[start..end];
    let inner = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    let Some(inner) =
        inner.filter(|inner| may_have_quotes && closing_quote(&value[1..]) == Some(inner.len()))
    else {
        return Cell::raw((start, end));
    };
    match memchr(b'"', inner) {
        None => Cell::raw((start + 1, end - 1)),
        Some(_) => cells.decode(|out| {
            let mut rest = inner;
            while let Some(quote) = memchr(b'"', rest) {
                out.extend_from_slice(&rest[..=quote]);
                rest = &rest[quote + 2..];
            }
            out.extend_from_slice(rest);
        }),
    }
}
