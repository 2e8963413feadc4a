//! Records to keys: the fields that a query asks for, edited.

use crate::edit::EditCache;
use crate::query::Query;
use crate::split::{OpenQuote, SplitCache, Splitter, nth_blank_field};
use crate::{Span, bytes_of};

/// Makes keys of records. Its memory is used again and again.
pub(crate) struct KeyMaker<'q> {
    query: &'q Query,
    split: SplitCache,
    edits: Vec<EditCache>,
    fields: Vec<Span>,
    /// The key before and after an edit, in turn.
    drafts: [Vec<u8>; 2],
}

/// The keys of a block's records. Those that are found as they are in the block stay there.
#[derive(Default)]
pub(crate) struct Keys {
    /// Where the keys stand in the block, or in `text` if that is where they are.
    pub(crate) spans: Vec<Span>,
    /// Keys that had to be put together.
    text: Vec<u8>,
    made: bool,
    /// The numbers of the records that have no key.
    pub(crate) missing: Vec<u32>,
}

/// Why a record has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// It has only so many fields.
    TooFew(usize),
    /// It has a quote that is never closed, in front of a field that is asked for or in it.
    OpenQuote,
}

impl Keys {
    /// What the spans point into: the block or the keys that were put together.
    pub(crate) fn text<'a>(&'a self, block: &'a [u8]) -> &'a [u8] {
        if self.made { &self.text } else { block }
    }
}

impl<'q> KeyMaker<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Self {
            query,
            split: query.splitter.cache(),
            edits: query.edits.iter().map(|edit| edit.cache()).collect(),
            fields: Vec::new(),
            drafts: Default::default(),
        }
    }

    /// Finds the keys of all `records` of `text`, before any edit.
    pub(crate) fn extract(&mut self, text: &[u8], records: &[Span], keys: &mut Keys) {
        keys.made = false;
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
        keys.made = true;
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

    /// Appends the key of one record, before any edit, to `out`; nothing if it has none.
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

    /// Edits all keys, if there are edits.
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
            self.drafts[0] = last;
            *span = (start, edited.len());
        }
        keys.spans = spans;
        keys.made = true;
        std::mem::swap(&mut keys.text, edited);
    }

    /// Edits one key. `seen` is shown the number of each edit and the key before and after it.
    pub(crate) fn edit_one(&mut self, key: &[u8], mut seen: impl FnMut(usize, &[u8], &[u8])) -> Vec<u8> {
        let [mut before, mut after] = std::mem::take(&mut self.drafts);
        before.clear();
        before.extend_from_slice(key);
        for (number, (edit, cache)) in self.query.edits.iter().zip(&mut self.edits).enumerate() {
            after.clear();
            edit.apply(cache, &before, &mut after);
            seen(number, &before, &after);
            std::mem::swap(&mut before, &mut after);
        }
        self.drafts[1] = after;
        before
    }
}
