//! The words of a list, in a hash table.

use memchr::memchr;

use crate::bits::HashBitmap;

/// Length that slots have for words that are as long or longer.
const MAX_LENGTH: usize = 255;

/// Words, stored once each. A word is known by its offset in the text of all words, so that earlier words have smaller offsets.
#[derive(Clone, Debug)]
pub(crate) struct WordTable {
    /// The words in the order in which they were added, each with a line feed, which is in none of them.
    text: Vec<u8>,
    /// In each slot in use, 24 bits of the hash, the length of the word up to 255, and the offset plus one. The number of slots is
    /// a power of two.
    slots: Vec<u64>,
    shift: u32,
    /// Hashes of all words, which rule out most other texts without an access to the slots.
    hashes: HashBitmap,
}

impl WordTable {
    /// Makes a table for a number of words with `bytes` bytes in total. Offsets must fit into 32 bits.
    pub(crate) fn new(count: usize, bytes: usize) -> Self {
        let slots = (count + count / 3 + 2).next_power_of_two();
        Self {
            text: Vec::with_capacity(bytes + count),
            slots: vec![0; slots],
            shift: 64 - slots.trailing_zeros(),
            hashes: HashBitmap::for_words(count),
        }
    }

    /// Adds a word and returns `true`, or returns `false` for a duplicate. The table must have been sized for it.
    pub(crate) fn insert(&mut self, word: &[u8], hash: u64) -> bool {
        let mut slot = self.slot(hash);
        while self.slots[slot] != 0 {
            if self.holds(slot, word, hash).is_some() {
                return false;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = tag(hash, word.len()) | (self.text.len() as u64 + 1);
        self.text.extend_from_slice(word);
        self.text.push(b'\n');
        self.hashes.insert(scatter(hash));
        true
    }

    /// Returns the offset of a word.
    #[inline(always)]
    pub(crate) fn get(&self, word: &[u8], hash: u64) -> Option<u32> {
        if self.may_have(hash) { self.find(word, hash) } else { None }
    }

    /// Returns `false` if no word has this hash.
    #[inline(always)]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        self.hashes.has(scatter(hash))
    }

    fn find(&self, word: &[u8], hash: u64) -> Option<u32> {
        let mut slot = self.slot(hash);
        while self.slots[slot] != 0 {
            if let Some(offset) = self.holds(slot, word, hash) {
                return Some(offset);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// The words, in the order in which they were added.
    pub(crate) fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.text.split_inclusive(|&byte| byte == b'\n').map(|line| &line[..line.len() - 1])
    }

    /// Releases memory that is not needed if no more words are added.
    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
    }

    #[inline(always)]
    fn slot(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// Returns the offset of the word in a slot if it is `word`.
    #[inline(always)]
    fn holds(&self, slot: usize, word: &[u8], hash: u64) -> Option<u32> {
        let entry = self.slots[slot];
        if entry & !u64::from(u32::MAX) != tag(hash, word.len()) {
            return None;
        }
        let offset = (entry as u32).wrapping_sub(1);
        let rest = self.text.get(offset as usize..)?;
        // A long text with a line feed could otherwise be two words in a row.
        let ends = |rest: &[u8]| rest.get(word.len()) == Some(&b'\n') && memchr(b'\n', word).is_none();
        (rest.starts_with(word) && (word.len() < MAX_LENGTH || ends(rest))).then_some(offset)
    }
}

#[inline(always)]
fn tag(hash: u64, length: usize) -> u64 {
    hash << 40 | (length.min(MAX_LENGTH) as u64) << 32
}

/// Brings bits of a hash to the top that do not choose the slot.
#[inline(always)]
fn scatter(hash: u64) -> u64 {
    hash.rotate_left(29)
}
