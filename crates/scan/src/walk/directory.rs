//! An open directory of the walk, with its selected entries.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use finecomb_sys::directory::PLACE;
use finecomb_sys::file_system::{created, short_read_is_end};
use regex_automata::meta::Regex;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use twox_hash::XxHash3_64;

use super::listing::{DirEntry, EntryKind, Listing, list};
use super::rules::{DirectoryRules, Global, REPOSITORY_NAMES, RULE_FILES, Verdict};
use super::{SortKey, WalkOptions, selection};
use crate::block::{FileIdentity, Source};
use crate::problem::{ProblemKind, Problems};
use crate::snapshot::{Known, Snapshot, Stamp, TextPart};
use crate::source::archive::is_archive_name;

/// Settings shared by all directories of a job.
pub(crate) struct WalkContext<'a> {
    pub(crate) options: &'a WalkOptions,
    global: Global,
    /// Identity of standard output if it is a file. It is skipped: reading a file while appending to it would never
    /// end.
    output: Option<FileIdentity>,
    /// Snapshots of the trees that are walked.
    snapshots: Vec<Arc<dyn Snapshot>>,
    /// The part of the numbers of selections that is the same for all directories.
    selection: OnceLock<Option<XxHash3_64>>,
}

/// An open directory and its selected entries.
///
/// It stays open while any of its entries is still to be opened. So entries are opened relative to it, never by their
/// whole path, which may be longer than the kernel takes.
pub(crate) struct Directory {
    fd: OwnedFd,
    /// Argument number of the named directory above it.
    pub(crate) argument: usize,
    /// Displayed path, with a trailing slash unless it is empty.
    pub(crate) prefix: Vec<u8>,
    /// Absolute path without a trailing slash (unless it is the root), and the length of that of the named directory.
    absolute: Vec<u8>,
    root: usize,
    rules: Option<Arc<DirectoryRules>>,
    depth: usize,
    /// Itself and its ancestors. Kept only if links are followed.
    trail: Option<Arc<Trail>>,
    /// Whether a short read means the end of a file, once that is known.
    short_read_is_end: OnceLock<bool>,
    pub(crate) listing: Listing,
    /// The snapshot that knows it, and its number there.
    known: Option<(Arc<dyn Snapshot>, u32)>,
    /// Whether the same rules apply in it as in the snapshot.
    has_known_rules: bool,
    /// Whether rules that apply in it were reported.
    pub(crate) has_bad_rules: bool,
}

/// A directory and its ancestors.
struct Trail {
    identity: FileIdentity,
    path: Vec<u8>,
    above: Option<Arc<Trail>>,
}

/// Scratch memory, reused by a worker.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) buffer: Vec<u8>,
    path: Vec<u8>,
    absolute: Vec<u8>,
}

