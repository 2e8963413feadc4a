//! A file with a checksum for each of its pages, so that any part of it can be read and verified by itself.
//!
//! The data comes first, then the checksums of its pages, then a footer. docs/tree-index-format.md describes every byte.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::iter;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use finecomb_sys::{ReadBuffer, threads};
use twox_hash::XxHash3_64;

use crate::error::Error;

/// Bytes per page. A lookup reads whole pages, most lists are shorter, and the checksums take a five hundredth of the file.
const PAGE: usize = 4096;

/// Pages that a thread reads at a time when it reads all of a file.
const PART_PAGES: usize = 128;

/// Bytes of the footer: magic number, length of the data, checksum of the checksums, checksum of the footer before it.
const FOOTER: usize = 32;

/// First bytes of the footer; the last one is the version of the format.
const MAGIC: [u8; 8] = *b"FCpages\x01";

/// Writes such a file from the beginning to the end.
pub(crate) struct PageWriter {
    file: BufWriter<File>,
    page: Vec<u8>,
    checksums: Vec<u8>,
    length: u64,
}

impl Write for PageWriter {
    /// Writes all of it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(PAGE - self.page.len()));
            self.page.extend_from_slice(now);
            rest = later;
            if self.page.len() == PAGE {
                self.end_page()?;
            }
        }
        self.length += bytes.len() as u64;
        Ok(bytes.len())
    }

    /// Writes what is complete; the last page is written by [`PageWriter::finish`].
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl PageWriter {
    pub(crate) fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), page: Vec::with_capacity(PAGE), checksums: Vec::new(), length: 0 }
    }

    /// Number of bytes written.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Fills up to the beginning of a page.
    pub(crate) fn align(&mut self) -> io::Result<()> {
        let missing = (PAGE - self.page.len()) % PAGE;
        self.write_all(&[0; PAGE][..missing])
    }

    fn end_page(&mut self) -> io::Result<()> {
        self.file.write_all(&self.page)?;
        self.checksums.extend(XxHash3_64::oneshot(&self.page).to_le_bytes());
        self.page.clear();
        Ok(())
    }

    /// Writes checksums and footer, and waits until all is on the disk. Returns the checksum of the checksums, which is
    /// that of the file.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if !self.page.is_empty() {
            self.end_page()?;
        }
        let checksum = XxHash3_64::oneshot(&self.checksums);
        self.file.write_all(&self.checksums)?;
        let mut footer = [&MAGIC[..], &self.length.to_le_bytes(), &checksum.to_le_bytes()].concat();
        footer.extend(XxHash3_64::oneshot(&footer).to_le_bytes());
        self.file.write_all(&footer)?;
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        Ok(checksum)
    }
}

/// Reads such a file. Everything that is returned has been verified.
#[derive(Debug)]
pub(crate) struct Pages {
    file: File,
    path: PathBuf,
    length: u64,
    checksums: Vec<u8>,
    checksum: u64,
}

