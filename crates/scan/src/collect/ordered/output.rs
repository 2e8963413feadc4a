//! Output of a worker, on its way to the sequencer.

use crate::schedule::plan::{Chunk, Receive, SlotId};

/// Size from which output is handed over before its task is done, in bytes.
const HAND_OVER: usize = 64 << 10;

/// Output of a visitor, in groups: one per file with output.
#[derive(Default)]
pub struct Output<'a> {
    bytes: Vec<u8>,
    /// Separator between groups.
    separator: Option<Vec<u8>>,
    /// Set if a group begins at the first byte, so that a separator precedes it unless it is the first output.
    begins_group: bool,
    /// Bytes handed over.
    handed_over: u64,
    receiver: Option<(&'a dyn Receive, SlotId)>,
}

impl<'a> Output<'a> {
    /// Creates an empty output with this separator between groups.
    pub fn new(separator: Option<Vec<u8>>) -> Self {
        Self { separator, ..Self::default() }
    }

    /// Assigns the following output to a slot.
    pub(crate) fn set_slot(&mut self, receiver: &'a dyn Receive, slot: SlotId) {
        self.receiver = Some((receiver, slot));
    }

    /// Begins a group: the following output belongs to another file.
    pub fn begin_group(&mut self) {
        if self.bytes.is_empty() {
            self.begins_group = true;
        } else if let Some(separator) = &self.separator {
            self.bytes.extend_from_slice(separator);
        }
    }

    /// The buffer to append output to. Bytes in it must not be removed.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Total number of bytes printed.
    pub fn printed(&self) -> u64 {
        self.handed_over + self.bytes.len() as u64
    }

    /// Hands over the output if there is enough of it. Call this after every line, so that memory stays bounded.
    pub fn flush_if_full(&mut self) {
        if self.bytes.len() < HAND_OVER {
            return;
        }
        if let Some((receiver, slot)) = self.receiver {
            let spare = receiver.hand_over(slot, self.take());
            self.reuse(spare);
        }
    }

    /// Takes the pending output.
    pub(crate) fn take(&mut self) -> Chunk {
        self.handed_over += self.bytes.len() as u64;
        let begins_group = std::mem::take(&mut self.begins_group);
        Chunk { bytes: std::mem::take(&mut self.bytes), begins_group }
    }

    /// Takes back memory for reuse.
    pub(crate) fn reuse(&mut self, mut bytes: Vec<u8>) {
        if self.bytes.capacity() == 0 {
            bytes.clear();
            self.bytes = bytes;
        }
    }
}
