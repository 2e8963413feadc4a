//! The inputs of a job: what was named, which files below directories are read, and how their bytes become text.

use std::path::{Path, PathBuf};

use crate::source::Encoding;
use crate::walk::WalkOptions;

/// The inputs of a job, and how they are read.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Named inputs, in order: files, directories, and `-` for standard input.
    pub named: Vec<PathBuf>,
    /// Print paths below the named directory `.` without it.
    pub strip_dot: bool,
    /// Which files below directories are read.
    pub walk: WalkOptions,
    /// How bytes become text.
    pub encoding: Encoding,
    /// Read the contents of compressed files.
    pub decompress: bool,
}

impl Inputs {
    /// Inputs by their names, or standard input if there are none. Directories are read with all files below them, compressed
    /// files are decompressed, and UTF-16 with a byte order mark is decoded. Standard input that is named twice is read once,
    /// as there is only one stream in it.
    pub fn new(names: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let mut named: Vec<PathBuf> = names.into_iter().map(Into::into).collect();
        if named.is_empty() {
            named.push("-".into());
        }
        let mut seen = false;
        named.retain(|name| !is_standard_input(name) || !std::mem::replace(&mut seen, true));
        Self {
            named,
            strip_dot: false,
            walk: WalkOptions::default(),
            encoding: Encoding::Auto,
            decompress: true,
        }
    }

    /// Whether standard input is among them.
    pub fn has_standard_input(&self) -> bool {
        self.named.iter().any(|name| is_standard_input(name))
    }
}

pub(crate) fn is_standard_input(name: &Path) -> bool {
    name == Path::new("-")
}
