//! Indexes of directories in `comb grep` and `comb symbols`.

use std::path::PathBuf;
use std::sync::Arc;

use finecomb_grep::{Outcome, Query};
use finecomb_scan::{Checks, Encoding, Inputs, OrderedOptions, ScanOptions, Snapshots, Width};
use finecomb_tree_index::{Error, Indexes, MAX_FILE, Opened, Sought};

use crate::advice::Advised;
use crate::args::selection::UsageError;
use crate::args::threads;
use crate::args::tree_index::{IndexUse, WhenIndexed};
use crate::index::tree_index::update_quietly;
use crate::message;

/// Expressions that restrict the search to files with a match of one of them; `None` if every file is searched.
pub(crate) fn sought(inputs: &Inputs, scan: &ScanOptions<'_>, query: &Query) -> Option<Sought> {
    // An index knows the files themselves, not the output of a preprocessor or the members of archives.
    if inputs.preprocessor.is_some() || inputs.walk.archives {
        return None;
    }
    let is_utf8 = matches!(inputs.encoding, Encoding::Auto | Encoding::None);
    // A line that is too long is reported in any file.
    let skips_lines = scan.max_line < MAX_FILE;
    let patterns = query.expressions().filter(|_| is_utf8 && !skips_lines)?;
    let sought = Sought::new(patterns).words(query.has_word_borders());
    Some(sought.across_lines(query.may_span_lines()).counts_absent(query.counts_absent()))
}

/// The indexes of a job.
pub(crate) struct Indexed {
    home: PathBuf,
    indexes: Option<Arc<Indexes>>,
    when: WhenIndexed,
    /// Whether to update them after the job.
    is_updated: bool,
    /// Whether errors are shown.
    messages: bool,
    /// Number of threads that open or update an index.
    threads: usize,
}

impl Indexed {
    /// Indexes with which a job looks for `sought`, or lists files if that is `None`.
    ///
    /// # Errors
    /// If there is no place for indexes, and one is required.
    pub(crate) fn new(
        arguments: &IndexUse,
        is_updated: bool,
        messages: bool,
        sought: Option<&Sought>,
        width: Width,
    ) -> Result<Self, UsageError> {
        let (when, home) = (arguments.when()?, Self::home(arguments)?);
        let threads = threads::count(width).get();
        let indexes = home.clone().map(|home| Arc::new(Indexes::new(home, sought, threads)));
        let home = home.unwrap_or_default();
        Ok(Self { home, indexes, when, is_updated, messages, threads })
    }

    /// The directory of the indexes; `None` if they are not used.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn home(arguments: &IndexUse) -> Result<Option<PathBuf>, UsageError> {
        Ok(match arguments.when()? {
            WhenIndexed::Auto => arguments.home.path(),
            WhenIndexed::Never => None,
            WhenIndexed::Require => Some(arguments.home.required().map_err(UsageError)?),
        })
    }

    /// The options of a scan that uses the indexes.
    pub(crate) fn scan<'w>(&self, options: ScanOptions<'w>) -> OrderedOptions<'w> {
        let snapshots = self.indexes.clone().map(|indexes| indexes as Arc<dyn Snapshots>);
        OrderedOptions::from(options).snapshots(snapshots)
    }

    /// Takes the indexes as they were opened.
    pub(crate) fn take_opened(&self) -> Opened {
        self.indexes.as_ref().map(|indexes| indexes.take_opened()).unwrap_or_default()
    }

    /// Updates the indexes if that is wanted, and something has changed or one of them cannot be used. The `checks` of the job show
    /// whether something has changed.
    pub(crate) fn update(&self, opened: &Opened, checks: Option<Checks>) {
        let is_stale = checks.is_none_or(|checks| checks.changed + checks.unknown > 0);
        if !self.is_updated || !is_stale && opened.failures.is_empty() {
            return;
        }
        for root in &opened.roots {
            match update_quietly(&self.home, root, self.threads) {
                // Another process writes it.
                Ok(()) | Err(Error::Busy(_)) => {}
                Err(error) if self.messages => message::error(error),
                Err(_) => {}
            }
        }
    }

    /// The failures in words, if an index is required.
    pub(crate) fn missing(&self, failures: &[Error]) -> Vec<String> {
        let matters = self.when == WhenIndexed::Require;
        failures.iter().filter(|_| matters).map(Advised::advised).collect()
    }

    /// Reports failures if an index is required. Returns whether there were any.
    pub(crate) fn report(&self, failures: &[Error]) -> bool {
        let matters = self.when == WhenIndexed::Require && !failures.is_empty();
        failures.iter().filter(|_| matters && self.messages).map(Advised::advised).for_each(message::error);
        matters
    }
}

/// Reports which indexes were found and what they spared, or why they were not used.
pub(crate) fn explain(opened: &Opened, checks: Option<Checks>) {
    let debug = |text: std::fmt::Arguments<'_>| message::note(format_args!("debug: {text}"));
    for root in &opened.roots {
        debug(format_args!("index of {}", root.display()));
    }
    if opened.is_reduced {
        debug(format_args!("asked the process that watches it; only files that are left are compared"));
    }
    for failure in &opened.failures {
        debug(format_args!("index not used: {}", failure.advised()));
    }
    if let Some(Checks { checked, changed, candidates, unknown, omitted }) = checks {
        debug(format_args!(
            "{checked} files checked, {changed} changed, {candidates} candidates, {unknown} not in it; {omitted} not read"
        ));
    }
}

/// The lines of `--stats` about indexes: what they spared, or why they were not used; none without an index.
pub(crate) fn statistics(outcome: &Outcome, failures: &[Error]) -> String {
    let mut text = String::new();
    if let Some(Checks { checked, changed, candidates, unknown, omitted }) = outcome.checks {
        let read = outcome.files.saturating_sub(omitted);
        text = format!(
            "{checked} files checked against the index\n{changed} files changed since it was built\n\
             {candidates} candidates by the index\n{unknown} files not in the index\n{read} files read\n"
        );
    }
    for failure in failures.iter().filter(|failure| !matches!(failure, Error::Missing(_))) {
        text.push_str(&format!("index not used: {}\n", failure.advised()));
    }
    text
}
