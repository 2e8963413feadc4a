//! A directory on the way down: what in it is to be read.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, StatxFlags, StatxTimestamp, fstat, openat, statat, statx,
};

use super::listing::{Entry, Kind, Listing, list};
use super::rules::{Global, Rules, Verdict};
use super::{SortKey, WalkOptions};
use crate::block::{FileIdentity, Source};
use crate::problem::{ProblemKind, Problems};

/// What holds for all directories of a job.
pub(crate) struct Walk<'a> {
    pub(crate) options: &'a WalkOptions,
    global: Global,
    /// What standard output goes to, if that is a file: reading what one writes has no end.
    output: Option<FileIdentity>,
}

/// An open directory and what in it is to be read.
///
/// It is kept open for as long as something in it is still to be opened, so that nothing below is ever looked up by
/// its whole path, which may be longer than the kernel takes.
pub(crate) struct Directory {
    fd: OwnedFd,
    /// The number of the named input that it is below.
    pub(crate) argument: usize,
    /// Its path as it is printed, with a slash at the end unless it is empty.
    pub(crate) prefix: Vec<u8>,
    /// Its absolute path, without a slash at the end unless it is the root, and how long that of the named directory is.
    absolute: Vec<u8>,
    root: usize,
    rules: Option<Arc<Rules>>,
    depth: usize,
    /// Itself and the directories above it, as far as links are followed.
    trail: Option<Arc<Trail>>,
    /// Whether a read that gives less than was asked for is at the end of the file.
    pub(crate) short_read_is_end: bool,
    pub(crate) listing: Listing,
}

/// A directory and those above it.
struct Trail {
    identity: FileIdentity,
    path: Vec<u8>,
    above: Option<Arc<Trail>>,
}

/// Scratch memory of a worker.
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

