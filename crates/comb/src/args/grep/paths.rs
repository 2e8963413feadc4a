//! The arguments that are not flags: a pattern and paths.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::args::selection::UsageError;

/// What is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paths {
    /// Files, directories, and `-` for standard input; at least one.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether no path was given: those below `.` are then printed without it.
    pub(crate) implicit: bool,
    /// Whether it is a single one and not a directory.
    pub(crate) one_file: bool,
}

impl Paths {
    /// The given paths, or standard input if there is something to read, or else the current directory.
    pub(super) fn new(given: &[OsString], may_read_input: impl FnOnce() -> bool) -> Self {
        if !given.is_empty() {
            let paths: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
            let one_file = matches!(&paths[..], [path] if path == Path::new("-") || !path.is_dir());
            return Self { paths, implicit: false, one_file };
        }
        let input = may_read_input();
        let path = if input { "-" } else { "." };
        Self { paths: vec![path.into()], implicit: true, one_file: input }
    }

    /// Whether nothing but standard input is searched.
    pub(crate) fn only_input(&self) -> bool {
        matches!(&self.paths[..], [path] if path == Path::new("-"))
    }

    /// An error if standard input is searched, too, after patterns have been read from it.
    pub(super) fn without_input(self) -> Result<Self, UsageError> {
        if self.paths.iter().any(|path| path == Path::new("-")) {
            return Err(UsageError(
                "standard input cannot be searched for patterns that are read from it".to_owned(),
            ));
        }
        Ok(self)
    }
}

/// The first argument as a pattern. If there is none, but a `glob` was given, it may have been meant as in ag.
pub(super) fn pattern(argument: Option<&OsString>, glob: Option<&str>) -> Result<String, UsageError> {
    let Some(argument) = argument else {
        return Err(UsageError(match glob {
            None => {
                "a PATTERN is missing; 'comb grep PATTERN' searches below the current directory".to_owned()
            }
            Some(glob) => {
                format!("a PATTERN is missing; comb grep --files -g '{glob}' prints the names of files")
            }
        }));
    };
    argument.to_str().map(str::to_owned).ok_or_else(|| {
        UsageError(format!(
            "the pattern '{}' is not UTF-8; write such bytes as \\xFF, as in '(?-u)\\xFF'",
            argument.display()
        ))
    })
}

/// Whether standard input is something that is meant to be read: a file, a pipe or a socket. This cannot be known;
/// a program that starts another one may leave it a pipe in which there will never be anything.
pub(super) fn input_is_readable() -> bool {
    let Ok(input) = io::stdin().as_fd().try_clone_to_owned() else { return false };
    File::from(input).metadata().is_ok_and(|metadata| {
        let kind = metadata.file_type();
        kind.is_file() || kind.is_fifo() || kind.is_socket()
    })
}
