//! A block of whole lines and its source.

use std::any::Any;
use std::cmp;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use finecomb_sys::locks::lock;
use finecomb_sys::{ReadBuffer, display};
use memchr::memchr_iter;

use crate::heading::{Heading, last_heading};
use crate::recognize::Recognized;
use crate::records::Records;

/// An input that blocks are read from: a file or standard input.
///
/// Sources are ordered by argument, and below a named directory by path.
#[derive(Clone, Debug)]
pub struct Source {
    argument: usize,
    path: Option<PathBuf>,
    named: bool,
    identity: Option<FileIdentity>,
    medium: Medium,
    recognized: Option<Arc<RecognizedText>>,
    /// Length of the path of the archive that it is a member of; 0 for any other source.
    archive: usize,
}

/// The format of a text, and its offset in the source.
#[derive(Debug)]
struct RecognizedText {
    recognized: Recognized,
    start: u64,
    /// The last heading of the blocks so far, if they are read in order.
    heading: Mutex<Option<Heading>>,
}

/// How the bytes of a source are turned into the text that is searched.
#[derive(Clone, Debug, Default)]
pub enum Medium {
    /// Unchanged, from a regular file.
    #[default]
    File,
    /// Decoded piece by piece from another encoding.
    Transcoded(FirstNul),
    /// Decompressed.
    Decompressed,
    /// Unchanged, from a pipe or another input that can only be read sequentially.
    Pipe,
}

/// Position of the first NUL in a text that is decoded piece by piece, and of the piece that holds it. It is known as
/// soon as the piece has been decoded, before any of the piece is searched.
#[derive(Clone, Debug, Default)]
pub struct FirstNul(Arc<OnceLock<(u64, u64)>>);

impl FirstNul {
    /// Text offsets of the piece and of the NUL; `None` if no NUL has been decoded so far.
    pub fn get(&self) -> Option<(u64, u64)> {
        self.0.get().copied()
    }

    /// Records the offsets of a piece and of a NUL in it. Only the first call has an effect.
    pub(crate) fn record(&self, piece: u64, nul: u64) {
        self.0.get_or_init(|| (piece, nul));
    }
}

/// Identity of a file: distinguishes it from another one that was given the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl FileIdentity {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

impl Source {
    /// The named input with this argument number, counted from 0. Without a path it is standard input.
    pub fn named(argument: usize, path: Option<PathBuf>) -> Self {
        Self {
            argument,
            path,
            named: true,
            identity: None,
            medium: Medium::File,
            recognized: None,
            archive: 0,
        }
    }

    /// A file below the named directory with this argument number.
    pub fn found(argument: usize, path: PathBuf) -> Self {
        Self { path: Some(path), named: false, ..Self::named(argument, None) }
    }

    /// A member of this archive: its path is that of the archive, `!` and its name up to a NUL.
    pub(crate) fn member(&self, name: &[u8]) -> Self {
        let name = name.split(|&byte| byte == 0).next().unwrap_or(name);
        let mut path = self.display_path().as_os_str().to_owned();
        let archive = path.len();
        path.push("!");
        path.push(OsStr::from_bytes(name));
        Self { archive, ..Self::found(self.argument, path.into()) }
    }

    /// Path of the file on disk: for a member of an archive, that of the archive. `None` for standard input.
    pub fn file_path(&self) -> Option<&Path> {
        let path = self.path()?;
        if self.archive == 0 {
            return Some(path);
        }
        let archive = path.as_os_str().as_bytes().get(..self.archive).unwrap_or_default();
        Some(Path::new(OsStr::from_bytes(archive)))
    }

    /// Path of the file; `None` for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Path of the file as results name it; `<stdin>` for standard input.
    pub fn display_path(&self) -> &Path {
        self.path().unwrap_or(Path::new("<stdin>"))
    }

    /// Returns `true` if the input was named, `false` if it was found below a directory.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// How its bytes are turned into the text that is searched.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// Details that [`Recognize`](crate::Recognize) found out about the file; `None` if it was not asked, or did not
    /// decide.
    pub fn details(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.recognized.as_ref().map(|text| &text.recognized.details)
    }

    /// Offset of the beginning of the text that [`Recognize`](crate::Recognize) examined. It is not 0 after a byte order mark, or
    /// if standard input had been read up to there.
    pub fn text_start(&self) -> u64 {
        self.recognized.as_ref().map_or(0, |text| text.start)
    }

    /// How the text is divided into records, if it was recognised.
    pub(crate) fn records(&self) -> Option<&Records> {
        self.recognized.as_ref().map(|text| &text.recognized.records)
    }

