//! Counts of the most frequent keys of a sequence, in bounded memory.
//!
//! This is Space-Saving (Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent and Top-k Elements in Data Streams,
//! 2005), with keys replaced in batches. A key is counted exactly from the moment it enters the table. Its *error* is the maximum
//! number of earlier occurrences, which is that of any key outside of the table, the *bound*. When the table is full, the keys
//! with the least sums of count and error are removed, and the largest of these sums becomes the bound.
//!
//! After n keys the bound is at most n / k if at least k keys always remain, by the argument for Misra and Gries' summaries
//! (Agarwal et al.: Mergeable Summaries, 2012): take the sum of the excesses of all keys, which is count plus error minus the
//! bound. A key of the sequence adds 1 to it, and if the bound rises by d, at least k keys lose d each.
//!
//! The table depends on nothing but the sequence: not on the hashes, and not on how it is cut into pieces.

use finecomb_sys::memory::FixedVec;
use finecomb_sys::simd::{Kernel, Masks, dispatch, prefetch};

use crate::cells::{Span, bytes_of};
use crate::key::hash::Hasher;

/// Words of an entry before its key: the count, the error, and the hash and length of the key.
const HEAD: usize = 3;

/// Number of entries whose cache misses overlap.
const BATCH: usize = 32;

/// Initial number of slots of the index.
const INITIAL_SLOTS: usize = 1 << 12;

/// Number of least sums, less than 256 - 64, that are classes of their own where keys are removed.
const SINGLE: u64 = 190;

/// Maximum number of words of a table: a slot has 32 bits for the place of an entry.
const MAX_WORDS: usize = u32::MAX as usize - 1;

/// Counts of the most frequent keys of a sequence.
#[derive(Debug)]
pub(crate) struct Summary {
    /// Hash table with open addressing. A slot has the hash of a key, and the place of its entry plus 1; it is 0 if it is free.
    index: FixedVec<u64>,
    /// The entries, in the order in which they got in.
    entries: FixedVec<u64>,
    /// Number of entries.
    keys: usize,
    max_keys: usize,
    max_slots: usize,
    /// Largest number of entries so far.
    most_keys: usize,
    /// Maximum number of occurrences of a key that is not in the table.
    bound: u64,
    /// Number of keys of the sequence.
    total: u64,
    /// Number of keys that were too long for the table.
    too_long: u64,
}

/// A key of a summary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SummaryEntry<'s> {
    words: &'s [u64],
    length: usize,
    /// The key occurs at least this often.
    pub(crate) count: u64,
    /// It occurs at most this much more often.
    pub(crate) error: u64,
}

impl SummaryEntry<'_> {
    pub(super) fn key(&self) -> Vec<u8> {
        let mut key: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        key.truncate(self.length);
        key
    }

    /// Number of words that it takes.
    pub(crate) fn words(&self) -> usize {
        HEAD + self.words.len()
    }

    /// Maximum number of occurrences.
    pub(crate) fn most(&self) -> u64 {
        self.count + self.error
    }
}

/// The keys of a summary.
#[derive(Clone)]
pub(crate) struct Entries<'s>(&'s [u64]);

impl<'s> Iterator for Entries<'s> {
    type Item = SummaryEntry<'s>;

    fn next(&mut self) -> Option<SummaryEntry<'s>> {
        let &[count, error, last, ref rest @ ..] = self.0 else { return None };
        let (words, rest) = rest.split_at(words_of(length_of(last)));
        self.0 = rest;
        Some(SummaryEntry { words, length: length_of(last), count, error })
    }
}

/// Part of the memory: words and keys.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    words: usize,
    keys: usize,
}

impl Room {
    fn plus(self, other: Self) -> Self {
        Self { words: self.words + other.words, keys: self.keys + other.keys }
    }

    fn fits_in(self, room: Self) -> bool {
        self.words <= room.words && self.keys <= room.keys
    }
}

/// Number of words of an entry with a key of this length.
fn words_of_entry(length: usize) -> usize {
    HEAD + words_of(length)
}

