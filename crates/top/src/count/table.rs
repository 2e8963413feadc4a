//! Counts by key: a hash table with open addressing for keys that repeat often.
//!
//! The cost of counting is cache misses: a log that streams through the caches evicts most of the table. So a slot is a
//! cache line or half of one and contains the key if it fits; longer keys are stored in an arena. Probing is linear
//! (Knuth, The Art of Computer Programming, vol. 3, section 6.4, algorithm L), and at most half of the slots are in
//! use, as each displaced key costs a cache miss.
//!
//! The highest bits of a hash determine the slot, so that slots are in the order of their hashes, except for displaced
//! keys. So a table can grow in place, from back to front, and each of the [`SHARDS`] shards of the hashes is a run of slots,
//! which can be merged in parallel with the others.
//!
//! No library has such a table: in the order of the hashes, with slots that are prefetched a batch ahead, and merged by shard.

use std::slice;

use finecomb_sys::memory::{FixedVec, HUGE_PAGE, has_address_space};
use finecomb_sys::simd::{Kernel, Masks, dispatch, prefetch};

use crate::cells::{Span, bytes_of, either};
use crate::count::answer::KeyCount;
use crate::count::arena::Arena;
use crate::count::order::Entry;
use crate::count::slot::{Head, KeySlot, Narrow, Wide};
use crate::key::hash::{Hasher, SHORT};
use crate::measure::Measures;
use crate::measure::column::Scale;
use crate::query::Order;
use crate::query::options::SortBy;

/// Number of shards of a table, and so the maximum number of threads that merge tables. With 256, millions of keys
/// would be merged slightly faster, but each small job would take two milliseconds longer.
pub(crate) const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 6;

/// Initial number of slots: 128 KiB, which stay in the L2 cache. With a few hundred keys, nearly all are in their home
/// slots. In 1024 slots, a quarter of 400 keys is displaced, and at each of these the branch after the first probe is
/// mispredicted.
const INITIAL_SLOTS: usize = 4096;

/// A table of a huge page or more reserves room for this many times its slots, and grows in place. The room is only address
/// space until it is used. A new allocation for each size would cost the kernel twice the pages to clear.
const RESERVE: usize = 8;

/// Minimum count of a frequent key. In logs, about a third of the keys are frequent and have most of the records.
const FREQUENT: u64 = 4;

/// Number of keys that are counted together. Their slots, one or two cache lines each, stay in the L1 cache.
const BATCH: usize = 64;

/// Counts by key.
///
/// A table is used in one of two ways. With [`Table::count`], a slot has the count of its key. With [`Table::group`], it
/// has the number of the key's group, and counts and measures are stored by group.
#[derive(Debug)]
pub(crate) struct Table {
    hasher: Hasher,
    slots: Slots,
    groups: Option<Groups>,
}

/// Slots of a table: first narrow ones, then wide ones once more than a quarter of the keys fit only in those.
#[derive(Debug)]
enum Slots {
    Narrow(SlotTable<Narrow>),
    Wide(SlotTable<Wide>),
}

impl Slots {
    fn visit(&mut self, hasher: &Hasher, text: &[u8], keys: &[Span], visitor: impl Visitor) {
        if let Self::Narrow(counts) = self
            && 4 * counts.wide_only > counts.used
        {
            *self = Self::Wide(counts.widen());
        }
        either!(Self, self, counts => dispatch(VisitKeys { counts, hasher, text, keys, visitor }));
    }
}

impl Table {
    pub(crate) fn new(hasher: Hasher) -> Self {
        Self { hasher, slots: Slots::Narrow(SlotTable::with_slots(INITIAL_SLOTS)), groups: None }
    }

    /// A table with counts and measures by group.
    pub(crate) fn with_groups(hasher: Hasher, measures: Measures) -> Self {
        Self { groups: Some(Groups { counts: Vec::new(), measures }), ..Self::new(hasher) }
    }

