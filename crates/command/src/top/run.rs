//! `comb top`: counts keys and prints the most frequent ones.

use std::io::{self, BufWriter, IsTerminal, Write, stderr, stdin, stdout};
use std::sync::Arc;
use std::time::Instant;

use anstyle::Style;
use finecomb_scan::{Inputs, Problem, ProblemKind, ScanOptions, Stop};
use finecomb_sys::io_reason;
use finecomb_sys::units::{Bytes, counted};
use finecomb_top::print::{self, Csv, Json, Layout, Markdown, Text, Tsv};
use finecomb_top::{AllCounted, Counts, Live, Outcome, Query, count_all, sample, top, top_live};

use crate::advice;
use crate::advice::Advised;
use crate::args::profile as profile_flags;
use crate::exit::{Exit, check_output, fail, output_failed};
use crate::profile;
use crate::tables::Table;
use crate::top::args::{Arguments, Format};
use crate::top::follow::follow;
use crate::top::listen::Dashboard;
use crate::top::live;
use crate::top::plot::Plot;
use crate::top::saved as counts;
use crate::top::saved::Saved;
use crate::{message, progress, terminal};

/// Runs the command.
pub(crate) fn run(mut arguments: Arguments, start: Instant) -> Exit {
    if let Err(exit) = check_output() {
        return exit;
    }
    if arguments.saved.merge {
        return merge(arguments, start);
    }
    // What is counted is what the file of counts says.
    if let Some(Err(reason)) =
        arguments.saved.save_counts.is_some().then(|| arguments.options.fix_definition())
    {
        return fail(reason);
    }
    let options = match arguments.query() {
        Ok(options) => options,
        Err(error) => return fail(error),
    };
    let query = match Query::new(&options) {
        Ok(query) => query,
        Err(error) => return fail(error.advised()),
    };
    if let Err(error) = arguments.options.check_format(&query) {
        return fail(error);
    }
    for (group, pattern) in query.unknown_groups() {
        message::note(unknown_group(group, pattern));
    }
    let inputs = match arguments.inputs() {
        Ok(inputs) => inputs,
        Err(error) => return fail(error),
    };
    if let Err(error) = arguments.options.approx.check_inputs(&inputs) {
        return fail(error);
    }
    if let Err(reason) = profile::check(&arguments.profile, &inputs.named) {
        return fail(reason);
    }
    if let Some(Err(reason)) = plot(&arguments).map(|plot| plot.check()) {
        return fail(reason);
    }
    if let Err(reason) = check_table(&arguments) {
        return fail(reason);
    }
    let saved = match Saved::new(&arguments) {
        Ok(saved) => saved,
        Err(reason) => return fail(reason),
    };
    let mut options = arguments.scan();
    if arguments.live && !stderr().is_terminal() {
        return fail("--live: standard error is not a terminal; omit --live");
    }
    if arguments.live && inputs.has_standard_input() && stdin().is_terminal() {
        return fail("--live: standard input is the terminal, which keys are read from; name a file");
    }
    if arguments.partial || arguments.live || arguments.tail.tail {
        match Stop::on_signals() {
            Ok(stop) => options.stop = Some(Arc::new(stop)),
            Err(error) => {
                let flag = match () {
                    () if arguments.live => "--live",
                    () if arguments.tail.tail => "--tail",
                    () => "--partial",
                };
                return fail(format_args!("{flag}: {}", io_reason(&error)));
            }
        }
    }
    match arguments.sample {
        Some(count) => explain(&inputs, &options, &query, count),
        None => count(&inputs, options, &query, &arguments, saved.as_ref(), start),
    }
}

/// Prints the sum of the counts in files.
fn merge(mut arguments: Arguments, start: Instant) -> Exit {
    if let Err(reason) = check_table(&arguments) {
        return fail(reason);
    }
    let Some(sum) = counts::merge(&mut arguments) else { return Exit::Error };
    if arguments.plot.file.is_some() && arguments.options.buckets().is_none() {
        return fail("--plot: the counts have no buckets of time; count with --every");
    }
    let saved = match Saved::new(&arguments) {
        Ok(saved) => saved,
        Err(reason) => return fail(reason),
    };
    let counted = Counted { had_errors: sum.had_errors, ..Counted::of_counts(sum.counts) };
    finish(counted, &sum.query, &arguments, saved.as_ref(), None, start)
}

