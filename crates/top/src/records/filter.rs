//! Selects records by two lists of patterns: all of one must match, and none of the other.

use finecomb_scan::LineEnds;

use crate::cells::{Span, bytes_of};
use crate::key::pattern::{PatternCache, RecordPattern};
use crate::query::Filter;
use crate::records::split::split_records;

/// Scratch memory of a filter, by pattern.
pub(crate) type FilterCache = Vec<PatternCache>;

/// Result of a filter for a record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict<'f> {
    /// The record is selected.
    Selected,
    /// This pattern must match and does not.
    NotMatched(&'f RecordPattern),
    /// This pattern must not match and does, at the span.
    Excluded(&'f RecordPattern, Span),
}

impl Filter {
    /// Whether all records are selected.
    pub(crate) fn accepts_all(&self) -> bool {
        self.patterns.is_empty()
    }

    pub(crate) fn cache(&self) -> FilterCache {
        self.patterns.iter().map(|_| PatternCache::default()).collect()
    }

    /// Judges a record: the reference implementation of [`Filter::select`].
    pub(crate) fn judge(&self, cache: &mut FilterCache, record: &[u8]) -> Verdict<'_> {
        for ((pattern, must_match), cache) in self.patterns.iter().zip(cache) {
            match pattern.find(cache, record) {
                None if *must_match => return Verdict::NotMatched(pattern),
                Some(found) if !must_match => return Verdict::Excluded(pattern, found),
                _ => {}
            }
        }
        Verdict::Selected
    }

    /// Whether a record is selected.
    pub(crate) fn selects(&self, cache: &mut FilterCache, record: &[u8]) -> bool {
        matches!(self.judge(cache, record), Verdict::Selected)
    }

    /// Stores the selected records of `text` in `records`, in order.
    pub(crate) fn select(
        &self,
        cache: &mut FilterCache,
        text: &[u8],
        ends: &mut LineEnds,
        records: &mut Vec<Span>,
    ) {
        let (Some(((first, must_match), others)), Some((first_cache, caches))) =
            (self.patterns.split_first(), cache.split_first_mut())
        else {
            return split_records(text, ends, records);
        };
        if *must_match {
            records.clear();
            let mut from = 0;
            while let Some((record, next)) = first.next_line(first_cache, text, from) {
                records.push(record);
                from = next;
            }
        } else {
            split_records(text, ends, records);
            drop_matching(first, first_cache, text, records);
        }
        for ((pattern, must_match), cache) in others.iter().zip(caches) {
            records.retain(|&record| pattern.is_match(cache, bytes_of(text, record)) == *must_match);
        }
    }
}

/// Removes the records that match, with one search over all of `text`.
fn drop_matching(pattern: &RecordPattern, cache: &mut PatternCache, text: &[u8], records: &mut Vec<Span>) {
    let mut next_match = pattern.next_line(cache, text, 0);
    records.retain(|&record| match next_match {
        Some((matching, next)) if matching.0 == record.0 => {
            next_match = pattern.next_line(cache, text, next);
            false
        }
        _ => true,
    });
}