    /// Allocated memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        let slots = either!(Slots, &self.slots, counts => counts.memory());
        slots + self.groups.as_ref().map_or(0, Groups::memory)
    }

    /// Bytes of memory once this many more keys are added, if all are new and short. The memory of groups may double, because
    /// vectors grow by doubling.
    pub(crate) fn memory_with(&self, keys: usize) -> usize {
        let slots = either!(Slots, &self.slots, counts => counts.growth_for(keys));
        self.memory() + slots + self.groups.as_ref().map_or(0, Groups::memory)
    }

    /// Counts `keys`, which are spans of `text`. Keys are shorter than 4 GiB.
    pub(crate) fn count(&mut self, text: &[u8], keys: &[Span]) {
        self.visit(text, keys, Increment);
    }

    /// Visits the slots of `keys`, which are spans of `text`, and adds the new ones.
    pub(super) fn visit(&mut self, text: &[u8], keys: &[Span], visitor: impl Visitor) {
        self.slots.visit(&self.hasher, text, keys, visitor);
    }

    /// Stores the groups of `keys` in `groups`, and counts the keys. A new key is a new group. Groups are numbered from
    /// 0; a table has fewer than 2^32.
    pub(crate) fn group(&mut self, text: &[u8], keys: &[Span], groups: &mut Vec<u32>) -> Option<&mut Groups> {
        groups.resize(keys.len(), 0);
        let known = self.groups.as_mut()?;
        let visitor = AssignGroups { counts: &mut known.counts, groups, known: 0 };
        self.slots.visit(&self.hasher, text, keys, visitor);
        Some(known)
    }

    /// Adds the counts and measures of another table with the same measures. `rename` returns the key under which one is
    /// counted here; without it, the key is left out.
    pub(crate) fn add_all<'t>(&mut self, other: &'t Self, rename: impl Fn(&'t [u8]) -> Option<&'t [u8]>) {
        // Keys come in the order of their hashes: in a table that is too small for all, the first ones would compete for a few slots.
        self.reserve(other.len());
        let mut added = Counted::default();
        for shard in 0..SHARDS {
            other.visit_shard(shard, |entry| {
                rename(entry.key).iter().for_each(|key| added.push(key, entry.count, entry.group))
            });
        }
        self.add(&added, other.measures());
    }

    /// Adds the counts and measures of those keys of a shard of another table that are wanted.
    pub(crate) fn add_shard(&mut self, other: &Self, shard: usize, is_wanted: impl Fn(&Entry<'_>) -> bool) {
        let mut added = Counted::default();
        other.visit_shard(shard, |entry| {
            if is_wanted(&entry) {
                added.push(entry.key, entry.count, entry.group);
            }
        });
        self.add(&added, other.measures());
    }

    /// Adds counts, and the measures of their groups if the table has groups.
    pub(crate) fn add(&mut self, added: &Counted, measures: Option<&Measures>) {
        let Counted { text, keys, counts, groups } = added;
        let Some(measures) = measures else { return self.visit(text, keys, Add { counts: counts.iter() }) };
        let mut own = Vec::new();
        let Some(known) = self.group(text, keys, &mut own) else { return };
        for (&group, count) in own.iter().zip(counts) {
            // One was counted when the group was found.
            known.counts[group as usize] += count - 1;
        }
        let pairs: Vec<(u32, u32)> = own.into_iter().zip(groups.iter().copied()).collect();
        let count = known.len();
        known.measures.merge(measures, &pairs, count);
    }

    /// A table without keys that counts and measures the same.
    pub(crate) fn without_keys(&self) -> Self {
        match &self.groups {
            None => Self::new(self.hasher),
            Some(groups) => Self::with_groups(self.hasher, groups.measures.without_groups()),
        }
    }

    /// Changes the hash function of a table without keys.
    pub(crate) fn hashed_by(self, hasher: Hasher) -> Self {
        Self { hasher, ..self }
    }

    /// Measures by group, if the table has groups.
    pub(crate) fn measures(&self) -> Option<&Measures> {
        self.groups.as_ref().map(|groups| &groups.measures)
    }

    /// Raises the scales of the measured fields to at least these.
    pub(crate) fn raise_to(&mut self, scales: &[Scale]) {
        self.groups.iter_mut().for_each(|groups| groups.measures.raise_to(scales));
    }

    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        either!(Slots, &self.slots, counts => counts.used)
    }

    /// Makes room for this many more keys.
    pub(crate) fn reserve(&mut self, keys: usize) {
        either!(Slots, &mut self.slots, counts => counts.reserve(keys));
    }

    /// Returns all keys, unsorted.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        let mut entries = Vec::new();
        (0..SHARDS).for_each(|shard| self.visit_shard(shard, |entry| entries.push(entry)));
        entries
    }

    /// Returns the first wanted keys in an order, unsorted, and their measures, by the places of the keys.
    pub(crate) fn best(
        &self,
        order: &Order,
        is_wanted: impl Fn(&[u8]) -> bool,
    ) -> (Vec<KeyCount>, Option<Measures>) {
        let mut entries = self.entries();
        entries.retain(|entry| is_wanted(entry.key));
        let Some(groups) = &self.groups else { return (order.select_from(entries.iter(), None), None) };
        let first = order.first(entries.iter(), Some(&groups.measures));
        let pairs: Vec<(u32, u32)> = (0..).zip(&first).map(|(place, entry)| (place, entry.group)).collect();
        let mut measures = groups.measures.without_groups();
        measures.merge(&groups.measures, &pairs, first.len());
        let keys = first.iter().map(|entry| KeyCount::new(entry.key.to_vec(), entry.count));
        (keys.collect(), Some(measures))
    }

    /// Calls `visit` with every key of a shard.
    pub(crate) fn visit_shard<'t>(&'t self, shard: usize, mut visit: impl FnMut(Entry<'t>)) {
        let visit = |entry: Entry<'t>| {
            visit(match &self.groups {
                None => entry,
                Some(groups) => {
                    let group = entry.count - 1;
                    Entry { count: groups.counts[group as usize], group: group as u32, ..entry }
                }
            });
        };
        either!(Slots, &self.slots, counts => counts.shard(shard).for_each(visit));
    }
}

