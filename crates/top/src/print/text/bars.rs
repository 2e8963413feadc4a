//! Bars in proportion to the numbers of a column.

use finecomb_sys::display;

use crate::measure::quantity::Quantity;
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
    most: u128,
}

impl Bars {
    pub(super) fn new(width: usize, title: String, column: usize, rows: &[Vec<Value<'_>>]) -> Self {
        let most = rows.iter().map(|row| length(row[column])).max().unwrap_or(0);
        Self { title, width, column, most }
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

/// Length of a bar in any unit. The numbers of a column have the same number of places. Those below zero have no bar.
fn length(value: Value<'_>) -> u128 {
    match value {
        Value::Count(count) | Value::Share(count, _) => count.into(),
        Value::Measure(Quantity::Number(number) | Quantity::Estimate(number)) => {
            number.units.max(0).unsigned_abs()
        }
        Value::Measure(share @ Quantity::Share { .. }) => {
            share.to_decimal().map_or(0, |(units, _)| units.unsigned_abs())
        }
        Value::Measure(Quantity::Wide(number)) if number.high > 0 => u128::MAX,
        Value::Measure(Quantity::None | Quantity::Wide(_)) | Value::Flag(_) | Value::Key(_) => 0,
    }
}

/// A bar of up to `width` characters, in eighths.
fn bar(length: u128, most: u128, width: usize) -> String {
    const EIGHTHS: [Option<char>; 8] =
        [None, Some('▏'), Some('▎'), Some('▍'), Some('▌'), Some('▋'), Some('▊'), Some('▉')];
    // The quotient of the highest 64 bits, which are all bits of a count.
    let shift = (u128::BITS - most.leading_zeros()).saturating_sub(64);
    let eighths = ((length >> shift) * 8 * width as u128 / (most >> shift).max(1)) as usize;
    let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
    bar.extend(EIGHTHS[eighths % 8]);
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::number::Decimal;

    #[test]
    fn bars_are_proportional_to_numbers() {
        assert_eq!(bar(8, 8, 3), "███");
        assert_eq!(bar(4, 8, 3), "█▌");
        assert_eq!(bar(0, 8, 3), "");
        assert_eq!(bar(u64::MAX.into(), u64::MAX.into(), 2), "██");
        assert_eq!(bar(u128::MAX / 2, u128::MAX, 3), "█▍");
        assert_eq!(bar(0, 0, 3), "");
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
}
