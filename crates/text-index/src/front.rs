//! The front table: the range of the suffix array for every string of k symbols.
//!
//! For every string of k symbols, the table has the number of smaller suffixes. A pattern of up to k symbols is found without a
//! search; a longer pattern is searched for between two adjacent entries of the table.

use std::ops::Range;

use finecomb_sys::threads::map;

use crate::alphabet::Alphabet;
use crate::entries::{Entries, EntryWidth};
use crate::error::Damage;
use crate::packed::Packed;

/// Damage: the front table contradicts the text.
pub(crate) const WRONG_FRONT: Damage = Damage::Inconsistent("the front table does not match the text");

/// Minimum number of symbols of the text per entry. The table takes at most an eighth of the size of the suffix array, and a slot
/// has about this many suffixes.
const SYMBOLS_PER_SLOT: u64 = 8;

/// Maximum of k. In a repetitive text, longer strings do not make the slots smaller.
const MAX_DEPTH: u32 = 16;

/// Ranks of the codes that occur in a text, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranks {
    rank: [u16; 256],
    count: u16,
}

/// Rank of a code that does not occur.
const ABSENT: u16 = u16::MAX;

impl Ranks {
    /// Ranks all symbols of a small alphabet, or the bytes that occur.
    pub(crate) fn new(alphabet: Alphabet, occurs: &[bool; 256]) -> Self {
        let mut rank = [ABSENT; 256];
        let mut count = 0;
        for (code, rank) in rank.iter_mut().enumerate() {
            let is_symbol = match alphabet.codes() {
                Some(_) => code < 1 << alphabet.bits() && code < 10,
                None => occurs[code],
            };
            if is_symbol {
                *rank = count;
                count += 1;
            }
        }
        Self { rank, count }
    }

    fn of(&self, code: u8) -> Option<u64> {
        Some(self.rank[usize::from(code)]).filter(|&rank| rank != ABSENT).map(u64::from)
    }

    /// Rank of a code that occurs.
    fn rank(&self, code: u8) -> u64 {
        u64::from(self.rank[usize::from(code)])
    }

    fn base(&self) -> u64 {
        u64::from(self.count)
    }
}

/// Number of symbols in the strings of the table.
pub(crate) fn depth(symbols: u64, ranks: &Ranks) -> u32 {
    let most = symbols / SYMBOLS_PER_SLOT;
    let fits = |depth: &u32| ranks.base().checked_pow(*depth).is_some_and(|slots| slots <= most);
    if ranks.base() < 2 { 0 } else { (0..=MAX_DEPTH).take_while(fits).last().unwrap_or(0) }
}

/// Number of entries in a table; `None` if it overflows.
pub(crate) fn len(depth: u32, ranks: &Ranks) -> Option<u64> {
    ranks.base().max(1).checked_pow(depth)?.checked_add(1)
}

/// Maximum number of entries in the table of a text of `symbols` symbols.
pub(crate) fn max_len(symbols: u64) -> u64 {
    (symbols / SYMBOLS_PER_SLOT).max(1) + 1
}

/// Front table of an open index.
#[derive(Clone, Copy)]
pub(crate) struct Front<'a> {
    pub(crate) entries: Entries<'a>,
    pub(crate) depth: u32,
    pub(crate) ranks: &'a Ranks,
}

impl Front<'_> {
    /// Range of the suffixes that begin with these codes. With more codes than the depth of the table, the range includes other
    /// suffixes. Returns `None` if one of the first codes does not occur in the text.
    pub(crate) fn range(&self, codes: &[u8], text: Packed<'_>) -> Option<Range<u64>> {
        let base = self.ranks.base();
        let length = codes.len().min(self.depth as usize);
        let mut number = 0;
        for &code in &codes[..length] {
            number = number * base + self.ranks.of(code)?;
        }
        if length < codes.len() {
            // The slot may end with a suffix that is truncated by the end of the text; the search handles it.
            return Some(self.entries.get(number)..self.entries.get(number + 1));
        }
        let start = self.smaller(number, length as u32, text);
        Some(start..self.smaller_than_next(number, length as u32, text))
    }

    /// Number of suffixes smaller than all strings of this length after the one with this number. The next string, padded with
    /// zeros, is not the bound: a suffix that the end of the text truncates before the zeros is larger than the string, too.
    fn smaller_than_next(&self, number: u64, length: u32, text: Packed<'_>) -> u64 {
        let base = self.ranks.base();
        let (mut next, mut length) = (number + 1, length);
        while length > 0 && next.is_multiple_of(base) {
            (next, length) = (next / base, length - 1);
        }
        if length == 0 { text.symbols() } else { self.smaller(next, length, text) }
    }

    /// Number of suffixes smaller than the string of this length with this number.
    ///
    /// The table has this number for the string padded with zeros. The only suffixes between the two are the string itself and the
    /// string with some of the zeros, at the end of the text.
    fn smaller(&self, number: u64, length: u32, text: Packed<'_>) -> u64 {
        let base = self.ranks.base();
        let smaller = self.entries.get(number * base.pow(self.depth - length));
        let between = (length.max(1)..self.depth).filter(|&short| {
            let Some(start) = text.symbols().checked_sub(u64::from(short)) else { return false };
            self.number_of(text, start, short) == Some(number * base.pow(short - length))
        });
        smaller.saturating_sub(between.count() as u64)
    }

    fn number_of(&self, text: Packed<'_>, start: u64, length: u32) -> Option<u64> {
        (start..start + u64::from(length))
            .try_fold(0, |number, at| Some(number * self.ranks.base() + self.ranks.of(text.code(at))?))
    }
}