/// Keys with their counts, which are added to a table.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) text: Vec<u8>,
    /// Spans of the text.
    pub(crate) keys: Vec<Span>,
    pub(crate) counts: Vec<u64>,
    /// Groups of the keys in the measures that are added with them, if there are any.
    pub(crate) groups: Vec<u32>,
}

impl Counted {
    pub(crate) fn push(&mut self, key: &[u8], count: u64, group: u32) {
        self.keys.push((self.text.len(), self.text.len() + key.len()));
        self.text.extend_from_slice(key);
        self.counts.push(count);
        self.groups.push(group);
    }

    pub(crate) fn clear(&mut self) {
        let Self { text, keys, counts, groups } = self;
        text.clear();
        keys.clear();
        counts.clear();
        groups.clear();
    }
}

/// Counts and measures by group.
#[derive(Debug)]
pub(crate) struct Groups {
    counts: Vec<u64>,
    pub(crate) measures: Measures,
}

impl Groups {
    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    fn memory(&self) -> usize {
        self.counts.capacity() * size_of::<u64>() + self.measures.memory()
    }
}

/// Counts by key in slots of one size.
#[derive(Debug)]
struct SlotTable<S> {
    /// The number of slots is a power of two, at least [`INITIAL_SLOTS`].
    slots: FixedVec<S>,
    used: usize,
    /// Number of keys that fit only in wide slots.
    wide_only: usize,
    arena: Arena,
}

impl<S: KeySlot> SlotTable<S> {
    fn with_slots(size: usize) -> Self {
        let reserve = RESERVE * size * size_of::<S>();
        let has_reserve = reserve >= RESERVE * HUGE_PAGE && has_address_space(reserve);
        let mut slots = FixedVec::with_capacity(if has_reserve { RESERVE * size } else { size });
        slots.fill_up(S::EMPTY, size);
        Self { slots, used: 0, wide_only: 0, arena: Arena::default() }
    }

    fn memory(&self) -> usize {
        self.slots.len() * size_of::<S>() + self.arena.memory()
    }

    /// Number of slots with room for this many more keys.
    fn size_for(&self, keys: usize) -> usize {
        let mut size = self.slots.len();
        while 2 * (self.used + keys) > size {
            size = Self::larger_than(size);
        }
        size
    }

    fn reserve(&mut self, keys: usize) {
        let size = self.size_for(keys);
        if size > self.slots.len() {
            self.grow_to(size);
        }
    }

