//! Selection and order of the files below a directory.

pub(crate) mod directory;
mod files;
mod hints;
pub(crate) mod listing;
mod rules;
mod selection;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use finecomb_sys::directory::PLACE;
use finecomb_sys::setters;
use ignore::overrides::Override;
use ignore::types::Types;
use regex_automata::meta::Regex;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

pub use files::{FoundFile, list_files};
pub(crate) use files::{WalkItem, find, total_bytes};
pub use rules::{REPOSITORY_NAMES, RULE_FILES};

setters! {
    /// Selects the files below a directory. Default: all.
    ///
    /// Files named on the command line are always read.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct WalkOptions {
        /// Skip files and directories whose names begin with a dot.
        pub skip_hidden: bool = false,
        /// Which kinds of ignore files are obeyed.
        pub rules: RuleFiles = RuleFiles::NONE,
        /// Additional ignore files that apply everywhere. Later files take precedence.
        pub rule_files: Vec<PathBuf> = Vec::new(),
        /// Ignore case in ignore rules.
        pub rules_ignore_case: bool = false,
        /// Globs that take precedence over all ignore rules.
        pub globs: Override = Override::empty(),
        /// File types to read or to skip.
        pub types: Types = Types::empty(),
        /// Types leave out files with an extension, and do nothing else. Otherwise they leave out files without one as well, and select
        /// hidden files, as globs do.
        pub types_only_leave_out: bool = false,
        /// Read only files whose path matches this expression.
        pub file_regex: Option<Regex> = None,
        /// Read or enter only entries whose path, without a leading `./`, this function takes, told whether they are directories. It sees no members
        /// of archives.
        pub takes: Option<fn(&Path, bool) -> bool> = None,
        /// Follow symbolic links below a named directory.
        pub follow: bool = false,
        /// Stay on the file system of each named directory.
        pub one_file_system: bool = false,
        /// Maximum depth below a named directory: 0 for named files only, 1 for the files in it.
        pub max_depth: Option<usize> = None,
        /// Skip files larger than this, in bytes.
        pub max_filesize: Option<u64> = None,
        /// Skip files last modified outside of this range, in nanoseconds since 1970.
        pub modified: Option<Range<i64>> = None,
        /// Read the members of archives like files. An archive is selected like a directory, and its members like files below it.
        pub archives: bool = false,
        /// Order of the files.
        pub sort: Sort = Sort::default(),
    }
}

/// Opens a path for reading. Does not block on a pipe, and supports paths longer than the kernel takes at once.
pub(crate) fn open_path(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    match openat(CWD, path, flags, Mode::empty()) {
        Err(Errno::NAMETOOLONG) => {}
        opened => return Ok(opened?.into()),
    }
    let mut names = path.components();
    let last = names.next_back().ok_or(Errno::NOENT)?;
    let way = PLACE | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = openat(CWD, c".", way, Mode::empty())?;
    for name in names {
        directory = openat(&directory, name.as_os_str(), way, Mode::empty())?;
    }
    Ok(openat(&directory, last.as_os_str(), flags, Mode::empty())?.into())
}

/// Which kinds of ignore files are obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleFiles {
    /// `.ignore`, `.rgignore` and `.agignore` files.
    pub dot: bool,
    /// `.gitignore` files.
    pub git: bool,
    /// `.git/info/exclude`.
    pub git_exclude: bool,
    /// The file that git's `core.excludesFile` names.
    pub git_global: bool,
    /// Ignore files in the directories above a named one.
    pub parents: bool,
    /// Apply git's ignore files only inside a repository.
    pub require_git: bool,
}

/// Order of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// Sort key.
    pub by: SortKey,
    /// Reverse the order.
    pub reverse: bool,
}

/// Sort key of files. Files with equal keys are ordered by path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Path, name by name. Only this order is known while the tree is still being walked; with any other key, all files
    /// are found before the first one is read.
    #[default]
    Path,
    /// Time of the last modification.
    Modified,
    /// Time of the last access.
    Accessed,
    /// Time of creation.
    Created,
    /// Size.
    Size,
}

impl WalkOptions {
    /// Selects the files that a search reads by default: neither hidden nor excluded by ignore files.
    pub fn of_search() -> Self {
        Self::default().skip_hidden(true).rules(RuleFiles::ALL)
    }
}

impl RuleFiles {
    /// No ignore files.
    pub const NONE: Self = Self {
        dot: false,
        git: false,
        git_exclude: false,
        git_global: false,
        parents: false,
        require_git: true,
    };

    /// All ignore files.
    pub const ALL: Self =
        Self { dot: true, git: true, git_exclude: true, git_global: true, parents: true, require_git: true };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_do_not_inherit_open_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let flags = rustix::io::fcntl_getfd(open_path(file.path()).unwrap()).unwrap();
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }
}
