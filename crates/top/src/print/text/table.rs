//! Aligned columns below a header.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::display;
use finecomb_sys::units::Bytes;

use super::Text;
use super::bars::Bars;
use super::fit::{MIN_CUT, cut_all, narrowed, shown, width};
use crate::measure::number::Decimal;
use crate::measure::quantity::Quantity;
use crate::print::columns::{AnswerTable, Value};

/// Maximum width of an aligned column of keys: longer keys move the rest of the line to the right.
const MAX_WIDTH: usize = 100;

/// Width of bars, and of a column of keys, where both are kept.
const KEPT_BARS: usize = 10;
const KEPT_KEY: usize = 20;

/// Number of blanks between two columns.
pub(super) const GAP: usize = 2;

/// Maximum number of decimal places of means, unless the least has fewer significant digits then than this.
const MEAN_PLACES: u8 = 6;
const MEAN_DIGITS: u8 = 4;

/// Rows below a header. Numbers are aligned on the right, and the columns of the key, which come last, on the left.
pub(super) struct AlignedTable<'a> {
    /// Style of numbers and of the header.
    style: Style,
    numbers: Vec<NumberColumn>,
    /// Bars before the key, if there is one.
    bars: Option<Bars>,
    keys: Vec<KeyColumn<'a>>,
    rows: Vec<Vec<Value<'a>>>,
    has_header: bool,
}

/// A column of numbers.
pub(super) struct NumberColumn {
    pub(super) name: String,
    /// Width of the numbers, and of the column.
    numbers: usize,
    pub(super) width: usize,
    /// Number of decimal places.
    places: usize,
    /// Maximum number of decimal places: others are rounded.
    max_places: u8,
    /// Whether the numbers are bytes and have units.
    has_units: bool,
}

/// A column of the key.
struct KeyColumn<'a> {
    name: Cow<'a, [u8]>,
    cells: Vec<Cow<'a, [u8]>>,
    width: usize,
}

