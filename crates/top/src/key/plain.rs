//! Makes the keys of plain lines from fields by position.

use finecomb_scan::{LineEnds, Meter, Phase};

use crate::cells::{Span, bytes_of};
use crate::query::Query;
use crate::records::filter::{FilterCache, split_records};
use crate::records::split::{OpenQuote, SplitCache, Splitter, nth_blank_field};

/// Makes keys of records. Its buffers are reused.
pub(crate) struct KeyMaker<'q> {
    query: &'q Query,
    split: SplitCache,
    fields: Vec<Span>,
}

/// Makes keys of the lines of a block that a filter selects.
pub(crate) struct LineMaker<'q> {
    filter: FilterCache,
    maker: KeyMaker<'q>,
    ends: LineEnds,
    /// The selected records.
    pub(crate) records: Vec<Span>,
}

impl<'q> LineMaker<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Self {
            filter: query.filter.cache(),
            maker: KeyMaker::new(query),
            ends: LineEnds::default(),
            records: Vec::new(),
        }
    }

    /// Makes the keys of a text, before any change.
    pub(crate) fn make(&mut self, text: &[u8], meter: &mut Meter, keys: &mut Keys) {
        let filter = &self.maker.query.filter;
        if filter.accepts_all() {
            meter.enter(Phase::Split);
            split_records(text, &mut self.ends, &mut self.records);
        } else {
            meter.enter(Phase::Filter);
            filter.select(&mut self.filter, text, &mut self.ends, &mut self.records);
        }
        meter.enter(Phase::Extract);
        self.maker.extract(text, &self.records, keys);
    }
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
    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.text.clear();
        self.missing.clear();
        self.is_copied = false;
    }

    /// Appends a copied key if `write` returns `true`. All keys of a block are copied, or none.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        self.is_copied = true;
        let start = self.text.len();
        let is_key = write(&mut self.text);
        if is_key {
            self.spans.push((start, self.text.len()));
        } else {
            self.text.truncate(start);
        }
        is_key
    }

    /// Replaces each key by what `change` appends for it. `other` is a buffer.
    pub(crate) fn replace(
        &mut self,
        block: &[u8],
        other: &mut Vec<u8>,
        mut change: impl FnMut(&[u8], &mut Vec<u8>),
    ) {
        other.clear();
        let text = if self.is_copied { &self.text[..] } else { block };
        for span in &mut self.spans {
            let start = other.len();
            change(bytes_of(text, *span), other);
            *span = (start, other.len());
        }
        self.is_copied = true;
        std::mem::swap(&mut self.text, other);
    }

    /// Whether the spans are in the block.
    pub(crate) fn are_in_block(&self) -> bool {
        !self.is_copied
    }

    /// Returns the text of the spans: the block or the copied keys.
    pub(crate) fn text<'a>(&'a self, block: &'a [u8]) -> &'a [u8] {
        if self.is_copied { &self.text } else { block }
    }
}

impl<'q> KeyMaker<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Self { query, split: query.splitter.cache(), fields: Vec::new() }
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
}
