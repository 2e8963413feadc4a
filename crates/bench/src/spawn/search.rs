//! The bare search: read a file, count the lines that match. No rules, no colours, no binary files.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, Read};
use std::ops::AddAssign;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use regex_automata::Input;
use regex_automata::meta::{BuildError, Cache, Config, Regex};
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::units::{counted, grouped};
use crate::{Error, Result};

/// Result of a search. It must be the same for every strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Files that were read.
    pub(super) files: u64,
    /// Bytes in them.
    pub(super) bytes: u64,
    /// Lines in them with a match.
    pub(super) lines: u64,
    /// Files that could not be read.
    pub(super) unreadable: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.unreadable += other.unreadable;
    }
}

impl Display for Tally {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { files, bytes, lines, unreadable } = *self;
        let (lines, files) = (counted(lines, "matching line"), counted(files, "file"));
        write!(formatter, "{lines} in {files} with {} bytes", grouped(bytes))?;
        match unreadable {
            0 => Ok(()),
            _ => write!(formatter, "; {} could not be read", grouped(unreadable)),
        }
    }
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// Searches files. All threads share one.
pub(super) struct Searcher {
    regex: Regex,
    /// Findings of the regex engines about the pattern, kept for the next file on whichever thread that is:
    /// otherwise a thread for each file would begin anew with every file, and lose for a reason that has
    /// nothing to do with threads.
    caches: Pool<Cache, MakeCache>,
    /// Times that a file could not be opened because too many were open.
    pub(super) waits: AtomicU64,
}

/// Pause for other threads to close a file, and the largest number of pauses: a file that cannot be opened
/// for ten seconds is taken for one that cannot be read.
const PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSES: u32 = 10_000;

impl Searcher {
    /// Searcher for a regular expression over bytes, in which `^` and `$` stand for the ends of lines.
    pub(super) fn new(pattern: &str) -> Result<Self> {
        let refused =
            |error: BuildError| Error::Other(format!("invalid pattern '{pattern}': {}", reason(&error)));
        let regex = Regex::builder()
            .syntax(syntax::Config::new().utf8(false).multi_line(true))
            .configure(Config::new().utf8_empty(false))
            .build(pattern)
            .map_err(refused)?;
        let maker = regex.clone();
        let make: MakeCache = Box::new(move || maker.create_cache());
        Ok(Self { regex, caches: Pool::new(make), waits: AtomicU64::new(0) })
    }

    /// Searches a file. All of it is read into `buffer` first.
    pub(super) fn search(&self, path: &Path, buffer: &mut Vec<u8>) -> Tally {
        if self.read(path, buffer).is_err() {
            return Tally { unreadable: 1, ..Tally::default() };
        }
        Tally { files: 1, bytes: buffer.len() as u64, lines: self.matching_lines(buffer), unreadable: 0 }
    }

    fn read(&self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        let mut opened = File::open(path);
        for _ in 0..MAX_PAUSES {
            if !opened.as_ref().is_err_and(is_out_of_descriptors) {
                break;
            }
            self.waits.fetch_add(1, Ordering::Relaxed);
            sleep(PAUSE);
            opened = File::open(path);
        }
        opened?.read_to_end(buffer).map(drop)
    }

    /// Number of lines in which a match begins.
    fn matching_lines(&self, bytes: &[u8]) -> u64 {
        let mut cache = self.caches.get();
        let (mut lines, mut at) = (0, 0);
        while let Some(found) = self.regex.search_with(&mut cache, &Input::new(bytes).range(at..)) {
            // Behind the last line feed there is no line.
            if found.start() == bytes.len() && bytes.last().is_none_or(|&byte| byte == b'\n') {
                break;
            }
            lines += 1;
            match bytes[found.start()..].iter().position(|&byte| byte == b'\n') {
                Some(end) => at = found.start() + end + 1,
                None => break,
            }
        }
        lines
    }
}

/// Error in a pattern, in a line: the last of those in which the parser shows its position.
fn reason(error: &BuildError) -> String {
    let said = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let last = said.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pattern: &str, text: &[u8]) -> u64 {
        Searcher::new(pattern).expect("a pattern").matching_lines(text)
    }

    #[test]
    fn lines_are_counted_once() {
        assert_eq!(lines("a", b"aaa\nb\na"), 2);
        assert_eq!(lines("^", b""), 0);
        assert_eq!(lines("^", b"one\n\ntwo\n"), 3);
        assert_eq!(lines("$", b"one\ntwo"), 2);
        assert_eq!(lines("x*", b"\n\n"), 2);
        assert_eq!(lines(r"(?-u)\xff", b"a\xff\nb"), 1);
    }

    #[test]
    fn what_cannot_be_read_is_counted() {
        let searcher = Searcher::new("a").expect("a pattern");
        let tally = searcher.search(Path::new("/nowhere"), &mut Vec::new());
        assert_eq!((tally, searcher.waits.into_inner()), (Tally { unreadable: 1, ..Tally::default() }, 0));
    }

    proptest! {
        #[test]
        fn it_counts_what_a_search_line_by_line_counts(
            text in "[ab\n]{0,40}",
            pattern in prop::sample::select(&["a", "ab", "^a", "b$", "^$", "a*", "a|bb", "."]),
        ) {
            let regex = Regex::new(pattern).expect("a pattern");
            let expected = text.lines().filter(|line| regex.is_match(line)).count();
            prop_assert_eq!(lines(pattern, text.as_bytes()), expected as u64);
        }
    }
}
