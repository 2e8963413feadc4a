//! Findings of a measurement, in sentences.

use std::fmt::Display;

use finecomb_sys::units::Bytes;

use super::Scale;
use super::analysis::{Analysis, Bound};
use crate::cache::{Cold, temperature};
use crate::laws::{Amdahl, Estimate, Fitted, Law, TooFewWidths, Usl};
use crate::units::medians_of;

/// A fit that misses by more than this is not to be relied on.
const POOR: f64 = 0.1;

/// Number of runs, temperature and machine.
pub(super) fn circumstances(scale: &Scale) -> String {
    let record = &scale.record;
    format!("{}, {}; {}", medians_of(scale.runs()), temperature(record.cold), record.machine)
}

pub(super) fn notes(scale: &Scale) -> Vec<String> {
    let mut notes = columns(scale);
    notes.push(output(scale));
    notes.extend(scale.record.cold.map(Cold::note));
    notes.extend(pays(scale));
    notes.extend(auto(scale));
    let Analysis { amdahl, usl, .. } = &scale.analysis;
    notes.extend(fitted("Amdahl's law", amdahl, |law| by_amdahl(scale, law)));
    notes.extend(fitted("The Universal Scalability Law", usl, |law| by_usl(scale, law)));
    notes
}

fn columns(scale: &Scale) -> Vec<String> {
    let base = scale.analysis.base.map(|(base, _)| {
        format!("Speed-up is against width {base}; efficiency is the share of it for each thread.")
    });
    let fixed = [
        "CPU is processor time; busy is how many processors that is at a time.",
        "The spread is the range in which the middle half of the runs lie; to best is in proportion to the best fixed width.",
        "In parentheses are 95 % confidence intervals.",
    ];
    base.into_iter().chain(fixed.map(str::to_owned)).collect()
}

fn output(scale: &Scale) -> String {
    let bytes = Bytes(scale.record.output.bytes);
    match scale.record.cases.len() {
        1 => format!("It wrote {bytes}."),
        _ => format!("It wrote the same {bytes} at every width."),
    }
}

fn pays(scale: &Scale) -> Option<String> {
    let width = scale.analysis.pays_up_to?;
    let largest = scale.analysis.fixed().map(|(width, _)| width).max()?;
    Some(if width == largest {
        format!("More threads paid up to the largest width that was measured, {width}.")
    } else {
        format!("Beyond width {width} it does not pay: no larger width is more than 5 % faster.")
    })
}

fn auto(scale: &Scale) -> Option<String> {
    let (row, (best, _)) = (scale.analysis.auto()?, scale.analysis.best?);
    Some(format!("auto takes {:.2} times as long as the best fixed width, {best}.", row.to_best))
}

/// Findings by a law, or the reason why it was not fitted.
fn fitted<L>(
    law: &str,
    fitted: &Result<Fitted<L>, TooFewWidths>,
    findings: impl FnOnce(&Fitted<L>) -> Vec<String>,
) -> Vec<String> {
    match fitted {
        Ok(fitted) => findings(fitted),
        Err(TooFewWidths { have, need }) => {
            let are = if *have == 1 { "is" } else { "are" };
            vec![format!("{law} cannot be fitted: it needs {need} different widths, and there {are} {have}.")]
        }
    }
}

fn by_amdahl(scale: &Scale, fitted: &Fitted<Amdahl>) -> Vec<String> {
    let serial = with_interval(fitted.estimate(Amdahl::serial_fraction), percent);
    let unit = if scale.analysis.bound.by_processors { "cores" } else { "threads" };
    let predicted = predictions(scale, fitted, unit);
    vec![
        format!("Amdahl's law: {serial} of the work is serial, from which follows {predicted}."),
        format!("{}{}", quality(fitted), choice(scale)),
    ]
}

fn by_usl(scale: &Scale, fitted: &Fitted<Usl>) -> Vec<String> {
    let contention = with_interval(fitted.estimate(Usl::contention), |value| format!("{value:.3}"));
    let coherency = with_interval(fitted.estimate(Usl::coherency), |value| format!("{value:.5}"));
    let peak = fitted.estimate(Usl::peak);
    let threads = |count: f64| if count.is_finite() { format!("{count:.0}") } else { "any".to_owned() };
    let quickest = match peak.value.is_finite() {
        true => format!("it is quickest at width {}", with_interval(peak, threads)),
        false => format!("more threads never make it slower{}", interval(peak, threads)),
    };
    vec![
        format!(
            "Universal Scalability Law, about threads on this machine: contention σ = {contention}, coherency κ = {coherency}."
        ),
        format!("From this follows that {quickest}, and {}.", predictions(scale, fitted, "threads")),
        quality(fitted),
    ]
}

/// The speed-ups at two and four times as many as there are cores.
fn predictions<L: Law<P>, const P: usize>(scale: &Scale, fitted: &Fitted<L>, unit: &str) -> String {
    let [twice, four_times] = fitted.predictions(scale.record.machine.cores).map(|predicted| {
        let speed_up = with_interval(predicted.speed_up, |value| format!("{value:.2}"));
        format!("{speed_up} with {}", predicted.width)
    });
    format!("a speed-up of {twice} {unit} and of {four_times}")
}

/// Widths and error of a fit.
fn quality<L: Law<P>, const P: usize>(fitted: &Fitted<L>) -> String {
    let (widths, error) = (listed(fitted.widths.iter()), percent(fitted.error));
    let missed = format!("It is fitted to widths {widths}, and misses the runs by {error} on average");
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
    if !scale.analysis.fixed().any(|(width, _)| width > cores) {
        return String::new();
    }
    let Bound { by_processors, width, busy } = scale.analysis.bound;
    let which = match by_processors {
        true => "Larger ones are left out, as the job is bound by the processors",
        false => "All are taken in, as the job waits for other things than processors, such as storage",
    };
    let busy = percent(busy);
    format!(" {which}: at width {width} it keeps those that it can use busy for {busy} of the time.")
}

/// A number with its confidence interval.
fn with_interval(estimate: Estimate, shown: impl Fn(f64) -> String) -> String {
    format!("{}{}", shown(estimate.value), interval(estimate, shown))
}

/// A confidence interval; nothing if none is known.
fn interval(Estimate { low, high, .. }: Estimate, shown: impl Fn(f64) -> String) -> String {
    if low.is_nan() || high.is_nan() {
        return String::new();
    }
    format!(" ({} to {})", shown(low), shown(high))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Things with commas between them, and the word before the last.
pub(super) fn listed(things: impl Iterator<Item = impl Display>) -> String {
    let things: Vec<String> = things.map(|thing| thing.to_string()).collect();
    match things.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