    /// Beginning of the lines that hold for those after them.
    pub(crate) fn heading(&self) -> Option<&'static [u8]> {
        self.recognized.as_ref()?.recognized.heading
    }

    /// Returns the last heading before a block of whole lines, and passes those in it. Blocks must be passed in order.
    pub(crate) fn pass_heading(&self, block: &[u8], max_line: usize) -> Option<Heading> {
        let (text, prefix) = (self.recognized.as_ref()?, self.heading()?);
        let last = last_heading(block, prefix, max_line);
        let mut heading = lock(&text.heading);
        let before = heading.clone();
        *heading = last.or_else(|| heading.take());
        before
    }

    /// Sets what was found out about the text that begins at this offset.
    pub(crate) fn set_recognized(&mut self, recognized: Recognized, start: u64) {
        // A followed file is recognised again now and then.
        let heading = self.recognized.as_ref().and_then(|text| lock(&text.heading).clone());
        let heading = Mutex::new(heading);
        self.recognized = Some(Arc::new(RecognizedText { recognized, start, heading }));
    }

    /// The same source with another medium.
    pub(crate) fn with_medium(&self, medium: Medium) -> Self {
        Self { medium, ..self.clone() }
    }

    /// Number of the input that it was named by, or found below.
    pub fn argument(&self) -> usize {
        self.argument
    }

    /// Turns this into the source of another file: `name` in the directory with path `prefix`. Reuses the memory of the
    /// path, because a tree may have a million files.
    pub(crate) fn move_to(&mut self, prefix: &[u8], name: &[u8]) {
        let path = self.path.get_or_insert_default().as_mut_os_string();
        path.clear();
        path.push(OsStr::from_bytes(prefix));
        path.push(OsStr::from_bytes(name));
        (self.identity, self.recognized) = (None, None);
    }

    /// The same source before anything was found out about its text.
    pub(crate) fn without_details(&self) -> Self {
        Self { recognized: None, ..self.clone() }
    }

    pub(crate) fn set_identity(&mut self, identity: FileIdentity) {
        self.identity = Some(identity);
    }

    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        self.identity
    }

    /// Place of the file on disk in the order of the files of a tree.
    pub(crate) fn file_rank(&self) -> (usize, Option<&Path>) {
        (self.argument, self.file_path())
    }

    /// Whether it is a member of an archive.
    pub(crate) fn is_member(&self) -> bool {
        self.archive > 0
    }

    fn rank(&self) -> (usize, Option<&Path>) {
        (self.argument, self.path())
    }
}

/// Escapes control characters in the path, so that it is one line and safe for a terminal.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            None => f.write_str("standard input"),
            Some(path) => f.write_str(&escaped(path)),
        }
    }
}

/// A path without control characters.
pub(crate) fn escaped(path: &Path) -> String {
    display::escaped(path.to_string_lossy().chars())
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Source {}

impl PartialOrd for Source {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Source {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// Position of a byte in a source. Places are ordered by source, then by offset.
#[derive(Clone, Debug)]
pub struct Place {
    /// The source.
    pub source: Source,
    /// Offset in the source, in bytes.
    pub offset: u64,
    /// Line number, counted from 1, if the reader counted lines. Otherwise see
    /// [`Place::find_line`](crate::Place::find_line).
    pub line: Option<u64>,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        self.source.cmp(&other.source).then(self.offset.cmp(&other.offset))
    }
}

/// A run of whole records of one source: lines, unless [`Recognize`](crate::Recognize) said otherwise. Only the last
/// record of a source may lack its line feed.
#[derive(Debug)]
pub struct Block<'a> {
    /// The source of the lines.
    pub source: &'a Source,
    /// Offset of the block from `text_start` on, in bytes.
    pub offset: u64,
    /// Offset in the source from which offsets are counted: 0, or the end of the byte order mark in a job with ordered output.
    pub text_start: u64,
    /// Number of the first line, counted from 1, if the reader counted lines.
    pub first_line: Option<u64>,
    /// Whether the block is the whole source.
    pub is_whole: bool,
    /// The records. Positions in the block are below 2^32.
    pub bytes: &'a mut [u8],
    /// How the block is divided into records. If a quote is not closed up to the end of the text, the record with that
    /// quote is divided into lines, also in a file of [`Records::Quoted`]: these are blocks of [`Records::Lines`]. Likewise, those of
    /// an object that is not closed are blocks of [`Records::Unclosed`].
    pub records: Records,
    /// The last line before the block that [`Recognized::heading`](crate::Recognized::heading) begins, if the reader was asked for it.
    pub heading: Option<Heading>,
    /// Whether the block begins within a long line that NULs split: see
    /// [`NulEnds::LongLines`](crate::NulEnds::LongLines).
    pub in_long_line: bool,
    /// Access to the bytes after the block.
    pub lookahead: Lookahead<'a>,
    /// The file that has these bytes at this offset, if it can be read again.
    pub file: Option<RereadFile>,
}

/// A regular file that is read as it is, so that a part of it can be read again.
#[derive(Clone, Debug)]
pub struct RereadFile(Arc<File>);

impl RereadFile {
    /// A file for more than one reader.
    pub fn new(file: Arc<File>) -> Self {
        Self(file)
    }

    /// Whether it is the same open file.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Reads `length` bytes from an offset on to the beginning of `buffer`.
    ///
    /// # Errors
    /// Returns the error of the system, or [`io::ErrorKind::UnexpectedEof`] if the file has become shorter.
    pub fn read(&self, offset: u64, length: usize, buffer: &mut ReadBuffer) -> io::Result<()> {
        buffer.restart(offset);
        let got = buffer.fill_at(&*self.0, 0..length, offset)?;
        if got == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Searches bytes of a source out of turn.
pub trait FindNul: Sync {
    /// Returns the offset of the first NUL in a range of the source; `None` also if the range cannot be read.
    fn first_nul(&self, range: Range<u64>) -> Option<u64>;
}

/// The first NUL of a text in memory.
pub(crate) struct KnownNul(pub(crate) Option<u64>);

impl FindNul for KnownNul {
    fn first_nul(&self, range: Range<u64>) -> Option<u64> {
        self.0.filter(|nul| range.contains(nul))
    }
}

/// Access to the bytes after a block. Available for files that are not decoded.
#[derive(Clone, Copy, Default)]
pub struct Lookahead<'a>(Option<&'a dyn FindNul>);

impl<'a> Lookahead<'a> {
    /// Access to the bytes of a file.
    pub fn in_file(file: &'a dyn FindNul) -> Self {
        Self(Some(file))
    }

    /// Returns the offset of the first NUL in the readable part of a range of the source.
    pub fn first_nul(&self, range: Range<u64>) -> Option<u64> {
        self.0.filter(|_| !range.is_empty())?.first_nul(range)
    }
}

impl fmt::Debug for Lookahead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lookahead").field(&self.0.is_some()).finish()
    }
}

