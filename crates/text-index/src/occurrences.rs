//! Occurrences of a pattern: their number, the first at or after a position, the last before a position, and all in order.

use std::cmp::Ordering;
use std::ops::Range;

use memchr::memmem::{Finder, FinderRev};

use crate::consistency::{FoundRange, WRONG_SUFFIXES, check_occurrences};
use crate::entries::Entries;
use crate::error::{Damage, Error};
use crate::front::WRONG_FRONT;
use crate::index::Index;
use crate::packed::Packed;
use crate::pattern::Pattern;
use crate::presence::BitmapLayout;

/// Maximum number of occurrences that are collected and sorted; for more, the text is scanned.
const MAX_SORTED: u64 = 1 << 16;

/// Number of symbols in the first scan. They fit the L1 cache, and the next occurrence is usually near.
const FIRST_SCAN: u64 = 1 << 10;

/// Damage: the bitmaps contradict the text.
const WRONG_BITMAPS: Damage = Damage::Inconsistent("the bitmaps do not match the text");

/// The occurrences of a pattern. Positions are counted from 0.
#[derive(Debug)]
pub struct Occurrences<'a> {
    index: &'a Index,
    pattern: &'a Pattern,
    /// Range of their suffixes in the suffix array.
    suffixes: Range<u64>,
}

impl Index {
    /// Finds the occurrences of a pattern, which must have been parsed for the same alphabet.
    ///
    /// # Errors
    ///
    /// If the index turns out to be corrupt.
    pub fn occurrences<'a>(&'a self, pattern: &'a Pattern) -> Result<Occurrences<'a>, Error> {
        let Some(slot) = self.front().range(pattern.codes(), self.packed()) else {
            // A byte of the pattern does not occur in the text. The set of bytes that occur is in the header, whose checksum was
            // verified when the index was opened.
            return self.checked(Occurrences { index: self, pattern, suffixes: 0..0 });
        };
        if slot.start > slot.end || slot.end > self.symbols() {
            return Err(self.damaged(WRONG_FRONT));
        }
        let is_whole_slot = pattern.len() <= self.front_symbols() as usize;
        let suffixes = if is_whole_slot { slot.clone() } else { self.search(slot.clone(), pattern) };
        FoundRange { index: self, pattern, found: &suffixes, slot: &slot }.check()?;
        self.checked(Occurrences { index: self, pattern, suffixes })
    }

    /// Reference implementation of [`occurrences`](Self::occurrences) for tests and benchmarks: two binary searches in the whole
    /// suffix array.
    ///
    /// # Errors
    ///
    /// As [`occurrences`](Self::occurrences).
    pub fn occurrences_by_binary_search<'a>(
        &'a self,
        pattern: &'a Pattern,
    ) -> Result<Occurrences<'a>, Error> {
        let all = 0..self.symbols();
        let start = self.partition(all.clone(), |position| self.packed().compare(position, pattern).is_lt());
        let end = self.partition(start..all.end, |position| self.packed().compare(position, pattern).is_le());
        self.checked(Occurrences { index: self, pattern, suffixes: start..end })
    }

    /// All positions of a pattern in suffix order, without the bitmaps, for tests and benchmarks.
    pub fn positions_in_suffix_order(&self, occurrences: &Occurrences<'_>) -> impl Iterator<Item = u64> {
        self.suffixes().range(occurrences.suffixes.start, occurrences.suffixes.end).iter()
    }

    fn search(&self, slot: Range<u64>, pattern: &Pattern) -> Range<u64> {
        let text = self.packed();
        let start = self.partition(slot.clone(), |position| text.compare(position, pattern).is_lt());
        // Most patterns that are too long for the table occur at most a few times, so an exponential search finds the end.
        let is_one = |entry| text.compare(self.suffixes().get(entry), pattern) == Ordering::Equal;
        let (mut known, mut probe, mut step) = (start, start, 1);
        while probe < slot.end && is_one(probe) {
            known = probe + 1;
            probe += step;
            step *= 2;
        }
        let end =
            self.partition(known..probe.min(slot.end), |position| text.compare(position, pattern).is_le());
        start..end
    }

    /// Binary search for the first entry of a range whose position does not satisfy the condition. The positions that satisfy it
    /// must come first.
    fn partition(&self, range: Range<u64>, condition: impl Fn(u64) -> bool) -> u64 {
        let suffixes = self.suffixes();
        let Range { mut start, mut end } = range;
        while start < end {
            let middle = start.midpoint(end);
            if condition(suffixes.get(middle)) { start = middle + 1 } else { end = middle }
        }
        start
    }
}

impl<'a> Occurrences<'a> {
    /// Number of occurrences, overlapping ones included.
    pub fn count(&self) -> u64 {
        self.suffixes.end - self.suffixes.start
    }

