//! The digits of pi against literals and two reference implementations.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

use finecomb_pi::{Error, MAX_DIGITS, Options, digits, memory};
use num_bigint::BigUint;
use proptest::prelude::*;

/// Maximum number of digits in random tests.
const MAX_COUNT: usize = 50_000;

/// More digits than any test compares.
static PI: LazyLock<String> = LazyLock::new(|| gauss_legendre(MAX_COUNT + 1_000));

fn options(threads: usize) -> Options<'static> {
    Options::new(NonZeroUsize::new(threads).expect("at least one thread"))
}

fn text(count: usize, threads: usize) -> String {
    let digits = digits(count as u64, &options(threads)).expect("few digits, and no stop");
    String::from_utf8(digits).expect("ASCII")
}

/// Returns the digits of a number in units of 10^-(count + 20) after the decimal point.
fn after_the_point(pi: &BigUint, count: usize) -> String {
    pi.to_string()[1..=count].to_owned()
}

/// Machin's formula, pi = 16 arctan(1/5) - 4 arctan(1/239), term by term.
fn machin(count: usize) -> String {
    let unit = BigUint::from(10u32).pow(count as u32 + 20);
    let arctan_of_inverse = |n: u32| {
        let mut power = &unit / BigUint::from(n);
        let (mut sums, mut k) = ([BigUint::default(), BigUint::default()], 0u32);
        while power > BigUint::ZERO {
            sums[(k % 2) as usize] += &power / BigUint::from(2 * k + 1);
            power /= BigUint::from(n * n);
            k += 1;
        }
        &sums[0] - &sums[1]
    };
    let pi = BigUint::from(16u32) * arctan_of_inverse(5) - BigUint::from(4u32) * arctan_of_inverse(239);
    after_the_point(&pi, count)
}

/// The arithmetic-geometric mean of Gauss, by the iteration of Brent and Salamin.
fn gauss_legendre(count: usize) -> String {
    let unit = BigUint::from(10u32).pow(count as u32 + 20);
    let (mut a, mut b) = (unit.clone(), (unit.pow(2) >> 1u32).sqrt());
    let (mut t, mut power) = (&unit >> 2u32, 0u32);
    while &a - &b > BigUint::from(1u32) {
        let mean = (&a + &b) >> 1u32;
        b = (&a * &b).sqrt();
        t -= ((a - &mean).pow(2) << power) / &unit;
        a = mean;
        power += 1;
    }
    after_the_point(&((a + b).pow(2) / (t << 2u32)), count)
}

#[test]
fn the_first_fifty_digits() {
    assert_eq!(text(50, 1), "14159265358979323846264338327950288419716939937510");
}

#[test]
fn counts_of_zero_one_and_four() {
    assert_eq!(digits(0, &options(4)).unwrap(), b"");
    assert_eq!(text(1, 2), "1");
    assert_eq!(text(4, 1), "1415", "cut off, not rounded");
}

#[test]
fn known_digits_further_on() {
    let pi = text(10_000, 2);
    assert_eq!(&pi[990..1_000], "2164201989");
    assert_eq!(&pi[9_990..], "5256375678");
    assert_eq!(&pi[761..769], "99999983", "Feynman's point");
}

#[test]
fn the_last_ten_of_a_million_digits() {
    let pi = text(1_000_000, 2);
    assert_eq!(&pi[999_990..], "5779458151");
    assert_eq!(pi.len(), 1_000_000);
    assert!(pi.starts_with(PI.as_str()));
}

#[test]
fn reference_implementations_agree() {
    assert!(PI.starts_with(&machin(3_000)));
}

#[test]
fn all_small_counts_on_some_threads() {
    for count in 0..=300 {
        for threads in [1, 2, 3, 8] {
            assert_eq!(text(count, threads), PI[..count], "{count} digits on {threads} threads");
        }
    }
}

#[test]
fn more_digits_than_can_be_computed() {
    for count in [MAX_DIGITS + 1, u64::MAX] {
        assert_eq!(digits(count, &options(1)), Err(Error::TooManyDigits(count)));
    }
}

#[test]
fn progress_grows_to_one() {
    let reported = Mutex::new(Vec::new());
    let report = |done| reported.lock().unwrap().push(done);
    digits(100_000, &Options { progress: Some(&report), ..options(3) }).unwrap();
    let reported = reported.into_inner().unwrap();
    assert!(reported.is_sorted_by(|a, b| a < b), "{reported:?}");
    assert!(reported.len() > 50 && reported.len() <= 1_000, "{} steps", reported.len());
    assert!(reported[0] > 0.0 && reported[0] < 0.1, "begins with {}", reported[0]);
    assert!(reported[reported.len() - 2] > 0.7, "jumps from {} to the end", reported[reported.len() - 2]);
    assert_eq!(reported.last(), Some(&1.0));
}

#[test]
fn a_stopped_computation_has_no_digits() {
    let stop = AtomicBool::new(true);
    for count in [0, 1, 100_000] {
        assert_eq!(digits(count, &Options { stop: Some(&stop), ..options(2) }), Err(Error::Stopped));
    }
}

#[test]
fn a_computation_stops_on_the_way() {
    let stop = AtomicBool::new(false);
    let last = Mutex::new(0.0);
    let report = |done| {
        *last.lock().unwrap() = done;
        stop.store(done > 0.3, Ordering::Relaxed);
    };
    let stopped = digits(200_000, &Options { progress: Some(&report), stop: Some(&stop), ..options(2) });
    assert_eq!(stopped, Err(Error::Stopped));
    assert!(*last.lock().unwrap() < 0.6);
}

#[test]
fn memory_grows_with_the_digits() {
    assert!(memory(0) > 0);
    assert!(memory(1_000_000) > memory(1_000));
    assert!(memory(u64::MAX) > memory(MAX_DIGITS));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 10))]

    #[test]
    fn any_count_on_some_threads(count in 0..=MAX_COUNT) {
        for threads in [1, 2, 3, 8] {
            // Not assert_eq, which would print all digits.
            prop_assert!(text(count, threads) == PI[..count], "{} digits on {} threads", count, threads);
        }
    }

    #[test]
    fn more_digits_start_with_fewer(fewer in 0..2_000usize, more in 0..2_000usize) {
        prop_assert!(text(fewer + more, 2).starts_with(&text(fewer, 3)));
    }
}
