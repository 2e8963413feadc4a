//! Changes keys: replaces parts that vary, applies edits, and folds case.
//!
//! Edited keys are not cached: most keys of a log are new, as a time of day is, and an edit is cheap.

use std::mem;

use crate::key::edit::EditCache;
use crate::key::keys::Keys;
use crate::key::lower_case::append_lower_case;
use crate::query::Query;

/// Changes keys as a query says. Its buffers are reused.
pub(crate) struct Editor<'q> {
    query: &'q Query,
    edits: Vec<EditCache>,
    /// Buffers for the key before and after a change.
    buffers: [Vec<u8>; 2],
}

/// A change of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Parts that vary are replaced by placeholders.
    Normalize,
    /// The edit with this index.
    Edit(usize),
    /// Upper case becomes lower case.
    LowerCase,
}

impl<'q> Editor<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Self {
            query,
            edits: query.edits.iter().map(|edit| edit.cache()).collect(),
            buffers: Default::default(),
        }
    }

    /// Whether keys are not changed at all.
    pub(crate) fn is_idle(&self) -> bool {
        self.changes().next().is_none()
    }

    /// The changes in their order.
    fn changes(&self) -> impl Iterator<Item = Change> + use<> {
        let normalize = self.query.normalizer.is_some().then_some(Change::Normalize);
        let edits = (0..self.edits.len()).map(Change::Edit);
        let fold = self.query.ignore_case.then_some(Change::LowerCase);
        normalize.into_iter().chain(edits).chain(fold)
    }

    /// Changes all keys of a block.
    pub(crate) fn change_all(&mut self, block: &[u8], keys: &mut Keys) {
        keys.replace(block, |key, out| {
            let last = self.change_one(key, |_, _, _| {});
            out.extend_from_slice(&last);
            self.buffers[0] = last;
        });
    }

    /// Changes a key. `on_change` is called with each change and the key before and after it.
    pub(crate) fn change_one(
        &mut self,
        key: &[u8],
        mut on_change: impl FnMut(Change, &[u8], &[u8]),
    ) -> Vec<u8> {
        let [mut before, mut after] = mem::take(&mut self.buffers);
        before.clear();
        before.extend_from_slice(key);
        for change in self.changes() {
            after.clear();
            match (change, &self.query.normalizer) {
                (Change::Edit(number), _) => {
                    self.query.edits[number].apply(&mut self.edits[number], &before, &mut after);
                }
                (Change::Normalize, Some(normalizer)) => normalizer.apply(&before, &mut after),
                (Change::Normalize, None) => after.extend_from_slice(&before),
                (Change::LowerCase, _) => append_lower_case(&before, &mut after),
            }
            on_change(change, &before, &after);
            mem::swap(&mut before, &mut after);
        }
        self.buffers[1] = after;
        before
    }
}
