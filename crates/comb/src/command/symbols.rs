//! `comb symbols`: definitions in source code.

use std::io::stdout;
use std::path::PathBuf;
use std::time::Instant;

use finecomb_scan::Problem;
use finecomb_symbols::{Outcome, Query, symbols};

use super::output::{Kind, Output, write};
use super::{Ending, Exit, check_output, fail, profile};
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
    if let Err(reason) = profile::check(arguments.profile(), &inputs.named) {
        return fail(reason);
    }
    let outcome = match &arguments.output {
        None => symbols(&inputs, &arguments.scan(), &query, &mut stdout()),
        Some(path) => {
            let mut bytes = Vec::new();
            if let Err(reason) = (Output { path, sources: &[], force: arguments.force }).check(Some(&TAGS)) {
                return fail(reason);
            }
            let outcome = symbols(&inputs, &arguments.scan(), &query, &mut bytes);
            if let Err(reason) = write(path, &bytes) {
                return fail(reason);
            }
            outcome
        }
    };
    finish(arguments, outcome, &inputs.named, start)
}

fn finish(arguments: &Arguments, outcome: Outcome, inputs: &[PathBuf], start: Instant) -> Exit {
    message::problems(&outcome.problems);
    message::failures(&outcome.failures);
    let profiled = profile::show(outcome.report, arguments.profile(), inputs, start);
    let is_harmful = |problem: &Problem| !problem.is_harmless();
    let failed = !outcome.failures.is_empty() || outcome.problems.iter().any(is_harmful);
    let (output_error, any) = (outcome.output_error, outcome.definitions > 0);
    Ending { output_error, profiled, any, failed, quiet: false }.exit()
}
