//! The entries of a directory, sorted by name.

use std::ffi::CStr;
use std::iter::Peekable;
use std::os::fd::AsFd;
use std::slice;

use finecomb_sys::directory::for_each_entry;
use rustix::fs::{AtFlags, FileType, statat};
use rustix::io;

use crate::snapshot::KnownEntry;

/// The entries of a directory, sorted by name.
#[derive(Default)]
pub(crate) struct Listing {
    /// The names, each terminated by a NUL, as system calls take them.
    names: Vec<u8>,
    entries: Vec<DirEntry>,
    /// Set if a name begins with a dot.
    pub(crate) any_hidden: bool,
}

/// Length of most names with their NUL: names in Linux have 14 bytes on average.
const USUAL_NAME: usize = 16;

/// Entries of most directories.
const USUAL_ENTRIES: usize = 64;

/// An entry of a directory.
#[derive(Clone, Copy)]
pub(crate) struct DirEntry {
    /// The first eight bytes of the name: enough to order most names.
    key: u64,
    start: u32,
    /// Length of the name without the NUL.
    length: u32,
    pub(crate) kind: EntryKind,
    /// Set if `kind` is that of the target of a symbolic link.
    pub(crate) is_linked: bool,
    pub(crate) inode: u64,
    /// Number of the file or directory in the snapshot of the directory, if it has one.
    pub(crate) known: Option<u32>,
    /// Whether it was selected according to the snapshot; `None` if it is not there.
    pub(crate) was_selected: Option<bool>,
}

/// Type of an entry, as recorded in the directory; no `stat` is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

impl EntryKind {
    pub(crate) fn of(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

impl Listing {
    /// The entries in order.
    pub(crate) fn entries(&self) -> &[DirEntry] {
        &self.entries
    }

    /// The name of an entry.
    pub(crate) fn name(&self, entry: &DirEntry) -> &[u8] {
        &self.names[entry.start as usize..][..entry.length as usize]
    }

    /// The name of an entry, for a system call.
    pub(crate) fn c_name(&self, entry: &DirEntry) -> &CStr {
        let with_nul = &self.names[entry.start as usize..][..entry.length as usize + 1];
        CStr::from_bytes_with_nul(with_nul).unwrap_or_default()
    }

    /// Returns `true` if there is an entry with this name. Complete only before [`Listing::retain`].
    pub(crate) fn contains(&self, name: &[u8]) -> bool {
        self.get(name).is_some()
    }

    /// The entry with this name. Complete only before [`Listing::retain`].
    pub(crate) fn get(&self, name: &[u8]) -> Option<&DirEntry> {
        let place = self.entries.binary_search_by(|entry| self.name(entry).cmp(name)).ok()?;
        self.entries.get(place)
    }

    /// Keeps the entries for which `keep` returns `true`.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Self, &mut DirEntry) -> bool) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain_mut(|entry| keep(self, entry));
        self.entries = entries;
    }

    fn add(&mut self, directory: impl AsFd, name: &CStr, file_type: FileType, inode: u64) {
        if matches!(name.to_bytes(), b"." | b"..") {
            return;
        }
        let kind = match file_type {
            // Some file systems do not record the type.
            FileType::Unknown => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(EntryKind::Other, |stat| EntryKind::of(FileType::from_raw_mode(stat.st_mode))),
            known => EntryKind::of(known),
        };
        self.push(name, kind, inode);
    }

    /// Makes room for a number of entries.
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.entries.reserve_exact(entries);
        self.names.reserve(entries * USUAL_NAME);
    }

    /// Appends an entry of a snapshot.
    pub(crate) fn push_known(
        &mut self,
        KnownEntry { name, kind, inode, number, is_selected }: KnownEntry<'_>,
    ) {
        self.push(name, kind, inode);
        if let Some(entry) = self.entries.last_mut() {
            (entry.known, entry.was_selected) = (number, Some(is_selected));
        }
    }

    fn push(&mut self, name: &CStr, kind: EntryKind, inode: u64) {
        let bytes = name.to_bytes();
        let (Ok(start), Ok(length)) = (u32::try_from(self.names.len()), u32::try_from(bytes.len())) else {
            return;
        };
        self.any_hidden |= bytes.starts_with(b".");
        self.names.extend_from_slice(name.to_bytes_with_nul());
        let key = key(bytes);
        let (known, was_selected) = (None, None);
        self.entries.push(DirEntry {
            key,
            start,
            length,
            kind,
            is_linked: false,
            inode,
            known,
            was_selected,
        });
    }