fn identity_of(stat: &Stat) -> FileIdentity {
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    FileIdentity { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
}

/// Time of the last modification, in nanoseconds since 1970. Times that are too far off for 64 bits become the nearest one.
fn modification_of(stat: &Stat) -> i64 {
    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    let (seconds, nanoseconds) = (stat.st_mtime as i64, stat.st_mtime_nsec as i64);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

fn device(directory: &OwnedFd) -> io::Result<u64> {
    Ok(identity_of(&fstat(directory)?).device)
}

/// Opens a directory once more, for reading and at its start.
///
/// # Errors
/// If it cannot be opened.
pub(crate) fn reopened(directory: impl AsFd) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(directory, c".", flags, Mode::empty())?)
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

impl<'a> WalkContext<'a> {
    /// Reads the rules that apply everywhere. Errors in them are added to `problems`.
    pub(crate) fn new(options: &'a WalkOptions, skip_output: bool, problems: &mut Vec<String>) -> Self {
        let output = fstat(rustix::stdio::stdout())
            .ok()
            .filter(|stat| skip_output && FileType::from_raw_mode(stat.st_mode).is_file())
            .map(|stat| identity_of(&stat));
        let (global, snapshots) = (Global::new(options, problems), Vec::new());
        Self { options, global, output, snapshots, selection: OnceLock::new() }
    }

    /// The same settings, with snapshots of some trees.
    pub(crate) fn with_snapshots(self, snapshots: Vec<Arc<dyn Snapshot>>) -> Self {
        Self { snapshots, ..self }
    }

    /// The number of the selection in a directory, given its absolute path; `None` if it has none, or globs or types may select other
    /// entries.
    pub(crate) fn selection_in(&self, directory: &Path) -> Option<u64> {
        let WalkOptions { globs, types, types_only_leave_out, .. } = self.options;
        if globs.num_whitelists() > 0 || !types.is_empty() && !types_only_leave_out {
            return None;
        }
        self.selection_by(self.global.down_to(directory, None).as_deref())
    }

    /// The number of the selection in a directory.
    pub(crate) fn selection_of(&self, directory: &Directory) -> Option<u64> {
        match &directory.known {
            Some((snapshot, number)) if directory.has_known_rules => snapshot.selection(*number),
            _ => self.selection_by(directory.rules.as_deref()),
        }
    }

    fn selection_by(&self, rules: Option<&DirectoryRules>) -> Option<u64> {
        let everywhere = self.selection.get_or_init(|| selection::everywhere(self.options)).as_ref()?;
        Some(selection::number(everywhere, rules))
    }

    /// The rules in a named directory, if its selection equals the snapshot's. `Some(None)` if there are no rules.
    fn known_rules(
        &self,
        known: Option<&(Arc<dyn Snapshot>, u32)>,
        directory: &Path,
    ) -> Option<Option<Arc<DirectoryRules>>> {
        let (snapshot, number) = known?;
        let selection = snapshot.selection(*number)?;
        // Without a number for any rules, they need not be read.
        self.selection_by(None)?;
        let rules = self.global.down_to(directory, None);
        (self.selection_by(rules.as_deref()) == Some(selection)).then_some(rules)
    }

    /// Opens and lists a named directory. `printed` is its displayed path.
    ///
    /// # Errors
    /// If it cannot be opened or listed.
    pub(crate) fn open_named(
        &self,
        argument: usize,
        path: &Path,
        printed: &Path,
        scratch: &mut Scratch,
        problems: &mut Problems,
    ) -> io::Result<Directory> {
        let fd = openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        // It may have been removed since it was opened. Without a path, no rules above it apply.
        let absolute = path.canonicalize().unwrap_or_else(|_| PathBuf::from("/"));
        let mut prefix = printed.as_os_str().as_bytes().to_vec();
        if !prefix.is_empty() && !prefix.ends_with(b"/") {
            prefix.push(b'/');
        }
        let known = self
            .snapshots
            .iter()
            .find_map(|snapshot| Some((Arc::clone(snapshot), snapshot.find(&absolute)?)));
        let known_rules = self.known_rules(known.as_ref(), &absolute);
        let has_known_rules = known_rules.is_some();
        let mut notes = Vec::new();
        let above = || self.global.down_to(absolute.parent()?, Some(&mut notes));
        let rules = known_rules.unwrap_or_else(above);
        let has_bad_rules = !notes.is_empty();
        let source = Source::named(argument, Some(printed.to_owned()));
        for note in notes {
            problems.add(&source, ProblemKind::RuleAbove(note));
        }
        let absolute = absolute.into_os_string().into_encoded_bytes();
        let directory = Directory {
            fd,
            argument,
            prefix,
            root: absolute.len(),
            absolute,
            rules,
            depth: 0,
            trail: None,
            short_read_is_end: OnceLock::new(),
            listing: Listing::default(),
            known,
            has_known_rules,
            has_bad_rules,
        };
        self.list(directory, false, scratch, problems)
    }

    /// Opens and lists a subdirectory. Returns `None` if it is not to be entered.
    ///
    /// # Errors
    /// If it cannot be opened or listed.
    pub(crate) fn enter(
        &self,
        parent: &Directory,
        entry: &DirEntry,
        scratch: &mut Scratch,
        problems: &mut Problems,
    ) -> io::Result<Option<Directory>> {
        let name = parent.listing.c_name(entry);
        // A snapshot knows a link, not its target.
        let known = match &parent.known {
            Some((snapshot, _)) if !entry.is_linked => {
                entry.known.map(|number| (Arc::clone(snapshot), number))
            }
            _ => None,
        };
        // A directory that need not be listed is opened in half of the time.
        let mut flags = if known.is_some() { PLACE } else { OFlags::RDONLY };
        flags |= OFlags::DIRECTORY | OFlags::CLOEXEC;
        if !self.options.follow {
            flags |= OFlags::NOFOLLOW;
        }
        let fd = openat(&parent.fd, name, flags, Mode::empty())?;
        let prefix = [&parent.prefix, name.to_bytes(), b"/"].concat();
        let slash: &[u8] = if parent.absolute == b"/" { b"" } else { b"/" };
        let absolute = [&parent.absolute, slash, name.to_bytes()].concat();
        let directory = Directory {
            fd,
            prefix,
            absolute,
            rules: parent.rules.clone(),
            depth: parent.depth + 1,
            trail: parent.trail.clone(),
            short_read_is_end: OnceLock::new(),
            listing: Listing::default(),
            has_known_rules: parent.has_known_rules && known.is_some(),
            known,
            ..*parent
        };
        if self.options.one_file_system && device(&directory.fd)? != device(&parent.fd)? {
            return Ok(None);
        }
        self.list(directory, entry.is_linked, scratch, problems).map(Some)
    }

    fn list(
        &self,
        mut directory: Directory,
        is_linked: bool,
        scratch: &mut Scratch,
        problems: &mut Problems,
    ) -> io::Result<Directory> {
        if self.options.max_depth.is_some_and(|max_depth| directory.depth >= max_depth) {
            return Ok(directory);
        }
        if self.options.follow && !directory.extend_trail(is_linked, problems)? {
            return Ok(directory);
        }
        let mut listing = directory.list(&mut scratch.buffer)?;
        self.enter_rules(&mut directory, &listing, problems);
        scratch.path.clear();
        scratch.path.extend_from_slice(&directory.prefix);
        scratch.absolute.clear();
        scratch.absolute.extend_from_slice(&directory.absolute);
        if directory.absolute != b"/" {
            scratch.absolute.push(b'/');
        }
        listing.retain(|listing, entry| self.is_wanted(&directory, listing, entry, scratch, problems));
        directory.listing = listing;
        Ok(directory)
    }

    /// Extends the rules of a directory by its own rule files. They are read only if they are not known.
    fn enter_rules(&self, directory: &mut Directory, listing: &Listing, problems: &mut Problems) {
        // `known_rules` has read the rules of a named directory.
        if directory.has_known_rules && directory.is_named() {
            return;
        }
        if directory.has_known_rules
            && let Some(names) = self.known_rule_files(directory, listing)
        {
            if names.is_empty() {
                return;
            }
            // The selection of unchanged rules is known, so they are read only if a new entry needs them. That takes a
            // descriptor of its own; if there is none left, they are read at once.
            if let Ok(fd) = directory.fd.try_clone() {
                let Directory { rules, absolute, prefix, .. } = directory;
                *rules = Some(self.global.deferred(rules.take(), fd, absolute, prefix, names));
                return;
            }
        }
        let mut notes = Vec::new();
        directory.rules = self.global.of_listed(
            directory.rules.take(),
            &directory.fd,
            &directory.absolute,
            &directory.prefix,
            listing,
            &mut notes,
        );
        directory.has_known_rules = false;
        directory.has_bad_rules |= !notes.is_empty();
        for note in notes {
            problems.add(&directory.source(), ProblemKind::Rule(note));
        }
    }

    /// The rule files of a directory that was listed; `None` unless they equal the snapshot's.
    fn known_rule_files(&self, directory: &Directory, listing: &Listing) -> Option<Vec<&'static str>> {
        let (snapshot, number) = directory.known.as_ref()?;
        snapshot.selection(*number)?;
        // All names of rule files begin with a dot.
        if !listing.any_hidden {
            return Some(Vec::new());
        }
        // A repository has rules elsewhere, which have no stamps in the snapshot.
        if REPOSITORY_NAMES.iter().any(|name| listing.contains(name.as_bytes())) {
            return None;
        }
        let names: Vec<&str> = self.global.names().filter(|name| listing.contains(name.as_bytes())).collect();
        let is_same = |name: &&str| {
            let entry = listing.get(name.as_bytes()).filter(|entry| entry.kind == EntryKind::File)?;
            let stamp = snapshot.stamp(entry.known?)?;
            (directory.stamp_at(listing.c_name(entry)).ok()? == stamp).then_some(())
        };
        names.iter().all(|name| is_same(name).is_some()).then_some(names)
    }

    /// Whether a file with this name in a directory would be selected, by all that is known of one that is gone.
    pub(crate) fn selects_name(&self, directory: &Directory, name: &[u8]) -> bool {
        let WalkOptions { max_depth, file_regex, .. } = self.options;
        let slash: &[u8] = if directory.absolute == b"/" { b"" } else { b"/" };
        let path = [&directory.prefix, name].concat();
        let absolute = [&directory.absolute, slash, name].concat();
        max_depth.is_none_or(|max_depth| directory.depth < max_depth)
            && self.is_selected(directory, &path, &absolute, name, false)
            && file_regex.as_ref().is_none_or(|regex| regex.is_match(&path))
    }

    /// Returns `true` if an entry is to be read or entered. The kind of a link that is followed becomes that of its
    /// target.
    fn is_wanted(
        &self,
        directory: &Directory,
        listing: &Listing,
        entry: &mut DirEntry,
        scratch: &mut Scratch,
        problems: &mut Problems,
    ) -> bool {
        if entry.kind == EntryKind::Other || entry.kind == EntryKind::Link && !self.options.follow {
            return false;
        }
        let was_selected = entry.was_selected.filter(|_| directory.has_known_rules);
        let WalkOptions { globs, types, file_regex, takes, .. } = self.options;
        // Without other filters the selection of the snapshot holds, and no path has to be made.
        if let Some(was_selected) = was_selected
            && globs.is_empty()
            && types.is_empty()
            && file_regex.is_none()
            && takes.is_none()
        {
            let is_directory = entry.kind == EntryKind::Directory;
            return was_selected && (is_directory || self.is_file_wanted(directory, listing, entry, b""));
        }
        let Scratch { path, absolute, .. } = scratch;
        path.truncate(directory.prefix.len());
        path.extend_from_slice(listing.name(entry));
        if entry.kind == EntryKind::Link && !self.follow_link(directory, listing, entry, path, problems) {
            return false;
        }
        let is_dir = match entry.kind {
            EntryKind::File => false,
            EntryKind::Directory => true,
            EntryKind::Link | EntryKind::Other => return false,
        };
        let name = listing.name(entry);
        let known =
            was_selected.and_then(|was_selected| self.is_still_selected(was_selected, path, name, is_dir));
        let is_selected = known.unwrap_or_else(|| {
            absolute.truncate(directory.absolute.len() + usize::from(directory.absolute != b"/"));
            absolute.extend_from_slice(name);
            self.is_selected(directory, path, absolute, name, is_dir)
        });
        if is_dir && entry.is_linked && !is_selected {
            // ripgrep reports loops of skipped links, too. Selected directories are checked when they are entered.
            self.report_loop(directory, listing.c_name(entry), problems);
        }
        is_selected
            && takes.is_none_or(|takes| takes(as_path(path.strip_prefix(b"./").unwrap_or(path)), is_dir))
            && (is_dir || self.is_file_wanted(directory, listing, entry, path))
    }

    /// Gives a link the kind of its target. Reports an error and returns `false` if that cannot be found out.
    fn follow_link(
        &self,
        directory: &Directory,
        listing: &Listing,
        entry: &mut DirEntry,
        path: &[u8],
        problems: &mut Problems,
    ) -> bool {
        match statat(&directory.fd, listing.c_name(entry), AtFlags::empty()) {
            Ok(stat) => {
                entry.kind = EntryKind::of(FileType::from_raw_mode(stat.st_mode));
                entry.is_linked = true;
                true
            }
            Err(error) => {
                let source = Source::found(directory.argument, as_path(path).to_owned());
                problems.add(&source, ProblemKind::Open(error.into()));
                false
            }
        }
    }

    /// Reports a skipped link if it points to one of its ancestors.
    fn report_loop(&self, directory: &Directory, name: &CStr, problems: &mut Problems) {
        let Ok(stat) = statat(&directory.fd, name, AtFlags::empty()) else { return };
        let identity = identity_of(&stat);
        if let Some(trail) = directory.ancestors().find(|trail| trail.identity == identity) {
            let ancestor = as_path(&trail.path).to_owned();
            let path = [&directory.prefix, name.to_bytes()].concat();
            problems.add(
                &Source::found(directory.argument, as_path(&path).to_owned()),
                ProblemKind::Loop(ancestor),
            );
        }
    }

    /// Applies globs, ignore rules, file types and the filter of hidden names, in this order. The first one with a
    /// verdict decides, except that file types also apply to files that a rule includes.
    fn is_selected(
        &self,
        directory: &Directory,
        path: &[u8],
        absolute: &[u8],
        name: &[u8],
        is_dir: bool,
    ) -> bool {
        let path = as_path(path.strip_prefix(b"./").unwrap_or(path));
        let is_parent = is_dir || self.may_be_archive(name);
        match self.by_globs(path, is_parent) {
            Verdict::None => {}
            verdict => return verdict == Verdict::Include,
        }
        // Ignore rules are git's: to them an archive is a file.
        let by_rules = self.global.judge(directory.rules.as_deref(), directory.root, absolute, path, is_dir);
        if by_rules == Verdict::Skip {
            return false;
        }
        let by_type = self.by_type(path, is_parent);
        if by_type == Verdict::Skip {
            return false;
        }
        let is_hidden = self.options.skip_hidden && name.starts_with(b".");
        !is_hidden || by_rules == Verdict::Include || by_type == Verdict::Include
    }

    /// Applies globs and types to the selection of the snapshot. `None` if the rules have to be read.
    fn is_still_selected(&self, was_selected: bool, path: &[u8], name: &[u8], is_dir: bool) -> Option<bool> {
        let path = as_path(path.strip_prefix(b"./").unwrap_or(path));
        let is_parent = is_dir || self.may_be_archive(name);
        match self.by_globs(path, is_parent) {
            Verdict::None => {}
            verdict => return Some(verdict == Verdict::Include),
        }
        match self.by_type(path, is_parent) {
            Verdict::Skip => Some(false),
            // It was skipped by a rule, or only because it is hidden: reading the rules decides.
            Verdict::Include if !was_selected && name.starts_with(b".") => None,
            Verdict::Include | Verdict::None => Some(was_selected),
        }
    }

    /// Whether a file may be an archive by its name: then it is selected like a directory.
    fn may_be_archive(&self, name: &[u8]) -> bool {
        self.options.archives && is_archive_name(name)
    }

    /// Whether a file that is no archive is selected, given that it would be if it were one.
    pub(crate) fn selects_text(&self, source: &Source) -> bool {
        let path = source.path().filter(|_| !source.is_named());
        let Some(path) = path else { return true };
        let name = path.file_name().unwrap_or_default();
        if !self.may_be_archive(name.as_bytes()) {
            return true;
        }
        let is_matched = |regex: &Regex| regex.is_match(path.as_os_str().as_bytes());
        let path = path.strip_prefix("./").unwrap_or(path);
        let by_globs = self.by_globs(path, false);
        (by_globs == Verdict::Include
            || by_globs == Verdict::None && self.by_type(path, false) != Verdict::Skip)
            && self.options.file_regex.as_ref().is_none_or(is_matched)
    }

    /// Whether a member of an archive is selected: globs, types and the filter of hidden names see the archive as a
    /// directory.
    pub(crate) fn selects_member(&self, archive: &Source, name: &[u8]) -> bool {
        let WalkOptions { globs, types, skip_hidden, file_regex, .. } = self.options;
        let printed = || [archive.display_path().as_os_str().as_bytes(), b"!", name].concat();
        if file_regex.as_ref().is_some_and(|regex| !regex.is_match(printed().as_slice())) {
            return false;
        }
        if globs.is_empty() && types.is_empty() && !skip_hidden {
            return true;
        }
        let archive = archive.display_path().as_os_str().as_bytes();
        let mut path = archive.strip_prefix(b"./").unwrap_or(archive).to_vec();
        let mut names =
            name.split(|&byte| byte == b'/').filter(|name| !matches!(*name, b"" | b".")).peekable();
        while let Some(name) = names.next() {
            path.push(b'/');
            path.extend_from_slice(name);
            if !self.selects_in_archive(as_path(&path), name, names.peek().is_some()) {
                return false;
            }
        }
        true
    }

    fn selects_in_archive(&self, path: &Path, name: &[u8], is_dir: bool) -> bool {
        match self.by_globs(path, is_dir) {
            Verdict::None => {}
            verdict => return verdict == Verdict::Include,
        }
        let by_type = self.by_type(path, is_dir);
        let is_hidden = self.options.skip_hidden && name.starts_with(b".") && name != b"..";
        by_type != Verdict::Skip && (!is_hidden || by_type == Verdict::Include)
    }

    fn by_globs(&self, path: &Path, is_dir: bool) -> Verdict {
        let globs = &self.options.globs;
        if globs.is_empty() { Verdict::None } else { globs.matched(path, is_dir).into() }
    }

    fn by_type(&self, path: &Path, is_dir: bool) -> Verdict {
        let WalkOptions { types, types_only_leave_out, .. } = self.options;
        let verdict = if types.is_empty() { Verdict::None } else { types.matched(path, is_dir).into() };
        let is_left_out = verdict == Verdict::Skip && (is_dir || path.extension().is_some());
        if *types_only_leave_out && !is_left_out { Verdict::None } else { verdict }
    }

    /// Applies the filters that depend on more than the name of a file.
    fn is_file_wanted(
        &self,
        directory: &Directory,
        listing: &Listing,
        entry: &DirEntry,
        path: &[u8],
    ) -> bool {
        // An archive is opened in any case: `selects_member` matches the paths of its members.
        let unmatched = |regex: &Regex| !regex.is_match(path) && !self.may_be_archive(listing.name(entry));
        if self.options.file_regex.as_ref().is_some_and(unmatched) {
            return false;
        }
        // Inodes come with the listing, so that only a file with the inode of the output needs a `stat`.
        let may_be_output = self.output.is_some_and(|output| output.inode == entry.inode);
        let WalkOptions { max_filesize, modified, .. } = self.options;
        if max_filesize.is_none() && modified.is_none() && !may_be_output {
            return true;
        }
        // A file without readable metadata is opened all the same, so that the error is reported.
        let Ok(stat) = statat(&directory.fd, listing.c_name(entry), AtFlags::empty()) else { return true };
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        max_filesize.is_none_or(|max| size <= max)
            && modified.as_ref().is_none_or(|range| range.contains(&modification_of(&stat)))
            && self.output != Some(identity_of(&stat))
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Directory {
    /// Lists all entries: from a snapshot, if the directory is proven to be unchanged.
    fn list(&mut self, buffer: &mut Vec<u8>) -> io::Result<Listing> {
        if self.known.is_none() {
            return Ok(list(&self.fd, buffer)?);
        }
        let (known, stamp) = self.remembered();
        if stamp.is_some() {
            return Ok(known);
        }
        // It may be open as a [`PLACE`], which cannot be listed.
        self.fd = reopened(&self.fd)?;
        let mut listing = list(&self.fd, buffer)?;
        listing.recognize(&known);
        let has_same = |name: &str| known.contains(name.as_bytes()) == listing.contains(name.as_bytes());
        // `known_rules` has already compared the rules of a named directory.
        let has_same_names = RULE_FILES.into_iter().chain(REPOSITORY_NAMES).all(has_same);
        self.has_known_rules &= has_same_names || self.is_named();
        Ok(listing)
    }

    /// The entries that a snapshot knows, and the present stamp if it proves that there are no others.
    fn remembered(&self) -> (Listing, Option<Stamp>) {
        let mut known = Listing::default();
        let Some((snapshot, number)) = &self.known else { return (known, None) };
        known.reserve(snapshot.entry_count(*number));
        let stamp = snapshot.list(*number, &mut |entry| known.push_known(entry));
        (known, stamp.filter(|&stamp| Stamp::of_open(&self.fd).is_ok_and(|present| present == stamp)))
    }

    /// All entries, selected or not, and the stamp that proves them; `None` if no snapshot has them.
    pub(crate) fn known_listing(&self) -> Option<(Listing, Stamp)> {
        let (known, stamp) = self.remembered();
        Some((known, stamp?))
    }

    /// Whether a short read means the end of a file.
    pub(crate) fn short_read_is_end(&self) -> bool {
        *self.short_read_is_end.get_or_init(|| short_read_is_end(&self.fd))
    }

    /// Whether it is in a snapshot.
    pub(crate) fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// Knowledge of a file of this directory; `None` if the directory is in no snapshot.
    pub(crate) fn known(&self, entry: &DirEntry) -> Option<Known> {
        self.is_known()
            .then(|| self.numbered(entry).map_or(Known::Nothing, |(snapshot, number)| snapshot.file(number)))
    }

    /// The snapshot that knows a file of this directory, and its number there.
    fn numbered(&self, entry: &DirEntry) -> Option<(&dyn Snapshot, u32)> {
        let (snapshot, _) = self.known.as_ref()?;
        Some((&**snapshot, entry.known.filter(|_| !entry.is_linked)?))
    }

    /// The parts of a candidate that may hold a match, and the stamp with which they do, if a snapshot knows them.
    pub(crate) fn known_parts(&self, entry: &DirEntry) -> Option<(Stamp, Vec<TextPart>)> {
        let (snapshot, number) = self.numbered(entry)?;
        let parts = snapshot.parts(number)?;
        Some((snapshot.stamp(number)?, parts))
    }

    /// The present stamp of an entry, that of the link itself for a symbolic link.
    ///
    /// # Errors
    /// If its metadata cannot be read.
    pub(crate) fn stamp_of(&self, entry: &DirEntry) -> io::Result<Stamp> {
        self.stamp_at(self.listing.c_name(entry))
    }

    fn stamp_at(&self, name: &CStr) -> io::Result<Stamp> {
        Ok(Stamp::of(&statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Opens a file of this directory.
    ///
    /// # Errors
    /// If it cannot be opened, or has become a symbolic link and links are not followed.
    pub(crate) fn open(&self, entry: &DirEntry, follow: bool) -> io::Result<OwnedFd> {
        // If it has become a pipe, opening it would block until it has a writer.
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        if !follow {
            flags |= OFlags::NOFOLLOW;
        }
        let file = openat(self.fd.as_fd(), self.listing.c_name(entry), flags, Mode::empty())?;
        if let Some((snapshot, number)) = self.numbered(entry) {
            snapshot.opened(number, file.as_fd());
        }
        Ok(file)
    }

    /// The sort key of a file; `None` if it cannot be read.
    pub(crate) fn sort_key(&self, entry: &DirEntry, key: SortKey) -> Option<SortValue> {
        SortValue::at(&self.fd, self.listing.c_name(entry), key)
    }

    /// An entry as a source.
    pub(crate) fn source_of(&self, entry: &DirEntry) -> Source {
        let path = [&self.prefix, self.listing.name(entry)].concat();
        Source::found(self.argument, as_path(&path).to_owned())
    }

    /// Identity of a file.
    ///
    /// # Errors
    /// If its metadata cannot be read.
    pub(crate) fn identity_of(&self, entry: &DirEntry, follow: bool) -> io::Result<FileIdentity> {
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        Ok(identity_of(&statat(&self.fd, self.listing.c_name(entry), flags)?))
    }

    /// Size of a file in bytes; 0 if it cannot be read.
    pub(crate) fn size_of(&self, entry: &DirEntry) -> u64 {
        let stat = statat(&self.fd, self.listing.c_name(entry), AtFlags::empty());
        stat.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
    }

    /// Whether it was named, not found below another.
    pub(crate) fn is_named(&self) -> bool {
        self.depth == 0
    }

    /// The directory as a source.
    pub(crate) fn source(&self) -> Source {
        let path = self.prefix.strip_suffix(b"/").unwrap_or(&self.prefix);
        Source::found(self.argument, as_path(if path.is_empty() { b"." } else { path }).to_owned())
    }

    /// The directory and its ancestors, deepest first.
    fn ancestors(&self) -> impl Iterator<Item = &Trail> {
        std::iter::successors(self.trail.as_deref(), |trail| trail.above.as_deref())
    }

    /// Adds this directory to its trail. Reports a symlink loop and returns `false` if a link led to a directory of the
    /// trail.
    fn extend_trail(&mut self, is_linked: bool, problems: &mut Problems) -> io::Result<bool> {
        let identity = identity_of(&fstat(&self.fd)?);
        // Only a link can lead back to an ancestor.
        if is_linked && let Some(trail) = self.ancestors().find(|trail| trail.identity == identity) {
            let ancestor = as_path(&trail.path).to_owned();
            problems.add(&self.source(), ProblemKind::Loop(ancestor));
            return Ok(false);
        }
        let path = self.source().path().map(|path| path.as_os_str().as_bytes().to_vec()).unwrap_or_default();
        self.trail = Some(Arc::new(Trail { identity, path, above: self.trail.take() }));
        Ok(true)
    }
}

/// Sort key of a file: a time in seconds and nanoseconds, or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortValue(i64, u32);

impl SortValue {
    /// The sort key of a file; `None` if it cannot be read.
    pub(crate) fn of(path: &Path, key: SortKey) -> Option<Self> {
        Self::at(CWD, path, key)
    }

    /// The sort key of a file with this stamp; `None` if the stamp does not hold it.
    pub(crate) fn of_stamp(stamp: &Stamp, key: SortKey) -> Option<Self> {
        match key {
            SortKey::Modified => Some(Self(stamp.modified.seconds, stamp.modified.nanoseconds)),
            SortKey::Size => Some(Self::of_size(stamp.size)),
            SortKey::Path | SortKey::Accessed | SortKey::Created => None,
        }
    }

    #[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
    fn at(directory: impl AsFd, name: impl rustix::path::Arg, key: SortKey) -> Option<Self> {
        match key {
            SortKey::Path => None,
            SortKey::Created => {
                created(directory, name).map(|(seconds, nanoseconds)| Self(seconds, nanoseconds))
            }
            SortKey::Accessed => {
                let stat = statat(directory, name, AtFlags::empty()).ok()?;
                Some(Self(stat.st_atime as i64, stat.st_atime_nsec as u32))
            }
            SortKey::Modified | SortKey::Size => {
                Self::of_stamp(&Stamp::of(&statat(directory, name, AtFlags::empty()).ok()?), key)
            }
        }
    }

    /// No file has more than 2^63 bytes.
    pub(crate) fn of_size(bytes: u64) -> Self {
        Self(i64::try_from(bytes).unwrap_or(i64::MAX), 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;
    use std::{fs, thread};

    use super::*;

    #[test]
    fn a_pipe_that_has_replaced_a_directory_is_refused_without_waiting_for_a_writer() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (done, opened) = mpsc::channel();
        thread::spawn(move || {
            let options = WalkOptions::default();
            let walk = WalkContext::new(&options, false, &mut Vec::new());
            let (mut scratch, mut problems) = (Scratch::default(), Problems::default());
            let opened = walk.open_named(0, &pipe, &pipe, &mut scratch, &mut problems);
            let _ = done.send(opened.map(drop).map_err(|error| error.kind()));
        });
        let opened = opened.recv_timeout(Duration::from_secs(10));
        assert_eq!(opened, Ok(Err(io::ErrorKind::NotADirectory)));
    }

    #[test]
    fn files_are_sorted_by_the_time_of_creation_where_it_is_known() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let since = |time: std::time::SystemTime| {
            let time = time.duration_since(std::time::UNIX_EPOCH).unwrap();
            SortValue(time.as_secs() as i64, time.subsec_nanos())
        };
        let metadata = fs::metadata(file.path()).unwrap();
        assert_eq!(SortValue::of(file.path(), SortKey::Created), metadata.created().ok().map(since));
        assert_eq!(SortValue::of(file.path(), SortKey::Modified), metadata.modified().ok().map(since));
    }
}
