//! A page of results: the results after a cursor, up to a limit, and whether there are more.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::answer::Answer;
use super::cursor::Cursor;
use super::roots::{PathKey, Roots};

/// Bytes of a result in addition to its text: the line number and its separators.
const OVERHEAD: usize = 8;

/// Limits and form of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageOptions {
    /// Maximum number of results, not counting context.
    pub(super) results: u64,
    /// Maximum number of bytes of the text, with its notes.
    pub(super) bytes: usize,
    /// Number of lines after a result that belong to it.
    pub(super) after_context: u64,
    /// Whether the answer is also JSON.
    pub(super) is_structured: bool,
}

/// Kind of results, which decides how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Lines below the paths of their files; the noun for several.
    Lines(&'static str),
    /// Paths of files.
    Paths,
    /// Paths of files, and a number for each.
    Counts,
}

/// A result.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// Path of the file, as results show it.
    pub(super) path: &'a [u8],
    /// Line number, or another position in the file.
    pub(super) line: u64,
    /// Last line, if there are several.
    pub(super) end: Option<u64>,
    /// Whether it is not a result itself, but a line around one.
    pub(super) is_context: bool,
}

#[derive(Debug)]
struct PageEntry {
    path: usize,
    line: u64,
    end: Option<u64>,
    is_context: bool,
    tier: usize,
    /// Number of results so far in this line, also on pages before.
    in_line: u64,
    text: String,
}

/// Results in the order of their places, up to the limits.
pub(super) struct Page<'r> {
    kind: Kind,
    options: PageOptions,
    roots: &'r Roots,
    /// The end of the page before, until it is passed.
    after: Option<PageBefore>,
    paths: Vec<PathBuf>,
    entries: Vec<PageEntry>,
    bytes: usize,
    results: u64,
    /// Number of results so far in the line of the last one, also on pages before.
    in_line: u64,
    /// Number of times that the order of places has begun again.
    tier: usize,
    /// Set once a line has no room.
    is_full: bool,
    /// Summary of all results, also of those that are not on it.
    digest: Option<String>,
}

/// The end of the page before.
struct PageBefore {
    key: PathKey,
    line: u64,
    count: u64,
    tier: usize,
    /// Path of the last result that was compared, and how its place in the order is to that of the end.
    compared: Option<(Vec<u8>, Ordering)>,
}

impl PageBefore {
    fn new(roots: &Roots, cursor: &Cursor) -> Self {
        let &Cursor { line, count, tier, .. } = cursor;
        Self { key: roots.key(&cursor.path), line, count, tier, compared: None }
    }

    /// The place of a result in the order, compared with the end of the page before.
    fn compare(&mut self, roots: &Roots, found: &Found<'_>, tier: usize) -> Ordering {
        let order = match &self.compared {
            Some((path, order)) if path == found.path => *order,
            _ => {
                let order = roots.key(as_path(found.path)).cmp(&self.key);
                self.compared = Some((found.path.to_vec(), order));
                order
            }
        };
        tier.cmp(&self.tier).then(order).then(found.line.cmp(&self.line))
    }
}

impl<'r> Page<'r> {
    /// A page that begins after a cursor.
    pub(super) fn new(kind: Kind, options: PageOptions, roots: &'r Roots, cursor: Option<&Cursor>) -> Self {
        let after = cursor.map(|cursor| PageBefore::new(roots, cursor));
        let (paths, entries) = Default::default();
        Self {
            kind,
            options,
            roots,
            after,
            paths,
            entries,
            bytes: 0,
            results: 0,
            in_line: 0,
            tier: 0,
            is_full: false,
            digest: None,
        }
    }

    /// Takes all results: those of pages before are left out by the caller.
    pub(super) fn forget_before(&mut self) {
        self.after = None;
    }

    /// Begins again, before the first result.
    pub(super) fn clear(&mut self) {
        self.paths.clear();
        self.entries.clear();
        (self.bytes, self.results, self.in_line, self.tier, self.is_full) = (0, 0, 0, 0, false);
    }

