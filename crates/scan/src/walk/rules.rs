//! Ignore rules in `.gitignore` and similar files.
//!
//! The `ignore` crate matches the globs. This module decides which rules apply where: the rules of a directory apply below it, and
//! take precedence over the rules of its ancestors.

use std::ffi::OsStr;
use std::fs;
use std::hash::Hasher;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{CWD, Mode, OFlags, openat};
use twox_hash::XxHash3_64;

use super::hints::{Hints, NameKey};
use super::listing::Listing;
use super::{RuleFiles, WalkOptions};
use finecomb_sys::io_reason;

/// Rule files of other tools than git. Later ones take precedence, but all come before [`DOT`].
const CUSTOM: [&str; 2] = [".agignore", ".rgignore"];
const DOT: &str = ".ignore";
const GIT: &str = ".gitignore";

/// The names of rule files.
pub const RULE_FILES: [&str; 4] = [CUSTOM[0], CUSTOM[1], DOT, GIT];

/// Names that make a directory a repository. Some of its rules are in other places.
pub const REPOSITORY_NAMES: [&str; 2] = [".git", ".jj"];

/// The mark of UTF-8, with which a rule file may begin.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Verdict of the rules on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    None,
    Skip,
    /// Read it even if another filter would skip it.
    Include,
}

impl<T> From<Match<T>> for Verdict {
    fn from(matched: Match<T>) -> Self {
        match matched {
            Match::None => Self::None,
            Match::Ignore(_) => Self::Skip,
            Match::Whitelist(_) => Self::Include,
        }
    }
}

/// The rules of one directory. A directory without rules shares its parent's.
pub(crate) struct DirectoryRules {
    above: Option<Arc<DirectoryRules>>,
    /// Offset at which the path relative to this directory begins in an absolute path.
    relative_start: usize,
    is_repository: bool,
    files: OnceLock<RulesByKind>,
    /// The rule files, as long as nothing depends on them.
    unread: Option<Unread>,
}

/// The rules of a directory by the kinds of their files.
#[derive(Default)]
struct RulesByKind {
    custom: Globs,
    dot: Globs,
    git: Globs,
    git_exclude: Globs,
}

/// Rule files of a directory that are known to be valid.
struct Unread {
    directory: OwnedFd,
    printed: PathBuf,
    names: Vec<&'static str>,
    ignore_case: bool,
}

impl RulesByKind {
    /// Reads rule files of a directory. `printed` is its displayed path.
    fn read(
        directory: &OwnedFd,
        printed: &Path,
        names: &[&str],
        ignore_case: bool,
        mut problems: Option<&mut Vec<String>>,
    ) -> Self {
        // An unreadable rule file is ignored silently, as by git.
        let mut load = |kind: &[&str]| {
            let files = kind.iter().filter(|name| names.contains(name));
            let files = files.filter_map(|name| Some((printed.join(name), read(directory, name).ok()?)));
            Globs::new(files.collect(), ignore_case, problems.as_deref_mut())
        };
        let (custom, dot, git) = (load(&CUSTOM), load(&[DOT]), load(&[GIT]));
        Self { custom, dot, git, git_exclude: Globs::default() }
    }

    fn all(&self) -> [&Globs; 4] {
        [&self.custom, &self.dot, &self.git, &self.git_exclude]
    }
}

/// The globs of one kind of rule file in a directory. A cheap test spares most names the matching, and most rule files the
/// compilation, which takes as long as listing five directories.
#[derive(Default)]
struct Globs {
    /// The rule files and their names; none without a glob.
    files: Vec<(PathBuf, Vec<u8>)>,
    ignore_case: bool,
    rules: OnceLock<Gitignore>,
    hints: Hints,
}

/// Size of rule files, in bytes, up to which compiling the globs cannot fail for their size.
const SMALL: usize = 16 << 10;

