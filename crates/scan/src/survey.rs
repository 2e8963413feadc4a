//! The first half of an index: lists a tree and reads its files, with the stamps that prove later that nothing has changed.
//!
//! A stamp proves something only if every later change gives another one. So it is taken before and after the reading, and a file
//! or directory is not trusted
//! - if it changed within a tick of the file system's clock, because it may change again without a new time (git calls this racy);
//! - if a process has the file open for writing, because stores to a map of it change its time only once in a while;
//! - on file systems with coarse or remote times, such as network file systems.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use finecomb_sys::file_system::{self, has_fine_clock};
use finecomb_sys::{ReadBuffer, has_writer, threads};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};

use crate::block::Source;
use crate::inputs::Inputs;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::snapshot::{Instant, Snapshot, Stamp};
use crate::source::reader::{FIRST_READ, Sniffed};
use crate::walk::directory::{Directory, Scratch, WalkContext, reopened};
use crate::walk::listing::{DirEntry, EntryKind, Listing, list};
use crate::walk::{RULE_FILES, WalkOptions, open_path};

/// Age from which a change counts as older than all later ones: the clock of file systems ticks every 10 ms at most.
pub const SETTLED_AFTER: Duration = Duration::from_millis(20);

/// The same on file systems that record whole seconds.
const SETTLED_AFTER_SECONDS: Duration = Duration::from_secs(2);

/// Why a stamp proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Distrust {
    /// The times of the file system are coarse, or come from elsewhere.
    FileSystem,
    /// It changed a moment ago, or while it was read.
    Fresh,
    /// It is open for writing.
    Writer,
    /// It cannot be read.
    Unreadable,
    /// It is larger than wanted.
    Large,
}

/// A directory of a tree.
#[derive(Debug)]
pub struct SurveyedDirectory {
    /// Path below the root, without slashes at its ends; empty for the root.
    pub path: Vec<u8>,
    /// The stamp with which its entries are complete; `None` if no stamp proves that.
    pub stamp: Option<Stamp>,
    /// The number of the [selection](Snapshot::selection); `None` if there is none, or the directory may have changed since its
    /// rules were read. Whether its rule files have is for the caller to find out: they have not if their stamps, taken later,
    /// had [settled](Stamp::has_settled) before the survey.
    pub selection: Option<u64>,
    /// All entries, in the order of the bytes of their names.
    pub entries: Vec<SurveyedEntry>,
}

/// An entry of a surveyed directory.
#[derive(Debug)]
pub struct SurveyedEntry {
    /// Name in the directory.
    pub name: CString,
    /// Kind, that of the link itself for a symbolic link.
    pub kind: EntryKind,
    /// Number in the file system.
    pub inode: u64,
    /// Whether the walk selects it.
    pub is_selected: bool,
    /// Number in the earlier snapshot, if it had the same place and kind.
    pub known: Option<u32>,
}

/// Lists a tree, each directory before its subdirectories. Directories that are unchanged since a snapshot from an earlier survey
/// are not listed anew. Directories that cannot be listed are reported, and left out.
pub fn survey(
    root: &Path,
    options: &WalkOptions,
    earlier: Option<Arc<dyn Snapshot>>,
) -> (Vec<SurveyedDirectory>, Vec<Problem>) {
    let mut notes = Vec::new();
    let began = now();
    let walk = WalkContext::new(options, false, &mut notes).with_snapshots(Vec::from_iter(earlier));
    let (mut scratch, mut problems) = (Scratch::default(), Problems::default());
    problems.add_rules(notes);
    let mut directories = Vec::new();
    match walk.open_named(0, root, Path::new(""), &mut scratch, &mut problems) {
        Ok(root) => survey_below(&walk, began, root, &mut directories, &mut scratch, &mut problems),
        Err(error) => problems.add(&Source::named(0, Some(root.to_owned())), ProblemKind::List(error)),
    }
    (directories, problems.into_sorted().collect())
}

/// Lists a directory and all below. A directory stays open while one of its subdirectories is still to be entered.
fn survey_below(
    walk: &WalkContext<'_>,
    began: Instant,
    root: Directory,
    directories: &mut Vec<SurveyedDirectory>,
    scratch: &mut Scratch,
    problems: &mut Problems,
) {
    let mut next = Some(root);
    let mut pending: Vec<(Arc<Directory>, usize)> = Vec::new();
    loop {
        if let Some(directory) = next.take() {
            match surveyed(walk, began, &directory, scratch) {
                Ok(surveyed) => directories.push(surveyed),
                Err(error) => problems.add(&directory.source(), ProblemKind::List(error)),
            }
            let directory = Arc::new(directory);
            let entries = directory.listing.entries();
            let below = (0..entries.len()).rev().filter(|&entry| entries[entry].kind == EntryKind::Directory);
            pending.extend(below.map(|entry| (Arc::clone(&directory), entry)));
        }
        let Some((parent, entry)) = pending.pop() else { return };
        let entry = &parent.listing.entries()[entry];
        match walk.enter(&parent, entry, scratch, problems) {
            Ok(directory) => next = directory,
            Err(error) => problems.add(&parent.source_of(entry), ProblemKind::List(error)),
        }
    }
}

