//! The upper levels of binary splitting, with common factors of numerators and denominators removed.
//!
//! In T = T1 Q2 + P1 T2, both Q2 and P1 can be divided by their greatest common divisor, and so can the P and Q of the whole. That
//! halves the size of the final sum. No division is needed, because all factors are known: Legendre's formula for factorials gives
//! the exponents of the primes in P and Q, these give the exponents in the reduced factors, and these the factors (Cheng, Hanrot,
//! Thomé, Zima and Zimmermann, "Time- and space-efficient evaluation of some hypergeometric constants", 2007). Above the lowest of
//! these levels, P and Q are not computed at all. On lower levels there are fewer common factors, and plain splitting is faster.

use std::cmp::Ordering;

use crate::Error;
use crate::float::Float;
use crate::natural::Natural;
use crate::primes::odd_primes;
use crate::series::{ODD_SCALE_FACTORS, twos};
use crate::splitting::{middle, sum};
use crate::team::Team;

/// Minimum number of terms of a range that is split here; shorter ranges are summed by plain splitting.
const PLAIN_TERMS: u64 = 12_000;

/// The largest prime of the scale factor, whose primes are in the Q of all ranges.
const LARGEST_SCALE_PRIME: u32 = 29;

/// Minimum number of words of a product that is split between threads.
const SHARED_WORDS: usize = 4_000;

/// Plan for computing the sum of a range.
pub(crate) enum Plan {
    /// Plain splitting of the terms from the first number up to, but excluding, the second one.
    Plain(u64, u64),
    /// Merging of the sums of two halves.
    Merge(Box<Merge>),
}

/// T = T1 Q2 2^twos + P1 T2, with reduced P1 and Q2.
pub(crate) struct Merge {
    left: Plan,
    right: Plan,
    p: Natural,
    q: Natural,
    twos: u64,
}

/// An odd prime and its exponents in the P and the Q of a range.
#[derive(Clone, Copy)]
struct Factor {
    prime: u32,
    p: u32,
    q: u32,
}

impl Plan {
    /// Returns the plan for the first `terms` terms of the series, and the denominator of their sum.
    pub(crate) fn new(team: &Team<'_>, terms: u64) -> Result<(Self, Float), Error> {
        let planner = Planner { team };
        let (plan, factors) =
            planner.plan(0, terms, odd_primes((6 * terms).max(LARGEST_SCALE_PRIME.into())))?;
        let denominator = planner.product(&factors, |factor| factor.q)?;
        Ok((plan, Float { mantissa: denominator, exponent: twos(0, terms) as i64 }))
    }

    /// Returns the T of the range, over the reduced Q.
    pub(crate) fn sum(self, team: &Team<'_>) -> Result<Natural, Error> {
        let merge = match self {
            Self::Plain(start, end) => return sum(team, start, end),
            Self::Merge(merge) => *merge,
        };
        let Merge { left, right, p, q, twos } = merge;
        let (left, right) = team.try_join(true, || left.sum(team), || right.sum(team))?;
        let (first, second) =
            team.try_join(true, || team.multiply(&left, &q), || team.multiply(&p, &right))?;
        Ok((first << twos) + second)
    }
}

struct Planner<'p, 'a> {
    team: &'p Team<'a>,
}

impl Planner<'_, '_> {
    /// Returns the plan for the terms `start..end`, and the factors of their P and Q, which are among `primes`.
    fn plan(&self, start: u64, end: u64, primes: Vec<u32>) -> Result<(Plan, Vec<Factor>), Error> {
        self.team.check_stop()?;
        if end - start < PLAIN_TERMS {
            let factors = primes.iter().map(|&prime| factor(start, end, prime)).collect();
            return Ok((Plan::Plain(start, end), factors));
        }
        let middle = middle(start, end);
        let (lower, upper) = (occurring(&primes, start, middle), occurring(&primes, middle, end));
        drop(primes);
        let ((left, mut first), (right, mut second)) =
            self.team.try_join(true, || self.plan(start, middle, lower), || self.plan(middle, end, upper))?;
        let whole = reduce(&mut first, &mut second);
        let (p, q) = self.team.try_join(
            true,
            || self.product(&first, |factor| factor.p),
            || self.product(&second, |factor| factor.q),
        )?;
        Ok((Plan::Merge(Box::new(Merge { left, right, p, q, twos: twos(middle, end) })), whole))
    }