fn device(directory: &OwnedFd) -> io::Result<u64> {
    Ok(identity_of(&fstat(directory)?).device)
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

impl<'a> Walk<'a> {
    /// Reads the rules that hold everywhere. What is wrong with them is added to `problems`.
    pub(crate) fn new(options: &'a WalkOptions, skip_output: bool, problems: &mut Vec<String>) -> Self {
        let output = fstat(rustix::stdio::stdout())
            .ok()
            .filter(|stat| skip_output && FileType::from_raw_mode(stat.st_mode).is_file())
            .map(|stat| identity_of(&stat));
        Self { options, global: Global::new(options, problems), output }
    }

    /// Opens a directory that was named, and lists it. `printed` is how its path is printed.
    ///
    /// # Errors
    /// When it cannot be opened or listed.
    pub(crate) fn named(
        &self,
        argument: usize,
        path: &Path,
        printed: &Path,
        scratch: &mut Scratch,
        problems: &mut Problems,
    ) -> io::Result<Directory> {
        let fd = openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let absolute = path.canonicalize().unwrap_or_else(|_| PathBuf::from("/"));
        let mut prefix = printed.as_os_str().as_bytes().to_vec();
        if !prefix.is_empty() && !prefix.ends_with(b"/") {
            prefix.push(b'/');
        }
        let mut notes = Vec::new();
        let above = self.global.above(&absolute, &mut notes);
        let source = Source::named(argument, Some(printed.to_owned()));
        for note in notes {
            problems.add(&source, ProblemKind::RuleAbove(note));
        }
        let absolute = absolute.into_os_string().into_encoded_bytes();
        let root = absolute.len();
        self.list(
            Directory::new(fd, argument, prefix, absolute, root, above, 0, None),
            false,
            scratch,
            problems,
        )
    }

    /// Opens a directory in a directory, and lists it. None if it is not to be gone into.
    ///
    /// # Errors
    /// When it cannot be opened or listed.
    pub(crate) fn enter(
        &self,
        parent: &Directory,
        entry: &Entry,
        scratch: &mut Scratch,
        problems: &mut Problems,
    ) -> io::Result<Option<Directory>> {
        let name = parent.listing.c_name(entry);
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if !self.options.follow {
            flags |= OFlags::NOFOLLOW;
        }
        let fd = openat(&parent.fd, name, flags, Mode::empty())?;
        let mut prefix = parent.path_of(entry);
        prefix.push(b'/');
        let mut absolute = parent.absolute.clone();
        if absolute != b"/" {
            absolute.push(b'/');
        }
        absolute.extend_from_slice(name.to_bytes());
        let (root, rules) = (parent.root, parent.rules.clone());
        let trail = parent.trail.clone();
        let directory =
            Directory::new(fd, parent.argument, prefix, absolute, root, rules, parent.depth + 1, trail);
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
        if self.options.follow && !directory.follow_trail(is_linked, problems)? {
            return Ok(directory);
        }
        let mut listing = list(&directory.fd, &mut scratch.buffer)?;
        let mut notes = Vec::new();
        directory.rules = self.global.listed(
            directory.rules.take(),
            &directory.fd,
            &directory.absolute,
            &directory.prefix,
            &listing,
            &mut notes,
        );
        for note in notes {
            problems.add(&directory.source(), ProblemKind::Rule(note));
        }
        scratch.path.clear();
        scratch.path.extend_from_slice(&directory.prefix);
        scratch.absolute.clear();
        scratch.absolute.extend_from_slice(&directory.absolute);
        if directory.absolute != b"/" {
            scratch.absolute.push(b'/');
        }
        listing.retain(|entry, name| self.wants(&directory, entry, name, scratch, problems));
        directory.listing = listing;
        Ok(directory)
    }

    /// Whether an entry is to be read or gone into. A link that is followed becomes what it leads to.
    fn wants(
        &self,
        directory: &Directory,
        entry: &mut Entry,
        name: &CStr,
        scratch: &mut Scratch,
        problems: &mut Problems,
    ) -> bool {
        if entry.kind == Kind::Other || entry.kind == Kind::Link && !self.options.follow {
            return false;
        }
        let Scratch { path, absolute, .. } = scratch;
        path.truncate(directory.prefix.len());
        path.extend_from_slice(name.to_bytes());
        if entry.kind == Kind::Link {
            match statat(&directory.fd, name, AtFlags::empty()) {
                Ok(stat) => {
                    entry.kind = Kind::of(FileType::from_raw_mode(stat.st_mode));
                    entry.is_linked = true;
                }
                Err(error) => {
                    let source = Source::found(directory.argument, as_path(path).to_owned());
                    problems.add(&source, ProblemKind::Open(error.into()));
                    return false;
                }
            }
        }
        let is_dir = match entry.kind {
            Kind::File => false,
            Kind::Directory => true,
            Kind::Link | Kind::Other => return false,
        };
        absolute.truncate(directory.absolute.len() + usize::from(directory.absolute != b"/"));
        absolute.extend_from_slice(name.to_bytes());
        let passes = self.passes(directory, path, absolute, name, is_dir);
        if is_dir && entry.is_linked && !passes {
            // Those that pass are looked at when they are entered.
            self.report_loop(directory, name, problems);
        }
        passes && (is_dir || self.wants_file(directory, entry, path, name))
    }

    /// Says of a link that is passed over whether it leads to a directory above it.
    fn report_loop(&self, directory: &Directory, name: &CStr, problems: &mut Problems) {
        let Ok(stat) = statat(&directory.fd, name, AtFlags::empty()) else { return };
        let identity = identity_of(&stat);
        if let Some(trail) = directory.above().find(|trail| trail.identity == identity) {
            let ancestor = as_path(&trail.path).to_owned();
            let path = [&directory.prefix, name.to_bytes()].concat();
            problems.add(
                &Source::found(directory.argument, as_path(&path).to_owned()),
                ProblemKind::Loop(ancestor),
            );
        }
    }

    /// What globs, rules, types and the dot at the beginning of a name say, in this order: the first that has an
    /// opinion decides, but a file type is asked even where a rule says that a file is to be read.
    fn passes(&self, directory: &Directory, path: &[u8], absolute: &[u8], name: &CStr, is_dir: bool) -> bool {
        let path = as_path(path.strip_prefix(b"./").unwrap_or(path));
        if !self.options.globs.is_empty() {
            match self.options.globs.matched(path, is_dir).into() {
                Verdict::Nothing => {}
                verdict => return verdict == Verdict::Read,
            }
        }
        let by_rules = self.global.judge(directory.rules.as_deref(), directory.root, absolute, path, is_dir);
        if by_rules == Verdict::PassOver {
            return false;
        }
        let by_type = match self.options.types.is_empty() {
            true => Verdict::Nothing,
            false => self.options.types.matched(path, is_dir).into(),
        };
        if by_type == Verdict::PassOver {
            return false;
        }
        let is_hidden = self.options.skip_hidden && name.to_bytes().starts_with(b".");
        !is_hidden || by_rules == Verdict::Read || by_type == Verdict::Read
    }

    /// What speaks for or against a file besides its name.
    fn wants_file(&self, directory: &Directory, entry: &Entry, path: &[u8], name: &CStr) -> bool {
        if self.options.file_regex.as_ref().is_some_and(|regex| !regex.is_match(path)) {
            return false;
        }
        let may_be_output = self.output.is_some_and(|output| output.inode == entry.inode);
        if self.options.max_filesize.is_none() && !may_be_output {
            return true;
        }
        // Who cannot be asked is tried, so that the reason is told.
        let Ok(stat) = statat(&directory.fd, name, AtFlags::empty()) else { return true };
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        self.options.max_filesize.is_none_or(|max| size <= max) && self.output != Some(identity_of(&stat))
    }
}

impl Directory {
    #[allow(clippy::too_many_arguments, reason = "each is a field, and there are two callers")]
    fn new(
        fd: OwnedFd,
        argument: usize,
        prefix: Vec<u8>,
        absolute: Vec<u8>,
        root: usize,
        rules: Option<Arc<Rules>>,
        depth: usize,
        trail: Option<Arc<Trail>>,
    ) -> Self {
        let short_read_is_end = short_read_is_end(&fd);
        let listing = Listing::default();
        Self { fd, argument, prefix, absolute, root, rules, depth, trail, short_read_is_end, listing }
    }

    /// The path of one of its entries, as it is printed.
    pub(crate) fn path_of(&self, entry: &Entry) -> Vec<u8> {
        let name = self.listing.name(entry);
        let mut path = Vec::with_capacity(self.prefix.len() + name.len() + 1);
        path.extend_from_slice(&self.prefix);
        path.extend_from_slice(name);
        path
    }

    /// Opens one of its files.
    ///
    /// # Errors
    /// When that fails, also because it is a link and no file any more.
    pub(crate) fn open(&self, entry: &Entry, follow: bool) -> io::Result<OwnedFd> {
        // Were it a pipe by now, opening it would wait for somebody to write to it.
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        if !follow {
            flags |= OFlags::NOFOLLOW;
        }
        Ok(openat(self.fd.as_fd(), self.listing.c_name(entry), flags, Mode::empty())?)
    }

    /// What one of its files is sorted by; none if it cannot be had.
    pub(crate) fn sort_key(&self, entry: &Entry, key: SortKey) -> Option<SortValue> {
        SortValue::at(&self.fd, self.listing.c_name(entry), key)
    }

    /// One of its entries as a source.
    pub(crate) fn source_of(&self, entry: &Entry) -> Source {
        Source::found(self.argument, as_path(&self.path_of(entry)).to_owned())
    }

    /// Size of one of its files in bytes; 0 if that cannot be had.
    pub(crate) fn size_of(&self, entry: &Entry) -> u64 {
        let stat = statat(&self.fd, self.listing.c_name(entry), AtFlags::empty());
        stat.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0))
    }

    fn source(&self) -> Source {
        let path = self.prefix.strip_suffix(b"/").unwrap_or(&self.prefix);
        Source::found(self.argument, as_path(if path.is_empty() { b"." } else { path }).to_owned())
    }

    /// The directories of the trail, from the deepest up.
    fn above(&self) -> impl Iterator<Item = &Trail> {
        std::iter::successors(self.trail.as_deref(), |trail| trail.above.as_deref())
    }

    /// Adds itself to the trail. False, with a word about it, if a link has led to what is there already: links then
    /// lead in a circle.
    fn follow_trail(&mut self, is_linked: bool, problems: &mut Problems) -> io::Result<bool> {
        let identity = identity_of(&fstat(&self.fd)?);
        if is_linked && let Some(trail) = self.above().find(|trail| trail.identity == identity) {
            let ancestor = as_path(&trail.path).to_owned();
            problems.add(&self.source(), ProblemKind::Loop(ancestor));
            return Ok(false);
        }
        let path = self.source().path().map(|path| path.as_os_str().as_bytes().to_vec()).unwrap_or_default();
        self.trail = Some(Arc::new(Trail { identity, path, above: self.trail.take() }));
        Ok(true)
    }
}

