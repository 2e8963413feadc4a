//! Proofs that directories and files are unchanged, which hold until the kernel reports an event.
//!
//! Each directory and each file is watched by its inode, so a write through any of its names is reported, and so is a new link to
//! it. Stores to a map of a file are not reported. But a file has to be opened before it is mapped, and that is reported. So a file
//! is proven when
//! 1. it is watched;
//! 2. then, a read lease shows that it has no writer;
//! 3. then, its stamp is that of the catalog;
//! 4. then, no event is in the queue but that of being opened, by this process or by readers;
//! 5. and then, the lease is still whole.
//!
//! Each later writer must open the file after that, and raises an event before it can store anything.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use finecomb_scan::Stamp;
use finecomb_sys::directory::PLACE;
use finecomb_sys::lease::Lease;
use finecomb_sys::notify::{Event, Kinds, ReportQueue};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use super::opened::OpenedFile;
use super::places::{DirectoryOrFile, FileId, key_of};
use super::watched::Watched;

/// Number of files that are leased at a time.
const BATCH: usize = 256;

const FILE_EVENTS: Kinds = Kinds::MODIFY
    .union(Kinds::ATTRIB)
    .union(Kinds::OPEN)
    .union(Kinds::CLOSE_WRITE)
    .union(Kinds::DELETE_SELF)
    .union(Kinds::MOVE_SELF);

const DIRECTORY_EVENTS: Kinds = Kinds::CREATE
    .union(Kinds::DELETE)
    .union(Kinds::MOVED_FROM)
    .union(Kinds::MOVED_TO)
    .union(Kinds::ATTRIB)
    .union(Kinds::DELETE_SELF)
    .union(Kinds::MOVE_SELF);

/// The proofs, and the watches that keep them.
pub(super) struct Proofs {
    queue: ReportQueue,
    keys: HashMap<i32, FileId>,
    watches: HashMap<FileId, i32>,
    /// Everything that is not proven.
    pub(super) unproven: BTreeSet<DirectoryOrFile>,
    /// The unproven items without an attempt at a proof since the last event.
    pending: BTreeSet<DirectoryOrFile>,
    /// Number of times that all proofs were given up.
    pub(super) doubts: u64,
    /// Number of overflows of the queue of events.
    pub(super) overflows: u64,
    /// Set if the system allows no more watches.
    pub(super) is_at_limit: bool,
}

/// Events that were taken from the queue.
#[derive(Default)]
pub(super) struct Drained {
    /// Directories and files with more than the event of being opened.
    pub(super) changed: HashSet<DirectoryOrFile>,
    /// Whether there were events.
    pub(super) any: bool,
}

/// Something that is watched and as in the catalog, with a lease if it is a file.
pub(super) type Held = (DirectoryOrFile, Option<Lease<OwnedFd>>);

/// Why something cannot be proven.
enum Doubt {
    /// It has changed.
    Changed,
    /// It has a writer, or the system does not report writers.
    Untold,
}

impl From<Errno> for Doubt {
    fn from(error: Errno) -> Self {
        match error {
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Self::Changed,
            _ => Self::Untold,
        }
    }
}

