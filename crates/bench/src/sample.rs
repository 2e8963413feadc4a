//! The measured values of one configuration.

use serde::{Deserialize, Serialize};

/// Note on [`Sample::spread`].
pub(crate) const SPREAD_NOTE: &str = "The spread is the range in which the middle half of the runs lie.";

/// The measured values of one configuration, in seconds, in the order in which they were measured.
///
/// Statistics of an empty sample are NaN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn new(values: Vec<f64>) -> Self {
        Self(values)
    }

    /// The values, in the order in which they were measured.
    pub(crate) fn values(&self) -> &[f64] {
        &self.0
    }

    /// The middle value, or the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The value that a quarter of the values lie below.
    pub(crate) fn lower_quartile(&self) -> f64 {
        self.quantile(0.25)
    }

    /// The value that a quarter of the values lie above.
    pub(crate) fn upper_quartile(&self) -> f64 {
        self.quantile(0.75)
    }

    /// The interquartile range, which a single run that was disturbed does not change much.
    pub(crate) fn spread(&self) -> f64 {
        self.upper_quartile() - self.lower_quartile()
    }

    /// The value that the given share of the values lies below, with 0 ≤ `share` ≤ 1. Between two values it is
    /// interpolated: definition 7 of Rob Hyndman and Yanan Fan, "Sample Quantiles in Statistical Packages", 1996.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        quantile_of_sorted(&sorted, share)
    }
}

/// [`Sample::quantile`] of values in ascending order.
pub(crate) fn quantile_of_sorted(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place as usize;
    let above = (below + 1).min(last);
    // Not between infinite values, whose difference is not a number.
    if place == below as f64 || sorted[below] == sorted[above] {
        return sorted[below];
    }
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

impl FromIterator<f64> for Sample {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_those_of_definition_7() {
        let sample = Sample::new(vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!(sample.median(), 2.5);
        assert_eq!((sample.lower_quartile(), sample.upper_quartile()), (1.75, 3.25));
        assert_eq!(sample.spread(), 1.5);
        assert_eq!((sample.quantile(0.0), sample.quantile(1.0)), (1.0, 4.0));
        assert_eq!(sample.values(), [4.0, 1.0, 3.0, 2.0]);
    }

    #[test]
    fn one_value_is_its_own_median_and_has_no_spread() {
        let sample: Sample = [0.25].into_iter().collect();
        assert_eq!((sample.median(), sample.spread()), (0.25, 0.0));
    }

    #[test]
    fn infinite_values_lie_at_the_edge() {
        let infinite = f64::INFINITY;
        let sample = Sample::new(vec![1.0, infinite, 2.0, infinite, infinite]);
        assert_eq!(
            (sample.lower_quartile(), sample.median(), sample.quantile(1.0)),
            (2.0, infinite, infinite)
        );
        assert_eq!(sample.quantile(0.3), infinite);
    }

    #[test]
    fn nothing_is_known_of_an_empty_sample() {
        assert!(Sample::default().median().is_nan());
        assert!(Sample::default().spread().is_nan());
    }

    proptest! {
        #[test]
        fn half_of_the_values_lie_on_each_side_of_the_median(values in prop::collection::vec(0.0..1e6, 1..40)) {
            let median = Sample::new(values.clone()).median();
            let below = values.iter().filter(|&&value| value < median).count();
            let above = values.iter().filter(|&&value| value > median).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
        }
    }
}
