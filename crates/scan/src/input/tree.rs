//! The files and directories in a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file or directory below one that was named.
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
}

/// The files and directories in a directory by name, with what went wrong while listing it at the end. Links, pipes,
/// sockets and devices are passed over.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<io::Result<Entry>>> {
    let mut entries: Vec<_> =
        fs::read_dir(directory)?.filter_map(|entry| classify(entry).transpose()).collect();
    entries.sort_by(|one, other| match (one, other) {
        (Ok(one), Ok(other)) => one.path.file_name().cmp(&other.path.file_name()),
        (one, other) => one.is_err().cmp(&other.is_err()),
    });
    Ok(entries)
}

fn classify(entry: io::Result<fs::DirEntry>) -> io::Result<Option<Entry>> {
    let entry = entry?;
    let file_type = entry.file_type()?;
    let kind = match () {
        () if file_type.is_file() => Kind::File,
        () if file_type.is_dir() => Kind::Directory,
        () => return Ok(None),
    };
    Ok(Some(Entry { path: entry.path(), kind }))
}