/// Number of words of a key.
fn words_of(length: usize) -> usize {
    length.div_ceil(size_of::<u64>())
}

/// Hash and length of a key in a word, and its bytes in words.
type HashedKey<'k> = (u64, &'k [[u8; 8]]);

/// Place of the entry that a slot of the index refers to.
fn place_of(slot: u64) -> usize {
    (slot as u32 as usize).wrapping_sub(1)
}

/// Length of the key of an entry.
fn length_of(hash_and_length: u64) -> usize {
    hash_and_length as u32 as usize
}

impl Summary {
    /// A summary that takes at most this many bytes, but at least 2 KiB.
    pub(crate) fn new(memory: usize) -> Self {
        let words = (memory / size_of::<u64>()).clamp(256, MAX_WORDS);
        // A quarter or an eighth for the index: the power of two.
        let max_slots = 1 << (words / 4).ilog2();
        Self::with_room(words - max_slots, max_slots)
    }

    /// A summary with room for keys of these lengths, and no others.
    pub(crate) fn for_keys(lengths: impl Iterator<Item = usize>) -> Self {
        let room = lengths.map(|length| Room { words: words_of_entry(length), keys: 1 });
        let room = room.fold(Room::default(), Room::plus);
        // A key may take a quarter of the words. The rest of them is never touched.
        Self::with_room(4 * room.words, (2 * room.keys).next_power_of_two())
    }

    /// A summary with entries of this many words, and an index of at most this many slots, a power of two.
    fn with_room(words: usize, max_slots: usize) -> Self {
        let index = FixedVec::filled(0, max_slots.min(INITIAL_SLOTS));
        let entries = FixedVec::with_capacity(words);
        // At least one slot of the index is free, so that searches end.
        let max_keys = (max_slots / 4 * 3).max(1);
        Self { index, entries, keys: 0, max_keys, max_slots, most_keys: 0, bound: 0, total: 0, too_long: 0 }
    }

    /// Number of keys of the sequence.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Number of distinct keys of the sequence, if all are in the table; otherwise a lower bound.
    pub(crate) fn distinct(&self) -> u64 {
        self.most_keys as u64
    }

    /// Maximum number of occurrences of a key that is not in the table. If it is 0, all counts are exact.
    pub(crate) fn bound(&self) -> u64 {
        self.bound.max(self.too_long)
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        (self.index.len() + self.entries.len()) * size_of::<u64>()
    }

