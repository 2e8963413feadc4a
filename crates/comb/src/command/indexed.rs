//! Indexes of directories in a search.

use std::sync::Arc;

use finecomb_grep::{Outcome, Query};
use finecomb_scan::{Checks, Encoding, ScanOptions, Snapshots};
use finecomb_tree_index::{Error, Indexes, MAX_FILE, Sought};

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

    /// Takes the reasons why named directories have no index that can be used.
    pub(super) fn take_failures(&self) -> Vec<Error> {
        self.indexes.as_ref().map(|indexes| indexes.take_failures()).unwrap_or_default()
    }

    /// Reports failures if an index is required. Returns whether there were any.
    pub(super) fn report(&self, failures: &[Error], messages: bool) -> bool {
        let matters = self.when == WhenIndexed::Require && !failures.is_empty();
        failures.iter().filter(|_| matters && messages).for_each(message::error);
        matters
    }
}

/// The lines of `--stats` about indexes: what they spared, or why they were not used; none without an index.
pub(super) fn statistics(outcome: &Outcome, failures: &[Error]) -> String {
    let mut text = String::new();
    if let Some(Checks { checked, changed, candidates, unknown, omitted }) = outcome.checks {
        let read = outcome.files.saturating_sub(omitted);
        text = format!(
            "{checked} files checked against the index\n{changed} files changed since it was built\n\
             {candidates} candidates by the index\n{unknown} files not in the index\n{read} files read\n"
        );
    }
    for failure in failures.iter().filter(|failure| !matches!(failure, Error::Missing(_))) {
        text.push_str(&format!("index not used: {failure}\n"));
    }
    text
}