    /// Whether it has no results.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a result had no room, so that no more are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Gives a summary of all results, which comes before them if they are not all on the page.
    pub(super) fn set_digest(&mut self, digest: Option<String>) {
        self.digest = digest;
    }

    /// Says how many times the order of places has begun again before the next results.
    pub(super) fn set_tier(&mut self, tier: usize) {
        self.tier = tier;
    }

    /// Adds the next result, with its text. Breaks if it has no room: no more are wanted.
    pub(super) fn add(&mut self, found: &Found<'_>, text: impl FnOnce() -> String) -> ControlFlow<()> {
        if self.is_before(found) {
            return ControlFlow::Continue(());
        }
        if self.has_room(found) {
            let text = text();
            if self.entries.is_empty() || self.bytes + self.size(found, &text) <= self.options.bytes {
                self.push(found, text);
                return ControlFlow::Continue(());
            }
        }
        self.is_full = true;
        ControlFlow::Break(())
    }

    /// Whether a result is one of the pages before.
    fn is_before(&mut self, found: &Found<'_>) -> bool {
        let Some(after) = &mut self.after else { return false };
        match after.compare(self.roots, found, self.tier) {
            Ordering::Less => return true,
            Ordering::Equal if self.in_line < after.count => {
                self.in_line += 1;
                return true;
            }
            Ordering::Equal => {}
            Ordering::Greater => self.in_line = 0,
        }
        self.after = None;
        false
    }

    /// Whether the number of results allows for another one.
    fn has_room(&self, found: &Found<'_>) -> bool {
        if self.results < self.options.results {
            return true;
        }
        // Lines after the last result belong to it.
        let last = self.entries.iter().rev().find(|entry| !entry.is_context);
        found.is_context
            && last.is_some_and(|last| {
                let is_same = self.paths[last.path].as_os_str().as_bytes() == found.path;
                is_same && found.line <= last.line.saturating_add(self.options.after_context)
            })
    }

    fn is_new_path(&self, found: &Found<'_>) -> bool {
        self.paths.last().is_none_or(|path| path.as_os_str().as_bytes() != found.path)
    }

    fn size(&self, found: &Found<'_>, text: &str) -> usize {
        let path = if self.is_new_path(found) { found.path.len() } else { 0 };
        path + text.len() + OVERHEAD
    }

    fn push(&mut self, found: &Found<'_>, text: String) {
        self.bytes += self.size(found, &text);
        // The first one continues the line of the page before, if it is in that.
        let is_same_line = self.entries.last().is_none_or(|last| {
            let is_same_path = !self.is_new_path(found);
            is_same_path && last.line == found.line && last.tier == self.tier
        });
        self.in_line = if is_same_line { self.in_line + 1 } else { 1 };
        if self.is_new_path(found) {
            self.paths.push(as_path(found.path).to_owned());
        }
        self.results += u64::from(!found.is_context);
        let &Found { line, end, is_context, .. } = found;
        let (path, tier) = (self.paths.len() - 1, self.tier);
        self.entries.push(PageEntry { path, line, end, is_context, tier, in_line: self.in_line, text });
    }

    /// The answer, with `notes` after the results. If the search was cut off, there may be more results. Results that do not fit beside the notes
    /// are left for the next page.
    pub(super) fn finish(mut self, mut notes: Vec<String>, is_cut: bool) -> Answer {
        fit(&mut notes, self.options.bytes / 2);
        loop {
            let cursor = self.cursor(is_cut).map(|cursor| cursor.to_string());
            let all = self.with_first_note(&notes, cursor.as_deref(), is_cut);
            let digest = self.digest.as_ref().filter(|_| self.is_full);
            let mut text = digest.map_or_else(String::new, |digest| format!("[{digest}]\n"));
            self.write(&mut text);
            for note in &all {
                let _ = writeln!(text, "[{note}]");
            }
            if text.len() > self.options.bytes && self.entries.pop().is_some() {
                self.is_full = true;
                continue;
            }
            // A tree of JSON values takes longer than the text, so it is only made if it is wanted.
            let notes = || digest.into_iter().chain(&all).cloned().collect::<Vec<_>>();
            let structured = self.options.is_structured.then(|| self.structured(cursor, &notes()));
            return Answer { text, structured };
        }
    }