/// What a file is sorted by: a time in seconds and nanoseconds, or a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortValue(i64, u32);

impl SortValue {
    /// What a file is sorted by; none if it cannot be had.
    pub(crate) fn of(path: &Path, key: SortKey) -> Option<Self> {
        Self::at(CWD, path, key)
    }

    fn at(directory: impl AsFd, name: impl rustix::path::Arg, key: SortKey) -> Option<Self> {
        if key == SortKey::Path {
            return None;
        }
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let stat = statx(directory, name, AtFlags::empty(), wanted).ok()?;
        let time = |time: StatxTimestamp| Self(time.tv_sec, time.tv_nsec);
        match key {
            SortKey::Path => None,
            SortKey::Modified => Some(time(stat.stx_mtime)),
            SortKey::Accessed => Some(time(stat.stx_atime)),
            SortKey::Created if stat.stx_mask & StatxFlags::BTIME.bits() == 0 => None,
            SortKey::Created => Some(time(stat.stx_btime)),
            SortKey::Size => i64::try_from(stat.stx_size).ok().map(|size| Self(size, 0)),
        }
    }
}

/// Whether files of this directory end where a read gives less than was asked for. So it is on the file systems that
/// store what they give; others, as that of `/proc`, may give a file piece by piece.
#[cfg(target_os = "linux")]
fn short_read_is_end(directory: &OwnedFd) -> bool {
    /// From `linux/magic.h`, and from the sources of XFS and ZFS.
    const EXT: u64 = 0xEF53;
    const XFS: u64 = 0x5846_5342;
    const BTRFS: u64 = 0x9123_683E;
    const F2FS: u64 = 0xF2F5_2010;
    const TMPFS: u64 = 0x0102_1994;
    const OVERLAY: u64 = 0x794C_7630;
    const ZFS: u64 = 0x2FC1_2FC1;
    let Ok(status) = rustix::fs::fstatfs(directory) else { return false };
    #[allow(clippy::unnecessary_cast, reason = "the type differs between architectures")]
    let magic = status.f_type as u64;
    [EXT, XFS, BTRFS, F2FS, TMPFS, OVERLAY, ZFS].contains(&magic)
}

#[cfg(not(target_os = "linux"))]
fn short_read_is_end(_directory: &OwnedFd) -> bool {
    false
}
