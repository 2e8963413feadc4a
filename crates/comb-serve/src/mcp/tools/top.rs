//! The tool `top`: `comb top`.

use std::sync::Arc;

use finecomb_scan::Stop;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::json;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{limit, one_or_many};
use crate::mcp::context::{Context, notes_on};
use crate::mcp::excerpt::excerpt;
use finecomb_command::args::named::Named;
use finecomb_command::top::job::{CountTable, count_files};
use finecomb_command::top::options::CountOptions;

/// Arguments of a call.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Top {
    /// Files, or directories whose files are all read
    #[serde(deserialize_with = "one_or_many")]
    paths: Vec<String>,
    /// Fields that make up the key: numbers such as 7 or 1,3, or names such as status or path,status or .request.host; @file is the
    /// name of the file [default: the whole line]
    fields: Option<String>,
    /// Field whose values are columns of the table, with the counts of each key, or the one measure: columns=status for the statuses
    /// of each path
    columns: Option<String>,
    /// Regular expression in place of fields: the key is its first group, or the match
    extract: Option<String>,
    /// Format of the records: auto, lines, clf, combined, vhost_combined, csv, tsv, json, logfmt, syslog, nginx:LOG_FORMAT, or regex:PATTERN with named
    /// groups [default: lines if fields are numbers, auto if they have names]
    input: Option<String>,
    /// Count whole records of several lines, such as log messages with stack traces: time (a record begins with a line that begins with a
    /// time), indent (with a line that is not indented), or a regular expression that its first line matches. The key is by default its first
    /// line
    record: Option<String>,
    /// Condition on fields, such as 'status >= 500 && path ~ "^/api"'
    #[serde(rename = "where")]
    condition: Option<String>,
    /// Count only lines that match these regular expressions
    #[serde(default, deserialize_with = "one_or_many")]
    grep: Vec<String>,
    /// Skip lines that match one of these regular expressions
    #[serde(default, deserialize_with = "one_or_many")]
    vgrep: Vec<String>,
    /// Placeholders for parts of keys that vary: all, or some of num, hex, uuid, ip, path
    normalize: Option<String>,
    /// Sum of a numeric field for each key
    sum: Option<String>,
    /// Mean of a numeric field for each key
    mean: Option<String>,
    /// 99th percentile of a numeric field for each key
    p99: Option<String>,
    /// Percent of the records of each key, or of each bucket of time, for which a condition holds, such as 'status >= 500'
    share: Option<String>,
    /// Counts by bucket of time, such as 5m, 1h, 1d or 1mo
    every: Option<String>,
    /// Compare counts before and after: inputs for those of two paths, or a duration such as 1d for those of the time between since and until with
    /// the same time that long before
    diff: Option<String>,
    /// Only records at or after this time, such as '2026-03-01 06:20'
    since: Option<String>,
    /// Only records before this time
    until: Option<String>,
    /// Order: count, key, or a measure such as sum(bytes) [default: count]
    sort: Option<String>,
    /// Number of keys in the answer
    #[serde(default = "default_limit", deserialize_with = "limit")]
    limit: u64,
}

fn default_limit() -> u64 {
    10
}

impl Tool for Top {
    const NAME: &'static str = "top";
    const TITLE: &'static str = "Most frequent keys";
    const DESCRIPTION: &'static str = "Counts the records of logs, CSV, JSON Lines and other files by a key, and lists the most frequent keys, with \
        sums, means and percentiles of other fields, and rates such as the share of errors. Use it for questions such as: which addresses, pages or errors are most frequent, how many \
        requests there were per hour, which values a column has. It reads gigabytes in seconds, so no part of the file needs to be read \
        before. Compressed files are read as well. Example: paths=access.log, fields=path, where='status == 404'.";
    const HAS_PAGES: bool = false;

    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
        if self.paths.is_empty() {
            return Err("paths: name at least one file".to_owned());
        }
        let named = match &self.diff {
            Some(_) => context.roots.inputs_as_given(&self.paths)?,
            None => context.roots.inputs(&self.paths)?,
        };
        let CountTable { text: table, mut notes, problems } =
            count_files(self.options(context)?, &named, stop)?;
        notes.extend(notes_on(&problems, &[]));
        notes.extend(context.cut_off(stop));
        let text = text(&table, notes, context);
        let structured = context.is_structured.then(|| json!({ "text": text }));
        Ok(Answer { text, structured })
    }
}

/// The table, with its long lines cut and up to the maximum size, and the notes.
fn text(table: &[u8], mut notes: Vec<String>, context: &Context) -> String {
    let mut text = String::new();
    for line in table.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = excerpt(line, 0, context.limits.max_columns);
        if text.len() + line.len() > context.limits.max_output {
            notes.push("the table is longer than an answer; set a lower limit".to_owned());
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    notes.iter().for_each(|note| text.push_str(&format!("[{note}]\n")));
    text
}

impl Top {
    fn options(self, context: &Context) -> Result<CountOptions, String> {
        let texts = [
            ("fields", self.fields),
            ("columns", self.columns),
            ("diff", self.diff),
            ("extract", self.extract),
            ("input", self.input),
            ("record", self.record),
            ("where", self.condition),
            ("normalize", self.normalize),
            ("sum", self.sum),
            ("mean", self.mean),
            ("p99", self.p99),
            ("share", self.share),
            ("every", self.every),
            ("since", self.since),
            ("until", self.until),
            ("sort", self.sort),
        ];
        let mut named: Named = texts.map(|(name, text)| (name.to_owned(), text.into())).into();
        named.extend(
            [("grep", self.grep), ("vgrep", self.vgrep)].map(|(name, texts)| (name.to_owned(), texts.into())),
        );
        named.push(("number".to_owned(), self.limit.into()));
        Ok(CountOptions { threads: context.threads(), ..CountOptions::named(named)? })
    }
}
