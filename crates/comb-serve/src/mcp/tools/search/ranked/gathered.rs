//! Results that are found before any of them is listed.

use std::ops::ControlFlow;

use crate::mcp::relevance::{Defines, FoundFile, FoundLine, Worth, as_path, defines_macro};
use crate::mcp::tools::search::Line;

/// Limits of the results that are found.
#[derive(Clone, Copy)]
pub(super) struct MostFound {
    pub(super) files: usize,
    pub(super) results: usize,
}

impl MostFound {
    pub(super) const ALL: Self = Self { files: usize::MAX, results: usize::MAX };

    /// Up to which all may be found before any is listed.
    pub(super) const SORTABLE: Self = Self { results: 20_000, ..Self::ALL };
}

/// Results that were found.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) files: Vec<FoundFile>,
    pub(super) results: usize,
    /// Set if there are more.
    pub(super) is_full: bool,
    /// Set if no files were searched.
    pub(super) had_no_files: bool,
}

/// A line with its worth for a name, if there is one.
pub(super) fn found_line(line: &Line<'_>, name: &[u8], columns: usize) -> FoundLine {
    let mut worth = if name.is_empty() { Worth::default() } else { Worth::of(line.text, name) };
    if worth.is_word && defines_macro(as_path(line.path), line.text, name) {
        worth.defines = Defines::Name;
    }
    FoundLine { number: line.number, is_context: line.is_context, text: line.shown(columns), worth }
}

impl Gathered {
    /// Adds results of other files.
    pub(super) fn add_all(&mut self, others: Self) {
        self.files.extend(others.files);
        self.results += others.results;
        self.is_full |= others.is_full || self.results > MostFound::SORTABLE.results;
        self.had_no_files &= others.had_no_files;
    }

    pub(super) fn add(&mut self, path: &[u8], line: FoundLine, most: MostFound) -> ControlFlow<()> {
        let is_new_file = self.files.last().is_none_or(|file| file.path != path);
        if is_new_file && self.files.len() == most.files || !line.is_context && self.results == most.results {
            self.is_full = true;
            return ControlFlow::Break(());
        }
        if is_new_file {
            self.files.push(FoundFile { path: path.to_owned(), lines: Vec::new(), is_cut: false });
        }
        self.results += usize::from(!line.is_context);
        if let Some(file) = self.files.last_mut() {
            file.lines.push(line);
        }
        ControlFlow::Continue(())
    }
}
