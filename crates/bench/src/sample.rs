//! The measured values of one configuration.

use serde::{Deserialize, Serialize};

/// Note on [`Sample::iqr`].
pub(crate) const IQR_NOTE: &str = "Times are medians; IQR is the interquartile range of the runs.";

/// The measured values of one configuration in seconds, in the order of measurement.
///
/// Statistics of an empty sample are NaN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn new(values: Vec<f64>) -> Self {
        Self(values)
    }

    /// The values, in the order of measurement.
    pub(crate) fn values(&self) -> &[f64] {
        &self.0
    }

    /// The median: the middle value, or the mean of the two middle values.
    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The first quartile.
    pub(crate) fn lower_quartile(&self) -> f64 {
        self.quantile(0.25)
    }

    /// The third quartile.
    pub(crate) fn upper_quartile(&self) -> f64 {
        self.quantile(0.75)
    }

    /// The interquartile range, which is robust against single outliers.
    pub(crate) fn iqr(&self) -> f64 {
        self.upper_quartile() - self.lower_quartile()
    }

    /// The quantile at `share`, from 0 to 1, interpolated between two values: definition 7 of Rob Hyndman and Yanan Fan,
    /// "Sample Quantiles in Statistical Packages", 1996.
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
    // The difference of two infinite values is NaN.
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
        assert_eq!(sample.iqr(), 1.5);
        assert_eq!((sample.quantile(0.0), sample.quantile(1.0)), (1.0, 4.0));
        assert_eq!(sample.values(), [4.0, 1.0, 3.0, 2.0]);
    }

    #[test]
    fn one_value_is_its_own_median_with_an_iqr_of_zero() {
        let sample: Sample = [0.25].into_iter().collect();
        assert_eq!((sample.median(), sample.iqr()), (0.25, 0.0));
    }

    #[test]
    fn infinite_values_sort_last() {
        let infinite = f64::INFINITY;
        let sample = Sample::new(vec![1.0, infinite, 2.0, infinite, infinite]);
        assert_eq!(sample.lower_quartile(), 2.0);
        assert_eq!([0.3, 0.5, 1.0].map(|share| sample.quantile(share)), [infinite; 3]);
        assert_eq!(sample.median(), infinite);
    }

    #[test]
    fn statistics_of_an_empty_sample_are_nan() {
        assert!(Sample::default().median().is_nan());
        assert!(Sample::default().iqr().is_nan());
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