    /// Bytes of memory that are added to make room for more keys. A table that cannot grow in place is copied.
    fn growth_for(&self, keys: usize) -> usize {
        let (old, size) = (self.slots.len(), self.size_for(keys));
        let added = if size <= self.slots.capacity() { size - old } else { size };
        if size == old { 0 } else { added * size_of::<S>() }
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
        let (own, after) = from.split_at(size);
        // Keys displaced beyond the end of the shard are before the next free slot.
        let displaced = after.iter().chain(before).take_while(|slot| slot.is_used());
        let slots = own.iter().chain(displaced).filter(|slot| slot.is_used());
        slots.filter(move |slot| shard_of(slot.head().hash) == shard).map(|slot| Entry {
            key: self.key(slot),
            count: slot.head().count,
            hash: slot.head().hash,
            group: 0,
        })
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

    /// Visits the first slot from `index` on with this hash and length for which `is_key` holds. Returns `false` if there
    /// is none before the next free slot.
    #[inline(always)]
    fn visit(
        &mut self,
        mut index: usize,
        hash: u32,
        length: usize,
        is_key: impl Fn(&S, &Arena) -> bool,
        visitor: &mut impl Visitor,
    ) -> bool {
        let mask = self.slots.len() - 1;
        while let Some(slot) = self.slots.get_mut(index).filter(|slot| slot.is_used()) {
            let head = slot.head();
            if head.hash == hash && head.length as usize == length && is_key(slot, &self.arena) {
                visitor.visit(slot.head_mut());
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

    /// Next number of slots: twice as many, and at least a huge page of slots, since a table that grows is expected to
    /// become large. The sizes between would only cost copies and a page fault per 4 KiB.
    fn larger_than(slots: usize) -> usize {
        (2 * slots).max(HUGE_PAGE / size_of::<S>())
    }

    fn grow(&mut self) {
        self.grow_to(Self::larger_than(self.slots.len()));
    }

    /// Grows the table to a larger number of slots. Frequent keys are placed first, so that they get their home slots: these are
    /// prefetched, and the first probe finds the key.
    fn grow_to(&mut self, size: usize) {
        if size <= self.slots.capacity() {
            let old = self.slots.len();
            self.slots.fill_up(S::EMPTY, size);
            return self.spread(old);
        }
        let mut larger = Self::with_slots(size);
        place_all(&mut larger.slots, &self.slots);
        self.slots = larger.slots;
    }

    /// Places the keys of the first `old` slots among all.
    ///
    /// Keys are taken from the back to the front, a run of used slots at a time. The new home of a key is not before its old one,
    /// which is not before its run, so the key is placed after the slots that are still to come. Only keys that are displaced
    /// beyond the last slot get among these. They are in the first run then, and are placed again with it.
    fn spread(&mut self, old: usize) {
        let mut run = Vec::new();
        let mut end = old;
        while end > 0 {
            let start = self.slots[..end].iter().rposition(|slot| !slot.is_used()).map_or(0, |free| free + 1);
            run.clear();
            run.extend_from_slice(&self.slots[start..end]);
            self.slots[start..end].fill(S::EMPTY);
            place_all(&mut self.slots, &run);
            end = start.saturating_sub(1);
        }
    }
}

impl SlotTable<Narrow> {
    /// Copies the counts to wide slots.
    fn widen(&self) -> SlotTable<Wide> {
        let mut wide = SlotTable::with_slots(self.slots.len());
        for slot in self.slots.iter().filter(|slot| slot.is_used()) {
            wide.insert(slot.head().hash, self.key(slot), slot.head().count);
        }
        wide
    }
}

/// The half of a hash that is stored in slots.
#[inline(always)]
pub(crate) fn high(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The shard of a hash.
#[inline(always)]
pub(crate) fn shard_of(hash: u32) -> usize {
    (hash >> (u32::BITS - SHARD_BITS)) as usize
}

/// The place of a hash among this many bits, a power of two, for the hashes of its shard.
#[inline(always)]
pub(crate) fn bit_of(hash: u32, bits: usize) -> usize {
    home(hash << SHARD_BITS, bits)
}

/// Home slot of a hash. The number of slots is a power of two.
#[inline(always)]
fn home(hash: u32, slots: usize) -> usize {
    ((u64::from(hash) * slots as u64) >> 32) as usize
}

/// Stores a slot at the first free place, starting from its home slot. There must be one.
fn place<S: KeySlot>(slots: &mut [S], slot: S) {
    let mask = slots.len() - 1;
    let mut index = home(slot.head().hash, slots.len());
    while slots[index].is_used() {
        index = (index + 1) & mask;
    }
    slots[index] = slot;
}

/// Stores the used slots of `from` at the first free places, frequent keys first. There must be enough places.
fn place_all<S: KeySlot>(slots: &mut [S], from: &[S]) {
    for is_frequent in [true, false] {
        let chosen = |slot: &&S| slot.is_used() && (slot.head().count >= FREQUENT) == is_frequent;
        from.iter().filter(chosen).for_each(|slot| place(slots, *slot));
    }
}

/// The effect of a key on its slot.
pub(super) trait Visitor {
    /// Visits the slot of a known key.
    fn visit(&mut self, head: &mut Head);
    /// Returns the count to store for a new key.
    fn new_key(&mut self) -> u64;
    /// Whether a new key is stored elsewhere, so that it is not added to the table.
    #[inline(always)]
    fn defer(&mut self, _hash: u64, _text: &[u8], _key: Span) -> bool {
        false
    }
}

/// Increments the count in the slot.
struct Increment;

impl Visitor for Increment {
    #[inline(always)]
    fn visit(&mut self, head: &mut Head) {
        head.count += 1;
    }

    #[inline(always)]
    fn new_key(&mut self) -> u64 {
        1
    }
}

/// Adds the count of each key to that in its slot.
struct Add<'a> {
    counts: slice::Iter<'a, u64>,
}

impl Visitor for Add<'_> {
    #[inline(always)]
    fn visit(&mut self, head: &mut Head) {
        head.count += self.new_key();
    }

    #[inline(always)]
    fn new_key(&mut self) -> u64 {
        self.counts.next().copied().unwrap_or_default()
    }
}

/// Stores the group of each key. The count in a slot is the group plus 1.
struct AssignGroups<'a> {
    counts: &'a mut Vec<u64>,
    /// The groups of all keys. The first `known` are known.
    groups: &'a mut [u32],
    known: usize,
}

impl AssignGroups<'_> {
    #[inline(always)]
    fn push(&mut self, group: u32) {
        if let Some(place) = self.groups.get_mut(self.known) {
            *place = group;
        }
        self.known += 1;
    }
}

impl Visitor for AssignGroups<'_> {
    #[inline(always)]
    fn visit(&mut self, head: &mut Head) {
        let group = head.count as u32 - 1;
        self.push(group);
        if let Some(count) = self.counts.get_mut(group as usize) {
            *count += 1;
        }
    }

