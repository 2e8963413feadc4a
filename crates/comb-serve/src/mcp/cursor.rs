//! Cursors: the place of the last result of a page, as text that a client gives back for the next page.
//!
//! A cursor holds all that is needed: the server keeps no state. It is `PATH:LINE@STAMP`, or `PATH:LINE+COUNT@STAMP` if COUNT
//! results of the line are already listed. `N~` before LINE is a [tier](Cursor::tier) other than 0. STAMP is that of the file when the
//! page was made.

use std::ffi::OsString;
use std::fmt::{self, Write};
use std::fs::{self, Metadata};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::roots::Roots;

/// Place of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Path, as results show it.
    pub(super) path: PathBuf,
    /// Line number; 0 for the file itself, and `u64::MAX` for its end.
    pub(super) line: u64,
    /// Number of results in this line up to this one.
    pub(super) count: u64,
    /// Number of times that the order of places has begun again before this result.
    pub(super) tier: usize,
    stamp: Stamp,
}

/// Version of a file; none if it cannot be examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(Option<(u64, u64)>);

impl Stamp {
    fn of(path: &Path) -> Self {
        // Wraps in the year 2554.
        let modified = |file: &Metadata| {
            (file.mtime() as u64).wrapping_mul(1_000_000_000).wrapping_add(file.mtime_nsec() as u64)
        };
        Self(fs::metadata(path).ok().map(|file| (modified(&file), file.size())))
    }

    fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self(None));
        }
        let (modified, size) = text.split_once('.')?;
        Some(Self(Some((u64::from_str_radix(modified, 16).ok()?, u64::from_str_radix(size, 16).ok()?))))
    }
}

impl Cursor {
    /// A cursor to continue after a result that was just found.
    pub(super) fn new(path: PathBuf, line: u64, count: u64, tier: usize) -> Self {
        let stamp = Stamp::of(&path);
        Self { path, line, count, tier, stamp }
    }

    /// Parses a cursor.
    ///
    /// # Errors
    /// If it is not one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parse = || {
            let (place, stamp) = text.rsplit_once('@')?;
            let (path, line) = place.rsplit_once(':')?;
            let (line, count) = line.split_once('+').unwrap_or((line, "1"));
            let (tier, line) = line.split_once('~').unwrap_or(("0", line));
            let line = if line == END { u64::MAX } else { line.parse().ok()? };
            let (path, count, stamp) = (decode(path)?, count.parse().ok()?, Stamp::parse(stamp)?);
            Some(Self { path, line, count, tier: tier.parse().ok()?, stamp })
        };
        parse().ok_or_else(|| {
            format!("cursor '{text}': not a cursor; use the one of the page before, unchanged")
        })
    }

    /// Returns why results may have moved since the page was made: its file has changed, or is gone.
    pub(super) fn moved(&self, roots: &Roots) -> Option<String> {
        let path = self.path.display();
        match roots.file(&self.path) {
            Err(_) => Some(format!("results may have moved: {path} is gone since the last page")),
            Ok(file) if Stamp::of(&file) != self.stamp => {
                Some(format!("results may have moved: {path} has changed since the last page"))
            }
            Ok(_) => None,
        }
    }
}

/// Line of the place after all lines of a file.
const END: &str = "end";

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(&self.path))?;
        f.write_char(':')?;
        if self.tier > 0 {
            write!(f, "{}~", self.tier)?;
        }
        match self.line {
            u64::MAX => f.write_str(END)?,
            line => write!(f, "{line}")?,
        }
        if self.count > 1 {
            write!(f, "+{}", self.count)?;
        }
        f.write_char('@')?;
        if let Stamp(Some((modified, size))) = self.stamp {
            write!(f, "{modified:x}.{size:x}")?;
        }
        Ok(())
    }
}

/// A path as text, with `%XX` for bytes that are no text.
fn encode(path: &Path) -> String {
    let mut text = String::new();
    for (start, end, char) in path.as_os_str().as_bytes().char_indices() {
        let bytes = &path.as_os_str().as_bytes()[start..end];
        let is_invalid = char == char::REPLACEMENT_CHARACTER;
        if is_invalid || char == '%' || char.is_control() {
            bytes.iter().for_each(|byte| text.push_str(&format!("%{byte:02x}")));
        } else {
            text.push(char);
        }
    }
    text
}

fn decode(text: &str) -> Option<PathBuf> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_survive_being_written_and_parsed() {
        for path in [&b"src/main.rs"[..], b"a:1@b+2", b"100%/\xff\n", "\u{fffd} é".as_bytes()] {
            for (line, count) in [(0, 1), (7, 3), (u64::MAX, 1)] {
                let stamp = Stamp((line == 7).then_some((u64::MAX, 12)));
                let path = PathBuf::from(OsString::from_vec(path.to_vec()));
                let cursor = Cursor { path, line, count, tier: if count == 3 { 12 } else { 0 }, stamp };
                assert_eq!(Cursor::parse(&cursor.to_string()), Ok(cursor.clone()), "{cursor}");
            }
        }
    }

    #[test]
    fn text_that_is_no_cursor_is_refused() {
        for text in ["", "a", "a:1", "a:@", "a:x@", "a:1@1", "a:~1@", "a%4:1@", "a%zé:1@", "a:1+@", "a:1@1.x"]
        {
            assert!(Cursor::parse(text).is_err(), "{text}");
        }
    }
}
