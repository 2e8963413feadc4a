//! The states of a job that the page shows, as JSON. docs/commands/top.md describes their members.

use std::time::Duration;

use finecomb_scan::{Activity, Phase, Progress};
use finecomb_top::print::{Json, Layout};
use finecomb_top::{Answer, KeyCount, Outcome, Series, SortBy};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::advice::Advised;
use crate::command_line::command_line;
use crate::top::args::TopArguments;
use crate::top::listen::wire::StateMessage;
use crate::top::listen::{MAX_BUCKETS, MAX_ROWS};

/// The properties of a job that its states have in common.
pub(super) struct View {
    /// The command line.
    command: String,
    /// Columns of `/answer.json`.
    layout: Layout,
    /// Whether records are counted by buckets of time and nothing else.
    has_only_buckets: bool,
    /// Whether the order of the rows is reversed.
    is_reversed: bool,
}

/// Progress of a job, and that of the state before.
pub(super) struct Moment<'a> {
    pub(super) progress: &'a Progress,
    pub(super) before: &'a Progress,
}

/// A state, without its time, which comes first.
#[derive(Serialize)]
struct JobState<'a> {
    status: &'static str,
    command: &'a str,
    bytes: u64,
    total_bytes: Option<u64>,
    columns: StateColumns<'a>,
    answer: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<Buckets<'a>>,
    phases: Vec<NamedPhase>,
    /// Shares of the time of each thread, by phase.
    threads: Vec<Vec<f64>>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct StateColumns<'a> {
    measures: &'a [String],
    key: &'a [String],
    sorted_by: &'a str,
}

/// Counts by bucket of time.
#[derive(Serialize)]
struct Buckets<'a> {
    buckets: Vec<&'a str>,
    /// The keys with their counts, as in `top` of an answer; `None` if records are counted by buckets only.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Box<RawValue>>,
    /// The counts of each key, or of all records, by bucket.
    counts: Vec<Vec<u64>>,
}

#[derive(Serialize)]
struct NamedPhase {
    name: &'static str,
    color: String,
}

/// The keys of an answer in JSON.
#[derive(Deserialize)]
struct JsonKeys {
    top: Box<RawValue>,
}

impl View {
    pub(super) fn new(arguments: &TopArguments) -> Self {
        Self {
            command: command_line(),
            layout: arguments.layout(),
            has_only_buckets: arguments.options.definition.has_only_buckets(),
            is_reversed: arguments.is_reversed(),
        }
    }

    /// Maximum number of rows that a state needs.
    pub(super) fn max_rows(&self) -> usize {
        if self.has_only_buckets { MAX_BUCKETS } else { MAX_ROWS }
    }

    /// The state of a running job, and its answer.
    pub(super) fn intermediate(
        &self,
        answer: Answer,
        moment: &Moment<'_>,
    ) -> serde_json::Result<(String, String)> {
        let distinct = answer.series.as_ref().map_or(answer.top.len(), |series| series.keys.len());
        let answer = Answer { distinct: distinct as u64, partial: true, ..answer };
        let Progress { done, total, .. } = *moment.progress;
        self.state(&answer, "running", done, total, moment, Vec::new())
    }

    /// The last state, and the result, or the answer that is shown in place of it. The activity of the threads is that of the whole
    /// job.
    pub(super) fn last(
        &self,
        outcome: &Outcome,
        followed: Option<&Answer>,
        progress: &Progress,
    ) -> serde_json::Result<(String, String)> {
        let status = if outcome.answer.partial { "interrupted" } else { "ended" };
        let problems = outcome.problems.iter().map(Advised::advised).collect();
        let moment = Moment { progress, before: &Progress::default() };
        self.state(
            followed.unwrap_or(&outcome.answer),
            status,
            outcome.bytes,
            progress.total,
            &moment,
            problems,
        )
    }

    fn state(
        &self,
        answer: &Answer,
        status: &'static str,
        bytes: u64,
        total_bytes: Option<u64>,
        moment: &Moment<'_>,
        problems: Vec<String>,
    ) -> serde_json::Result<(String, String)> {
        let json = RawValue::from_string(Json(self.layout).line(&self.shown_rows(answer), false)?)?;
        let phases = phases(moment.progress);
        let sorted_by = match answer.sort_by {
            SortBy::Count => "count",
            SortBy::Key => "key",
            SortBy::Measure(number) => answer.measure_names.get(number).map_or("", String::as_str),
        };
        let columns = StateColumns { measures: &answer.measure_names, key: &answer.key_names, sorted_by };
        let by_time = self.counts_by_time(answer).map(|(buckets, counts)| Buckets {
            buckets,
            keys: None,
            counts: vec![counts],
        });
        let state = JobState {
            status,
            command: &self.command,
            bytes,
            total_bytes,
            columns,
            answer: &json,
            series: by_time.or(self.counts_of_keys(answer)?),
            threads: shares(moment, &phases),
            phases: phases.into_iter().map(NamedPhase::new).collect(),
            problems,
        };
        Ok((serde_json::to_string(&state)?, json.get().to_owned()))
    }

