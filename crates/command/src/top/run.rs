//! `comb top`: counts keys and prints the most frequent ones.

use std::io::{self, IsTerminal, stderr, stdin};
use std::sync::Arc;
use std::time::Instant;

use anstyle::Style;
use finecomb_scan::{Inputs, Problem, ProblemKind, ScanOptions, Stop};
use finecomb_sys::io_reason;
use finecomb_sys::units::{Bytes, counted};
use finecomb_top::print::{self, Csv, Json, Layout, Markdown, Text, Tsv};
use finecomb_top::{
    AllCounted, Answer, Compare, Counts, Live, Outcome, Query, count_all, sample, top, top_live,
};

use crate::advice;
use crate::advice::Advised;
use crate::args::profile as profile_flags;
use crate::exit::{Exit, Failure};
use crate::missing_inputs::MissingInputs;
use crate::profile;
use crate::tables::TableKind;
use crate::top::args::{TopArguments, TopFormat};
use crate::top::follow::follow;
use crate::top::formats;
use crate::top::listen::Dashboard;
use crate::top::live;
use crate::top::output::AnswerOutput;
use crate::top::overview;
use crate::top::plot::Plot;
use crate::top::saved;
use crate::top::saved::CountsToSave;
use crate::{message, progress};

/// Runs the command.
pub(crate) fn run(mut arguments: TopArguments, start: Instant) -> Result<Exit, Failure> {
    AnswerOutput::new(&arguments)?;
    if let Some(name) = &arguments.formats {
        return formats::show(name.as_deref());
    }
    if arguments.saved.merge {
        return merge(arguments, start);
    }
    // What is counted is what the file of counts says.
    if arguments.saved.save_counts.is_some() {
        arguments.options.fix_definition()?;
    }
    let query = Query::new(&arguments.query()?)?;
    arguments.options.check_format(&query)?;
    for (group, pattern) in query.unknown_groups() {
        message::note(unknown_group(group, pattern));
    }
    let inputs = arguments.inputs()?;
    arguments.options.check_compared(&arguments.files)?;
    arguments.options.approx.check_inputs(&inputs)?;
    profile::check(&arguments.profile, &inputs.named)?;
    plot(&arguments).map_or(Ok(()), |plot| plot.check())?;
    check_table(&arguments)?;
    arguments.check_series()?;
    if inputs.has_standard_input() && !arguments.live && stdin().is_terminal() && stderr().is_terminal() {
        message::note("reading standard input until Ctrl-D; to count a file, name it");
    }
    if arguments.overview.overview {
        overview::check(&arguments)?;
        let options = arguments.scan().stop(stop(&arguments)?);
        let missing = missing(&arguments);
        return overview::run(&arguments, &query, (&inputs, &options), (missing, start));
    }
    let saved = CountsToSave::new(&arguments)?;
    check_terminal(&arguments, &inputs)?;
    let options = arguments.scan().stop(stop(&arguments)?);
    let missing = missing(&arguments);
    let job = CountJob { arguments: &arguments, query, saved, missing, start };
    match arguments.sample {
        Some(count) => job.explain(&inputs, &options, count),
        None => job.print(job.count(&inputs, &options)?, options.stop.as_deref()),
    }
}

/// Prints the sum of the counts in files.
fn merge(mut arguments: TopArguments, start: Instant) -> Result<Exit, Failure> {
    check_table(&arguments)?;
    arguments.options.check_compared(&arguments.files)?;
    if let Some(diff @ Compare::Earlier(_)) = arguments.options.diff {
        return Err(format!(
            "--diff={diff}: the counts in a file are of one window; --diff compares two files"
        )
        .into());
    }
    let Some(sum) = saved::merge(&mut arguments) else { return Ok(Exit::Error) };
    if arguments.plot.file.is_some() && arguments.options.buckets().is_none() {
        return Err("--plot: the counts have no buckets of time; count with --every".into());
    }
    arguments.check_series()?;
    let saved = CountsToSave::new(&arguments)?;
    let counted = match &sum.before {
        Some(before) => Counted::new(Outcome::from(sum.counts.changes_since(before))),
        None => Counted::of_counts(sum.counts),
    };
    let counted = Counted { had_errors: sum.had_errors, ..counted };
    let missing = MissingInputs::default();
    CountJob { arguments: &arguments, query: sum.query, saved, missing, start }.print(counted, None)
}

/// Reports the named inputs that do not exist. While files are followed, they may appear later.
fn missing(arguments: &TopArguments) -> MissingInputs {
    let named = if arguments.tail.tail { &[] } else { &arguments.files[..] };
    MissingInputs::report(named, |word| format!("'-f {word}' counts by a field"))
}

