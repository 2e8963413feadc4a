//! Reports of changes of files and directories.

use std::ops::BitOr;

pub use crate::system::notify::ReportQueue;

/// Kinds of changes, with the bits of inotify(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(pub(crate) u32);

impl Kinds {
    /// Contents were written.
    pub const MODIFY: Self = Self(0x2);
    /// Attributes have changed, such as the number of links.
    pub const ATTRIB: Self = Self(0x4);
    /// A file that was open for writing was closed.
    pub const CLOSE_WRITE: Self = Self(0x8);
    /// It was opened.
    pub const OPEN: Self = Self(0x20);
    /// An entry got a name elsewhere.
    pub const MOVED_FROM: Self = Self(0x40);
    /// An entry came from elsewhere.
    pub const MOVED_TO: Self = Self(0x80);
    /// An entry was created.
    pub const CREATE: Self = Self(0x100);
    /// An entry was removed.
    pub const DELETE: Self = Self(0x200);
    /// The watched file or directory was removed.
    pub const DELETE_SELF: Self = Self(0x400);
    /// The watched file or directory got another name.
    pub const MOVE_SELF: Self = Self(0x800);
    /// Only reported: changes were lost.
    pub const OVERFLOW: Self = Self(0x4000);
    /// Only reported: the watch has ended.
    pub const IGNORED: Self = Self(0x8000);
    /// Only asked for: watch nothing but directories.
    pub const ONLY_DIRECTORIES: Self = Self(0x0100_0000);
    /// Only asked for: no changes of files that were removed from the watched directory. They would be reported under names that
    /// other files may have by then.
    pub const EXCLUDE_REMOVED: Self = Self(0x0400_0000);
    /// Only asked for: add to the kinds that are watched already.
    pub const ADD: Self = Self(0x2000_0000);
    /// Only reported: it is a directory.
    pub const DIRECTORY: Self = Self(0x4000_0000);

    /// These kinds and others.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These kinds without others.
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether all of the others are among these.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

/// A report of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the watch.
    pub watch: i32,
    /// Kinds of the change.
    pub kinds: Kinds,
    /// The name of the entry, if it is about one of the directory that is watched.
    pub name: Option<Vec<u8>>,
    /// The same number in both reports of a renamed entry, 0 in all others.
    pub cookie: u32,
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn changes_are_reported_or_there_is_no_queue() {
        let queue = match ReportQueue::new() {
            Ok(queue) => queue,
            Err(error) => {
                assert_eq!((error.kind(), crate::IS_LINUX), (ErrorKind::Unsupported, false));
                return;
            }
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let in_directory = queue.watch(directory.path(), Kinds::CREATE | Kinds::ONLY_DIRECTORIES).unwrap();
        fs::write(&path, "").unwrap();
        let file = File::open(&path).unwrap();
        let in_file = queue.watch_open(&file, Kinds::MODIFY).unwrap();
        fs::write(&path, "text").unwrap();
        let mut events = Vec::new();
        while queue.take(&mut events).unwrap() {}
        let name = Some(b"file".to_vec());
        let created = Event { watch: in_directory, kinds: Kinds::CREATE, name, cookie: 0 };
        let modified = Event { watch: in_file, kinds: Kinds::MODIFY, name: None, cookie: 0 };
        assert_eq!(events, [created, modified]);
        queue.watch(directory.path(), Kinds::MOVED_FROM | Kinds::MOVED_TO).unwrap();
        fs::rename(&path, directory.path().join("other")).unwrap();
        events.clear();
        while queue.take(&mut events).unwrap() {}
        assert!(events.len() == 2 && events[0].cookie != 0 && events[0].cookie == events[1].cookie);
        assert_eq!(events[1].name, Some(b"other".to_vec()));
        queue.unwatch(in_file);
        fs::write(&path, "more").unwrap();
        events.clear();
        while queue.take(&mut events).unwrap() {}
        assert_eq!(events.iter().map(|event| event.kinds).collect::<Vec<_>>(), [Kinds::IGNORED]);
        let missing = queue.watch(&directory.path().join("none"), Kinds::CREATE).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
    }
}