impl Proofs {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            queue: ReportQueue::new()?,
            keys: HashMap::new(),
            watches: HashMap::new(),
            unproven: BTreeSet::new(),
            pending: BTreeSet::new(),
            doubts: 0,
            overflows: 0,
            is_at_limit: false,
        })
    }

    /// Readable when there are events.
    pub(super) fn queue(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }

    pub(super) fn watches(&self) -> usize {
        self.watches.len()
    }

    /// Number of directories and files without an attempt at a proof since the last event.
    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Gives up all proofs.
    pub(super) fn doubt_all(&mut self, now: &Watched) {
        self.doubts += 1;
        // Directories without a stamp as well: they have to be listed.
        let directories = (0..now.catalog.directories()).map(DirectoryOrFile::Directory);
        self.unproven = directories.chain(now.places.nodes()).collect();
        self.pending.clone_from(&self.unproven);
    }

    /// Switches to another catalog. Proofs of items with the same stamp remain.
    pub(super) fn move_to(&mut self, before: &Watched, now: &Watched) {
        let proven: HashSet<DirectoryOrFile> = before
            .places
            .nodes()
            .filter(|node| !self.unproven.contains(node) && before.stamp(*node).is_some())
            .collect();
        self.doubt_all(now);
        for node in now.places.nodes() {
            let Some(stamp) = now.stamp(node) else { continue };
            let is_same =
                |other: DirectoryOrFile| proven.contains(&other) && before.stamp(other) == Some(stamp);
            if before.places.with_key(key_of(stamp)).any(is_same) {
                self.unproven.remove(&node);
                self.pending.remove(&node);
            }
        }
        let gone: Vec<i32> = self
            .watches
            .iter()
            .filter(|&(&key, _)| now.places.with_key(key).next().is_none())
            .map(|(_, &watch)| watch)
            .collect();
        self.is_at_limit &= gone.is_empty();
        gone.into_iter().for_each(|watch| self.remove(watch));
    }

    fn remove(&mut self, watch: i32) {
        if let Some(key) = self.keys.remove(&watch) {
            self.watches.remove(&key);
            self.queue.unwatch(watch);
        }
    }

    /// Takes all events from the queue.
    ///
    /// # Errors
    /// If the queue cannot be read.
    pub(super) fn drain(&mut self, now: &Watched) -> io::Result<Drained> {
        let mut drained = Drained::default();
        let mut events = Vec::new();
        loop {
            let is_more = self.queue.take(&mut events)?;
            drained.any |= !events.is_empty();
            if events.iter().any(|event| event.kinds.contains(Kinds::OVERFLOW)) {
                self.start_over(now)?;
                drained.changed.extend(&self.unproven);
            }
            for event in events.drain(..) {
                self.take(event, now, &mut drained.changed);
            }
            if !is_more {
                return Ok(drained);
            }
        }
    }

    /// Begins with a new queue after events were lost. A lost event may have reported that a watch ended with its file, whose
    /// number may belong to another file by now: so no watch is valid any more.
    fn start_over(&mut self, now: &Watched) -> io::Result<()> {
        self.overflows += 1;
        self.queue = ReportQueue::new()?;
        self.keys.clear();
        self.watches.clear();
        self.is_at_limit = false;
        self.doubt_all(now);
        Ok(())
    }

    fn take(&mut self, event: Event, now: &Watched, changed: &mut HashSet<DirectoryOrFile>) {
        let Event { watch, kinds, name, .. } = event;
        // The attributes of an entry, which has a watch of its own.
        if name.is_some() && kinds.difference(Kinds::DIRECTORY) == Kinds::ATTRIB {
            return;
        }
        let Some(&key) = self.keys.get(&watch) else { return };
        for node in now.places.with_key(key) {
            self.unproven.insert(node);
            self.pending.insert(node);
            if kinds != Kinds::OPEN {
                changed.insert(node);
            }
        }
        if kinds.contains(Kinds::IGNORED) {
            self.keys.remove(&watch);
            self.watches.remove(&key);
        }
    }

    /// Tries to prove some of the pending items. Returns `true` if one of them differs from the catalog.
    ///
    /// # Errors
    /// If the queue cannot be read.
    pub(super) fn prove_some(&mut self, now: &Watched) -> io::Result<bool> {
        let batch: Vec<DirectoryOrFile> = self.pending.iter().take(BATCH).copied().collect();
        let mut is_changed = false;
        let (mut held, mut directory) = (Vec::new(), None);
        for &node in &batch {
            match self.hold(node, now, &mut directory) {
                Ok(lease) => held.push((node, lease)),
                Err(Doubt::Changed) => is_changed = true,
                Err(Doubt::Untold) => {}
            }
        }
        let Drained { changed, .. } = self.drain(now)?;
        for node in batch.iter().filter(|node| !changed.contains(node)) {
            // Being opened here is no reason to try again.
            self.pending.remove(node);
        }
        self.settle(held, &changed);
        Ok(is_changed)
    }

    /// Proves what is held, unless it had events meanwhile.
    pub(super) fn settle(&mut self, held: Vec<Held>, changed: &HashSet<DirectoryOrFile>) {
        for (node, lease) in held {
            if lease.is_none_or(|lease| lease.is_whole()) && !changed.contains(&node) {
                self.unproven.remove(&node);
                self.pending.remove(&node);
            }
        }
    }

    /// Watches those of the files that a search has opened which are as in the catalog. It has taken the leases, perhaps before they were
    /// watched: the leases must be whole until the files are proven.
    pub(super) fn hold_opened(&mut self, mut opened: Vec<OpenedFile>, now: &Watched) -> Vec<Held> {
        // Since all proofs were given up, the number may be that of another file, or its path lead to another one.
        opened.retain(|opened| opened.doubts == self.doubts);
        let hold = |OpenedFile { file, lease, .. }| {
            let stamp = now.plain(file)?.stamp;
            self.watch(lease.file(), stamp, FILE_EVENTS).and_then(|()| check(lease.file(), stamp)).ok()?;
            Some((DirectoryOrFile::File(file), Some(lease)))
        };
        opened.into_iter().filter_map(hold).collect()
    }

    /// Watches a directory or file that is as in the catalog, and takes a lease of a file. `directory` is the one of the
    /// last file.
    fn hold(
        &mut self,
        node: DirectoryOrFile,
        now: &Watched,
        directory: &mut Option<(u32, OwnedFd)>,
    ) -> Result<Option<Lease<OwnedFd>>, Doubt> {
        let way = PLACE | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match node {
            DirectoryOrFile::Directory(number) => {
                let stamp = now.catalog.stamp(number).ok_or(Doubt::Changed)?;
                let file = openat(CWD, now.path_of(number), way, Mode::empty())?;
                self.watch(&file, stamp, DIRECTORY_EVENTS)?;
                check(&file, stamp).map(|()| None)
            }
            DirectoryOrFile::File(number) => {
                let file = now.plain(number).ok_or(Doubt::Untold)?;
                let (parent, entry) = now.places.place_of(number);
                if directory.as_ref().is_none_or(|&(open, _)| open != parent) {
                    *directory = Some((parent, openat(CWD, now.path_of(parent), way, Mode::empty())?));
                }
                let Some((_, parent)) = directory else { return Err(Doubt::Untold) };
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
                let name = now.catalog.entry(entry).name;
                let opened = openat(parent, name, flags | OFlags::CLOEXEC, Mode::empty())?;
                self.watch(&opened, file.stamp, FILE_EVENTS)?;
                let lease = Lease::take(opened).map_err(|_| Doubt::Untold)?;
                check(lease.file(), file.stamp).map(|()| Some(lease))
            }
        }
    }

    /// Watches an open file or directory, unless the one with this stamp is watched.
    fn watch(&mut self, file: &OwnedFd, stamp: Stamp, events: Kinds) -> Result<(), Doubt> {
        if self.watches.contains_key(&key_of(stamp)) {
            return Ok(());
        }
        check(file, stamp)?;
        if self.is_at_limit {
            return Err(Doubt::Untold);
        }
        match self.queue.watch_open(file, events) {
            Ok(watch) => {
                self.keys.insert(watch, key_of(stamp));
                self.watches.insert(key_of(stamp), watch);
                Ok(())
            }
            Err(error) => {
                self.is_at_limit |= error.kind() == io::ErrorKind::StorageFull;
                Err(Doubt::Untold)
            }
        }
    }
}

/// Checks that an open file has a stamp.
fn check(file: impl AsFd, stamp: Stamp) -> Result<(), Doubt> {
    if Stamp::of_open(file).is_ok_and(|present| present == stamp) { Ok(()) } else { Err(Doubt::Changed) }
}
