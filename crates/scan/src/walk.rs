//! Which files below a directory are read, and in which order.

pub(crate) mod directory;
mod files;
mod hints;
pub(crate) mod listing;
mod rules;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use ignore::overrides::Override;
use ignore::types::Types;
use regex_automata::meta::Regex;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

pub(crate) use files::total_bytes;
pub use files::{FoundFile, list_files};

/// Which files below a directory are read.
///
/// A named file is read whatever these say.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Pass over files and directories whose names begin with a dot.
    pub skip_hidden: bool,
    /// Which files with rules about what to pass over are obeyed.
    pub rules: RuleFiles,
    /// Files with such rules that hold everywhere, the later ones with precedence.
    pub rule_files: Vec<PathBuf>,
    /// Read such rules without regard to upper and lower case.
    pub rules_ignore_case: bool,
    /// Globs that come before all rules.
    pub globs: Override,
    /// File types to read or to pass over.
    pub types: Types,
    /// Read only files whose path matches.
    pub file_regex: Option<Regex>,
    /// Follow symbolic links below a named directory.
    pub follow: bool,
    /// Stay on the file system of each named directory.
    pub one_file_system: bool,
    /// How many levels below a named directory to go: 0 for named files only, 1 for the files in it.
    pub max_depth: Option<usize>,
    /// Pass over files of more bytes than this.
    pub max_filesize: Option<u64>,
    /// In which order the files come.
    pub sort: Sort,
}

/// Opens a path for reading, without waiting if it is a pipe, and also if it is longer than the kernel takes at once.
pub(crate) fn open_path(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    match openat(CWD, path, flags, Mode::empty()) {
        Err(Errno::NAMETOOLONG) => {}
        opened => return Ok(opened?.into()),
    }
    let mut names = path.components();
    let last = names.next_back().ok_or(Errno::NOENT)?;
    let way = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = openat(CWD, c".", way, Mode::empty())?;
    for name in names {
        directory = openat(&directory, name.as_os_str(), way, Mode::empty())?;
    }
    Ok(openat(&directory, last.as_os_str(), flags, Mode::empty())?.into())
}

/// Which files with rules about what to pass over are obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleFiles {
    /// `.ignore`, `.rgignore` and `.agignore`.
    pub dot: bool,
    /// `.gitignore`.
    pub git: bool,
    /// `.git/info/exclude`.
    pub git_exclude: bool,
    /// The file that git's `core.excludesFile` names.
    pub git_global: bool,
    /// Those of the directories above a named one.
    pub parents: bool,
    /// Those of git only inside a repository.
    pub require_git: bool,
}

/// In which order files come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// By what.
    pub by: SortKey,
    /// The other way round.
    pub reverse: bool,
}

/// By what files are sorted. Those with the same key are in the order of their paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// By path, name by name. This is the only order that is known while the tree is still walked; for every other one,
    /// all files are found before the first is read.
    #[default]
    Path,
    /// By the time of the last change.
    Modified,
    /// By the time of the last read.
    Accessed,
    /// By the time of creation.
    Created,
    /// By size.
    Size,
}

impl Default for WalkOptions {
    /// Every file below a directory.
    fn default() -> Self {
        Self {
            skip_hidden: false,
            rules: RuleFiles::NONE,
            rule_files: Vec::new(),
            rules_ignore_case: false,
            globs: Override::empty(),
            types: Types::empty(),
            file_regex: None,
            follow: false,
            one_file_system: false,
            max_depth: None,
            max_filesize: None,
            sort: Sort::default(),
        }
    }
}

impl RuleFiles {
    /// None of them.
    pub const NONE: Self = Self {
        dot: false,
        git: false,
        git_exclude: false,
        git_global: false,
        parents: false,
        require_git: true,
    };

    /// All of them.
    pub const ALL: Self =
        Self { dot: true, git: true, git_exclude: true, git_global: true, parents: true, require_git: true };
}
