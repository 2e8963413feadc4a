//! The front table: where in the suffix array the suffixes begin that start with given symbols.
//!
//! For every string of k symbols it holds how many suffixes are smaller. A pattern of up to k symbols is found without a
//! search, and a longer one needs to be searched for only between two neighbouring entries.

use std::ops::Range;

use finecomb_sys::threads::map;

use crate::alphabet::Alphabet;
use crate::entries::{Entries, Width};
use crate::packed::Packed;

/// One entry for so many symbols of the text at least: the table then takes no more than an eighth of what the suffix array
/// does, and a slot holds about this many suffixes.
const SYMBOLS_PER_SLOT: u64 = 8;

/// More symbols than that would not make a slot of a text without variety any smaller.
const LONGEST: u32 = 16;

/// The order of the codes that occur in a text: the k-th smallest has rank k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranks {
    rank: [u16; 256],
    count: u16,
}

/// The rank of what does not occur.
const ABSENT: u16 = u16::MAX;

impl Ranks {
    /// All symbols of a small alphabet, or the bytes that occur.
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

    /// The rank of a code that occurs.
    fn rank(&self, code: u8) -> u64 {
        u64::from(self.rank[usize::from(code)])
    }

    fn base(&self) -> u64 {
        u64::from(self.count)
    }
}

/// How many symbols the table's strings have.
pub(crate) fn depth(symbols: u64, ranks: &Ranks) -> u32 {
    let most = symbols / SYMBOLS_PER_SLOT;
    let fits = |depth: &u32| ranks.base().checked_pow(*depth).is_some_and(|slots| slots <= most);
    if ranks.base() < 2 { 0 } else { (0..=LONGEST).take_while(fits).last().unwrap_or(0) }
}

/// How many entries a table has; none if that is more than any table has.
pub(crate) fn len(depth: u32, ranks: &Ranks) -> Option<u64> {
    ranks.base().max(1).checked_pow(depth)?.checked_add(1)
}

/// A table, with what is needed to read it.
#[derive(Clone, Copy)]
pub(crate) struct Front<'a> {
    pub(crate) entries: Entries<'a>,
    pub(crate) depth: u32,
    pub(crate) ranks: &'a Ranks,
}

impl Front<'_> {
    /// Where the suffixes are that begin with these codes. Exact if there are no more codes than the table is deep; otherwise they
    /// are there, but not alone. None if one of the first codes does not occur in the text.
    pub(crate) fn range(&self, codes: &[u8], text: Packed<'_>) -> Option<Range<u64>> {
        let base = self.ranks.base();
        let length = codes.len().min(self.depth as usize);
        let mut number = 0;
        for &code in &codes[..length] {
            number = number * base + self.ranks.of(code)?;
        }
        if length < codes.len() {
            // A suffix that the text's end cuts off may stand at the end of its slot: the search sees to that.
            return Some(self.entries.get(number)..self.entries.get(number + 1));
        }
        let start = self.smaller(number, length as u32, text);
        Some(start..self.smaller_than_next(number, length as u32, text))
    }

    /// How many suffixes are smaller than all strings of this length behind the one with this number. The next string with its zeros is
    /// not the bound: a suffix that the text's end cuts off before the zeros is larger than the string, too.
    fn smaller_than_next(&self, number: u64, length: u32, text: Packed<'_>) -> u64 {
        let base = self.ranks.base();
        let (mut next, mut length) = (number + 1, length);
        while length > 0 && next.is_multiple_of(base) {
            (next, length) = (next / base, length - 1);
        }
        if length == 0 { text.symbols() } else { self.smaller(next, length, text) }
    }

    /// How many suffixes are smaller than the string of this length with this number.
    ///
    /// The table knows it for the string with zeros behind it. Only suffixes that are the string itself, or the string and some
    /// of the zeros, are smaller than that and yet not smaller than the string; they end with the text.
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

