//! The words of a list, and filters that rule out places where none of them begins.

use crate::bits::{BytePairs, HashBitmap, spread};
use crate::hash::{Hasher, STEP, load, short};
use crate::table::WordTable;

/// Length of the keys of words of 4 to 7 bytes.
const MIDDLE: usize = 4;
/// Number of places that are filtered at once: few at first, as the next match is often near.
const FIRST_BLOCK: usize = 8;
const BLOCK: usize = 16;

/// Words by how they begin.
///
/// A place is first ruled out by its two bytes, then by filters of the words' first 3, 4 or 8 bytes.
#[derive(Clone, Debug)]
pub(crate) struct WordIndex {
    table: WordTable,
    /// The first two bytes of all words.
    starts: BytePairs,
    /// The words of one and two bytes. A word of one byte stands for all pairs that begin with it.
    pairs: BytePairs,
    threes: HashBitmap,
    fours: HashBitmap,
    eights: HashBitmap,
    /// By the first 8 bytes of words, their lengths modulo 32.
    lengths_of: Vec<u32>,
    shift: u32,
    /// Which lengths below 8 there are.
    short_lengths: u8,
    /// The other lengths, in order.
    long_lengths: Vec<usize>,
    longest: usize,
}

/// Numbers of words of a list, by which filters are sized.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordCounts {
    words: usize,
    bytes: usize,
    threes: usize,
    fours: usize,
    eights: usize,
}

impl WordCounts {
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Returns `false` if the words are too many for a table.
    pub(crate) fn fit(&self) -> bool {
        u32::try_from(self.bytes + self.words + 1).is_ok()
    }

    pub(crate) fn add(&mut self, word: &[u8]) {
        self.words += 1;
        self.bytes += word.len();
        match word.len() {
            0..=2 => {}
            3 => self.threes += 1,
            4..STEP => self.fours += 1,
            _ => self.eights += 1,
        }
    }
}

/// A word at a place of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Offset of the word in the list: its rank.
    pub(crate) rank: u32,
    pub(crate) length: usize,
}

impl WordIndex {
    /// Makes an empty index that is sized for some words.
    pub(crate) fn new(counts: &WordCounts) -> Self {
        let keys = counts.eights.next_power_of_two().max(2);
        Self {
            table: WordTable::new(counts.words, counts.bytes),
            starts: BytePairs::default(),
            pairs: BytePairs::default(),
            threes: HashBitmap::for_hashes(counts.threes),
            fours: HashBitmap::for_hashes(counts.fours),
            eights: HashBitmap::for_hashes(counts.eights),
            lengths_of: vec![0; keys],
            shift: 64 - keys.trailing_zeros(),
            short_lengths: 0,
            long_lengths: Vec::new(),
            longest: 0,
        }
    }

    /// Adds a word and returns `true`, or returns `false` for a duplicate. The index must have been sized for it.
    pub(crate) fn insert(&mut self, word: &[u8]) -> bool {
        if !self.table.insert(word, Hasher::new(word, 0).hash(word.len())) {
            return false;
        }
        self.longest = self.longest.max(word.len());
        let key = load(word, 0);
        if word.len() < STEP {
            self.short_lengths |= 1 << word.len();
        } else if let Err(at) = self.long_lengths.binary_search(&word.len()) {
            self.long_lengths.insert(at, word.len());
        }
        match word.len() {
            0 => {}
            1 => self.starts.insert_all_from(key),
            _ => self.starts.insert(key),
        }
        match word.len() {
            0 => {}
            1 => self.pairs.insert_all_from(key),
            2 => self.pairs.insert(key),
            3 => self.threes.insert(spread(key)),
            4..STEP => self.fours.insert(spread(key & u64::from(u32::MAX))),
            length => {
                let hash = spread(key);
                self.eights.insert(hash);
                self.lengths_of[(hash >> self.shift) as usize] |= 1 << (length % 32);
            }
        }
        true
    }

    /// Releases memory that is not needed if no more words are added.
    pub(crate) fn shrink(&mut self) {
        self.table.shrink();
    }