    #[inline(always)]
    fn new_key(&mut self) -> u64 {
        self.push(self.counts.len() as u32);
        self.counts.push(1);
        self.counts.len() as u64
    }
}

/// Visits keys in batches of three passes: hash the keys and prefetch their slots; for long keys, find the slots and
/// prefetch the keys in the arena; compare and count. So the cache misses of a batch overlap.
///
/// Where nearly all keys are short, those are hashed by a quarter of the instructions. Where lengths vary, that would cost
/// a misprediction at every other key.
struct VisitKeys<'a, S, V> {
    counts: &'a mut SlotTable<S>,
    hasher: &'a Hasher,
    text: &'a [u8],
    keys: &'a [Span],
    visitor: V,
}

/// State of a key between the passes.
#[derive(Clone, Copy, Default)]
struct PendingKey {
    /// Its high half is the hash in the slot.
    hash: u64,
    slot: usize,
    /// The words of its text. For a short key, maybe only the first two.
    words: [u64; 8],
}

impl<S: KeySlot, V: Visitor> Kernel for VisitKeys<'_, S, V> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { counts, hasher, text, keys, mut visitor } = self;
        let mut batch = [PendingKey::default(); BATCH];
        // As in the batch before.
        let mut most_are_short = false;
        for keys in keys.chunks(BATCH) {
            // The table must not grow between the passes, even if all keys are new.
            while counts.is_full(keys.len()) {
                counts.grow();
            }
            let mut others = 0;
            for (&key, pending) in keys.iter().zip(&mut batch) {
                if !(most_are_short && pending.hash_short(hasher, text, key)) {
                    (pending.hash, pending.words) = hasher.hash(masks, text, key.0, key.1);
                    others += 1;
                }
                pending.slot = home(high(pending.hash), counts.slots.len());
                if let Some(slot) = counts.slots.get(pending.slot) {
                    prefetch(slot);
                }
            }
            let mut long = 0;
            // In most batches of short keys, there is no other.
            let to_find = if others > 0 { keys } else { &[] };
            for (&(start, end), pending) in to_find.iter().zip(&mut batch) {
                long += usize::from(end - start > SHORT);
                if end - start > S::INLINE {
                    pending.slot = counts.find(high(pending.hash));
                    if let Some(slot) = counts.slots.get(pending.slot).filter(|slot| !slot.is_inline()) {
                        counts.arena.prefetch(slot.address(), slot.head().length);
                    }
                }
            }
            for (&key, pending) in keys.iter().zip(&batch) {
                if !visit_one(counts, text, key, pending, most_are_short, &mut visitor)
                    && !visitor.defer(pending.hash, text, key)
                {
                    counts.insert(high(pending.hash), bytes_of(text, key), visitor.new_key());
                }
            }
            most_are_short = long <= keys.len() / 16;
        }
    }
}

