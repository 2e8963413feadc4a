//! Prints each line as a record.

use finecomb_scan::Output;

use super::{Matches, Tally};
use crate::any_matcher::AnyMatcher;
use crate::file_state::{Line, Sink};
use crate::find::{Finder, without_terminator};
use crate::options::GrepOptions;
use crate::records::{put_path, put_text};

/// Sink that prints the lines of a file or block as records.
pub(crate) struct Printer<'a, 'o> {
    pub(crate) options: &'a GrepOptions,
    pub(crate) finder: &'a Finder<AnyMatcher>,
    pub(crate) matches: &'a mut Matches,
    /// The path of the file, until it is printed.
    pub(crate) path: Option<&'a [u8]>,
    /// Whether the next record begins a result.
    pub(crate) begins_result: bool,
    pub(crate) tally: &'a mut Tally,
    pub(crate) out: &'a mut Output<'o>,
}

impl Sink for Printer<'_, '_> {
    fn wants_numbers(&self) -> bool {
        self.options.line_number
    }

    fn begin_match(&mut self) {
        self.begins_result = true;
    }

    fn matched(&mut self, line: Line<'_>) {
        self.matches.clear();
        if !self.options.invert {
            self.matches.find(self.finder, line);
        }
        self.tally.lines += self.finder.lines_in(line.bytes);
        self.tally.matches += self.matches.found.len() as u64;
        self.print(line, false);
    }

    fn context(&mut self, line: Line<'_>) {
        self.print(line, true);
    }

    fn gap(&mut self) {}
}

impl Printer<'_, '_> {
    fn print(&mut self, line: Line<'_>, is_context: bool) {
        if std::mem::take(&mut self.begins_result) {
            self.out.begin_result();
        }
        if let Some(path) = self.path.take() {
            put_path(path, self.out.bytes());
        }
        let number = if self.options.line_number { line.number } else { 0 };
        let text = without_terminator(line.bytes, self.finder.terminator());
        let matches = (!is_context).then_some(&*self.matches.found);
        put_text((number, line.offset), text, matches, self.out.bytes());
        self.out.flush_if_full();
    }
}
