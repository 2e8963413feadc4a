//! From a text to an index file.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use finecomb_sys::threads::map;

use crate::alphabet::Alphabet;
use crate::entries::Width;
use crate::error::Error;
use crate::format::{Header, Section};
use crate::front;
use crate::lines;
use crate::packed::{PADDING, pack};
use crate::presence;
use crate::sort::{self, Sorted};
use crate::write::Writer;

/// What a build is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Packing the text and making the tables that need nothing else.
    Pack,
    /// Sorting the suffixes; nearly all of the time.
    Sort,
    /// Writing the suffix array and making its bitmaps.
    Write,
    /// Waiting until everything is on the disk.
    Sync,
}

/// How to build.
#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    /// How many threads work.
    pub threads: NonZeroUsize,
    /// Told of each stage as it begins.
    pub on_stage: &'a dyn Fn(Stage),
}

/// Bytes of memory that a build takes for a text with so many bytes, whatever its alphabet turns out to be.
pub fn memory(bytes: u64) -> u64 {
    // The text and the suffix array, and beside them what libsais needs. Before there is a suffix array, there are in its place: the
    // text as codes, the tables that strings are counted in, and the strings that were gathered, for each of four threads.
    let gathered = bytes.saturating_mul(8).min(128 << 20);
    bytes.saturating_mul(2 + sort::entry_bytes(bytes)).saturating_add(gathered + (8 << 20))
}

/// A text that is in memory and has been looked through.
#[derive(Debug)]
pub struct Text {
    path: PathBuf,
    bytes: Vec<u8>,
    header: Header,
}

impl Text {
    /// Reads a text. Of digits and DNA a final line end does not count.
    ///
    /// # Errors
    ///
    /// If it cannot be read, changes while it is read, has a byte that the alphabet does not have, or is too long.
    pub fn read(path: &Path, alphabet: Option<Alphabet>) -> Result<Self, Error> {
        let failed = |error| Error::Io { path: path.to_owned(), doing: "", error };
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            let reason = "is not a regular file; an index is built of one".to_owned();
            return Err(Error::Format { path: path.to_owned(), reason });
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
        file.read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != metadata.len() {
            return Err(Error::Changed { path: path.to_owned() });
        }
        Self::new(path, bytes, alphabet)
    }

    /// A text that is in memory; `name` is what messages call it.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn new(name: &Path, mut bytes: Vec<u8>, alphabet: Option<Alphabet>) -> Result<Self, Error> {
        let path = name.to_owned();
        // An alphabet that was detected has been compared with all of the text.
        let is_detected = alphabet.is_none();
        let alphabet = alphabet.unwrap_or_else(|| detect(&bytes));
        if alphabet != Alphabet::Bytes {
            bytes.truncate(without_line_end(&bytes).len());
        }
        if !is_detected && let Some(at) = alphabet.first_foreign(&bytes) {
            return Err(Error::ForeignText { path, byte: bytes[at], at, alphabet });
        }
        let symbols = bytes.len() as u64;
        if symbols >= 1 << 40 {
            return Err(Error::TooLong { path, symbols });
        }
        let mut occurs = [false; 256];
        if alphabet == Alphabet::Bytes {
            bytes.iter().for_each(|&byte| occurs[usize::from(byte)] = true);
        }
        Ok(Self { path, bytes, header: Header::new(alphabet, symbols, occurs) })
    }

    /// Takes 40 bits for an entry even where 32 would do: for tests of what texts beyond 4 Gi need.
    pub fn with_wide_entries(mut self) -> Self {
        self.header.width = Width::Bits40;
        self
    }

    /// What it is made of.
    pub fn alphabet(&self) -> Alphabet {
        self.header.alphabet
    }

    /// Symbols in it.
    pub fn symbols(&self) -> u64 {
        self.header.symbols
    }

    /// Bytes that its index will have.
    pub fn index_size(&self) -> u64 {
        self.header.ranges().map_or(u64::MAX, |ranges| ranges[Section::ALL.len() - 1].end)
    }

    /// Builds its index, beside the output, and puts it in its place when all of it is on the disk.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or there is no memory to sort in. What was there before is still there then.
    pub fn build(self, output: &Path, options: &BuildOptions<'_>) -> Result<(), Error> {
        let Self { path, bytes, header } = self;
        build(&path, bytes, header, None, output, options)
    }

    /// Puts an index around a suffix array that is there.
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
    // What needs no suffix array is written first: the system carries it to the disk while the suffixes are sorted.
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

/// The narrowest alphabet that has all symbols of a text.
fn detect(bytes: &[u8]) -> Alphabet {
    let text = without_line_end(bytes);
    let fits = |alphabet: &Alphabet| !text.is_empty() && alphabet.first_foreign(text).is_none();
    [Alphabet::Dna, Alphabet::Digits].into_iter().find(fits).unwrap_or(Alphabet::Bytes)
}

fn without_line_end(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if line.len() < bytes.len() { line.strip_suffix(b"\r").unwrap_or(line) } else { line }
}

/// The text packed, with its padding.
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

/// The text as codes, a byte each.
fn codes(text: &[u8], alphabet: Alphabet) -> Cow<'_, [u8]> {
    match alphabet.codes() {
        None => Cow::Borrowed(text),
        Some(codes) => text.iter().map(|&byte| codes.known(byte)).collect(),
    }
}
