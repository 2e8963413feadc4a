//! The fields that are shown, which are bounded in number.
//!
//! If there are more than [`MAX_FIELDS`] names, the first are kept, ordered by depth and then by their bytes. A name
//! that is dropped never comes back, so every kept field has all its values, in any order of the records.

use std::collections::{BTreeSet, HashMap, HashSet};

use finecomb_scan::Place;

use crate::key::hash::Hasher;
use crate::measure::distinct::{self, Sketch};
use crate::overview::answer::FieldOverview;
use crate::overview::texts::stable_hash;
use crate::overview::time_reader::TimeReader;
use crate::overview::values::FieldValues;
use crate::time::Zone;

/// Maximum number of names that are counted exactly.
const EXACT_NAMES: usize = distinct::EXACT as usize;

/// Maximum number of fields.
pub(super) const MAX_FIELDS: usize = 200;

/// Where a field comes first: the place of the record, and the number of the field in it.
pub(super) type Appearance = (Place, u32);

/// A field of a set, valid until another one takes its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldKey {
    pub(super) slot: usize,
    id: u64,
}

/// A field of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admitted {
    pub(super) field: FieldKey,
    /// Whether it was not in the set before.
    pub(super) is_new: bool,
}

#[derive(Debug)]
struct KnownField {
    id: u64,
    depth: u16,
    name: String,
    /// `None` if it is only in malformed records.
    first: Option<Appearance>,
    values: FieldValues,
}

/// Up to [`MAX_FIELDS`] fields.
#[derive(Debug)]
pub(super) struct FieldSet {
    hasher: Hasher,
    slots: Vec<KnownField>,
    by_name: HashMap<String, usize>,
    /// Depth, name and slot of all fields.
    order: BTreeSet<(u16, String, usize)>,
    next_id: u64,
    /// Names that are not kept.
    left_out: NameCount,
}

/// The number of distinct names: exact up to [`EXACT_NAMES`].
#[derive(Debug, Default)]
struct NameCount {
    hashes: HashSet<u128>,
    sketch: Sketch,
}

impl NameCount {
    fn add(&mut self, name: &str) {
        self.add_hash(stable_hash(name.as_bytes()));
    }

    fn add_hash(&mut self, hash: u128) {
        self.sketch.add(hash);
        if self.hashes.len() <= EXACT_NAMES {
            self.hashes.insert(hash);
        }
    }

    fn merge(&mut self, other: Self) {
        self.sketch.merge(&other.sketch.registers);
        other.hashes.into_iter().for_each(|hash| self.add_hash(hash));
    }

    fn count(&self) -> u64 {
        match self.hashes.len() {
            count @ ..=EXACT_NAMES => count as u64,
            _ => self.sketch.estimate().unsigned_abs() as u64,
        }
    }
}

impl FieldSet {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self {
            hasher,
            slots: Vec::new(),
            by_name: HashMap::new(),
            order: BTreeSet::new(),
            next_id: 0,
            left_out: NameCount::default(),
        }
    }

    /// Number of slots.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether a field is still in its slot.
    pub(super) fn is_kept(&self, key: FieldKey) -> bool {
        self.slots[key.slot].id == key.id
    }

    /// The field with this name, which is kept if there is room, or if it comes before another. That is dropped then. The name is in
    /// objects of this depth.
    pub(super) fn admit(&mut self, depth: u16, name: &str) -> Option<Admitted> {
        if let Some(&slot) = self.by_name.get(name) {
            return Some(Admitted { field: FieldKey { slot, id: self.slots[slot].id }, is_new: false });
        }
        let slot = if self.slots.len() < MAX_FIELDS {
            self.slots.len()
        } else {
            let last = self.order.last().filter(|(last, other, _)| (depth, name) < (*last, other));
            let Some((_, other, slot)) = last.cloned() else {
                self.left_out.add(name);
                return None;
            };
            self.order.pop_last();
            self.by_name.remove(&other);
            self.left_out.add(&other);
            slot
        };
        let id = self.next_id;
        self.next_id += 1;
        let values = FieldValues::new(self.hasher);
        let field = KnownField { id, depth, name: name.to_owned(), first: None, values };
        if slot == self.slots.len() {
            self.slots.push(field);
        } else {
            self.slots[slot] = field;
        }
        self.by_name.insert(name.to_owned(), slot);
        self.order.insert((depth, name.to_owned(), slot));
        Some(Admitted { field: FieldKey { slot, id }, is_new: true })
    }

    /// The values of the field in a slot.
    pub(super) fn values(&mut self, slot: usize) -> &mut FieldValues {
        &mut self.slots[slot].values
    }

    /// Notes that the field in a slot appears at a place of a block, which is not before others of the same field there.
    pub(super) fn note(&mut self, slot: usize, place: Appearance) {
        let first = &mut self.slots[slot].first;
        if first.as_ref().is_none_or(|known| place < *known) {
            *first = Some(place);
        }
    }

    /// Adds the fields of another worker.
    pub(super) fn merge(&mut self, other: Self, reader: &mut TimeReader) {
        for field in other.slots {
            let Some(admitted) = self.admit(field.depth, &field.name) else { continue };
            let own = &mut self.slots[admitted.field.slot];
            own.values.merge(field.values, reader);
            own.first = match (own.first.take(), field.first) {
                (Some(own), Some(other)) => Some(own.min(other)),
                (own, other) => own.or(other),
            };
        }
        self.left_out.merge(other.left_out);
    }

    /// The overviews of all fields in the order in which they appear, and the number of fields that are left out.
    pub(super) fn overviews(self, reader: &mut TimeReader, zone: &Zone) -> (Vec<FieldOverview>, u64) {
        let mut fields: Vec<(Appearance, KnownField)> =
            self.slots.into_iter().filter_map(|mut field| Some((field.first.take()?, field))).collect();
        fields
            .sort_by(|(one, field), (place, other)| one.cmp(place).then_with(|| field.name.cmp(&other.name)));
        let overviews =
            fields.into_iter().map(|(_, field)| field.values.overview(field.name, reader, zone)).collect();
        (overviews, self.left_out.count())
    }
}
