//! Memory that the kernel copies the bytes of files into.
//!
//! On processors with fast short `rep movsb`, the kernel copies with that instruction. On AMD's Zen 3 it is about five times
//! slower, and on Zen 4 half as fast, if the destination lies 1 to 31 bytes past the offset of the source in its page. That is
//! where the C library puts large allocations: 16 bytes past the beginning of a page. (Reported as bug 30994 of glibc, and by
//! Xuanwo in "Rust std fs slower than Python", 2023.) So every large read goes into such a buffer; tests of `comb` check the addresses on
//! all paths (`aligned_reads`).
#![allow(unsafe_code, reason = "memory that is not initialised before the kernel has written to it")]

mod shown;

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut, Range};
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::slice;

use rustix::io::{pread, read, retry_on_intr};

use crate::memory::HUGE_PAGE;
use crate::system;
use shown::MappedPart;

/// Size of a page of the page cache, in bytes; larger pages are multiples of it.
const PAGE: usize = 4 << 10;

/// A buffer of bytes that are read from files: byte 0 has the place in its page of memory that the first byte read has in its
/// page of the file.
///
/// It holds the bytes that have been written so far, and has room for more. The bytes are not zeroed before they are read.
#[derive(Debug)]
pub struct ReadBuffer {
    /// Aligned to [`PAGE`]; dangling without a capacity.
    start: NonNull<u8>,
    capacity: usize,
    /// Position of byte 0, below [`PAGE`].
    lead: usize,
    /// Position of the end of the bytes that have been written.
    end: usize,
    /// The part of a file that the buffer shows, or has shown.
    window: Option<Box<MappedPart>>,
    /// Memory of the buffer and its capacity, while it shows a file and so has none in the fields above.
    hidden: Option<(NonNull<u8>, usize)>,
}

// SAFETY: the bytes are owned, as in a `Vec`.
unsafe impl Send for ReadBuffer {}
// SAFETY: as above.
unsafe impl Sync for ReadBuffer {}

impl Default for ReadBuffer {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadBuffer {
    /// An empty buffer, which allocates nothing.
    pub const fn new() -> Self {
        Self { start: NonNull::dangling(), capacity: 0, lead: 0, end: 0, window: None, hidden: None }
    }

    /// Reads up to `length` bytes of a file from `offset` on: fewer if the file ends before.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn of_file(file: &File, offset: u64, length: usize) -> io::Result<Self> {
        let mut buffer = Self::new();
        buffer.restart(offset);
        let got = buffer.fill_at(file, 0..length, offset)?;
        buffer.truncate(got);
        Ok(buffer)
    }

    /// Places byte 0 for a read from this offset. The bytes in the buffer are arbitrary afterwards.
    pub fn restart(&mut self, offset: u64) {
        self.end_show();
        self.lead = (offset % PAGE as u64) as usize;
    }

