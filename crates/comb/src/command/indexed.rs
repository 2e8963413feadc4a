//! Indexes of directories in a search.

use std::sync::Arc;

use finecomb_grep::{Outcome, Query};
use finecomb_scan::{Checks, Encoding, ScanOptions, Snapshots};
use finecomb_tree_index::{Error, Indexes, MAX_FILE, Sought, Use};

use crate::args::grep::{Arguments, UsageError};
use crate::args::tree_index::WhenIndexed;
use crate::message;

/// Expressions of which a file must hold a match to be searched; `None` if every file is searched.
pub(super) fn sought(arguments: &Arguments, query: &Query) -> Option<Sought> {
    let is_utf8 = matches!(arguments.encoding(), Encoding::Auto | Encoding::None);
    // A line that is too long is reported in any file.
    let skips_lines = arguments.scan().max_line < MAX_FILE;
    let patterns = query.expressions().filter(|_| is_utf8 && !skips_lines)?;
    Some(Sought { patterns, words: query.has_word_borders(), across_lines: query.may_span_lines() })
}

/// The indexes of a search.
pub(super) struct Indexed {
    indexes: Option<Arc<Indexes>>,
    when: WhenIndexed,
}

impl Indexed {
    pub(super) fn new(arguments: &Arguments, sought: Option<&Sought>) -> Result<Self, UsageError> {
        let when = arguments.index().when()?;
        let home = match when {
            WhenIndexed::Auto => arguments.index().home.path(),
            WhenIndexed::Never => None,
            WhenIndexed::Require => Some(arguments.index().home.required().map_err(UsageError)?),
        };
        Ok(Self { indexes: home.map(|home| Arc::new(Indexes::new(home, sought))), when })
    }

    /// The options of a scan that uses the indexes.
    pub(super) fn scan(&self, arguments: &Arguments) -> ScanOptions<'static> {
        let snapshots = self.indexes.clone().map(|indexes| indexes as Arc<dyn Snapshots>);
        ScanOptions { snapshots, ..arguments.scan() }
    }

    /// The indexes that were used, and why others were not.
    pub(super) fn uses(&self) -> Vec<Use> {
        self.indexes.as_ref().map(|indexes| indexes.uses()).unwrap_or_default()
    }

    /// Reports directories without a usable index if one is required. Returns whether there were any.
    pub(super) fn report(&self, uses: &[Use], messages: bool) -> bool {
        let failures = uses.iter().filter_map(|tree| tree.root.as_ref().err());
        let mut failures = failures.filter(|_| self.when == WhenIndexed::Require).peekable();
        let any = failures.peek().is_some();
        failures.filter(|_| messages).for_each(message::error);
        any
    }
}

/// The lines of `--stats` about indexes: what they spared, or why they were not used; none without an index.
pub(super) fn statistics(outcome: &Outcome, uses: &[Use]) -> String {
    let mut text = String::new();
    if let Some(Checks { checked, changed, candidates, unknown, omitted }) = outcome.checks {
        let read = outcome.files.saturating_sub(omitted);
        text = format!(
            "{checked} files checked against the index\n{changed} files changed since it was built\n\
             {candidates} candidates by the index\n{unknown} files not in the index\n{read} files read\n"
        );
    }
    for failure in uses.iter().filter_map(|tree| tree.root.as_ref().err()) {
        if !matches!(failure, Error::Missing(_)) {
            text.push_str(&format!("index not used: {failure}\n"));
        }
    }
    text
}
