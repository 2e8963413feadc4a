//! Counts by key: a hash table with open addressing for keys that repeat often.
//!
//! The cost of counting is cache misses: a log that streams through the caches evicts most of the table. So a slot is a
//! cache line or half of one and contains the key if it fits; longer keys are stored in an arena. Probing is linear
//! (Knuth, The Art of Computer Programming, vol. 3, section 6.4, algorithm L), and at most half of the slots are in
//! use, as each displaced key costs a cache miss.
//!
//! The highest bits of a hash determine the slot, so that slots are in the order of their hashes, except for displaced
//! keys. So a table can grow from front to back, and each of the [`SHARDS`] shards of the hashes is a run of slots,
//! which can be merged in parallel with the others.

use finecomb_sys::memory::{FixedVec, HUGE_PAGE};
use finecomb_sys::simd::{Kernel, Masks, dispatch, prefetch};

use crate::answer::{KeyCount, most_frequent};
use crate::arena::Arena;
use crate::hash::Hasher;
use crate::slot::{Head, Narrow, Slot, Wide};
use crate::{Span, bytes_of};

/// Number of shards of a table, and so the maximum number of threads that merge tables. With 256, millions of keys
/// would be merged slightly faster, but each small job would take two milliseconds longer.
pub(crate) const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 6;

/// Initial number of slots, so that a shard has at least a few.
const INITIAL_SLOTS: usize = 1024;

/// Number of slots from which on a table is expected to become large.
const LARGE_SLOTS: usize = 4096;

/// Minimum count of a frequent key. In logs, about a third of the keys are frequent and have most of the records.
const FREQUENT: u64 = 4;

/// Number of keys that are counted together. Their slots, one or two cache lines each, stay in the L1 cache.
const BATCH: usize = 64;

/// Counts by key.
#[derive(Debug)]
pub(crate) struct Table {
    hasher: Hasher,
    slots: Slots,
}

/// Slots of a table: first narrow ones, then wide ones once more than a quarter of the keys fit only in those.
#[derive(Debug)]
enum Slots {
    Narrow(Counts<Narrow>),
    Wide(Counts<Wide>),
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'t> {
    pub(crate) key: &'t [u8],
    pub(crate) count: u64,
    pub(crate) hash: u32,
}

impl Table {
    pub(crate) fn new(hasher: Hasher) -> Self {
        Self { hasher, slots: Slots::Narrow(Counts::with_slots(INITIAL_SLOTS)) }
    }

    /// Allocated memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        match &self.slots {
            Slots::Narrow(counts) => counts.memory(),
            Slots::Wide(counts) => counts.memory(),
        }
    }

    /// Counts `keys`, which are spans of `text`. Keys are shorter than 4 GiB.
    pub(crate) fn count(&mut self, text: &[u8], keys: &[Span]) {
        if let Slots::Narrow(counts) = &mut self.slots
            && 4 * counts.wide_only > counts.used
        {
            self.slots = Slots::Wide(counts.widen());
        }
        let hasher = &self.hasher;
        match &mut self.slots {
            Slots::Narrow(counts) => dispatch(CountKeys { counts, hasher, text, keys }),
            Slots::Wide(counts) => dispatch(CountKeys { counts, hasher, text, keys }),
        }
    }

    /// Returns the most frequent keys, unsorted.
    pub(crate) fn best(&self, number: usize) -> Vec<KeyCount> {
        let mut entries = Vec::new();
        (0..SHARDS).for_each(|shard| self.visit_shard(shard, |entry| entries.push(entry)));
        most_frequent(entries.iter(), number)
    }

    /// Calls `visit` with every key of a shard.
    fn visit_shard<'t>(&'t self, shard: usize, visit: impl FnMut(Entry<'t>)) {
        match &self.slots {
            Slots::Narrow(counts) => counts.shard(shard).for_each(visit),
            Slots::Wide(counts) => counts.shard(shard).for_each(visit),
        }
    }
}

/// Counts by key in slots of one size.
#[derive(Debug)]
struct Counts<S> {
    /// The number of slots is a power of two, at least [`INITIAL_SLOTS`].
    slots: FixedVec<S>,
    used: usize,
    /// Number of keys that fit only in wide slots.
    wide_only: usize,
    arena: Arena,
}

impl<S: Slot> Counts<S> {
    fn with_slots(size: usize) -> Self {
        let slots = FixedVec::filled(S::EMPTY, size);
        Self { slots, used: 0, wide_only: 0, arena: Arena::default() }
    }

    fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<S>() + self.arena.memory()
    }

    fn key<'t>(&'t self, slot: &'t S) -> &'t [u8] {
        let length = slot.head().length;
        if slot.is_inline() {
            &slot.bytes()[..length as usize]
        } else {
            self.arena.key(slot.address(), length)
        }
    }

    fn shard(&self, shard: usize) -> impl Iterator<Item = Entry<'_>> {
        let size = self.slots.len() / SHARDS;
        let (before, from) = self.slots.split_at(shard * size);
        let (own, behind) = from.split_at(size);
        // Keys displaced beyond the end of the shard are before the next free slot.
        let displaced = behind.iter().chain(before).take_while(|slot| slot.is_used());
        let slots = own.iter().chain(displaced).filter(|slot| slot.is_used());
        slots
            .filter(move |slot| slot.head().hash >> (u32::BITS - SHARD_BITS) == shard as u32)
            .map(|slot| Entry { key: self.key(slot), count: slot.head().count, hash: slot.head().hash })
    }

    /// Whether the table must grow before `more` keys are added.
    fn is_full(&self, more: usize) -> bool {
        2 * (self.used + more) > self.slots.len()
    }

    /// Returns the first slot that has this hash or is free, starting from the home slot.
    #[inline(always)]
    fn find(&self, hash: u32) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = home(hash, self.slots.len());
        while self.slots.get(index).is_some_and(|slot| slot.is_used() && slot.head().hash != hash) {
            index = (index + 1) & mask;
        }
        index
    }

    /// Increments the count of the first slot from `index` on with this hash and length for which `is_key` holds.
    /// Returns `false` if there is none before the next free slot.
    #[inline(always)]
    fn increment(
        &mut self,
        mut index: usize,
        hash: u32,
        length: usize,
        is_key: impl Fn(&S, &Arena) -> bool,
    ) -> bool {
        let mask = self.slots.len() - 1;
        while let Some(slot) = self.slots.get_mut(index).filter(|slot| slot.is_used()) {
            let head = slot.head();
            if head.hash == hash && head.length as usize == length && is_key(slot, &self.arena) {
                slot.head_mut().count += 1;
                return true;
            }
            index = (index + 1) & mask;
        }
        false
    }

    /// Inserts a new key. There must be a free slot.
    #[inline(never)]
    fn insert(&mut self, hash: u32, key: &[u8], count: u64) {
        let mut slot = S::EMPTY;
        *slot.head_mut() = Head { count, hash, length: key.len() as u32 };
        if key.len() <= S::INLINE {
            slot.bytes_mut()[..key.len()].copy_from_slice(key);
        } else {
            slot.bytes_mut()[..8].copy_from_slice(&self.arena.store(key).to_le_bytes());
            self.wide_only += usize::from(key.len() <= Wide::INLINE);
        }
        place(&mut self.slots, slot);
        self.used += 1;
    }

    /// Next number of slots: twice as many, and at least a huge page of slots for a table that is expected to become
    /// large. The sizes between would only cost copies and a page fault per 4 KiB.
    fn larger_than(slots: usize) -> usize {
        if slots < LARGE_SLOTS { 2 * slots } else { (2 * slots).max(HUGE_PAGE / size_of::<S>()) }
    }

    /// Grows the table. Frequent keys are placed first, so that they get their home slots: these are prefetched, and
    /// the first probe finds the key.
    fn grow(&mut self) {
        let mut larger = Self::with_slots(Self::larger_than(self.slots.len()));
        for is_frequent in [true, false] {
            let chosen = |slot: &&S| slot.is_used() && (slot.head().count >= FREQUENT) == is_frequent;
            for slot in self.slots.iter().filter(chosen) {
                place(&mut larger.slots, *slot);
            }
        }
        self.slots = larger.slots;
    }
}

impl Counts<Narrow> {
    /// Copies the counts to wide slots.
    fn widen(&self) -> Counts<Wide> {
        let mut wide = Counts::with_slots(self.slots.len());
        for slot in self.slots.iter().filter(|slot| slot.is_used()) {
            wide.insert(slot.head().hash, self.key(slot), slot.head().count);
        }
        wide
    }
}

/// Home slot of a hash. The number of slots is a power of two.
#[inline(always)]
fn home(hash: u32, slots: usize) -> usize {
    ((u64::from(hash) * slots as u64) >> 32) as usize
}

/// Stores a slot at the first free place, starting from its home slot. There must be one.
fn place<S: Slot>(slots: &mut [S], slot: S) {
    let mask = slots.len() - 1;
    let mut index = home(slot.head().hash, slots.len());
    while slots[index].is_used() {
        index = (index + 1) & mask;
    }
    slots[index] = slot;
}

