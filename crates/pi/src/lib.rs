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
//! # Algorithm
//!
//! - The series is that of the Chudnovskys ("Approximations and complex multiplication according to Ramanujan", 1988).
//!   A term gives about 14.18 digits.
//! - It is summed by binary splitting (Bruno Haible and Thomas Papanikolaou, "Fast multiprecision evaluation of series
//!   of rational numbers", 1998). On the upper levels, common factors of numerators and denominators are removed
//!   (Howard Cheng, Guillaume Hanrot, Emmanuel Thomé, Eugene Zima and Paul Zimmermann, "Time- and space-efficient
//!   evaluation of some hypergeometric constants", 2007).
//! - The quotient and the square root come from Newton's iteration (Richard Brent and Paul Zimmermann, "Modern Computer
//!   Arithmetic", 2010).
//! - The digits are computed by halves, from fractions of decreasing precision (after Daniel Bernstein, "Scaled
//!   remainder trees", 2004).
//!
//! All of these use products of large integers, computed by Karatsuba's method where they are short, and by
//! number-theoretic transforms where they are long (after FLINT's `fft_small`, on vectors of `f64` with fused
//! multiply-adds). A product takes about n log(n) steps, and n digits take about n log(n)^3. No library in the registry multiplies as fast
//! without taking a minute to build, or needing `m4`, as GMP does (docs/build.md).
//!
//! # Exactness
//!
//! All arithmetic is on integers. Each part states an error bound for its result, and a few guard bits are computed beyond the
//! required ones. If the digits still depend on unknown bits (as before a long run of nines), the computation is repeated with
//! twice as many guard bits. So the digits are always exact, truncated rather than rounded, and do not depend on the number of
//! threads.

mod decimal;
mod error;
mod factors;
mod float;
mod multiply;
mod natural;
mod newton;
mod options;
mod primes;
mod product;
mod progress;
mod series;
mod splitting;
mod team;
mod transform;

use crate::decimal::{Decimal, NoDigits, bits_of_digits};
pub use crate::error::{Error, MAX_DIGITS};
pub use crate::options::Options;
use crate::team::Team;

/// Guard bits of the first attempt. The probability that a second one is needed is 2^-72 per 1,500 digits.
const GUARD: u64 = 128;

/// Returns the first `count` decimal digits of pi after the decimal point, in ASCII.
///
/// The last digit is not rounded. [`memory`] estimates the memory needed; as usual, the process is ended if there is
/// not enough.
///
/// # Errors
///
/// [`Error::TooManyDigits`] if `count` exceeds [`MAX_DIGITS`]. [`Error::Stopped`] if [`Options::stop`] is set to `true`
/// before the end.
pub fn digits(count: u64, options: &Options<'_>) -> Result<Vec<u8>, Error> {
    digits_from_guard(count, options, GUARD)
}

/// The same with another number of guard bits in the first attempt.
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
            Err(NoDigits::Stopped(error)) => return Err(error),
            Err(NoDigits::Uncertain) => guard *= 2,
        }
    }
}

fn attempt(team: &Team<'_>, length: usize, guard: u64) -> Result<Vec<u8>, NoDigits> {
    team.check_stop()?;
    let bits = bits_of_digits(length as u64) + guard;
    let (fraction, decimal) =
        team.try_join(true, || series::fraction(team, bits), || Decimal::new(team, length, guard))?;
    let mut digits = vec![0; length];
    decimal.write(fraction, &mut digits)?;
    Ok(digits)
}

/// Estimates the work of all products for `count` digits. Fitted to runs with 100,000 to 50,000,000 digits, where the
/// error is at most a tenth.
fn work(count: u64) -> f64 {
    let count = count.max(2) as f64;
    0.006 * count * count.log2().powi(3)
}

/// Estimates the memory that [`digits`] needs for `count` digits, in bytes.
///
/// The measured peak of the process on x86-64 Linux for 1,000,000 to 50,000,000 digits is 7 bytes per digit with 1
/// thread, 11 to 13 with 2, and 21 with 8. The estimate is 18 bytes per digit: factors of more than 3,000,000 limbs,
/// which were not measured, need a third more.
pub fn memory(count: u64) -> u64 {
    count.saturating_mul(18).saturating_add(8 << 20)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::decimal::MIN_GUARD;

    #[test]
    fn too_many_digits_are_an_error() {
        let error = digits(MAX_DIGITS + 1, &Options::new(NonZeroUsize::MIN)).expect_err("too many");
        assert_eq!(
            error.to_string(),
            "cannot compute 8,589,934,593 digits of pi; the maximum is 8,589,934,592"
        );
    }

    #[test]
    fn uncertain_digits_are_computed_again() {
        let options = Options::new(NonZeroUsize::MIN);
        let pi = digits(700, &options).unwrap();
        let mut uncertain = 0;
        for length in 0..700 {
            // One guard bit decides: every other attempt is uncertain.
            match attempt(&team::single_threaded(), length, MIN_GUARD) {
                Ok(digits) => assert_eq!(digits, pi[..length], "{length} digits"),
                Err(failure) => {
                    assert!(matches!(failure, NoDigits::Uncertain));
                    uncertain += 1;
                }
            }
            let digits = digits_from_guard(length as u64, &options, MIN_GUARD).unwrap();
            assert_eq!(digits, pi[..length], "{length} digits");
        }
        assert!((250..450).contains(&uncertain), "{uncertain} of 700");
    }
}
