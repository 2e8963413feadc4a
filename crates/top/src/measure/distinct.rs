//! Numbers of distinct texts.

use twox_hash::XxHash3_128;

use crate::measure::number::Decimal;
use crate::measure::quantity::{Form, Quantity};
use crate::measure::slab::Slab;
use crate::measure::values::Selected;
use finecomb_sys::varint;

/// Maximum number of distinct texts of a group that is exact.
pub(crate) const EXACT: u32 = 4096;

/// Bytes of a hash.
const HASH: usize = size_of::<u128>();

/// Maximum number of hashes that are a list, which is searched from its start.
const LIST: u32 = 8;

/// Distinct texts of all groups: a set of their hashes for each group or, for more than [`EXACT`], a sketch. Two texts
/// of a set of n have the same hash with a probability of less than n^2 / 2^129.
///
/// Memory: 8 bytes a group. A set takes 16 to 43 bytes a text, and as much again if it left smaller blocks that no other
/// set uses. A sketch takes 16 KiB.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    groups: Vec<Group>,
    sets: Slab<u128>,
    sketches: Vec<Sketch>,
}

/// The size of a set and the number of its block, or [`Group::SKETCH`] and the number of the sketch.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    count: u32,
    place: u32,
}

impl Group {
    const SKETCH: u32 = u32::MAX;

    /// Class of the block of a set with at least one hash: a full list, or a table that is at most three quarters full.
    #[inline(always)]
    fn class(self) -> u32 {
        let slots = if self.count <= LIST { self.count } else { (4 * self.count).div_ceil(3) };
        u32::BITS - (slots - 1).leading_zeros()
    }
}

/// Hash of a text. It is the same in all runs, so that estimates are. Zero is that of a free slot.
#[inline(always)]
fn hash(text: &[u8]) -> u128 {
    XxHash3_128::oneshot(text).max(1)
}

impl Distinct {
    pub(super) fn resize(&mut self, count: usize) {
        self.groups.resize(count, Group::default());
    }

    /// Adds the texts of a column. Empty ones and hyphens are no values.
    pub(super) fn add(&mut self, selected: &Selected<'_>) {
        selected.for_each(|group, _, cell| match selected.cells.bytes(selected.text, cell) {
            None | Some(b"" | b"-") => {}
            Some(text) => self.add_hash(group as usize, hash(text)),
        });
    }

    #[inline(always)]
    fn add_hash(&mut self, group: usize, hash: u128) {
        let state = self.groups[group];
        if state.count == Group::SKETCH {
            self.sketches[state.place as usize].add(hash);
        } else if !(state.count > 0 && self.contains(state, hash)) {
            self.insert(group, hash);
        }
    }

    /// Whether a set with at least one hash has this one.
    #[inline(always)]
    fn contains(&self, group: Group, hash: u128) -> bool {
        let block = self.sets.block(group.class(), group.place);
        if group.count <= LIST {
            // Without a branch for each hash, which would be mispredicted.
            block.iter().fold(false, |found, known| found | (*known == hash))
        } else {
            block[slot(block, hash)] == hash
        }
    }

    /// Inserts a hash that a set does not have.
    fn insert(&mut self, group: usize, hash: u128) {
        let state = self.groups[group];
        if state.count == EXACT {
            self.convert(group);
            let place = self.groups[group].place;
            return self.sketches[place as usize].add(hash);
        }
        let mut next = Group { count: state.count + 1, ..state };
        if state.count == 0 {
            next.place = self.sets.allocate(0);
        } else if next.class() != state.class() {
            next.place = self.sets.allocate(next.class());
            for index in 0..1 << state.class() {
                let hash = self.sets.block(state.class(), state.place)[index];
                if hash != 0 {
                    put(self.sets.block_mut(next.class(), next.place), next.count, hash);
                }
            }
            self.sets.free(state.class(), state.place);
        }
        put(self.sets.block_mut(next.class(), next.place), next.count, hash);
        self.groups[group] = next;
    }

    /// Replaces a set by a sketch.
    fn convert(&mut self, group: usize) {
        let state = self.groups[group];
        let mut sketch = Sketch::default();
        if state.count > 0 {
            self.hashes(state).for_each(|hash| sketch.add(hash));
            self.sets.free(state.class(), state.place);
        }
        self.groups[group] = Group { count: Group::SKETCH, place: self.sketches.len() as u32 };
        self.sketches.push(sketch);
    }

    /// The hashes of a set with at least one.
    fn hashes(&self, group: Group) -> impl Iterator<Item = u128> {
        self.sets.block(group.class(), group.place).iter().copied().filter(|hash| *hash != 0)
    }

    pub(super) fn merge(&mut self, other: &Self, pairs: &[(u32, u32)]) {
        for &(group, from) in pairs {
            let (group, from) = (group as usize, other.groups[from as usize]);
            if from.count == Group::SKETCH {
                self.merge_sketch(group, &other.sketches[from.place as usize].registers);
            } else if from.count > 0 {
                other.hashes(from).for_each(|hash| self.add_hash(group, hash));
            }
        }
    }

    fn merge_sketch(&mut self, group: usize, registers: &[u8]) {
        if self.groups[group].count != Group::SKETCH {
            self.convert(group);
        }
        self.sketches[self.groups[group].place as usize].merge(registers);
    }

    /// Appends the state of a group: twice the number of hashes and each of them, or 1 and the registers of the sketch. In the
    /// canonical form, the hashes are in the order of their bytes.
    pub(super) fn encode(&self, group: usize, form: Form, out: &mut Vec<u8>) {
        let group = self.groups[group];
        if group.count == Group::SKETCH {
            varint::put(out, 1);
            return out.extend_from_slice(&self.sketches[group.place as usize].registers);
        }
        varint::put(out, u64::from(group.count) << 1);
        if group.count == 0 {
            return;
        }
        let start = out.len();
        self.hashes(group).for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
        if form == Form::Canonical {
            out[start..].as_chunks_mut::<HASH>().0.sort_unstable();
        }
    }