impl<'a> AlignedTable<'a> {
    pub(super) fn new(columns: &AnswerTable<'a>, text: &Text) -> Self {
        let names = columns.names();
        let keys = &names[names.len() - columns.key_columns()..];
        let rows: Vec<Vec<Value<'a>>> = columns.rows().collect();
        let values = |column: usize| rows.iter().map(move |row: &Vec<Value<'a>>| row[column]);
        let is_terminal = text.terminal.is_some();
        let numbers = number_columns(columns, &rows, is_terminal);
        let first_key = numbers.len();
        let key = |(column, &name)| KeyColumn::new(name, values(first_key + column), is_terminal);
        let bars = (text.bars > 0 && !keys.is_empty()).then(|| {
            let column = columns.criterion();
            // Bars of the counts, which come first, need no mention.
            let title = if column > 0 { numbers[column].name.clone() } else { String::new() };
            Bars::new(text.bars, title, column, &rows)
        });
        let mut table = Self {
            style: text.count,
            numbers,
            bars,
            keys: keys.iter().enumerate().map(key).collect(),
            has_header: !text.layout.no_header,
            rows,
        };
        if let Some(terminal) = text.terminal {
            if text.keeps_bars {
                table.keep_bars(terminal);
            }
            table.fit(terminal);
        }
        table
    }

    /// Cuts keys so that there is room for bars in the columns of a terminal, if the keys keep enough.
    fn keep_bars(&mut self, terminal: usize) {
        let Some(bars) = &self.bars else { return };
        let bars = KEPT_BARS.max(display::width(&bars.title)) + GAP;
        let room = terminal.saturating_sub(self.width_of_numbers() + bars);
        if room >= KEPT_KEY * self.keys.len() {
            self.cut_keys(room);
        }
    }

    /// Cuts the widest columns of keys if all take more than this width together.
    fn cut_keys(&mut self, width: usize) {
        let columns: Vec<_> = self.keys.iter().map(|column| (column.width, MIN_CUT)).collect();
        let widths = narrowed(&columns, width);
        self.keys.iter_mut().zip(widths).for_each(|(column, width)| column.cut(width));
    }

    /// Width of the columns of numbers with titles that are cut as much as possible, and of all gaps but that of the bars.
    fn width_of_numbers(&self) -> usize {
        self.numbers.iter().map(NumberColumn::least_width).sum::<usize>() + self.gaps()
    }

    fn gaps(&self) -> usize {
        GAP * (self.numbers.len() + self.keys.len()).saturating_sub(1)
    }

    /// Makes lines fit into the columns of a terminal, if there is room for the numbers.
    fn fit(&mut self, terminal: usize) {
        let numbers = self.width_of_numbers();
        let needed = numbers + self.keys.iter().map(|column| column.width).sum::<usize>();
        self.bars.take_if(|bars| {
            bars.cut_title();
            let excess = (needed + bars.column_width() + GAP).saturating_sub(terminal);
            excess > 0 && !bars.narrow(excess)
        });
        let bars = self.bars.as_ref().map_or(0, |bars| bars.column_width() + GAP);
        let widths = self.widths(terminal.saturating_sub(self.gaps() + bars));
        let (titles, keys) = widths.split_at(self.numbers.len());
        cut_titles(&mut self.numbers, titles);
        self.keys.iter_mut().zip(keys).for_each(|(column, &width)| column.cut(width));
    }

    /// Widths of the columns of numbers and keys in this width. Titles are cut first, then the parts of keys that are longer than a time.
    fn widths(&self, available: usize) -> Vec<usize> {
        let with_least = |key: usize| {
            let numbers = self.numbers.iter().map(|column| (column.width, column.least_width()));
            let keys = self.keys.iter().map(|column| (column.width, column.width.min(key)));
            narrowed(&numbers.chain(keys).collect::<Vec<_>>(), available)
        };
        let widths = with_least(KEPT_KEY);
        if widths.iter().sum::<usize>() <= available { widths } else { with_least(MIN_CUT) }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.has_header {
            self.write_header(out)?;
        }
        (0..self.rows.len()).try_for_each(|row| self.write_row(row, out))
    }

    fn write_header(&self, out: &mut dyn Write) -> io::Result<()> {
        for (index, column) in self.numbers.iter().enumerate() {
            pad(if index == 0 { 0 } else { GAP }, out)?;
            pad(column.width - display::width(&column.name), out)?;
            self.write_styled(column.name.as_bytes(), out)?;
        }
        if let Some(bars) = &self.bars {
            pad(GAP, out)?;
            self.write_styled(bars.title.as_bytes(), out)?;
            pad(bars.column_width() - display::width(&bars.title), out)?;
        }
        for (index, column) in self.keys.iter().enumerate() {
            pad(GAP, out)?;
            self.write_styled(&column.name, out)?;
            pad(if self.is_last(index) { 0 } else { column.width - width(&column.name) }, out)?;
        }
        out.write_all(b"\n")
    }

    fn write_row(&self, row: usize, out: &mut dyn Write) -> io::Result<()> {
        for (index, (column, &value)) in self.numbers.iter().zip(&self.rows[row]).enumerate() {
            let number = column.text(value);
            pad(if index == 0 { 0 } else { GAP }, out)?;
            pad(column.width - number.len(), out)?;
            self.write_styled(number.as_bytes(), out)?;
        }
        if let Some(bars) = &self.bars {
            pad(GAP, out)?;
            write!(out, "{}", bars.of(&self.rows[row]))?;
        }
        for (index, column) in self.keys.iter().enumerate() {
            pad(GAP, out)?;
            out.write_all(&column.cells[row])?;
            let fill = column.width.saturating_sub(width(&column.cells[row]));
            pad(if self.is_last(index) { 0 } else { fill }, out)?;
        }
        out.write_all(b"\n")
    }

    fn is_last(&self, key: usize) -> bool {
        key + 1 == self.keys.len()
    }

    fn write_styled(&self, text: &[u8], out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", self.style)?;
        out.write_all(text)?;
        write!(out, "{:#}", self.style)
    }
}

/// The columns of numbers of these rows of a table.
pub(super) fn number_columns<'a>(
    columns: &AnswerTable<'a>,
    rows: &[Vec<Value<'a>>],
    is_terminal: bool,
) -> Vec<NumberColumn> {
    let (names, titles) = (columns.kinds(), columns.titles());
    let numbers = names[..names.len() - columns.key_columns()].iter().enumerate();
    let column = |(column, name): (usize, &&str)| {
        let values = rows.iter().map(move |row| row[column]);
        NumberColumn::new((name, &*titles[column]), values, is_terminal)
    };
    numbers.map(column).collect()
}

impl NumberColumn {
    fn new<'a>(
        (name, title): (&str, &str),
        values: impl Iterator<Item = Value<'a>> + Clone,
        is_terminal: bool,
    ) -> Self {
        let max_places = if name.starts_with("mean(") { mean_places(values.clone()) } else { u8::MAX };
        let has_units = is_terminal && is_of_bytes(name);
        let name = String::from_utf8_lossy(&shown(title.as_bytes(), is_terminal)).into_owned();
        let mut column = Self { name, numbers: 0, width: 0, places: 0, max_places, has_units };
        let (mut whole, mut most_places) = (0, 0);
        for value in values {
            let number = column.text(value);
            let places = if has_units { 0 } else { places(&number) };
            most_places = most_places.max(places);
            whole = whole.max(number.len() - fraction(places));
        }
        column.numbers = whole + fraction(most_places);
        column.width = column.numbers.max(display::width(&column.name));
        column.places = most_places;
        column
    }

