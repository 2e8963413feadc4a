//! Prints each line as a JSON message, in ripgrep's schema, which editors and scripts parse.

use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use finecomb_scan::{Omitted, Output};
use grep_printer::Stats;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::{Matches, Tally};
use crate::any_matcher::AnyMatcher;
use crate::enclosing::{Around, Enclosing};
use crate::file_state::{Line, Sink};
use crate::find::{Finder, without_terminator};
use crate::options::GrepOptions;
use crate::which::Which;

#[derive(Serialize)]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
enum Message<'a> {
    Begin { path: Data<'a> },
    Match(Lines<'a>),
    Context(Lines<'a>),
    End { path: Data<'a>, binary_offset: Option<u64>, stats: &'a Stats },
}

#[derive(Serialize)]
struct Lines<'a> {
    path: Data<'a>,
    lines: Data<'a>,
    line_number: Option<u64>,
    absolute_offset: u64,
    submatches: Vec<SubMatch<'a>>,
    /// Only in matches, and if definitions are printed: the definition around the match, or `null`. ripgrep has no such member.
    #[serde(skip_serializing_if = "Option::is_none")]
    enclosing: Option<Option<Definition<'a>>>,
}

/// A definition in a message.
#[derive(Serialize)]
pub(crate) struct Definition<'a> {
    kind: &'static str,
    name: &'a str,
    scope: Option<&'a str>,
    line: u64,
    end_line: u64,
    lines: Data<'a>,
}

impl<'a> From<Around<'a>> for Definition<'a> {
    fn from(Around { scope, line, end_line, bytes }: Around<'a>) -> Self {
        let (kind, name, scope) = (scope.kind, &*scope.name, scope.scope.as_deref());
        Self { kind, name, scope, line, end_line, lines: Data(bytes) }
    }
}

#[derive(Serialize)]
struct SubMatch<'a> {
    #[serde(rename = "match")]
    matched: Data<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<Data<'a>>,
    start: usize,
    end: usize,
    /// The pattern, if it is printed; `null` if it is not known. ripgrep has no such member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pattern: Option<Option<Data<'a>>>,
}

/// Bytes, serialized as `text` if they are UTF-8, or as `bytes` in base64.
#[derive(Clone, Copy)]
struct Data<'a>(&'a [u8]);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "lowercase")]
        enum Encoded<'a> {
            Text(&'a str),
            Bytes(String),
        }
        match std::str::from_utf8(self.0) {
            Ok(text) => Encoded::Text(text).serialize(serializer),
            Err(_) => Encoded::Bytes(STANDARD.encode(self.0)).serialize(serializer),
        }
    }
}

fn write(message: &Message<'_>, out: &mut Vec<u8>) {
    // Writing to memory cannot fail, and every message is valid JSON.
    let _ = serde_json::to_writer(&mut *out, message);
    out.push(b'\n');
}

/// Sink that prints the lines of a file or block as messages.
pub(crate) struct Printer<'a, 'o> {
    pub(crate) options: &'a GrepOptions,
    /// Names the pattern of a match, if that is printed.
    pub(crate) which: Option<&'a Which>,
    pub(crate) finder: &'a Finder<AnyMatcher>,
    pub(crate) matches: &'a mut Matches,
    pub(crate) path: &'a Path,
    /// Whether the `begin` message of the file has been printed.
    pub(crate) begun: bool,
    /// Whether the next message begins a result.
    pub(crate) begins_result: bool,
    /// Definitions of the file, if it has any that are printed.
    pub(crate) enclosing: Option<Enclosing<'a>>,
    pub(crate) tally: &'a mut Tally,
    pub(crate) out: &'a mut Output<'o>,
}

impl Sink for Printer<'_, '_> {
    fn wants_numbers(&self) -> bool {
        self.options.line_number || self.enclosing.is_some()
    }

    fn begin_match(&mut self) {
        self.begins_result = true;
    }

    fn matched(&mut self, line: Line<'_>) {
        self.find(line);
        self.tally.lines += self.finder.lines_in(line.bytes);
        self.tally.matches += self.matches.found.len() as u64;
        self.print(line, false);
    }

    fn context(&mut self, line: Line<'_>) {
        self.matches.clear();
        if self.options.invert {
            // ripgrep searches such a line by itself, without the lines before it.
            self.find(line.by_itself());
        }
        self.print(line, true);
    }

    fn gap(&mut self) {}
}

impl Printer<'_, '_> {
    fn find(&mut self, line: Line<'_>) {
        let GrepOptions { invert, max_count, replace, .. } = self.options;
        if self.finder.spans_lines() && *invert && max_count.is_some() {
            // After the last match that counts, a line may hold the beginning of a match that ends in a later line.
            return self.matches.clear();
        }
        self.matches.find(self.finder, line);
        if let Some(replacement) = replace {
            self.matches.replace(self.finder, line, replacement);
        }
    }

    fn print(&mut self, line: Line<'_>, is_context: bool) {
        let path = Data(self.path.as_os_str().as_encoded_bytes());
        if !std::mem::replace(&mut self.begun, true) {
            write(&Message::Begin { path }, self.out.bytes());
        }
        if std::mem::take(&mut self.begins_result) {
            self.out.begin_result();
        }
        let replacements = self.matches.replacement();
        let text = match self.finder.matches_across_lines() {
            true => line.bytes,
            false => without_terminator(line.bytes, self.finder.terminator()),
        };
        let submatches = self.matches.found.iter().enumerate().map(|(number, found)| SubMatch {
            matched: Data(&line.bytes[found.start()..found.end()]),
            replacement: replacements.and_then(|(text, places)| {
                places.get(number).map(|place| Data(&text[place.start()..place.end()]))
            }),
            start: found.start(),
            end: found.end(),
            pattern: self.which.map(|which| which.of(text, *found).map(|pattern| Data(pattern.as_bytes()))),
        });
        let wants_definition = !is_context && self.options.enclosing.is_some();
        let enclosing = wants_definition.then(|| {
            let enclosing = self.enclosing.as_mut()?;
            let around = enclosing.around(enclosing.line_at(line.start), line.number)?;
            Some(Definition::from(around))
        });
        let lines = Lines {
            path,
            lines: Data(line.bytes),
            line_number: self.options.line_number.then_some(line.number),
            absolute_offset: line.offset,
            submatches: submatches.collect(),
            enclosing,
        };
        let message = if is_context { Message::Context(lines) } else { Message::Match(lines) };
        write(&message, self.out.bytes());
        self.out.flush_if_full();
    }
}

/// Writes the `end` message of a file.
pub(crate) fn end(path: &Path, binary_offset: Option<u64>, stats: &Stats, out: &mut Vec<u8>) {
    write(&Message::End { path: Data(path.as_os_str().as_encoded_bytes()), binary_offset, stats }, out);
}

/// Returns the `summary` message, which ends the output. ripgrep has no member `omitted`.
pub(crate) fn summary(stats: &Stats, elapsed: Duration, omitted: Option<Omitted>) -> Vec<u8> {
    let mut message = json!({
        "type": "summary",
        "data": {
            "elapsed_total": {
                "human": format!("{:0.6}s", elapsed.as_secs_f64()),
                "nanos": elapsed.subsec_nanos(),
                "secs": elapsed.as_secs(),
            },
            "stats": stats,
        },
    });
    if let Some(Omitted { results, files }) = omitted {
        message["data"]["omitted"] = json!({ "results": results, "files": files });
    }
    format!("{message}\n").into_bytes()
}
