//! Bars in proportion to the numbers of a column.

use std::borrow::Cow;

use finecomb_sys::display;

use super::fit::{MIN_CUT, cut_all};
use crate::print::columns::Value;

/// Minimum width of the longest bar where there is not enough room.
const MIN_WIDTH: usize = 5;

/// The bars of a column.
pub(super) struct Bars {
    /// Name of the column, or nothing.
    pub(super) title: String,
    /// Width of the longest bar.
    width: usize,
    column: usize,
    most: f64,
}

impl Bars {
    pub(super) fn new(width: usize, title: String, column: usize, rows: &[Vec<Value<'_>>]) -> Self {
        let most = rows.iter().map(|row| length(row[column])).fold(0.0, f64::max);
        Self { title, width, column, most }
    }

    /// Cuts a title that is wider than the bars.
    pub(super) fn cut_title(&mut self) {
        let mut title = [Cow::Borrowed(self.title.as_bytes())];
        cut_all(&mut title, self.width.max(MIN_CUT));
        self.title = String::from_utf8_lossy(&title[0]).into_owned();
    }

    /// Makes the bars narrower by up to `excess`. Returns `false` if they would be too short to compare.
    pub(super) fn narrow(&mut self, excess: usize) -> bool {
        self.width = self.width.saturating_sub(excess);
        self.width >= MIN_WIDTH.max(display::width(&self.title))
    }

    /// Width of the bars, or of the title if that is wider.
    pub(super) fn column_width(&self) -> usize {
        self.width.max(display::width(&self.title))
    }

    /// The bar of a row, filled with blanks to the width of the column.
    pub(super) fn of(&self, row: &[Value<'_>]) -> String {
        let bar = bar(length(row[self.column]), self.most, self.width);
        format!("{bar:0$}", self.column_width())
    }
}

/// Length of a bar in any unit. Numbers below zero have no bar.
fn length(value: Value<'_>) -> f64 {
    match value {
        Value::Count(count) | Value::Share(count, _) => count as f64,
        Value::Measure(quantity) => quantity.to_f64().unwrap_or(0.0).max(0.0),
        Value::Flag(_) | Value::Key(_) => 0.0,
    }
}

/// A bar of up to `width` characters, in eighths.
fn bar(length: f64, most: f64, width: usize) -> String {
    const EIGHTHS: [Option<char>; 8] =
        [None, Some('▏'), Some('▎'), Some('▍'), Some('▌'), Some('▋'), Some('▊'), Some('▉')];
    // The error of binary digits, which would make a whole number of eighths one less.
    const ERROR: f64 = 1e-9;
    let share = if most > 0.0 { length / most } else { 0.0 };
    let eighths = (share * (8 * width) as f64 + ERROR) as usize;
    let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
    bar.extend(EIGHTHS[eighths % 8]);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::number::Decimal;
    use crate::measure::quantity::Quantity;
    use crate::measure::wide::WideDecimal;

    #[test]
    fn bars_are_proportional_to_numbers() {
        for (length, most, expected) in [
            (8.0, 8.0, "███"),
            (4.0, 8.0, "█▌"),
            (0.0, 8.0, ""),
            (0.3, 0.9, "█"),
            (2e56, 6e56, "█"),
            (1e40, 1e57, ""),
            (0.0, 0.0, ""),
        ] {
            assert_eq!(bar(length, most, 3), expected, "{length} {most}");
        }
        assert_eq!(bar(u64::MAX as f64, u64::MAX as f64, 2), "██");
    }

    #[test]
    fn numbers_below_zero_and_missing_ones_have_no_bar() {
        let numbers = [-5, 0, 10, 5].map(|units| Quantity::Number(Decimal::new(units, 1)));
        let numbers = [&numbers[..], &[Quantity::None]].concat();
        let rows: Vec<Vec<Value<'_>>> = numbers.iter().map(|number| vec![Value::Measure(number)]).collect();
        let bars = Bars::new(2, "sum".to_owned(), 0, &rows);
        let shown: Vec<String> = rows.iter().map(|row| bars.of(row)).collect();
        assert_eq!(shown, ["   ", "   ", "██ ", "█  ", "   "]);
    }

    #[test]
    fn sums_beyond_128_bits_have_bars_in_proportion() {
        let wide = |high| Quantity::Wide(WideDecimal { high, low: 0, places: 18 });
        let numbers = [wide(1 << 80), wide(1 << 79), wide(1 << 64), Quantity::Number(Decimal::new(9, 18))];
        let rows: Vec<Vec<Value<'_>>> = numbers.iter().map(|number| vec![Value::Measure(number)]).collect();
        let bars = Bars::new(4, String::new(), 0, &rows);
        let shown: Vec<String> = rows.iter().map(|row| bars.of(row)).collect();
        assert_eq!(shown, ["████", "██  ", "    ", "    "]);
    }
}
