//! Aligned columns below a header.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::display;

use super::bars::Bars;
use super::{Text, write_key};
use crate::measure::quantity::Quantity;
use crate::print::columns::{AnswerTable, Value};

/// Maximum width of an aligned column of keys: longer keys move the rest of the line to the right.
const MAX_WIDTH: usize = 100;

/// Number of blanks between two columns.
const GAP: usize = 2;

/// Maximum number of decimal places of means, unless the least has fewer significant digits then than this.
const MEAN_PLACES: u8 = 6;
const MEAN_DIGITS: u8 = 4;

/// Rows below a header. Numbers are aligned on the right, and the columns of the key, which come last, on the left.
pub(super) struct AlignedTable<'a> {
    /// Style of numbers and of the header.
    style: Style,
    columns: Vec<AlignedColumn<'a>>,
    /// Number of columns before the key.
    numbers: usize,
    /// Bars before the key.
    bars: Option<Bars<'a>>,
    rows: Vec<Vec<Value<'a>>>,
    has_header: bool,
}

/// A column.
struct AlignedColumn<'a> {
    name: Cow<'a, str>,
    width: usize,
    /// Number of decimal places.
    places: usize,
    /// Maximum number of decimal places: others are rounded.
    max_places: u8,
}

impl<'a> AlignedTable<'a> {
    pub(super) fn new(columns: &AnswerTable<'a>, text: &Text) -> Self {
        let names = columns.names();
        let numbers = names.len() - columns.key_columns();
        let rows: Vec<Vec<Value<'a>>> = columns.rows().collect();
        let bars = (text.bars > 0).then(|| {
            let column = columns.criterion();
            // A single column of numbers needs no mention.
            let title = if numbers > 1 { names[column] } else { "" };
            Bars::new(text.bars, title, column, &rows)
        });
        let column = |(index, name): (usize, Cow<'a, str>)| {
            let values = rows.iter().map(|row: &Vec<Value<'a>>| row[index]);
            match index < numbers {
                true if name.starts_with("mean(") => {
                    AlignedColumn::of_numbers(name, values.clone(), mean_places(values))
                }
                true => AlignedColumn::of_numbers(name, values, u8::MAX),
                false => AlignedColumn::of_keys(name, values),
            }
        };
        let columns = columns.titles().into_iter().enumerate().map(column).collect();
        let has_header = !text.layout.no_header;
        Self { style: text.count, columns, numbers, bars, rows, has_header }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.has_header {
            self.write_header(out)?;
        }
        self.rows.iter().try_for_each(|row| self.write_row(row, out))
    }

    fn write_header(&self, out: &mut dyn Write) -> io::Result<()> {
        for (index, column) in self.columns.iter().enumerate() {
            pad(if index == 0 { 0 } else { GAP }, out)?;
            if let Some(bars) = self.bars_before(index) {
                self.write_styled(bars.title, out)?;
                pad(bars.column_width() - text_width(bars.title.as_bytes()) + GAP, out)?;
            }
            let fill = column.width - text_width(column.name.as_bytes());
            let (before, after) = if index < self.numbers { (fill, 0) } else { (0, fill) };
            pad(before, out)?;
            self.write_styled(&column.name, out)?;
            pad(if self.is_last(index) { 0 } else { after }, out)?;
        }
        out.write_all(b"\n")
    }

    fn write_row(&self, row: &[Value<'a>], out: &mut dyn Write) -> io::Result<()> {
        for (index, (column, &value)) in self.columns.iter().zip(row).enumerate() {
            pad(if index == 0 { 0 } else { GAP }, out)?;
            if let Value::Key(key) = value {
                if let Some(bars) = self.bars_before(index) {
                    write!(out, "{}", bars.of(row))?;
                    pad(GAP, out)?;
                }
                write_key(key, out)?;
                let fill = column.width.saturating_sub(width(key));
                pad(if self.is_last(index) { 0 } else { fill }, out)?;
            } else {
                let number = number(value, column.places, column.max_places);
                pad(column.width - number.len(), out)?;
                self.write_styled(&number, out)?;
            }
        }
        out.write_all(b"\n")
    }

    fn bars_before(&self, column: usize) -> Option<&Bars<'a>> {
        self.bars.as_ref().filter(|_| column == self.numbers)
    }

    fn is_last(&self, column: usize) -> bool {
        column + 1 == self.columns.len()
    }

    fn write_styled(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}{text}{:#}", self.style, self.style)
    }
}

impl<'a> AlignedColumn<'a> {
    fn of_numbers(name: Cow<'a, str>, values: impl Iterator<Item = Value<'a>>, max_places: u8) -> Self {
        let (mut whole, mut most_places) = (0, 0);
        for value in values {
            let number = number(value, 0, max_places);
            let places = places(&number);
            most_places = most_places.max(places);
            whole = whole.max(number.len() - fraction(places));
        }
        let width = (whole + fraction(most_places)).max(text_width(name.as_bytes()));
        Self { name, width, places: most_places, max_places }
    }

    fn of_keys(name: Cow<'a, str>, values: impl Iterator<Item = Value<'a>>) -> Self {
        let width = |value| if let Value::Key(key) = value { width(key) } else { 0 };
        let widest = values.map(width).max().unwrap_or(0).min(MAX_WIDTH);
        let width = widest.max(text_width(name.as_bytes()));
        Self { name, width, places: 0, max_places: 0 }
    }
}

/// The number of decimal places to which a column of means is rounded: a mean may have twelve, which say nothing.
fn mean_places<'a>(values: impl Iterator<Item = Value<'a>>) -> u8 {
    let places = values.map(|value| match value {
        Value::Measure(Quantity::Number(number)) => number.places_for(MEAN_DIGITS),
        _ => 0,
    });
    places.max().unwrap_or(0).max(MEAN_PLACES)
}

/// The text of a number with at least and at most this many decimal places, which are blank if they are not known; a hyphen for a
/// measure without a value.
fn number(value: Value<'_>, least_places: usize, max_places: u8) -> String {
    let mut number = match value {
        Value::Measure(Quantity::Number(number)) => number.rounded(max_places).to_string(),
        value => value.number("-").unwrap_or_default(),
    };
    let own = places(&number);
    if let Value::Measure(Quantity::Estimate(_)) = value {
        number.extend(std::iter::repeat_n(' ', fraction(least_places).saturating_sub(fraction(own))));
    } else if own < least_places && number.ends_with(|last: char| last.is_ascii_digit()) {
        number.push_str(if own == 0 { "." } else { "" });
        number.extend(std::iter::repeat_n('0', least_places - own));
    }
    number
}

/// Number of decimal places of a number.
fn places(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, places)| places.len())
}

/// Width of a point and the decimal places, if there are any.
fn fraction(places: usize) -> usize {
    if places == 0 { 0 } else { 1 + places }
}

/// Writes blanks. The width of a format argument must be below 2^16.
fn pad(width: usize, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&b" ".repeat(width))
}

/// Width of a key on a terminal.
fn width(key: &[u8]) -> usize {
    text_width(key) + key.iter().filter(|&&byte| byte == b'\n').count()
}

/// Width of a text on a terminal, with 1 for each invalid part.
fn text_width(text: &[u8]) -> usize {
    text.utf8_chunks()
        .map(|chunk| display::width(chunk.valid()) + usize::from(!chunk.invalid().is_empty()))
        .sum()
}