/// Counts keys in batches of three passes: hash the keys and prefetch their slots; for long keys, find the slots and
/// prefetch the keys in the arena; compare and count. So the cache misses of a batch overlap.
struct CountKeys<'a, S> {
    counts: &'a mut Counts<S>,
    hasher: &'a Hasher,
    text: &'a [u8],
    keys: &'a [Span],
}

/// State of a key between the passes.
#[derive(Clone, Copy, Default)]
struct PendingKey {
    hash: u32,
    slot: usize,
    words: [u64; 8],
}

impl<S: Slot> Kernel for CountKeys<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { counts, hasher, text, keys } = self;
        let mut batch = [PendingKey::default(); BATCH];
        for keys in keys.chunks(BATCH) {
            // The table must not grow between the passes, even if all keys are new.
            while counts.is_full(keys.len()) {
                counts.grow();
            }
            for (&(start, end), pending) in keys.iter().zip(&mut batch) {
                (pending.hash, pending.words) = hasher.hash(masks, text, start, end);
                pending.slot = home(pending.hash, counts.slots.len());
                if let Some(slot) = counts.slots.get(pending.slot) {
                    prefetch(slot);
                }
            }
            for (&(start, end), pending) in keys.iter().zip(&mut batch) {
                if end - start > S::INLINE {
                    pending.slot = counts.find(pending.hash);
                    if let Some(slot) = counts.slots.get(pending.slot).filter(|slot| !slot.is_inline()) {
                        counts.arena.prefetch(slot.address(), slot.head().length);
                    }
                }
            }
            for (&key, pending) in keys.iter().zip(&batch) {
                if !count_one(counts, text, key, pending) {
                    counts.insert(pending.hash, bytes_of(text, key), 1);
                }
            }
        }
    }
}

/// Counts a key if it is in the table, else returns `false`.
#[inline(always)]
fn count_one<S: Slot>(counts: &mut Counts<S>, text: &[u8], key: Span, pending: &PendingKey) -> bool {
    let length = key.1 - key.0;
    if length <= S::INLINE {
        return counts.increment(pending.slot, pending.hash, length, |slot, _| slot.holds(&pending.words));
    }
    counts.increment(pending.slot, pending.hash, length, |slot, arena| {
        arena.key(slot.address(), slot.head().length) == bytes_of(text, key)
    })
}

/// The merged shards of several tables. The keys remain in the tables.
pub(crate) struct JoinedShard<'t> {
    /// The number of slots is a power of two.
    slots: Vec<Option<Entry<'t>>>,
    used: usize,
}

impl<'t> JoinedShard<'t> {
    /// Merges a shard of all `tables`, which must have the same hash function.
    pub(crate) fn new(tables: &[&'t Table], shard: usize) -> Self {
        let mut keys = 0;
        for table in tables {
            table.visit_shard(shard, |_| keys += 1);
        }
        // There is room for all keys from the start, so they are inserted almost in the order of their slots.
        let mut joined = Self { slots: vec![None; (keys + keys / 2 + 1_usize).next_power_of_two()], used: 0 };
        for table in tables {
            table.visit_shard(shard, |entry| joined.add(entry));
        }
        joined
    }

    fn add(&mut self, new: Entry<'t>) {
        let mask = self.slots.len() - 1;
        // The highest bits are the same for all hashes of a shard.
        let mut index = home(new.hash << SHARD_BITS, self.slots.len());
        loop {
            match &mut self.slots[index] {
                Some(known) if known.hash == new.hash && known.key == new.key => {
                    known.count += new.count;
                    return;
                }
                Some(_) => index = (index + 1) & mask,
                free => {
                    *free = Some(new);
                    self.used += 1;
                    return;
                }
            }
        }
    }

    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Returns all keys, unordered.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry<'t>> {
        self.slots.iter().flatten()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Makes a table of keys.
    pub(crate) fn table_of(hasher: Hasher, keys: &[Vec<u8>]) -> Table {
        let mut table = Table::new(hasher);
        for keys in keys.chunks(500) {
            let mut spans = Vec::new();
            let mut end = 0;
            for key in keys {
                spans.push((end, end + key.len()));
                end += key.len();
            }
            table.count(&keys.concat(), &spans);
        }
        table
    }

    fn counts(tables: &[&Table]) -> BTreeMap<Vec<u8>, u64> {
        let mut counts = BTreeMap::new();
        for shard in 0..SHARDS {
            let joined = JoinedShard::new(tables, shard);
            let before = counts.len();
            for entry in joined.entries() {
                assert_eq!(counts.insert(entry.key.to_vec(), entry.count), None, "a duplicate key");
            }
            assert_eq!(counts.len() - before, joined.len());
        }
        counts
    }

    fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let bytes = |lengths| prop::collection::vec(0..2_u8, lengths);
        let key = prop_oneof![
            3 => bytes(0..5),
            2 => bytes(14..19),
            2 => bytes(46..51),
            1 => prop::collection::vec(any::<u8>(), 0..70),
            1 => (60..70_usize).prop_map(|length| vec![0; length]),
        ];
        prop_oneof![prop::collection::vec(key, 0..600), prop::collection::vec(bytes(0..4), 0..100)]
    }

