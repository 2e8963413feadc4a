//! `comb top --tail`: counts inputs that grow, and prints as they do.

use std::io::{self, IsTerminal, Write, stderr};
use std::mem;
use std::time::{Duration, Instant};

use finecomb_scan::{Inputs, Next, Problem, ScanOptions};
use finecomb_sys::units::counted;
use finecomb_top::print::Json;
use finecomb_top::{Following, Live, Query, top_follow};

use crate::advice::Advised;
use crate::message;
use crate::top::args::{TopArguments, TopFormat};
use crate::top::output::AnswerOutput;
use crate::top::run::{Counted, format_of_rows};

/// Minimum time between two lines with the counts so far.
const LINES: Duration = Duration::from_secs(1);

/// Minimum time between two updates of a display, and between two searches for buckets that have ended.
const UPDATES: Duration = Duration::from_millis(150);

/// Minimum time between two exact answers, in multiples of the time that one takes.
const PAUSE: u32 = 20;

/// Counts inputs as they grow. A display shows the counts through `live`.
pub(super) fn follow(
    inputs: &Inputs,
    options: &ScanOptions<'_>,
    query: &Query,
    live: Option<&Live>,
    arguments: &TopArguments,
) -> Counted {
    let mut printer = FollowPrinter {
        arguments,
        lines: LiveLines::of(arguments),
        has_display: live.is_some(),
        is_first: true,
        is_announced: false,
        has_unprinted: false,
        not_before: Instant::now(),
        records: 0,
        problems: Vec::new(),
        had_errors: false,
        output_error: None,
    };
    let mut outcome = top_follow(inputs, options, query, live, |following| printer.pause(following));
    let FollowPrinter { lines, mut problems, mut records, had_errors, output_error, .. } = printer;
    records += outcome.answer.records;
    problems.append(&mut outcome.problems);
    outcome.problems = problems;
    Counted { outcome, counts: None, is_printed: lines != LiveLines::None, records, had_errors, output_error }
}

/// Output while inputs grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LiveLines {
    /// Nothing before the end.
    None,
    /// Buckets of time as they end.
    Buckets,
    /// The counts so far, as an object of JSON on a line.
    Counts,
}

impl LiveLines {
    fn of(arguments: &TopArguments) -> Self {
        match arguments.format.choice() {
            _ if arguments.prints_buckets() => Self::Buckets,
            TopFormat::Json if !arguments.live => Self::Counts,
            _ => Self::None,
        }
    }
}

/// Prints while inputs grow.
struct FollowPrinter<'a> {
    arguments: &'a TopArguments,
    lines: LiveLines,
    has_display: bool,
    /// Set until the first rows have been printed.
    is_first: bool,
    /// Whether it was said that the inputs are followed.
    is_announced: bool,
    /// Whether something was counted since the last line or update.
    has_unprinted: bool,
    /// Time before which there is no line and no update.
    not_before: Instant,
    /// Records of the printed buckets.
    records: u64,
    /// Problems that are not reported so far.
    problems: Vec<Problem>,
    /// Whether errors were reported.
    had_errors: bool,
    output_error: Option<io::Error>,
}

impl FollowPrinter<'_> {
    fn pause(&mut self, following: &mut Following<'_, '_>) -> Next {
        if self.output_error.is_some() {
            return Next::End;
        }
        self.report(following);
        self.announce(following);
        self.has_unprinted |= following.has_new;
        match self.print(following) {
            // The keys of a screen may choose other rows at any time.
            Ok(wait) if self.arguments.live => Next::Wait(wait.into_iter().chain([UPDATES]).min()),
            Ok(wait) => Next::Wait(wait),
            Err(error) => {
                self.output_error = Some(error);
                Next::End
            }
        }
    }

    /// Prints problems at once, unless a display covers the terminal.
    fn report(&mut self, following: &mut Following<'_, '_>) {
        for problem in following.problems.drain(..) {
            if self.arguments.live {
                self.problems.push(problem);
                continue;
            }
            let is_note = problem.is_note();
            if is_note {
                message::note(problem.advised())
            } else {
                message::error(problem.advised())
            }
            self.had_errors |= !is_note;
        }
    }

    /// Says at a terminal that the inputs are followed, as nothing else may be printed for long.
    fn announce(&mut self, following: &Following<'_, '_>) {
        let is_silent = self.lines == LiveLines::None && !self.has_display;
        if !mem::replace(&mut self.is_announced, true) && is_silent && stderr().is_terminal() {
            let inputs = counted(following.inputs as u64, "input");
            message::note(format_args!("following {inputs}; Ctrl-C ends and prints the counts"));
        }
    }

    /// Prints and shows what there is to be. Returns the time after which there may be more.
    fn print(&mut self, following: &mut Following<'_, '_>) -> io::Result<Option<Duration>> {
        let mut wait = following.forgets_after();
        self.has_unprinted |= wait.is_some() || following.is_outdated();
        let prints_counts = self.has_unprinted && (self.has_display || self.lines == LiveLines::Counts);
        if !prints_counts && self.lines != LiveLines::Buckets {
            return Ok(wait);
        }
        let start = Instant::now();
        if start < self.not_before && !following.is_last {
            return Ok(wait.into_iter().chain([self.not_before - start]).min());
        }
        let mut interval = UPDATES;
        if self.lines == LiveLines::Buckets {
            self.print_buckets(following)?;
            wait = wait.into_iter().chain(following.next_end()).min();
        }
        if self.lines == LiveLines::Counts {
            let line = Json(self.arguments.layout()).line(&following.answer(), false)?;
            let mut out = AnswerOutput::of(self.arguments).stream();
            writeln!(out, "{line}")?;
            out.flush()?;
            interval = LINES;
        }
        if prints_counts {
            following.publish();
        }
        self.has_unprinted = false;
        self.not_before = Instant::now() + interval.max(PAUSE * start.elapsed());
        Ok(wait)
    }

    /// Prints the buckets of time that have ended.
    fn print_buckets(&mut self, following: &mut Following<'_, '_>) -> io::Result<()> {
        let finished = following.finished_buckets();
        if finished.is_empty() {
            return Ok(());
        }
        let mut out = AnswerOutput::of(self.arguments).stream();
        for bucket in finished {
            self.records += bucket.answer.records;
            if self.arguments.format.choice() == TopFormat::Json {
                let line = Json(self.arguments.layout()).line(&bucket.answer, bucket.is_late)?;
                writeln!(out, "{line}")?;
            } else {
                format_of_rows(self.arguments, self.is_first).write(&bucket.answer, &mut out)?;
            }
            self.is_first = false;
        }
        out.flush()
    }
}
