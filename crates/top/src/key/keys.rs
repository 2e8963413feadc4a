//! The keys of the records of a block.

use crate::cells::{Span, bytes_of};

/// The keys of the records of a block. Keys that occur unchanged in the block are not copied.
#[derive(Default)]
pub(crate) struct Keys {
    /// Spans of the keys in the block, or in `text` if they were copied.
    pub(crate) spans: Vec<Span>,
    /// Copied keys.
    text: Vec<u8>,
    /// Buffer for keys that replace others.
    replaced: Vec<u8>,
    is_copied: bool,
    /// Indexes of the records without a key.
    pub(crate) missing: Vec<u32>,
}

impl Keys {
    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.text.clear();
        self.missing.clear();
        self.is_copied = false;
    }

    /// Appends a copied key if `write` returns `true`. All keys of a block are copied, or none.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
        self.is_copied = true;
        let start = self.text.len();
        let is_key = write(&mut self.text);
        if is_key {
            self.spans.push((start, self.text.len()));
        } else {
            self.text.truncate(start);
        }
        is_key
    }

    /// Replaces each key by what `change` appends for it.
    pub(crate) fn replace(&mut self, block: &[u8], mut change: impl FnMut(&[u8], &mut Vec<u8>)) {
        self.replaced.clear();
        let text = if self.is_copied { &self.text[..] } else { block };
        for span in &mut self.spans {
            let start = self.replaced.len();
            change(bytes_of(text, *span), &mut self.replaced);
            *span = (start, self.replaced.len());
        }
        self.is_copied = true;
        std::mem::swap(&mut self.text, &mut self.replaced);
    }

    /// The index of the record of the key with this index.
    pub(crate) fn record_of(&self, key: usize) -> usize {
        let mut record = key;
        for &missing in &self.missing {
            if missing as usize > record {
                break;
            }
            record += 1;
        }
        record
    }

    /// Whether the spans are in the block.
    pub(crate) fn are_in_block(&self) -> bool {
        !self.is_copied
    }

    /// Returns the text of the spans: the block or the copied keys.
    pub(crate) fn text<'a>(&'a self, block: &'a [u8]) -> &'a [u8] {
        if self.is_copied { &self.text } else { block }
    }
}