/// Checks that the answer can be printed as a table, if it is to be one.
fn check_table(arguments: &Arguments) -> Result<(), String> {
    let Some(table) = arguments.format.choice().table() else { return Ok(()) };
    if arguments.tail.tail {
        return Err(format!("--format {table}: a table has an end; use --format json with --tail"));
    }
    table.printed().map(|_| ())
}

/// Message about an unknown group in a replacement, which the regex crate replaces with nothing.
fn unknown_group(group: &str, pattern: &str) -> String {
    let digits = |name: &str| name.chars().take_while(char::is_ascii_digit).collect::<String>();
    match (group.strip_prefix('\\'), group.strip_prefix('$').map(digits)) {
        (Some(number), _) => {
            format!("-s '{pattern}': '{group}' is literal text in a replacement; use ${number} for a group")
        }
        (_, Some(number)) if !number.is_empty() && number.len() + 1 < group.len() => {
            let rest = &group[1 + number.len()..];
            format!(
                "-s '{pattern}': unknown group '{group}' is replaced with nothing; use ${{{number}}}{rest} for group {number}"
            )
        }
        _ => format!("-s '{pattern}': unknown group '{group}' is replaced with nothing"),
    }
}

fn count(
    inputs: &Inputs,
    options: ScanOptions<'static>,
    query: &Query,
    arguments: &Arguments,
    saved: Option<&Saved<'_>>,
    start: Instant,
) -> Exit {
    let stop = options.stop.clone();
    let dashboard = match Dashboard::start(arguments) {
        Ok(dashboard) => dashboard,
        Err(reason) => return fail(reason),
    };
    let job = |options: &ScanOptions<'_>, live: Option<&Live>| match live {
        live if arguments.tail.tail => follow(inputs, options, query, live, arguments),
        Some(live) => Counted::new(top_live(inputs, options, query, live)),
        None if saved.is_some() => Counted::of_all(count_all(inputs, options, query)),
        None => Counted::new(top(inputs, options, query)),
    };
    let run = |options: &ScanOptions<'_>, live: Option<&Live>| match &dashboard {
        Some(dashboard) => dashboard.watch(options, query, live, |options, live| job(options, Some(live))),
        None => job(options, live),
    };
    let done = if arguments.live {
        live::with_screen(&options, query, |options, live| run(options, Some(live)))
    } else if arguments.tail.tail {
        // A progress bar would cover the output, and there is no end to progress to.
        run(&options, None)
    } else {
        progress::with_bar(|watch| run(&options.clone().watch(watch), None))
    };
    if let Some(dashboard) = &dashboard {
        dashboard.finish(&done.outcome, start.elapsed());
    }
    finish(done, query, arguments, saved, stop.as_deref(), start)
}

/// Reports and prints what was counted.
fn finish(
    done: Counted,
    query: &Query,
    arguments: &Arguments,
    saved: Option<&Saved<'_>>,
    stop: Option<&Stop>,
    start: Instant,
) -> Exit {
    let outcome = &done.outcome;
    report_problems(&outcome.problems);
    if let Some(reason) = &outcome.failure {
        return fail(advice::on_temporary_file(reason));
    }
    let answer = &outcome.answer;
    message::left_out(answer, &arguments.options, arguments.tail.tail).iter().for_each(message::note);
    message::absent_fields(answer, &arguments.options).iter().for_each(message::note);
    if answer.partial {
        message::note(format_args!(
            "interrupted after {} ({}); the counts are partial",
            counted(answer.records, "record"),
            Bytes(outcome.bytes)
        ));
    }
    if let Some(reason) = message::changed_inputs(answer) {
        message::error(reason);
    }
    let mut out = BufWriter::new(stdout().lock());
    let mut exit = exit(&done, stop);
    // Before the output, whose reader may want only its beginning.
    if let Some(Err(reason)) = plot(arguments).map(|plot| plot.write(answer, query)) {
        exit = fail(reason).or(exit);
    }
    if let Some((saved, counts)) = saved.zip(done.counts.as_ref()) {
        exit = saved.write(counts).or(exit);
    }
    let written = match done.output_error {
        Some(error) => Err(error),
        None if done.is_printed || saved.is_some_and(Saved::is_output) => Ok(()),
        None => format(arguments).write(answer, &mut out).and_then(|()| out.flush()),
    };
    if let Err(error) = written {
        return output_failed(&error).or(exit);
    }
    let Outcome { answer, memory, spilled, report, .. } = done.outcome;
    if report.is_some() && arguments.profile.format() == Some(profile_flags::Format::Text) {
        let keys = answer.distinct_keys();
        match spilled {
            0 => message::note(format_args!("{} of memory for {keys}", Bytes(memory))),
            _ => message::note(format_args!("{} in temporary files for {keys}", Bytes(spilled))),
        }
    }
    profile::show(report, &arguments.profile, &arguments.files, start).or(exit)
}