fn surveyed(
    walk: &WalkContext<'_>,
    began: Instant,
    directory: &Directory,
    scratch: &mut Scratch,
) -> io::Result<SurveyedDirectory> {
    let (all, stamp) = match directory.known_listing() {
        Some((all, stamp)) => (all, Some(stamp)),
        None => list_stamped(directory, scratch)?,
    };
    let path = directory.prefix.strip_suffix(b"/").unwrap_or(&directory.prefix).to_vec();
    // Rules that are reported have to be read again.
    let has_selection = !directory.has_bad_rules
        && stamp.is_some_and(|stamp| stamp.has_settled(began))
        && !has_open_rules(directory, &all);
    let selection = walk.selection_of(directory).filter(|_| has_selection);
    Ok(SurveyedDirectory { path, stamp, selection, entries: marked(&all, &directory.listing) })
}

/// Whether a rule file is open for writing, so that it may have changed since it was read.
fn has_open_rules(directory: &Directory, all: &Listing) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = |name: &str| openat(directory, name, flags, Mode::empty());
    let mut files = RULE_FILES.iter().filter(|name| all.any_hidden && all.contains(name.as_bytes()));
    files.any(|name| open(name).is_ok_and(|file| has_writer(&file) == Some(true)))
}

/// Lists a directory, and returns the stamp with which its entries are complete, if there is one.
fn list_stamped(directory: &Directory, scratch: &mut Scratch) -> io::Result<(Listing, Option<Stamp>)> {
    // The walk has read the directory to its end, or not opened it for reading.
    let directory = reopened(directory)?;
    let now = now();
    let before = Stamp::of_open(&directory)?;
    let all = list(&directory, &mut scratch.buffer)?;
    let is_same = Stamp::of_open(&directory)? == before;
    let is_trusted = is_same && before.has_settled(now) && has_fine_clock(&directory);
    Ok((all, is_trusted.then_some(before)))
}

/// The entries of a listing, marked if they are also in another one.
fn marked(all: &Listing, selected: &Listing) -> Vec<SurveyedEntry> {
    let mut finder = selected.finder();
    let entry = |entry: &DirEntry| {
        let selected = finder.find(all.name(entry), entry.kind);
        SurveyedEntry {
            name: all.c_name(entry).to_owned(),
            kind: entry.kind,
            inode: entry.inode,
            is_selected: selected.is_some(),
            known: selected.map_or(entry.known, |selected| selected.known),
        }
    };
    all.entries().iter().map(entry).collect()
}

/// The time of the clock that file systems use.
pub fn now() -> Instant {
    let now = file_system::now();
    Instant { seconds: now.tv_sec, nanoseconds: u32::try_from(now.tv_nsec).unwrap_or_default() }
}

impl Stamp {
    /// Returns `true` if every change from `now` on has another time than this stamp.
    pub fn has_settled(self, now: Instant) -> bool {
        let after = if self.changed.nanoseconds == 0 { SETTLED_AFTER_SECONDS } else { SETTLED_AFTER };
        let nanoseconds =
            |time: Instant| i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds);
        nanoseconds(self.changed) + (after.as_nanos() as i128) < nanoseconds(now)
    }
}

/// A file to be read: a directory, its path as an absolute one, and a name in it.
#[derive(Clone, Copy, Debug)]
pub struct FileAt<'a> {
    /// Absolute path of the directory.
    pub directory: &'a Path,
    /// Name in the directory.
    pub name: &'a CStr,
}

/// A file that was read.
#[derive(Clone, Copy, Debug)]
pub struct Examined<'a> {
    /// The stamp with which it has this text.
    pub stamp: Stamp,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Offset of the text in them, after a byte order mark; `None` if it is compressed, or in another encoding.
    pub text_start: Option<usize>,
}