    /// The words, in the order in which they were inserted.
    pub(crate) fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.table.words()
    }

    /// Length of the longest word.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the rank of a word if the text from `start` to `end` is one. Reads 8 bytes at once if there are as many.
    #[inline(always)]
    pub(crate) fn get_at(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let hash = Hasher::new(text, start).hash(end - start);
        if !self.table.may_have(hash) {
            return None;
        }
        self.table.get(text.get(start..end)?, hash)
    }

    /// Returns the first result of `check` for a place from `from` on where a word may begin.
    #[inline(always)]
    pub(crate) fn first_place<T>(
        &self,
        text: &[u8],
        from: usize,
        check: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let has_short = self.short_lengths & 0b1110 != 0;
        match (has_short, self.short_lengths >> MIDDLE != 0, !self.long_lengths.is_empty()) {
            (true, true, _) => self.filter::<true, true, true, T>(text, from, check),
            (true, false, _) => self.filter::<true, false, true, T>(text, from, check),
            (false, true, true) => self.filter::<false, true, true, T>(text, from, check),
            (false, true, false) => self.filter::<false, true, false, T>(text, from, check),
            (false, false, _) => self.filter::<false, false, true, T>(text, from, check),
        }
    }

    /// Filters blocks of places without a branch, as the outcome for a single place cannot be predicted.
    #[inline(always)]
    fn filter<const SHORT: bool, const MIDDLE: bool, const LONG: bool, T>(
        &self,
        text: &[u8],
        from: usize,
        mut check: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let (mut at, mut length) = (from, FIRST_BLOCK);
        while at < text.len() {
            let rest = &text[at..];
            let mut places = match (length, rest.first_chunk::<{ FIRST_BLOCK + STEP }>(), rest.first_chunk())
            {
                (BLOCK, _, Some(window)) => {
                    self.places::<SHORT, MIDDLE, LONG>(window as &[u8; BLOCK + STEP], BLOCK)
                }
                (_, Some(window), _) => {
                    length = FIRST_BLOCK;
                    self.places::<SHORT, MIDDLE, LONG>(window, FIRST_BLOCK)
                }
                _ => {
                    let mut last = [0; FIRST_BLOCK + STEP];
                    last[..rest.len()].copy_from_slice(rest);
                    length = FIRST_BLOCK;
                    let places = self.places::<SHORT, MIDDLE, LONG>(&last, FIRST_BLOCK);
                    places & ((1 << rest.len().min(FIRST_BLOCK)) - 1)
                }
            };
            while places != 0 {
                let found = check(at + places.trailing_zeros() as usize);
                if found.is_some() {
                    return found;
                }
                places &= places - 1;
            }
            at += length;
            length = BLOCK;
        }
        None
    }

    /// Returns a bit for each of some places, the lowest for the first: whether a word may begin there.
    #[inline(always)]
    fn places<const SHORT: bool, const MIDDLE: bool, const LONG: bool>(
        &self,
        window: &[u8],
        count: usize,
    ) -> u32 {
        let (mut starts, mut places) = (0_u32, 0);
        for index in 0..count {
            let pair = u64::from(window[index]) | u64::from(window[index + 1]) << 8;
            starts |= u32::from(self.starts.has(pair)) << index;
        }
        while starts != 0 {
            let index = starts.trailing_zeros();
            let loaded = load(window, index as usize);
            places |= u32::from(self.may_begin::<SHORT, MIDDLE, LONG>(loaded)) << index;
            starts &= starts - 1;
        }
        places
    }

    #[inline(always)]
    fn may_begin<const SHORT: bool, const MIDDLE: bool, const LONG: bool>(&self, loaded: u64) -> bool {
        let mut any = false;
        if SHORT {
            any |= self.pairs.has(loaded) | self.threes.has(spread(loaded & 0xFF_FFFF));
        }
        if MIDDLE {
            any |= self.fours.has(spread(loaded & u64::from(u32::MAX)));
        }
        if LONG {
            any |= self.eights.has(spread(loaded));
        }
        any
    }

    /// Returns `true` if the text at `at` begins with a word.
    #[inline(always)]
    pub(crate) fn has_word_at(&self, text: &[u8], at: usize) -> bool {
        self.longest_at(text, at).is_some()
    }

    /// Returns the length of the longest word of the text at `at`.
    #[inline(always)]
    pub(crate) fn longest_at(&self, text: &[u8], at: usize) -> Option<usize> {
        let loaded = load(text, at);
        let mut longest = None;
        self.long_words_at(text, at, loaded, |word| {
            longest = Some(word.length);
            false
        });
        if longest.is_some() {
            return longest;
        }
        let mut lengths = self.short_lengths & self.lengths_below_8(loaded);
        while lengths != 0 {
            let length = lengths.ilog2();
            if self.short_word_at(text, at, loaded, length as usize).is_some() {
                return Some(length as usize);
            }
            lengths ^= 1 << length;
        }
        None
    }

    /// Calls `found` with each word of the text at `at`, shorter ones first, until it returns `true`.
    #[inline(always)]
    pub(crate) fn words_at(&self, text: &[u8], at: usize, mut found: impl FnMut(Word) -> bool) {
        let loaded = load(text, at);
        let mut lengths = self.short_lengths & self.lengths_below_8(loaded);
        while lengths != 0 {
            let length = lengths.trailing_zeros() as usize;
            let rank = self.short_word_at(text, at, loaded, length);
            if rank.is_some_and(|rank| found(Word { rank, length })) {
                return;
            }
            lengths &= lengths - 1;
        }
        self.long_words_at(text, at, loaded, found);
    }

    #[inline(always)]
    fn short_word_at(&self, text: &[u8], at: usize, loaded: u64, length: usize) -> Option<u32> {
        let hash = short(loaded, length);
        if self.table.may_have(hash) { self.table.get(text.get(at..at + length)?, hash) } else { None }
    }

    /// Calls `found` with each word of 8 bytes and more, until it returns `true`.
    #[inline(always)]
    fn long_words_at(&self, text: &[u8], at: usize, loaded: u64, mut found: impl FnMut(Word) -> bool) {
        let hash = spread(loaded);
        if self.long_lengths.is_empty() || !self.eights.has(hash) {
            return;
        }
        let lengths = self.lengths_of[(hash >> self.shift) as usize];
        let mut hasher = Hasher::new(text, at);
        for &length in self.long_lengths.iter().filter(|&&length| lengths >> (length % 32) & 1 == 1) {
            let hash = hasher.hash(length);
            if !self.table.may_have(hash) {
                continue;
            }
            let Some(text) = text.get(at..at + length) else { return };
            if self.table.get(text, hash).is_some_and(|rank| found(Word { rank, length })) {
                return;
            }
        }
    }

    /// The lengths below 8 that words beginning like this may have.
    #[inline(always)]
    fn lengths_below_8(&self, loaded: u64) -> u8 {
        let pairs = if self.pairs.has(loaded) { 0b110 } else { 0 };
        let threes = u8::from(self.threes.has(spread(loaded & 0xFF_FFFF))) << 3;
        let fours = if self.fours.has(spread(loaded & u64::from(u32::MAX))) { 0xF0 } else { 0 };
        pairs | threes | fours
    }
}
