//! The tool `find`: `comb find`.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use finecomb_scan::Stop;
use finecomb_sys::units::counted;
use finecomb_text_index::{Error, Index, TextPassage};
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use super::Tool;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{PageWanted, limit};
use crate::mcp::context::{Context, Wanted};
use crate::mcp::cursor::Cursor;
use crate::mcp::excerpt::excerpt;
use crate::mcp::page::{Found, Kind, Page};
use finecomb_command::advice::Advised;

/// Arguments of a call.
#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Find {
    /// access.log.comb
    index: String,
    pattern: String,
    /// Least position
    from: Option<u64>,
    #[serde(default = "default_context")]
    #[schemars(range(max = 10_000))]
    context: u64,
    #[serde(default = "default_limit", deserialize_with = "limit")]
    limit: u64,
    #[serde(flatten)]
    page: PageWanted,
}

fn default_context() -> u64 {
    40
}

fn default_limit() -> u64 {
    20
}

impl Tool for Find {
    const NAME: &'static str = "find";
    const TITLE: &'static str = "Search a text index";
    const DESCRIPTION: &'static str = "Occurrences of a literal string in a text that 'comb index build FILE' has indexed. \
        POSITION:LINE:COLUMN:TEXT, or POSITION:TEXT";

    fn answer(self, context: &Context, stop: &Arc<Stop>) -> Result<Answer, String> {
        let kind = Kind::Lines("occurrences");
        let wanted = Wanted { kind, limit: self.limit, after_context: 0, page: &self.page };
        let (mut page, mut notes) = context.page(&wanted)?;
        let path = context.roots.file(Path::new(&self.index))?;
        let after = self.page.cursor.as_deref().map(Cursor::parse).transpose()?;
        let after = after.map(|cursor| cursor.line.saturating_add(1));
        let search = IndexSearch { find: &self, path: &path, after, columns: context.limits.max_columns };
        let index = Index::open(&path).map_err(|error| error.advised())?;
        let count = search.run(&index, stop, &mut page).map_err(|error| error.advised())?;
        notes.insert(0, format!("{} in all", counted(count, "occurrence")));
        notes.extend(context.cut_off(stop));
        Ok(page.finish(notes, stop.is_raised()))
    }
}

/// A search in an index.
struct IndexSearch<'a> {
    find: &'a Find,
    path: &'a Path,
    /// Position after the previous page.
    after: Option<u64>,
    columns: usize,
}

impl IndexSearch<'_> {
    /// Fills the page, and returns the number of all occurrences.
    fn run(&self, index: &Index, stop: &Stop, page: &mut Page<'_>) -> Result<u64, Error> {
        let pattern = index.pattern(self.find.pattern.as_bytes())?;
        let occurrences = index.occurrences(&pattern)?;
        let first = index.alphabet().first_position();
        let from = self.find.from.into_iter().chain(self.after).fold(first, u64::max);
        for offset in occurrences.positions_from(index.offset(from)?) {
            let passage = index.passage(offset?, pattern.len() as u64, self.find.context.min(10_000))?;
            let (path, line) = (self.path.as_os_str().as_bytes(), passage.position);
            let found = Found { path, line, end: None, is_context: false };
            if stop.is_raised() || page.add(&found, || self.text(&passage)).is_break() {
                break;
            }
        }
        Ok(occurrences.count())
    }

    /// Line, column, and the text of the line around an occurrence.
    fn text(&self, passage: &TextPassage) -> String {
        let TextPassage { place, before, matched, after, .. } = passage;
        let (mut before, mut after) = (&before[..], &after[..]);
        let mut prefix = String::new();
        if let Some(place) = place {
            prefix = format!("{}:{}:", place.line, place.column);
            before = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
            after = after.split(|&byte| byte == b'\n').next().unwrap_or_default();
        }
        let line = [before, matched, after].concat();
        prefix + &excerpt(&line, before.len(), self.columns)
    }
}
