//! A buffer that shows the pages of the page cache instead of copying them.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::{PAGE, ReadBuffer};
use crate::guarded_map::{Access, GuardedMap};
use crate::memory::HUGE_PAGE;
use crate::{IS_LINUX, Usage};

/// Bytes of a file that are mapped at a time. Every map costs system calls and the caches of the page table, and all that is mapped
/// counts as memory of the process.
const WINDOW: u64 = if cfg!(test) { 4 * PAGE as u64 } else { 32 << 20 };

/// A multiple of this is the beginning of a window: the system maps huge pages from the beginning of one on.
const WINDOW_ALIGN: u64 = if cfg!(test) { PAGE } else { HUGE_PAGE } as u64;

/// A part of a file that is mapped.
#[derive(Debug)]
pub(super) struct MappedPart {
    file: Arc<File>,
    map: GuardedMap,
    /// Offsets in the file: from the beginning of the map to its end, or that of the file.
    range: Range<u64>,
    /// A page of an earlier window of the file was missing.
    was_damaged: bool,
}

impl MappedPart {
    fn holds(&self, file: &Arc<File>, range: &Range<u64>) -> bool {
        Arc::ptr_eq(&self.file, file) && self.range.start <= range.start && range.end <= self.range.end
    }

    fn is_damaged(&self) -> bool {
        self.was_damaged || self.map.is_damaged()
    }

    /// Whether the page at an offset is in the page cache. Reads nothing. On Linux it is also true for a file that the user may not write.
    fn is_cached(&self, offset: u64) -> bool {
        let mut page = [0_u8];
        let at = (offset - self.range.start) as usize;
        // SAFETY: the page is mapped, and there is a byte for it.
        let result = unsafe {
            libc::mincore(self.map.start().add(at).as_ptr().cast(), PAGE, page.as_mut_ptr().cast())
        };
        result == 0 && page[0] & 1 == 1
    }
}

impl ReadBuffer {
    /// Shows up to `length` bytes of a file from `offset` on, instead of reading them: byte 0 is the one at the offset. Returns the
    /// number of bytes; fewer if the file ends before. Changes of the bytes stay in this buffer, for as long as it shows the file.
    ///
    /// Other programs that change the file meanwhile change the bytes. If it becomes shorter, they are zeros from there on: see
    /// [`Self::is_damaged`].
    ///
    /// # Errors
    /// If the file cannot be mapped. The bytes in the buffer are arbitrary then.
    pub fn show(&mut self, file: &Arc<File>, offset: u64, length: usize) -> io::Result<usize> {
        let wanted = offset..offset.saturating_add(length as u64);
        self.end_show();
        self.open_window(file, &wanted)?;
        let Some(MappedPart { map, range, .. }) = self.window.as_deref() else { return Ok(0) };
        // Within a map, which is no longer than the address space.
        let at = (offset - range.start) as usize;
        let got = (range.end.min(wanted.end) - offset) as usize;
        self.hidden = Some((self.start, self.capacity));
        (self.lead, self.capacity) = (at % PAGE, 0);
        // SAFETY: this page and the bytes up to `got` are in the map.
        self.start = unsafe { map.start().add(at - self.lead) };
        self.end = self.lead + got;
        Ok(got)
    }

    /// Whether the 2 MiB of a file around an offset are a huge page in the page cache: a map of it then takes one page fault, not one for
    /// each few pages. The kernel puts a file into huge pages if it is read with a large read-ahead, and the file system supports that.
    /// The bytes in the buffer are arbitrary afterwards.
    ///
    /// Takes three microseconds.
    pub fn is_huge_page(&mut self, file: &Arc<File>, offset: u64) -> bool {
        self.end_show();
        let start = offset - offset % HUGE_PAGE as u64;
        let wanted = start..start + HUGE_PAGE as u64;
        let opened = IS_LINUX && self.open_window(file, &wanted).is_ok();
        let Some(window) = self.window.as_deref().filter(|window| opened && window.holds(file, &wanted))
        else {
            return false;
        };
        let places = [start, start + HUGE_PAGE as u64 / 2];
        if !places.iter().all(|&place| window.is_cached(place)) {
            return false;
        }
        let [first, second] = places.map(|place| &window.map[(place - window.range.start) as usize]);
        black_box(*first);
        let before = Usage::of_thread();
        black_box(*second);
        let faults = Usage::of_thread() - before;
        faults.minor_faults + faults.major_faults == 0
    }

    /// Whether the buffer shows a file.
    pub fn shows(&self) -> bool {
        self.hidden.is_some()
    }

    /// Whether bytes of the file that the buffer has shown last were missing.
    pub fn is_damaged(&self) -> bool {
        self.window.as_ref().is_some_and(|window| window.is_damaged())
    }