    /// Whether the rows of an answer are the buckets in the order of time, or in the reverse one.
    fn is_by_time(&self, answer: &Answer) -> bool {
        self.has_only_buckets && answer.sort_by == SortBy::Key
    }

    /// An answer with its first rows only; of buckets in the order of time, the latest.
    fn shown_rows(&self, answer: &Answer) -> Answer {
        let from = match self.is_by_time(answer) && !self.is_reversed {
            true => answer.top.len().saturating_sub(MAX_ROWS),
            false => 0,
        };
        let top = answer.top.iter().skip(from).take(MAX_ROWS).cloned().collect();
        Answer { top, series: None, ..answer.clone() }
    }

    /// The buckets and the counts of all records in the order of time, if the rows of the answer are buckets.
    fn counts_by_time<'a>(&self, answer: &'a Answer) -> Option<(Vec<&'a str>, Vec<u64>)> {
        let in_order = |rows: &mut dyn Iterator<Item = &'a KeyCount>| {
            rows.filter_map(|row| Some((str::from_utf8(&row.key).ok()?, row.count))).unzip()
        };
        let from = answer.top.len().saturating_sub(MAX_BUCKETS);
        self.is_by_time(answer).then(|| match self.is_reversed {
            true => in_order(&mut answer.top.iter().take(MAX_BUCKETS).rev()),
            false => in_order(&mut answer.top.iter().skip(from)),
        })
    }

    /// The counts of the keys of an answer in the latest buckets.
    fn counts_of_keys<'a>(&self, answer: &'a Answer) -> serde_json::Result<Option<Buckets<'a>>> {
        let Some(series @ Series { buckets, keys, .. }) = &answer.series else { return Ok(None) };
        let from = buckets.len().saturating_sub(MAX_BUCKETS);
        let top = keys.iter().take(MAX_ROWS).cloned().collect();
        let key_names = answer.key_names.get(1..).unwrap_or_default().to_vec();
        let keys = Json::default().line(&Answer { top, key_names, ..Answer::default() }, false)?;
        let JsonKeys { top } = serde_json::from_str(&keys)?;
        Ok(Some(Buckets {
            buckets: buckets[from..].iter().map(String::as_str).collect(),
            keys: Some(top),
            counts: series
                .counts_of_first(MAX_ROWS)
                .into_iter()
                .map(|mut counts| counts.split_off(from))
                .collect(),
        }))
    }
}

/// An update with the state and the answer of a moment.
pub(super) fn update(elapsed: Duration, body: &str, answer: String, is_last: bool) -> StateMessage {
    let state = format!("{{\"elapsed\":{:.3},{}", elapsed.as_secs_f64(), body.trim_start_matches('{'));
    StateMessage { state: state.into_bytes(), answer: answer.into_bytes(), is_last }
}

/// The phases so far, except `Start`, which is over when there is a state.
fn phases(progress: &Progress) -> Vec<Phase> {
    let is_there = |phase| progress.threads.iter().any(|thread| !thread.spent(phase).is_zero());
    Phase::ALL.into_iter().filter(|&phase| phase != Phase::Start && is_there(phase)).collect()
}

/// The shares of the time since the state before, by thread and phase, in thousandths.
fn shares(moment: &Moment<'_>, phases: &[Phase]) -> Vec<Vec<f64>> {
    let of_thread = |(number, thread): (usize, &Activity)| {
        let before = moment.before.threads.get(number);
        let spent = phases.iter().map(|&phase| {
            let before = before.map_or(Duration::ZERO, |before| before.spent(phase));
            thread.spent(phase).saturating_sub(before).as_secs_f64()
        });
        let spent: Vec<f64> = spent.collect();
        let all = spent.iter().sum::<f64>().max(1e-9);
        spent.into_iter().map(|spent| (spent / all * 1000.0).round() / 1000.0).collect()
    };
    moment.progress.threads.iter().enumerate().map(of_thread).collect()
}

impl NamedPhase {
    fn new(phase: Phase) -> Self {
        let (red, green, blue) = phase.color();
        Self { name: phase.name(), color: format!("#{red:02x}{green:02x}{blue:02x}") }
    }
}
