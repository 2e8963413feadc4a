//! What a job reads: files, directories with all files below them, and standard input.

pub(crate) mod tree;

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

/// What a job reads, in order.
#[derive(Clone, Debug)]
pub struct Inputs {
    named: Vec<Input>,
    /// How far a file is read at most, in bytes from its start.
    pub(crate) until: u64,
}

/// One input as it was named.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    Standard,
    Path(PathBuf),
}

impl Inputs {
    /// Inputs by their names: paths of files, of directories (for all files below, by path; symbolic links below
    /// are not followed, and what is neither file nor directory is passed over), and `-` for standard input.
    /// No name at all means standard input. A pipe that is named twice is read once, as there is only one stream in it.
    pub fn new(names: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let mut named: Vec<Input> = names
            .into_iter()
            .map(|name| match name.as_ref() {
                name if name == "-" => Input::Standard,
                name => Input::Path(name.into()),
            })
            .collect();
        if named.is_empty() {
            named.push(Input::Standard);
        }
        let mut seen = false;
        named.retain(|input| !matches!(input, Input::Standard) || !std::mem::replace(&mut seen, true));
        Self { named, until: u64::MAX }
    }

    /// The start of one file.
    pub(crate) fn start_of(path: PathBuf, until: u64) -> Self {
        Self { named: vec![Input::Path(path)], until }
    }

    /// Whether standard input is among them.
    pub fn has_standard_input(&self) -> bool {
        self.named.iter().any(|input| matches!(input, Input::Standard))
    }

    pub(crate) fn named(&self) -> &[Input] {
        &self.named
    }

    /// The size of all of it in bytes, by a walk of its own; none if part of it has no size. Files that cannot be
    /// looked at count as empty.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.named
            .iter()
            .map(|input| match input {
                Input::Standard => None,
                Input::Path(path) => size_of(path.clone()),
            })
            .sum()
    }
}

fn size_of(path: PathBuf) -> Option<u64> {
    let Ok(metadata) = fs::metadata(&path) else { return Some(0) };
    if metadata.is_file() {
        return Some(metadata.len());
    }
    if !metadata.is_dir() {
        return None;
    }
    let mut total = 0;
    let mut directories = vec![path];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = tree::list(&directory) else { continue };
        for entry in entries.into_iter().flatten() {
            match entry.kind {
                tree::Kind::Directory => directories.push(entry.path),
                tree::Kind::File => total += fs::symlink_metadata(&entry.path).map_or(0, |data| data.len()),
            }
        }
    }
    Some(total)
}