impl Globs {
    /// The globs of rule files, given with their names. Globs that may be invalid are compiled at once if errors are to be
    /// reported.
    fn new(files: Vec<(PathBuf, Vec<u8>)>, ignore_case: bool, problems: Option<&mut Vec<String>>) -> Self {
        let mut hints = Hints::default();
        let texts = files.iter().map(|(_, text)| text.strip_prefix(BOM).unwrap_or(text));
        for line in texts.flat_map(|text| text.split(|&byte| byte == b'\n')) {
            // Hints are case-sensitive.
            hints.add(&if ignore_case { "*".into() } else { String::from_utf8_lossy(line) });
        }
        if hints.is_empty() {
            return Self::default();
        }
        let is_harmless =
            |text: &[u8]| text.len() <= SMALL && !text.iter().any(|byte| b"[]{}\\".contains(byte));
        let defers = files.iter().all(|(_, text)| is_harmless(text));
        let globs = Self { files, ignore_case, rules: OnceLock::new(), hints };
        if let Some(problems) = problems.filter(|_| !defers) {
            globs.rules.get_or_init(|| globs.compile(problems));
        }
        globs
    }

    fn compile(&self, problems: &mut Vec<String>) -> Gitignore {
        let mut builder = builder(Path::new(""), self.ignore_case);
        for (from, text) in &self.files {
            add_lines(&mut builder, from, text, problems);
        }
        build(&builder, problems)
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Matches a path relative to their directory. `name` is its last component.
    fn judge(&self, relative: &Path, name: NameKey<'_>, is_dir: bool) -> Verdict {
        if self.is_empty() || !self.hints.may_match(name) {
            return Verdict::None;
        }
        // If they are compiled only now, they are known to be valid.
        self.rules.get_or_init(|| self.compile(&mut Vec::new())).matched(relative, is_dir).into()
    }
}

/// The rules that apply everywhere.
pub(crate) struct Global {
    options: RuleFiles,
    ignore_case: bool,
    git: Gitignore,
    explicit: Vec<Gitignore>,
}

impl Global {
    /// Reads the rules. Errors in them are added to `problems`.
    pub(crate) fn new(options: &WalkOptions, problems: &mut Vec<String>) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let git = if options.rules.git && options.rules.git_global {
            let (git, error) = builder(&here, options.rules_ignore_case).build_global();
            problems.extend(error.map(|error| error.to_string()));
            git
        } else {
            Gitignore::empty()
        };
        let mut explicit = Vec::new();
        for path in &options.rule_files {
            match fs::read(path) {
                Ok(text) => {
                    let mut builder = builder(&here, options.rules_ignore_case);
                    add_lines(&mut builder, path, &text, problems);
                    explicit.push(build(&builder, problems));
                }
                Err(error) => problems.push(format!("{}: {}", path.display(), io_reason(&error))),
            }
        }
        Self { options: options.rules, ignore_case: options.rules_ignore_case, git, explicit }
    }

    /// Returns `false` if there can be no rules.
    fn any(&self) -> bool {
        let RuleFiles { dot, git, git_exclude, .. } = self.options;
        dot || git || git_exclude || !self.explicit.is_empty()
    }

    /// Reads the rules of a directory, given its absolute path, and of those above it. Without `problems`, nothing is reported.
    pub(crate) fn down_to(
        &self,
        directory: &Path,
        mut problems: Option<&mut Vec<String>>,
    ) -> Option<Arc<DirectoryRules>> {
        if !self.any() {
            return None;
        }
        let mut rules = None;
        let mut directories: Vec<&Path> = directory.ancestors().collect();
        directories.reverse();
        for directory in directories {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(fd) = openat(CWD, directory, flags, Mode::empty()) else { continue };
            let contains = |name: &[u8]| {
                rustix::fs::accessat(
                    &fd,
                    OsStr::from_bytes(name),
                    rustix::fs::Access::EXISTS,
                    rustix::fs::AtFlags::empty(),
                )
                .is_ok()
            };
            let path = directory.as_os_str().as_bytes();
            rules = self.enter(rules, &fd, path, directory, contains, problems.as_deref_mut());
        }
        rules
    }

