//! `comb top --overview`: shows what is in the records.

use std::time::Instant;

use anstyle::Style;
use finecomb_scan::{Inputs, Problem, ScanOptions, Stop};
use finecomb_sys::units::{Bytes, counted};
use finecomb_top::print::{Json, Markdown, OverviewFormat, Text};
use finecomb_top::{Answer, Overview, OverviewOutcome, Query, overview};

use crate::exit::{Exit, Failure};
use crate::missing_inputs::MissingInputs;
use crate::top::args::{TopArguments, TopFormat};
use crate::top::output::AnswerOutput;
use crate::top::run::report_problems;
use crate::{message, profile, progress};

/// Checks that an overview can be printed in the chosen format.
pub(super) fn check(arguments: &TopArguments) -> Result<(), &'static str> {
    match format(arguments) {
        Some(_) => Ok(()),
        None => Err("--overview: expected --format text, json or markdown"),
    }
}

/// Describes the inputs, and prints the overview.
pub(super) fn run(
    arguments: &TopArguments,
    query: &Query,
    (inputs, options): (&Inputs, &ScanOptions<'static>),
    (missing, start): (MissingInputs, Instant),
) -> Result<Exit, Failure> {
    let outcome = progress::with_bar(|watch| overview(inputs, &options.clone().watch(watch), query));
    report_problems(&outcome.problems, &missing);
    report_left_out(&outcome, arguments);
    let exit = exit(&outcome, options.stop.as_deref());
    if let Some(format) = format(arguments) {
        let written = AnswerOutput::of(arguments).write(|out| format.write_overview(&outcome.overview, out));
        if let Err(failure) = written {
            return Ok(failure.exit().or(exit));
        }
    }
    Ok(profile::show(outcome.report, &arguments.profile, &arguments.files, start).or(exit))
}

/// Prints notes on the records that were left out.
fn report_left_out(outcome: &OverviewOutcome, arguments: &TopArguments) {
    let Overview { records, examined, malformed, untimed, partial, .. } = &outcome.overview;
    let (malformed, untimed) = (malformed.clone(), untimed.clone());
    let answer = Answer { records: *records, examined: *examined, malformed, untimed, ..Answer::default() };
    message::left_out(&answer, &arguments.options, false).iter().for_each(message::note);
    if *partial {
        let (records, bytes) = (counted(*records, "record"), Bytes(outcome.bytes));
        message::note(format_args!("interrupted after {records} ({bytes}); the overview is partial"));
    }
}

fn exit(outcome: &OverviewOutcome, stop: Option<&Stop>) -> Exit {
    if stop.is_some_and(Stop::is_terminated) {
        Exit::Terminated
    } else if outcome.overview.partial {
        Exit::Interrupted
    } else if !outcome.problems.iter().all(Problem::is_note) {
        Exit::Error
    } else if outcome.overview.records == 0 {
        Exit::NotFound
    } else {
        Exit::Found
    }
}

/// The format of the output, if it has a form for an overview.
fn format(arguments: &TopArguments) -> Option<Box<dyn OverviewFormat>> {
    let count = if AnswerOutput::of(arguments).has_colors() { Style::new().bold() } else { Style::new() };
    match arguments.format.choice() {
        TopFormat::Text => Some(Box::new(Text {
            count,
            terminal: AnswerOutput::of(arguments).terminal(),
            ..Text::default()
        })),
        TopFormat::Json => Some(Box::new(Json::default())),
        TopFormat::Markdown => Some(Box::new(Markdown::default())),
        TopFormat::Csv | TopFormat::Tsv | TopFormat::Arrow | TopFormat::Parquet => None,
    }
}