/// Checks that the screen can be drawn and keys can be read, if they are to be.
fn check_terminal(arguments: &TopArguments, inputs: &Inputs) -> Result<(), &'static str> {
    if arguments.live && !stderr().is_terminal() {
        return Err("--live: standard error is not a terminal; omit --live");
    }
    if arguments.live && inputs.has_standard_input() && stdin().is_terminal() {
        return Err("--live: standard input is the terminal, which keys are read from; name a file");
    }
    Ok(())
}

/// Returns the stop signal of a job that prints its counts when it is interrupted.
fn stop(arguments: &TopArguments) -> Result<Option<Arc<Stop>>, String> {
    let flag = if arguments.live {
        "--live"
    } else if arguments.tail.tail {
        "--tail"
    } else if arguments.partial {
        "--partial"
    } else {
        return Ok(None);
    };
    let stop = Stop::on_signals().map_err(|error| format!("{flag}: {}", io_reason(&error)))?;
    Ok(Some(Arc::new(stop)))
}

/// Checks that the answer can be printed as a table, if it is to be one.
fn check_table(arguments: &TopArguments) -> Result<(), String> {
    let Some(table) = arguments.format.choice().table() else { return Ok(()) };
    if arguments.tail.tail {
        return Err(format!("--format {table}: a table has an end; use --format json with --tail"));
    }
    if arguments.output.is_some() { table.format() } else { table.printed() }.map(|_| ())
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

/// A query, and how its answer is printed.
struct CountJob<'a> {
    arguments: &'a TopArguments,
    query: Query,
    saved: Option<CountsToSave<'a>>,
    missing: MissingInputs,
    /// Start of the process.
    start: Instant,
}

impl CountJob<'_> {
    /// Counts the inputs, with the displays that are asked for.
    fn count(&self, inputs: &Inputs, options: &ScanOptions<'static>) -> Result<Counted, String> {
        let Self { arguments, query, .. } = self;
        let dashboard = Dashboard::start(arguments)?;
        let job = |options: &ScanOptions<'_>, live: Option<&Live>| match live {
            live if arguments.tail.tail => follow(inputs, options, query, live, arguments),
            Some(live) => Counted::new(top_live(inputs, options, query, live)),
            None if self.saved.is_some() => Counted::of_all(count_all(inputs, options, query)),
            None => Counted::new(top(inputs, options, query)),
        };
        let run = |options: &ScanOptions<'_>, live: Option<&Live>| match &dashboard {
            Some(dashboard) => {
                dashboard.watch(options, query, live, |options, live| job(options, Some(live)))
            }
            None => job(options, live),
        };
        let counted = if arguments.live {
            live::with_screen(options, query, |options, live| run(options, Some(live)))
        } else if arguments.tail.tail {
            // A progress bar would cover the output, and there is no end to progress to.
            run(options, None)
        } else {
            progress::with_bar(|watch| run(&options.clone().watch(watch), None))
        };
        if let Some(dashboard) = &dashboard {
            dashboard.finish(&counted.outcome, self.start.elapsed());
        }
        Ok(counted)
    }

    /// Reports and prints what was counted.
    fn print(&self, counted: Counted, stop: Option<&Stop>) -> Result<Exit, Failure> {
        let Self { arguments, query, saved, start, .. } = self;
        let outcome = &counted.outcome;
        report_problems(&outcome.problems, &self.missing);
        // Without one of the inputs, all keys would be new or gone.
        let is_lacking =
            |problem: &Problem| problem.source.is_named() && matches!(problem.kind, ProblemKind::Open(_));
        if arguments.options.diff == Some(Compare::Inputs) && outcome.problems.iter().any(is_lacking) {
            return Ok(Exit::Error);
        }
        if let Some(reason) = &outcome.failure {
            return Err(advice::on_temporary_file(reason).into());
        }
        let answer = &outcome.answer;
        // Inputs that could not be read may have had records, and followed ones may still get some.
        let is_complete = !counted.had_errors && outcome.problems.is_empty() && !arguments.tail.tail;
        report_answer(answer, outcome.bytes, is_complete, arguments);
        let mut exit = exit(&counted, stop);
        // Before the output, whose reader may want only its beginning.
        if let Some(Err(failure)) = plot(arguments).map(|plot| plot.write(answer, query)) {
            exit = failure.exit().or(exit);
        }
        if let Some((saved, counts)) = saved.as_ref().zip(counted.counts.as_ref()) {
            exit = saved.write(counts).map_or_else(Failure::exit, |()| Exit::Found).or(exit);
        }
        let is_saved_instead =
            saved.as_ref().is_some_and(CountsToSave::is_output) && arguments.output.is_none();
        let written = match counted.output_error {
            Some(error) => Err(error.into()),
            None if counted.is_printed || is_saved_instead => Ok(()),
            None => AnswerOutput::of(arguments).write(|out| format(arguments).write(answer, out)),
        };
        if let Err(failure) = written {
            return Ok(failure.exit().or(exit));
        }
        let Outcome { answer, memory, spilled, report, .. } = counted.outcome;
        if report.is_some() && arguments.profile.format() == Some(profile_flags::ProfileFormat::Text) {
            let keys = answer.distinct_keys();
            match spilled {
                0 => message::note(format_args!("{} of memory for {keys}", Bytes(memory))),
                _ => message::note(format_args!("{} in temporary files for {keys}", Bytes(spilled))),
            }
        }
        Ok(profile::show(report, &arguments.profile, &arguments.files, *start).or(exit))
    }

    /// Prints how the first records are read.
    fn explain(&self, inputs: &Inputs, options: &ScanOptions<'_>, count: usize) -> Result<Exit, Failure> {
        let sample = sample(inputs, options, &self.query, count);
        report_problems(&sample.problems, &self.missing);
        AnswerOutput::of(self.arguments).write(|out| out.write_all(&sample.text))?;
        Ok(if options.stop.as_ref().is_some_and(|stop| stop.is_raised()) {
            Exit::Interrupted
        } else if !sample.problems.is_empty() {
            Exit::Error
        } else if sample.records == 0 {
            Exit::NotFound
        } else {
            Exit::Found
        })
    }
}