    /// Maps the window around a range, unless the present one holds it. Leaves no window if the range lies past the end of the file.
    fn open_window(&mut self, file: &Arc<File>, wanted: &Range<u64>) -> io::Result<()> {
        if self.window.as_ref().is_some_and(|window| window.holds(file, wanted)) {
            return Ok(());
        }
        let before = self.window.take();
        let was_damaged = before.is_some_and(|before| Arc::ptr_eq(&before.file, file) && before.is_damaged());
        self.window = map(file, wanted)?
            .map(|(map, range)| Box::new(MappedPart { file: Arc::clone(file), map, range, was_damaged }));
        Ok(())
    }

    /// Goes back to memory of its own.
    pub(super) fn end_show(&mut self) {
        let Some(own) = self.hidden.take() else { return };
        (self.start, self.capacity) = own;
        // The first page has been initialised.
        (self.lead, self.end) = (0, PAGE.min(self.capacity));
    }
}

/// Maps the window around a range, up to the end of the file. Returns the map and its offsets in the file; `None` if the range is empty or
/// lies past the end.
fn map(file: &File, wanted: &Range<u64>) -> io::Result<Option<(GuardedMap, Range<u64>)>> {
    let size = file.metadata()?.len();
    if wanted.is_empty() || size <= wanted.start {
        return Ok(None);
    }
    let start = wanted.start - wanted.start % WINDOW_ALIGN;
    let end = wanted.end.max(start.saturating_add(WINDOW)).min(size);
    let length = usize::try_from(end - start).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut map = GuardedMap::of_part(file, start, length, Access::InOrder)?;
    map.bytes_mut()?;
    Ok(Some((map, start..end)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use proptest::prelude::*;

    use super::*;

    fn file_of(bytes: &[u8]) -> Arc<File> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("room");
        Arc::new(file)
    }

    proptest! {
        #[test]
        fn bytes_are_those_of_reads(
            length in 0..40_000_usize,
            steps in prop::collection::vec((0..45_000_u64, 0..25_000_usize, 0..5_u8), 1..12),
        ) {
            let text: Vec<u8> = (0..length).map(|at| (at ^ at >> 8) as u8).collect();
            let files = [file_of(&text), file_of(&text)];
            let mut buffer = ReadBuffer::new();
            for (offset, wanted, way) in steps {
                let rest = &text[length.min(offset as usize)..];
                let expected = &rest[..rest.len().min(wanted)];
                let got = if way == 0 {
                    buffer.restart(offset);
                    buffer.fill_at(&files[0], 0..wanted, offset).expect("a read")
                } else {
                    buffer.show(&files[way as usize % 2], offset, wanted).expect("a map")
                };
                prop_assert_eq!(got, expected.len());
                prop_assert_eq!(&buffer[..got], expected);
                prop_assert!(!buffer.is_damaged());
                if way > 2 && got > 0 {
                    // Room is memory of its own, with the same bytes.
                    let length = if way == 3 { got / 2 } else { got };
                    buffer.reserve(length, length);
                    prop_assert!(!buffer.shows());
                    prop_assert_eq!(&buffer[..length], &expected[..length]);
                    buffer.bytes_mut(0..10).fill(1);
                }
            }
        }
    }

    #[test]
    fn bytes_that_vanish_are_noticed_also_after_a_further_part() {
        let text = vec![7; 20 * PAGE];
        let file = file_of(&text);
        let mut buffer = ReadBuffer::new();
        assert_eq!(buffer.show(&file, 10, 2 * PAGE).expect("a map"), 2 * PAGE);
        assert!(buffer.shows() && !buffer.is_damaged());
        file.set_len(100).expect("cut off");
        assert_eq!(buffer[PAGE], 0);
        assert!(buffer.is_damaged());
        file.write_all_at(&text, 0).expect("room");
        assert_eq!(buffer.show(&file, 10 * PAGE as u64, PAGE).expect("a map"), PAGE);
        assert!(buffer.is_damaged() && buffer[..PAGE] == text[..PAGE]);
        let other = file_of(&text);
        assert_eq!(buffer.show(&other, 0, 1).expect("a map"), 1);
        assert!(!buffer.is_damaged());
        assert_eq!(buffer.show(&other, 1 << 40, 1).expect("nothing"), 0);
        assert!(!buffer.shows());
    }

    #[test]
    fn what_cannot_be_mapped_is_an_error() {
        let directory = Arc::new(File::open("/").expect("a directory"));
        let mut buffer = ReadBuffer::new();
        assert!(buffer.show(&directory, 0, 10).is_err());
        assert!(!buffer.shows() && buffer.is_empty());
    }
}
