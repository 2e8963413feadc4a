//! LZ4 frames.

use std::io::{self, Read};
use std::mem;

use lz4_flex::frame::{Error, FrameDecoder};

use super::format::{Compression, DecompressError};
use super::member::{CompressedInput, available};

const MAGIC: [u8; 4] = [4, 0x22, 0x4d, 0x18];

/// Decompresses all frames of an input, each with its own decoder.
///
/// The library's decoder can continue from frame to frame, but accepts data that end between two blocks of a frame, or
/// in its header, as complete. So it reads from an input that never ends.
pub(super) struct Lz4(Frame);

enum Frame {
    Inside(FrameDecoder<io::Chain<&'static [u8], Endless>>),
    Between(Endless),
    /// The decoder cannot be used after an error.
    Failed(DecompressError),
}

impl Lz4 {
    pub(super) fn new(input: CompressedInput) -> Self {
        Self(Frame::Between(Endless(input)))
    }
}

impl Read for Lz4 {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        loop {
            if let Frame::Inside(frame) = &mut self.0 {
                match frame.read(output) {
                    Ok(0) => {}
                    Ok(made) => return Ok(made),
                    Err(error) => return Err(self.fail(error)),
                }
            }
            self.0 = match mem::replace(&mut self.0, Frame::Failed(DecompressError::Damaged)) {
                Frame::Inside(frame) => Frame::Between(frame.into_inner().into_inner().1),
                Frame::Between(mut input) => {
                    if available(&mut input.0)?.is_empty() {
                        self.0 = Frame::Between(input);
                        return Ok(0);
                    }
                    match begin(&mut input) {
                        Ok(true) => Frame::Inside(FrameDecoder::new(MAGIC.as_slice().chain(input))),
                        Ok(false) => Frame::Between(input),
                        Err(error) => return Err(self.fail(error)),
                    }
                }
                Frame::Failed(failure) => {
                    self.0 = Frame::Failed(failure);
                    return Err(failure.of(Compression::Lz4));
                }
            }
        }
    }
}

impl Lz4 {
    /// Ends reading. Errors of the input are returned unchanged.
    fn fail(&mut self, error: io::Error) -> io::Error {
        let Some(failure) = failure(&error) else {
            self.0 = Frame::Failed(DecompressError::Truncated);
            return error;
        };
        self.0 = Frame::Failed(failure);
        failure.of(Compression::Lz4)
    }
}

/// Reads the next four bytes. Returns `true` before a frame of data, `false` after a skippable frame, which is
/// consumed.
fn begin(input: &mut Endless) -> io::Result<bool> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    match bytes {
        MAGIC => Ok(true),
        [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            input.read_exact(&mut bytes)?;
            io::copy(&mut input.take(u32::from_le_bytes(bytes).into()), &mut io::sink())?;
            Ok(false)
        }
        _ => Err(io::Error::other(DecompressError::Followed)),
    }
}

fn failure(error: &io::Error) -> Option<DecompressError> {
    let inner = error.get_ref()?;
    if let Some(&failure) = inner.downcast_ref::<DecompressError>() {
        return Some(failure);
    }
    match inner.downcast_ref::<Error>()? {
        Error::DictionaryNotSupported | Error::UnsupportedVersion(_) => Some(DecompressError::Unsupported),
        _ => Some(DecompressError::Damaged),
    }
}

/// An input whose end is an error, because it must not end inside a frame. The error must not be `UnexpectedEof`, which
/// the decoder accepts as a normal end.
struct Endless(CompressedInput);

impl Read for Endless {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        available(&mut self.0)?;
        match self.0.read(output)? {
            0 => Err(io::Error::other(DecompressError::Truncated)),
            got => Ok(got),
        }
    }
}
