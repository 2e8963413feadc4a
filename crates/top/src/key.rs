//! Makes the keys of records: extracts fields and edits them.

use crate::edit::EditCache;
use crate::query::Query;
use crate::split::{OpenQuote, SplitCache, Splitter, nth_blank_field};
use crate::{Span, bytes_of};

/// Makes keys of records. Its buffers are reused.
pub(crate) struct KeyMaker<'q> {
    query: &'q Query,
    split: SplitCache,
    edits: Vec<EditCache>,
    fields: Vec<Span>,
    /// Buffers for the key before and after an edit.
    buffers: [Vec<u8>; 2],
}

/// The keys of the records of a block. Keys that occur unchanged in the block are not copied.
#[derive(Default)]
pub(crate) struct Keys {
    /// Spans of the keys in the block, or in `text` if they were copied.
    pub(crate) spans: Vec<Span>,
    /// Copied keys.
    text: Vec<u8>,
    is_copied: bool,
    /// Indexes of the records without a key.
    pub(crate) missing: Vec<u32>,
}

/// Reason why a record has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The record has too few fields; this is their number.
    TooFew(usize),
    /// A quote is never closed, in a field of the key or before it.
    OpenQuote,
}

impl Keys {
    /// Returns the text of the spans: the block or the copied keys.
    pub(crate) fn text<'a>(&'a self, block: &'a [u8]) -> &'a [u8] {
        if self.is_copied { &self.text } else { block }
    }
}

impl<'q> KeyMaker<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Self {
            query,
            split: query.splitter.cache(),
            edits: query.edits.iter().map(|edit| edit.cache()).collect(),
            fields: Vec::new(),
            buffers: Default::default(),
        }
    }

    /// Extracts the keys of all `records` of `text`, before any edit.
    pub(crate) fn extract(&mut self, text: &[u8], records: &[Span], keys: &mut Keys) {
        keys.is_copied = false;
        if self.query.fields.is_whole_record() {
            keys.missing.clear();
            keys.spans.clear();
            keys.spans.extend_from_slice(records);
        } else if let (Splitter::Blanks, Some(number)) = (&self.query.splitter, self.query.fields.single()) {
            nth_blank_field(text, records, number, &mut keys.spans, &mut keys.missing);
        } else {
            self.extract_one_by_one(text, records, keys);
        }
    }

    fn extract_one_by_one(&mut self, text: &[u8], records: &[Span], keys: &mut Keys) {
        keys.is_copied = true;
        keys.spans.clear();
        keys.text.clear();
        keys.missing.clear();
        for (index, &record) in (0..).zip(records) {
            let start = keys.text.len();
            match self.append_key(bytes_of(text, record), &mut keys.text) {
                Ok(()) => keys.spans.push((start, keys.text.len())),
                Err(_) => keys.missing.push(index),
            }
        }
    }

    /// Appends the key of a record, before any edit, to `out`. Appends nothing if the record has no key.
    pub(crate) fn append_key(&mut self, record: &[u8], out: &mut Vec<u8>) -> Result<(), NoKey> {
        let Query { fields: wanted, splitter, .. } = self.query;
        if wanted.is_whole_record() {
            out.extend_from_slice(record);
            return Ok(());
        }
        let split = splitter.split(&mut self.split, record, wanted.needed(), &mut self.fields);
        split.map_err(|OpenQuote| NoKey::OpenQuote)?;
        let count = self.fields.len();
        let indexes = wanted.resolve(count).ok_or(NoKey::TooFew(count))?;
        for (position, index) in indexes.enumerate() {
            if position > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(bytes_of(record, self.fields[index]));
        }
        Ok(())
    }

    /// Applies all edits to all keys.
    pub(crate) fn edit(&mut self, block: &[u8], keys: &mut Keys, edited: &mut Vec<u8>) {
        if self.query.edits.is_empty() {
            return;
        }
        edited.clear();
        let mut spans = std::mem::take(&mut keys.spans);
        for span in &mut spans {
            let start = edited.len();
            let last = self.edit_one(bytes_of(keys.text(block), *span), |_, _, _| {});
            edited.extend_from_slice(&last);
            self.buffers[0] = last;
            *span = (start, edited.len());
        }
        keys.spans = spans;
        keys.is_copied = true;
        std::mem::swap(&mut keys.text, edited);
    }

    /// Applies all edits to a key. `on_edit` is called with the number of each edit and the key before and after it.
    pub(crate) fn edit_one(&mut self, key: &[u8], mut on_edit: impl FnMut(usize, &[u8], &[u8])) -> Vec<u8> {
        let [mut before, mut after] = std::mem::take(&mut self.buffers);
        before.clear();
        before.extend_from_slice(key);
        for (number, (edit, cache)) in self.query.edits.iter().zip(&mut self.edits).enumerate() {
            after.clear();
            edit.apply(cache, &before, &mut after);
            on_edit(number, &before, &after);
            std::mem::swap(&mut before, &mut after);
        }
        self.buffers[1] = after;
        before
    }
}
