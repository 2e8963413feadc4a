//! A block of whole lines, and where it comes from.

use std::cmp;
use std::ffi::OsStr;
use std::fmt::{self, Write};
use std::fs::Metadata;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use memchr::memchr_iter;

/// An input that blocks come from: a file, or standard input.
///
/// Sources are ordered as they were named, and below a named directory by path.
#[derive(Clone, Debug)]
pub struct Source {
    argument: usize,
    path: Option<PathBuf>,
    named: bool,
    identity: Option<FileIdentity>,
    medium: Medium,
}

/// How the bytes of a source become the text that is searched.
#[derive(Clone, Debug, Default)]
pub enum Medium {
    /// They are the text, and those of a regular file.
    #[default]
    File,
    /// They are decoded from another encoding, piece by piece.
    Transcoded(FirstNul),
    /// They are decompressed.
    Decompressed,
    /// They come from a pipe, or from what else can only be read from front to back.
    Pipe,
}

/// Where in a text that is decoded piece by piece the piece begins that holds the first NUL. It is known as soon as the
/// piece has been decoded, which is before any of it is searched.
#[derive(Clone, Debug, Default)]
pub struct FirstNul(Arc<OnceLock<(u64, u64)>>);

impl FirstNul {
    /// Bytes of text before the piece and before the NUL; none if there is no NUL so far.
    pub fn get(&self) -> Option<(u64, u64)> {
        self.0.get().copied()
    }

    /// Notes a piece with a NUL, and the NUL. The first one counts.
    pub(crate) fn note(&self, piece: u64, nul: u64) {
        self.0.get_or_init(|| (piece, nul));
    }
}

/// Tells a file from another one that has taken its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// An input that was named: the one of number `argument`, counted from 0. Without a path it is standard input.
    pub fn named(argument: usize, path: Option<PathBuf>) -> Self {
        Self { argument, path, named: true, identity: None, medium: Medium::File }
    }

    /// A file below the named directory of number `argument`.
    pub fn found(argument: usize, path: PathBuf) -> Self {
        Self { argument, path: Some(path), named: false, identity: None, medium: Medium::File }
    }

    /// The file's path; none for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether it was named, rather than found below a directory.
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// How its bytes become the text that is searched.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// The same source, read another way.
    pub(crate) fn through(&self, medium: Medium) -> Self {
        Self { medium, ..self.clone() }
    }

    pub(crate) fn argument(&self) -> usize {
        self.argument
    }

    /// Makes this the source of another file: the one called `name` in the directory whose path is `prefix`. Reuses the memory
    /// of the path, as a tree may have a million files.
    pub(crate) fn move_to(&mut self, prefix: &[u8], name: &[u8]) {
        let path = self.path.get_or_insert_default().as_mut_os_string();
        path.clear();
        path.push(OsStr::from_bytes(prefix));
        path.push(OsStr::from_bytes(name));
        self.identity = None;
    }

    pub(crate) fn identify(&mut self, identity: FileIdentity) {
        self.identity = Some(identity);
    }

    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        self.identity
    }

    fn rank(&self) -> (usize, Option<&Path>) {
        (self.argument, self.path())
    }
}

/// On one line and safe for a terminal: control characters in a path are escaped.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(path) = &self.path else { return f.write_str("standard input") };
        for char in path.to_string_lossy().chars() {
            if char.is_control() { write!(f, "{}", char.escape_default())? } else { f.write_char(char)? }
        }
        Ok(())
    }
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

/// A byte of a source. Places are ordered by source, then by offset.
#[derive(Clone, Debug)]
pub struct Place {
    /// The source.
    pub source: Source,
    /// Bytes before this one in the source.
    pub offset: u64,
    /// The number of its line, from 1, where the reader kept count. See [`Place::find_line`](crate::Place::find_line) for files
    /// where it did not.
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

/// A run of whole lines of one source. Only the last line of a source may lack its line feed.
#[derive(Debug)]
pub struct Block<'a> {
    /// Where the lines are from.
    pub source: &'a Source,
    /// Bytes of the source before the block.
    pub offset: u64,
    /// The number of the first line, from 1, where the reader kept count.
    pub first_line: Option<u64>,
    /// Whether this is all of the source.
    pub is_whole: bool,
    /// The lines. Positions in it are below 2^32.
    pub bytes: &'a mut [u8],
    /// Whether it begins within a long line that NULs cut into several: see
    /// [`NulEnds::LongLines`](crate::NulEnds::LongLines).
    pub in_long_line: bool,
    /// The bytes behind it.
    pub ahead: Ahead<'a>,
}

/// A look at bytes of a source before their turn.
pub trait ReadAhead: Sync {
    /// The first NUL among some bytes of the source; none if they cannot be read.
    fn first_nul(&self, range: Range<u64>) -> Option<u64>;
}

/// The bytes behind a block, where they can be read before their turn: in files that are not decoded.
#[derive(Clone, Copy, Default)]
pub struct Ahead<'a>(Option<&'a dyn ReadAhead>);

impl<'a> Ahead<'a> {
    /// The bytes of a file.
    pub fn in_file(file: &'a dyn ReadAhead) -> Self {
        Self(Some(file))
    }

    /// The first NUL among some bytes of the source, as far as they can be read.
    pub fn first_nul(&self, range: Range<u64>) -> Option<u64> {
        self.0.filter(|_| !range.is_empty())?.first_nul(range)
    }
}

impl fmt::Debug for Ahead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ahead").field(&self.0.is_some()).finish()
    }
}

impl<'a> Block<'a> {
    /// Lines whose number is not known, with no look at what stands behind them.
    pub fn new(source: &'a Source, offset: u64, bytes: &'a mut [u8]) -> Self {
        let ahead = Ahead::default();
        Self { source, offset, first_line: None, is_whole: false, bytes, in_long_line: false, ahead }
    }
}

impl Block<'_> {
    /// The lines without their ends (`\n` or `\r\n`), one after another: the reference implementation of
    /// [`LineEnds`](crate::LineEnds).
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let ended = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        let any = !self.bytes.is_empty();
        ended
            .split(|&byte| byte == b'\n')
            .filter(move |_| any)
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The place of the byte at `position` of this block.
    pub fn place(&self, position: usize) -> Place {
        let lines_before = |first: u64| {
            let before = self.bytes.get(..position).unwrap_or(self.bytes);
            first + memchr_iter(b'\n', before).count() as u64
        };
        Place {
            source: self.source.clone(),
            offset: self.offset + position as u64,
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
        first.note(10, 12);
        first.note(20, 21);
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
    fn places_know_their_line_if_the_reader_counted() {
        let source = Source::named(0, None);
        let bytes = &mut b"one\ntwo\nthree\n".to_vec();
        let mut block = Block { first_line: Some(7), ..Block::new(&source, 100, bytes) };
        let place = block.place(8);
        assert_eq!((place.offset, place.line), (108, Some(9)));
        block.first_line = None;
        assert_eq!(block.place(8).line, None);
    }

    #[test]
    fn names_are_shown_on_one_line() {
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
    fn a_source_moves_from_file_to_file() {
        let mut source = Source::found(0, PathBuf::new());
        source.move_to(b"logs/", b"a.log");
        assert_eq!(source.path(), Some(Path::new("logs/a.log")));
        source.move_to(b"", b"b");
        assert_eq!(source.path(), Some(Path::new("b")));
    }
}
