//! Parts of the records: numbers of records with a value in a column.

use crate::cells::Cell;
use crate::measure::quantity::{MAX_COUNT, Quantity};
use crate::measure::values::Selected;
use finecomb_sys::varint;

/// The shares of all groups. They are divided only when they are printed, so that they are exact and can be merged.
#[derive(Debug, Default)]
pub(super) struct Shares {
    groups: Vec<Share>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// Number of records with a value.
    part: u64,
    /// Number of records.
    whole: u64,
}

impl Shares {
    pub(super) fn resize(&mut self, count: usize) {
        self.groups.resize(count, Share::default());
    }

    pub(super) fn add(&mut self, selected: &Selected<'_>) {
        selected.for_each(|group, _, cell| {
            let share = &mut self.groups[group as usize];
            share.part += u64::from(cell != Cell::Missing);
            share.whole += 1;
        });
    }

    pub(super) fn merge(&mut self, other: &Self, pairs: &[(u32, u32)]) {
        for &(group, from) in pairs {
            let Share { part, whole } = other.groups[from as usize];
            let share = &mut self.groups[group as usize];
            share.part += part;
            share.whole += whole;
        }
    }

    /// Appends the state of a group: the number of records, and that of those with a value.
    pub(super) fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let Share { part, whole } = self.groups[group];
        varint::put(out, whole);
        varint::put(out, part);
    }

    /// Adds an encoded state to a group.
    pub(super) fn decode(&mut self, group: usize, bytes: &mut &[u8]) -> Option<()> {
        let whole = varint::take(bytes).filter(|whole| *whole <= MAX_COUNT)?;
        let part = varint::take(bytes).filter(|part| *part <= whole)?;
        let share = &mut self.groups[group];
        share.part += part;
        share.whole += whole;
        Some(())
    }

    pub(super) fn value(&self, group: usize) -> Quantity {
        match self.groups[group] {
            Share { whole: 0, .. } => Quantity::None,
            Share { part, whole } => Quantity::Share { part, whole },
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.groups.capacity() * size_of::<Share>()
    }
}
