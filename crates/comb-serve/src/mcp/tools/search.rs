//! The tool `search`: `comb grep`.

mod ranked;

use std::ops::ControlFlow;
use std::sync::Arc;

use finecomb_grep::{Boundary, GrepOptions, Mode, PatternOptions};
use finecomb_scan::Stop;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{PageWanted, Selection, limit, number, optional_number};
use crate::mcp::context::{Context, Wanted, notes_on_faults};
use crate::mcp::excerpt::excerpt;
use crate::mcp::page::{Found, Kind, Page};
use crate::mcp::sink::{Sink, Split, by_nul, by_path_and_line};
use finecomb_command::grep::job::record_start;

/// Arguments of a call.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Search {
    /// Literal, unless regex
    pattern: String,
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    case: Case,
    #[serde(default)]
    word: bool,
    #[serde(default)]
    multiline: bool,
    /// Records of several lines, which begin with time, without indent, or with this expression
    record: Option<String>,
    #[serde(default)]
    output: Output,
    /// relevance: definitions, words, sources first
    #[serde(default)]
    sort: Sort,
    /// Lines of a file; 0: all
    #[serde(default, deserialize_with = "optional_number")]
    #[schemars(with = "u64")]
    per_file: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    #[schemars(range(max = 100))]
    context: u64,
    #[serde(flatten)]
    selection: Selection,
    #[serde(default = "default_limit", deserialize_with = "limit")]
    limit: u64,
    #[serde(flatten)]
    page: PageWanted,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Case {
    #[default]
    Sensitive,
    Insensitive,
    Smart,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Output {
    #[default]
    Lines,
    Files,
    Count,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Sort {
    #[default]
    Relevance,
    Path,
}

fn default_limit() -> u64 {
    100
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search files";
    const USES_INDEX: bool = true;
    const DESCRIPTION: &'static str = "Lines with a pattern: code, comments, configuration, logs. For names in code, \
        'symbols' is more exact. Skips hidden, ignored and binary files. PATH, then LINE:TEXT, or LINE-TEXT around";

    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
        // The other lines of a record follow its first one as context.
        let after_context = if self.record.is_some() { u64::MAX } else { self.context };
        let wanted = Wanted { kind: self.output.kind(), limit: self.limit, after_context, page: &self.page };
        let (mut page, mut notes) = context.page(&wanted)?;
        if self.sort == Sort::Relevance && self.output != Output::Count && self.record.is_none() {
            return self.answer_by_relevance(context, stop, page, notes);
        }
        let options = self.options()?.max_count(self.most_of_file(0));
        let job = context.grep_job(options, self.selection.inputs(&context.roots)?)?;
        let columns = context.limits.max_columns;
        let mut sink =
            Sink::new(stop, self.output.split(), |record| add(&mut page, self.output, record, columns));
        let searched = job.run(stop, None, &mut sink)?;
        if !stop.is_raised() && job.had_no_files(&searched) {
            notes.push(NOTHING_SEARCHED.to_owned());
        }
        notes.extend(notes_on_faults(searched.faults));
        notes.extend(context.cut_off(stop));
        Ok(self.finish(page, notes, stop))
    }
}

impl Output {
    fn kind(self) -> Kind {
        match self {
            Self::Lines => Kind::Lines("lines"),
            Self::Files => Kind::Paths,
            Self::Count => Kind::Counts,
        }
    }

    fn split(self) -> Split {
        if self == Self::Files { by_nul } else { by_path_and_line }
    }
}

impl Search {
    /// Maximum number of results of a file, if they are lines and it is limited; `default` stands for a number that was not given, and 0 for no limit.
    fn most_of_file(&self, default: u64) -> Option<u64> {
        Some(self.per_file.unwrap_or(default)).filter(|&most| most > 0 && self.output == Output::Lines)
    }

    /// The answer. If there are no results, it has a note on a pattern that looks like a regular expression.
    fn finish(&self, page: Page<'_>, mut notes: Vec<String>, stop: &Stop) -> Answer {
        if !self.regex && page.is_empty() && self.pattern.contains(OF_EXPRESSIONS) {
            notes.push("the pattern is literal text; regex=true makes it a regular expression".to_owned());
        }
        page.finish(notes, stop.is_raised())
    }

    fn options(&self) -> Result<GrepOptions, String> {
        let pattern = PatternOptions::default()
            .patterns([self.pattern.clone()].into())
            .fixed_strings(!self.regex)
            .case(match self.case {
                Case::Sensitive => finecomb_grep::Case::Sensitive,
                Case::Insensitive => finecomb_grep::Case::Insensitive,
                Case::Smart => finecomb_grep::Case::Smart,
            })
            .boundary(self.word.then_some(Boundary::Word))
            .multiline(self.multiline);
        let record = self.record.as_deref().map(record_start).transpose()?;
        let options = GrepOptions::default().pattern(pattern).record(record);
        let options = options.with_filename(true).null_after_path(true);
        let context = usize::try_from(self.context).unwrap_or(usize::MAX);
        Ok(match self.output {
            Output::Files => options.mode(Mode::FilesWithMatches),
            Output::Count => options.mode(Mode::Count),
            Output::Lines => options
                .before_context(context)
                .after_context(context)
                .line_number(true)
                .column(true)
                .field_match_separator(vec![0])
                .field_context_separator(IN_CONTEXT.to_vec())
                .context_separator(None),
        })
    }
}

/// Adds a record of the output of the search to a page.
fn add(page: &mut Page<'_>, output: Output, record: &[u8], columns: usize) -> ControlFlow<()> {
    if output == Output::Count {
        let Some((path, count)) = split_path(record) else { return ControlFlow::Continue(()) };
        let found = Found { path, line: 0, end: None, is_context: false };
        return page.add(&found, || String::from_utf8_lossy(count).into_owned());
    }
    let Some(line) = Line::of(record, output) else { return ControlFlow::Continue(()) };
    page.add(&line.found(), || line.shown(columns))
}

/// Characters that are rare in literal text, and frequent in regular expressions.
const OF_EXPRESSIONS: [char; 8] = ['|', '*', '+', '?', '^', '$', '\\', '['];

/// Note on a search of no files.
const NOTHING_SEARCHED: &str = "no files were searched: paths, globs, types and ignore files exclude all";

/// The path of a record, and the text after it, without the line ending.
fn split_path(record: &[u8]) -> Option<(&[u8], &[u8])> {
    use bstr::ByteSlice;
    let (path, text) = record.split_once_str(b"\0")?;
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    Some((path, text.strip_suffix(b"\r").unwrap_or(text)))
}

/// Separator of the fields of lines of context.
const IN_CONTEXT: &[u8] = b"-\0";

/// A line of the output: `PATH\0LINE\0COLUMN\0TEXT`, without the column if the match is empty. For context, `-` is before the second and
/// third NUL, and only the lines of a record with a match have a column.
#[derive(Debug, PartialEq)]
struct Line<'a> {
    path: &'a [u8],
    number: u64,
    is_context: bool,
    /// Offset of the match in the text.
    column: usize,
    text: &'a [u8],
}

