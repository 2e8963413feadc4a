//! LZ4 frames.

use std::io::{self, Read};
use std::mem;

use lz4_flex::frame::{Error, FrameDecoder};

use super::format::{Failure, Format};
use super::member::{Input, available};

const MAGIC: [u8; 4] = [4, 0x22, 0x4d, 0x18];

/// Decompresses all frames of an input, each with its own decoder.
///
/// The library's decoder can continue from frame to frame, but accepts data that end between two blocks of a frame, or
/// in its header, as complete. So it reads from an input that never ends.
pub(super) struct Lz4(State);

enum State {
    Inside(FrameDecoder<io::Chain<&'static [u8], Endless>>),
    Between(Endless),
    /// The decoder cannot be used after an error.
    Failed(Failure),
}

impl Lz4 {
    pub(super) fn new(input: Input) -> Self {
        Self(State::Between(Endless(input)))
    }
}

impl Read for Lz4 {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        loop {
            if let State::Inside(frame) = &mut self.0 {
                match frame.read(output) {
                    Ok(0) => {}
                    Ok(made) => return Ok(made),
                    Err(error) => return Err(self.fail(error)),
                }
            }
            self.0 = match mem::replace(&mut self.0, State::Failed(Failure::Damaged)) {
                State::Inside(frame) => State::Between(frame.into_inner().into_inner().1),
                State::Between(mut input) => {
                    if available(&mut input.0)?.is_empty() {
                        self.0 = State::Between(input);
                        return Ok(0);
                    }
                    match begin(&mut input) {
                        Ok(true) => State::Inside(FrameDecoder::new(MAGIC.as_slice().chain(input))),
                        Ok(false) => State::Between(input),
                        Err(error) => return Err(self.fail(error)),
                    }
                }
                State::Failed(failure) => {
                    self.0 = State::Failed(failure);
                    return Err(failure.of(Format::Lz4));
                }
            }
        }
    }
}

impl Lz4 {
    /// Ends reading. Errors of the input are returned unchanged.
    fn fail(&mut self, error: io::Error) -> io::Error {
        let Some(failure) = failure(&error) else {
            self.0 = State::Failed(Failure::Truncated);
            return error;
        };
        self.0 = State::Failed(failure);
        failure.of(Format::Lz4)
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
        _ => Err(io::Error::other(Failure::Followed)),
    }
}

fn failure(error: &io::Error) -> Option<Failure> {
    let inner = error.get_ref()?;
    if let Some(&failure) = inner.downcast_ref::<Failure>() {
        return Some(failure);
    }
    match inner.downcast_ref::<Error>()? {
        Error::DictionaryNotSupported | Error::UnsupportedVersion(_) => Some(Failure::Unsupported),
        _ => Some(Failure::Damaged),
    }
}

/// An input whose end is an error, because it must not end inside a frame. The error must not be `UnexpectedEof`, which
/// the decoder accepts as a normal end.
struct Endless(Input);

impl Read for Endless {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        available(&mut self.0)?;
        match self.0.read(output)? {
            0 => Err(io::Error::other(Failure::Truncated)),
            got => Ok(got),
        }
    }
}
