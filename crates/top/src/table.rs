//! Counts by key: a hash table with open addressing, made for keys that come again and again.
//!
//! A slot is 24 bytes and holds all that tells a key from others but its bytes: a hit costs one cache miss for the slot
//! and one for the key, and keys of up to eight bytes lie in the slot itself. Slots are probed one after another
//! (Knuth, The Art of Computer Programming, vol. 3, section 6.4, algorithm L). At most three quarters are in use.

use finecomb_scan::simd::prefetch;

use crate::arena::{Address, Arena};

/// Counts by key.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// A power of two of them, or none.
    slots: Vec<Slot>,
    used: usize,
    arena: Arena,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// 0 in a slot that is not in use.
    count: u64,
    /// The key itself if it is short, else where it lies in the arena.
    key: u64,
    hash: u32,
    length: u32,
}

/// The longest key that lies in its slot, in bytes.
const SHORT: usize = 8;
const FIRST_SLOTS: usize = 16;

impl Table {
    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Bytes of memory held.
    pub(crate) fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.arena.memory()
    }

    /// Asks for the slot that `add` will look at first.
    #[inline(always)]
    pub(crate) fn prefetch_slot(&self, hash: u32) {
        if let Some(slot) = self.slots.get(self.home(hash)) {
            prefetch(slot);
        }
    }

    /// Asks for the key that `add` will compare first, once its slot is there.
    #[inline(always)]
    pub(crate) fn prefetch_key(&self, hash: u32) {
        if let Some(slot) = self.slots.get(self.home(hash)).filter(|slot| slot.length as usize > SHORT) {
            self.arena.prefetch(slot.key, slot.length);
        }
    }

    /// Adds `count`, which must not be 0, to a key's count. Equal keys must have equal hashes.
    #[inline(always)]
    pub(crate) fn add(&mut self, hash: u32, key: &[u8], count: u64) {
        if key.len() <= SHORT {
            let packed = pack(key);
            let is_key = |slot: &Slot, _: &Arena| slot.key == packed;
            self.add_to(hash, key.len() as u32, count, is_key, |_| packed);
        } else {
            let is_key = |slot: &Slot, arena: &Arena| arena.key(slot.key, slot.length) == key;
            self.add_to(hash, key.len() as u32, count, is_key, |arena| arena.store(key));
        }
    }

    /// Adds to the slot with this hash and length for which `is_key` holds. `store` makes a new one's key.
    #[inline(always)]
    fn add_to(
        &mut self,
        hash: u32,
        length: u32,
        count: u64,
        is_key: impl Fn(&Slot, &Arena) -> bool,
        store: impl FnOnce(&mut Arena) -> u64,
    ) {
        let mut index = self.home(hash);
        while let Some(slot) = self.slots.get_mut(index).filter(|slot| slot.count != 0) {
            if slot.hash == hash && slot.length == length && is_key(slot, &self.arena) {
                slot.count += count;
                return;
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
        let key = store(&mut self.arena);
        self.insert(Slot { count, key, hash, length });
    }

    /// Puts a key that is not there into the first free slot from its home on.
    #[inline(never)]
    fn insert(&mut self, slot: Slot) {
        self.reserve(1);
        place(&mut self.slots, slot);
        self.used += 1;
    }

    /// Makes room for `more` keys.
    fn reserve(&mut self, more: usize) {
        let enough = |slots: usize| 4 * (self.used + more) <= 3 * slots;
        if enough(self.slots.len()) {
            return;
        }
        let mut size = self.slots.len().max(FIRST_SLOTS / 2);
        while !enough(size) {
            size *= 2;
        }
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.count != 0) {
            place(&mut self.slots, slot);
        }
    }

    /// Adds another table's counts. Its keys stay where they are in memory; only slots are copied.
    pub(crate) fn absorb(&mut self, other: Self) {
        // Slots come nearly in the order of this table's own. Without room for all, its front would fill up and every
        // insertion there would go through a long run of slots in use.
        self.reserve(other.used);
        let shift: Address = self.arena.adopt(other.arena);
        for slot in other.slots.into_iter().filter(|slot| slot.count != 0) {
            let Slot { count, key, hash, length } = slot;
            if length as usize <= SHORT {
                self.add_to(hash, length, count, |slot, _| slot.key == key, |_| key);
            } else {
                let key = key + shift;
                let is_key =
                    |slot: &Slot, arena: &Arena| arena.key(slot.key, length) == arena.key(key, length);
                self.add_to(hash, length, count, is_key, |_| key);
            }
        }
    }

    /// Calls `visit` with every key that has at least `least` counts, which `visit` gives anew each time.
    pub(crate) fn visit_from(&self, mut least: u64, mut visit: impl FnMut(&[u8], u64) -> u64) {
        for slot in self.slots.iter().filter(|slot| slot.count != 0) {
            if slot.count < least {
                continue;
            }
            let short = slot.key.to_le_bytes();
            let key = match slot.length as usize {
                length @ 0..=SHORT => &short[..length],
                _ => self.arena.key(slot.key, slot.length),
            };
            least = visit(key, slot.count);
        }
    }

    #[inline(always)]
    fn home(&self, hash: u32) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
    }
}

