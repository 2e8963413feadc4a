//! Messages on standard error: `comb: …`, one line each. If the program was started by another name, they begin with that.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::Display;
use std::io::{Write, stderr};

use anstyle::{AnsiColor, Style};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use finecomb_scan::{Place, Problem, ProblemKind};
use finecomb_sys::display::{escaped_lines, excerpt};
use finecomb_sys::units::{Count, counted};
use finecomb_top::{AbsentField, Answer, Changes, FirstSkipped, MAX_GAP, QueryPart, Skipped};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::advice::{Advised, on_failure};
use crate::exit::{Exit, Failure};
use crate::program::Program;
use crate::top::options::CountOptions;
use crate::top::options::definition::CountDefinition;

/// Number of records that may be looked through without a tip.
const FEW: u64 = 20;

const NAME: Style = AnsiColor::Red.on_default().bold();

/// Prints an error, with control characters escaped. A failed write to standard error is ignored, as there is nowhere to report it.
pub(crate) fn error(text: impl Display) {
    let text = escaped_lines(&text.to_string());
    let _ = writeln!(anstream::stderr(), "{NAME}{}:{NAME:#} {text}", Program::current().name());
}

/// Prints a note, which is not about an error.
pub fn note(text: impl Display) {
    let text = escaped_lines(&text.to_string());
    let _ = writeln!(anstream::stderr(), "{}: {text}", Program::current().name());
}

/// Prints a note, unless standard error is a full pipe: requests must not wait for its reader.
pub fn note_without_waiting(line: &str) {
    let stderr = stderr();
    let is_ready = poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&Timespec::default()));
    if is_ready.is_ok_and(|ready| ready > 0) {
        note(line);
    }
}

/// Prints the problems with inputs.
pub(crate) fn problems<'p>(problems: impl IntoIterator<Item = &'p Problem>) {
    problem_texts(problems).into_iter().for_each(error);
}

/// The problems with inputs in words.
pub(crate) fn problem_texts<'p>(problems: impl IntoIterator<Item = &'p Problem>) -> Vec<String> {
    let problems: Vec<&Problem> = problems.into_iter().collect();
    let (mut reported, mut texts) = (HashSet::new(), Vec::new());
    for problem in &problems {
        let text = problem.advised();
        if matches!(problem.kind, ProblemKind::NotPreprocessed { .. }) {
            // A missing program fails for every file.
            let reason = problem.kind.to_string();
            if reported.insert(reason.clone()) {
                texts.push(format!("{text}{}", and_others_of(&reason, &problems)));
            }
            continue;
        }
        // The rules of a directory apply to several named paths below it, but are reported only once.
        if !problem.is_harmless() || reported.insert(text.clone()) {
            texts.push(text);
        }
    }
    texts
}

/// The number of other files with a problem, in words; empty without any.
fn and_others_of(reason: &str, problems: &[&Problem]) -> String {
    match problems.iter().filter(|other| other.kind.to_string() == reason).count() as u64 {
        0 | 1 => String::new(),
        files => format!(" (and {})", counted(files - 1, "more file")),
    }
}

/// Prints the reason of each file that was not processed.
pub(crate) fn failures(failures: &[(String, String)]) {
    failures.iter().map(on_failure).for_each(error);
}

/// Prints an error in the arguments, or the requested help.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        return error.print().map_or_else(|error| Failure::from(error).exit(), |()| Exit::Found);
    }
    let program = Program::current();
    if let Some(text) = as_ripgrep_says(error).filter(|_| program == Program::Rg) {
        self::error(text);
        return Exit::Error;
    }
    let text = error.render().ansi().to_string();
    let _ = write!(anstream::stderr(), "{}", text.replacen("error:", &format!("{}:", program.name()), 1));
    match error.kind() {
        // The status of ag for wrong flags, missing values and a missing pattern.
        ErrorKind::UnknownArgument if program == Program::Ag => Exit::NotFound,
        _ => Exit::Error,
    }
}

