//! Counts of the distinct texts of a field, exact up to a bound.

use finecomb_sys::simd::{Kernel, Masks, dispatch, prefetch, window_at};
use twox_hash::XxHash3_128;

use crate::cells::{Span, bytes_of};
use crate::key::hash::{Hasher, SHORT, short_prefix};

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
const SLOTS: usize = 64;

/// Number of hints for each slot.
const HINTS: usize = 2;

/// Number of values that are counted together.
pub(super) const BATCH: usize = 64;

/// Number of zeros after the bytes of all texts, so that a window of any text is among them.
const PADDING: usize = 64;

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

/// Up to [`EXACT`] distinct texts of up to [`EXACT_BYTES`], with their counts. Memory: at most 4 MiB, while vectors grow.
///
/// Most values are found by a hint: the last entry whose text had the same hash of its length and its ends, which are compared. Only the
/// others are hashed as a whole.
#[derive(Debug)]
pub(super) struct Texts {
    hasher: Hasher,
    /// Hash table with open addressing: the index of an entry plus 1, or 0 if the slot is free. At most half is in use.
    slots: Vec<u16>,
    /// The index of an entry plus 1, by the hash of the ends.
    hints: Vec<u16>,
    entries: Vec<Entry>,
    /// The texts, and [`PADDING`].
    bytes: Vec<u8>,
    /// The index of the last value.
    last: u32,
    /// Whether most values are the same as the one before, so that this is tried first.
    repeats: bool,
}

/// A text with its count, in a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Entry {
    hash: u64,
    ends: Ends,
    start: u32,
    count: u64,
}

/// Length of each end of a text.
const END: usize = SHORT;

/// The length of a text and its first and last bytes, padded with zeros. They are all of a text of up to twice [`END`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ends {
    length: u32,
    first: [u64; 2],
    last: [u64; 2],
}

/// A value that is being counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value<'t> {
    text: &'t [u8],
    span: Span,
    pub(super) row: usize,
    ends: Ends,
    /// Index of its entry: that of the hint at first.
    pub(super) index: u32,
}

/// Values that are counted together. The memory is that of the batch before: to clear it would take as long as to count a few values.
pub(super) type Batch<'t> = [Value<'t>; BATCH];

impl<'t> Value<'t> {
    /// Becomes the value of a row. Only what changes is written: a copy of all would wait for the parts of it.
    #[inline(always)]
    pub(super) fn begin(&mut self, row: usize, text: &'t [u8], span: Span) {
        (self.row, self.text, self.span) = (row, text, span);
    }

    fn bytes(&self) -> &'t [u8] {
        bytes_of(self.text, self.span)
    }

    #[inline(always)]
    fn find_ends(&mut self) {
        let (start, end) = self.span;
        let length = end - start;
        let (mut spare, mut other_spare) = (None, None);
        let first = end_at(self.text, start, &mut spare);
        let last = end_at(self.text, start + length.saturating_sub(END), &mut other_spare);
        let (first, last) = (short_prefix(first, length.min(END)), short_prefix(last, length.min(END)));
        self.ends = Ends { length: length as u32, first, last };
    }
}

impl Ends {
    /// Whether they are all of the text.
    fn is_all(&self) -> bool {
        self.length as usize <= 2 * END
    }

    /// A hash that is cheap, and the same for many texts if they are chosen so.
    #[inline(always)]
    fn hash(&self) -> u64 {
        let Self { length, first, last } = self;
        let first = (first[0] ^ first[1].rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let last = last[0] ^ last[1].rotate_left(32) ^ u64::from(*length);
        // The highest bits of a product depend on all bits of a factor. There are as many as a hint has.
        (first ^ last.wrapping_mul(0xD6E8_FEB8_6659_FD93)) >> 48
    }
}

/// The bytes of a text from `at` on. Near the end of the text, they are copied to `spare` and padded with zeros.
#[inline(always)]
fn end_at<'a>(text: &'a [u8], at: usize, spare: &'a mut Option<[u8; END]>) -> &'a [u8; END] {
    match text.get(at..).and_then(|text| text.first_chunk()) {
        Some(end) => end,
        None => spare.insert(last_end(text, at)),
    }
}

#[cold]
#[inline(never)]
fn last_end(text: &[u8], at: usize) -> [u8; END] {
    let mut end = [0; END];
    let rest = text.get(at..).unwrap_or_default();
    end[..rest.len()].copy_from_slice(rest);
    end
}

/// Whether two texts of this length, which have the same ends, are the same. They begin at the given places.
#[inline(always)]
fn is_same<M: Masks>(
    masks: M,
    length: usize,
    (text, start): (&[u8], usize),
    (other, other_start): (&[u8], usize),
) -> bool {
    let mut at = END;
    while at + END < length {
        let (mut spare, mut other_spare) = (None, None);
        let window = window_at(text, start + at, &mut spare);
        let other = window_at(other, other_start + at, &mut other_spare);
        let rest = length - END - at;
        let differing = !masks.same(window, other);
        if rest < 64 && differing << (64 - rest) != 0 || rest >= 64 && differing != 0 {
            return false;
        }
        at += 64;
    }
    true
}

impl Texts {
    pub(super) fn new(hasher: Hasher) -> Self {
        let (slots, hints) = (vec![0; SLOTS], vec![0; HINTS * SLOTS]);
        Self { hasher, slots, hints, entries: Vec::new(), bytes: vec![0; PADDING], last: 0, repeats: false }
    }