    /// Reads the rules of a directory that has been listed.
    pub(crate) fn of_listed(
        &self,
        above: Option<Arc<DirectoryRules>>,
        directory: &OwnedFd,
        path: &[u8],
        printed: &[u8],
        listing: &Listing,
        problems: &mut Vec<String>,
    ) -> Option<Arc<DirectoryRules>> {
        // The names of all rule files begin with a dot.
        if !self.any() || !listing.any_hidden {
            return above;
        }
        let printed = Path::new(OsStr::from_bytes(printed));
        self.enter(above, directory, path, printed, |name| listing.contains(name), Some(problems))
    }

    /// Reads the rules of a directory. `printed` is its displayed path.
    fn enter(
        &self,
        above: Option<Arc<DirectoryRules>>,
        directory: &OwnedFd,
        path: &[u8],
        printed: &Path,
        contains: impl Fn(&[u8]) -> bool,
        mut problems: Option<&mut Vec<String>>,
    ) -> Option<Arc<DirectoryRules>> {
        let RuleFiles { git, git_exclude, require_git, .. } = self.options;
        let has_git = (git || git_exclude) && contains(b".git");
        // If no repository is required, its boundaries have no effect either.
        let is_repository = require_git && (has_git || (git || git_exclude) && contains(b".jj"));
        let names: Vec<&str> = self.names().filter(|name| contains(name.as_bytes())).collect();
        let mut files =
            RulesByKind::read(directory, printed, &names, self.ignore_case, problems.as_deref_mut());
        if git_exclude && has_git {
            files.git_exclude = self.load_exclude(directory, path, problems);
        }
        if !is_repository && files.all().into_iter().all(Globs::is_empty) {
            return above;
        }
        let relative_start = relative_start(path);
        Some(Arc::new(DirectoryRules {
            above,
            relative_start,
            is_repository,
            files: files.into(),
            unread: None,
        }))
    }

    /// The names of the rule files that are obeyed.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let RuleFiles { dot, git, .. } = self.options;
        RULE_FILES.into_iter().filter(move |&name| if name == GIT { git } else { dot })
    }

    /// The rules of a directory that is no repository, and whose rule files are known to be valid. They are read when they are
    /// needed.
    pub(crate) fn deferred(
        &self,
        above: Option<Arc<DirectoryRules>>,
        directory: OwnedFd,
        path: &[u8],
        printed: &[u8],
        names: Vec<&'static str>,
    ) -> Arc<DirectoryRules> {
        let printed = Path::new(OsStr::from_bytes(printed)).to_owned();
        let unread = Some(Unread { directory, printed, names, ignore_case: self.ignore_case });
        let relative_start = relative_start(path);
        Arc::new(DirectoryRules {
            above,
            relative_start,
            is_repository: false,
            files: OnceLock::new(),
            unread,
        })
    }

    /// Reads `info/exclude` of a repository.
    fn load_exclude(&self, directory: &OwnedFd, path: &[u8], problems: Option<&mut Vec<String>>) -> Globs {
        let path = Path::new(OsStr::from_bytes(path));
        let of_worktree = || fs::read(worktree(directory, path)?.join("info/exclude")).ok();
        let text = read(directory, ".git/info/exclude").ok().or_else(of_worktree);
        let file = text.map(|text| (path.join(".git/info/exclude"), text));
        Globs::new(file.into_iter().collect(), self.ignore_case, problems)
    }

    /// Returns the verdict of all rules on an absolute path without `.` and `..` components. The first kind of rule
    /// with a verdict decides; within a kind, the rule of the deepest directory; and there the last rule.
    ///
    /// Rules that apply everywhere are matched against the `printed` path, as in ripgrep.
    pub(crate) fn judge(
        &self,
        rules: Option<&DirectoryRules>,
        root: usize,
        path: &[u8],
        printed: &Path,
        is_dir: bool,
    ) -> Verdict {
        if !self.any() {
            return Verdict::None;
        }
        let mut verdicts = [Verdict::None; 4];
        let in_repository = !self.options.require_git || chain(rules).any(|rules| rules.is_repository);
        let mut in_outer_repository = false;
        let name = NameKey::of(path.rsplit(|&byte| byte == b'/').next().unwrap_or(path));
        for rules in chain(rules) {
            // Rules of a directory above the named one.
            if rules.relative_start < root && !self.options.parents {
                break;
            }
            let relative = Path::new(OsStr::from_bytes(path.get(rules.relative_start..).unwrap_or_default()));
            let git = in_repository && !in_outer_repository;
            let kinds = rules.files().all().into_iter().zip([true, true, git, git]);
            for (verdict, (globs, applies)) in verdicts.iter_mut().zip(kinds) {
                if *verdict == Verdict::None && applies {
                    *verdict = globs.judge(relative, name, is_dir);
                }
            }
            // Rules of an enclosing repository do not apply inside a nested one.
            in_outer_repository |= rules.is_repository;
        }
        if let Some(verdict) = verdicts.into_iter().find(|&verdict| verdict != Verdict::None) {
            return verdict;
        }
        let everywhere = self.explicit.iter().rev();
        in_repository
            .then_some(&self.git)
            .into_iter()
            .chain(everywhere)
            .filter(|rules| !rules.is_empty())
            .map(|rules| rules.matched(printed, is_dir).into())
            .find(|&verdict| verdict != Verdict::None)
            .unwrap_or(Verdict::None)
    }
}