    /// Takes over what is known of the entries of an earlier listing that have the same name and kind.
    pub(crate) fn recognize(&mut self, earlier: &Self) {
        let Self { names, entries, .. } = self;
        let mut finder = earlier.finder();
        for entry in entries {
            let name = &names[entry.start as usize..][..entry.length as usize];
            if let Some(known) = finder.find(name, entry.kind) {
                (entry.known, entry.was_selected) = (known.known, known.was_selected);
            }
        }
    }

    /// Finds entries whose names are asked for in order.
    pub(crate) fn finder(&self) -> NameFinder<'_> {
        NameFinder { listing: self, rest: self.entries.iter().peekable() }
    }

    fn sort(&mut self) {
        let Self { names, entries, .. } = self;
        let name = |entry: &DirEntry| &names[entry.start as usize..][..entry.length as usize];
        entries
            .sort_unstable_by(|one, other| one.key.cmp(&other.key).then_with(|| name(one).cmp(name(other))));
    }
}

/// Finds entries of a listing whose names are asked for in order.
pub(crate) struct NameFinder<'l> {
    listing: &'l Listing,
    rest: Peekable<slice::Iter<'l, DirEntry>>,
}

impl<'l> NameFinder<'l> {
    /// Returns the entry of this name and kind. Each call must have a greater name than the one before.
    pub(crate) fn find(&mut self, name: &[u8], kind: EntryKind) -> Option<&'l DirEntry> {
        while self.rest.next_if(|entry| self.listing.name(entry) < name).is_some() {}
        self.rest.next_if(|entry| self.listing.name(entry) == name).filter(|entry| entry.kind == kind)
    }
}

/// The first eight bytes of a name, padded with zeros, as a number that has the same order.
fn key(name: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = name.len().min(8);
    bytes[..length].copy_from_slice(&name[..length]);
    u64::from_be_bytes(bytes)
}

/// Lists an open directory. `buffer` receives the entries from the kernel.
///
/// # Errors
/// If the directory cannot be read. Entries that were read before the error are lost.
pub(crate) fn list(directory: impl AsFd, buffer: &mut Vec<u8>) -> io::Result<Listing> {
    let directory = directory.as_fd();
    let mut listing = Listing::default();
    listing.reserve(USUAL_ENTRIES);
    for_each_entry(directory, buffer, |name, file_type, inode| {
        listing.add(directory, name, file_type, inode);
    })?;
    listing.sort();
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn entries_are_sorted_by_the_bytes_of_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        for name in ["b", "a.c", "a", "B", "é", "a-b"] {
            fs::write(path.join(name), "").unwrap();
        }
        fs::create_dir(path.join("a.d")).unwrap();
        symlink("a", path.join("link")).unwrap();
        let listing = list(fs::File::open(path).unwrap(), &mut Vec::new()).unwrap();
        let names: Vec<_> = listing.entries().iter().map(|entry| listing.name(entry)).collect();
        let expected: [&[u8]; 8] = [b"B", b"a", b"a-b", b"a.c", b"a.d", b"b", b"link", "é".as_bytes()];
        assert_eq!(names, expected);
        assert!(listing.contains(b"a-b") && !listing.contains(b"a-"));
        let kinds: Vec<_> = listing.entries().iter().map(|entry| entry.kind).collect();
        assert_eq!((kinds[4], kinds[6], kinds[7]), (EntryKind::Directory, EntryKind::Link, EntryKind::File));
    }

    #[test]
    fn entries_of_the_same_name_and_kind_are_recognized() {
        let listing = |entries: &[(&CStr, EntryKind, Option<u32>)]| {
            let mut listing = Listing::default();
            for &(name, kind, number) in entries {
                listing.push_known(KnownEntry { name, kind, inode: 0, number, is_selected: true });
            }
            listing
        };
        use EntryKind::{Directory, File};
        let earlier =
            [(c"a", File, Some(7)), (c"b", File, Some(8)), (c"d", File, None), (c"e", Directory, Some(3))];
        let mut present =
            listing(&[c"0", c"a", c"aa", c"b", c"d", c"e", c"f"].map(|name| (name, File, None)));
        present.recognize(&listing(&earlier));
        let known: Vec<_> = present.entries().iter().map(|entry| entry.known).collect();
        assert_eq!(known, [None, Some(7), None, Some(8), None, None, None]);
    }

    #[test]
    fn a_listing_takes_several_calls() {
        let directory = tempfile::tempdir().unwrap();
        for number in 0..3000 {
            fs::write(directory.path().join(format!("{number:0100}")), "").unwrap();
        }
        let listing = list(fs::File::open(directory.path()).unwrap(), &mut Vec::new()).unwrap();
        assert_eq!(listing.entries().len(), 3000);
        assert!(listing.entries().is_sorted_by_key(|entry| listing.name(entry)));
    }
}
