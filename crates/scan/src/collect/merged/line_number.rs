//! Line number of a place in a file.

use finecomb_sys::{ReadBuffer, threads};
use memchr::memchr_iter;

use crate::block::{FileIdentity, Place};
use crate::walk::open_path;

/// Size of a read, in bytes.
const PART: usize = 1 << 20;

impl Place {
    /// Returns the line number of this place, counted from 1. Unless it is known, reads the file up to the place again,
    /// on all cores. Returns `None` if that fails, or the path belongs to another file by now.
    pub fn find_line(&self) -> Option<u64> {
        if self.line.is_some() || self.offset == 0 {
            return self.line.or(Some(1));
        }
        let file = open_path(self.source.path()?).ok()?;
        let identity = FileIdentity::of(&file.metadata().ok()?);
        if self.source.identity() != Some(identity) {
            return None;
        }
        let parts = (0..self.offset).step_by(PART);
        let lines = threads::map(threads::cores().get(), parts, |start| {
            let length = usize::try_from(self.offset - start).map_or(PART, |rest| rest.min(PART));
            let bytes =
                ReadBuffer::of_file(&file, start, length).ok().filter(|bytes| bytes.len() == length)?;
            Some(memchr_iter(b'\n', &bytes).count() as u64)
        });
        lines.into_iter().sum::<Option<u64>>().map(|lines| lines + 1)
    }
}
