//! Brotli streams. They have no signature, and no checksum.

use std::ops::Range;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::format::DecompressError;
use super::member::{Decoder, StepResult};

/// Number of bytes that the library is given at a time, and room for text. At damage the library loses the text since it last
/// waited for input or for room, so these are the same for any sizes of reads.
const PORTION: usize = 64;
const ROOM: usize = 64 << 10;

/// Decoder of a stream.
pub(super) struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    /// Bytes for the library, and how many of them it has taken.
    portion: Vec<u8>,
    taken: usize,
    text: Vec<u8>,
    /// The text that has not been returned.
    unread: Range<usize>,
    /// Last answer of the library.
    status: StreamStatus,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamStatus {
    WantsInput,
    WantsRoom,
    Ended(Result<(), DecompressError>),
}

impl Brotli {
    pub(super) fn new() -> Self {
        let alloc = StandardAlloc::default;
        Self {
            state: BrotliState::new(alloc(), alloc(), alloc()),
            portion: Vec::with_capacity(PORTION),
            taken: 0,
            text: vec![0; ROOM],
            unread: 0..0,
            status: StreamStatus::WantsInput,
        }
    }

    /// Lets the library work on the portion.
    fn decompress(&mut self) {
        let (mut left, mut room, mut made, mut total) = (self.portion.len() - self.taken, ROOM, 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut self.taken,
            &self.portion,
            &mut room,
            &mut made,
            &mut self.text,
            &mut total,
            &mut self.state,
        );
        self.unread = 0..made;
        self.status = match result {
            BrotliResult::ResultSuccess if left > 0 => StreamStatus::Ended(Err(DecompressError::Followed)),
            BrotliResult::ResultSuccess => StreamStatus::Ended(Ok(())),
            BrotliResult::NeedsMoreInput => StreamStatus::WantsInput,
            BrotliResult::NeedsMoreOutput => StreamStatus::WantsRoom,
            BrotliResult::ResultFailure => StreamStatus::Ended(Err(DecompressError::Damaged)),
        };
    }

    /// Returns text to the caller.
    fn write(&mut self, output: &mut [u8]) -> usize {
        let made = self.unread.len().min(output.len());
        output[..made].copy_from_slice(&self.text[self.unread.start..self.unread.start + made]);
        self.unread.start += made;
        made
    }
}

impl Decoder for Brotli {
    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> StepResult {
        let mut used = 0;
        if self.unread.is_empty() && !matches!(self.status, StreamStatus::Ended(_)) {
            if self.status == StreamStatus::WantsInput && self.portion.len() == PORTION {
                self.portion.clear();
                self.taken = 0;
            }
            used = input.len().min(PORTION - self.portion.len());
            self.portion.extend_from_slice(&input[..used]);
            if self.portion.len() == PORTION || last {
                self.decompress();
            }
        }
        let made = self.write(output);
        let ended = match self.status {
            StreamStatus::Ended(result) if self.unread.is_empty() => result.map(|()| true),
            _ => Ok(false),
        };
        StepResult { used, made, ended }
    }
}