/// Builds the table of a text, given as codes. Sums up the suffixes before each string: suffixes with smaller first symbols, and
/// suffixes shorter than the string that are a prefix of it or smaller.
pub(crate) fn build(codes: &[u8], depth: u32, ranks: &Ranks, width: EntryWidth, threads: usize) -> Vec<u8> {
    let shortest = codes.len().saturating_sub((depth as usize).saturating_sub(1));
    let mut short: Vec<u64> = (shortest..codes.len())
        .map(|start| {
            let suffix = &codes[start..];
            let number = suffix.iter().fold(0, |number, &code| number * ranks.base() + ranks.rank(code));
            number * ranks.base().pow(depth - suffix.len() as u32)
        })
        .collect();
    short.sort_unstable_by(|a, b| b.cmp(a));
    let slots = ranks.base().max(1).pow(depth) as usize;
    let counts = count(codes, depth, ranks, slots, threads);
    let mut table = Vec::with_capacity((slots + 1) * width.bytes());
    let mut smaller = 0;
    for number in 0..slots {
        while short.pop_if(|short| *short <= number as u64).is_some() {
            smaller += 1;
        }
        width.append(smaller, &mut table);
        smaller += counts.iter().map(|counts| u64::from(counts[number])).sum::<u64>();
    }
    width.append(codes.len() as u64, &mut table);
    table
}

/// Maximum number of count tables, one per thread. Together they take at most half the size of the suffix array, which is
/// allocated later. The work is bound by memory bandwidth, so more threads help little.
const MAX_TABLES: usize = 4;

/// Maximum number of symbols in a part of the text, so that counts fit 32 bits.
const MAX_PART: usize = 1 << 31;

/// Counts the strings of the text, in parts.
fn count(codes: &[u8], depth: u32, ranks: &Ranks, slots: usize, threads: usize) -> Vec<Vec<u32>> {
    let part = codes.len().div_ceil(threads.clamp(1, MAX_TABLES)).clamp(1, MAX_PART);
    let overlap = (depth as usize).saturating_sub(1);
    let parts =
        (0..codes.len()).step_by(part).map(|start| &codes[start..codes.len().min(start + part + overlap)]);
    map(threads.min(MAX_TABLES), parts, |codes| count_part(codes, depth, ranks, slots))
}

/// Maximum number of buckets, in which strings are collected by their first symbols. Each has its own slice of the table.
const MAX_BUCKETS: u64 = 1024;

/// Number of strings that are collected before they are counted.
const BATCH: usize = 1 << 22;

/// Counts the strings of a part of the text.
///
/// Counting in text order is a cache miss per string: a profile showed 36 ns per symbol, nearly all of the cost. Strings are
/// therefore collected in buckets and counted bucket by bucket, each in a slice of the table that fits the cache.
fn count_part(codes: &[u8], depth: u32, ranks: &Ranks, slots: usize) -> Vec<u32> {
    let mut counts = vec![0; slots];
    let (base, slots) = (ranks.base().max(1), slots as u64);
    let lead = (0..depth).rev().find(|&lead| base.pow(lead) <= MAX_BUCKETS).unwrap_or(0);
    let slice = (slots / base.pow(lead)) as usize;
    let mut buckets = vec![Vec::new(); base.pow(lead) as usize];
    let mut collected = 0;
    for_each_string(codes, [lead, depth - lead], ranks, |bucket, rest| {
        buckets[bucket as usize].push(rest as u32);
        collected += 1;
        if collected == BATCH {
            count_batch(&mut buckets, slice, &mut counts);
            collected = 0;
        }
    });
    count_batch(&mut buckets, slice, &mut counts);
    counts
}

fn count_batch(buckets: &mut [Vec<u32>], slice: usize, counts: &mut [u32]) {
    for (bucket, counts) in buckets.iter_mut().zip(counts.chunks_mut(slice)) {
        bucket.drain(..).for_each(|rest| counts[rest as usize] += 1);
    }
}