/// Puts a slot into the first free place from its home on. There must be one.
fn place(slots: &mut [Slot], slot: Slot) {
    let mask = slots.len() - 1;
    let mut index = slot.hash as usize & mask;
    while slots[index].count != 0 {
        index = (index + 1) & mask;
    }
    slots[index] = slot;
}

/// A short key as a number.
#[inline(always)]
fn pack(key: &[u8]) -> u64 {
    let mut bytes = [0; SHORT];
    bytes[..key.len()].copy_from_slice(key);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn counts(table: &Table) -> BTreeMap<Vec<u8>, u64> {
        let mut counts = BTreeMap::new();
        table.visit_from(1, |key, count| {
            assert_eq!(counts.insert(key.to_vec(), count), None, "a key is in the table twice");
            1
        });
        assert_eq!(counts.len(), table.len());
        counts
    }

    /// A hash so poor that keys collide all the time.
    fn poor_hash(key: &[u8]) -> u32 {
        key.iter().fold(0, |hash, &byte| hash + u32::from(byte) % 3)
    }

    fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let key = prop_oneof![
            prop::collection::vec(0..3_u8, 0..4),
            prop::collection::vec(0..2_u8, 6..11),
            prop::collection::vec(any::<u8>(), 0..40),
        ];
        prop::collection::vec(key, 0..200)
    }

    proptest! {
        #[test]
        fn tables_count_as_a_map_does(ones in keys(), others in keys()) {
            let mut expected = BTreeMap::new();
            let mut tables = [Table::default(), Table::default()];
            for (table, keys) in tables.iter_mut().zip([&ones, &others]) {
                for key in keys {
                    table.add(poor_hash(key), key, 1);
                    *expected.entry(key.clone()).or_insert(0) += 1;
                }
            }
            let [mut table, other] = tables;
            table.absorb(other);
            prop_assert_eq!(counts(&table), expected);
        }
    }

    #[test]
    fn keys_of_any_kind_are_told_apart() {
        let mut table = Table::default();
        let keys: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"12345678", b"123456789", b"12345678\0"];
        for (count, key) in (1..).zip(keys) {
            table.add(7, key, count);
        }
        let found = counts(&table);
        for (count, key) in (1..).zip(keys) {
            assert_eq!(found[key], count);
        }
    }

    #[test]
    fn rare_keys_are_passed_over() {
        let mut table = Table::default();
        for (count, key) in (1..).zip([b"a", b"b", b"c"]) {
            table.add(count as u32, key, count);
        }
        let mut seen = Vec::new();
        table.visit_from(2, |key, _| {
            seen.push(key.to_vec());
            2
        });
        assert_eq!(seen, [b"b", b"c"]);
    }
}