impl DirectoryRules {
    fn files(&self) -> &RulesByKind {
        self.files.get_or_init(|| match &self.unread {
            Some(Unread { directory, printed, names, ignore_case }) => {
                RulesByKind::read(directory, printed, names, *ignore_case, None)
            }
            None => RulesByKind::default(),
        })
    }

    /// Adds all that decides how these rules and those above select to a hash.
    pub(super) fn hash(&self, hasher: &mut XxHash3_64) {
        for rules in chain(Some(self)) {
            hasher.write(&(rules.relative_start as u64).to_le_bytes());
            hasher.write(&[u8::from(rules.is_repository)]);
            for globs in rules.files().all() {
                hasher.write(&(globs.files.len() as u64).to_le_bytes());
                for (_, text) in &globs.files {
                    hasher.write(&(text.len() as u64).to_le_bytes());
                    hasher.write(text);
                }
            }
        }
    }
}

/// The offset of a path below a directory in an absolute path.
fn relative_start(directory: &[u8]) -> usize {
    directory.len() + usize::from(directory != b"/")
}

/// The rules of a directory and its ancestors, deepest first.
fn chain(rules: Option<&DirectoryRules>) -> impl Iterator<Item = &DirectoryRules> {
    std::iter::successors(rules, |rules| rules.above.as_deref())
}

fn builder(root: &Path, ignore_case: bool) -> GitignoreBuilder {
    let mut builder = GitignoreBuilder::new(root);
    // Fails only for globs that were added before.
    let _ = builder.case_insensitive(ignore_case);
    builder
}

fn build(builder: &GitignoreBuilder, problems: &mut Vec<String>) -> Gitignore {
    builder.build().unwrap_or_else(|error| {
        problems.push(error.to_string());
        Gitignore::empty()
    })
}

/// Adds the lines of a rule file.
fn add_lines(builder: &mut GitignoreBuilder, from: &Path, text: &[u8], problems: &mut Vec<String>) {
    let text = String::from_utf8_lossy(text.strip_prefix(BOM).unwrap_or(text));
    for (number, line) in text.lines().enumerate() {
        if let Err(error) = builder.add_line(None, line) {
            problems.push(format!("{}:{}: {error}", from.display(), number + 1));
        }
    }
}

/// Reads a file in a directory.
fn read(directory: &OwnedFd, name: &str) -> std::io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let fd = openat(directory.as_fd(), name, flags, Mode::empty())?;
    let mut text = Vec::new();
    fs::File::from(fd).read_to_end(&mut text)?;
    Ok(text)
}

/// The common directory of the repository that a worktree belongs to, if its `.git` is a file that refers to one (see
/// gitrepository-layout(5)).
fn worktree(directory: &OwnedFd, path: &Path) -> Option<PathBuf> {
    let file = String::from_utf8(read(directory, ".git").ok()?).ok()?;
    let own = path.join(file.lines().next()?.strip_prefix("gitdir: ")?);
    let common = fs::read_to_string(own.join("commondir")).ok()?;
    Some(own.join(common.trim_end()))
}