/// The error of an invalid value in the form of ripgrep, which programs that call it may parse.
fn as_ripgrep_says(error: &clap::Error) -> Option<String> {
    let (Some(ContextValue::String(flag)), Some(reason)) =
        (error.get(ContextKind::InvalidArg), error.source())
    else {
        return None;
    };
    let flag = flag.split(' ').next().unwrap_or(flag);
    let reason = match (flag, error.get(ContextKind::InvalidValue)) {
        ("--encoding", Some(value)) => format!("grep config error: unknown encoding: {value}"),
        _ => reason.to_string(),
    };
    Some(format!("error parsing flag {flag}: {reason}"))
}

/// Returns notes that records or values were left out of a count, with the first of them.
pub(crate) fn left_out(answer: &Answer, options: &CountOptions, is_tail: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let all = counted(answer.examined, "record");
    let far = if is_tail {
        // The file may have another name by now.
        0
    } else if options.reads_only_window() {
        FAR
    } else {
        u64::MAX
    };
    if let Some(skipped) = &answer.skipped {
        let lack = match &answer.key_fields[..] {
            [] if options.definition.has_group_as_key() => "without a match of the group of -e".to_owned(),
            [] if options.definition.has_quoted_fields() => {
                "with too few fields or an unclosed quote".to_owned()
            }
            [] => "with too few fields".to_owned(),
            [name] => format!("without the field {name}"),
            _ => "without all fields of the key".to_owned(),
        };
        let count = Count(skipped.count);
        let hints = hints_for_key(answer);
        notes.push(format!("skipped {count} of {all} {lack}{hints}{}", first(skipped, far)));
    }
    if let Some(malformed) = &answer.malformed {
        let count = Count(malformed.count);
        notes.push(format!("skipped {count} malformed of {all}{}", first(malformed, far)));
    }
    if let Some(unmatched) = &answer.unmatched {
        let records = match options.definition.counts_all_matched() {
            true => format!("{} of {all}", Count(unmatched.count)),
            false => counted(unmatched.count, "record"),
        };
        let first =
            unmatched.first.as_ref().map(|first| format!("; the first is {}", place(&first.place, far)));
        notes.push(format!("no match of -e in {records}{}", first.unwrap_or_default()));
    }
    if let Some(untimed) = &answer.untimed {
        let records = counted(untimed.count, "record");
        notes.push(format!("skipped {records} without a time{}", first(untimed, far)));
    }
    if let Some(pivot) = answer.pivot.as_ref().filter(|pivot| pivot.left_out > 0) {
        let (field, records) = (excerpt(pivot.field.as_bytes()), counted(pivot.records, "record"));
        let all = Count(pivot.values as u64 + pivot.left_out);
        notes.push(format!(
            "--columns {field}: the {} most frequent of {all} values have a column; the others have {records}",
            Count(pivot.values as u64)
        ));
    }
    if answer.long_gaps > 0 {
        let gaps = counted(answer.long_gaps, "gap");
        notes.push(format!("left out {gaps} of more than {MAX_GAP} empty buckets"));
    }
    if let Some(values) = &answer.not_numbers {
        let reason = if values.count == 1 { "it is not a number" } else { "they are not numbers" };
        let values_left_out = counted(values.count, "value");
        notes.push(format!("left {values_left_out} out of the measures, as {reason}{}", first(values, far)));
    }
    if let Some(values) = &answer.out_of_range {
        let reason = if values.count == 1 { "it is not" } else { "they are not" };
        let numbers = counted(values.count, "number");
        notes.push(format!(
            "left {numbers} out of the measures, as {reason} within ±10²⁰{}",
            first(values, far)
        ));
    }
    if let Some(values) = &answer.rounded {
        let numbers = counted(values.count, "number");
        notes.push(format!("rounded {numbers} to 18 decimal places{}", first(values, far)));
    }
    if let Some(values) = &answer.without_unit {
        let reason = if values.count == 1 {
            "it has no unit and others of the field have"
        } else {
            "they have no unit and others of the field have"
        };
        let values_left_out = counted(values.count, "number");
        let field = values.first.as_ref().and_then(|first| first.cause.as_ref());
        let field = field.map_or("FIELD", |cause| cause.reason.as_str());
        let first = first(values, far);
        notes.push(format!(
            "left {values_left_out} out of the measures, as {reason}{first}; --unit {field}=ms or another says what it means"
        ));
    }
    notes
}

