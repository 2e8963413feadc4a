//! Waiting for changes of followed files and directories.
//!
//! The kernel reports them. Where it cannot (other systems than Linux, file systems of other machines, no more watches), files are looked
//! at once a second.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::BorrowedFd;
use std::path::{self, Path};
use std::time::Duration;

use finecomb_sys::file_system::{reports_changes, reports_changes_in};
use finecomb_sys::notify::{Kinds, ReportQueue};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::stop::Stop;

/// Time between two looks at files whose changes are not reported.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 1000 });

const NAMES: Kinds = Kinds::CREATE
    .union(Kinds::MOVED_FROM)
    .union(Kinds::MOVED_TO)
    .union(Kinds::DELETE)
    .union(Kinds::DELETE_SELF)
    .union(Kinds::MOVE_SELF);

/// Reports of changes.
pub(super) struct Changes {
    queue: Option<ReportQueue>,
    /// Set if some changes are not reported.
    must_poll: bool,
}

/// Changes that are watched at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchedChanges {
    /// The names in a directory.
    Names,
    /// The names in a directory and the contents of the files.
    Files,
    /// The name of a directory.
    Own,
}

/// Maximum number of symbolic links that are followed to a path, as in the kernel.
const MAX_LINKS: usize = 40;

impl Changes {
    pub(super) fn new() -> Self {
        let queue = ReportQueue::new().ok();
        Self { must_poll: queue.is_none(), queue }
    }

    /// Watches a directory, if there is one.
    pub(super) fn watch_directory(&mut self, path: &Path, scope: WatchedChanges) {
        let Some(queue) = &self.queue else { return };
        let kinds = match scope {
            WatchedChanges::Names => NAMES,
            WatchedChanges::Files => NAMES | Kinds::MODIFY,
            WatchedChanges::Own => Kinds::MOVE_SELF | Kinds::DELETE_SELF,
        };
        // The same directory may be watched for both.
        let kinds = kinds | Kinds::ONLY_DIRECTORIES | Kinds::ADD;
        let is_reported = reports_changes_in(path)
            .and_then(|is_reported| Ok(is_reported && queue.watch(path, kinds).map(|_| true)?));
        // A directory that is not there is noticed where its name is watched.
        self.must_poll |= !is_reported
            .unwrap_or_else(|error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory));
    }

    /// Watches the way to a path: the names in the last directory, in directories with symbolic links, and in the directories of
    /// their targets; and whether any directory on the way is renamed.
    pub(super) fn watch_path(&mut self, path: &Path) {
        let absolute = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut ways = vec![absolute];
        for followed in 0.. {
            let Some(way) = ways.pop() else { return };
            self.watch_directory(parent(&way), WatchedChanges::Names);
            for place in way.ancestors() {
                let Ok(target) = fs::read_link(place) else {
                    if place != way {
                        self.watch_directory(place, WatchedChanges::Own);
                    }
                    continue;
                };
                self.watch_directory(parent(place), WatchedChanges::Names);
                let rest = way.strip_prefix(place).unwrap_or(Path::new(""));
                if followed < MAX_LINKS {
                    ways.push(parent(place).join(target).join(rest));
                }
                break;
            }
        }
    }

    /// Watches the contents of an open file under any name.
    pub(super) fn watch_file(&mut self, file: &File) {
        let Some(queue) = &self.queue else { return };
        // Its path may be that of another file by now.
        let kinds = Kinds::MODIFY | Kinds::ATTRIB | Kinds::ADD;
        self.must_poll |= !reports_changes(file) || queue.watch_open(file, kinds).is_err();
    }

    /// Time after which files must be looked at even if no change is reported.
    pub(super) fn poll_interval(&self) -> Option<Duration> {
        self.must_poll.then_some(POLL_INTERVAL)
    }

    /// Takes the reported changes. Returns `true` if names may have changed: files may have been created, renamed or
    /// removed.
    pub(super) fn take(&mut self) -> bool {
        let Some(queue) = &self.queue else { return true };
        let mut events = Vec::new();
        while queue.take(&mut events).unwrap_or(false) {}
        self.must_poll || events.iter().any(|event| event.kinds != Kinds::MODIFY)
    }

    /// Waits until a change is reported, an input is readable, the job has been asked to end, or the time is over.
    pub(super) fn wait(&self, stop: Option<&Stop>, inputs: &[BorrowedFd<'_>], time: Option<Duration>) {
        let mut waiting: Vec<PollFd<'_>> =
            inputs.iter().map(|input| PollFd::from_borrowed_fd(*input, PollFlags::IN)).collect();
        waiting.extend(self.queue.iter().map(|queue| PollFd::new(queue, PollFlags::IN)));
        waiting.extend(stop.map(|stop| PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN)));
        let time = time.map(|time| Timespec::try_from(time).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 }));
        // If it fails, the next look at the files comes too early.
        let _ = poll(&mut waiting, time.as_ref());
    }
}

/// The directory with the name at this path.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    }
}
