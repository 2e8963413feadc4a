//! Formats made up of consecutive members, streams or frames that decompress independently.
//!
//! The readers of the libraries are not used: on damaged data they lose the output of the call that fails. Here the
//! libraries are fed directly, and their output is returned before the error.

use std::io::{self, BufRead, Read};

use bzip2::Decompress as Bunzip;
use finecomb_sys::BufferedInput;
use flate2::{Decompress as Inflate, FlushDecompress};
use liblzma::stream::{Action, CONCATENATED, Error as XzError, Status as XzStatus, Stream};
use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{DCtx, InBuffer, OutBuffer, ResetDirective};

use super::format::{Compression, DecompressError};

/// Maximum memory that compressed data may demand, in bytes, for formats that let the data choose. `xz -9` demands a
/// sixteenth of it. For zstd the limit of the library applies: a window of 128 MiB, as for `zstd -d`.
const MEMORY_LIMIT: u64 = 1 << 30;

/// Source of compressed data.
pub(super) type CompressedInput = BufferedInput<Box<dyn Read + Send>>;

/// Returns the buffered bytes, reading more if there are none; empty at the end of the input. Retries reads that were
/// interrupted by a signal.
pub(super) fn available(input: &mut CompressedInput) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    Ok(input.buffer())
}

fn skip_zeros(input: &mut CompressedInput) -> io::Result<()> {
    loop {
        let bytes = available(input)?;
        let (zeros, length) = (bytes.iter().take_while(|&&byte| byte == 0).count(), bytes.len());
        input.consume(zeros);
        if zeros < length || length == 0 {
            return Ok(());
        }
    }
}

/// Result of a step.
pub(super) struct StepResult {
    /// Bytes of input consumed.
    pub(super) used: usize,
    /// Bytes of output written.
    pub(super) made: usize,
    /// `true` if the member ended.
    pub(super) ended: Result<bool, DecompressError>,
}

/// Decompresses one member after another.
pub(super) trait Decoder: Send {
    /// Prepares for the next member. Default: there is only one.
    fn restart(&mut self) -> Result<(), DecompressError> {
        Err(DecompressError::Followed)
    }

    /// Decompresses some of `input` into `output`. `last` marks the end of the input.
    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> StepResult;
}

#[derive(Clone, Copy)]
enum MemberState {
    Inside,
    /// A member has ended; there may be another one.
    Between,
    Failed(DecompressError),
}

/// Decompresses all members of an input.
pub(super) struct MemberDecoder {
    format: Compression,
    input: CompressedInput,
    decoder: Box<dyn Decoder>,
    state: MemberState,
    /// Set if the last output buffer was filled: the decoder may have more output without more input.
    full: bool,
    /// Set at the end of the input.
    last: bool,
    /// Set while a member after the first has no output yet.
    after_member: bool,
}

impl MemberDecoder {
    pub(super) fn new(
        format: Compression,
        input: CompressedInput,
        decoder: Box<dyn Decoder>,
        after_member: bool,
    ) -> Self {
        Self { format, input, decoder, state: MemberState::Inside, full: false, last: false, after_member }
    }

    /// Returns `true` if there is another member, and prepares the decoder for it.
    fn next_member(&mut self) -> io::Result<bool> {
        // Tapes and block devices pad gzip members with zeros.
        if self.format == Compression::Gzip {
            skip_zeros(&mut self.input)?;
        }
        if available(&mut self.input)?.is_empty() {
            return Ok(false);
        }
        self.after_member = true;
        self.full = false;
        self.state = match self.decoder.restart() {
            Ok(()) => MemberState::Inside,
            Err(failure) => MemberState::Failed(failure),
        };
        Ok(true)
    }

    /// Returns the number of bytes written, which may be 0 before the end.
    fn step(&mut self, output: &mut [u8]) -> io::Result<usize> {
        // Pending output must not wait for input, which may be slow or fail.
        let input = if self.full || self.last { &[] } else { available(&mut self.input)? };
        self.last |= !self.full && input.is_empty();
        let StepResult { used, made, ended } = self.decoder.step(input, output, self.last);
        self.input.consume(used);
        self.full = made == output.len();
        self.after_member &= made == 0;
        self.state = match ended {
            Ok(true) => MemberState::Between,
            Ok(false) if self.last && made == 0 => MemberState::Failed(DecompressError::Truncated),
            Ok(false) => MemberState::Inside,
            Err(DecompressError::Damaged) if self.after_member => {
                MemberState::Failed(DecompressError::Followed)
            }
            Err(failure) => MemberState::Failed(failure),
        };
        Ok(made)
    }
}

impl Read for MemberDecoder {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        loop {
            match self.state {
                MemberState::Failed(failure) => return Err(failure.of(self.format)),
                MemberState::Between => {
                    if !self.next_member()? {
                        return Ok(0);
                    }
                }
                MemberState::Inside => match self.step(output)? {
                    0 => {}
                    made => return Ok(made),
                },
            }
        }
    }
}

/// Growth of a running total since it was `before`. It is limited by the size of the buffers.
fn since(before: u64, now: u64) -> usize {
    (now - before) as usize
}

/// Data with a header and a checksum of gzip, or without.
pub(super) struct Deflate {
    decoder: Inflate,
    is_gzip: bool,
}

