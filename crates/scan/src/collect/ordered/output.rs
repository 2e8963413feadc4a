//! What a worker prints, on its way to the sequencer.

use crate::schedule::plan::{Chunk, Receive, SlotId};

/// Output of so many bytes is handed over before the task that prints it is done.
const HAND_OVER: usize = 64 << 10;

/// Bytes that a visitor prints, in groups: one for each file that has any.
#[derive(Default)]
pub struct Output<'a> {
    bytes: Vec<u8>,
    /// What is between two groups.
    separator: Option<Vec<u8>>,
    /// Whether the first group begins at the first byte, so that a separator is due before it if anything was
    /// printed before.
    begins_group: bool,
    /// Bytes that have been handed over.
    handed_over: u64,
    receiver: Option<(&'a dyn Receive, SlotId)>,
}

impl<'a> Output<'a> {
    /// No bytes yet; `separator` is what goes between groups.
    pub fn new(separator: Option<Vec<u8>>) -> Self {
        Self { separator, ..Self::default() }
    }

    /// From now on, what is printed belongs to a slot.
    pub(crate) fn belongs_to(&mut self, receiver: &'a dyn Receive, slot: SlotId) {
        self.receiver = Some((receiver, slot));
    }

    /// Begins a group: what is printed from here on belongs to another file.
    pub fn begin_group(&mut self) {
        if self.bytes.is_empty() {
            self.begins_group = true;
        } else if let Some(separator) = &self.separator {
            self.bytes.extend_from_slice(separator);
        }
    }

    /// Where to print to. Nothing that is there may be taken away.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// How many bytes have been printed in all.
    pub fn printed(&self) -> u64 {
        self.handed_over + self.bytes.len() as u64
    }

    /// Hands over what was printed if it is much. To be called after every line, so that memory stays bounded.
    pub fn relieve(&mut self) {
        if self.bytes.len() < HAND_OVER {
            return;
        }
        if let Some((receiver, slot)) = self.receiver {
            let spare = receiver.hand_over(slot, self.take());
            self.reuse(spare);
        }
    }

    /// Takes what is waiting.
    pub(crate) fn take(&mut self) -> Chunk {
        self.handed_over += self.bytes.len() as u64;
        let begins_group = std::mem::take(&mut self.begins_group);
        Chunk { bytes: std::mem::take(&mut self.bytes), begins_group }
    }

    /// Gives memory back for use.
    pub(crate) fn reuse(&mut self, mut bytes: Vec<u8>) {
        if self.bytes.capacity() == 0 {
            bytes.clear();
            self.bytes = bytes;
        }
    }
}