/// Prints notes on an answer, and the error that makes it uncertain.
fn report_answer(answer: &Answer, bytes: u64, is_complete: bool, arguments: &TopArguments) {
    message::left_out(answer, &arguments.options, arguments.tail.tail).iter().for_each(message::note);
    message::absent_fields(answer, &arguments.options).iter().for_each(message::note);
    if is_complete {
        message::empty(answer, &arguments.options).iter().for_each(message::note);
    }
    if answer.partial {
        let (records, bytes) = (counted(answer.records, "record"), Bytes(bytes));
        message::note(format_args!("interrupted after {records} ({bytes}); the counts are partial"));
    }
    if let Some(reason) = message::changed_inputs(answer) {
        message::error(reason);
    }
    // Tips are for people. Notes are for scripts as well.
    if stderr().is_terminal() && !arguments.saved.merge {
        message::tip(answer, &arguments.options).iter().for_each(message::note);
    }
}

/// The picture that was asked for.
fn plot(arguments: &TopArguments) -> Option<Plot<'_>> {
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
    if stop.is_some_and(Stop::is_terminated) {
        Exit::Terminated
    } else if answer.partial {
        Exit::Interrupted
    } else if counted.had_errors
        || !problems.iter().all(Problem::is_note)
        || message::changed_inputs(answer).is_some()
    {
        Exit::Error
    } else if counted.records == 0 {
        Exit::NotFound
    } else {
        Exit::Found
    }
}

pub(super) fn report_problems(problems: &[Problem], missing: &MissingInputs) {
    for problem in missing.others(problems) {
        match problem.kind {
            ProblemKind::NotNarrowed(_) => {}
            _ if problem.is_note() => message::note(problem.advised()),
            _ => message::error(problem.advised()),
        }
    }
    message::not_narrowed(problems).iter().for_each(message::note);
}

/// Width of the bar of the largest count, in characters.
const BAR: usize = 20;

fn format(arguments: &TopArguments) -> Box<dyn print::Format> {
    let terminal = AnswerOutput::of(arguments).terminal();
    let text = Text {
        bars: if terminal.is_some() && arguments.has_bars() { BAR } else { 0 },
        sparklines: arguments.has_sparklines(terminal.is_some()),
        ..Text::default()
    };
    with_layout(arguments, arguments.layout(), text)
}

/// The format of rows that are printed one after another. Only the first rows have a header.
pub(super) fn format_of_rows(arguments: &TopArguments, has_header: bool) -> Box<dyn print::Format> {
    let layout = Layout { no_header: !has_header, totals: false, ..arguments.layout() };
    with_layout(arguments, layout, Text::default())
}

fn with_layout(arguments: &TopArguments, layout: Layout, text: Text) -> Box<dyn print::Format> {
    match arguments.format.choice() {
        TopFormat::Text => Box::new(Text {
            count: if AnswerOutput::of(arguments).has_colors() { Style::new().bold() } else { Style::new() },
            layout,
            terminal: AnswerOutput::of(arguments).terminal(),
            ..text
        }),
        TopFormat::Json => Box::new(Json(layout)),
        TopFormat::Csv => Box::new(Csv(layout)),
        TopFormat::Tsv => Box::new(Tsv(layout)),
        TopFormat::Markdown => Box::new(Markdown(layout)),
        TopFormat::Arrow => Box::new(TableKind::Arrow),
        TopFormat::Parquet => Box::new(TableKind::Parquet),
    }
}
