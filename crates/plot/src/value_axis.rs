//! The axis of values: its range and its marks.

use finecomb_sys::units::Count;

/// Maximum number of steps from mark to mark.
const STEPS: usize = 7;

/// The values that a chart spans.
pub(crate) struct ValueAxis {
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// Whether all values are whole: there are no marks between them.
    is_whole: bool,
}

impl ValueAxis {
    /// Makes an axis that spans zero and all finite values.
    pub(crate) fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let mut finite = values.filter(|value| value.is_finite());
        let least = finite.clone().fold(0.0, f64::min);
        let most = finite.clone().fold(0.0, f64::max);
        let most = if most > least { (most + (most - least) * 0.05).min(f64::MAX) } else { 1.0 };
        Self { least, most, is_whole: finite.all(|value| value.fract() == 0.0) }
    }

    /// The share of the axis below a value, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        // Halves, as the difference of two values may be too large for a number.
        let [value, least, most] = [value, self.least, self.most].map(|value| value / 2.0);
        if most > least { ((value - least) / (most - least)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Round values in even steps, with their texts.
    pub(crate) fn marks(&self) -> Vec<(f64, String)> {
        let step = self.step();
        let first = (self.least / step).ceil();
        let values = (0..=STEPS).map(|index| (first + index as f64) * step);
        values.take_while(|value| *value <= self.most).map(|value| (value, number(value))).collect()
    }

    /// Finds the smallest step, 1, 2 or 5 times a power of ten, that divides the axis into at most `STEPS` parts.
    fn step(&self) -> f64 {
        let rough = (self.most / STEPS as f64 - self.least / STEPS as f64).max(f64::MIN_POSITIVE);
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|factor| factor * power).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(10.0 * power);
        if self.is_whole { step.max(1.0) } else { step }
    }
}

/// A number with thousands separated by commas, and at most four significant digits after the point.
fn number(value: f64) -> String {
    let places = (3 - value.abs().log10().floor().clamp(-9.0, 3.0) as i32).max(0) as usize;
    let text = format!("{:.places$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), |whole| Count(whole).to_string());
    let is_zero = whole == "0" && fraction.is_empty();
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_even_and_within_the_axis() {
        for (values, marks) in [
            (&[1.0, 3.0][..], &["0", "1", "2", "3"][..]),
            (&[0.5, 1.5], &["0", "0.5", "1", "1.5"]),
            (&[-3.0, 4.0], &["-2", "0", "2", "4"]),
            (&[834.0, 16.0], &["0", "200", "400", "600", "800"]),
            (&[], &["0", "1"]),
            (&[-0.02], &["-0.02", "-0.015", "-0.01", "-0.005", "0"]),
            (&[f64::NAN, f64::MAX], &[]),
            (&[f64::MIN, f64::MAX], &[]),
        ] {
            let axis = ValueAxis::of(values.iter().copied());
            let found = axis.marks();
            let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
            assert!(marks.is_empty() || texts == marks, "{texts:?}");
            assert!((2..=STEPS + 1).contains(&found.len()), "{texts:?}");
            let shares: Vec<f64> = found.iter().map(|&(value, _)| axis.share(value)).collect();
            assert!(shares.is_sorted_by(|one, other| one < other), "{shares:?}");
        }
    }

    #[test]
    fn numbers_have_separators_and_no_more_digits_than_needed() {
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (-0.25, "-0.25"),
            (0.000_123_456, "0.0001235"),
            (12.0, "12"),
            (1234.5, "1,234"),
            (2_000_000.0, "2,000,000"),
            (-1e-30, "0"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