    /// First occurrence at or after a position.
    ///
    /// Takes O(√n) time for a text of n symbols, for any number of occurrences.
    ///
    /// # Errors
    ///
    /// If the index turns out to be corrupt.
    pub fn first_from(&self, position: u64) -> Result<Option<u64>, Error> {
        let position = position.min(self.index.symbols());
        let shape = self.presence_shape();
        if self.count() <= 2 * shape.block() {
            return self.verified(self.entries(self.suffixes.clone())?.lowest_from(position));
        }
        let group = shape.group_of(position);
        let group_end = (group + 1) * shape.group();
        // With many occurrences, the next is usually near.
        let near = (position + FIRST_SCAN).min(group_end);
        if let Some(found) = self.scan(position, near).or_else(|| self.scan(near, group_end)) {
            return self.verified(Some(found));
        }
        let (head, blocks, tail) = self.blocks();
        let (head, tail) = (self.entries(head)?, self.entries(tail)?);
        let in_blocks = self.index.presence().first_group(blocks, group + 1);
        let cut = head.lowest_from(position).into_iter().chain(tail.lowest_from(position)).min();
        match in_blocks {
            Some(group) if cut.is_none_or(|cut| shape.group_of(cut) >= group) => {
                self.expect_found(self.scan(group * shape.group(), (group + 1) * shape.group()))
            }
            _ => self.verified(cut),
        }
    }

    /// Last occurrence that begins before a position.
    ///
    /// # Errors
    ///
    /// If the index turns out to be corrupt.
    pub fn last_before(&self, position: u64) -> Result<Option<u64>, Error> {
        let position = position.min(self.index.symbols());
        let shape = self.presence_shape();
        if self.count() <= 2 * shape.block() {
            return self.verified(self.entries(self.suffixes.clone())?.highest_below(position));
        }
        let group = shape.group_of(position);
        if let Some(found) = self.scan_back(group * shape.group(), position) {
            return self.verified(Some(found));
        }
        let (head, blocks, tail) = self.blocks();
        let (head, tail) = (self.entries(head)?, self.entries(tail)?);
        let in_blocks = self.index.presence().last_group(blocks, group);
        let cut = head.highest_below(position).into_iter().chain(tail.highest_below(position)).max();
        match in_blocks {
            Some(group) if cut.is_none_or(|cut| shape.group_of(cut) <= group) => {
                self.expect_found(self.scan_back(group * shape.group(), (group + 1) * shape.group()))
            }
            _ => self.verified(cut),
        }
    }

