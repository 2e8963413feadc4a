//! The tool `read`: lines of a file, or the definition around a line.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use finecomb_scan::Stop;
use finecomb_symbols::ScopeParser;
use finecomb_sys::io_reason;
use finecomb_sys::units::counted;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{PageWanted, limit, optional_line};
use crate::mcp::context::{Context, Wanted};
use crate::mcp::excerpt::excerpt;
use crate::mcp::page::{Found, Kind, Page};

/// Maximum number of bytes of a line that are read into memory; the rest is skipped.
const MAX_LINE: usize = 1 << 16;

/// Arguments of a call.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Read {
    path: String,
    #[serde(default = "first_line", deserialize_with = "limit")]
    from: u64,
    #[serde(default, deserialize_with = "optional_line")]
    to: Option<u64>,
    /// Line: the innermost definition around it
    #[serde(default, deserialize_with = "optional_line")]
    around: Option<u64>,
    #[serde(flatten)]
    page: PageWanted,
}

fn first_line() -> u64 {
    1
}

impl Tool for Read {
    const NAME: &'static str = "read";
    const TITLE: &'static str = "Read lines";
    const DESCRIPTION: &'static str = "Lines of a file, or the definition around a line, as LINE:TEXT";

    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
        let wanted =
            Wanted { kind: Kind::Lines("lines"), limit: u64::MAX, after_context: 0, page: &self.page };
        let (mut page, mut notes) = context.page(&wanted)?;
        let path = context.roots.file(Path::new(&self.path))?;
        let (from, to) = match self.around {
            Some(line) => definition_around(&path, line, stop)?,
            None => (self.from, self.to.unwrap_or(u64::MAX)),
        };
        if from > to {
            return Err(format!("from={from} is after to={to}"));
        }
        let lines = Lines { path: &path, from, to, columns: context.limits.max_columns };
        let number = lines.add_to(&mut page, stop).map_err(|error| failed(&path, io_reason(&error)))?;
        if number < from {
            notes.push(format!("the file has {}", counted(number, "line")));
        }
        notes.extend(context.cut_off(stop));
        Ok(page.finish(notes, stop.is_raised()))
    }
}

/// Lines of a file.
struct Lines<'a> {
    path: &'a Path,
    from: u64,
    to: u64,
    columns: usize,
}

impl Lines<'_> {
    /// Adds the lines to a page. Returns the number of the last line that was read.
    fn add_to(&self, page: &mut Page<'_>, stop: &Stop) -> io::Result<u64> {
        let mut reader = BufReader::new(File::open(self.path)?);
        if reader.fill_buf()?.contains(&0) {
            return Err(io::Error::other("binary file"));
        }
        let path = self.path.as_os_str().as_bytes();
        let (mut number, mut line) = (0, Vec::new());
        while number < self.to && !stop.is_raised() && read_line(&mut reader, &mut line)? {
            number += 1;
            if number < self.from {
                continue;
            }
            let found = Found { path, line: number, end: None, is_context: false };
            if page.add(&found, || excerpt(&line, 0, self.columns).into_owned()).is_break() {
                break;
            }
        }
        Ok(number)
    }
}

/// Reads the beginning of the next line, without its end. Returns `false` at the end of the file.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut is_there = false;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        is_there = true;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        line.extend_from_slice(&part[..part.len().min(MAX_LINE - line.len())]);
        let length = part.len() + usize::from(end.is_some());
        reader.consume(length);
        if end.is_some() {
            break;
        }
    }
    line.pop_if(|byte| *byte == b'\r');
    Ok(is_there)
}

/// The first and the last line of the innermost definition around a line.
fn definition_around(path: &Path, line: u64, stop: &Arc<Stop>) -> Result<(u64, u64), String> {
    let size = fs::metadata(path).map_err(|error| failed(path, io_reason(&error)))?.len();
    if size > ScopeParser::SIZE_LIMIT as u64 {
        return Err(failed(path, "too large to be parsed; give from and to"));
    }
    let text = fs::read(path).map_err(|error| failed(path, io_reason(&error)))?;
    let scopes =
        ScopeParser::until(Arc::clone(stop)).scopes(path, &text).map_err(|error| failed(path, error))?;
    let ends: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'\n').collect();
    let line_of = |offset: usize| ends.partition_point(|&end| end < offset) as u64 + 1;
    let extents = scopes.iter().map(|scope| {
        let last = scope.extent.end.saturating_sub(1).max(scope.extent.start);
        (line_of(scope.extent.start), line_of(last))
    });
    let around = extents.filter(|&(first, last)| (first..=last).contains(&line));
    let innermost = around.min_by_key(|&(first, last)| last - first);
    innermost.ok_or_else(|| failed(path, format!("line {line} is in no definition")))
}

fn failed(path: &Path, reason: impl Display) -> String {
    format!("{}: {reason}", path.display())
}
