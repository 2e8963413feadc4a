//! The inputs of a job: the named paths, the files selected below directories, and the decoding of their bytes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::block::FileIdentity;
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

    /// The same inputs without names of a stream that has been named before: reading one twice at the same time would tear
    /// its records.
    pub fn without_repeated_streams(&self) -> Cow<'_, Self> {
        if self.named.len() < 2 {
            return Cow::Borrowed(self);
        }
        let mut streams = HashSet::new();
        let mut is_first =
            |name: &&PathBuf| identity_of_stream(name).is_none_or(|identity| streams.insert(identity));
        let named: Vec<&PathBuf> = self.named.iter().filter(|name| is_first(name)).collect();
        if named.len() == self.named.len() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self { named: named.into_iter().cloned().collect(), ..self.clone() })
    }

    /// Returns `true` if standard input is one of the inputs.
    pub fn has_standard_input(&self) -> bool {
        self.named.iter().any(|name| is_standard_input(name))
    }
}

/// The identity of a named input that can only be read sequentially; `None` for any other.
fn identity_of_stream(name: &Path) -> Option<FileIdentity> {
    let metadata = match is_standard_input(name) {
        true => File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata(),
        false => fs::metadata(name),
    };
    let is_stream = metadata.as_ref().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    metadata.ok().filter(|_| is_stream).map(|metadata| FileIdentity::of(&metadata))
}

pub(crate) fn is_standard_input(name: &Path) -> bool {
    name == Path::new("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_under_two_names_is_kept_once_and_a_file_as_often_as_it_is_named() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let [file, pipe, missing] = [file.path(), Path::new("/dev/null"), Path::new("/dev/null/missing")];
        let inputs = Inputs::new([file, pipe, missing, file, Path::new("/dev/./null"), missing]);
        assert_eq!(inputs.without_repeated_streams().named, [file, pipe, missing, file, missing]);
        let inputs = Inputs::new([pipe, file]);
        assert!(matches!(inputs.without_repeated_streams(), Cow::Borrowed(_)));
    }
}