impl Deflate {
    pub(super) fn new(is_gzip: bool) -> Self {
        // 2^15 bytes is the maximum window, and fits all data.
        let decoder = if is_gzip { Inflate::new_gzip(15) } else { Inflate::new(false) };
        Self { decoder, is_gzip }
    }
}

impl Decoder for Deflate {
    fn restart(&mut self) -> Result<(), DecompressError> {
        if !self.is_gzip {
            return Err(DecompressError::Followed);
        }
        *self = Self::new(true);
        Ok(())
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], _last: bool) -> StepResult {
        let (total_in, total_out) = (self.decoder.total_in(), self.decoder.total_out());
        let status = self.decoder.decompress(input, output, FlushDecompress::None);
        StepResult {
            used: since(total_in, self.decoder.total_in()),
            made: since(total_out, self.decoder.total_out()),
            ended: status
                .map(|status| status == flate2::Status::StreamEnd)
                .map_err(|_| DecompressError::Damaged),
        }
    }
}

pub(super) struct Bzip2(Bunzip);

impl Bzip2 {
    pub(super) fn new() -> Self {
        // The alternative needs a third less memory and twice the time.
        Self(Bunzip::new(false))
    }
}

impl Decoder for Bzip2 {
    fn restart(&mut self) -> Result<(), DecompressError> {
        *self = Self::new();
        Ok(())
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], _last: bool) -> StepResult {
        let (total_in, total_out) = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, output);
        StepResult {
            used: since(total_in, self.0.total_in()),
            made: since(total_out, self.0.total_out()),
            ended: match status {
                Ok(bzip2::Status::MemNeeded) => Err(DecompressError::Memory),
                Ok(status) => Ok(status == bzip2::Status::StreamEnd),
                Err(_) => Err(DecompressError::Damaged),
            },
        }
    }
}

/// An xz file, or one of the format before it.
pub(super) struct Xz(Stream);

impl Xz {
    /// Reads all streams of an xz file as one member: the library handles the padding between them. It reports trailing
    /// data as a damaged stream.
    pub(super) fn new() -> Result<Self, DecompressError> {
        Stream::new_stream_decoder(MEMORY_LIMIT, CONCATENATED).map(Self).map_err(xz_failure)
    }

    /// Reads an lzma file, which has a single member.
    pub(super) fn lzma() -> Result<Self, DecompressError> {
        Stream::new_lzma_decoder(MEMORY_LIMIT).map(Self).map_err(xz_failure)
    }
}

impl Decoder for Xz {
    fn step(&mut self, input: &[u8], output: &mut [u8], last: bool) -> StepResult {
        let (total_in, total_out) = (self.0.total_in(), self.0.total_out());
        let status = self.0.process(input, output, if last { Action::Finish } else { Action::Run });
        StepResult {
            used: since(total_in, self.0.total_in()),
            made: since(total_out, self.0.total_out()),
            ended: status.map(|status| status == XzStatus::StreamEnd).map_err(xz_failure),
        }
    }
}

fn xz_failure(error: XzError) -> DecompressError {
    match error {
        XzError::Mem | XzError::MemLimit => DecompressError::Memory,
        XzError::Options | XzError::NoCheck | XzError::UnsupportedCheck => DecompressError::Unsupported,
        XzError::Data | XzError::Format | XzError::Program => DecompressError::Damaged,
    }
}

pub(super) struct Zstd {
    context: DCtx<'static>,
    /// Number of bytes that the library expects next.
    wanted: usize,
}

impl Zstd {
    pub(super) fn new() -> Result<Self, DecompressError> {
        let context = DCtx::try_create().ok_or(DecompressError::Memory)?;
        Ok(Self { context, wanted: 1 })
    }

    /// Number of bytes to pass, so that the library does not decompress a block and then fail on the bytes after it: it
    /// would not report how much it has written. It expects a block together with the header of the next one.
    fn portion(&self) -> usize {
        const BLOCK_HEADER: usize = 3;
        if self.wanted > BLOCK_HEADER { self.wanted - BLOCK_HEADER } else { self.wanted }
    }
}

impl Decoder for Zstd {
    fn restart(&mut self) -> Result<(), DecompressError> {
        self.wanted = 1;
        self.context.reset(ResetDirective::SessionOnly).map(drop).map_err(zstd_failure)
    }

    fn step(&mut self, input: &[u8], output: &mut [u8], _last: bool) -> StepResult {
        let mut input = InBuffer::around(&input[..input.len().min(self.portion())]);
        let mut output = OutBuffer::around(output);
        let status = self.context.decompress_stream(&mut output, &mut input);
        if let Ok(wanted) = status {
            self.wanted = wanted;
        }
        StepResult {
            used: input.pos(),
            made: output.pos(),
            ended: status.map(|wanted| wanted == 0).map_err(zstd_failure),
        }
    }
}

/// The library reports errors as negative numbers.
fn zstd_failure(code: usize) -> DecompressError {
    use ZSTD_ErrorCode as Code;
    let is = |known: Code| code.wrapping_neg() == known as usize;
    if is(Code::ZSTD_error_frameParameter_windowTooLarge) || is(Code::ZSTD_error_memory_allocation) {
        DecompressError::Memory
    } else if is(Code::ZSTD_error_dictionary_wrong) || is(Code::ZSTD_error_frameParameter_unsupported) {
        DecompressError::Unsupported
    } else {
        DecompressError::Damaged
    }
}
