//! `comb grep`: lines that match.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write, stdout};
use std::time::Instant;

use finecomb_grep::{GrepOptions, Mode, Outcome, Query, Stats, grep, list};
use finecomb_scan::{Inputs, Problem, ProblemKind};
use finecomb_sys::stdio;

use super::{Exit, output_failed, profile};
use crate::args::grep::{Arguments, Job, Paths, UsageError};
use crate::message;

/// Runs the command.
pub(crate) fn run(arguments: Arguments, start: Instant) -> Exit {
    arguments.color().apply();
    if stdio::output_was_closed() {
        message::error("standard output is closed; connect something to it");
        return Exit::Trouble;
    }
    let done = match arguments.job() {
        Job::Search => search(&arguments, start),
        Job::Files => files(&arguments, start),
        Job::TypeList => types(&arguments),
    };
    done.unwrap_or_else(|error| {
        message::error(error);
        Exit::Trouble
    })
}

fn search(arguments: &Arguments, start: Instant) -> Result<Exit, UsageError> {
    let started = Instant::now();
    let paths = arguments.paths()?;
    let implicit = paths.implicit;
    let options = arguments.grep(&paths, stdout().is_terminal())?;
    let inputs = inputs(arguments, paths)?;
    if options.max_count == Some(0) {
        // Not even the pattern is looked at.
        return Ok(Exit::Nothing);
    }
    let query = Query::new(&options).map_err(|error| UsageError(error.to_string()))?;
    if !query.can_match() {
        return Ok(Exit::Nothing);
    }
    let mut out = stdout();
    let mut outcome = grep(&inputs, &arguments.scan(), &query, &mut out);
    if outcome.output_error.is_none() {
        outcome.output_error = end(&options, &outcome, started).err();
    }
    // Somebody who did not say where to search did not mean nowhere.
    let nowhere = outcome.files == 0 && implicit;
    if arguments.messages() {
        report(&outcome.problems, arguments.rule_messages());
        for (path, failure) in &outcome.failures {
            message::error(format_args!("{path}: {failure}"));
        }
        if nowhere {
            message::error(
                "no file was searched; --files lists those that would be, -uu adds ignored and hidden ones",
            );
        }
    }
    let profiled = profile::show(outcome.report, arguments.profile(), &inputs.named, start);
    let harmed = outcome.problems.iter().any(harms);
    let failed = nowhere || harmed || !outcome.failures.is_empty();
    Ok(match outcome.output_error {
        Some(error) => output_failed(&error).or(if failed { Exit::Trouble } else { Exit::Found }),
        None => profiled.or(exit(outcome.any, failed, options.quiet)),
    })
}

fn files(arguments: &Arguments, start: Instant) -> Result<Exit, UsageError> {
    let paths = arguments.paths()?;
    let options = arguments.grep(&paths, stdout().is_terminal())?;
    let inputs = inputs(arguments, paths)?;
    let done = list(&inputs, &arguments.scan(), &options, &mut stdout());
    if arguments.messages() {
        report(&done.problems, arguments.rule_messages());
    }
    let profiled = profile::show(done.report, arguments.profile(), &inputs.named, start);
    let failed = done.problems.iter().any(harms);
    Ok(match done.output_error {
        Some(error) => output_failed(&error).or(if failed { Exit::Trouble } else { Exit::Found }),
        None => profiled.or(exit(done.files > 0, failed, options.quiet)),
    })
}

/// Prints the types of files.
fn types(arguments: &Arguments) -> Result<Exit, UsageError> {
    let types = arguments.types()?;
    let mut out = String::new();
    for definition in types.definitions() {
        out.push_str(&format!("{}: {}\n", definition.name(), definition.globs().join(", ")));
    }
    Ok(match stdout().write_all(out.as_bytes()) {
        Ok(()) => exit(!types.definitions().is_empty(), false, false),
        Err(error) => output_failed(&error),
    })
}

fn inputs(arguments: &Arguments, paths: Paths) -> Result<Inputs, UsageError> {
    Ok(Inputs {
        named: paths.paths,
        strip_dot: paths.implicit,
        walk: arguments.walk()?,
        encoding: arguments.encoding(),
        decompress: arguments.search_zip(),
    })
}

/// As grep does: what went wrong counts more than what was found, unless only that was asked for.
fn exit(any: bool, failed: bool, quiet: bool) -> Exit {
    match () {
        () if any && (quiet || !failed) => Exit::Found,
        () if failed => Exit::Trouble,
        () => Exit::Nothing,
    }
}

/// Prints what was counted, if that was asked for.
fn end(options: &GrepOptions, outcome: &Outcome, started: Instant) -> io::Result<()> {
    let elapsed = started.elapsed();
    let text = match options.mode {
        Mode::Json => outcome.json_summary(elapsed),
        _ if options.stats => statistics(&outcome.stats, elapsed.as_secs_f64()),
        _ => return Ok(()),
    };
    stdout().write_all(&text)
}

fn statistics(stats: &Stats, total: f64) -> Vec<u8> {
    format!(
        "\n{} matches\n{} matched lines\n{} files contained matches\n{} files searched\n{} bytes printed\n{} bytes searched\n\
         {:0.6} seconds spent searching\n{total:0.6} seconds total\n",
        stats.matches(),
        stats.matched_lines(),
        stats.searches_with_match(),
        stats.searches(),
        stats.bytes_printed(),
        stats.bytes_searched(),
        stats.elapsed().as_secs_f64(),
    )
    .into_bytes()
}

/// Whether a problem changes the exit status. As in ripgrep, so does a wrong rule above a named directory.
fn harms(problem: &Problem) -> bool {
    !problem.is_harmless() || matches!(problem.kind, ProblemKind::RuleAbove(_))
}

fn report(problems: &[Problem], rules: bool) {
    let mut said = HashSet::new();
    for problem in problems.iter().filter(|problem| rules || harms(problem)) {
        let text = problem.to_string();
        // The rules of a directory hold for all that is named below it, but are wrong only once.
        if !problem.is_harmless() || said.insert(text.clone()) {
            message::error(text);
        }
    }
}
