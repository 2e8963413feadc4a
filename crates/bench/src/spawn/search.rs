//! The minimal search: reads a file and counts matching lines, without ignore rules, colours or detection of binary files.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, Read};
use std::ops::AddAssign;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

use finecomb_sys::units::{Bytes, Count, counted};
use regex_automata::Input;
use regex_automata::meta::{BuildError, Cache, Config, Regex};
use regex_automata::util::pool::Pool;
use regex_automata::util::syntax;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Result of a search, the same for every strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SearchCounts {
    /// Files that were read.
    pub(super) files: u64,
    /// Bytes in them.
    pub(super) bytes: u64,
    /// Lines in them with a match.
    pub(super) lines: u64,
    /// Files that could not be read.
    pub(super) unreadable: u64,
}

impl AddAssign for SearchCounts {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.unreadable += other.unreadable;
    }
}

/// The alternate form has the exact number of bytes.
impl Display for SearchCounts {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self { files, bytes, lines, unreadable } = *self;
        let (lines, files) = (counted(lines, "matching line"), counted(files, "file"));
        match formatter.alternate() {
            true => write!(formatter, "{lines} in {files} with {}", counted(bytes, "byte"))?,
            false => write!(formatter, "{lines} in {files} with {}", Bytes(bytes))?,
        }
        match unreadable {
            0 => Ok(()),
            _ => write!(formatter, "; {} could not be read", Count(unreadable)),
        }
    }
}

type MakeCache = Box<dyn Fn() -> Cache + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// Searches files. Shared by all threads.
pub(super) struct Searcher {
    regex: Regex,
    /// State of the regex engines (such as lazily built DFAs), reused for the next file on any thread. Otherwise a thread per
    /// file would rebuild it for every file, a cost that is unrelated to threads.
    caches: Pool<Cache, MakeCache>,
    /// Number of times that a file could not be opened because too many were open.
    pub(super) waits: AtomicU64,
}

/// Pause for other threads to close a file, and maximum number of pauses: a file that cannot be opened for ten seconds counts as
/// unreadable.
const PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSES: u32 = 10_000;

impl Searcher {
    /// Searcher for a regular expression over bytes, in which `^` and `$` match at line ends.
    pub(super) fn new(pattern: &str) -> Result<Self> {
        let refused = |error: BuildError| {
            Error::Other(format!("invalid regular expression '{pattern}': {}", reason(&error)))
        };
        let regex = Regex::builder()
            .syntax(syntax::Config::new().utf8(false).multi_line(true))
            .configure(Config::new().utf8_empty(false))
            .build(pattern)
            .map_err(refused)?;
        let maker = regex.clone();
        let make: MakeCache = Box::new(move || maker.create_cache());
        Ok(Self { regex, caches: Pool::new(make), waits: AtomicU64::new(0) })
    }

    /// Reads a file into `buffer` as a whole, and searches it.
    pub(super) fn search(&self, path: &Path, buffer: &mut Vec<u8>) -> SearchCounts {
        if self.read(path, buffer).is_err() {
            return SearchCounts { unreadable: 1, ..SearchCounts::default() };
        }
        SearchCounts {
            files: 1,
            bytes: buffer.len() as u64,
            lines: self.matching_lines(buffer),
            unreadable: 0,
        }
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
            // No line follows the last line feed.
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

/// Reason of a syntax error on one line: the last line of the parser's message, without the excerpt of the pattern.
fn reason(error: &BuildError) -> String {
    let message = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let last = message.lines().last().unwrap_or_default();
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
    fn each_matching_line_is_counted_once() {
        assert_eq!(lines("a", b"aaa\nb\na"), 2);
        assert_eq!(lines("^", b""), 0);
        assert_eq!(lines("^", b"one\n\ntwo\n"), 3);
        assert_eq!(lines("$", b"one\ntwo"), 2);
        assert_eq!(lines("x*", b"\n\n"), 2);
        assert_eq!(lines(r"(?-u)\xff", b"a\xff\nb"), 1);
    }

    #[test]
    fn unreadable_files_are_counted() {
        let searcher = Searcher::new("a").expect("a pattern");
        let tally = searcher.search(Path::new("/nowhere"), &mut Vec::new());
        assert_eq!(
            (tally, searcher.waits.into_inner()),
            (SearchCounts { unreadable: 1, ..SearchCounts::default() }, 0)
        );
    }

    proptest! {
        #[test]
        fn the_count_equals_that_of_a_search_line_by_line(
            text in "[ab\n]{0,40}",
            pattern in prop::sample::select(&["a", "ab", "^a", "b$", "^$", "a*", "a|bb", "."]),
        ) {
            let regex = Regex::new(pattern).expect("a pattern");
            let expected = text.lines().filter(|line| regex.is_match(line)).count();
            prop_assert_eq!(lines(pattern, text.as_bytes()), expected as u64);
        }
    }
}