    /// Drops the bytes from `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.end = self.end.min(self.lead + length);
    }

    /// Makes room for `length` bytes. A buffer that has grown to much more than `usual` is shrunk again if that suffices.
    ///
    /// Ends the process if there is not enough memory, as `Vec` does.
    pub fn reserve(&mut self, length: usize, usual: usize) {
        if self.capacity / 4 > usual && length <= usual {
            self.truncate(length);
            self.reallocate(length);
        } else if self.capacity < self.lead + length {
            self.reallocate(length);
        }
    }

    /// Moves the bytes, or as many as fit, to memory for `length` bytes at any place in a page.
    fn reallocate(&mut self, length: usize) {
        let pages = length.div_ceil(PAGE).saturating_add(1);
        let mut grown = Self::allocated(pages.saturating_mul(PAGE));
        grown.lead = self.lead;
        // A file that is shown may have more bytes.
        let copied = self.end.min(grown.capacity);
        grown.end = grown.end.max(copied);
        // SAFETY: both allocations have room for this many bytes, which are initialised in the first.
        unsafe { grown.start.copy_from_nonoverlapping(self.start, copied) };
        *self = grown;
    }

    /// Memory whose first page is initialised, so that byte 0 may be anywhere in it.
    fn allocated(capacity: usize) -> Self {
        let layout = Self::layout(capacity);
        // SAFETY: the size is not 0.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        if capacity >= HUGE_PAGE {
            // SAFETY: the memory was just allocated.
            unsafe { system::memory::use_huge_pages(start, capacity / HUGE_PAGE * HUGE_PAGE) };
        }
        // SAFETY: there is at least a page.
        unsafe { start.write_bytes(0, PAGE) };
        Self { start, capacity, lead: 0, end: PAGE, window: None, hidden: None }
    }

    fn layout(capacity: usize) -> Layout {
        let align = if capacity >= HUGE_PAGE { HUGE_PAGE } else { PAGE };
        Layout::from_size_align(capacity, align).expect("no address space holds more")
    }

    /// Returns a range of the room, which must begin within the bytes or at their end, and the position of its beginning.
    fn room(&mut self, range: Range<usize>) -> (&mut [MaybeUninit<u8>], usize) {
        let (begin, end) = (self.lead + range.start, self.lead + range.end);
        if self.capacity < end {
            self.reallocate(range.end);
        }
        assert!(begin <= self.end.max(self.lead) && begin <= end, "a gap in the bytes of a buffer");
        // SAFETY: the range lies within the allocation, and is borrowed with `self`.
        let room = unsafe { slice::from_raw_parts_mut(self.start.as_ptr().add(begin).cast(), range.len()) };
        (room, begin)
    }

    /// Reads a file once, from `offset` on, into a range that begins within the bytes or at their end. Returns the number of bytes
    /// read; 0 at the end of the file, or if the range is empty.
    ///
    /// # Errors
    /// Returns the error of the system, which is not an interruption.
    pub fn read_at(&mut self, file: impl AsFd, range: Range<usize>, offset: u64) -> io::Result<usize> {
        let (room, begin) = self.room(range);
        let got = retry_on_intr(|| pread(&file, &mut *room, offset).map(|(read, _)| read.len()))?;
        self.end = self.end.max(begin + got);
        Ok(got)
    }

    /// Reads the next bytes of an input once, into a range that begins within the bytes or at their end. Returns the number of
    /// bytes read; 0 at the end of the input, or if the range is empty.
    ///
    /// # Errors
    /// Returns the error of the system, which is not an interruption.
    pub fn read(&mut self, input: impl AsFd, range: Range<usize>) -> io::Result<usize> {
        let (room, begin) = self.room(range);
        let got = retry_on_intr(|| read(&input, &mut *room).map(|(read, _)| read.len()))?;
        self.end = self.end.max(begin + got);
        Ok(got)
    }

    /// Reads a file from `offset` on until the range is full or the file ends. Returns the number of bytes read.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn fill_at(&mut self, file: impl AsFd, range: Range<usize>, offset: u64) -> io::Result<usize> {
        let mut got = 0;
        while got < range.len() {
            match self.read_at(&file, range.start + got..range.end, offset + got as u64)? {
                0 => break,
                more => got += more,
            }
        }
        Ok(got)
    }

    /// Returns a range that begins within the bytes or at their end, for bytes that this process makes. Bytes that have not been
    /// written before are zeros.
    pub fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        let written = self.end;
        let (room, begin) = self.room(range);
        let end = begin + room.len();
        if end > written {
            room[written.saturating_sub(begin)..].fill(MaybeUninit::new(0));
        }
        self.end = written.max(end);
        // SAFETY: the range lies within the allocation, its bytes have been written, and it is borrowed with `self`.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().add(begin), end - begin) }
    }
}

impl Deref for ReadBuffer {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        let length = self.end.saturating_sub(self.lead);
        if length == 0 {
            return &[];
        }
        // SAFETY: these bytes have been written, and they are borrowed with `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr().add(self.lead), length) }
    }
}

impl DerefMut for ReadBuffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        let length = self.end.saturating_sub(self.lead);
        if length == 0 {
            return &mut [];
        }
        // SAFETY: as in `deref`, and `self` is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr().add(self.lead), length) }
    }
}

impl Drop for ReadBuffer {
    fn drop(&mut self) {
        self.end_show();
        if self.capacity > 0 {
            // SAFETY: the memory was allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), Self::layout(self.capacity)) };
        }
    }
}

/// A buffered input like [`std::io::BufReader`], with a [`ReadBuffer`] and thus fast reads from files.
#[derive(Debug)]
pub struct BufferedInput<R> {
    input: R,
    buffer: ReadBuffer,
    size: usize,
    /// The bytes of the buffer that have not been consumed.
    unread: Range<usize>,
    /// Offset of the next read in the file, if the input is one.
    offset: u64,
}

impl<R: Read> BufferedInput<R> {
    /// Reads `size` bytes at a time. If the input is a file, it is read from `offset` on.
    pub fn new(input: R, size: usize, offset: u64) -> Self {
        Self { input, buffer: ReadBuffer::new(), size, unread: 0..0, offset }
    }

    /// The bytes that have been read and not consumed.
    pub fn buffer(&self) -> &[u8] {
        // The buffer is empty before the first read.
        self.buffer.get(self.unread.clone()).unwrap_or_default()
    }

    /// Skips bytes, without reading them if they have not been read yet.
    ///
    /// # Errors
    /// Returns the error of the input if it knows that this is past its end.
    pub fn skip(&mut self, distance: u64) -> io::Result<()>
    where
        R: Seek,
    {
        let in_buffer = usize::try_from(distance).map_or(self.unread.len(), |all| all.min(self.unread.len()));
        self.consume(in_buffer);
        let rest = distance - in_buffer as u64;
        if rest > 0 {
            let rest_signed = i64::try_from(rest).map_err(|_| io::ErrorKind::InvalidInput)?;
            self.input.seek(SeekFrom::Current(rest_signed))?;
            self.offset += rest;
        }
        Ok(())
    }
}