    /// Number of distinct texts.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Number of bytes of all texts.
    fn bytes(&self) -> usize {
        self.bytes.len() - PADDING
    }

    /// The kept form of each text with its count.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.entries.iter().map(|entry| (self.text(entry), entry.count))
    }

    /// Whether there is room for the texts of another table.
    pub(super) fn has_room_for(&self, other: &Self) -> bool {
        let (mut entries, mut bytes) = (self.entries.len(), self.bytes());
        for (text, _) in other.iter().filter(|(text, _)| !self.contains(text)) {
            entries += 1;
            bytes += text.len();
        }
        entries <= EXACT && bytes <= EXACT_BYTES
    }

    fn text(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start as usize..][..entry.ends.length as usize]
    }

    /// The kept form of the text with an index.
    pub(super) fn get(&self, index: u32) -> &[u8] {
        self.text(&self.entries[index as usize])
    }

    /// Whether a text, given by its kept form, is in the table.
    fn contains(&self, kept: &[u8]) -> bool {
        let hash = self.hasher.hash_of(kept);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(index) = self.slots[slot].checked_sub(1) {
            if self.entries[usize::from(index)].hash == hash && self.get(index.into()) == kept {
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

    /// Counts at most [`BATCH`] values, and finds their indexes, up to the first for which there is no room. Returns the number of those
    /// that are counted.
    #[inline(always)]
    pub(super) fn add<M: Masks>(&mut self, masks: M, values: &mut [Value<'_>]) -> usize {
        // A pass of its own, so that the cache misses of many values overlap.
        for value in &mut *values {
            value.find_ends();
            if !self.repeats {
                value.index = self.hint(value);
                if let Some(entry) = self.entries.get(value.index as usize) {
                    prefetch(entry);
                }
            }
        }
        let mut repeated = 0;
        for (number, value) in values.iter_mut().enumerate() {
            if self.repeats {
                if let Some(entry) = self.entries.get_mut(self.last as usize)
                    && entry.ends == value.ends
                    && value.ends.is_all()
                {
                    entry.count += 1;
                    repeated += 1;
                    value.index = self.last;
                    continue;
                }
                value.index = self.hint(value);
            }
            if !self.add_hinted(masks, value) {
                return number;
            }
            repeated += usize::from(value.index == self.last);
            self.last = value.index;
        }
        self.repeats = 4 * repeated >= 3 * values.len();
        values.len()
    }

    /// Counts a value with the index of its hint, and finds its index. Returns `false` if there is no room for it.
    #[inline(always)]
    fn add_hinted<M: Masks>(&mut self, masks: M, value: &mut Value<'_>) -> bool {
        let length = value.ends.length as usize;
        let is_long = length > WHOLE;
        if let Some(entry) = self.entries.get_mut(value.index as usize)
            && entry.ends == value.ends
            && !is_long
            && is_same(masks, length, (value.text, value.span.0), (&self.bytes, entry.start as usize))
        {
            entry.count += 1;
            return true;
        }
        let found = if is_long { self.add_long(value.bytes()) } else { self.find(masks, value, 1) };
        value.index = found.unwrap_or(value.index);
        found.is_some()
    }

    /// The index of the entry that a value may have. It is that of no entry if there is none.
    #[inline(always)]
    fn hint(&self, value: &Value<'_>) -> u32 {
        self.hints.get(self.place_of_hint(value)).map_or(0, |&hint| u32::from(hint)).wrapping_sub(1)
    }

    #[inline(always)]
    fn place_of_hint(&self, value: &Value<'_>) -> usize {
        value.ends.hash() as usize & (self.hints.len() - 1)
    }

    #[inline(never)]
    fn add_long(&mut self, value: &[u8]) -> Option<u32> {
        self.add_kept(&cut(value), 1)
    }

    /// Finds or inserts a text that has no hint.
    #[inline(always)]
    fn find<M: Masks>(&mut self, masks: M, value: &Value<'_>, count: u64) -> Option<u32> {
        let (start, end) = value.span;
        let (hash, _) = self.hasher.hash(masks, value.text, start, end);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(index) = self.slots[slot].checked_sub(1) {
            let entry = &mut self.entries[usize::from(index)];
            if entry.hash == hash
                && entry.ends == value.ends
                && is_same(masks, end - start, (value.text, start), (&self.bytes, entry.start as usize))
            {
                entry.count += count;
                let hint = self.place_of_hint(value);
                self.hints[hint] = index + 1;
                return Some(index.into());
            }
            slot = (slot + 1) & mask;
        }
        self.insert(hash, value, count)
    }

    #[inline(never)]
    fn insert(&mut self, hash: u64, value: &Value<'_>, count: u64) -> Option<u32> {
        let (start, bytes) = (self.bytes(), value.bytes());
        if self.entries.len() == EXACT || start + bytes.len() > EXACT_BYTES {
            return None;
        }
        if 2 * self.entries.len() >= self.slots.len() {
            self.slots = vec![0; 2 * self.slots.len()];
            self.hints = vec![0; HINTS * self.slots.len()];
            (0..self.entries.len()).for_each(|index| self.link(index));
        }
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(start + bytes.len() + PADDING, 0);
        let index = self.entries.len();
        self.entries.push(Entry { hash, ends: value.ends, start: start as u32, count });
        self.link(index);
        let hint = self.place_of_hint(value);
        self.hints[hint] = index as u16 + 1;
        Some(index as u32)
    }

    fn link(&mut self, index: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = self.entries[index].hash as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = index as u16 + 1;
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
        let mut value = Value::default();
        value.begin(0, self.kept, (0, self.kept.len()));
        value.find_ends();
        self.texts.find(masks, &value, self.count)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// Counts texts that follow each other in one text, batch by batch. Returns the indexes.
    struct AddAll<'a> {
        texts: &'a mut Texts,
        text: &'a [u8],
        spans: &'a [Span],
    }

    impl Kernel for AddAll<'_> {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> Vec<u32> {
            let mut indexes = Vec::new();
            for spans in self.spans.chunks(BATCH) {
                let mut values = [Value::default(); BATCH];
                for (row, &span) in spans.iter().enumerate() {
                    values[row].begin(row, self.text, span);
                }
                let values = &mut values[..spans.len()];
                assert_eq!(self.texts.add(masks, values), values.len());
                indexes.extend(values.iter().map(|value| value.index));
            }
            indexes
        }
    }

    /// Texts of all lengths. Many of them differ only between their ends.
    fn similar_text() -> impl Strategy<Value = Vec<u8>> {
        let length = prop_oneof![4 => 0..70_usize, 1 => 0..300_usize];
        let place = any::<prop::sample::Index>();
        (length, place, 0..3_u8).prop_map(|(length, place, byte)| {
            let mut text = vec![b'x'; length];
            if length > 0 {
                text[place.index(length)] = byte;
            }
            text
        })
    }

    proptest! {
        #[test]
        fn texts_are_counted_as_by_a_map(
            distinct in prop::collection::vec(similar_text(), 1..100),
            runs in prop::collection::vec((any::<prop::sample::Index>(), 1..80_usize), 1..100),
        ) {
            let values: Vec<&Vec<u8>> =
                runs.iter().flat_map(|(place, count)| vec![place.get(&distinct); *count]).collect();
            let (mut text, mut spans, mut counts) = (Vec::new(), Vec::new(), HashMap::new());
            for value in &values {
                spans.push((text.len(), text.len() + value.len()));
                text.extend_from_slice(value);
                *counts.entry(kept(value)).or_default() += 1;
            }
            let mut texts = Texts::new(Hasher::random());
            let indexes = dispatch(AddAll { texts: &mut texts, text: &text, spans: &spans });
            for (value, index) in values.iter().zip(indexes) {
                prop_assert_eq!(texts.get(index), &kept(value)[..]);
            }
            let counted: HashMap<Box<[u8]>, u64> = texts.iter().map(|(text, count)| (text.into(), count)).collect();
            prop_assert_eq!((counted, texts.len()), (counts.clone(), counts.len()));
        }
    }

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
