//! A set of documents.

/// A set of some of the documents with the numbers from 0 to a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Documents {
    bits: Vec<u64>,
    all: u32,
}

impl Documents {
    pub(crate) fn none(all: u32) -> Self {
        Self { bits: vec![0; all.div_ceil(u64::BITS) as usize], all }
    }

    pub(crate) fn all(all: u32) -> Self {
        let mut documents = Self { bits: vec![u64::MAX; all.div_ceil(u64::BITS) as usize], all };
        if let Some(last) = documents.bits.last_mut().filter(|_| !all.is_multiple_of(u64::BITS)) {
            *last = (1 << (all % u64::BITS)) - 1;
        }
        documents
    }

    pub(crate) fn add(&mut self, document: u32) {
        if let Some(word) = self.bits.get_mut((document / u64::BITS) as usize) {
            *word |= 1 << (document % u64::BITS);
        }
    }

    /// Bound of the document numbers.
    pub(crate) fn bound(&self) -> u32 {
        self.all
    }

    /// Adds the documents of a bitmap, the lowest bit of a byte first; `None` if its length is
    /// wrong, or a bit is beyond the last document.
    pub(crate) fn add_bitmap(&mut self, bitmap: &[u8]) -> Option<()> {
        let last = bitmap.last().filter(|_| !self.all.is_multiple_of(8)).copied().unwrap_or_default();
        let is_bounded = last >> (self.all % 8) == 0;
        (bitmap.len() == self.all.div_ceil(8) as usize && is_bounded).then_some(())?;
        for (word, bytes) in self.bits.iter_mut().zip(bitmap.chunks(8)) {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            *word |= u64::from_le_bytes(all);
        }
        Some(())
    }

    pub(crate) fn contains(&self, document: u32) -> bool {
        self.bits
            .get((document / u64::BITS) as usize)
            .is_some_and(|word| word >> (document % u64::BITS) & 1 == 1)
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.bits.iter().zip((0..).step_by(u64::BITS as usize)).flat_map(|(&word, first)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let next = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(first + next)
            })
        })
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn retain(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(word, other)| *word &= other);
    }

    pub(crate) fn count(&self) -> u64 {
        self.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_as_many_documents_as_were_added() {
        for all in [0, 1, 63, 64, 65, 200] {
            assert_eq!(Documents::all(all).count(), u64::from(all));
            let mut some = Documents::none(all);
            (0..all).step_by(3).for_each(|document| some.add(document));
            assert_eq!(some.count(), u64::from(all.div_ceil(3)));
            assert!((0..all).all(|document| some.contains(document) == (document % 3 == 0)));
            assert!(some.iter().eq((0..all).step_by(3)));
            let mut both = Documents::all(all);
            both.retain(&some);
            assert_eq!(both, some);
            both.add_all(&Documents::all(all));
            assert_eq!(both, Documents::all(all));
            let mut bitmap = vec![0; all.div_ceil(8) as usize];
            some.iter().for_each(|document| bitmap[document as usize / 8] |= 1 << (document % 8));
            let mut added = Documents::none(all);
            assert_eq!(added.add_bitmap(&bitmap), Some(()));
            assert_eq!(added, some);
            assert_eq!(added.add_bitmap(&[&bitmap[..], &[0]].concat()), None);
            bitmap.fill(255);
            assert_eq!(added.add_bitmap(&bitmap), all.is_multiple_of(8).then_some(()));
        }
    }
}
