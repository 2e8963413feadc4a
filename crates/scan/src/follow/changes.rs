//! Waiting for changes of followed files and directories.
//!
//! On Linux, inotify reports them. Where it cannot (other systems, file systems of other machines, no more watches), files are looked
//! at once a second.

use std::fs::{self, File};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{self, Path};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::stop::Stop;

/// Time between two looks at files whose changes are not reported.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Reports of changes.
pub(super) struct Changes {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing reports changes there"))]
    notifier: Option<OwnedFd>,
    /// Set if some changes are not reported.
    must_poll: bool,
}

/// Changes that are watched at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
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
        let notifier = system::notifier();
        Self { must_poll: notifier.is_none(), notifier }
    }

    /// Watches a directory, if there is one.
    pub(super) fn watch_directory(&mut self, path: &Path, scope: Scope) {
        self.must_poll |= !system::watch_directory(self.notifier.as_ref(), path, scope);
    }

    /// Watches the way to a path: the names in the last directory, in those with symbolic links, and in those of their targets; and
    /// whether any directory on the way gets another name.
    pub(super) fn watch_path(&mut self, path: &Path) {
        let absolute = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut ways = vec![absolute];
        for followed in 0.. {
            let Some(way) = ways.pop() else { return };
            self.watch_directory(parent(&way), Scope::Names);
            for place in way.ancestors() {
                let Ok(target) = fs::read_link(place) else {
                    if place != way {
                        self.watch_directory(place, Scope::Own);
                    }
                    continue;
                };
                self.watch_directory(parent(place), Scope::Names);
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
        self.must_poll |= !system::watch_file(self.notifier.as_ref(), file);
    }

    /// Time after which files must be looked at even if no change is reported.
    pub(super) fn poll_interval(&self) -> Option<Duration> {
        self.must_poll.then_some(POLL_INTERVAL)
    }

    /// Takes the reported changes. Returns `true` if names may have changed: files may have been created, renamed or
    /// removed.
    pub(super) fn take(&mut self) -> bool {
        system::take(self.notifier.as_ref()) || self.must_poll
    }

    /// Waits until a change is reported, an input is readable, the job has been asked to end, or the time is over.
    pub(super) fn wait(&self, stop: Option<&Stop>, inputs: &[BorrowedFd<'_>], time: Option<Duration>) {
        let mut waiting: Vec<PollFd<'_>> =
            inputs.iter().map(|input| PollFd::from_borrowed_fd(*input, PollFlags::IN)).collect();
        waiting.extend(self.notifier.iter().map(|notifier| PollFd::new(notifier, PollFlags::IN)));
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

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::path::{Path, PathBuf};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::fs::{fstatfs, statfs};
    use rustix::io::Errno;

    use super::Scope;

    /// Magic numbers of file systems whose files other machines or processes change without a report, from
    /// `linux/magic.h` and the sources of the file systems: 9P, AFS, Ceph, CIFS, FUSE, NFS, SMB, SMB 2.
    const REMOTE: [u64; 8] =
        [0x0102_1997, 0x5346_414F, 0x00C3_6400, 0xFF53_4D42, 0x6573_5546, 0x6969, 0x517B, 0xFE53_4D42];

    const NAMES: WatchFlags = WatchFlags::CREATE
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF);

    pub(super) fn notifier() -> Option<OwnedFd> {
        inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
    }

    pub(super) fn watch_directory(notifier: Option<&OwnedFd>, path: &Path, scope: Scope) -> bool {
        let Some(notifier) = notifier else { return false };
        let flags = match scope {
            Scope::Names => NAMES,
            Scope::Files => NAMES | WatchFlags::MODIFY,
            Scope::Own => WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF,
        };
        // The same directory may be watched for both.
        let flags = flags | WatchFlags::ONLYDIR | WatchFlags::MASK_ADD;
        let is_reported = statfs(path).and_then(|status| {
            Ok(is_local(status.f_type as u64) && inotify::add_watch(notifier, path, flags).map(|_| true)?)
        });
        // A directory that is not there is noticed where its name is watched.
        is_reported.unwrap_or_else(|error| matches!(error, Errno::NOENT | Errno::NOTDIR))
    }

    pub(super) fn watch_file(notifier: Option<&OwnedFd>, file: &File) -> bool {
        let Some(notifier) = notifier else { return false };
        // Its path may be that of another file by now.
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let flags = WatchFlags::MODIFY | WatchFlags::ATTRIB | WatchFlags::MASK_ADD;
        let is_local = fstatfs(file).is_ok_and(|status| is_local(status.f_type as u64));
        is_local && inotify::add_watch(notifier, path, flags).is_ok()
    }

    fn is_local(magic: u64) -> bool {
        !REMOTE.contains(&magic)
    }

    pub(super) fn take(notifier: Option<&OwnedFd>) -> bool {
        let Some(notifier) = notifier else { return false };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(notifier, &mut buffer);
        let mut have_names_changed = false;
        // Ends with an error once there are no more.
        while let Ok(event) = reader.next() {
            have_names_changed |= event.events() != ReadFlags::MODIFY;
        }
        have_names_changed
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use super::Scope;

    pub(super) fn notifier() -> Option<OwnedFd> {
        None
    }

    pub(super) fn watch_directory(_: Option<&OwnedFd>, _: &Path, _: Scope) -> bool {
        false
    }

    pub(super) fn watch_file(_: Option<&OwnedFd>, _: &File) -> bool {
        false
    }

    pub(super) fn take(_: Option<&OwnedFd>) -> bool {
        false
    }
}