    /// All occurrences at or after a position, by ascending position.
    pub fn positions_from(&self, position: u64) -> Positions<'_> {
        Positions { occurrences: self, cursor: self.cursor(position) }
    }

    /// Cursor of a listing of all occurrences at or after a position, for [`next_positions`](Self::next_positions).
    pub fn cursor(&self, position: u64) -> ListingState {
        if self.count() > MAX_SORTED.max(2 * self.presence_shape().block()) {
            let missing = (position == 0).then(|| self.count());
            return ListingState(Rest::Scanned { found: Vec::new(), next: Some(position), missing });
        }
        ListingState(self.sorted_from(position).map_or_else(|error| Rest::Failed(Some(error)), Rest::Sorted))
    }

    /// The next positions of a listing, at most `limit`; none at its end. The cursor must be of the same pattern and index.
    ///
    /// # Errors
    ///
    /// If the index turns out to be corrupt. Positions that were found before come first; after the error, the listing ends.
    pub fn next_positions(&self, cursor: &mut ListingState, limit: usize) -> Result<Vec<u64>, Error> {
        let mut positions = Vec::new();
        while positions.len() < limit {
            match self.advance(cursor) {
                Ok(Some(position)) => positions.push(position),
                Ok(None) => break,
                Err(error) if positions.is_empty() => return Err(error),
                Err(error) => {
                    cursor.0 = Rest::Failed(Some(error));
                    break;
                }
            }
        }
        Ok(positions)
    }

    /// The next position of a listing.
    fn advance(&self, cursor: &mut ListingState) -> Result<Option<u64>, Error> {
        let result = match &mut cursor.0 {
            Rest::Sorted(sorted) => self.verified(sorted.pop()),
            Rest::Scanned { found, next, missing } => {
                let scanned = if found.is_empty() { self.scan_group(found, next, missing) } else { Ok(()) };
                scanned.map(|()| found.pop())
            }
            Rest::Failed(error) => error.take().map_or(Ok(None), Err),
        };
        if result.is_err() {
            cursor.0 = Rest::Failed(None);
        }
        result
    }

    /// Finds the positions in the next group that has any, in descending order.
    fn scan_group(
        &self,
        found: &mut Vec<u64>,
        next: &mut Option<u64>,
        missing: &mut Option<u64>,
    ) -> Result<(), Error> {
        let Some(from) = next.take() else { return Ok(()) };
        let damaged = || self.index.damaged(WRONG_BITMAPS);
        let Some(first) = self.first_from(from)? else {
            return if missing.is_none_or(|missing| missing == 0) { Ok(()) } else { Err(damaged()) };
        };
        let shape = self.presence_shape();
        let end = (shape.group_of(first) + 1) * shape.group();
        let codes = self.codes(first, end);
        let finder = Finder::new(self.pattern.codes());
        let mut at = 0;
        while let Some(offset) = codes.get(at..).and_then(|codes| finder.find(codes)) {
            found.push(first + (at + offset) as u64);
            at += offset + 1;
        }
        found.reverse();
        *next = Some(end);
        if let Some(missing) = missing {
            *missing = missing.checked_sub(found.len() as u64).ok_or_else(damaged)?;
        }
        self.index.checked(())
    }

    /// Occurrences at or after a position, in descending order.
    fn sorted_from(&self, position: u64) -> Result<Vec<u64>, Error> {
        let suffixes = self.entries(self.suffixes.clone())?;
        let mut sorted: Vec<u64> = suffixes.iter().filter(|&found| found >= position).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        if sorted.is_sorted_by(|a, b| a > b) { Ok(sorted) } else { Err(self.index.damaged(WRONG_SUFFIXES)) }
    }

    fn presence_shape(&self) -> BitmapLayout {
        self.index.header().shape()
    }

    /// Entries of the suffix array, after a check that they are occurrences.
    fn entries(&self, range: Range<u64>) -> Result<Entries<'a>, Error> {
        check_occurrences(self.index, range.clone(), self.pattern)?;
        Ok(self.index.suffixes().range(range.start, range.end))
    }

    /// Splits the range of the suffix array into a partial block, whole blocks (by number), and another partial block.
    fn blocks(&self) -> (Range<u64>, Range<u64>, Range<u64>) {
        let Range { start, end } = self.suffixes;
        let block = self.presence_shape().block();
        let (first, last) = (start.div_ceil(block), end / block);
        (start..(first * block).min(end), first..last.max(first), (last * block).max(start)..end)
    }

    /// Scans a part of the text for the first occurrence.
    fn scan(&self, start: u64, end: u64) -> Option<u64> {
        let codes = self.codes(start, end);
        let found = match self.pattern.codes() {
            [code] => memchr::memchr(*code, &codes),
            pattern => Finder::new(pattern).find(&codes),
        };
        found.map(|found| start + found as u64)
    }

    /// Scans a part of the text for the last occurrence.
    fn scan_back(&self, start: u64, end: u64) -> Option<u64> {
        let found = FinderRev::new(self.pattern.codes()).rfind(self.codes(start, end));
        found.map(|found| start + found as u64)
    }

    /// Codes of a part of the text, extended so that occurrences which begin in it are complete.
    fn codes(&self, start: u64, end: u64) -> Vec<u8> {
        let end = end.min(self.index.symbols());
        let mut codes = Vec::with_capacity((end.saturating_sub(start)) as usize + self.pattern.len() + 8);
        if start < end {
            let text: Packed<'_> = self.index.packed();
            text.codes(start, end + self.pattern.len() as u64 - 1, &mut codes);
        }
        codes
    }

    /// Checks a position from the suffix array against the text.
    fn verified(&self, found: Option<u64>) -> Result<Option<u64>, Error> {
        let is_there = |found| self.index.packed().compare(found, self.pattern) == Ordering::Equal;
        if found.is_none_or(is_there) {
            return self.index.checked(found);
        }
        Err(self.index.damaged(WRONG_SUFFIXES))
    }

    /// Returns the occurrence that the bitmaps imply, or an error if there is none.
    fn expect_found(&self, found: Option<u64>) -> Result<Option<u64>, Error> {
        match found {
            Some(_) => self.index.checked(found),
            None => Err(self.index.damaged(WRONG_BITMAPS)),
        }
    }
}

/// Iterator of [`Occurrences::positions_from`]. It ends after an error.
#[derive(Debug)]
pub struct Positions<'a> {
    occurrences: &'a Occurrences<'a>,
    cursor: ListingState,
}

impl Iterator for Positions<'_> {
    type Item = Result<u64, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.occurrences.advance(&mut self.cursor).transpose()
    }
}

/// State of a listing, which does not borrow the index. A listing that outlives its [`Occurrences`] continues with new ones of the
/// same pattern, which are found again within microseconds.
#[derive(Debug)]
pub struct ListingState(Rest);

#[derive(Debug)]
enum Rest {
    /// Remaining positions, in descending order.
    Sorted(Vec<u64>),
    /// Remaining positions of one group, in descending order, and the start of the next scan. `missing` is the number of
    /// occurrences not found yet, if the listing has all of them.
    Scanned { found: Vec<u64>, next: Option<u64>, missing: Option<u64> },
    /// The error, until it was returned.
    Failed(Option<Error>),
}
