//! Sums of ranges of terms by binary splitting.
//!
//! Bruno Haible and Thomas Papanikolaou, "Fast multiprecision evaluation of series of rational numbers" (1998).

use crate::Error;
use crate::natural::Natural;
use crate::series::{ODD_SCALE, linear, numerator, twos};
use crate::team::Team;

/// Minimum number of terms of a range that is split; shorter ranges are summed term by term.
const LEAF_TERMS: u64 = 8;

/// Minimum number of terms of a range that is split between threads.
const SHARED_TERMS: u64 = 512;

/// Products of a range that are wanted besides its sum.
#[derive(Clone, Copy)]
struct WantedProducts {
    p: bool,
    q: bool,
}

/// A range a..b of terms. With P the product of all p(k) and Q that of all q(k) 2^15, the terms of a..b sum to T / Q
/// times their common factor, the product of p(k) / (q(k) 2^15) for k < a.
struct TermSum {
    /// P, which is odd; 0 if not wanted.
    p: Natural,
    /// The odd part of Q; 0 if not wanted.
    q: Natural,
    t: Natural,
}

/// Returns the T of the terms `start..end`. Their number is even except at the end of the series.
pub(crate) fn sum(team: &Team<'_>, start: u64, end: u64) -> Result<Natural, Error> {
    Ok(split(team, start, end, WantedProducts { p: false, q: false })?.t)
}

/// Returns the middle of a range, such that the first half has an even number of terms: then the terms of both halves
/// begin with the same sign, and all T are positive.
pub(crate) fn middle(start: u64, end: u64) -> u64 {
    start + ((end - start).div_ceil(4) * 2)
}

fn split(team: &Team<'_>, start: u64, end: u64, wanted: WantedProducts) -> Result<TermSum, Error> {
    if end - start < LEAF_TERMS {
        return Ok(leaf(start, end, wanted));
    }
    let middle = middle(start, end);
    let shared = end - start >= SHARED_TERMS;
    let (left, right) = team.try_join(
        shared,
        || split(team, start, middle, WantedProducts { p: true, q: wanted.q }),
        || split(team, middle, end, WantedProducts { p: wanted.p, q: true }),
    )?;
    merge(team, &left, &right, twos(middle, end), wanted, shared)
}

/// Merges two adjacent ranges: T = T1 Q2 + P1 T2.
fn merge(
    team: &Team<'_>,
    left: &TermSum,
    right: &TermSum,
    twos: u64,
    wanted: WantedProducts,
    shared: bool,
) -> Result<TermSum, Error> {
    let product = |is_wanted: bool, left: &Natural, right: &Natural| {
        if is_wanted { team.multiply(left, right) } else { Ok(Natural::default()) }
    };
    let (t, (p, q)) = team.try_join(
        shared,
        || {
            let (first, second) = team.try_join(
                shared,
                || team.multiply(&left.t, &right.q),
                || team.multiply(&left.p, &right.t),
            )?;
            Ok((first << twos) + second)
        },
        || {
            team.try_join(
                shared,
                || product(wanted.p, &left.p, &right.p),
                || product(wanted.q, &left.q, &right.q),
            )
        },
    )?;
    Ok(TermSum { p, q, t })
}

/// Sums term by term, from the last to the first: T(k..b) = p(k) (linear(k) Q(k+1..b) - T(k+1..b)).
fn leaf(start: u64, end: u64, wanted: WantedProducts) -> TermSum {
    let mut p = Natural::from(1u64);
    let mut q = Natural::from(1u64);
    let mut t = Natural::default();
    for k in (start..end).rev() {
        let factor = numerator(k);
        t = (((q.clone() * linear(k)) << twos(k + 1, end)) - &t) * factor;
        if wanted.p {
            p = p * factor;
        }
        if k > start || wanted.q {
            q = q * odd_denominator(k);
        }
    }
    TermSum { p, q, t }
}

/// Returns the odd part of q(k).
fn odd_denominator(k: u64) -> u128 {
    if k == 0 {
        return 1;
    }
    let odd = u128::from(k >> k.trailing_zeros());
    odd * odd * odd * u128::from(ODD_SCALE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::team::single_threaded;

    #[test]
    fn a_split_range_has_the_sum_of_its_terms() {
        let all = WantedProducts { p: true, q: true };
        for (start, end) in [(0, 8), (0, 9), (1, 40), (6, 101), (1_000, 1_300), (30, 1_531)] {
            let split = split(&single_threaded(), start, end, all).unwrap();
            let term_by_term = leaf(start, end, all);
            assert_eq!(
                (split.p, split.q, split.t),
                (term_by_term.p, term_by_term.q, term_by_term.t),
                "{start}..{end}"
            );
        }
    }
}
