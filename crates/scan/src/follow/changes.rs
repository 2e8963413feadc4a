//! Waiting for changes of followed files and directories.
//!
//! The kernel reports them. Where it cannot (other systems than Linux, file systems of other machines, no more watches), files are looked
//! at once a second.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{self, Path};
use std::time::Duration;

use finecomb_sys::file_system::{reports_changes, reports_changes_in};
use finecomb_sys::notify::{Event, Kinds, ReportQueue};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::generations::Place;
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

    /// Watches a directory, if there is one. Returns the number of the watch.
    pub(super) fn watch_directory(&mut self, path: &Path, scope: WatchedChanges) -> Option<i32> {
        let queue = self.queue.as_ref()?;
        let kinds = match scope {
            WatchedChanges::Names => NAMES,
            WatchedChanges::Files => NAMES | Kinds::MODIFY | Kinds::EXCLUDE_REMOVED,
            WatchedChanges::Own => Kinds::MOVE_SELF | Kinds::DELETE_SELF,
        };
        // The same directory may be watched for both.
        let kinds = kinds | Kinds::ONLY_DIRECTORIES | Kinds::ADD;
        let watch = reports_changes_in(path)
            .and_then(|is_reported| is_reported.then(|| queue.watch(path, kinds)).transpose());
        let is_missing =
            |error: io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        match watch {
            Ok(Some(watch)) => return Some(watch),
            Ok(None) => self.must_poll = true,
            // A directory that is not there is noticed where its name is watched.
            Err(error) => self.must_poll |= !is_missing(error),
        }
        None
    }

    /// Watches the way to a path: the names in the last directory, in directories with symbolic links, and in the directories of
    /// their targets; and whether any directory on the way is renamed. Returns the place of the last target.
    pub(super) fn watch_path(&mut self, path: &Path) -> Option<Place> {
        let absolute = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (mut next, mut target, mut followed) = (Some(absolute), None, 0);
        while let Some(way) = next.take() {
            let watch = self.watch_directory(parent(&way), WatchedChanges::Names);
            let name = way.file_name().unwrap_or_default().as_bytes().to_vec();
            target = watch.map(|watch| Place { watch, name });
            for place in way.ancestors() {
                let Ok(to) = fs::read_link(place) else {
                    if place != way {
                        self.watch_directory(place, WatchedChanges::Own);
                    }
                    continue;
                };
                self.watch_directory(parent(place), WatchedChanges::Names);
                let rest = way.strip_prefix(place).unwrap_or(Path::new(""));
                followed += 1;
                next = (followed <= MAX_LINKS).then(|| parent(place).join(to).join(rest));
                break;
            }
        }
        target
    }

    /// Watches the contents of an open file under any name.
    pub(super) fn watch_file(&mut self, file: &File) {
        let Some(queue) = &self.queue else { return };
        // Its path may be that of another file by now.
        let kinds = Kinds::MODIFY | Kinds::ATTRIB | Kinds::ADD;
        self.must_poll |= !reports_changes(file) || queue.watch_open(file, kinds).is_err();
    }

    /// Whether names may have changed without a report.
    pub(super) fn must_poll(&self) -> bool {
        self.must_poll
    }

    /// Time after which files must be looked at even if no change is reported.
    pub(super) fn poll_interval(&self) -> Option<Duration> {
        self.must_poll.then_some(POLL_INTERVAL)
    }

    /// Takes the reported changes, in their order.
    pub(super) fn take(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(queue) = &self.queue {
            while queue.take(&mut events).unwrap_or(false) {}
        }
        events
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn writes_to_a_removed_file_are_not_those_of_the_next_one_of_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.log");
        let mut changes = Changes::new();
        let watch = changes.watch_directory(directory.path(), WatchedChanges::Files);
        assert_eq!(watch.is_some(), finecomb_sys::IS_LINUX);
        if watch.is_none() {
            return;
        }
        let mut writer = File::create(&path).expect("room");
        writer.write_all(b"1\n").expect("room");
        fs::remove_file(&path).expect("a file");
        File::create(&path).expect("room");
        writer.write_all(b"2\n").expect("room");
        let kinds: Vec<Kinds> = changes.take().iter().map(|event| event.kinds).collect();
        assert_eq!(kinds, [Kinds::CREATE, Kinds::MODIFY, Kinds::DELETE, Kinds::CREATE]);
    }
}
