//! The inputs of a job: the named paths, the files selected below directories, and the decoding of their bytes.

use std::path::{Path, PathBuf};

use crate::source::decode::Encoding;
use crate::source::preprocess::Preprocessor;
use crate::walk::WalkOptions;

/// The inputs of a job, and how to read them.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Named inputs, in order: files, directories, and `-` for standard input.
    pub named: Vec<PathBuf>,
    /// Print paths below the named directory `.` without the leading `./`.
    pub strip_dot: bool,
    /// Selection of the files below directories.
    pub walk: WalkOptions,
    /// Text encoding.
    pub encoding: Encoding,
    /// Decompress compressed files.
    pub decompress: bool,
    /// Program that makes the text of files; they are not decompressed.
    pub preprocessor: Option<Preprocessor>,
}

impl Inputs {
    /// Inputs by name, or standard input if there are none. All files below directories are read, compressed files are
    /// decompressed, and UTF-16 with a byte order mark is decoded. Standard input is read only once if it is named
    /// several times.
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
            preprocessor: None,
        }
    }

    /// Returns `true` if standard input is one of the inputs.
    pub fn has_standard_input(&self) -> bool {
        self.named.iter().any(|name| is_standard_input(name))
    }
}

pub(crate) fn is_standard_input(name: &Path) -> bool {
    name == Path::new("-")
}
