//! What a worker prints, on its way to the sequencer.

/// Bytes that a visitor prints, in groups: one for each file that has any.
#[derive(Debug, Default)]
pub struct Output {
    bytes: Vec<u8>,
    /// What is between two groups.
    separator: Option<Vec<u8>>,
    /// Whether the first group begins at the first byte, so that a separator is due before it if anything was
    /// printed before.
    begins_group: bool,
}

/// Bytes that have left the worker.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) begins_group: bool,
}

impl Output {
    /// No bytes yet; `separator` is what goes between groups.
    pub fn new(separator: Option<Vec<u8>>) -> Self {
        Self { bytes: Vec::new(), separator, begins_group: false }
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

    /// How many bytes are waiting.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes what is waiting.
    pub(crate) fn take(&mut self) -> Chunk {
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