/// Rolling number of the string in a window over the text.
struct RollingWindow {
    number: u64,
    base: u64,
    /// Weight of the first symbol.
    highest: u64,
    length: u32,
}

impl RollingWindow {
    /// Makes a window at the start of the text.
    fn new(codes: &[u8], length: u32, ranks: &Ranks) -> Self {
        let base = ranks.base();
        let number =
            codes[..length as usize].iter().fold(0, |number, &code| number * base + ranks.rank(code));
        Self { number, base, highest: base.pow(length.saturating_sub(1)), length }
    }

    fn advance(&mut self, leaving: u64, coming: u64) {
        if self.length > 0 {
            self.number = (self.number - leaving * self.highest) * self.base + coming;
        }
    }
}

/// Calls `take` for each string of the text, in text order, with the number of its `lead` first symbols and the number of its
/// `rest`.
fn for_each_string(codes: &[u8], [lead, rest]: [u32; 2], ranks: &Ranks, mut take: impl FnMut(u64, u64)) {
    let (lead_length, length) = (lead as usize, (lead + rest) as usize);
    if length == 0 {
        // The only string is the empty string, which begins at every symbol.
        return codes.iter().for_each(|_| take(0, 0));
    }
    if codes.len() < length {
        return;
    }
    let mut lead = RollingWindow::new(codes, lead, ranks);
    let mut rest = RollingWindow::new(&codes[lead_length..], rest, ranks);
    take(lead.number, rest.number);
    let coming = codes.iter().zip(&codes[lead_length..]).zip(&codes[length..]);
    for ((&first, &middle), &last) in coming {
        let middle = ranks.rank(middle);
        lead.advance(ranks.rank(first), middle);
        rest.advance(middle, ranks.rank(last));
        take(lead.number, rest.number);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packed::{PADDING, pack};

    /// Range of the suffixes that begin with the pattern, by comparing all suffixes.
    fn expected_range(text: &[u8], pattern: &[u8]) -> Range<u64> {
        let smaller = (0..text.len()).filter(|&start| &text[start..] < pattern).count() as u64;
        let equal = (0..text.len()).filter(|&start| text[start..].starts_with(pattern)).count() as u64;
        smaller..smaller + equal
    }

    fn check(
        alphabet: Alphabet,
        text: &[u8],
        pattern: &[u8],
        depth: u32,
        threads: usize,
    ) -> Result<(), TestCaseError> {
        let codes: Vec<u8> = match alphabet.codes() {
            Some(codes) => text.iter().map(|&byte| codes.code(byte)).collect(),
            None => text.to_vec(),
        };
        let mut occurs = [false; 256];
        text.iter().for_each(|&byte| occurs[usize::from(byte)] = true);
        let ranks = Ranks::new(alphabet, &occurs);
        let depth = depth.min(if ranks.base() < 2 { 0 } else { 5 });
        let mut bytes = Vec::new();
        pack(text, alphabet, &mut bytes);
        bytes.extend([0; PADDING]);
        let packed = Packed::new(&bytes, text.len() as u64, alphabet);
        let table = build(&codes, depth, &ranks, EntryWidth::Bits32, threads);
        let entries = Entries::new(&table, EntryWidth::Bits32);
        prop_assert_eq!(Some(entries.len()), len(depth, &ranks));
        let front = Front { entries, depth, ranks: &ranks };
        let pattern: Vec<u8> = match alphabet.codes() {
            Some(codes) => pattern.iter().map(|&byte| codes.code(byte)).collect(),
            None => pattern.to_vec(),
        };
        let wanted = expected_range(&codes, &pattern);
        match front.range(&pattern, packed) {
            None => prop_assert!(wanted.is_empty()),
            Some(range) if pattern.len() <= depth as usize => prop_assert_eq!(range, wanted),
            Some(range) => {
                prop_assert!(wanted.is_empty() || range.start <= wanted.start && wanted.end <= range.end)
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn the_table_has_the_range_of_each_pattern(
            text in prop_oneof!["[09]{0,40}", "[0-9]{0,60}"], pattern in prop_oneof!["[09]{1,5}", "[0-9]{1,4}"],
            depth in 0..5_u32, threads in 1..4_usize,
        ) {
            check(Alphabet::Digits, text.as_bytes(), pattern.as_bytes(), depth, threads)?;
            check(Alphabet::Bytes, text.as_bytes(), pattern.as_bytes(), depth, threads)?;
        }

        #[test]
        fn the_table_has_the_range_of_each_pattern_in_dna_and_bytes(text in "[ACGT]{0,40}", pattern in "[ACGT]{1,5}", depth in 0..5_u32) {
            check(Alphabet::Dna, text.as_bytes(), pattern.as_bytes(), depth, 2)?;
            check(Alphabet::Bytes, text.as_bytes(), pattern.as_bytes(), depth, 3)?;
        }
    }
}
