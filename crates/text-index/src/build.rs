//! Builds an index file from a text.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use finecomb_sys::BufferedInput;
use finecomb_sys::setters;
use finecomb_sys::threads::{cores, map};

use crate::alphabet::Alphabet;
use crate::entries::EntryWidth;
use crate::error::Error;
use crate::format::{Header, PAGE, Section};
use crate::front;
use crate::lines;
use crate::packed::{PADDING, pack};
use crate::presence;
use crate::sort::{self, Sorted};
use crate::write::Writer;

/// Stage of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading the text.
    Read,
    /// Packing the text and building the tables that depend on the text only.
    Pack,
    /// Sorting the suffixes, which takes nearly all of the time.
    Sort,
    /// Writing the suffix array and building its bitmaps.
    Write,
    /// Syncing the file to the disk.
    Sync,
}

/// Options of a build.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct BuildOptions<'a> {
    /// Number of threads. Default: one for each core available to this process.
    pub threads: NonZeroUsize,
    /// Called at the start of each stage. Default: nothing is called.
    pub on_stage: &'a dyn Fn(Stage),
}

setters! {
    BuildOptions<'a> { threads: NonZeroUsize, on_stage: &'a dyn Fn(Stage) }
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        Self { threads: cores(), on_stage: &|_| {} }
    }
}

/// Memory in bytes that building the index of a text of `bytes` bytes takes, for any alphabet.
pub fn memory(bytes: u64) -> u64 {
    // The text, the suffix array and the working memory of libsais. Before the suffix array exists, its share is used by the
    // codes of the text, and by the count tables and batches of strings of up to four threads.
    let batches = bytes.saturating_mul(8).min(128 << 20);
    bytes.saturating_mul(2 + sort::entry_bytes(bytes)).saturating_add(batches + (8 << 20))
}

/// Maximum size of the index of a text of `bytes` bytes, for the given alphabet or, with `None`, for any.
pub fn max_index_size(bytes: u64, alphabet: Option<Alphabet>) -> u64 {
    // The index of a text of bytes is the largest.
    let alphabet = alphabet.unwrap_or(Alphabet::Bytes);
    let header = Header::new(alphabet, bytes, [false; 256]);
    let size = header.ranges().map_or(u64::MAX, |ranges| ranges[Section::ALL.len() - 1].end);
    // `size` has almost no front table, as the header says that no bytes occur.
    let table = front::max_len(bytes).saturating_mul(header.width.bytes() as u64).next_multiple_of(PAGE);
    if alphabet == Alphabet::Bytes { size.saturating_add(table) } else { size }
}

/// Size of a read of the text, in bytes.
const READ: usize = 256 << 10;

/// A text in memory, with its alphabet.
#[derive(Debug)]
pub struct LoadedText {
    path: PathBuf,
    bytes: Vec<u8>,
    header: Header,
}

