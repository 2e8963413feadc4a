//! Findings by the laws, in sentences.

use super::listed;
use crate::laws::{Amdahl, Estimate, Fitted, Law, TooFewWidths, Usl};
use crate::scale::Scale;
use crate::scale::analysis::Bound;

/// A fit that misses by more than this is not to be relied on.
const POOR: f64 = 0.1;

pub(super) fn amdahl(scale: &Scale) -> Vec<String> {
    let fitted = match &scale.analysis.amdahl {
        Ok(fitted) => fitted,
        Err(too_few) => return vec![missing("Amdahl's law", *too_few)],
    };
    let serial = fitted.estimate(Amdahl::serial_fraction);
    let unit = if scale.analysis.bound.by_processors { "cores" } else { "threads" };
    vec![
        format!(
            "Amdahl's law: {}{} of the work is serial, from which follows {}.",
            percent(serial.value),
            interval(serial, percent),
            predictions(scale, fitted, unit)
        ),
        format!("{}{}", quality(fitted), choice(scale)),
    ]
}

pub(super) fn usl(scale: &Scale) -> Vec<String> {
    let fitted = match &scale.analysis.usl {
        Ok(fitted) => fitted,
        Err(too_few) => return vec![missing("The Universal Scalability Law", *too_few)],
    };
    let [contention, coherency, peak] =
        [Usl::contention, Usl::coherency, Usl::peak].map(|of| fitted.estimate(of));
    let threads = |count: f64| if count.is_finite() { format!("{count:.0}") } else { "any".to_owned() };
    let quickest = match peak.value.is_finite() {
        true => format!("it is quickest at width {}{}", threads(peak.value), interval(peak, threads)),
        false => format!("more threads never make it slower{}", interval(peak, threads)),
    };
    vec![
        format!(
            "Universal Scalability Law, about threads on this machine: contention σ = {:.3}{}, coherency κ = {:.5}{}.",
            contention.value,
            interval(contention, |value| format!("{value:.3}")),
            coherency.value,
            interval(coherency, |value| format!("{value:.5}"))
        ),
        format!("From this follows that {quickest}, and {}.", predictions(scale, fitted, "threads")),
        quality(fitted),
    ]
}

/// The speed-ups at two and four times as many as there are cores.
fn predictions<L: Law<P>, const P: usize>(scale: &Scale, fitted: &Fitted<L>, unit: &str) -> String {
    let cores = scale.record.machine.cores.get();
    let [twice, four_times] = [2, 4].map(|times| {
        let speed_up = fitted.estimate(|law| law.speed_up((times * cores) as f64));
        format!(
            "{:.2}{} with {}",
            speed_up.value,
            interval(speed_up, |value| format!("{value:.2}")),
            times * cores
        )
    });
    format!("a speed-up of {twice} {unit} and of {four_times}")
}

/// Widths and error of a fit.
fn quality<L: Law<P>, const P: usize>(fitted: &Fitted<L>) -> String {
    let widths = listed(fitted.widths.iter());
    let missed = format!(
        "It is fitted to widths {widths}, and misses the runs by {} on average",
        percent(fitted.error)
    );
    match () {
        // A law goes through as many points as it has coefficients: what it misses is what the runs differ by.
        () if fitted.widths.len() == P => format!("{missed}; so few widths do not show whether it holds."),
        () if fitted.error > POOR => format!("{missed}: it does not describe this job well."),
        () => format!("{missed}."),
    }
}

/// Reason for the widths that Amdahl's law was fitted to, if some are beyond the cores.
fn choice(scale: &Scale) -> String {
    let cores = scale.record.machine.cores.get();
    let mut widths = scale.analysis.rows.iter().filter_map(|row| row.width.fixed());
    if !widths.any(|width| width > cores) {
        return String::new();
    }
    let Bound { by_processors, width, busy } = scale.analysis.bound;
    let reason =
        format!("at width {width} it keeps those that it can use busy for {} of the time", percent(busy));
    match by_processors {
        true => format!(" Larger ones are left out, as the job is bound by the processors: {reason}."),
        false => {
            format!(
                " All are taken in, as the job waits for other things than processors, such as storage: {reason}."
            )
        }
    }
}

fn missing(law: &str, too_few: TooFewWidths) -> String {
    let TooFewWidths { have, need } = too_few;
    let are = if have == 1 { "is" } else { "are" };
    format!("{law} cannot be fitted: it needs {need} different widths, and there {are} {have}.")
}

/// A confidence interval; nothing if none is known.
fn interval(estimate: Estimate, shown: impl Fn(f64) -> String) -> String {
    let Estimate { low, high, .. } = estimate;
    if low.is_nan() || high.is_nan() {
        String::new()
    } else {
        format!(" ({} to {})", shown(low), shown(high))
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
