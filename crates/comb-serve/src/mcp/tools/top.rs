//! The tool `top`: `comb top`.

use std::sync::Arc;

use finecomb_scan::Stop;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::json;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{bytes, limit, max_bytes, one_or_many};
use crate::mcp::context::{Context, notes_on};
use crate::mcp::excerpt::excerpt;
use crate::mcp::page::fit;
use finecomb_command::args::named::Named;
use finecomb_command::top::job::{CountTable, count_files};
use finecomb_command::top::options::CountOptions;

/// Arguments of a call.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Top {
    #[serde(deserialize_with = "one_or_many")]
    paths: Vec<String>,
    /// Key: 7 or path,status or .request.host or @file [the line]
    fields: Option<String>,
    /// Field whose values are columns
    columns: Option<String>,
    /// The key is the first group
    extract: Option<String>,
    /// auto, csv, json, logfmt, combined, syslog, nginx:FORMAT, regex:PATTERN with named groups, …
    input: Option<String>,
    /// As for search
    record: Option<String>,
    /// status >= 500 && path ~ "^/api"
    #[serde(rename = "where")]
    condition: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    grep: Vec<String>,
    /// Not these lines
    #[serde(default, deserialize_with = "one_or_many")]
    vgrep: Vec<String>,
    /// Placeholders: all, or num,hex,uuid,ip,path
    normalize: Option<String>,
    /// Field
    sum: Option<String>,
    mean: Option<String>,
    p99: Option<String>,
    /// Percent with: status >= 500
    share: Option<String>,
    /// Bucket: 5m, 1h, 1d, 1mo
    every: Option<String>,
    /// inputs: compare two paths; 1d: with a day before
    diff: Option<String>,
    /// 2026-03-01 06:20
    since: Option<String>,
    until: Option<String>,
    /// count, key, sum(bytes)
    sort: Option<String>,
    #[serde(default = "default_limit", deserialize_with = "limit")]
    limit: u64,
    #[serde(default = "max_bytes", deserialize_with = "bytes")]
    max_bytes: u64,
}

fn default_limit() -> u64 {
    10
}

impl Tool for Top {
    const NAME: &'static str = "top";
    const TITLE: &'static str = "Most frequent keys";
    const DESCRIPTION: &'static str = "Most frequent keys of logs, CSV, JSON Lines, …, also compressed, with measures, by \
        hour. paths=access.log, fields=path, where='status == 404'";
    const HAS_PAGES: bool = false;

    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
        if self.paths.is_empty() {
            return Err("paths: name at least one file".to_owned());
        }
        let named = match &self.diff {
            Some(_) => context.roots.inputs_as_given(&self.paths)?,
            None => context.roots.inputs(&self.paths)?,
        };
        let max_bytes = context.max_bytes(self.max_bytes);
        let CountTable { text: table, mut notes, problems } =
            count_files(self.options(context)?, &named, stop)?;
        notes.extend(notes_on(&problems, &[]));
        notes.extend(context.cut_off(stop));
        let text = text(&table, notes, context.limits.max_columns, max_bytes);
        let structured = context.is_structured.then(|| json!({ "text": text }));
        Ok(Answer { text, structured })
    }
}

/// Note on a table that does not fit.
const TOO_LONG: &str = "[the table is longer than an answer; set a lower limit, or raise max_bytes]\n";

/// The table, with its long lines cut, and the notes, in at most `most` bytes.
fn text(table: &[u8], mut notes: Vec<String>, columns: usize, most: usize) -> String {
    fit(&mut notes, most / 2);
    let notes: String = notes.iter().map(|note| format!("[{note}]\n")).collect();
    let mut text = String::new();
    for line in table.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = excerpt(line, 0, columns);
        if text.len() + line.len() + 1 + notes.len() + TOO_LONG.len() > most {
            text.push_str(TOO_LONG);
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text + &notes
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