impl<R: Read> BufRead for BufferedInput<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.unread.is_empty() {
            self.buffer.restart(self.offset);
            let got = self.input.read(self.buffer.bytes_mut(0..self.size))?;
            self.unread = 0..got;
            self.offset += got as u64;
        }
        Ok(self.buffer())
    }

    fn consume(&mut self, amount: usize) {
        self.unread.start = self.unread.end.min(self.unread.start + amount);
    }
}

impl<R: Read> Read for BufferedInput<R> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let got = bytes.len().min(output.len());
        output[..got].copy_from_slice(&bytes[..got]);
        self.consume(got);
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use proptest::prelude::*;

    use super::*;

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("room");
        file
    }

    fn numbered(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at ^ at >> 8) as u8).collect()
    }

    #[test]
    fn bytes_lie_in_memory_as_in_the_file() {
        let text = numbered(3 * PAGE);
        let file = file_of(&text);
        for offset in [0, 1, 31, PAGE - 1, PAGE, PAGE + 17] {
            let buffer = ReadBuffer::of_file(&file, offset as u64, 5000).expect("a read");
            assert_eq!(*buffer, text[offset..text.len().min(offset + 5000)]);
            assert_eq!(buffer.as_ptr().addr() % PAGE, offset % PAGE);
        }
        assert!(ReadBuffer::of_file(&file, 1 << 40, 10).is_ok_and(|buffer| buffer.is_empty()));
    }

    #[test]
    fn a_buffer_without_memory_is_empty() {
        let mut buffer = ReadBuffer::new();
        assert!(buffer.is_empty());
        buffer.restart(100);
        assert!(buffer.is_empty() && buffer.iter_mut().next().is_none());
        assert_eq!(buffer.read_at(file_of(b"text"), 0..0, 0).expect("a read"), 0);
    }

    #[test]
    fn what_grows_keeps_its_bytes_and_what_was_large_is_shrunk() {
        let mut buffer = ReadBuffer::new();
        buffer.restart(4000);
        buffer.bytes_mut(0..3).copy_from_slice(b"abc");
        buffer.reserve(10 << 20, 1 << 10);
        assert_eq!(buffer[..3], *b"abc");
        assert!(buffer.capacity > 10 << 20);
        let grown = buffer.capacity;
        buffer.reserve(2 << 10, 1 << 10);
        assert_eq!(buffer.capacity, grown, "it is still needed");
        buffer.reserve(3, 1 << 10);
        assert!(buffer.capacity < 1 << 20 && buffer[..3] == *b"abc");
    }

    #[test]
    fn bytes_that_nobody_has_written_are_zeros() {
        let mut buffer = ReadBuffer::new();
        assert!(buffer.bytes_mut(0..10_000).iter().all(|&byte| byte == 0));
        buffer.bytes_mut(5_000..5_010).fill(7);
        assert_eq!(buffer.bytes_mut(4_999..20_000)[..12], [0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0]);
        assert_eq!(buffer.len(), 20_000);
    }

    #[test]
    #[should_panic(expected = "a gap")]
    fn bytes_have_no_gap() {
        ReadBuffer::new().bytes_mut(2 * PAGE..3 * PAGE);
    }

    #[test]
    fn errors_of_reads_are_returned() {
        let directory = File::open("/").expect("a directory");
        assert!(ReadBuffer::of_file(&directory, 0, 10).is_err());
        assert!(ReadBuffer::new().read(&directory, 0..10).is_err());
    }

    proptest! {
        #[test]
        fn reads_of_any_size_return_the_bytes_of_the_file(
            length in 0_usize..20_000,
            reads in prop::collection::vec((0_usize..9_000, any::<bool>()), 1..10),
            offset in 0_u64..10_000,
        ) {
            let text = numbered(length);
            let mut file = file_of(&text);
            let rest = &text[text.len().min(offset as usize)..];
            let mut buffer = ReadBuffer::new();
            buffer.restart(offset);
            let mut filled = 0;
            for (wanted, in_order) in reads {
                let at = offset + filled as u64;
                let range = filled..filled + wanted;
                filled += if in_order {
                    file.seek(SeekFrom::Start(at)).expect("an offset");
                    buffer.read(&file, range).expect("a read")
                } else {
                    buffer.fill_at(&file, range, at).expect("a read")
                };
                prop_assert_eq!(&buffer[..filled], &rest[..filled]);
            }
        }

        #[test]
        fn a_buffered_input_has_the_bytes_of_its_input(
            length in 0_usize..30_000,
            size in 1_usize..9_000,
            reads in prop::collection::vec((0_usize..5_000, any::<bool>()), 1..20),
        ) {
            let text = numbered(length);
            let mut input = BufferedInput::new(Cursor::new(&text), size, 77);
            let mut at = 0;
            for (wanted, skips) in reads {
                if skips {
                    input.skip(wanted as u64).expect("a place");
                    at += wanted;
                    continue;
                }
                let mut output = vec![0; wanted];
                let got = input.read(&mut output).expect("a read");
                prop_assert_eq!(&output[..got], &text[text.len().min(at)..][..got]);
                at += got;
            }
            let mut rest = Vec::new();
            input.read_to_end(&mut rest).expect("a read");
            prop_assert_eq!(&rest, &text[text.len().min(at)..]);
        }
    }
}