/// For fields of the key that no record has, the names that may be meant.
fn hints_for_key(answer: &Answer) -> String {
    let hint = |AbsentField { field, part, hint }: &AbsentField| {
        let hint = hint.as_ref().filter(|_| matches!(part, QueryPart::Key { .. }))?;
        Some(match answer.key_fields.len() {
            0 | 1 => format!(" ({hint})"),
            _ => format!(" (none has {}: {hint})", excerpt(field.as_bytes())),
        })
    };
    answer.absent.iter().filter_map(hint).collect()
}

/// Returns notes that no record has a field of the query, which may be misspelt. If all records are skipped for that, a note on them says it.
pub(crate) fn absent_fields(answer: &Answer, options: &CountOptions) -> Vec<String> {
    let mut notes = Vec::new();
    for AbsentField { field, part, hint } in &answer.absent {
        let field = excerpt(field.as_bytes());
        let (flag, selects, as_text) = match part {
            QueryPart::Condition { may_be_text: true } => {
                ("--where", options.definition.selects_records(), format!("; a text is written \"{field}\""))
            }
            QueryPart::Condition { .. } => ("--where", options.definition.selects_records(), String::new()),
            QueryPart::Key { skips_all: true } => continue,
            QueryPart::Key { .. } => ("-f", options.selects_rows(), String::new()),
            QueryPart::Measure(measure) => {
                let of_pivot = answer.pivot.as_ref().and_then(|pivot| pivot.measure.as_deref());
                let name = of_pivot.unwrap_or_else(|| &answer.measure_names[*measure]);
                (name, options.selects_rows(), String::new())
            }
        };
        let record = if selects { "selected record" } else { "record" };
        let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        notes.push(format!("{flag}: no {record} has the field {field}{as_text}{hint}"));
    }
    notes
}

/// The reason why nothing was counted, unless other messages say it.
pub(crate) fn empty(answer: &Answer, options: &CountOptions) -> Option<String> {
    let count = |left_out: &Option<Skipped>| left_out.as_ref().map_or(0, |left_out| left_out.count);
    let left_out = [&answer.skipped, &answer.malformed, &answer.unmatched, &answer.untimed].map(count);
    if answer.partial || Program::current() != Program::Comb {
        return None;
    }
    if answer.records > 0 {
        let all = counted(answer.records, "record");
        match answer.changes {
            Some(Changes { before: 0, .. }) => {
                return Some(format!("--diff: 0 of {all} are before; all keys are new"));
            }
            Some(Changes { before, .. }) if before == answer.records => {
                return Some(format!("--diff: 0 of {all} are after; all keys are gone"));
            }
            _ => {}
        }
        let is_rare = answer.distinct > 0
            && answer.top.is_empty()
            && options.min_count > 1
            && options.number != Some(0);
        return is_rare.then(|| {
            let keys = counted(answer.distinct, "key");
            format!("--min-count {}: 0 of {keys} have as many records", options.min_count)
        });
    }
    let CountDefinition { condition, grep, vgrep, .. } = &options.definition;
    let all = counted(answer.examined, "record");
    match answer.examined {
        0 if options.reads_only_window() => Some("no record is in the window of time".to_owned()),
        0 if grep.is_empty() && vgrep.is_empty() => Some("the input has no records".to_owned()),
        0 => {
            let filters =
                [("-g", grep), ("-v", vgrep)].into_iter().filter(|(_, patterns)| !patterns.is_empty());
            let filters: Vec<&str> = filters.map(|(flag, _)| flag).collect();
            Some(format!("{} left no record", filters.join(" and ")))
        }
        examined if left_out.iter().sum::<u64>() >= examined => None,
        _ if let Some([first, last]) = &answer.outside => {
            Some(format!("0 of {all} in the window of time; they are from {first} to {last}"))
        }
        _ => {
            let is_told =
                answer.absent.iter().any(|absent| matches!(absent.part, QueryPart::Condition { .. }));
            (condition.is_some() && !is_told).then(|| format!("--where: 0 of {all} meet the condition"))
        }
    }
}

