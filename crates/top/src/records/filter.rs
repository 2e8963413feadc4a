//! Selects records by two lists of patterns: all of one must match, and none of the other.

use finecomb_scan::LineEnds;

use crate::cells::{Span, bytes_of};
use crate::key::pattern::{PatternCache, RecordPattern};
use crate::query::Filter;
use crate::records::split::split_records;

/// Scratch memory of a filter.
#[derive(Debug)]
pub(crate) struct FilterCache {
    must: Vec<PatternCache>,
    must_not: Vec<PatternCache>,
}

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
        self.must.is_empty() && self.must_not.is_empty()
    }

    pub(crate) fn cache(&self) -> FilterCache {
        let caches = |patterns: &[RecordPattern]| patterns.iter().map(|_| PatternCache::default()).collect();
        FilterCache { must: caches(&self.must), must_not: caches(&self.must_not) }
    }

    /// Judges a record: the reference implementation of [`Filter::select`].
    pub(crate) fn judge(&self, cache: &mut FilterCache, record: &[u8]) -> Verdict<'_> {
        for (pattern, cache) in self.must.iter().zip(&mut cache.must) {
            if pattern.find(cache, record).is_none() {
                return Verdict::NotMatched(pattern);
            }
        }
        for (pattern, cache) in self.must_not.iter().zip(&mut cache.must_not) {
            if let Some(found) = pattern.find(cache, record) {
                return Verdict::Excluded(pattern, found);
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
        records.clear();
        match (&self.must[..], &self.must_not[..]) {
            ([first, others @ ..], _) => {
                let (first_cache, other_caches) = cache.must.split_at_mut(1);
                let mut from = 0;
                while let Some((record, next)) = first.next_line(&mut first_cache[0], text, from) {
                    records.push(record);
                    from = next;
                }
                retain(records, text, others, other_caches, true);
                retain(records, text, &self.must_not, &mut cache.must_not, false);
            }
            ([], [first, others @ ..]) => {
                let (first_cache, other_caches) = cache.must_not.split_at_mut(1);
                split_records(text, ends, records);
                drop_matching(first, &mut first_cache[0], text, records);
                retain(records, text, others, other_caches, false);
            }
            ([], []) => split_records(text, ends, records),
        }
    }
}

/// Retains the records for which `is_match` of every pattern is `wanted`.
fn retain(
    records: &mut Vec<Span>,
    text: &[u8],
    patterns: &[RecordPattern],
    caches: &mut [PatternCache],
    wanted: bool,
) {
    for (pattern, cache) in patterns.iter().zip(caches) {
        records.retain(|&record| pattern.is_match(cache, bytes_of(text, record)) == wanted);
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
