//! `comb bench`: experiments about where the time goes.

mod overlap;
mod scale;
mod serve;
mod spawn;
mod spin;

use std::fmt::Display;
use std::fs;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;

use finecomb_bench::experiment::{Experiment, read_json, write_json};
use finecomb_bench::picture::write_picture;
use finecomb_bench::rounds::Step;
use finecomb_sys::{io_reason, stdio};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Exit, output_failed, trouble};
use crate::args::bench::output::Output;
use crate::args::bench::{Arguments, Experiment as Choice};

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Exit {
    match &arguments.experiment {
        Choice::Scale(arguments) => scale::run(arguments),
        Choice::Spin(arguments) => spin::run(arguments),
        Choice::Spawn(arguments) => spawn::run(arguments),
        Choice::Overlap(arguments) => overlap::run(arguments),
        Choice::Serve(arguments) => serve::run(arguments),
    }
}

/// Makes an experiment, or reads what came of an earlier one, and does with the result what is wanted.
fn conclude<E: Experiment + Display>(
    output: &Output,
    measure: impl FnOnce(&dyn Fn(Step<'_>)) -> Result<E, String>,
) -> Exit {
    if stdio::output_was_closed() {
        return trouble("standard output is closed; connect something to it");
    }
    // An hour of measuring is not to be lost for a mistyped name.
    let ready = [&output.json, &output.plot].into_iter().flatten().try_for_each(|path| has_a_place(path));
    let result = ready.and_then(|()| match &output.from_json {
        Some(path) => read_json(path).map_err(|error| error.to_string()),
        None => shown(measure),
    });
    let result = match result {
        Ok(result) => result,
        Err(reason) => return trouble(reason),
    };
    let text = if output.markdown { result.markdown() } else { result.to_string() };
    let printed = match stdout().write_all(text.as_bytes()) {
        Ok(()) => Exit::Found,
        Err(error) => output_failed(&error),
    };
    match kept(output, &result) {
        Ok(()) => printed,
        Err(reason) => trouble(reason),
    }
}

/// Whether there is a directory that a file can be in.
fn has_a_place(file: &Path) -> Result<(), String> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let reason = match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => "Not a directory".to_owned(),
        Err(error) => io_reason(&error),
    };
    Err(format!("{}: cannot write: {reason}", file.display()))
}

/// Writes the files that were asked for.
fn kept<E: Experiment>(output: &Output, result: &E) -> Result<(), String> {
    if let Some(path) = &output.json {
        write_json(result, path).map_err(|error| error.to_string())?;
    }
    let Some(path) = &output.plot else { return Ok(()) };
    let picture = result.picture().ok_or_else(|| format!("{}: there is nothing to draw", path.display()))?;
    write_picture(&picture, path).map_err(|error| error.to_string())
}

const TEMPLATE: &str = "{bar:30} {pos} of {len}, {elapsed}: {wide_msg}";

/// Makes an experiment, and shows how far it is if there is a terminal to show it on.
fn shown<T>(measure: impl FnOnce(&dyn Fn(Step<'_>)) -> T) -> T {
    let bar = if stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    bar.set_style(ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar()));
    let result = measure(&|step| {
        bar.set_length(step.total as u64);
        bar.set_position(step.done as u64);
        bar.set_message(step.what.to_owned());
    });
    bar.finish_and_clear();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
