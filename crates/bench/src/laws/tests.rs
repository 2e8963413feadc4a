use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::*;

const WIDTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];

fn exact<L: Law<P>, const P: usize>(law: &L, widths: &[usize]) -> Vec<Timing> {
    widths.iter().map(|&width| Timing { width, seconds: law.seconds(width as f64) }).collect()
}

/// Timings with relative errors that are normally distributed (approximated by the sum of twelve uniform distributions).
fn noisy<L: Law<P>, const P: usize>(law: &L, runs: usize, noise: f64, seed: u64) -> Vec<Timing> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || (0..12).map(|_| f64::from(random.next_u32()) / 2f64.powi(32)).sum::<f64>() - 6.0;
    let mut timings = exact(law, &WIDTHS.repeat(runs));
    timings.iter_mut().for_each(|timing| timing.seconds *= 1.0 + noise * normal());
    timings
}

fn amdahl(one: f64, serial: f64) -> Amdahl {
    Amdahl::new([one * serial, one * (1.0 - serial)]).expect("a law")
}

fn usl(one: f64, contention: f64, coherency: f64) -> Usl {
    Usl::new([one, one * contention, one * coherency]).expect("a law")
}

/// Sum of squared relative errors, by definition.
fn squared_error<L: Law<P>, const P: usize>(law: &L, timings: &[Timing]) -> f64 {
    timings.iter().map(|timing| (law.seconds(timing.width as f64) / timing.seconds - 1.0).powi(2)).sum()
}

fn timings() -> impl Strategy<Value = Vec<Timing>> {
    let timing = (1_usize..=64, 0.01..10.0).prop_map(|(width, seconds)| Timing { width, seconds });
    prop::collection::vec(timing, 3..40)
}

fn is_close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * (1.0 + right.abs())
}

proptest! {
    #[test]
    fn amdahl_is_recovered_from_exact_timings(one in 0.001..1000.0, serial in 0.0..=1.0) {
        let fit = fit::<Amdahl, 2>(&exact(&amdahl(one, serial), &WIDTHS)).expect("a fit");
        prop_assert!(is_close(fit.law.serial_fraction(), serial));
        prop_assert!(is_close(fit.law.seconds(1.0), one));
        prop_assert!(fit.error < 1e-6);
    }

    #[test]
    fn usl_is_recovered_from_exact_timings(one in 0.001..1000.0, contention in 0.0..0.9, coherency in 0.0..0.1) {
        let fit = fit::<Usl, 3>(&exact(&usl(one, contention, coherency), &WIDTHS)).expect("a fit");
        prop_assert!(is_close(fit.law.contention(), contention));
        prop_assert!(is_close(fit.law.coherency(), coherency));
        prop_assert!(is_close(fit.law.seconds(1.0), one));
    }

    /// The fit is the weighted linear regression of textbooks if that has no negative coefficient.
    #[test]
    fn amdahl_is_a_weighted_regression(timings in timings()) {
        let weights = timings.iter().map(|timing| timing.seconds.powi(-2));
        let points = timings.iter().map(|timing| (1.0 / timing.width as f64, timing.seconds));
        let all: Vec<(f64, (f64, f64))> = weights.zip(points).collect();
        let total: f64 = all.iter().map(|(weight, _)| weight).sum();
        let x_mean = all.iter().map(|(weight, (x, _))| weight * x).sum::<f64>() / total;
        let y_mean = all.iter().map(|(weight, (_, y))| weight * y).sum::<f64>() / total;
        let covariance: f64 = all.iter().map(|(weight, (x, y))| weight * (x - x_mean) * (y - y_mean)).sum();
        let variance: f64 = all.iter().map(|(weight, (x, _))| weight * (x - x_mean).powi(2)).sum();
        prop_assume!(variance > 1e-3 * total);
        let slope = covariance / variance;
        let intercept = y_mean - slope * x_mean;
        let [serial, divided] = fit::<Amdahl, 2>(&timings).expect("a fit").law.coefficients();
        if slope >= 0.0 && intercept >= 0.0 {
            prop_assert!(is_close(serial, intercept) && is_close(divided, slope));
        } else {
            prop_assert!(serial == 0.0 || divided == 0.0);
        }
    }

    /// No point of a grid and no point near the fit has a smaller error.
    #[test]
    fn no_other_coefficients_fit_better(timings in timings()) {
        let (Ok(first), Ok(second)) = (fit::<Amdahl, 2>(&timings), fit::<Usl, 3>(&timings)) else {
            return Ok(());
        };
        let errors = [squared_error(&first.law, &timings), squared_error(&second.law, &timings)];
        prop_assert!(is_close((errors[0] / timings.len() as f64).sqrt(), first.error));
        let steps = |near: f64| [0.0, 0.01, 0.1, 1.0, 10.0, near * 0.99, near * 1.01, near + 1e-4];
        let [a, b] = first.law.coefficients();
        for other in steps(a).into_iter().flat_map(|a| steps(b).map(|b| [a, b])) {
            if let Some(law) = Amdahl::new(other) {
                prop_assert!(squared_error(&law, &timings) >= errors[0] - 1e-9, "{other:?}");
            }
        }
        let [a, b, c] = second.law.coefficients();
        for [a, b] in steps(a).into_iter().flat_map(|a| steps(b).map(|b| [a, b])) {
            for c in steps(c) {
                if let Some(law) = Usl::new([a, b, c]) {
                    prop_assert!(squared_error(&law, &timings) >= errors[1] - 1e-9, "{a} {b} {c}");
                }
            }
        }
    }
}