impl PendingKey {
    /// Hashes a key if it is short, and not at the very end of the text.
    #[inline(always)]
    fn hash_short(&mut self, hasher: &Hasher, text: &[u8], (start, end): Span) -> bool {
        let length = end - start;
        let window = text.get(start..).and_then(|text| text.first_chunk());
        let Some(window) = window.filter(|_| length <= SHORT) else { return false };
        (self.hash, [self.words[0], self.words[1]]) = hasher.hash_short(window, length);
        true
    }
}

/// Visits a key if it is in the table, else returns `false`. `by_short` says whether short keys have only their first two
/// words.
#[inline(always)]
fn visit_one<S: KeySlot>(
    counts: &mut SlotTable<S>,
    text: &[u8],
    key: Span,
    pending: &PendingKey,
    by_short: bool,
    visitor: &mut impl Visitor,
) -> bool {
    let PendingKey { slot, hash, words } = pending;
    let hash = &high(*hash);
    let length = key.1 - key.0;
    if length <= SHORT && (by_short || S::INLINE == SHORT) {
        return counts.visit(*slot, *hash, length, |slot, _| slot.holds_short([words[0], words[1]]), visitor);
    }
    if length <= S::INLINE {
        return counts.visit(*slot, *hash, length, |slot, _| slot.holds(words), visitor);
    }
    let is_key =
        |slot: &S, arena: &Arena| arena.key(slot.address(), slot.head().length) == bytes_of(text, key);
    counts.visit(*slot, *hash, length, is_key, visitor)
}

/// The merged shards of several tables. The keys remain in the tables.
pub(crate) struct JoinedShard<'t> {
    /// The number of slots is a power of two.
    slots: Vec<Option<Entry<'t>>>,
    used: usize,
    /// Measures of the tables, if these have groups.
    measured: Vec<TableMeasures<'t>>,
}

/// Measures of a table.
struct TableMeasures<'t> {
    measures: &'t Measures,
    /// The groups of a joined shard, each with that of the table.
    pairs: Vec<(u32, u32)>,
}

