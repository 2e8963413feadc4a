//! Counts of the distinct texts of a field, exact up to a bound.

use finecomb_sys::simd::{Kernel, Masks, dispatch, window_at};
use twox_hash::XxHash3_128;

use crate::cells::{Span, bytes_of};
use crate::key::hash::{Hasher, SHORT};

/// Maximum number of distinct texts that are counted exactly.
pub(super) const EXACT: usize = 1 << 14;

/// Maximum number of bytes of texts that are counted exactly.
const EXACT_BYTES: usize = 1 << 20;

/// Maximum length of a text that is kept whole.
const WHOLE: usize = 256;

/// Number of bytes that are kept of a longer text, before its hash.
const BEGINNING: usize = 240;

/// Length of the kept form of a text that is longer: no text that is kept whole has it.
const CUT: usize = WHOLE + 1;

/// Initial number of slots.
const SLOTS: usize = 16;

/// Hash of a text, which is the same in all runs.
pub(super) fn stable_hash(text: &[u8]) -> u128 {
    XxHash3_128::oneshot(text)
}

/// The kept form of a text that is too long to be kept whole: its beginning, and a hash by which it differs from others.
fn cut(text: &[u8]) -> [u8; CUT] {
    let mut kept = [0; CUT];
    kept[..BEGINNING].copy_from_slice(&text[..BEGINNING]);
    kept[BEGINNING..WHOLE].copy_from_slice(&stable_hash(text).to_le_bytes());
    kept
}

/// The form of a text that is kept.
pub(super) fn kept(text: &[u8]) -> Box<[u8]> {
    if text.len() <= WHOLE { text.into() } else { cut(text).into() }
}

/// The hash of the text with this kept form.
pub(super) fn hash_of_kept(kept: &[u8]) -> u128 {
    match kept.get(BEGINNING..WHOLE).and_then(|hash| hash.try_into().ok()) {
        Some(hash) if kept.len() == CUT => u128::from_le_bytes(hash),
        _ => stable_hash(kept),
    }
}

/// The text with this kept form, or its beginning, and whether it is cut.
pub(super) fn shown(kept: &[u8]) -> (&[u8], bool) {
    if kept.len() == CUT { (&kept[..BEGINNING], true) } else { (kept, false) }
}

/// Whether a kept form is that of a whole text.
pub(super) fn is_whole(kept: &[u8]) -> bool {
    kept.len() <= WHOLE
}

/// Up to [`EXACT`] distinct texts of up to [`EXACT_BYTES`], with their counts. Memory: at most 2.5 MiB, while vectors grow.
#[derive(Debug)]
pub(super) struct Texts {
    hasher: Hasher,
    /// Hash table with open addressing: the index of an entry plus 1, or 0 if the slot is free. At most half is in use.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    /// The entry of the last text: records next to each other often have the same.
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    /// The first bytes, padded with zeros, so that short texts are compared without their bytes.
    words: [u64; 2],
    start: u32,
    length: u32,
    count: u64,
}

impl Entry {
    /// Whether the text has this length and begins with these words.
    #[inline(always)]
    fn has_head(&self, length: usize, words: [u64; 2]) -> bool {
        self.length as usize == length && self.words == words
    }
}