    proptest! {
        #[test]
        fn tables_count_as_a_map_does(parts in prop::collection::vec(keys(), 1..4)) {
            let hasher = Hasher::random();
            let mut expected = BTreeMap::new();
            for key in parts.iter().flatten() {
                *expected.entry(key.clone()).or_insert(0) += 1;
            }
            let tables: Vec<Table> = parts.iter().map(|keys| table_of(hasher, keys)).collect();
            let tables: Vec<&Table> = tables.iter().collect();
            prop_assert_eq!(counts(&tables), expected);
        }
    }

    #[test]
    fn a_table_keeps_all_keys_when_it_grows() {
        for end in ["", " and more", " and much more than fits in a narrow slot", &"x".repeat(60)] {
            let key = |number| format!("{number}{end}").into_bytes();
            let keys: Vec<Vec<u8>> = (0..30_000).map(|number| key(number % 20_000)).collect();
            let table = table_of(Hasher::random(), &keys);
            let counts = counts(&[&table]);
            assert_eq!(counts.len(), 20_000);
            assert_eq!((counts[&key(9999)], counts[&key(10_000)]), (2, 1));
        }
    }

    /// The README states this bound for keys of up to 16 bytes. A small table grows by doubling.
    #[test]
    fn a_key_takes_no_more_than_128_bytes_in_a_small_table() {
        for count in [600, 1100, 2000] {
            let keys: Vec<Vec<u8>> = (0..count).map(|number| format!("{number}").into_bytes()).collect();
            let memory = table_of(Hasher::random(), &keys).memory();
            assert!(memory <= 128 * count, "{memory} bytes for {count} keys");
        }
    }

    #[test]
    fn slots_become_wide_for_medium_keys() {
        let table = |end: &str| {
            let keys: Vec<Vec<u8>> = (0..2000).map(|number| format!("{number}{end}").into_bytes()).collect();
            table_of(Hasher::random(), &keys)
        };
        assert!(matches!(table("").slots, Slots::Narrow(_)));
        assert!(matches!(table(" is the number of this key").slots, Slots::Wide(_)));
        assert!(matches!(table(&"x".repeat(60)).slots, Slots::Narrow(_)));
    }

    /// Worst case: all keys have the same hash, at the end of the table.
    #[test]
    fn keys_with_the_same_hash_are_distinguished() {
        let mut table: Counts<Narrow> = Counts::with_slots(4096);
        let keys: Vec<Vec<u8>> = (0..2000)
            .map(|number| format!("a key that is too long for its slot {number}").into_bytes())
            .collect();
        for key in &keys {
            table.insert(u32::MAX, key, 1);
        }
        for key in &keys {
            let same = |slot: &Narrow, arena: &Arena| arena.key(slot.address(), slot.head().length) == key;
            assert!(table.increment(table.find(u32::MAX), u32::MAX, key.len(), same));
        }
        assert_eq!(table.shard(SHARDS - 1).count(), 2000);
        assert!((0..SHARDS - 1).all(|shard| table.shard(shard).next().is_none()));
        let table = Table { hasher: Hasher::random(), slots: Slots::Narrow(table) };
        assert!(counts(&[&table, &table]).values().all(|&count| count == 4));
    }

    #[test]
    fn keys_with_common_prefixes_are_distinguished() {
        let (one, two) = ([0; 16], [0; 17]);
        let keys: [&[u8]; 8] = [b"", b"\0", b"\0\0", b"12345678", b"12345678\0", &one, &two, &[0; 65]];
        let all: Vec<Vec<u8>> = (1..).zip(keys).flat_map(|(count, key)| vec![key.to_vec(); count]).collect();
        let table = table_of(Hasher::random(), &all);
        let found = counts(&[&table]);
        for (count, key) in (1..).zip(keys) {
            assert_eq!(found[key], count);
        }
    }
}