    /// Adds an encoded state to a group.
    pub(super) fn decode(&mut self, group: usize, bytes: &mut &[u8]) -> Option<()> {
        let count = varint::take(bytes)?;
        if count & 1 == 1 {
            let registers;
            (registers, *bytes) = bytes.split_at_checked(Sketch::REGISTERS)?;
            if registers.iter().any(|rank| u32::from(*rank) > Sketch::MAX_RANK) {
                return None;
            }
            self.merge_sketch(group, registers);
            return Some(());
        }
        (0..count >> 1).try_for_each(|_| {
            let hash;
            (hash, *bytes) = bytes.split_first_chunk()?;
            let hash = u128::from_le_bytes(*hash);
            self.add_hash(group, Some(hash).filter(|hash| *hash != 0)?);
            Some(())
        })
    }

    pub(super) fn value(&self, group: usize) -> Quantity {
        let Group { count, place } = self.groups[group];
        match count {
            Group::SKETCH => Quantity::Estimate(Decimal::new(self.sketches[place as usize].estimate(), 0)),
            count => Quantity::Number(Decimal::new(count.into(), 0)),
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Group>()
            + self.sets.memory()
            + self.sketches.capacity() * size_of::<Sketch>()
            + self.sketches.len() * Sketch::REGISTERS
    }
}

/// The slot of a table that has this hash or is free for it. Probing is linear.
#[inline(always)]
fn slot(table: &[u128], hash: u128) -> usize {
    let mask = table.len() - 1;
    let mut slot = hash as usize & mask;
    while table[slot] != 0 && table[slot] != hash {
        slot = (slot + 1) & mask;
    }
    slot
}

/// Puts a hash into a free slot of the block of a set that then has up to `count` hashes.
fn put(block: &mut [u128], count: u32, hash: u128) {
    let slot = if count <= LIST { block.iter().position(|slot| *slot == 0) } else { Some(slot(block, hash)) };
    if let Some(slot) = slot {
        block[slot] = hash;
    }
}

/// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) with the estimator of Otmar Ertl, "New cardinality estimation
/// algorithms for HyperLogLog sketches" (2017), algorithm 6: a register has the maximum rank of the hashes with its
/// index. The standard error is 1.04 / sqrt(2^14) = 0.81 %.
///
/// The crates datasketches, hyperloglogplus and cardinality-estimator merge sketches of this size 47 to 86 times slower. The bytes of the first
/// depend on the order of the texts.
#[derive(Debug)]
pub(crate) struct Sketch {
    pub(crate) registers: Box<[u8]>,
}

impl Default for Sketch {
    fn default() -> Self {
        Self { registers: vec![0; Self::REGISTERS].into() }
    }
}

impl Sketch {
    const INDEX_BITS: u32 = 14;
    const REGISTERS: usize = 1 << Self::INDEX_BITS;
    /// Number of bits of a hash that make its rank. The maximum rank is one more.
    const RANK_BITS: u32 = u64::BITS - Self::INDEX_BITS;
    const MAX_RANK: u32 = Self::RANK_BITS + 1;

    /// Adds a hash: the highest bits of its high half are the index, the rank is the position of the first bit that is
    /// set in the others.
    #[inline(always)]
    pub(crate) fn add(&mut self, hash: u128) {
        let high = (hash >> 64) as u64;
        let index = (high >> Self::RANK_BITS) as usize;
        let rank = (high << Self::INDEX_BITS | 1 << (Self::INDEX_BITS - 1)).leading_zeros() + 1;
        let register = &mut self.registers[index];
        *register = (*register).max(rank as u8);
    }

    pub(crate) fn merge(&mut self, registers: &[u8]) {
        for (own, other) in self.registers.iter_mut().zip(registers) {
            *own = (*own).max(*other);
        }
    }

    /// Estimates the number of hashes, which are more than [`EXACT`].
    pub(crate) fn estimate(&self) -> i128 {
        let mut counts = [0_u32; Self::MAX_RANK as usize + 1];
        self.registers.iter().for_each(|rank| counts[usize::from(*rank)] += 1);
        let all = Self::REGISTERS as f64;
        let share = |count: u32| f64::from(count) / all;
        let [zeros, counts @ .., most] = counts;
        let ranks = counts.iter().rev().map(|count| f64::from(*count));
        let sum = ranks.fold(all * tau(1.0 - share(most)), |sum, count| 0.5 * (sum + count));
        let sum = sum + all * sigma(share(zeros));
        let estimate = all * all / (2.0 * std::f64::consts::LN_2 * sum);
        (estimate.round() as i128).max(i128::from(EXACT) + 1)
    }
}

/// x + Σ x^(2^k) · 2^(k - 1) for k from 1.
fn sigma(x: f64) -> f64 {
    let (mut power, mut factor, mut sum) = (x, 1.0, x);
    if x == 1.0 {
        return f64::INFINITY;
    }
    loop {
        power *= power;
        let before = sum;
        sum += power * factor;
        factor *= 2.0;
        if sum == before {
            return sum;
        }
    }
}

/// (1 - x - Σ (1 - x^(2^-k))^2 · 2^-k) / 3 for k from 1.
fn tau(x: f64) -> f64 {
    let (mut root, mut factor, mut sum) = (x, 1.0, 1.0 - x);
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    loop {
        root = root.sqrt();
        let before = sum;
        factor *= 0.5;
        sum -= (1.0 - root) * (1.0 - root) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}
