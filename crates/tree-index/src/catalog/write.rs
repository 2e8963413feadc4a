//! Writing a catalog.

use std::ffi::CString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use finecomb_scan::{EntryKind, Instant, Stamp};

use super::{CatalogFile, HEADER, MAGIC, NONE, SELECTED, SegmentInfo};

/// Contents of a catalog.
pub(crate) struct CatalogContents {
    pub(crate) root: PathBuf,
    pub(crate) built: Instant,
    pub(crate) credentials: u64,
    pub(crate) segments: Vec<SegmentInfo>,
    /// The root is the first one.
    pub(crate) directories: Vec<CatalogDirectory>,
    pub(crate) files: Vec<CatalogFile>,
}

/// A directory of an index.
pub(crate) struct CatalogDirectory {
    /// The stamp with which its entries are complete, if there is one.
    pub(crate) stamp: Option<Stamp>,
    /// The number of the selection, if there is one.
    pub(crate) selection: Option<u64>,
    /// In the order of their names.
    pub(crate) entries: Vec<CatalogEntry>,
}

/// An entry of a directory.
pub(crate) struct CatalogEntry {
    pub(crate) name: CString,
    pub(crate) kind: EntryKind,
    pub(crate) inode: u64,
    /// Number of the file or directory, if it is in the index.
    pub(crate) number: Option<u32>,
    /// Whether a search without flags selects it.
    pub(crate) is_selected: bool,
}

/// Stamp of an item without one.
pub(crate) const NO_STAMP: Stamp = {
    let never = Instant { seconds: 0, nanoseconds: 0 };
    Stamp { device: 0, inode: 0, size: 0, modified: never, changed: never }
};

impl CatalogContents {
    /// Writes the catalog.
    ///
    /// # Errors
    /// If writing fails, or there are more names than the format can hold.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut names = Vec::new();
        let mut entries = Vec::new();
        for entry in self.directories.iter().flat_map(|directory| &directory.entries) {
            let kind: u32 = match entry.kind {
                EntryKind::File => 0,
                EntryKind::Directory => 1,
                EntryKind::Link => 2,
                EntryKind::Other => 3,
            };
            entries.extend(entry.inode.to_le_bytes());
            let length = entry.name.as_bytes().len();
            let kind = if entry.is_selected { kind | SELECTED } else { kind };
            let numbers = [number(names.len())?, entry.number.unwrap_or(NONE), kind, number(length)?];
            numbers.into_iter().for_each(|number| entries.extend(number.to_le_bytes()));
            names.extend_from_slice(entry.name.as_bytes_with_nul());
        }
        self.write_header(names.len() as u64, out)?;
        for segment in &self.segments {
            out.write_all(&segment.id.to_le_bytes())?;
            out.write_all(&u64::from(segment.documents).to_le_bytes())?;
            out.write_all(&segment.bytes.to_le_bytes())?;
            out.write_all(&segment.checksum.to_le_bytes())?;
        }
        let mut first = 0;
        for directory in &self.directories {
            write_stamp(directory.stamp.unwrap_or(NO_STAMP), out)?;
            let count = number(directory.entries.len())?;
            for number in [first, count, u32::from(directory.stamp.is_some()), 0] {
                out.write_all(&number.to_le_bytes())?;
            }
            out.write_all(&directory.selection.unwrap_or(0).to_le_bytes())?;
            first += count;
        }
        out.write_all(&entries)?;
        for file in &self.files {
            write_stamp(file.stamp, out)?;
            out.write_all(&file.document.to_le_bytes())?;
            out.write_all(&(file.state.number() | file.documents << 8).to_le_bytes())?;
        }
        out.write_all(&names)
    }

    fn write_header(&self, names: u64, out: &mut dyn Write) -> io::Result<()> {
        let entries = self.directories.iter().map(|directory| directory.entries.len()).sum();
        let root = self.root.as_os_str().as_bytes();
        let mut header = MAGIC.to_vec();
        header.extend(self.built.seconds.to_le_bytes());
        header.extend(self.built.nanoseconds.to_le_bytes());
        header.extend(number(self.segments.len())?.to_le_bytes());
        header.extend(self.credentials.to_le_bytes());
        for count in [self.directories.len(), entries, self.files.len(), root.len()] {
            header.extend(number(count)?.to_le_bytes());
        }
        header.extend(names.to_le_bytes());
        header.resize(HEADER, 0);
        header.extend_from_slice(root);
        header.resize(header.len().next_multiple_of(8), 0);
        out.write_all(&header)
    }
}

/// Writes a stamp in 48 bytes.
pub(crate) fn write_stamp(stamp: Stamp, out: &mut dyn Write) -> io::Result<()> {
    let Stamp { device, inode, size, modified, changed } = stamp;
    for number in [device, inode, size, modified.seconds as u64, changed.seconds as u64] {
        out.write_all(&number.to_le_bytes())?;
    }
    out.write_all(&modified.nanoseconds.to_le_bytes())?;
    out.write_all(&changed.nanoseconds.to_le_bytes())
}

fn number(count: usize) -> io::Result<u32> {
    u32::try_from(count)
        .ok()
        .filter(|&number| number != NONE)
        .ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}