    /// Returns the product of the primes of the factors, each to the power of its `exponent`.
    ///
    /// This is the square of the product with halved exponents, times the primes with odd ones.
    fn product(&self, factors: &[Factor], exponent: impl Fn(&Factor) -> u32) -> Result<Natural, Error> {
        let powers = factors.iter().map(|factor| (factor.prime, exponent(factor)));
        let mut powers: Vec<(u32, u32)> = powers.filter(|&(_, exponent)| exponent > 0).collect();
        let mut of_bits = Vec::new();
        while !powers.is_empty() {
            let odd = powers.iter().filter(|(_, exponent)| exponent % 2 == 1);
            of_bits.push(packed(odd.map(|&(prime, _)| prime)));
            powers.retain_mut(|(_, exponent)| {
                *exponent /= 2;
                *exponent > 0
            });
        }
        let mut product = Natural::from(1u64);
        for words in of_bits.iter().rev() {
            let (square, odd) = self.team.try_join(
                words.len() >= SHARED_WORDS,
                || self.team.square(&product),
                || self.product_of_words(words),
            )?;
            product = self.team.multiply(&square, &odd)?;
        }
        Ok(product)
    }

    fn product_of_words(&self, words: &[u64]) -> Result<Natural, Error> {
        if words.len() <= 8 {
            return Ok(words.iter().fold(Natural::from(1u64), |product, &word| product * word));
        }
        let (low, high) = words.split_at(words.len() / 2);
        let shared = words.len() >= SHARED_WORDS;
        let (low, high) =
            self.team.try_join(shared, || self.product_of_words(low), || self.product_of_words(high))?;
        self.team.multiply(&low, &high)
    }
}

/// Returns the primes with multiples among the factors of the terms `start..end`, and a few more.
fn occurring(primes: &[u32], start: u64, end: u64) -> Vec<u32> {
    // p(k) and q(k) divide the product of 6k - 5 to 6k, except for the primes of the scale factor.
    let (before, last) = ((6 * before_first(start)) as u32, (6 * (end - 1)) as u32);
    let occurs = |prime: &u32| *prime <= LARGEST_SCALE_PRIME || last / prime > before / prime;
    primes.iter().copied().filter(occurs).collect()
}

/// Number of the last term before `start`; the term 0 has no factors.
fn before_first(start: u64) -> u64 {
    start.max(1) - 1
}

/// Returns the exponents of a prime in P and Q of the terms `start..end`.
///
/// The product of the first n p(k) is (6n)! / ((3n)! 24^n), as follows from the quotient of adjacent products.
fn factor(start: u64, end: u64, prime: u32) -> Factor {
    let (before, last) = (before_first(start), end - 1);
    let in_range = |multiple| in_factorial(multiple * last, prime) - in_factorial(multiple * before, prime);
    let count = (last - before) as u32;
    let threes = if prime == 3 { count } else { 0 };
    let in_scale = ODD_SCALE_FACTORS.iter().find(|factor| factor.0 == prime).map_or(0, |factor| factor.1);
    Factor { prime, p: in_range(6) - in_range(3) - threes, q: 3 * in_range(1) + in_scale * count }
}

/// Divides the P of `left` and the Q of `right` by their common factors. Returns the P and Q of both together. Factors
/// are ordered by prime.
fn reduce(left: &mut [Factor], right: &mut [Factor]) -> Vec<Factor> {
    let mut whole = Vec::with_capacity(left.len() + right.len());
    let (mut lefts, mut rights) = (left.iter_mut().peekable(), right.iter_mut().peekable());
    loop {
        let order = match (lefts.peek(), rights.peek()) {
            (Some(left), Some(right)) => left.prime.cmp(&right.prime),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return whole,
        };
        let left = if order.is_le() { lefts.next() } else { None };
        let right = if order.is_ge() { rights.next() } else { None };
        whole.extend(match (left, right) {
            (Some(left), Some(right)) => Some(reduce_factor(left, right)),
            (one, other) => one.or(other).copied(),
        });
    }
}

/// The same for a prime that is in both.
fn reduce_factor(left: &mut Factor, right: &mut Factor) -> Factor {
    let common = left.p.min(right.q);
    left.p -= common;
    right.q -= common;
    Factor { prime: left.prime, p: left.p + right.p, q: left.q + right.q }
}

