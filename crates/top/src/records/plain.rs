//! Makes the keys of plain lines from fields by position.

use finecomb_scan::{LineEnds, Meter, Phase};

use crate::cells::{Span, bytes_of};
use crate::key::keys::Keys;
use crate::query::Query;
use crate::query::options::Splitter;
use crate::records::filter::FilterCache;
use crate::records::split::{OpenQuote, SplitCache, nth_blank_field, split_records};

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

/// Reason why a record has no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The record has too few fields; this is their number.
    TooFew(usize),
    /// A quote is never closed, in a field of the key or before it.
    OpenQuote,
}

impl<'q> KeyMaker<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        Self { query, split: query.splitter.cache(), fields: Vec::new() }
    }

    /// Extracts the keys of all `records` of `text`, before any edit.
    pub(crate) fn extract(&mut self, text: &[u8], records: &[Span], keys: &mut Keys) {
        keys.clear();
        if self.query.fields.is_whole_record() {
            keys.spans.extend_from_slice(records);
        } else if let (Splitter::Blanks, Some(number)) = (&self.query.splitter, self.query.fields.single()) {
            nth_blank_field(text, records, number, &mut keys.spans, &mut keys.missing);
        } else {
            for (index, &record) in (0..).zip(records) {
                if !keys.append(|out| self.append_key(bytes_of(text, record), out).is_ok()) {
                    keys.missing.push(index);
                }
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