impl<'a> Line<'a> {
    /// The line of a record. Number and text are those of no line if only paths are printed; the notice that a file is binary comes after all
    /// lines.
    fn of(record: &'a [u8], output: Output) -> Option<Self> {
        use bstr::ByteSlice;
        let without_line = |path, number, text| Self { path, number, is_context: false, column: 0, text };
        if output == Output::Files {
            return Some(without_line(record.strip_suffix(b"\0").unwrap_or(record), 0, b""));
        }
        let notice = || {
            let (path, notice) = record.trim_end().rsplit_once_str(b": ")?;
            Some(without_line(path, u64::MAX, notice))
        };
        Self::parse(record).or_else(notice)
    }

    /// Its place.
    fn found(&self) -> Found<'a> {
        let &Self { path, number: line, is_context, .. } = self;
        Found { path, line, end: None, is_context }
    }

    /// Its text, cut around the match if it is long.
    fn shown(&self, columns: usize) -> String {
        let most = if self.number == u64::MAX { usize::MAX } else { columns };
        excerpt(self.text, self.column, most).into_owned()
    }

    fn parse(record: &'a [u8]) -> Option<Self> {
        let (path, rest) = split_path(record)?;
        let (number, rest) = split_number(rest)?;
        let is_context = rest.starts_with(IN_CONTEXT);
        let separator: &[u8] = if is_context { IN_CONTEXT } else { b"\0" };
        let rest = rest.strip_prefix(separator)?;
        let column =
            split_number(rest).and_then(|(column, rest)| Some((column, rest.strip_prefix(separator)?)));
        let (column, text) = column.unwrap_or((1, rest));
        let column = usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1);
        Some(Self { path, number, is_context, column, text })
    }
}

fn split_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_output_are_taken_apart() {
        let line = |record: &'static [u8]| Line::parse(record);
        let expected = Line { path: b"a:b\n", number: 12, is_context: false, column: 2, text: b"3:x: y" };
        assert_eq!(line(b"a:b\n\x0012\x003\x003:x: y\r\n"), Some(expected));
        let expected = Line { path: b"a", number: 1, is_context: false, column: 0, text: b"2:3" };
        assert_eq!(line(b"a\x001\x002:3\n"), Some(expected), "an empty match has no column");
        let expected = Line { path: b"a", number: 1, is_context: true, column: 0, text: b"2:3" };
        assert_eq!(line(b"a\x001-\x002:3"), Some(expected));
        let expected = Line { path: b"a", number: 1, is_context: true, column: 3, text: b"2-3" };
        assert_eq!(line(b"a\x001-\x004-\x002-3"), Some(expected), "a line of a record");
        assert_eq!(line(b"a: binary file matches (found \"\\0\" byte around offset 5)\n"), None);
    }
}