impl<'a> Block<'a> {
    /// A block without line numbers and without access to the bytes after it.
    pub fn new(source: &'a Source, offset: u64, bytes: &'a mut [u8]) -> Self {
        let lookahead = Lookahead::default();
        Self {
            source,
            offset,
            text_start: 0,
            first_line: None,
            is_whole: false,
            bytes,
            records: Records::Lines,
            heading: None,
            in_long_line: false,
            lookahead,
            file: None,
        }
    }
}

impl Block<'_> {
    /// The lines without their terminators (`\n` or `\r\n`): the reference implementation of
    /// [`LineEnds`](crate::LineEnds).
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let ended = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        let any = !self.bytes.is_empty();
        ended
            .split(|&byte| byte == b'\n')
            .filter(move |_| any)
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Offset of the block in the source, in bytes.
    pub fn source_offset(&self) -> u64 {
        self.text_start + self.offset
    }

    /// Returns the place of the byte at `position` of this block.
    pub fn place(&self, position: usize) -> Place {
        let lines_before = |first: u64| {
            let before = self.bytes.get(..position).unwrap_or(self.bytes);
            first + memchr_iter(b'\n', before).count() as u64
        };
        Place {
            source: self.source.clone(),
            offset: self.source_offset() + position as u64,
            line: self.first_line.map(lines_before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let source = Source::named(0, None);
        let bytes = &mut bytes.to_vec();
        let block = Block { is_whole: true, ..Block::new(&source, 0, bytes) };
        block.lines().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    #[test]
    fn the_first_nul_that_is_noted_counts() {
        let first = FirstNul::default();
        assert_eq!(first.get(), None);
        first.record(10, 12);
        first.record(20, 21);
        assert_eq!(first.get(), Some((10, 12)));
    }

    #[test]
    fn lines_end_with_line_feeds_with_or_without_carriage_returns() {
        assert_eq!(lines(b""), [""; 0]);
        assert_eq!(lines(b"\n"), [""]);
        assert_eq!(lines(b"a\r\nb\n\nc"), ["a", "b", "", "c"]);
        assert_eq!(lines(b"a\r\r\n\r"), ["a\r", ""]);
    }

    #[test]
    fn a_place_has_a_line_number_if_the_reader_counted_lines() {
        let source = Source::named(0, None);
        let bytes = &mut b"one\ntwo\nthree\n".to_vec();
        let mut block = Block { first_line: Some(7), ..Block::new(&source, 100, bytes) };
        let place = block.place(8);
        assert_eq!((place.offset, place.line), (108, Some(9)));
        block.first_line = None;
        assert_eq!(block.place(8).line, None);
    }

    #[test]
    fn paths_are_displayed_on_one_line() {
        let source = Source::named(0, Some("a\n\u{1b}[31m é".into()));
        assert_eq!(source.to_string(), "a\\n\\u{1b}[31m é");
    }

    #[test]
    fn sources_are_in_the_order_of_arguments_then_of_paths() {
        let source = |argument, path: &str| Source::found(argument, path.into());
        assert!(source(0, "z") < source(1, "a"));
        assert!(source(0, "a/b") < source(0, "a-b"), "by component, as a tree is listed");
        assert!(source(0, "a") < source(0, "b"));
    }

    #[test]
    fn move_to_replaces_the_path() {
        let mut source = Source::found(0, PathBuf::new());
        source.move_to(b"logs/", b"a.log");
        assert_eq!(source.path(), Some(Path::new("logs/a.log")));
        source.move_to(b"", b"b");
        assert_eq!(source.path(), Some(Path::new("b")));
    }
}
