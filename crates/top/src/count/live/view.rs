//! Which keys of a running count are shown, and in which order. A display of the answers may change it.

use finecomb_sys::locks::lock;

use crate::count::live::Live;
use crate::count::table::Table;
use crate::query::options::SortBy;
use crate::query::{CountShape, Order, Query};
use crate::time::bucket;

/// A choice of the shown keys.
#[derive(Clone, Debug)]
pub(crate) struct View {
    by: SortBy,
    /// Shown keys contain this text, in any case of ASCII letters.
    text: String,
    /// The opened row.
    opened: Option<Vec<u8>>,
    /// Number of changes before.
    pub(super) number: u64,
}

impl View {
    pub(super) fn new(by: SortBy) -> Self {
        Self { by, text: String::new(), opened: None, number: 0 }
    }

    pub(super) fn opened(&self) -> Option<&[u8]> {
        self.opened.as_deref()
    }

    pub(super) fn open(&mut self, row: Option<Vec<u8>>) {
        self.opened = row;
        self.number += 1;
    }

    /// Whether a key is one of the shown ones.
    pub(super) fn shows(&self, key: &[u8]) -> bool {
        let text = self.text.as_bytes();
        text.is_empty() || key.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text))
    }

    /// The shown keys of tables, if not all are shown.
    pub(crate) fn restricted(&self, tables: &[&Table], query: &Query) -> Option<Table> {
        let has_buckets = match query.shape() {
            CountShape::Series(_) => true,
            CountShape::Keys(_) => false,
            CountShape::Buckets(_) | CountShape::Pivot(_) | CountShape::Changes => return None,
        };
        let shown = |key: &[u8]| self.shows(if has_buckets { bucket::split(key).1 } else { key });
        let mut kept = tables.first().filter(|_| !self.text.is_empty())?.without_keys();
        tables.iter().for_each(|table| kept.add_all(table, |key| shown(key).then_some(key)));
        Some(kept)
    }
}

impl Live {
    /// The criteria that keys can be sorted by: the count, the measures, and the key or the bucket.
    pub fn sort_criteria(&self) -> Vec<SortBy> {
        let measures = (0..self.query.measure_names.len()).map(SortBy::Measure);
        [SortBy::Count].into_iter().chain(measures).chain([SortBy::Key]).collect()
    }

    /// The criterion that keys are sorted by. That of the query, unless it was changed.
    pub fn sorted_by(&self) -> SortBy {
        lock(&self.view).by
    }

    /// Sorts keys by a criterion from now on. The result of the count is not affected.
    pub fn sort_by(&self, by: SortBy) {
        let mut view = lock(&self.view);
        view.by = by;
        view.number += 1;
    }

    /// Shows only keys that contain a text, in any case of ASCII letters. The result of the count is not affected.
    pub fn show_containing(&self, text: &str) {
        let mut view = lock(&self.view);
        text.clone_into(&mut view.text);
        view.number += 1;
    }

    /// Whether keys can be chosen by their text: buckets have none.
    pub fn has_keys(&self) -> bool {
        matches!(self.query.shape(), CountShape::Keys(_) | CountShape::Series(_))
    }

    pub(crate) fn view(&self) -> View {
        lock(&self.view).clone()
    }

    /// The query with the order of a view. Pairs of buckets and keys cannot be sorted by a measure: only the keys of a series are.
    pub(crate) fn query_of(&self, view: &View) -> Query {
        let by = match (self.query.shape(), view.by) {
            (CountShape::Series(_), SortBy::Measure(_)) => SortBy::Count,
            (_, by) => by,
        };
        Query { order: Order { by, ..self.query.order }, ..self.query.clone() }
    }

    /// Whether rows are the latest buckets, in the order of time.
    pub(super) fn shows_latest(&self, view: &View) -> bool {
        let is_limited = self.query.order.number <= self.number;
        matches!(self.query.shape(), CountShape::Buckets(_)) && view.by == SortBy::Key && !is_limited
    }

    /// The order of the keys that are shown.
    pub(super) fn order(&self, view: &View) -> Order {
        Order {
            by: view.by,
            number: self.query.order.number.min(self.number),
            reverse: self.query.order.reverse || self.shows_latest(view),
            ..self.query.order
        }
    }
}
