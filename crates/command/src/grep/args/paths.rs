//! Positional arguments: a pattern and paths.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::args::selection::UsageError;

/// Paths to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    /// Files, directories, and `-` for standard input; at least one.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether no path was given. Paths are then printed without the prefix `./`.
    pub(crate) implicit: bool,
    /// Whether there is a single path, and it is not a directory, nor may be an archive.
    pub(crate) one_file: bool,
}

impl Paths {
    /// The given paths. Without any, standard input if it is readable, or else the current directory.
    pub(super) fn new(paths: Vec<PathBuf>, may_read_input: impl FnOnce() -> bool) -> Self {
        if !paths.is_empty() {
            let one_file = matches!(&paths[..], [path] if path == Path::new("-") || !path.is_dir());
            return Self { paths, implicit: false, one_file };
        }
        let input = may_read_input();
        let path = if input { "-" } else { "." };
        Self { paths: vec![path.into()], implicit: true, one_file: input }
    }

    /// Whether standard input is the only path.
    pub(crate) fn only_input(&self) -> bool {
        matches!(&self.paths[..], [path] if path == Path::new("-"))
    }

    /// Returns the paths, or an error if standard input is among them.
    pub(super) fn without_input(self) -> Result<Self, UsageError> {
        if self.paths.iter().any(|path| path == Path::new("-")) {
            return Err(UsageError(
                "standard input cannot hold both the patterns and the text to search".to_owned(),
            ));
        }
        Ok(self)
    }
}

/// The first argument as a pattern. If it is missing and `glob` is given, the error suggests a search for file names, as `ag -g`
/// does.
pub(super) fn pattern(argument: Option<&OsString>, glob: Option<&str>) -> Result<String, UsageError> {
    let Some(argument) = argument else {
        return Err(UsageError(match glob {
            None => "missing PATTERN; 'comb grep PATTERN' searches the current directory".to_owned(),
            Some(glob) => {
                format!("missing PATTERN; comb grep --files -g '{glob}' prints file names")
            }
        }));
    };
    argument.to_str().map(str::to_owned).ok_or_else(|| {
        UsageError(format!(
            "the pattern '{}' is not valid UTF-8; use escapes such as '(?-u)\\xFF'",
            argument.display()
        ))
    })
}

/// Whether standard input is a file, a pipe or a socket, and thus probably meant to be read. This is a heuristic: a
/// parent process may leave a pipe open that it never writes to.
pub(crate) fn input_is_readable() -> bool {
    let Ok(input) = io::stdin().as_fd().try_clone_to_owned() else { return false };
    File::from(input).metadata().is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_file() || kind.is_fifo() || kind.is_socket()
    })
}