impl LoadedText {
    /// Reads a text. A line terminator at the end of digits or DNA is ignored.
    ///
    /// # Errors
    ///
    /// If it cannot be read, changes while it is read, has a byte outside the alphabet, or is too long.
    pub fn read(path: &Path, alphabet: Option<Alphabet>) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: path.to_owned(), doing: "", error };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            let reason = "not a regular file; copy the text to one first".to_owned();
            return Err(Error::Format { path: path.to_owned(), reason });
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
        BufferedInput::new(file, READ, 0).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != metadata.len() {
            return Err(Error::Changed { path: path.to_owned() });
        }
        Self::new(path, bytes, alphabet)
    }

    /// Makes a text of bytes in memory, which messages call `name`.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn new(name: &Path, mut bytes: Vec<u8>, alphabet: Option<Alphabet>) -> Result<Self, Error> {
        let path = name.to_owned();
        // Detection has already compared the alphabet with the whole text.
        let is_detected = alphabet.is_none();
        let alphabet = alphabet.unwrap_or_else(|| detect(&bytes));
        if alphabet != Alphabet::Bytes {
            bytes.truncate(trim_line_end(&bytes).len());
        }
        if alphabet == Alphabet::Dna && !is_detected {
            bytes.make_ascii_uppercase();
        }
        if !is_detected && let Some(at) = alphabet.first_invalid(&bytes) {
            return Err(Error::InvalidText { path, byte: bytes[at], at, alphabet });
        }
        let symbols = bytes.len() as u64;
        if symbols >= 1 << 40 {
            return Err(Error::TextTooLong { path, symbols });
        }
        let mut occurs = [false; 256];
        if alphabet == Alphabet::Bytes {
            bytes.iter().for_each(|&byte| occurs[usize::from(byte)] = true);
        }
        Ok(Self { path, bytes, header: Header::new(alphabet, symbols, occurs) })
    }

    /// Uses 40 bits per entry even where 32 are enough, to test indexes of large texts with small ones.
    pub fn with_wide_entries(mut self) -> Self {
        self.header.width = EntryWidth::Bits40;
        self
    }

    /// Alphabet of the text.
    pub fn alphabet(&self) -> Alphabet {
        self.header.alphabet
    }

    /// Number of symbols.
    pub fn symbols(&self) -> u64 {
        self.header.symbols
    }

    /// Builds the index and writes it atomically.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or there is not enough memory to sort. A previous file is then unchanged.
    pub fn build(self, output: &Path, options: &BuildOptions<'_>) -> Result<(), Error> {
        let Self { path, bytes, header } = self;
        build(&path, bytes, header, None, output, options)
    }

    /// Builds the index with an existing suffix array.
    pub(crate) fn build_with(
        self,
        sorted: Sorted,
        output: &Path,
        options: &BuildOptions<'_>,
    ) -> Result<(), Error> {
        let Self { path, bytes, header } = self;
        build(&path, bytes, header, Some(sorted), output, options)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

fn build(
    path: &Path,
    text: Vec<u8>,
    header: Header,
    sorted: Option<Sorted>,
    output: &Path,
    options: &BuildOptions<'_>,
) -> Result<(), Error> {
    let threads = options.threads.get();
    let mut writer = Writer::create(output, header.clone(), threads)?;
    (options.on_stage)(Stage::Pack);
    // Sections that do not need the suffix array are written first, so that the system writes them back during the sort.
    writer.section(Section::Text, &packed(&text, header.alphabet, threads))?;
    let lines = if header.alphabet == Alphabet::Bytes { lines::build(&text) } else { Vec::new() };
    writer.section(Section::Lines, &lines)?;
    let codes = codes(&text, header.alphabet);
    writer.section(
        Section::Front,
        &front::build(&codes, header.depth, &header.ranks(), header.width, threads),
    )?;
    drop(codes);
    (options.on_stage)(Stage::Sort);
    let sorted = match sorted {
        Some(sorted) => sorted,
        None => {
            Sorted::new(&text, threads).map_err(|reason| Error::Sort { path: path.to_owned(), reason })?
        }
    };
    drop(text);
    (options.on_stage)(Stage::Write);
    writer.pieces(Section::Suffixes, |range| sorted.bytes(range, header.width))?;
    writer
        .section(Section::Presence, &presence::build(|range| sorted.iter(range), header.shape(), threads))?;
    (options.on_stage)(Stage::Sync);
    writer.finish()
}

/// Detects the narrowest alphabet of a text.
fn detect(bytes: &[u8]) -> Alphabet {
    let text = trim_line_end(bytes);
    let fits = |alphabet: &Alphabet| !text.is_empty() && alphabet.first_invalid(text).is_none();
    [Alphabet::Dna, Alphabet::Digits].into_iter().find(fits).unwrap_or(Alphabet::Bytes)
}

fn trim_line_end(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if line.len() < bytes.len() { line.strip_suffix(b"\r").unwrap_or(line) } else { line }
}

/// Packs the text and adds the padding.
fn packed(text: &[u8], alphabet: Alphabet, threads: usize) -> Vec<u8> {
    let part = text.len().div_ceil(threads).next_multiple_of(alphabet.per_byte()).max(alphabet.per_byte());
    let parts = map(threads, text.chunks(part), |part| {
        let mut packed = Vec::new();
        pack(part, alphabet, &mut packed);
        packed
    });
    let mut packed = parts.concat();
    packed.extend([0; PADDING]);
    packed
}

/// Converts the text to codes, one byte each.
fn codes(text: &[u8], alphabet: Alphabet) -> Cow<'_, [u8]> {
    match alphabet.codes() {
        None => Cow::Borrowed(text),
        Some(codes) => text.iter().map(|&byte| codes.code(byte)).collect(),
    }
}
