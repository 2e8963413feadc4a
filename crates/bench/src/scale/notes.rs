//! Findings of a measurement, in sentences.

mod laws;

use std::fmt::Display;

use super::Scale;
use crate::cold::{Cold, temperature};
use crate::units::{counted, medians_of};

/// Job, number of runs and machine.
pub(super) fn heading(scale: &Scale) -> String {
    format!("{}: {}", scale.record.job, circumstances(scale))
}

/// Number of runs, temperature and machine.
pub(super) fn circumstances(scale: &Scale) -> String {
    let record = &scale.record;
    format!("{}, {}; {}", medians_of(scale.runs()), temperature(record.cold), record.machine)
}

/// All sentences.
pub(super) fn notes(scale: &Scale) -> Vec<String> {
    let mut notes = columns(scale);
    notes.push(output(scale));
    notes.extend(scale.record.cold.map(Cold::note));
    notes.extend(pays(scale));
    notes.extend(auto(scale));
    notes.extend(laws::amdahl(scale));
    notes.extend(laws::usl(scale));
    notes
}

fn output(scale: &Scale) -> String {
    let bytes = counted(scale.record.output.bytes, "byte");
    match scale.record.cases.len() {
        1 => format!("It wrote {bytes}."),
        _ => format!("It wrote the same {bytes} at every width."),
    }
}

fn columns(scale: &Scale) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((base, _)) = scale.analysis.base {
        notes.push(format!(
            "Speed-up is against width {base}; efficiency is the share of it for each thread."
        ));
    }
    notes.extend(
        [
            "CPU is processor time; busy is how many processors that is at a time.",
            "The spread is the range in which the middle half of the runs lie; to best is in proportion to the best fixed width.",
            "In parentheses are 95 % confidence intervals.",
        ]
        .map(str::to_owned),
    );
    notes
}

fn pays(scale: &Scale) -> Option<String> {
    let width = scale.analysis.pays_up_to?;
    let largest = scale.analysis.rows.iter().filter_map(|row| row.width.fixed()).max()?;
    Some(if width == largest {
        format!("More threads paid up to the largest width that was measured, {width}.")
    } else {
        format!("Beyond width {width} it does not pay: no larger width is more than 5 % faster.")
    })
}

fn auto(scale: &Scale) -> Option<String> {
    let analysis = &scale.analysis;
    let row = analysis.rows.iter().find(|row| row.width.fixed().is_none())?;
    let (best, _) = analysis.best?;
    Some(format!("auto takes {:.2} times as long as the best fixed width, {best}.", row.to_best))
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
