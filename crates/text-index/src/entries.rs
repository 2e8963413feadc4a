//! Arrays of positions, with 32 bits per entry, or 40 bits for texts of 4 Gi symbols or more.

/// Width of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryWidth {
    /// For up to 4,294,967,295 symbols.
    Bits32,
    /// For up to 1,099,511,627,775 symbols.
    Bits40,
}

impl EntryWidth {
    /// Narrowest width for a text of `symbols` symbols. The number of symbols must fit as well, as the front table contains it.
    pub(crate) fn of(symbols: u64) -> Self {
        if u32::try_from(symbols).is_ok() { Self::Bits32 } else { Self::Bits40 }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits40 => 5,
        }
    }

    pub(crate) fn from_bytes(bytes: u8) -> Option<Self> {
        [Self::Bits32, Self::Bits40].into_iter().find(|width| width.bytes() == usize::from(bytes))
    }

    /// Appends a value, little-endian.
    pub(crate) fn append(self, value: u64, to: &mut Vec<u8>) {
        to.extend_from_slice(&value.to_le_bytes()[..self.bytes()]);
    }
}

/// Array of encoded entries.
#[derive(Clone, Copy)]
pub(crate) struct Entries<'a> {
    bytes: &'a [u8],
    width: EntryWidth,
}

impl<'a> Entries<'a> {
    /// Wraps encoded entries. The length of `bytes` must be a multiple of the width.
    pub(crate) fn new(bytes: &'a [u8], width: EntryWidth) -> Self {
        debug_assert!(bytes.len().is_multiple_of(width.bytes()));
        Self { bytes, width }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> u64 {
        (self.bytes.len() / self.width.bytes()) as u64
    }

    /// Entry at an index, which must be in range.
    pub(crate) fn get(&self, index: u64) -> u64 {
        let index = index as usize;
        match self.width {
            EntryWidth::Bits32 => {
                let (entries, _) = self.bytes.as_chunks();
                u64::from(u32::from_le_bytes(entries[index]))
            }
            EntryWidth::Bits40 => {
                let (entries, _) = self.bytes.as_chunks();
                read_wide(entries[index])
            }
        }
    }

    /// Entries from `start` to `end`, which must be in range.
    pub(crate) fn range(&self, start: u64, end: u64) -> Self {
        let bytes = self.width.bytes();
        Self { bytes: &self.bytes[start as usize * bytes..end as usize * bytes], width: self.width }
    }

    /// Lowest entry that is at least `from`.
    pub(crate) fn lowest_from(&self, from: u64) -> Option<u64> {
        match self.width {
            EntryWidth::Bits32 => {
                let from = u32::try_from(from).ok()?;
                let (entries, _) = self.bytes.as_chunks();
                // Entries below `from` wrap around to the largest distances, so each entry costs one subtraction and one minimum.
                let distance =
                    entries.iter().map(|&entry| u32::from_le_bytes(entry).wrapping_sub(from)).min()?;
                from.checked_add(distance).map(u64::from)
            }
            EntryWidth::Bits40 => self.iter().filter(|&entry| entry >= from).min(),
        }
    }

    /// Highest entry below `below`.
    pub(crate) fn highest_below(&self, below: u64) -> Option<u64> {
        self.iter().map(|entry| if entry < below { entry + 1 } else { 0 }).max()?.checked_sub(1)
    }

    /// Lowest and highest entry.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let (lowest, highest) = match self.width {
            EntryWidth::Bits32 => {
                let (entries, _) = self.bytes.as_chunks();
                let entries = entries.iter().map(|&entry| u32::from_le_bytes(entry));
                let (lowest, highest) =
                    entries.fold((u32::MAX, 0), |(low, high), entry| (low.min(entry), high.max(entry)));
                (u64::from(lowest), u64::from(highest))
            }
            EntryWidth::Bits40 => {
                self.iter().fold((u64::MAX, 0), |(low, high), entry| (low.min(entry), high.max(entry)))
            }
        };
        (!self.bytes.is_empty()).then_some((lowest, highest))
    }

    /// All entries in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let (narrow, wider): (&[[u8; 4]], &[[u8; 5]]) = match self.width {
            EntryWidth::Bits32 => (self.bytes.as_chunks().0, &[]),
            EntryWidth::Bits40 => (&[], self.bytes.as_chunks().0),
        };
        let narrow = narrow.iter().map(|&entry| u64::from(u32::from_le_bytes(entry)));
        narrow.chain(wider.iter().map(|&entry| read_wide(entry)))
    }
}

fn read_wide(bytes: [u8; 5]) -> u64 {
    let [a, b, c, d, e] = bytes;
    u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_of_both_widths_give_the_same_answers(
            values in prop::collection::vec(prop_oneof![0..50_u64, Just(u64::from(u32::MAX)), any::<u32>().prop_map(u64::from)], 0..40),
            bound in prop_oneof![0..60_u64, Just(u64::from(u32::MAX)), any::<u32>().prop_map(u64::from)],
        ) {
            for width in [EntryWidth::Bits32, EntryWidth::Bits40] {
                let mut bytes = Vec::new();
                values.iter().for_each(|&value| width.append(value, &mut bytes));
                let entries = Entries::new(&bytes, width);
                prop_assert_eq!(entries.len(), values.len() as u64);
                prop_assert_eq!(entries.iter().collect::<Vec<_>>(), values.clone());
                prop_assert_eq!((0..entries.len()).map(|at| entries.get(at)).collect::<Vec<_>>(), values.clone());
                prop_assert_eq!(entries.bounds(), values.iter().copied().min().zip(values.iter().copied().max()));
                prop_assert_eq!(entries.lowest_from(bound), values.iter().copied().filter(|&value| value >= bound).min());
                prop_assert_eq!(entries.highest_below(bound), values.iter().copied().filter(|&value| value < bound).max());
            }
        }
    }
}
