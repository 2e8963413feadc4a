//! Notes on a scaling measurement.

use std::fmt::Display;

use finecomb_sys::units::Bytes;

use super::Scale;
use super::analysis::{Analysis, Bound};
use crate::cache::{Cold, cache_state};
use crate::laws::{Amdahl, Estimate, Fitted, Law, TooFewWidths, Usl};
use crate::sample::IQR_NOTE;
use crate::units::medians_of;

/// Root mean squared relative error above which a fit is poor.
const POOR: f64 = 0.1;

/// Number of runs, cache state and machine.
pub(super) fn circumstances(scale: &Scale) -> String {
    let record = &scale.record;
    format!("{}, {}; {}", medians_of(scale.runs()), cache_state(record.cold), record.machine)
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

/// Findings, a line each: whether more threads pay, and what the laws predict.
pub(super) fn findings(scale: &Scale) -> Vec<String> {
    let Analysis { amdahl, usl, .. } = &scale.analysis;
    let amdahl = fitted("Amdahl's law", amdahl, |law| vec![doubted(serial_part(scale, law), law)]);
    let usl = fitted("The Universal Scalability Law", usl, |law| {
        let fastest = fastest(scale, law).replacen("Fastest", "fastest", 1);
        vec![doubted(format!("Universal Scalability Law: {fastest}"), law)]
    });
    let cold = scale.record.cold.map(Cold::note);
    cold.into_iter().chain(pays(scale)).chain(auto(scale)).chain(amdahl).chain(usl).collect()
}

/// A finding by a law, with a doubt if it does not fit.
fn doubted<L: Law<P>, const P: usize>(finding: String, fitted: &Fitted<L>) -> String {
    match doubt(fitted) {
        Some(doubt) => format!("{} ({doubt}).", finding.trim_end_matches('.')),
        None => finding,
    }
}

fn columns(scale: &Scale) -> Vec<String> {
    let base = scale.analysis.base.map(|(base, _)| {
        format!("Speed-up and efficiency are relative to width {base}; efficiency is speed-up per thread.")
    });
    let fixed = [
        IQR_NOTE,
        "CPU is user plus system time; busy cores is CPU divided by wall time; vs. best is wall time relative to the best fixed width.",
        "Parentheses give 95 % confidence intervals.",
    ];
    base.into_iter().chain(fixed.map(str::to_owned)).collect()
}

fn output(scale: &Scale) -> String {
    let bytes = Bytes(scale.record.output.bytes);
    match scale.record.cases.len() {
        1 => format!("Output: {bytes}."),
        _ => format!("Output: {bytes}, identical at every width."),
    }
}

fn pays(scale: &Scale) -> Option<String> {
    let width = scale.analysis.pays_up_to?;
    let largest = scale.analysis.fixed().map(|(width, _)| width).max()?;
    Some(if width == largest {
        format!("More threads pay up to the largest measured width, {width}.")
    } else {
        format!("More than {width} threads do not pay: no larger width is more than 5 % faster.")
    })
}

fn auto(scale: &Scale) -> Option<String> {
    let (row, (best, _)) = (scale.analysis.auto()?, scale.analysis.best?);
    Some(format!("auto takes {:.2} times as long as the best fixed width, {best}.", row.to_best))
}

/// Findings by a law, or the reason that it cannot be fitted.
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
    vec![serial_part(scale, fitted), format!("{}{}", quality(fitted), choice(scale))]
}

fn serial_part(scale: &Scale, fitted: &Fitted<Amdahl>) -> String {
    let serial = with_interval(fitted.estimate(Amdahl::serial_fraction), percent);
    let unit = if scale.analysis.bound.by_processors { "cores" } else { "threads" };
    let predicted = predictions(scale, fitted, unit);
    format!("Amdahl's law: {serial} of the work is serial; predicted speed-up {predicted}.")
}

fn by_usl(scale: &Scale, fitted: &Fitted<Usl>) -> Vec<String> {
    let contention = with_interval(fitted.estimate(Usl::contention), |value| format!("{value:.3}"));
    let coherency = with_interval(fitted.estimate(Usl::coherency), |value| format!("{value:.5}"));
    vec![
        format!(
            "Universal Scalability Law, for threads on this machine: contention σ = {contention}, coherency κ = {coherency}."
        ),
        fastest(scale, fitted),
        quality(fitted),
    ]
}

fn fastest(scale: &Scale, fitted: &Fitted<Usl>) -> String {
    let peak = fitted.estimate(Usl::peak);
    let threads = |count: f64| if count.is_finite() { format!("{count:.0}") } else { "∞".to_owned() };
    let fastest = match peak.value.is_finite() {
        true => format!("Fastest at width {}", with_interval(peak, threads)),
        false => format!("Fastest width unbounded{}", interval(peak, threads)),
    };
    format!("{fastest}; predicted speed-up {}.", predictions(scale, fitted, "threads"))
}

/// Predicted speed-ups for two and four times as many threads or cores as this machine has cores.
fn predictions<L: Law<P>, const P: usize>(scale: &Scale, fitted: &Fitted<L>, unit: &str) -> String {
    let [twice, four_times] = fitted.predictions(scale.record.machine.cores).map(|predicted| {
        let speed_up = with_interval(predicted.speed_up, |value| format!("{value:.2}"));
        format!("{speed_up} with {}", predicted.width)
    });
    format!("{twice} {unit}, {four_times}")
}

/// Widths and error of a fit.
fn quality<L: Law<P>, const P: usize>(fitted: &Fitted<L>) -> String {
    let (widths, error) = (listed(fitted.widths.iter()), percent(fitted.error));
    let fit = format!("Fitted to widths {widths} with a root mean squared error of {error}");
    doubt(fitted).map_or_else(|| format!("{fit}."), |doubt| format!("{fit}: {doubt}."))
}

/// Why a fit says little. `None` if it is good.
fn doubt<L: Law<P>, const P: usize>(fitted: &Fitted<L>) -> Option<&'static str> {
    // A law with as many coefficients as points goes through all of them: the error is the noise of the runs.
    if fitted.widths.len() == P {
        Some("too few widths to test the law")
    } else {
        (fitted.error > POOR).then_some("a poor fit")
    }
}

/// Reason for the choice of widths for Amdahl's law, if some exceed the number of cores.
fn choice(scale: &Scale) -> String {
    let cores = scale.record.machine.cores.get();
    if !scale.analysis.fixed().any(|(width, _)| width > cores) {
        return String::new();
    }
    let Bound { by_processors, width, busy } = scale.analysis.bound;
    let reason = match by_processors {
        true => "Larger widths are excluded because the job is CPU-bound",
        false => {
            "All widths are included because the job is not CPU-bound but waits, for example for storage"
        }
    };
    let busy = percent(busy);
    format!(" {reason}: at width {width} the cores that it can use are busy {busy} of the time.")
}

/// A number with its confidence interval.
fn with_interval(estimate: Estimate, shown: impl Fn(f64) -> String) -> String {
    format!("{}{}", shown(estimate.value), interval(estimate, shown))
}

/// A confidence interval in parentheses, or nothing if it is unknown.
fn interval(Estimate { low, high, .. }: Estimate, shown: impl Fn(f64) -> String) -> String {
    if low.is_nan() || high.is_nan() {
        return String::new();
    }
    format!(" ({} to {})", shown(low), shown(high))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Items separated by commas, with `and` before the last.
pub(super) fn listed(items: impl Iterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