/// The picture that was asked for.
fn plot(arguments: &Arguments) -> Option<Plot<'_>> {
    let file = arguments.plot.file.as_deref()?;
    Some(Plot { file, inputs: &arguments.files, buckets: arguments.options.buckets()? })
}

/// The result of a count, and the output that was printed before its end.
pub(super) struct Counted {
    pub(super) outcome: Outcome,
    /// The counts of all keys, if they are wanted.
    pub(super) counts: Option<Counts>,
    /// Whether the answer was printed as it grew.
    pub(super) is_printed: bool,
    /// Number of records counted, including records that were printed and forgotten.
    pub(super) records: u64,
    /// Whether errors were reported.
    pub(super) had_errors: bool,
    /// Error of the output, which ended the count.
    pub(super) output_error: Option<io::Error>,
}

impl Counted {
    fn new(outcome: Outcome) -> Self {
        let records = outcome.answer.records;
        Self { outcome, counts: None, is_printed: false, records, had_errors: false, output_error: None }
    }

    fn of_all(counted: AllCounted) -> Self {
        let AllCounted { counts, problems, bytes, memory, report } = counted;
        let answer = counts.answer();
        let mut outcome = Outcome::from(answer);
        (outcome.problems, outcome.bytes, outcome.memory, outcome.report) = (problems, bytes, memory, report);
        Self { counts: Some(counts), ..Self::new(outcome) }
    }

    fn of_counts(counts: Counts) -> Self {
        let answer = counts.answer();
        Self { counts: Some(counts), ..Self::new(Outcome::from(answer)) }
    }
}

fn exit(counted: &Counted, stop: Option<&Stop>) -> Exit {
    let Outcome { answer, problems, .. } = &counted.outcome;
    match () {
        () if stop.is_some_and(Stop::is_terminated) => Exit::Terminated,
        () if answer.partial => Exit::Interrupted,
        () if counted.had_errors || !problems.iter().all(Problem::is_note) => Exit::Error,
        () if message::changed_inputs(answer).is_some() => Exit::Error,
        () if counted.records == 0 => Exit::NotFound,
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
        () if !sample.problems.is_empty() => Exit::Error,
        () if sample.records == 0 => Exit::NotFound,
        () => Exit::Found,
    }
}

fn report_problems(problems: &[Problem]) {
    for problem in problems {
        match problem.kind {
            ProblemKind::NotNarrowed(_) => {}
            _ if problem.is_note() => message::note(problem.advised()),
            _ => message::error(problem.advised()),
        }
    }
    message::not_narrowed(problems).iter().for_each(message::note);
}

/// Maximum width of a sparkline, in characters.
const SPARKLINE: usize = 40;

/// Width of the bar of the largest count, in characters.
const BAR: usize = 20;

fn format(arguments: &Arguments) -> Box<dyn print::Format> {
    let is_terminal = stdout().is_terminal();
    let text = Text {
        bars: if is_terminal && arguments.has_bars() { BAR } else { 0 },
        sparklines: if is_terminal { SPARKLINE } else { 0 },
        ..Text::default()
    };
    with_layout(arguments, arguments.layout(), text)
}

/// The format of rows that are printed one after another. Only the first rows have a header.
pub(super) fn format_of_rows(arguments: &Arguments, has_header: bool) -> Box<dyn print::Format> {
    let layout = Layout { no_header: !has_header, totals: false, ..arguments.layout() };
    with_layout(arguments, layout, Text::default())
}

fn with_layout(arguments: &Arguments, layout: Layout, text: Text) -> Box<dyn print::Format> {
    match arguments.format.choice() {
        Format::Text => Box::new(Text {
            count: if terminal::output_has_colors() { Style::new().bold() } else { Style::new() },
            layout,
            ..text
        }),
        Format::Json => Box::new(Json(layout)),
        Format::Csv => Box::new(Csv(layout)),
        Format::Tsv => Box::new(Tsv(layout)),
        Format::Markdown => Box::new(Markdown(layout)),
        Format::Arrow => Box::new(Table::Arrow),
        Format::Parquet => Box::new(Table::Parquet),
    }
}