impl<'t> JoinedShard<'t> {
    /// Merges a shard of all `tables`, which must have the same hash function and the same measures.
    pub(crate) fn new(tables: &[&'t Table], shard: usize) -> Self {
        Self::with_others(tables, shard, &[])
    }

    /// Merges a shard of all tables with other keys of that shard. Each of these counts once.
    pub(crate) fn with_others(tables: &[&'t Table], shard: usize, others: &'t [(u32, Vec<u8>)]) -> Self {
        let mut keys = others.len();
        for table in tables {
            table.visit_shard(shard, |_| keys += 1);
        }
        // There is room for all keys from the start, so they are inserted almost in the order of their slots.
        let slots = vec![None; (keys + keys / 2 + 1_usize).next_power_of_two()];
        let mut joined = Self { slots, used: 0, measured: Vec::new() };
        for table in tables {
            let Some(groups) = &table.groups else {
                table.visit_shard(shard, |entry| {
                    joined.add(entry);
                });
                continue;
            };
            let mut pairs = Vec::new();
            table.visit_shard(shard, |entry| pairs.push((joined.add(entry), entry.group)));
            joined.measured.push(TableMeasures { measures: &groups.measures, pairs });
        }
        for (hash, key) in others {
            joined.add(Entry { key, count: 1, hash: *hash, group: 0 });
        }
        joined
    }

    /// Adds the count of a key and returns its group. A new key is a new group.
    fn add(&mut self, new: Entry<'t>) -> u32 {
        let mask = self.slots.len() - 1;
        // The highest bits are the same for all hashes of a shard.
        let mut index = home(new.hash << SHARD_BITS, self.slots.len());
        loop {
            match &mut self.slots[index] {
                Some(known) if known.hash == new.hash && known.key == new.key => {
                    known.count += new.count;
                    return known.group;
                }
                Some(_) => index = (index + 1) & mask,
                free => {
                    let group = self.used as u32;
                    *free = Some(Entry { group, ..new });
                    self.used += 1;
                    return group;
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

    /// Returns the first of these entries in an order, unsorted. Only the measures of these are merged, if the order is not by a measure.
    pub(crate) fn select<'e>(
        &'e self,
        order: &Order,
        entries: impl Iterator<Item = &'e Entry<'t>>,
    ) -> Vec<KeyCount> {
        if self.measured.is_empty() || matches!(order.by, SortBy::Measure(_)) {
            return order.select_from(entries, self.measures().as_ref());
        }
        let mut places = vec![None; self.used];
        let place = |(place, entry): (u32, &Entry<'t>)| {
            places[entry.group as usize] = Some(place);
            Entry { group: place, ..*entry }
        };
        let first: Vec<Entry<'_>> = (0..).zip(order.first(entries, None)).map(place).collect();
        let measures = self.merge(first.len(), |group| places[group as usize]);
        order.select_from(first.iter(), measures.as_ref())
    }

    /// Measures by the groups of all entries.
    pub(crate) fn measures(&self) -> Option<Measures> {
        self.merge(self.used, Some)
    }

    /// Merges the measures of `count` groups. `place` returns the place of a group among them.
    fn merge(&self, count: usize, place: impl Fn(u32) -> Option<u32>) -> Option<Measures> {
        let mut merged = self.measured.first()?.measures.without_groups();
        for TableMeasures { measures, pairs } in &self.measured {
            let wanted = pairs.iter().filter_map(|&(group, of_table)| Some((place(group)?, of_table)));
            merged.merge(measures, &wanted.collect::<Vec<_>>(), count);
        }
        Some(merged)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::cells::{Cell, Cells};
    use crate::measure::column::MeasureKind;
    use crate::measure::quantity::Quantity;
    use crate::measure::values::Rows;

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

    /// Sums by key: the number of its records, and the sum of their values.
    type Sums = BTreeMap<Vec<u8>, (u64, u64)>;

    /// Makes a table with groups that sums a value for each key.
    pub(crate) fn table_of_sums(hasher: Hasher, records: &[(Vec<u8>, u64)]) -> Table {
        let mut table = Table::with_groups(hasher, Measures::new(&[(MeasureKind::Sum, 0)]));
        let (mut numbers, mut bad) = (Vec::new(), Vec::new());
        for records in records.chunks(500) {
            let (mut text, mut spans, mut cells) = (Vec::new(), Vec::new(), Cells::default());
            cells.reset(1);
            for (key, value) in records {
                let start = text.len();
                text.extend_from_slice(key);
                let end = text.len();
                spans.push((start, end));
                text.extend_from_slice(value.to_string().as_bytes());
                cells.columns_mut()[0].push(Cell::Raw(end as u32, text.len() as u32));
            }
            let groups = table.group(&text, &spans, &mut numbers).expect("groups");
            let count = groups.len();
            groups.measures.add(&numbers, count, Rows::All, &text, &cells, &mut bad);
        }
        assert!(bad.is_empty());
        table
    }

    fn sums(tables: &[&Table]) -> Sums {
        let mut sums = Sums::new();
        for shard in 0..SHARDS {
            let joined = JoinedShard::new(tables, shard);
            let measures = joined.measures();
            let before = sums.len();
            for entry in joined.entries() {
                let sum = match measures.as_ref().map(|measures| measures.value(0, entry.group)) {
                    Some(Quantity::Number(sum)) => sum.to_string().parse().expect("a whole number"),
                    other => panic!("a sum, not {other:?}"),
                };
                let old = sums.insert(entry.key.to_vec(), (entry.count, sum));
                assert_eq!(old, None, "a duplicate key");
            }
            assert_eq!(sums.len() - before, joined.len());
        }
        sums
    }

    fn plain_sums<'r>(records: impl IntoIterator<Item = &'r (Vec<u8>, u64)>) -> Sums {
        let mut sums = Sums::new();
        for (key, value) in records {
            let (count, sum) = sums.entry(key.clone()).or_default();
            (*count, *sum) = (*count + 1, *sum + value);
        }
        sums
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
        let mostly_short = prop_oneof![40 => bytes(0..8), 1 => bytes(14..51), 1 => bytes(60..70)];
        prop_oneof![
            prop::collection::vec(key, 0..600),
            prop::collection::vec(mostly_short, 0..600),
            prop::collection::vec(bytes(0..4), 0..100)
        ]
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

        #[test]
        fn tables_with_groups_sum_as_a_map_does(parts in prop::collection::vec((keys(), 1..1000_u64), 0..4)) {
            let hasher = Hasher::random();
            let values = |(keys, first): &(Vec<Vec<u8>>, u64)| {
                keys.iter().cloned().zip(*first..).collect::<Vec<_>>()
            };
            let parts: Vec<Vec<(Vec<u8>, u64)>> = parts.iter().map(values).collect();
            let tables: Vec<Table> = parts.iter().map(|records| table_of_sums(hasher, records)).collect();
            let tables: Vec<&Table> = tables.iter().collect();
            prop_assert_eq!(sums(&tables), plain_sums(parts.iter().flatten()));
        }
    }

    proptest! {
        /// With hashes that compete for the same slots, also beyond the last one.
        #[test]
        fn a_table_that_grows_in_place_has_every_key_where_it_is_found(
            hashes in prop::collection::vec(
                (prop_oneof![Just(0), Just(u32::MAX), u32::MAX - (9 << 25)..u32::MAX, 0..9_u32 << 25, any::<u32>()], 1..9_u64),
                0..=60,
            ),
        ) {
            let mut slots = FixedVec::with_capacity(1024);
            slots.fill_up(Narrow::EMPTY, 64);
            let mut table = SlotTable { slots, used: 0, wide_only: 0, arena: Arena::default() };
            let keys: Vec<[u8; 1]> = (0..hashes.len() as u8).map(|number| [number]).collect();
            for (&(hash, count), key) in hashes.iter().zip(&keys) {
                table.insert(hash, key, count);
            }
            for size in [128, 1024] {
                table.grow_to(size);
                prop_assert_eq!(table.slots.len(), size);
                prop_assert_eq!(table.slots.iter().filter(|slot| slot.is_used()).count(), hashes.len());
                for (&(hash, count), key) in hashes.iter().zip(&keys) {
                    let shard = (hash >> (u32::BITS - SHARD_BITS)) as usize;
                    let found: Vec<u64> =
                        table.shard(shard).filter(|entry| entry.key == key).map(|entry| entry.count).collect();
                    prop_assert_eq!(found, [count]);
                    let words = [u64::from(key[0]), 0];
                    let is_key = |slot: &Narrow, _: &Arena| slot.holds_short(words);
                    prop_assert!(table.visit(home(hash, size), hash, 1, is_key, &mut Nothing));
                }
            }
        }
    }

    /// Visits without effect.
    struct Nothing;

    impl Visitor for Nothing {
        fn visit(&mut self, _: &mut Head) {}

        fn new_key(&mut self) -> u64 {
            0
        }
    }

    #[test]
    fn a_large_table_grows_in_its_reserve() {
        let mut table: SlotTable<Narrow> = SlotTable::with_slots(HUGE_PAGE / size_of::<Narrow>());
        let (start, memory) = (table.slots.as_ptr(), table.memory());
        table.grow();
        assert_eq!((table.slots.as_ptr(), table.memory()), (start, 2 * memory));
    }

    /// Every table grows, and becomes wide where keys are of medium length.
    #[test]
    fn a_table_with_groups_keeps_all_sums_when_it_grows() {
        for end in ["", " of medium length", &"x".repeat(60)] {
            let record = |number: u64| (format!("{}{end}", number * number % 60_000).into_bytes(), number);
            let all = |from: u64| (from..from + 60_000).map(record).collect::<Vec<_>>();
            let distinct =
                |from: u64| (from..from + 60_000).map(|number| (format!("{number}{end}").into_bytes(), 1));
            let parts = [all(0), distinct(0).collect(), all(7), distinct(30_000).collect()];
            let hasher = Hasher::random();
            let tables: Vec<Table> = parts.iter().map(|records| table_of_sums(hasher, records)).collect();
            let tables: Vec<&Table> = tables.iter().collect();
            let expected = plain_sums(parts.iter().flatten());
            assert!(expected.len() > 60_000);
            assert!(sums(&tables) == expected, "{end}");
            assert!(sums(&tables[1..2]) == plain_sums(&parts[1]), "{end}");
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

    /// The documentation states this bound for keys of up to 16 bytes.
    #[test]
    fn a_key_takes_no_more_than_128_bytes_in_a_small_table() {
        for count in [1024, 1500, 2000] {
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
        let mut table: SlotTable<Narrow> = SlotTable::with_slots(4096);
        let keys: Vec<Vec<u8>> = (0..2000)
            .map(|number| format!("a key that is too long for its slot {number}").into_bytes())
            .collect();
        for key in &keys {
            table.insert(u32::MAX, key, 1);
        }
        for key in &keys {
            let same = |slot: &Narrow, arena: &Arena| arena.key(slot.address(), slot.head().length) == key;
            assert!(table.visit(table.find(u32::MAX), u32::MAX, key.len(), same, &mut Increment));
        }
        assert_eq!(table.shard(SHARDS - 1).count(), 2000);
        assert!((0..SHARDS - 1).all(|shard| table.shard(shard).next().is_none()));
        let table = Table { hasher: Hasher::random(), slots: Slots::Narrow(table), groups: None };
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