    /// The keys, with count and error, in the order in which they got in.
    pub(crate) fn iter(&self) -> Entries<'_> {
        Entries(&self.entries)
    }

    /// Sets the counts to the numbers of the keys, in the order in which they got in.
    pub(crate) fn number(&mut self) {
        let mut place = 0;
        for number in 0..self.keys {
            self.entries[place] = number as u64;
            place += words_of_entry(length_of(self.entries[place + 2]));
        }
    }

    /// Counts keys that [`write()`] wrote.
    pub(crate) fn add(&mut self, keys: &[u8]) {
        let (mut keys, _) = keys.as_chunks();
        let mut batch = [(0, &[][..]); BATCH];
        while let Some(length) = self.prefetch(&mut keys, &mut batch) {
            batch[..length].iter().for_each(|&(head, key)| self.count(head, key));
        }
    }

    /// Calls `found` with the count of each of these keys that is in the table.
    pub(crate) fn look_up(&self, keys: &[u8], mut found: impl FnMut(u64)) {
        let (mut keys, _) = keys.as_chunks();
        let mut batch = [(0, &[][..]); BATCH];
        while let Some(length) = self.prefetch(&mut keys, &mut batch) {
            let places = batch[..length].iter().filter_map(|&(head, key)| self.find(head, key));
            places.for_each(|place| found(self.entries[place]));
        }
    }

    /// Takes the next keys, prefetches what is needed to find them, and returns their number; `None` if there are no more.
    #[inline(always)]
    fn prefetch<'k>(&self, keys: &mut &'k [[u8; 8]], batch: &mut [HashedKey<'k>; BATCH]) -> Option<usize> {
        let mut length = 0;
        while let (&[head, ref rest @ ..], Some(key)) = (*keys, batch.get_mut(length)) {
            let head = u64::from_le_bytes(head);
            let (words, rest) = rest.split_at(words_of(length_of(head)).min(rest.len()));
            *key = (head, words);
            *keys = rest;
            length += 1;
            if let Some(slot) = self.index.get(self.home(head)) {
                prefetch(slot);
            }
        }
        for &(head, _) in &batch[..length] {
            let slot = self.index.get(self.home(head)).copied().unwrap_or_default();
            if slot >> 32 == head >> 32
                && let Some(entry) = self.entries.get(place_of(slot))
            {
                prefetch(entry);
            }
        }
        (length > 0).then_some(length)
    }

    fn home(&self, hash_and_length: u64) -> usize {
        ((u128::from(hash_and_length >> 32) * self.index.len() as u128) >> 32) as usize
    }

    fn count(&mut self, head: u64, key: &[[u8; 8]]) {
        self.total += 1;
        match self.find(head, key) {
            Some(place) => self.entries[place] += 1,
            None => self.insert(head, key),
        }
    }

    /// Returns the place of the entry of a key.
    #[inline(always)]
    fn find(&self, head: u64, key: &[[u8; 8]]) -> Option<usize> {
        let mask = self.index.len() - 1;
        let mut at = self.home(head);
        loop {
            let slot = self.index[at];
            if slot == 0 {
                return None;
            }
            if slot >> 32 == head >> 32 {
                let place = place_of(slot);
                let (own_head, own) = (self.entries[place + 2], &self.entries[place + HEAD..]);
                let mut words = key.iter().zip(own);
                if own_head == head && words.all(|(word, own)| u64::from_le_bytes(*word) == *own) {
                    return Some(place);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Inserts a key that is not in the table.
    #[inline(never)]
    fn insert(&mut self, head: u64, key: &[[u8; 8]]) {
        let words = HEAD + key.len();
        let capacity = self.entries.capacity();
        if words > capacity / 4 {
            self.too_long += 1;
            return;
        }
        if self.entries.len() + words > capacity || self.keys == self.max_keys {
            self.prune();
        } else if 2 * self.keys >= self.index.len() && self.index.len() < self.max_slots {
            self.index = FixedVec::filled(0, (4 * self.index.len()).min(self.max_slots));
            self.fill_index();
        }
        let place = self.entries.len();
        let mut entry = [1, self.bound, head, 0, 0, 0, 0];
        let (first, rest) = key.split_at(key.len().min(entry.len() - HEAD));
        for (word, bytes) in entry[HEAD..].iter_mut().zip(first) {
            *word = u64::from_le_bytes(*bytes);
        }
        // Copies of a known length take no call.
        match first.len() {
            0 => self.entries.extend_from_slice(&entry[..HEAD]),
            1 => self.entries.extend_from_slice(&entry[..HEAD + 1]),
            2 => self.entries.extend_from_slice(&entry[..HEAD + 2]),
            3 => self.entries.extend_from_slice(&entry[..HEAD + 3]),
            _ => self.entries.extend_from_slice(&entry),
        }
        for word in rest {
            self.entries.extend_from_slice(&[u64::from_le_bytes(*word)]);
        }
        self.keys += 1;
        self.most_keys = self.most_keys.max(self.keys);
        self.link(head, place);
    }

    /// Lets the index find an entry.
    fn link(&mut self, head: u64, place: usize) {
        let mask = self.index.len() - 1;
        let mut at = self.home(head);
        while self.index[at] != 0 {
            at = (at + 1) & mask;
        }
        self.index[at] = head >> 32 << 32 | (place as u64 + 1);
    }

    fn fill_index(&mut self) {
        let mut place = 0;
        while let Some(&head) = self.entries.get(place + 2) {
            self.link(head, place);
            place += words_of_entry(length_of(head));
        }
    }

    /// Removes the keys with the least sums of count and error, until half of the memory is free. If sums are equal, the oldest
    /// keys stay.
    fn prune(&mut self) {
        let room = Room { words: self.entries.capacity() / 2, keys: self.max_keys / 2 };
        let (least, mut kept) = self.least_kept(room);
        let (mut from, mut to) = (0, 0);
        self.keys = 0;
        self.index.fill(0);
        while let Some(&[count, error, head]) =
            self.entries.get(from..from + HEAD).and_then(<[u64]>::first_chunk)
        {
            let size = words_of_entry(length_of(head));
            let sum = count + error;
            let with = kept.plus(Room { words: size, keys: 1 });
            let stays = sum > least || sum == least && with.fits_in(room);
            if stays {
                if sum == least {
                    kept = with;
                }
                if to < from {
                    self.entries.copy_within(from..from + size, to);
                }
                self.link(head, to);
                to += size;
                self.keys += 1;
            }
            from += size;
        }
        self.entries.truncate(to);
        self.bound = least;
    }

    /// Returns the sum of count and error at which `room` ends, and the room that keys with greater sums take. Those keys fit; keys
    /// with this sum fit only in part.
    ///
    /// The sums are divided into classes: each of the least is a class, the others are by their highest bit. The class is found
    /// where the room ends. It is divided by its next eight bits, and so on.
    fn least_kept(&self, room: Room) -> (u64, Room) {
        let mut kept = Room::default();
        // The excess of the sum over the bound, which is little for most: the bits that are known, and the number of the others.
        let (mut known, mut unknown) = (0_u64, u64::BITS);
        loop {
            let is_first = unknown == u64::BITS;
            let shift = unknown.saturating_sub(8);
            let class = |excess: u64| match is_first {
                true if excess < SINGLE => excess as usize,
                true => SINGLE as usize + (u64::BITS - excess.leading_zeros()) as usize,
                false => (excess >> shift & 0xFF) as usize,
            };
            let is_candidate = |excess: u64| is_first || excess >> unknown == known >> unknown;
            let mut classes = [Room::default(); 256];
            let mut place = 0;
            while let Some(&[count, error, head]) =
                self.entries.get(place..place + HEAD).and_then(<[u64]>::first_chunk)
            {
                let size = words_of_entry(length_of(head));
                let excess = count + error - self.bound;
                if is_candidate(excess) {
                    let class = &mut classes[class(excess)];
                    *class = class.plus(Room { words: size, keys: 1 });
                }
                place += size;
            }
            let end = (0..classes.len()).rev().find(|&class| {
                let with = kept.plus(classes[class]);
                let is_end = !with.fits_in(room);
                kept = if is_end { kept } else { with };
                is_end
            });
            let end = end.unwrap_or_default() as u64;
            (known, unknown) = match end.checked_sub(SINGLE) {
                Some(bits) if is_first => (1 << (bits - 1), bits as u32 - 1),
                None if is_first => (end, 0),
                _ => (known | end << shift, shift),
            };
            if unknown == 0 {
                return (self.bound + known, kept);
            }
        }
    }
}

/// Appends keys, which are spans of a text, in the form for [`Summary::add`]: hash and length in a word, and the key in as many words as
/// it takes.
pub(crate) fn write(hasher: &Hasher, text: &[u8], keys: &[Span], out: &mut Vec<u8>) {
    dispatch(Write { hasher, text, keys, out });
}

struct Write<'a> {
    hasher: &'a Hasher,
    text: &'a [u8],
    keys: &'a [Span],
    out: &'a mut Vec<u8>,
}

impl Kernel for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { hasher, text, keys, out } = self;
        for &(start, end) in keys {
            let length = end - start;
            let (hash, first) = hasher.hash(masks, text, start, end);
            let hash = (hash >> 32) as u32;
            let head = u64::from(hash) << 32 | length as u64;
            out.extend_from_slice(&head.to_le_bytes());
            if length <= 64 {
                let mut bytes = [0; 64];
                for (bytes, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(first) {
                    *bytes = word.to_le_bytes();
                }
                out.extend_from_slice(&bytes[..8 * words_of(length)]);
            } else {
                out.extend_from_slice(bytes_of(text, (start, end)));
                out.resize(out.len().next_multiple_of(8), 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn written(hasher: &Hasher, keys: &[Vec<u8>]) -> Vec<u8> {
        let text = keys.concat();
        let mut end = 0;
        let spans: Vec<Span> = keys
            .iter()
            .map(|key| {
                end += key.len();
                (end - key.len(), end)
            })
            .collect();
        let mut out = Vec::new();
        write(hasher, &text, &spans, &mut out);
        out
    }

    fn summary_of(keys: &[Vec<u8>], memory: usize) -> Summary {
        let mut summary = Summary::new(memory);
        summary.add(&written(&Hasher::random(), keys));
        summary
    }

    fn entries(summary: &Summary) -> Vec<(Vec<u8>, u64, u64)> {
        summary.iter().map(|entry| (entry.key(), entry.count, entry.error)).collect()
    }

    fn exact(keys: &[Vec<u8>]) -> HashMap<&[u8], u64> {
        let mut counts = HashMap::new();
        keys.iter().for_each(|key| *counts.entry(&key[..]).or_default() += 1);
        counts
    }

    /// Checks a summary against exact counts.
    fn check(keys: &[Vec<u8>], memory: usize) {
        let summary = summary_of(keys, memory);
        let mut counts = exact(keys);
        let distinct = counts.len() as u64;
        assert_eq!(summary.total(), keys.len() as u64);
        for (key, count, error) in entries(&summary) {
            let real = counts.remove(&key[..]).expect("a key of the sequence, once");
            assert!((count..=count + error).contains(&real), "{real} is not in {count}+{error}");
            assert!(error <= summary.bound());
        }
        assert!(counts.values().all(|&count| count <= summary.bound()));
        assert!(summary.distinct() <= distinct);
        if summary.bound() == 0 {
            assert_eq!(summary.distinct(), distinct);
        }
    }

    /// The plain algorithm: a list of keys in the order in which they got in.
    fn plain(keys: &[Vec<u8>], memory: usize) -> Vec<(Vec<u8>, u64, u64)> {
        let sized = Summary::new(memory);
        let (words, max_keys) = (sized.entries.capacity(), sized.max_keys);
        let size = |key: &[u8]| HEAD + key.len().div_ceil(8);
        let mut list: Vec<(Vec<u8>, u64, u64)> = Vec::new();
        let mut bound = 0;
        for key in keys {
            if let Some(entry) = list.iter_mut().find(|entry| entry.0 == *key) {
                entry.1 += 1;
                continue;
            }
            if size(key) > words / 4 {
                continue;
            }
            let used: usize = list.iter().map(|entry| size(&entry.0)).sum();
            if used + size(key) > words || list.len() == max_keys {
                let mut sums: Vec<u64> = list.iter().map(|entry| entry.1 + entry.2).collect();
                sums.sort_unstable();
                sums.dedup();
                let fits = |least: u64| {
                    let kept: Vec<usize> = list
                        .iter()
                        .filter(|entry| entry.1 + entry.2 >= least)
                        .map(|entry| size(&entry.0))
                        .collect();
                    kept.iter().sum::<usize>() <= words / 2 && kept.len() <= max_keys / 2
                };
                bound = sums.into_iter().rfind(|&sum| !fits(sum)).expect("all do not fit");
                let above = list.iter().filter(|entry| entry.1 + entry.2 > bound);
                let mut room = above
                    .fold((words / 2, max_keys / 2), |room, entry| (room.0 - size(&entry.0), room.1 - 1));
                list.retain(|entry| {
                    let sum = entry.1 + entry.2;
                    let stays = sum > bound || sum == bound && size(&entry.0) <= room.0 && room.1 > 0;
                    if stays && sum == bound {
                        room = (room.0 - size(&entry.0), room.1 - 1);
                    }
                    stays
                });
            }
            list.push((key.clone(), 1, bound));
        }
        list
    }

    fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let number = prop_oneof![0..20_u32, 0..3000_u32];
        let key = (number, prop::sample::select(vec![0, 4, 11, 60, 90])).prop_map(|(number, length)| {
            let mut key = number.to_string().into_bytes();
            key.resize(key.len() + number as usize % (length + 1), b'x');
            key
        });
        prop::collection::vec(key, 0..2500)
    }

    proptest! {
        #[test]
        fn counts_are_within_their_bounds(keys in keys(), memory in prop::sample::select(vec![0, 4 << 10, 20 << 10])) {
            check(&keys, memory);
        }

        #[test]
        fn a_summary_is_what_the_plain_algorithm_gives(keys in keys(), memory in 0..8000_usize) {
            prop_assert_eq!(entries(&summary_of(&keys, memory)), plain(&keys, memory));
        }

        #[test]
        fn a_summary_does_not_depend_on_how_the_sequence_is_cut(keys in keys(), cut in 1..700_usize) {
            let hasher = Hasher::random();
            let mut summary = Summary::new(4 << 10);
            keys.chunks(cut).for_each(|keys| summary.add(&written(&hasher, keys)));
            prop_assert_eq!(entries(&summary), entries(&summary_of(&keys, 4 << 10)));
        }
    }

    fn numbers(numbers: impl IntoIterator<Item = u64>) -> Vec<Vec<u8>> {
        numbers.into_iter().map(|number| number.to_string().into_bytes()).collect()
    }

    /// Sequences that are hard for counters in bounded memory.
    #[test]
    fn adverse_sequences_are_counted_within_their_bounds() {
        let frequent_at_the_end = (0..20_000).chain([7; 2000]);
        let evicted_again_and_again =
            (0..200).flat_map(|round| (0..300).map(move |key| key * 1000 + round % 2));
        let by_ascending_count = (0..300_u64).flat_map(|key| vec![key; key as usize]);
        let by_descending_count = (0..300_u64).rev().flat_map(|key| vec![key; key as usize]);
        let in_turns = (0..60_000).map(|number| number % 500);
        let sequences = [
            numbers(0..30_000),
            numbers(frequent_at_the_end),
            numbers(evicted_again_and_again),
            numbers(by_ascending_count),
            numbers(by_descending_count),
            numbers(in_turns),
        ];
        for keys in &sequences {
            for memory in [2 << 10, 5 << 10, 16 << 10, 64 << 10] {
                check(keys, memory);
            }
        }
    }

    #[test]
    fn the_bound_is_at_most_the_number_of_keys_by_half_of_the_number_of_those_that_fit() {
        for sequence in [numbers(0..50_000), numbers((0..50_000).map(|number| number % 300))] {
            let summary = summary_of(&sequence, 4 << 10);
            let fit = summary.max_keys.min(summary.entries.capacity() / (HEAD + 1)) as u64;
            assert!(summary.bound() > 0);
            assert!(summary.bound() <= 50_000 / (fit / 2), "{}", summary.bound());
        }
    }

    #[test]
    fn counts_are_exact_while_all_keys_fit() {
        let keys = numbers((0..9000).map(|number| number * number % 700));
        let summary = summary_of(&keys, 256 << 10);
        assert_eq!(summary.bound(), 0);
        let counts = exact(&keys);
        let found = entries(&summary);
        assert_eq!(found.len(), counts.len());
        assert!(found.iter().all(|(key, count, error)| *error == 0 && counts[&key[..]] == *count));
    }

    #[test]
    fn a_key_that_is_too_long_for_the_table_raises_the_bound() {
        let mut keys = vec![vec![b'x'; 5000]; 3];
        keys.push(b"a".to_vec());
        check(&keys, 2 << 10);
        let summary = summary_of(&keys, 2 << 10);
        assert_eq!((entries(&summary), summary.bound()), (vec![(b"a".to_vec(), 1, 0)], 3));
    }

    #[test]
    fn the_index_grows_with_the_keys() {
        let keys = numbers((0..120_000).chain(0..120_000));
        let summary = summary_of(&keys, 16 << 20);
        assert!(summary.memory() <= 16 << 20);
        assert_eq!((summary.bound(), summary.distinct()), (0, 120_000));
        assert!(summary.iter().all(|entry| entry.count == 2));
    }
}