impl Pages {
    /// Opens a file, and verifies its checksums but not its data.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io(path))?;
        let size = file.metadata().map_err(Error::io(path))?.len();
        let damaged = || Error::damaged(path.to_owned(), "end of the file");
        let mut footer = [0; FOOTER];
        let start = size.checked_sub(FOOTER as u64).ok_or_else(damaged)?;
        file.read_exact_at(&mut footer, start).map_err(Error::io(path))?;
        let number = |at: usize| u64_at(&footer, at).unwrap_or_default();
        if footer[..7] != MAGIC[..7] || XxHash3_64::oneshot(&footer[..24]) != number(24) {
            return Err(damaged());
        }
        if footer[..8] != MAGIC {
            return Err(Error::Version(path.to_owned()));
        }
        let (length, checksum) = (number(8), number(16));
        let pages = length.div_ceil(PAGE as u64);
        if pages.checked_mul(8).and_then(|bytes| bytes.checked_add(length)) != Some(start) {
            return Err(damaged());
        }
        let checksums =
            ReadBuffer::of_file(&file, length, (start - length) as usize).map_err(Error::io(path))?.to_vec();
        if XxHash3_64::oneshot(&checksums) != checksum {
            return Err(Error::damaged(path.to_owned(), "checksums"));
        }
        Ok(Self { file, path: path.to_owned(), length, checksums, checksum })
    }

    /// Number of bytes of data.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Size of the file.
    pub(crate) fn size(&self) -> u64 {
        self.length + self.checksums.len() as u64 + FOOTER as u64
    }

    /// The checksum of the checksums.
    pub(crate) fn checksum(&self) -> u64 {
        self.checksum
    }

    /// Reads a range of the data.
    ///
    /// # Errors
    /// If it is not within the data, cannot be read, or is damaged.
    pub(crate) fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        if range.start > range.end || range.end > self.length {
            return Err(self.damaged("data"));
        }
        let first = range.start / PAGE as u64;
        let start = first * PAGE as u64;
        let end = range.end.next_multiple_of(PAGE as u64).min(self.length);
        let mut bytes = ReadBuffer::new();
        self.read_pages(first, (end - start) as usize, &mut bytes)?;
        Ok(bytes[(range.start - start) as usize..(range.end - start) as usize].to_vec())
    }

    /// Reads all of the data on some threads, and does something else beside it.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn read_all_beside<T: Send>(
        &self,
        threads: usize,
        other: impl Fn() -> T + Sync,
    ) -> Result<(Vec<u8>, T), Error> {
        enum Task<'b> {
            Other,
            Pages(u64, &'b mut [u8]),
        }
        let mut bytes = vec![0; self.length as usize];
        let threads = threads.min(1 + bytes.len().div_ceil(PART_PAGES * PAGE));
        let parts = bytes.chunks_mut(PART_PAGES * PAGE).zip((0..).step_by(PART_PAGES));
        let tasks = iter::once(Task::Other).chain(parts.map(|(part, first)| Task::Pages(first, part)));
        let results = threads::map(threads, tasks, |task| match task {
            Task::Other => Ok(Some(other())),
            Task::Pages(first, part) => {
                let mut pages = ReadBuffer::new();
                self.read_pages(first, part.len(), &mut pages)?;
                part.copy_from_slice(&pages[..part.len()]);
                Ok(None)
            }
        });
        let mut done = None;
        for result in results {
            done = result?.or(done);
        }
        // It is the first task.
        Ok((bytes, done.unwrap_or_else(other)))
    }

    /// Reads whole pages, from the one with the number `first` on.
    fn read_pages(&self, first: u64, length: usize, bytes: &mut ReadBuffer) -> Result<(), Error> {
        let got = bytes.fill_at(&self.file, 0..length, first * PAGE as u64).map_err(Error::io(&self.path))?;
        if got < length {
            return Err(Error::io(&self.path)(io::ErrorKind::UnexpectedEof.into()));
        }
        let is_sound = |(number, page)| {
            u64_at(&self.checksums, (first as usize + number) * 8) == Some(XxHash3_64::oneshot(page))
        };
        bytes[..length]
            .chunks(PAGE)
            .enumerate()
            .all(is_sound)
            .then_some(())
            .ok_or_else(|| self.damaged("data"))
    }

    /// The error of a file with invalid data.
    pub(crate) fn damaged(&self, what: &'static str) -> Error {
        Error::damaged(self.path.clone(), what)
    }

    /// Verifies all data.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn verify(&self) -> Result<(), Error> {
        const PART: u64 = 1 << 20;
        for start in (0..self.length).step_by(PART as usize) {
            self.read(start..self.length.min(start + PART))?;
        }
        Ok(())
    }
}

/// The number at an offset, the lowest byte first.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// The number at an offset, the lowest byte first.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(length: usize) -> (tempfile::NamedTempFile, Vec<u8>) {
        let data: Vec<u8> = (0..length).map(|at| (at * at / 7) as u8).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = PageWriter::new(file.reopen().unwrap());
        for part in data.chunks(1000) {
            writer.write_all(part).unwrap();
        }
        writer.finish().unwrap();
        (file, data)
    }

    #[test]
    fn any_range_is_read_as_written() {
        for length in [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE + 17] {
            let (file, data) = written(length);
            let pages = Pages::open(file.path()).unwrap();
            pages.verify().unwrap();
            for start in (0..=length).step_by(613) {
                for end in (start..=length).step_by(1021) {
                    assert_eq!(pages.read(start as u64..end as u64).unwrap(), data[start..end]);
                }
            }
            assert!(pages.read(0..length as u64 + 1).is_err());
        }
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let (file, data) = written(2 * PAGE + 100);
        let size = file.as_file().metadata().unwrap().len();
        for at in (0..size).step_by(37).chain(size - FOOTER as u64..size) {
            let mut byte = [0];
            file.as_file().read_exact_at(&mut byte, at).unwrap();
            file.as_file().write_all_at(&[byte[0] ^ 0x10], at).unwrap();
            let read = Pages::open(file.path()).and_then(|pages| pages.read(0..data.len() as u64));
            assert!(read.is_err(), "byte {at}");
            file.as_file().write_all_at(&byte, at).unwrap();
        }
        for size in [0, 10, size - 1] {
            file.as_file().set_len(size).unwrap();
            assert!(Pages::open(file.path()).is_err());
        }
    }
}
