//! Output of a worker, on its way to the sequencer.

use crate::block::Source;
use crate::schedule::limit::Mark;
use crate::schedule::sequencer::{Chunk, Receive, SlotId};

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
    /// Marks for the limit on results, with their positions; `None` without a limit.
    marks: Option<Vec<(usize, Mark)>>,
    /// Bytes handed over.
    handed_over: u64,
    receiver: Option<(&'a dyn Receive, SlotId)>,
}

impl<'a> Output<'a> {
    /// Creates an empty output with this separator between groups.
    pub fn new(separator: Option<Vec<u8>>) -> Self {
        Self { separator, ..Self::default() }
    }

    /// Records where files and results begin, for a limit on the number of results.
    pub(crate) fn record_marks(&mut self) {
        self.marks = Some(Vec::new());
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

    /// Begins the output of a file. It may stay empty.
    pub(crate) fn begin_file(&mut self, source: &Source) {
        let at = self.bytes.len();
        if let Some(marks) = &mut self.marks {
            // Nothing was printed of the file before.
            marks.pop_if(|(before, mark)| *before == at && matches!(mark, Mark::File(_)));
            marks.push((at, Mark::File(source.clone())));
        }
    }

    /// Begins a result, as [`OrderedOptions::limit`](crate::OrderedOptions::limit) counts them. It may be followed by context.
    pub fn begin_result(&mut self) {
        self.mark(Mark::Result);
    }

    /// Ends a result: no context follows. May be omitted.
    pub fn end_result(&mut self) {
        let last = self.marks.as_ref().and_then(|marks| marks.last());
        if last.is_none_or(|(_, mark)| !matches!(mark, Mark::File(_) | Mark::End)) {
            self.mark(Mark::End);
        }
    }

    /// Begins output that is printed if a result of the file was, or more results may be.
    pub fn begin_rest(&mut self) {
        self.mark(Mark::Rest);
    }

    fn mark(&mut self, mark: Mark) {
        if let Some(marks) = &mut self.marks {
            marks.push((self.bytes.len(), mark));
        }
    }

    /// Returns `true` if there is anything to take.
    pub(crate) fn is_pending(&self) -> bool {
        !self.bytes.is_empty() || self.marks.as_ref().is_some_and(|marks| !marks.is_empty())
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
        let marks = self.marks.as_mut().map(std::mem::take).unwrap_or_default();
        Chunk { bytes: std::mem::take(&mut self.bytes), begins_group, marks }
    }

    /// Takes back memory for reuse.
    pub(crate) fn reuse(&mut self, mut bytes: Vec<u8>) {
        if self.bytes.capacity() == 0 {
            bytes.clear();
            self.bytes = bytes;
        }
    }
}
