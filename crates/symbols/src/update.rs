//! Updates of a tags file: only files that changed since it was written are parsed again.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use finecomb_scan::Inputs;

/// Age that the last change of a file must have when a tags file was begun, so that no later change can have the same time: file systems
/// keep times in steps of up to two seconds.
const MARGIN: Duration = Duration::from_secs(2);

/// Tags file to update.
#[derive(Clone, Debug)]
pub struct OldTags {
    bytes: Vec<u8>,
    lines: Vec<TagLine>,
    /// Paths of the files that have lines.
    paths: HashSet<Vec<u8>>,
    /// Time since the epoch; files that changed later are parsed again.
    unchanged_since: Duration,
}

/// A line that is not one of the header.
#[derive(Clone, Debug)]
struct TagLine {
    line: Range<usize>,
    path: Range<usize>,
}

impl OldTags {
    /// Reads a tags file, whose modification time is the time at which it was begun. A missing file has no lines.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let read = fs::metadata(path).and_then(|metadata| Ok((metadata.modified()?, fs::read(path)?)));
        let (begun, bytes) = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => (SystemTime::UNIX_EPOCH, Vec::new()),
            read => read?,
        };
        let unchanged_since = begun.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(MARGIN);
        let lines = lines(&bytes);
        let paths = lines.iter().map(|line| bytes[line.path.clone()].to_vec()).collect();
        Ok(Self { bytes, lines, paths, unchanged_since })
    }

    /// Returns `true` if a file has lines, under its path as it is printed, and did not change since the tags file was begun: neither
    /// its contents nor its name, which both change the time of its inode.
    pub(crate) fn is_unchanged(&self, path: &Path, printed: &[u8]) -> bool {
        if !self.paths.contains(printed) {
            return false;
        }
        let changed = fs::metadata(path).ok().and_then(|metadata| {
            let seconds = u64::try_from(metadata.ctime()).ok()?;
            Some(Duration::new(seconds, u32::try_from(metadata.ctime_nsec()).ok()?))
        });
        changed.is_some_and(|changed| changed < self.unchanged_since)
    }

    /// Lines to keep: of unchanged files, and of files that are not below the inputs.
    pub(crate) fn kept<'s>(
        &'s self,
        unchanged: &'s HashSet<Vec<u8>>,
        inputs: &'s Inputs,
    ) -> impl Iterator<Item = &'s [u8]> {
        let stays = |path: &[u8]| unchanged.contains(path) || !is_below_any(path, inputs);
        let kept = self.lines.iter().filter(move |line| stays(&self.bytes[line.path.clone()]));
        kept.map(|line| &self.bytes[line.line.clone()])
    }
}

/// Lines of a tags file, with their line feeds, without the header.
fn lines(bytes: &[u8]) -> Vec<TagLine> {
    let mut lines = Vec::new();
    let mut begin = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut tabs = memchr::memchr_iter(b'\t', line);
        if let (Some(first), Some(second)) = (tabs.next(), tabs.next())
            && line.ends_with(b"\n")
            && !line.starts_with(b"!_TAG_")
        {
            let path = begin + first + 1..begin + second;
            lines.push(TagLine { line: begin..begin + line.len(), path });
        }
        begin += line.len();
    }
    lines
}

/// Returns `true` for the path of a file that is one of the inputs, or below one, as the list prints it.
fn is_below_any(path: &[u8], inputs: &Inputs) -> bool {
    if inputs.strip_dot {
        return !path.starts_with(b"/") && path != b".." && !path.starts_with(b"../");
    }
    inputs.named.iter().any(|named| {
        let named = named.as_os_str().as_bytes();
        let directory = named.strip_suffix(b"/").unwrap_or(named);
        path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_inputs_are_known_as_they_are_printed() {
        let below = |path: &str, named: &[&str], strip_dot| {
            is_below_any(path.as_bytes(), &Inputs { strip_dot, ..Inputs::new(named) })
        };
        for (path, named, expected) in [
            ("src/a.c", "src", true),
            ("src/a.c", "src/", true),
            ("src/a.c", "src/a.c", true),
            ("src/a.c", "sr", false),
            ("src2/a.c", "src", false),
            ("/usr/a.c", "/", true),
            ("./a.c", ".", true),
            ("a.c", ".", false),
        ] {
            assert_eq!(below(path, &[named], false), expected, "{path} below {named}");
        }
        assert!(below("src/a.c", &["."], true) && below("..a", &["."], true));
        assert!(!below("../a.c", &["."], true) && !below("/a.c", &["."], true));
    }

    #[test]
    fn lines_have_a_name_and_a_path() {
        let bytes =
            b"!_TAG_FILE_SORTED\t1\t//\nname\tpath\t/^a\tb$/;\"\tkind:f\nbroken\nbroken\tline\nlast\tpath\t1";
        let found: Vec<(&[u8], &[u8])> =
            lines(bytes).into_iter().map(|line| (&bytes[line.line], &bytes[line.path])).collect();
        assert_eq!(found, [(&b"name\tpath\t/^a\tb$/;\"\tkind:f\n"[..], &b"path"[..])]);
    }
}
