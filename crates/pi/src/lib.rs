//! The decimal digits of pi, on all cores.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::thread::available_parallelism;
//!
//! use finecomb_pi::{Options, digits};
//!
//! let options = Options::new(available_parallelism().unwrap_or(NonZeroUsize::MIN));
//! assert_eq!(digits(20, &options)?, b"14159265358979323846");
//! # Ok::<(), finecomb_pi::Error>(())
//! ```
//!
//! # How
//!
//! - The series is the Chudnovskys' ("Approximations and complex multiplication according to Ramanujan", 1988), about
//!   14.18 digits a term.
//! - It is summed by binary splitting (Bruno Haible and Thomas Papanikolaou, "Fast multiprecision evaluation of series
//!   of rational numbers", 1998), on the upper levels without the factors that numerators and denominators have in
//!   common (Howard Cheng, Guillaume Hanrot, Emmanuel Thomé, Eugene Zima and Paul Zimmermann, "Time- and
//!   space-efficient evaluation of some hypergeometric constants", 2007).
//! - The quotient and the square root come from Newton's iteration (Richard Brent and Paul Zimmermann, "Modern Computer
//!   Arithmetic", 2010).
//! - The digits are found by halves, from fractions of ever less precision (after Daniel Bernstein, "Scaled remainder
//!   trees", 2004).
//!
//! All of it comes down to products of large integers: by Karatsuba's method where they are short, and by number-theoretic
//! transforms where they are long (after FLINT's `fft_small`, on vectors of `f64` with fused multiply-adds). They take about
//! n log(n) steps, and n digits about n log(n)^3.
//!
//! # Exactness
//!
//! All arithmetic is on integers. Each part states how wrong its result can be, and some more bits than wanted are
//! computed. When the digits would still depend on what is unknown (as behind a long run of nines), all is done again
//! with twice as many spare bits. So the digits are always pi's own, cut off and not rounded, and do not depend on the
//! number of threads.

#![forbid(unsafe_code)]

mod decimal;
mod factors;
mod float;
mod multiply;
mod natural;
mod newton;
mod primes;
mod progress;
mod series;
mod splitting;
mod team;
mod transform;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::decimal::{Decimal, Failure, bits_of_digits};
use crate::team::Team;

/// The most digits that can be asked for: 8,589,934,592.
///
/// Up to there all factors of a term fit the words they are computed in. The memory needed is likely the tighter limit:
/// see [`memory`].
pub const MAX_DIGITS: u64 = 1 << 33;

/// The spare bits of the first attempt. A second one is needed with a probability of 2^-72 for each 1,500 digits.
const GUARD: u64 = 128;

/// How digits are computed.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// How many threads may work at a time, with the caller's.
    pub threads: NonZeroUsize,
    /// Is told how much of the work is done, from 0.0 to 1.0.
    ///
    /// It is called by any of the threads, but by one at a time and with ever larger numbers, at most 1,000 times for
    /// each computation; the last number is 1.0. The numbers are in proportion to the expected number of operations.
    pub progress: Option<&'a (dyn Fn(f64) + Sync)>,
    /// Stops the computation when it is set to true: [`digits`] then fails with [`Error::Stopped`] as soon as the
    /// multiplications under way are done, which for a hundred million digits may take seconds.
    pub stop: Option<&'a AtomicBool>,
}

impl Options<'_> {
    /// So many threads, that nobody watches or stops.
    pub fn new(threads: NonZeroUsize) -> Self {
        Self { threads, progress: None, stop: None }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("threads", &self.threads)
            .field("progress", &self.progress.is_some())
            .field("stop", &self.stop)
            .finish()
    }
}

/// Why there are no digits.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The computation was stopped by [`Options::stop`].
    #[error("computation of pi stopped")]
    Stopped,
    /// This number is more than [`MAX_DIGITS`], or more than an address can be given to.
    #[error("cannot compute {0} digits of pi; the maximum is {MAX_DIGITS}")]
    TooManyDigits(u64),
}

/// The first `count` decimal digits of pi after the point, in ASCII.
///
/// The last digit is not rounded. The memory needed is that of [`memory`]; as usual, the process is ended if there is
/// not as much.
///
/// # Errors
///
/// [`Error::TooManyDigits`] if `count` is more than [`MAX_DIGITS`]. [`Error::Stopped`] if [`Options::stop`] is set to
/// true before the end.
pub fn digits(count: u64, options: &Options<'_>) -> Result<Vec<u8>, Error> {
    digits_from_guard(count, options, GUARD)
}

/// The same with other spare bits in the first attempt.
fn digits_from_guard(count: u64, options: &Options<'_>, mut guard: u64) -> Result<Vec<u8>, Error> {
    let length =
        usize::try_from(count).ok().filter(|_| count <= MAX_DIGITS).ok_or(Error::TooManyDigits(count))?;
    let team = Team::new(options, work(count));
    loop {
        match attempt(&team, length, guard) {
            Ok(digits) => {
                team.finish();
                return Ok(digits);
            }
            Err(Failure::Stopped(error)) => return Err(error),
            Err(Failure::Uncertain) => guard *= 2,
        }
    }
}

fn attempt(team: &Team<'_>, length: usize, guard: u64) -> Result<Vec<u8>, Failure> {
    team.go_on()?;
    let bits = bits_of_digits(length as u64) + guard;
    let (fraction, decimal) =
        team.try_join(true, || series::fraction(team, bits), || Decimal::new(team, length, guard))?;
    let mut digits = vec![0; length];
    decimal.write(fraction, &mut digits)?;
    Ok(digits)
}

/// About how much work all products for `count` digits are. Fitted to runs with 100,000 to 50,000,000 digits, where it is
/// wrong by up to a tenth.
fn work(count: u64) -> f64 {
    let count = count.max(2) as f64;
    0.006 * count * count.log2().powi(3)
}

/// The memory in bytes that [`digits`] is expected to need for `count` digits.
///
/// The peak of the process, measured on x86-64 Linux for 1,000,000 to 50,000,000 digits, is 7 bytes a digit with 1 thread,
/// 11 to 13 with 2, and 21 with 8. This is 18 bytes a digit: factors of more than 3,000,000 limbs, which are not among those
/// measured, need a third more.
pub fn memory(count: u64) -> u64 {
    count.saturating_mul(18).saturating_add(8 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::LEAST_GUARD;

    #[test]
    fn uncertain_digits_are_computed_again() {
        let options = Options::new(NonZeroUsize::MIN);
        let pi = digits(700, &options).unwrap();
        let mut uncertain = 0;
        for length in 0..700 {
            // One bit decides: every other attempt is uncertain.
            match attempt(&team::alone(), length, LEAST_GUARD) {
                Ok(digits) => assert_eq!(digits, pi[..length], "{length} digits"),
                Err(failure) => {
                    assert!(matches!(failure, Failure::Uncertain));
                    uncertain += 1;
                }
            }
            let digits = digits_from_guard(length as u64, &options, LEAST_GUARD).unwrap();
            assert_eq!(digits, pi[..length], "{length} digits");
        }
        assert!((250..450).contains(&uncertain), "{uncertain} of 700");
    }
}