    /// The notes, and before them whether there are more results.
    fn with_first_note(&self, notes: &[String], cursor: Option<&str>, is_cut: bool) -> Vec<String> {
        let results = match self.kind {
            Kind::Lines(noun) => noun,
            Kind::Paths | Kind::Counts => "files",
        };
        let first = match cursor {
            Some(cursor) if self.is_full => Some(format!("more {results}; next page: cursor=\"{cursor}\"")),
            Some(cursor) => Some(format!("there may be more {results}; next page: cursor=\"{cursor}\"")),
            None if self.is_full => {
                Some(format!("more {results}, but the next does not fit: raise max_bytes"))
            }
            None if self.entries.is_empty() && !is_cut => Some("no results".to_owned()),
            None => None,
        };
        first.into_iter().chain(notes.iter().cloned()).collect()
    }

    /// The place of the last result, if there are more after it.
    fn cursor(&self, is_cut: bool) -> Option<Cursor> {
        let last = self.entries.last().filter(|_| self.is_full || is_cut)?;
        Some(Cursor::new(self.paths[last.path].clone(), last.line, last.in_line, last.tier))
    }

    /// Writes the results.
    fn write(&self, text: &mut String) {
        text.reserve(self.bytes + self.entries.len() * OVERHEAD);
        let mut shown = None;
        for entry in &self.entries {
            let path = self.paths[entry.path].to_string_lossy();
            // Writing to memory does not fail.
            let _ = match self.kind {
                Kind::Paths => writeln!(text, "{path}"),
                Kind::Counts => writeln!(text, "{path}:{}", entry.text),
                Kind::Lines(_) => {
                    if shown.replace(entry.path) != Some(entry.path) {
                        let _ = writeln!(text, "{path}");
                    }
                    entry.write(text)
                }
            };
        }
    }

    fn structured(&self, cursor: Option<String>, notes: &[String]) -> Value {
        let results: Vec<Value> = self.entries.iter().map(|entry| self.entry_as_json(entry)).collect();
        json!({ "results": results, "cursor": cursor, "notes": notes })
    }

    fn entry_as_json(&self, entry: &PageEntry) -> Value {
        let mut object = JsonObject::new();
        object.insert("path".to_owned(), self.paths[entry.path].to_string_lossy().into());
        match self.kind {
            Kind::Paths => {}
            Kind::Counts => {
                object.insert("count".to_owned(), entry.text.parse::<u64>().unwrap_or_default().into());
            }
            Kind::Lines(_) => {
                if entry.line != u64::MAX {
                    object.insert("line".to_owned(), entry.line.into());
                }
                if let Some(end) = entry.end {
                    object.insert("end_line".to_owned(), end.into());
                }
                if entry.is_context {
                    object.insert("context".to_owned(), true.into());
                }
                object.insert("text".to_owned(), entry.text.as_str().into());
            }
        }
        object.into()
    }
}

impl PageEntry {
    /// Writes the line number and the text.
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let Self { line, text, .. } = self;
        match self.end {
            _ if *line == u64::MAX => writeln!(out, "{text}"),
            Some(end) => writeln!(out, "{line}-{end}:{text}"),
            None if self.is_context => writeln!(out, "{line}-{text}"),
            None => writeln!(out, "{line}:{text}"),
        }
    }
}

/// Shortens notes to a number of bytes in all: the last ones are left out, and the one before them is cut.
pub(super) fn fit(notes: &mut Vec<String>, bytes: usize) {
    let mut left = bytes;
    notes.retain_mut(|note| {
        let size = note.len() + OVERHEAD;
        if size > left {
            note.truncate(note.floor_char_boundary(left.saturating_sub(OVERHEAD)));
            note.push('…');
        }
        let is_kept = left > OVERHEAD;
        left = left.saturating_sub(size);
        is_kept
    });
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
