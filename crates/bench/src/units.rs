//! Times and ratios in tables and plots. Counts and sizes are formatted by `finecomb_sys::units`.

/// The unit of all times of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeUnit {
    symbol: &'static str,
    per_second: f64,
    decimals: usize,
}

impl TimeUnit {
    pub(crate) const SECONDS: Self = Self { symbol: "s", per_second: 1.0, decimals: 3 };
    pub(crate) const MILLISECONDS: Self = Self { symbol: "ms", per_second: 1e3, decimals: 2 };
    pub(crate) const MICROSECONDS: Self = Self { symbol: "µs", per_second: 1e6, decimals: 1 };

    /// The unit in which the longest of these times, in seconds, is a number from one to a thousand, if there
    /// is one. NaN does not count.
    pub(crate) fn of(seconds: impl IntoIterator<Item = f64>) -> Self {
        match seconds.into_iter().fold(0.0, f64::max) {
            longest if longest < 1e-3 => Self::MICROSECONDS,
            longest if longest < 1.0 => Self::MILLISECONDS,
            _ => Self::SECONDS,
        }
    }

    /// The name of a column or an axis with such times.
    pub(crate) fn label(self, name: &str) -> String {
        format!("{name} [{}]", self.symbol)
    }

    /// A number of seconds in this unit.
    pub(crate) fn scaled(self, seconds: f64) -> f64 {
        seconds * self.per_second
    }

    /// A number of seconds, formatted in this unit.
    pub(crate) fn number(self, seconds: f64) -> String {
        if seconds.is_nan() {
            "–".to_owned()
        } else {
            format!("{:.*}", self.decimals, self.scaled(seconds))
        }
    }
}

/// Ratio of two numbers, with two decimals.
pub(crate) fn ratio(one: f64, other: f64) -> String {
    let ratio = one / other;
    if ratio.is_finite() { format!("{ratio:.2}") } else { "–".to_owned() }
}

/// Kind of the times in a table, by the number of runs.
pub(crate) fn medians_of(runs: usize) -> String {
    if runs == 1 { "single runs".to_owned() } else { format!("medians of {runs} runs") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_one_unit() {
        let unit = TimeUnit::of([0.0123, f64::NAN, 0.9]);
        assert_eq!(unit, TimeUnit::MILLISECONDS);
        assert_eq!(unit.label("wall"), "wall [ms]");
        assert_eq!([0.0123, 0.9, f64::NAN].map(|seconds| unit.number(seconds)), ["12.30", "900.00", "–"]);
        assert_eq!(TimeUnit::of([0.5, 1.0]).number(1.0), "1.000");
        assert_eq!(TimeUnit::of([]).number(0.000_012_34), "12.3");
    }

    #[test]
    fn ratios_have_two_decimals() {
        assert_eq!([medians_of(1), medians_of(3)], ["single runs", "medians of 3 runs"]);
        assert_eq!([ratio(3.0, 2.0), ratio(1.0, 0.0)], ["1.50", "–"]);
    }
}
