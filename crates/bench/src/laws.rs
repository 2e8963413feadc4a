//! Scaling laws, fitted to measurements.
//!
//! Both laws give the time of a job with n threads, as a sum of terms with one non-negative coefficient each:
//!
//! - [`Amdahl`]: T(n) = a + b/n. Gene Amdahl, "Validity of the Single Processor Approach to Achieving Large Scale Computing
//!   Capabilities", 1967. Some of the work is serial and the rest is divided. It applies to processors: more threads than
//!   cores cannot divide CPU-bound work any further.
//! - [`Usl`]: T(n) = T1 (1/n + σ (n − 1)/n + κ (n − 1)), the Universal Scalability Law. Neil Gunther, "Guerrilla Capacity
//!   Planning", 2007. It has contention σ and adds coherency κ, the cost of communication between each pair of threads.
//!
//! A fit minimises the sum of squared relative errors, (T(n)/T − 1)², over all single runs, since noise is proportional to time.
//! That is a linear least-squares problem with weights 1/T² and non-negative coefficients. Confidence intervals come from the
//! bootstrap: Bradley Efron, "Bootstrap Methods: Another Look at the Jackknife", 1979.

mod bootstrap;
mod least_squares;
mod models;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use serde::Serialize;

use self::least_squares::NormalEquations;
pub(crate) use self::models::{Amdahl, Usl};
use crate::rounds::distinct;
use crate::sample::quantile_of_sorted;

/// Wall time of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    /// Number of threads; at least 1.
    pub(crate) width: usize,
    /// Wall time in seconds; more than 0.
    pub(crate) seconds: f64,
}

/// Time of a job by width, with `P` coefficients.
pub(crate) trait Law<const P: usize>: Copy {
    /// Factors of the coefficients at a width.
    fn terms(width: f64) -> [f64; P];

    /// The law with these non-negative coefficients; `None` if a job with one thread would take no time.
    fn new(coefficients: [f64; P]) -> Option<Self>;

    /// Its coefficients.
    fn coefficients(&self) -> [f64; P];

    /// Time of the job at a width, in seconds.
    fn seconds(&self, width: f64) -> f64 {
        self.coefficients().iter().zip(Self::terms(width)).map(|(coefficient, term)| coefficient * term).sum()
    }

    /// Speed-up at a width over one thread.
    fn speed_up(&self, width: f64) -> f64 {
        self.seconds(1.0) / self.seconds(width)
    }
}

/// A law fitted to timings.
#[derive(Clone, Debug)]
pub(crate) struct Fitted<L> {
    /// The best fit.
    pub(crate) law: L,
    /// The fitted widths, in ascending order.
    pub(crate) widths: Vec<usize>,
    /// Root mean squared relative error.
    pub(crate) error: f64,
    /// Fits to the resampled timings; empty if there is only one timing at each width.
    resampled: Vec<L>,
}

/// An estimated number with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// The estimate.
    pub(crate) value: f64,
    /// Lower end of the interval; NaN if there is only one run at each width.
    pub(crate) low: f64,
    /// Upper end of the interval; NaN if there is only one run at each width.
    pub(crate) high: f64,
}

/// A speed-up predicted by a law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Prediction {
    /// Number of threads.
    pub(crate) width: usize,
    /// The speed-up over one thread.
    pub(crate) speed_up: Estimate,
}

/// Error: there are fewer widths than a law has coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooFewWidths {
    /// Number of different widths.
    pub(crate) have: usize,
    /// Number needed.
    pub(crate) need: usize,
}

/// Fits a law to timings.
pub(crate) fn fit<L: Law<P>, const P: usize>(timings: &[Timing]) -> Result<Fitted<L>, TooFewWidths> {
    let widths = distinct(timings.iter().map(|timing| timing.width));
    let too_few = TooFewWidths { have: widths.len(), need: P };
    let groups: Vec<Vec<NormalEquations<P>>> = widths
        .iter()
        .map(|&width| timings.iter().filter(|timing| timing.width == width).map(sums::<L, P>).collect())
        .collect();
    let all: NormalEquations<P> = groups.iter().flatten().sum();
    let solution = all.solve().filter(|_| widths.len() >= P);
    let (law, error) =
        solution.and_then(|(coefficients, error)| Some((L::new(coefficients)?, error))).ok_or(too_few)?;
    let resampled = bootstrap::resampled(&groups, |sums| L::new(sums.solve()?.0));
    Ok(Fitted { law, widths, error, resampled })
}

/// Sums of one timing, with the terms in units of its time, so that the expected value is 1.
fn sums<L: Law<P>, const P: usize>(timing: &Timing) -> NormalEquations<P> {
    NormalEquations::of(L::terms(timing.width as f64).map(|term| term / timing.seconds))
}

impl<L> Fitted<L> {
    /// A number derived from the law, with a 95 % confidence interval: the 2.5th to the 97.5th percentile over the fits to
    /// the resampled timings. With few runs at each width the interval tends to be too narrow.
    pub(crate) fn estimate(&self, number: impl Fn(&L) -> f64) -> Estimate {
        let mut numbers: Vec<f64> = self.resampled.iter().map(&number).collect();
        numbers.sort_by(f64::total_cmp);
        let [low, high] = [0.025, 0.975].map(|share| quantile_of_sorted(&numbers, share));
        Estimate { value: number(&self.law), low, high }
    }

    /// Predicted speed-ups with two and four times as many threads as cores.
    pub(crate) fn predictions<const P: usize>(&self, cores: NonZeroUsize) -> [Prediction; 2]
    where
        L: Law<P>,
    {
        [2, 4].map(|times| {
            let width = times * cores.get();
            Prediction { width, speed_up: self.estimate(|law| law.speed_up(width as f64)) }
        })
    }
}
