//! A block of whole lines, and where it comes from.

use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use memchr::memchr_iter;

/// An input that blocks come from: a file, or standard input.
///
/// Sources are ordered as they were named, and below a named directory by path.
#[derive(Debug)]
pub struct Source {
    argument: usize,
    path: Option<PathBuf>,
    identity: OnceLock<FileIdentity>,
}

/// What tells a file from another one that has taken its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Source {
    pub(crate) fn new(argument: usize, path: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Self { argument, path, identity: OnceLock::new() })
    }

    /// The file's path; none for standard input.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn argument(&self) -> usize {
        self.argument
    }

    pub(crate) fn identify(&self, identity: FileIdentity) {
        self.identity.get_or_init(|| identity);
    }

    pub(crate) fn identity(&self) -> Option<FileIdentity> {
        self.identity.get().copied()
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
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Source {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// A byte of a source. Places are ordered by source, then by offset.
#[derive(Clone, Debug)]
pub struct Place {
    /// The source.
    pub source: Arc<Source>,
    /// Bytes before this one in the source.
    pub offset: u64,
    /// The number of its line, from 1, where the reader kept count: it does so for streams only.
    /// See [`Place::find_line`](crate::Place::find_line) for files.
    pub line: Option<u64>,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.source.cmp(&other.source).then(self.offset.cmp(&other.offset))
    }
}

/// A run of whole lines of one source. Only the last line of a source may lack its line feed.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Where the lines are from.
    pub source: &'a Arc<Source>,
    /// Bytes of the source before the block.
    pub offset: u64,
    /// The number of the first line, from 1, where the reader kept count.
    pub first_line: Option<u64>,
    /// The lines. Positions in it are below 2^32.
    pub bytes: &'a [u8],
}

impl<'a> Block<'a> {
    /// The lines without their ends (`\n` or `\r\n`), one after another: the plain twin of
    /// [`LineEnds`](crate::LineEnds).
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
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
            source: Arc::clone(self.source),
            offset: self.offset + position as u64,
            line: self.first_line.map(lines_before),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let source = Source::new(0, None);
        let block = Block { source: &source, offset: 0, first_line: None, bytes };
        block.lines().map(|line| String::from_utf8_lossy(line).into_owned()).collect()
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
        let source = Source::new(0, None);
        let bytes = b"one\ntwo\nthree\n";
        let block = Block { source: &source, offset: 100, first_line: Some(7), bytes };
        let place = block.place(8);
        assert_eq!((place.offset, place.line), (108, Some(9)));
        assert_eq!(Block { first_line: None, ..block }.place(8).line, None);
    }

    #[test]
    fn names_are_shown_on_one_line() {
        let source = Source::new(0, Some("a\n\u{1b}[31m é".into()));
        assert_eq!(source.to_string(), "a\\n\\u{1b}[31m é");
    }

    #[test]
    fn sources_are_in_the_order_of_arguments_then_of_paths() {
        let source = |argument, path: &str| Source::new(argument, Some(path.into()));
        assert!(source(0, "z") < source(1, "a"));
        assert!(source(0, "a/b") < source(0, "a-b"), "by component, as a tree is listed");
        assert!(source(0, "a") < source(0, "b"));
    }
}
