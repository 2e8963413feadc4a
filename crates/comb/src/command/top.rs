//! `comb top`: the most frequent keys.

use std::io::{BufWriter, IsTerminal, Write, stderr, stdin, stdout};
use std::sync::Arc;
use std::time::Instant;

use anstyle::Style;
use finecomb_scan::{Inputs, Problem, ScanOptions, Stop};
use finecomb_sys::units::{Bytes, Count, counted};
use finecomb_sys::{io_reason, stdio};
use finecomb_top::output::{self, Csv, Json, Text, Tsv};
use finecomb_top::{Answer, Outcome, Query, sample, top, top_live};

use super::{Exit, output_failed, profile, trouble};
use crate::args::profile as profile_flags;
use crate::args::top::{Arguments, Format};
use crate::{live, message, progress, terminal};

/// Runs the command.
pub(crate) fn run(arguments: Arguments, start: Instant) -> Exit {
    if stdio::output_was_closed() {
        message::error("standard output is closed; connect something to it");
        return Exit::Trouble;
    }
    let query = match Query::new(&arguments.query()) {
        Ok(query) => query,
        Err(error) => {
            message::error(error);
            return Exit::Trouble;
        }
    };
    for (group, pattern) in query.unknown_groups() {
        message::note(unknown_group(group, pattern));
    }
    let inputs = match arguments.inputs() {
        Ok(inputs) => inputs,
        Err(error) => return trouble(error),
    };
    let mut options = arguments.scan();
    if arguments.live && !stderr().is_terminal() {
        return trouble("--live draws on standard error, which is not a terminal here; leave --live out");
    }
    if arguments.live && inputs.has_standard_input() && stdin().is_terminal() {
        return trouble("--live takes keys from the terminal, which is standard input here; name a file");
    }
    if arguments.partial || arguments.live {
        match Stop::on_signals() {
            Ok(stop) => options.stop = Some(Arc::new(stop)),
            Err(error) => {
                let flag = if arguments.live { "--live" } else { "--partial" };
                message::error(format_args!("{flag}: {}", io_reason(&error)));
                return Exit::Trouble;
            }
        }
    }
    match arguments.sample {
        Some(count) => explain(&inputs, &options, &query, count),
        None => count(&inputs, options, &query, &arguments, start),
    }
}

/// Says that a replacement names a group that its expression does not have, which is no error in topfew either.
fn unknown_group(group: &str, pattern: &str) -> String {
    let digits = |name: &str| name.chars().take_while(char::is_ascii_digit).collect::<String>();
    match (group.strip_prefix('\\'), group.strip_prefix('$').map(digits)) {
        (Some(number), _) => {
            format!("-s '{pattern}': '{group}' is text in a replacement; a group is written ${number}")
        }
        (_, Some(number)) if !number.is_empty() && number.len() + 1 < group.len() => {
            let rest = &group[1 + number.len()..];
            format!(
                "-s '{pattern}': there is no group '{group}', and nothing is put in its place; perhaps ${{{number}}}{rest} is meant"
            )
        }
        _ => format!("-s '{pattern}': there is no group '{group}', and nothing is put in its place"),
    }
}

fn count(
    inputs: &Inputs,
    options: ScanOptions<'static>,
    query: &Query,
    arguments: &Arguments,
    start: Instant,
) -> Exit {
    let stop = options.stop.clone();
    let outcome = if arguments.live {
        live::shown(&options, query.number(), |options, live| top_live(inputs, options, query, live))
    } else {
        progress::shown(|watch| {
            let options = ScanOptions { watch, stop: options.stop.clone(), ..options };
            top(inputs, &options, query)
        })
    };
    report_problems(&outcome.problems);
    let answer = &outcome.answer;
    if let Some(skipped) = &answer.skipped {
        message::skipped(skipped, answer.records, skipped.first.find_line(), arguments.has_quoted_fields());
    }
    if answer.partial {
        message::note(format_args!(
            "interrupted after {} records ({}); the counts are those so far",
            Count(answer.records),
            Bytes(outcome.bytes)
        ));
    }
    let mut out = BufWriter::new(stdout().lock());
    let exit = exit(answer, &outcome.problems, stop.as_deref());
    let written = format(arguments.format.choice()).write(answer, &mut out).and_then(|()| out.flush());
    if let Err(error) = written {
        return output_failed(&error).or(exit);
    }
    let Outcome { answer, memory, report, .. } = outcome;
    if report.is_some() && arguments.profile.format() == Some(profile_flags::Format::Text) {
        let keys = counted(answer.distinct, "distinct key");
        message::note(format_args!("{} of memory for {keys}", Bytes(memory)));
    }
    profile::show(report, &arguments.profile, &inputs.named, start).or(exit)
}

fn exit(answer: &Answer, problems: &[Problem], stop: Option<&Stop>) -> Exit {
    match () {
        () if answer.partial && stop.is_some_and(Stop::is_terminated) => Exit::Terminated,
        () if answer.partial => Exit::Interrupted,
        () if !problems.is_empty() => Exit::Trouble,
        () if answer.records == 0 => Exit::Nothing,
        () => Exit::Found,
    }
}

fn explain(inputs: &Inputs, options: &ScanOptions<'_>, query: &Query, count: usize) -> Exit {
    let sample = sample(inputs, options, query, count);
    report_problems(&sample.problems);
    let mut out = stdout().lock();
    if let Err(error) = out.write_all(&sample.text).and_then(|()| out.flush()) {
        return output_failed(&error);
    }
    match () {
        () if options.stop.as_ref().is_some_and(|stop| stop.is_raised()) => Exit::Interrupted,
        () if !sample.problems.is_empty() => Exit::Trouble,
        () if sample.records == 0 => Exit::Nothing,
        () => Exit::Found,
    }
}

fn report_problems(problems: &[Problem]) {
    for problem in problems {
        message::error(problem);
    }
}

fn format(format: Format) -> Box<dyn output::Format> {
    match format {
        Format::Text if terminal::output_has_colors() => Box::new(Text { count: Style::new().bold() }),
        Format::Text => Box::new(Text::default()),
        Format::Json => Box::new(Json),
        Format::Csv => Box::new(Csv),
        Format::Tsv => Box::new(Tsv),
    }
}