#[test]
fn intervals_contain_the_true_value_about_as_often_as_stated() {
    let (first, second) = (amdahl(3.0, 0.08), usl(3.0, 0.08, 0.002));
    let mut contained = [0; 4];
    let within = |estimate: Estimate, true_value: f64| {
        usize::from(estimate.low <= true_value && true_value <= estimate.high)
    };
    for seed in 0..50 {
        let fitted = fit::<Amdahl, 2>(&noisy(&first, 10, 0.03, seed)).expect("a fit");
        contained[0] += within(fitted.estimate(Amdahl::serial_fraction), 0.08);
        contained[1] += within(fitted.estimate(|law| law.speed_up(64.0)), first.speed_up(64.0));
        let fitted = fit::<Usl, 3>(&noisy(&second, 10, 0.03, seed)).expect("a fit");
        contained[2] += within(fitted.estimate(Usl::coherency), 0.002);
        contained[3] += within(fitted.estimate(Usl::peak), second.peak());
    }
    // 47 are expected, a few fewer with ten runs per width; over 50 trials the number varies by about 3.
    assert!(contained.iter().all(|contained| (41..=49).contains(contained)), "{contained:?}");
}

#[test]
fn intervals_are_reproducible() {
    let timings = noisy(&amdahl(1.0, 0.1), 5, 0.02, 7);
    let estimate = || fit::<Amdahl, 2>(&timings).expect("a fit").estimate(Amdahl::serial_fraction);
    assert_eq!(estimate(), estimate());
    assert!(estimate().low < estimate().high);
}

#[test]
fn one_run_at_each_width_gives_no_interval() {
    let estimate =
        fit::<Usl, 3>(&exact(&usl(1.0, 0.1, 0.01), &WIDTHS)).expect("a fit").estimate(Usl::contention);
    assert!(is_close(estimate.value, 0.1) && estimate.low.is_nan() && estimate.high.is_nan());
}

#[test]
fn a_law_needs_as_many_widths_as_it_has_coefficients() {
    let two = noisy(&amdahl(1.0, 0.1), 5, 0.02, 7).into_iter().filter(|timing| timing.width < 4);
    let two: Vec<Timing> = two.collect();
    assert_eq!(fit::<Amdahl, 2>(&two).expect("a fit").widths, [1, 2]);
    assert_eq!(fit::<Usl, 3>(&two).expect_err("too few"), TooFewWidths { have: 2, need: 3 });
    assert_eq!(fit::<Amdahl, 2>(&[]).expect_err("too few"), TooFewWidths { have: 0, need: 2 });
}

#[test]
fn superlinear_speed_up_has_no_serial_part() {
    let timings = [(1, 10.0), (2, 4.5), (4, 2.0)].map(|(width, seconds)| Timing { width, seconds });
    let law = fit::<Amdahl, 2>(&timings).expect("a fit").law;
    assert_eq!(law.serial_fraction(), 0.0);
    assert!(is_close(law.speed_up(8.0), 8.0));
}

#[test]
fn a_slowdown_is_all_serial() {
    let timings = [(1, 1.0), (2, 1.5), (4, 2.0)].map(|(width, seconds)| Timing { width, seconds });
    assert_eq!(fit::<Amdahl, 2>(&timings).expect("a fit").law.serial_fraction(), 1.0);
    assert_eq!(fit::<Usl, 3>(&timings).expect("a fit").law.peak(), 1.0);
}

#[test]
fn the_peak_is_the_fastest_width() {
    let law = usl(1.0, 0.05, 0.0006);
    let peak = law.peak();
    assert!(is_close(peak, (0.95_f64 / 0.0006).sqrt()));
    assert!(law.seconds(peak) < law.seconds(peak * 0.99) && law.seconds(peak) < law.seconds(peak * 1.01));
    assert_eq!(usl(1.0, 0.5, 0.0).peak(), f64::INFINITY);
    assert_eq!(usl(1.0, 1.5, 0.1).peak(), 1.0);
}

#[test]
fn the_serial_fraction_lies_in_its_interval() {
    let timings = [(1, 10.0), (2, 6.0), (4, 4.0), (1, 10.1), (2, 5.9), (4, 4.0)];
    let timings = timings.map(|(width, seconds)| Timing { width, seconds });
    let fit = fit::<Amdahl, 2>(&timings).expect("enough widths");
    let serial = fit.estimate(Amdahl::serial_fraction);
    assert!((serial.value - 0.2).abs() < 0.01 && serial.low <= serial.value && serial.value <= serial.high);
}