/// The tip for a count of whole records if nearly all are different, or of keys if all are, so that their counts say nothing.
pub(crate) fn tip(answer: &Answer, options: &CountOptions) -> Option<String> {
    let is_plain = options.definition.counts_whole_records();
    if answer.records < FEW || !answer.measure_names.is_empty() || Program::current() != Program::Comb {
        return None;
    }
    let (distinct, all) = (Count(answer.distinct), counted(answer.records, "record"));
    if is_plain && 10 * answer.distinct >= 9 * answer.records {
        return Some(format!(
            "{distinct} of {all} are different; --overview shows the fields of the records and their values"
        ));
    }
    let has_key = !is_plain && !options.definition.has_only_buckets();
    (has_key && answer.distinct == answer.records)
        .then(|| format!("each of {distinct} keys occurs once; --overview shows other fields for -f"))
}

/// Messages on the problems with inputs of a count: first the others, then one for each reason why more of a file was read than the window.
pub(crate) fn input_problems(problems: &[Problem]) -> Vec<String> {
    let others = problems.iter().filter(|problem| !matches!(problem.kind, ProblemKind::NotNarrowed(_)));
    others.map(Advised::advised).chain(not_narrowed(problems)).collect()
}

/// The error of a count in two passes whose inputs changed.
pub(crate) fn changed_inputs(answer: &Answer) -> Option<&'static str> {
    let has_changed = answer.approximation.is_some_and(|approximation| approximation.has_changed);
    has_changed.then_some("--recount: an input changed between the two passes; no key is certain")
}

/// Returns one note per reason why more of a file was read than the window.
pub(crate) fn not_narrowed(problems: &[Problem]) -> Vec<String> {
    let mut reasons: Vec<(&str, &Problem, u64)> = Vec::new();
    for problem in problems {
        let ProblemKind::NotNarrowed(reason) = problem.kind else { continue };
        match reasons.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, _, more)) => *more += 1,
            None => reasons.push((reason, problem, 0)),
        }
    }
    let in_words = |(reason, first, more): (&str, &Problem, u64)| {
        let more = match more {
            0 => String::new(),
            more => format!(" (and {} more such)", Count(more)),
        };
        format!("--sorted: read more of {} than the window, as {reason}{more}", first.source)
    };
    reasons.into_iter().map(in_words).collect()
}

/// Place, reason and beginning of the first record or value that was left out, for the end of a message; empty if it is not known.
fn first(skipped: &Skipped, far: u64) -> String {
    let Some(FirstSkipped { place: at, record, cause }) = &skipped.first else { return String::new() };
    let cause = cause.as_ref().map(|cause| format!(":{}: {}", cause.column, cause.reason));
    format!("; the first is {}{}: {}", place(at, far), cause.unwrap_or_default(), excerpt(record))
}

/// Offset from which on the line number of a place is not searched for, if only a part of a file is read.
const FAR: u64 = 64 << 20;

/// File and line of a place, or its offset if the line is not known. Finding the line takes a read up to the place, so it is not
/// done at the offset `far` or later.
fn place(place: &Place, far: u64) -> String {
    let line = place.line.or_else(|| if place.offset < far { place.find_line() } else { None });
    match line {
        Some(line) => format!("{}:{line}", place.source),
        None => format!("{} at byte {}", place.source, place.offset),
    }
}