    /// Width of the column with a title that is cut as much as possible.
    fn least_width(&self) -> usize {
        self.numbers.max(display::width(&self.name).min(MIN_CUT))
    }

    pub(super) fn text(&self, value: Value<'_>) -> String {
        match value {
            Value::Measure(Quantity::Number(number) | Quantity::Estimate(number)) if self.has_units => {
                with_unit(*number)
            }
            value => number(value, self.places, self.max_places),
        }
    }
}

impl<'a> KeyColumn<'a> {
    fn new(name: &'a str, values: impl Iterator<Item = Value<'a>>, is_terminal: bool) -> Self {
        let shown = |value| match value {
            Value::Key(key) => shown(key, is_terminal),
            _ => Cow::default(),
        };
        let mut column =
            Self { name: shown(Value::Key(name.as_bytes())), cells: values.map(shown).collect(), width: 0 };
        column.measure();
        if !is_terminal {
            column.width = column.width.min(MAX_WIDTH).max(width(&column.name));
        }
        column
    }

    /// Sets the width of the name and of all cells.
    fn measure(&mut self) {
        self.width = self.cells.iter().chain([&self.name]).map(|cell| width(cell)).max().unwrap_or(0);
    }

    fn cut(&mut self, width: usize) {
        cut_all(&mut self.cells, width);
        cut_all(std::slice::from_mut(&mut self.name), width);
        self.measure();
    }
}

/// Cuts the titles that do not fit the new widths of their columns, together, so that different ones look different.
fn cut_titles(columns: &mut [NumberColumn], widths: &[usize]) {
    let is_cut = |(column, width): &(&mut NumberColumn, &usize)| column.width > **width;
    let mut cut: Vec<_> = columns.iter_mut().zip(widths).filter(is_cut).collect();
    let least = cut.iter().map(|(_, width)| **width).min().unwrap_or(0);
    let mut titles: Vec<_> = cut.iter().map(|(column, _)| column.name.clone().into_bytes().into()).collect();
    cut_all(&mut titles, least);
    for ((column, _), title) in cut.iter_mut().zip(titles) {
        column.name = String::from_utf8_lossy(&title).into_owned();
        column.width = column.numbers.max(display::width(&column.name));
    }
}

/// Whether a measure is a number of bytes: one of the words of the name of its field is `bytes`, as in `sum(body_bytes_sent)`.
fn is_of_bytes(measure: &str) -> bool {
    let Some((function, field)) = measure.split_once('(') else { return false };
    let is_bytes = |word: &str| word == "bytes" || word.starts_with("bytes") || word.ends_with("Bytes");
    !matches!(function, "distinct" | "share")
        && field.split(|char: char| !char.is_alphanumeric()).any(is_bytes)
}

/// A number of bytes with three digits and a unit, or all digits if they are fewer or too many for that.
fn with_unit(number: Decimal) -> String {
    let whole = number.rounded(0);
    match u64::try_from(whole.units.unsigned_abs()) {
        Ok(bytes @ 1000..) => format!("{}{}", if whole.units < 0 { "-" } else { "" }, Bytes(bytes)),
        Ok(_) => format!("{} B", number.rounded(2)),
        Err(_) => number.to_string(),
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
pub(super) fn pad(width: usize, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&b" ".repeat(width))
}