/// Makes the table of a text, given by the codes of its symbols: adds up the suffixes before each string, which are those whose first
/// symbols are smaller, and those that end within the string's length and are the string's beginning or smaller.
pub(crate) fn build(codes: &[u8], depth: u32, ranks: &Ranks, width: Width, threads: usize) -> Vec<u8> {
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

/// Tables that are counted into at a time, one for a thread. Together they are no larger than half of the suffix array, for which there
/// must be room later; and more threads would not make it much quicker, as they share the memory.
const MOST_TABLES: usize = 4;

/// Symbols in a part of the text at most, so that 32 bits are enough to count in it.
const LONGEST_PART: usize = 1 << 31;

/// Counts how often each string begins in the text, in parts.
fn count(codes: &[u8], depth: u32, ranks: &Ranks, slots: usize, threads: usize) -> Vec<Vec<u32>> {
    let part = codes.len().div_ceil(threads.clamp(1, MOST_TABLES)).clamp(1, LONGEST_PART);
    let overlap = (depth as usize).saturating_sub(1);
    let parts =
        (0..codes.len()).step_by(part).map(|start| &codes[start..codes.len().min(start + part + overlap)]);
    map(threads.min(MOST_TABLES), parts, |codes| count_part(codes, depth, ranks, slots))
}

/// Strings are gathered by their first symbols in so many buckets at most; each has its own stretch of the table.
const BUCKETS: u64 = 1024;

/// So many strings are gathered before they are counted.
const GATHERED: usize = 1 << 22;

/// Counts how often each string begins in a part of the text.
///
/// Counting them as they come would be a cache miss for each, nearly all of what it costs: a profile showed 36 ns a symbol. So they
/// are gathered in buckets first, and then counted a bucket at a time, in a stretch of the table that the cache holds.
fn count_part(codes: &[u8], depth: u32, ranks: &Ranks, slots: usize) -> Vec<u32> {
    let mut counts = vec![0; slots];
    let (base, slots) = (ranks.base().max(1), slots as u64);
    let lead = (0..depth).rev().find(|&lead| base.pow(lead) <= BUCKETS).unwrap_or(0);
    let stretch = (slots / base.pow(lead)) as usize;
    let mut buckets = vec![Vec::new(); base.pow(lead) as usize];
    let mut gathered = 0;
    each_string(codes, [lead, depth - lead], ranks, |bucket, rest| {
        buckets[bucket as usize].push(rest as u32);
        gathered += 1;
        if gathered == GATHERED {
            count_gathered(&mut buckets, stretch, &mut counts);
            gathered = 0;
        }
    });
    count_gathered(&mut buckets, stretch, &mut counts);
    counts
}

fn count_gathered(buckets: &mut [Vec<u32>], stretch: usize, counts: &mut [u32]) {
    for (bucket, counts) in buckets.iter_mut().zip(counts.chunks_mut(stretch)) {
        bucket.drain(..).for_each(|rest| counts[rest as usize] += 1);
    }
}

/// The number of the symbols in a window that moves along the text.
struct Window {
    number: u64,
    base: u64,
    /// What the first symbol counts for.
    highest: u64,
    length: u32,
}

impl Window {
    /// A window at the beginning of the text.
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

/// Calls a function with the number of each string of the text, in their order, in two parts: that of its first symbols, and that of
/// the others.
fn each_string(codes: &[u8], [lead, rest]: [u32; 2], ranks: &Ranks, mut take: impl FnMut(u64, u64)) {
    let (lead_length, length) = (lead as usize, (lead + rest) as usize);
    if length == 0 {
        // There is one string, the empty one, which begins at every symbol.
        return codes.iter().for_each(|_| take(0, 0));
    }
    if codes.len() < length {
        return;
    }
    let mut lead = Window::new(codes, lead, ranks);
    let mut rest = Window::new(&codes[lead_length..], rest, ranks);
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

    /// How many suffixes begin with the pattern, and how many are smaller than it.
    fn plain(text: &[u8], pattern: &[u8]) -> Range<u64> {
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
            Some(codes) => text.iter().map(|&byte| codes.known(byte)).collect(),
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
        let table = build(&codes, depth, &ranks, Width::Bits32, threads);
        let entries = Entries::new(&table, Width::Bits32);
        prop_assert_eq!(Some(entries.len()), len(depth, &ranks));
        let front = Front { entries, depth, ranks: &ranks };
        let pattern: Vec<u8> = match alphabet.codes() {
            Some(codes) => pattern.iter().map(|&byte| codes.known(byte)).collect(),
            None => pattern.to_vec(),
        };
        let wanted = plain(&codes, &pattern);
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
        fn the_table_knows_where_patterns_are(
            text in prop_oneof!["[09]{0,40}", "[0-9]{0,60}"], pattern in prop_oneof!["[09]{1,5}", "[0-9]{1,4}"],
            depth in 0..5_u32, threads in 1..4_usize,
        ) {
            check(Alphabet::Digits, text.as_bytes(), pattern.as_bytes(), depth, threads)?;
            check(Alphabet::Bytes, text.as_bytes(), pattern.as_bytes(), depth, threads)?;
        }

        #[test]
        fn of_other_alphabets_too(text in "[ACGT]{0,40}", pattern in "[ACGT]{1,5}", depth in 0..5_u32) {
            check(Alphabet::Dna, text.as_bytes(), pattern.as_bytes(), depth, 2)?;
            check(Alphabet::Bytes, text.as_bytes(), pattern.as_bytes(), depth, 3)?;
        }
    }
}