/// Takes in files in batches.
pub trait Examine: Send {
    /// Takes in a file, given its number and the number of its batch.
    ///
    /// # Errors
    /// If the job cannot continue.
    fn take(&mut self, batch: usize, file: usize, examined: Result<Examined<'_>, Distrust>)
    -> io::Result<()>;

    /// Ends a batch of files, given its number. The next one begins anywhere.
    ///
    /// # Errors
    /// If the job cannot continue.
    fn end_batch(&mut self, batch: usize) -> io::Result<()>;
}

/// Reads files of up to `limit` bytes, `batch` at a time, in `width` threads. A thread takes one batch after the other,
/// each from its first file to its last, and has the value of `make` for them.
///
/// # Errors
/// The first error of [`Examine`].
pub fn examine<E: Examine>(
    files: &[FileAt<'_>],
    batch: usize,
    limit: usize,
    width: usize,
    make: impl Fn() -> E + Sync,
) -> io::Result<Vec<E>> {
    let next = AtomicUsize::new(0);
    let batches = files.len().div_ceil(batch);
    let work = |_| {
        let mut examiner =
            Examiner { limit, opened: Opened::default(), buffer: ReadBuffer::new(), taker: make() };
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= batches {
                return Ok(examiner.taker);
            }
            let range = number * batch..files.len().min((number + 1) * batch);
            if let Err(error) = examiner.take_batch(files, range, number) {
                next.store(batches, Ordering::Relaxed);
                return Err(error);
            }
        }
    };
    let width = width.min(batches);
    threads::map(width, 0..width, work).into_iter().collect()
}

/// Returns which files still have the stamps that they had. `width` threads compare them.
pub fn compare(files: &[(FileAt<'_>, Stamp)], width: usize) -> Vec<bool> {
    let batch = files.len().div_ceil(16 * width.max(1)).max(64);
    threads::map(width, files.chunks(batch), compare_batch).concat()
}

fn compare_batch(files: &[(FileAt<'_>, Stamp)]) -> Vec<bool> {
    let mut opened = Opened::default();
    let mut is_same = |file, stamp| {
        let stat = statat(opened.directory(file)?, file.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Stamp::of(&stat) == stamp)
    };
    files.iter().map(|&(file, stamp)| is_same(file, stamp).unwrap_or_default()).collect()
}

/// The directory of the last file, which probably is that of the next.
#[derive(Default)]
struct Opened<'f>(Option<(&'f Path, Option<OwnedFd>)>);

impl<'f> Opened<'f> {
    /// Opens the directory of a file; `None` if that fails.
    fn directory(&mut self, file: FileAt<'f>) -> Option<&OwnedFd> {
        if self.0.as_ref().is_none_or(|(open, _)| *open != file.directory) {
            self.0 = Some((file.directory, open_path(file.directory).ok().map(OwnedFd::from)));
        }
        self.0.as_ref()?.1.as_ref()
    }
}

struct Examiner<'f, E> {
    limit: usize,
    opened: Opened<'f>,
    buffer: ReadBuffer,
    taker: E,
}

impl<'f, E: Examine> Examiner<'f, E> {
    fn take_batch(&mut self, files: &'f [FileAt<'f>], range: Range<usize>, batch: usize) -> io::Result<()> {
        for number in range {
            let directory = self.opened.directory(files[number]).ok_or(Distrust::Unreadable);
            let read = directory
                .and_then(|directory| read(directory, files[number].name, self.limit, &mut self.buffer));
            let examined =
                read.map(|(stamp, text_start)| Examined { stamp, bytes: &self.buffer, text_start });
            self.taker.take(batch, number, examined)?;
        }
        self.taker.end_batch(batch)
    }
}

/// Reads a file into a buffer. Returns its stamp, and the offset of its text if it is text.
fn read(
    directory: &OwnedFd,
    name: &CStr,
    limit: usize,
    buffer: &mut ReadBuffer,
) -> Result<(Stamp, Option<usize>), Distrust> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let file = openat(directory, name, flags, Mode::empty()).map_err(|_| Distrust::Unreadable)?;
    if !has_fine_clock(&file) {
        return Err(Distrust::FileSystem);
    }
    let now = now();
    if has_writer(&file) == Some(true) {
        return Err(Distrust::Writer);
    }
    let stat = fstat(&file).map_err(|_| Distrust::Unreadable)?;
    let stamp = Stamp::of(&stat);
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(Distrust::Unreadable);
    }
    let size = usize::try_from(stamp.size).ok().filter(|&size| size <= limit).ok_or(Distrust::Large)?;
    if !stamp.has_settled(now) {
        return Err(Distrust::Fresh);
    }
    let file = File::from(file);
    // One more byte shows whether the file has grown.
    buffer.restart(0);
    buffer.reserve(size + 1, size + 1);
    let length = buffer.fill_at(&file, 0..size + 1, 0).map_err(|_| Distrust::Unreadable)?;
    let after = Stamp::of_open(&file).map_err(|_| Distrust::Unreadable)?;
    if length != size || after != stamp {
        return Err(Distrust::Fresh);
    }
    buffer.truncate(size);
    let source = Source::found(0, Path::new(OsStr::from_bytes(name.to_bytes())).to_owned());
    let start = &buffer[..buffer.len().min(FIRST_READ)];
    // The inputs by default: compressed files count as such, and marks of encodings are obeyed.
    let text_start = match Sniffed::of(&Inputs::new([""]), &source, start) {
        Sniffed::Plain(start) => Some(start),
        Sniffed::Compressed(_) | Sniffed::Encoded => None,
    };
    Ok((stamp, text_start))
}
