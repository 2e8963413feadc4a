//! Consistency checks of search results: a damaged suffix array gives an error, not a wrong answer.
//!
//! The range of a pattern is correct if the suffix before it is smaller than the pattern, the suffix after it is greater, and
//! both entries are where the text puts them. Only one suffix fits strictly between two correct neighbours. A damaged entry
//! between them is therefore unsorted, for any wrong value, and no two entries of a run of equal values, such as zeros, are
//! sorted. Two neighbours on each side of both ends of a range reveal damage that the binary search itself cannot see.
//! `docs/index-format.md` lists the damage that is detected and the damage that is not.

use std::cmp::Ordering;
use std::ops::Range;

use crate::error::{Damage, Error};
use crate::index::Index;
use crate::pattern::Pattern;

/// Damage: the suffix array contradicts the text.
pub(crate) const WRONG_SUFFIXES: Damage = Damage::Inconsistent("the suffix array does not match the text");

/// Number of entries checked on each side of an end of a range that a binary search found.
const NEIGHBOURS: u64 = 2;

/// The same for a range taken from the front table, in which a damaged suffix array cannot mislead the search. Fewer are
/// checked, as each entry is a cache miss.
const NEIGHBOURS_OF_SLOT: u64 = 1;

/// Maximum number of entries compared with the text one by one: about the number of steps of a binary search.
const MAX_COMPARED: u64 = 32;

/// Maximum number of symbols that are compared between two neighbours, in addition to the length of the pattern. In a repetitive
/// text, a full comparison takes too long.
const MAX_SYMBOLS: u64 = 1 << 12;

/// Range of the suffix array that a search found, with the range that it searched.
pub(crate) struct FoundRange<'a> {
    pub(crate) index: &'a Index,
    pub(crate) pattern: &'a Pattern,
    /// Range of the suffixes that begin with the pattern.
    pub(crate) found: &'a Range<u64>,
    /// Range of the suffixes that begin with the first symbols of the pattern, by the front table.
    pub(crate) slot: &'a Range<u64>,
}

impl FoundRange<'_> {
    /// Checks the neighbours of both ends of the range.
    ///
    /// # Errors
    ///
    /// If the suffix array does not match the text there.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Range { start, end } = *self.found;
        let is_whole_slot = self.pattern.len() <= self.index.front_symbols() as usize;
        let near = if is_whole_slot { NEIGHBOURS_OF_SLOT } else { NEIGHBOURS };
        let [at_start, at_end] =
            [start, end].map(|end| end.saturating_sub(near)..(end + near).min(self.index.symbols()));
        let is_consistent = if at_start.end < at_end.start {
            self.is_consistent(at_start) && self.is_consistent(at_end)
        } else {
            self.is_consistent(at_start.start..at_end.end)
        };
        if is_consistent { Ok(()) } else { Err(self.index.damaged(WRONG_SUFFIXES)) }
    }

    /// Returns `true` if adjacent entries are sorted and compare to the pattern as the range implies.
    fn is_consistent(&self, entries: Range<u64>) -> bool {
        let mut before = None;
        let suffixes = self.index.suffixes().range(entries.start, entries.end);
        suffixes.iter().zip(entries).all(|(position, entry)| {
            let order = if entry < self.found.start {
                Ordering::Less
            } else if entry < self.found.end {
                Ordering::Equal
            } else {
                Ordering::Greater
            };
            let previous = before.replace((position, order));
            self.is_in_place(position, entry, order)
                // Suffixes on different sides of the pattern are sorted.
                && previous.is_none_or(|(previous, side)| {
                    side != order || is_in_order(self.index, previous, position, self.pattern)
                })
        })
    }

    /// Returns `true` if a suffix compares to the pattern with this result, and begins with the symbols of its slot.
    fn is_in_place(&self, position: u64, entry: u64, order: Ordering) -> bool {
        let (text, depth) = (self.index.packed(), self.index.front_symbols() as usize);
        if position >= self.index.symbols() || text.compare(position, self.pattern) != order {
            return false;
        }
        let is_free = order.is_eq() || !self.slot.contains(&entry) || self.pattern.len() <= depth;
        // A slot may end with suffixes that are cut off by the end of the text.
        let is_cut_off = || order.is_gt() && self.index.symbols() - position < depth as u64;
        is_free || text.compare_first(position, self.pattern, depth).is_eq() || is_cut_off()
    }
}

/// Returns `true` if the compared symbols of two adjacent suffixes are in order.
fn is_in_order(index: &Index, left: u64, right: u64, pattern: &Pattern) -> bool {
    let most = pattern.len() as u64 + MAX_SYMBOLS;
    index.packed().compare_suffixes(left, right, most).is_none_or(Ordering::is_lt)
}

/// Checks entries that should all be occurrences of the pattern. If they are few, each is checked. Otherwise, the lowest and the
/// highest must be occurrences, which rules out entries past the end of the text. At most one entry is zero, and it must be sorted
/// between its neighbours.
///
/// # Errors
///
/// If the suffix array does not match the text there.
pub(crate) fn check_occurrences(index: &Index, entries: Range<u64>, pattern: &Pattern) -> Result<(), Error> {
    let (text, symbols) = (index.packed(), index.symbols());
    let suffixes = index.suffixes().range(entries.start, entries.end);
    let is_occurrence = |position| position < symbols && text.compare(position, pattern).is_eq();
    let is_after_its_neighbour = |entry: u64| {
        let [left, right] = [entry - 1, entry].map(|entry| index.suffixes().get(entry));
        left < symbols && right < symbols && is_in_order(index, left, right, pattern)
    };
    let is_right = if entries.end - entries.start <= MAX_COMPARED {
        suffixes.iter().all(is_occurrence) && (entries.start + 1..entries.end).all(is_after_its_neighbour)
    } else {
        let zeros_stand_in_order = || {
            let zeros = suffixes.iter().zip(entries.clone()).filter(|&(position, _)| position == 0);
            let mut zeros = zeros.map(|(_, entry)| entry);
            let first = zeros.next();
            let ends = first.into_iter().flat_map(|entry| [entry, entry + 1]);
            zeros.next().is_none() && ends.filter(|&end| end > 0 && end < symbols).all(is_after_its_neighbour)
        };
        suffixes.bounds().is_none_or(|(lowest, highest)| {
            is_occurrence(lowest) && is_occurrence(highest) && (lowest > 0 || zeros_stand_in_order())
        })
    };
    if is_right { Ok(()) } else { Err(index.damaged(WRONG_SUFFIXES)) }
}