/// Packs the primes into words: products of as many primes as fit a word.
fn packed(primes: impl Iterator<Item = u32>) -> Vec<u64> {
    let mut words = Vec::new();
    let mut word = 1u64;
    for prime in primes {
        word = word.checked_mul(u64::from(prime)).unwrap_or_else(|| {
            words.push(word);
            u64::from(prime)
        });
    }
    words.push(word);
    words
}

/// The exponent of `prime` in n!, for n < 2^32, by Legendre's formula.
fn in_factorial(n: u64, prime: u32) -> u32 {
    let (mut rest, mut exponent) = (n as u32 / prime, 0);
    while rest > 0 {
        exponent += rest;
        rest /= prime;
    }
    exponent
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::series::{ODD_SCALE, numerator};
    use crate::team::single_threaded;

    /// P and the odd part of Q, multiplied factor by factor.
    fn plain_products(start: u64, end: u64) -> (BigUint, BigUint) {
        let one = BigUint::from(1u32);
        (start.max(1)..end).fold((one.clone(), one), |(p, q), k| {
            let odd = BigUint::from(k >> k.trailing_zeros());
            (p * numerator(k), q * &odd * &odd * odd * ODD_SCALE)
        })
    }

    /// The greatest common divisor, by Euclid's algorithm.
    fn common_divisor(mut one: BigUint, mut other: BigUint) -> BigUint {
        while other > BigUint::ZERO {
            (one, other) = (other.clone(), one % other);
        }
        one
    }

    fn factors(start: u64, end: u64) -> Vec<Factor> {
        let primes = occurring(&odd_primes((6 * end).max(LARGEST_SCALE_PRIME.into())), start, end);
        primes.iter().map(|&prime| factor(start, end, prime)).collect()
    }

    #[test]
    fn factors_make_up_the_products() {
        let team = single_threaded();
        let planner = Planner { team: &team };
        for (start, end) in [(0, 6), (1, 7), (0, 50), (50, 100), (999, 1_333)] {
            let factors = factors(start, end);
            let (p, q) = plain_products(start, end);
            assert_eq!(
                BigUint::from(&planner.product(&factors, |factor| factor.p).unwrap()),
                p,
                "P of {start}..{end}"
            );
            assert_eq!(
                BigUint::from(&planner.product(&factors, |factor| factor.q).unwrap()),
                q,
                "Q of {start}..{end}"
            );
        }
    }

    #[test]
    fn reduced_factors_have_nothing_in_common() {
        let team = single_threaded();
        let planner = Planner { team: &team };
        let (mut left, mut right) = (factors(200, 300), factors(300, 400));
        let whole = reduce(&mut left, &mut right);
        let ((p, left_q), (right_p, q)) = (plain_products(200, 300), plain_products(300, 400));
        let common = common_divisor(p.clone(), q.clone());
        assert!(common > BigUint::from(u64::MAX));
        let (reduced_p, reduced_q) = (p / &common, q / &common);
        assert_eq!(BigUint::from(&planner.product(&left, |factor| factor.p).unwrap()), reduced_p);
        assert_eq!(BigUint::from(&planner.product(&right, |factor| factor.q).unwrap()), reduced_q);
        assert_eq!(BigUint::from(&planner.product(&whole, |factor| factor.p).unwrap()), reduced_p * right_p);
        assert_eq!(BigUint::from(&planner.product(&whole, |factor| factor.q).unwrap()), left_q * reduced_q);
        assert!(whole.is_sorted_by_key(|factor| factor.prime));
    }

    #[test]
    fn a_planned_sum_equals_the_plain_sum_over_the_same_denominator() {
        let terms = 3 * PLAIN_TERMS;
        let (plan, denominator) = Plan::new(&single_threaded(), terms).unwrap();
        assert!(matches!(plan, Plan::Merge(_)));
        let planned = plan.sum(&single_threaded()).unwrap();
        let plain = sum(&single_threaded(), 0, terms).unwrap();
        // planned / denominator = plain / Q, compared modulo a prime: the products would be large.
        let modulus = BigUint::from(0xffff_ffff_ffff_ffc5u64);
        let q = (1..terms).fold(BigUint::from(1u32), |q, k| {
            let odd = BigUint::from(k >> k.trailing_zeros());
            q * &odd * &odd * odd * ODD_SCALE % &modulus
        });
        let (planned, plain) = (BigUint::from(&planned), BigUint::from(&plain));
        assert_eq!(planned * q % &modulus, plain * BigUint::from(&denominator.mantissa) % &modulus);
    }
}
