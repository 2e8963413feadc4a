//! `comb symbols`: definitions in source code.

use std::io::stdout;
use std::path::Path;
use std::time::Instant;

use finecomb_scan::Problem;
use finecomb_symbols::{Outcome, Query, symbols};
use finecomb_sys::io_reason;

use super::output::{Kind, Output};
use super::{Exit, check_output, fail, output_failed, profile};
use crate::args::symbols::Arguments;
use crate::message;

/// Kind of file that may be replaced: one that this command wrote.
const TAGS: Kind = Kind { name: "a tags file", is_this: is_tags };

fn is_tags(head: &[u8]) -> bool {
    head.starts_with(b"!_TAG_") || head.starts_with(b"\x0c\n")
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments, start: Instant) -> Exit {
    if arguments.output.is_none()
        && let Err(exit) = check_output()
    {
        return exit;
    }
    let query = match Query::new(&arguments.symbols()) {
        Ok(query) => query,
        Err(error) => return fail(error),
    };
    let inputs = match arguments.inputs() {
        Ok(inputs) => inputs,
        Err(error) => return fail(error),
    };
    let outcome = match &arguments.output {
        None => symbols(&inputs, &arguments.scan(), &query, &mut stdout()),
        Some(path) => {
            let mut bytes = Vec::new();
            if let Err(reason) = (Output { path, sources: &[], force: arguments.force }).check(Some(&TAGS)) {
                return fail(reason);
            }
            let outcome = symbols(&inputs, &arguments.scan(), &query, &mut bytes);
            if let Err(exit) = write(path, &bytes) {
                return exit;
            }
            outcome
        }
    };
    finish(arguments, outcome, &inputs.named, start)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    finecomb_text_index::write_atomically(path, bytes)
        .map_err(|error| fail(format_args!("{}: {}", path.display(), io_reason(&error))))
}

fn finish(arguments: &Arguments, outcome: Outcome, inputs: &[std::path::PathBuf], start: Instant) -> Exit {
    for problem in &outcome.problems {
        message::error(problem);
    }
    for (path, reason) in &outcome.failures {
        message::error(format_args!("{path}: {reason}"));
    }
    let profiled = profile::show(outcome.report, arguments.profile(), inputs, start);
    let failed =
        !outcome.failures.is_empty() || outcome.problems.iter().any(|problem| !Problem::is_harmless(problem));
    match outcome.output_error {
        Some(error) => output_failed(&error).or(if failed { Exit::Error } else { Exit::Found }),
        None if failed => Exit::Error,
        None => profiled.or(if outcome.definitions > 0 { Exit::Found } else { Exit::NotFound }),
    }
}