impl Texts {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self { hasher, slots: Vec::new(), entries: Vec::new(), bytes: Vec::new(), last: 0 }
    }

    /// Number of distinct texts.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The kept form of each text with its count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.entries.iter().map(|entry| (self.text(entry), entry.count))
    }

    /// Whether there is room for the texts of another table.
    pub(super) fn has_room_for(&self, other: &Self) -> bool {
        let (mut entries, mut bytes) = (self.entries.len(), self.bytes.len());
        for (text, _) in other.iter().filter(|(text, _)| !self.contains(text)) {
            entries += 1;
            bytes += text.len();
        }
        entries <= EXACT && bytes <= EXACT_BYTES
    }

    fn text(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start as usize..][..entry.length as usize]
    }

    /// The kept form of the text with an index.
    pub(super) fn get(&self, index: u32) -> &[u8] {
        self.text(&self.entries[index as usize])
    }

    /// Whether a text, given by its kept form, is in the table.
    fn contains(&self, kept: &[u8]) -> bool {
        let hash = self.hasher.hash_of(kept);
        let Some(mask) = self.slots.len().checked_sub(1) else { return false };
        let mut slot = hash as usize & mask;
        while let Some(index) = self.slots[slot].checked_sub(1) {
            if self.entries[index as usize].hash == hash && self.get(index) == kept {
                return true;
            }
            slot = (slot + 1) & mask;
        }
        false
    }

    /// Counts a text, given by its kept form. Returns its index, or `None` if there is no room for it.
    pub(super) fn add_kept(&mut self, kept: &[u8], count: u64) -> Option<u32> {
        dispatch(AddKept { texts: self, kept, count })
    }

    /// Counts a text. Returns its index, or `None` if there is no room for it.
    #[inline(always)]
    pub(super) fn add<M: Masks>(&mut self, masks: M, text: &[u8], span: Span) -> Option<u32> {
        let value = bytes_of(text, span);
        if value.len() > WHOLE {
            return self.add_long(value);
        }
        let (head, words) = self.head(text, span);
        if let Some(last) = self.entries.get_mut(self.last as usize)
            && last.has_head(value.len(), words)
            && (value.len() <= SHORT || self.bytes[last.start as usize..][..last.length as usize] == *value)
        {
            last.count += 1;
            return Some(self.last);
        }
        self.find(masks, text, span, (head, words), 1)
    }

    /// The hash and the first bytes of a text. The hash is that of the whole text if it is short.
    #[inline(always)]
    fn head(&self, text: &[u8], (start, end): Span) -> (u64, [u64; 2]) {
        let mut spare = None;
        let window = window_at(text, start, &mut spare);
        let window = window.first_chunk().unwrap_or(&[0; SHORT]);
        self.hasher.hash_short(window, (end - start).min(SHORT))
    }

    #[inline(never)]
    fn add_long(&mut self, value: &[u8]) -> Option<u32> {
        self.add_kept(&cut(value), 1)
    }

    /// Finds or inserts a text with this head.
    #[inline(always)]
    fn find<M: Masks>(
        &mut self,
        masks: M,
        text: &[u8],
        span: Span,
        (head, words): (u64, [u64; 2]),
        count: u64,
    ) -> Option<u32> {
        let value = bytes_of(text, span);
        let is_short = value.len() <= SHORT;
        let hash = if is_short { head } else { self.hasher.hash(masks, text, span.0, span.1).0 };
        if !self.slots.is_empty() {
            let mask = self.slots.len() - 1;
            let mut slot = hash as usize & mask;
            while let Some(index) = self.slots[slot].checked_sub(1) {
                let entry = &mut self.entries[index as usize];
                if entry.hash == hash
                    && entry.has_head(value.len(), words)
                    && (is_short || self.bytes[entry.start as usize..][..entry.length as usize] == *value)
                {
                    entry.count += count;
                    self.last = index;
                    return Some(index);
                }
                slot = (slot + 1) & mask;
            }
        }
        self.insert((hash, words), value, count)
    }

    #[inline(never)]
    fn insert(&mut self, (hash, words): (u64, [u64; 2]), value: &[u8], count: u64) -> Option<u32> {
        if self.entries.len() == EXACT || self.bytes.len() + value.len() > EXACT_BYTES {
            return None;
        }
        if 2 * self.entries.len() >= self.slots.len() {
            self.slots = vec![0; (2 * self.slots.len()).max(SLOTS)];
            for index in 0..self.entries.len() as u32 {
                self.link(index);
            }
        }
        let (start, length) = (self.bytes.len() as u32, value.len() as u32);
        self.bytes.extend_from_slice(value);
        self.last = self.entries.len() as u32;
        self.entries.push(Entry { hash, words, start, length, count });
        self.link(self.last);
        Some(self.last)
    }

    fn link(&mut self, index: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = self.entries[index as usize].hash as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = index + 1;
    }
}

struct AddKept<'a> {
    texts: &'a mut Texts,
    kept: &'a [u8],
    count: u64,
}

impl Kernel for AddKept<'_> {
    type Output = Option<u32>;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> Self::Output {
        let span = (0, self.kept.len());
        let head = self.texts.head(self.kept, span);
        self.texts.find(masks, self.kept, span, head, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_with_the_same_beginning_differ() {
        let mut texts = Texts::new(Hasher::random());
        let long = |last: &str| format!("{}{last}", "x".repeat(300));
        for text in [&long("a"), &long("b"), &long("a"), &long("a")[..WHOLE], &long("b")[..WHOLE]] {
            assert!(texts.add_kept(&kept(text.as_bytes()), 1).is_some());
        }
        let counts: Vec<_> = texts.iter().map(|(kept, count)| (shown(kept).1, count)).collect();
        assert_eq!(counts, [(true, 2), (true, 1), (false, 2)]);
        assert_eq!(hash_of_kept(texts.get(1)), stable_hash(long("b").as_bytes()));
    }

    #[test]
    fn a_full_table_still_counts_what_it_has() {
        let mut texts = Texts::new(Hasher::random());
        let add = |texts: &mut Texts, number: usize| texts.add_kept(number.to_string().as_bytes(), 1);
        for number in 0..EXACT {
            assert_eq!(add(&mut texts, number), Some(number as u32));
        }
        assert_eq!((add(&mut texts, EXACT), add(&mut texts, 7)), (None, Some(7)));
        assert_eq!(
            (texts.len(), texts.iter().map(|(_, count)| count).sum::<u64>()),
            (EXACT, EXACT as u64 + 1)
        );
    }
}
