//! Settings of the server that all calls use.

use finecomb_grep::GrepOptions;
use finecomb_scan::{Inputs, Problem, Stop, Width};

use super::arguments::{PageWanted, Selection};
use super::cursor::Cursor;
use super::indexes::RootIndexes;
use super::page::{Kind, Page, PageOptions};
use super::roots::Roots;
use finecomb_command::advice::{Advised, on_failure};
use finecomb_command::args::threads::Threads;
use finecomb_command::args::tree_index::{IndexHome, IndexUse};
use finecomb_command::faults::Faults;
use finecomb_command::grep::job::GrepJob;
use finecomb_command::mcp::{McpArguments, McpLimits};
use finecomb_command::symbols::options::SymbolOptions;

/// Maximum number of problems in an answer.
const MAX_PROBLEMS: usize = 5;

/// Settings of the server.
pub(super) struct Context {
    pub(super) roots: Roots,
    pub(super) limits: McpLimits,
    pub(super) is_structured: bool,
    pub(super) indexes: RootIndexes,
    width: Width,
    index: IndexUse,
}

/// The page that a call asks for.
pub(super) struct Wanted<'a> {
    pub(super) kind: Kind,
    pub(super) limit: u64,
    pub(super) after_context: u64,
    pub(super) page: &'a PageWanted,
}

impl Context {
    /// Enters the first root.
    ///
    /// # Errors
    /// If a root is not a directory.
    pub(super) fn new(arguments: &McpArguments) -> Result<Self, String> {
        // A relative path of the indexes is one of the directory in which the server was started.
        let index_home = arguments.index_home();
        let roots = Roots::enter(&arguments.roots())?;
        // The others answer meanwhile.
        let threads = (arguments.threads() / 2).max(1);
        let kept = index_home.clone().filter(|_| arguments.uses_indexes());
        Ok(Self {
            indexes: RootIndexes::new(kept, threads, roots.all()),
            roots,
            limits: arguments.limits().clone(),
            is_structured: arguments.structured,
            width: arguments.width(),
            index: IndexUse { index: arguments.index(), home: IndexHome { index_dir: index_home } },
        })
    }

    /// Number of threads of a call.
    pub(super) fn threads(&self) -> Threads {
        Threads { threads: self.width }
    }

    /// A search.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub(super) fn grep_job(&self, options: GrepOptions, inputs: Inputs) -> Result<GrepJob, String> {
        GrepJob::new(options, inputs, self.width, self.index.clone())
    }

    /// Options of a list of definitions in selected files.
    pub(super) fn symbol_options(&self, selection: &Selection) -> SymbolOptions {
        SymbolOptions {
            glob: selection.globs.clone(),
            types: selection.types.clone(),
            hidden: selection.hidden,
            no_ignore: selection.no_ignore,
            threads: self.threads(),
            index: self.index.clone(),
            ..SymbolOptions::default()
        }
    }

    /// An empty page, and a note if results may have moved since the page before.
    ///
    /// # Errors
    /// If the cursor is not one.
    pub(super) fn page(&self, wanted: &Wanted<'_>) -> Result<(Page<'_>, Vec<String>), String> {
        let cursor = wanted.page.cursor.as_deref().map(Cursor::parse).transpose()?;
        let options = PageOptions {
            results: wanted.limit,
            bytes: self.max_bytes(wanted.page.max_bytes),
            after_context: wanted.after_context,
            is_structured: self.is_structured,
        };
        let page = Page::new(wanted.kind, options, &self.roots, cursor.as_ref());
        let moved = cursor.as_ref().and_then(|cursor| cursor.moved(&self.roots));
        Ok((page, moved.into_iter().collect()))
    }

    /// Maximum size of an answer for which a call asks for at most this.
    pub(super) fn max_bytes(&self, wanted: u64) -> usize {
        usize::try_from(wanted).unwrap_or(usize::MAX).min(self.limits.max_output)
    }

    /// The note that a call was cut off, if it was.
    pub(super) fn cut_off(&self, stop: &Stop) -> Option<String> {
        let seconds = self.limits.request_timeout.as_secs_f64();
        stop.is_raised().then(|| {
            format!("timed out after {seconds} s, results are incomplete; narrow paths, globs or types")
        })
    }
}

/// Notes on files that could not be read, and indexes that were not used.
pub(super) fn notes_on_faults(faults: Faults) -> Vec<String> {
    let Faults { problems, failures, missing_indexes, notes } = faults;
    missing_indexes.into_iter().chain(notes_on(&problems, &failures)).chain(notes).collect()
}

/// Notes on files that could not be read.
pub(super) fn notes_on(problems: &[Problem], failures: &[(String, String)]) -> Vec<String> {
    let problems = problems.iter().filter(|problem| !problem.is_harmless()).map(Advised::advised);
    let failures = failures.iter().map(on_failure);
    let mut notes: Vec<String> = problems.chain(failures).collect();
    let more = notes.len().saturating_sub(MAX_PROBLEMS);
    notes.truncate(MAX_PROBLEMS);
    if more > 0 {
        notes.push(format!("and {more} more such problems"));
    }
    notes
}
