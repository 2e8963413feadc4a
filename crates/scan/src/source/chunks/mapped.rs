//! Chunks that are shown where they are in the page cache, instead of being copied.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use finecomb_sys::ReadBuffer;
use finecomb_sys::memory::HUGE_PAGE;

use super::ChunkedFile;
use crate::problem::Problems;
use crate::source::bounds::Mapping;

/// Size of the smallest file that is mapped, in bytes: a copy of it takes a millisecond.
const MIN_MAPPED: u64 = 16 << 20;

/// Whether each 2 MiB of a file is a huge page of the page cache: most files have pages of several sizes.
#[derive(Default)]
pub(super) struct HugePages(OnceLock<Box<[AtomicU8]>>);

const UNKNOWN: u8 = 0;
const HUGE: u8 = 1;
const SMALL: u8 = 2;

impl HugePages {
    /// Whether a part is a huge page. `examine` is called if it is not known.
    fn is_huge(&self, parts: usize, part: usize, examine: impl FnOnce() -> bool) -> bool {
        let known = self.0.get_or_init(|| (0..parts).map(|_| AtomicU8::new(UNKNOWN)).collect());
        let Some(kind) = known.get(part) else { return false };
        if kind.load(Ordering::Relaxed) == UNKNOWN {
            kind.store(if examine() { HUGE } else { SMALL }, Ordering::Relaxed);
        }
        kind.load(Ordering::Relaxed) == HUGE
    }
}

impl ChunkedFile {
    /// Whether a chunk is to be shown.
    pub(super) fn is_mapped(&self, chunk: u64, buffer: &mut ReadBuffer) -> bool {
        match self.bounds.mapping {
            // A read ends where the file does.
            _ if self.has_shrunk.load(Ordering::Relaxed) => false,
            Mapping::Never => false,
            Mapping::Always => true,
            Mapping::Auto if self.len() < MIN_MAPPED => false,
            Mapping::Auto => {
                let [parts, part] = [self.end, chunk].map(|at| (at / HUGE_PAGE as u64) as usize);
                self.huge_pages.is_huge(parts, part, || buffer.is_huge_page(&self.file, chunk))
            }
        }
    }

    /// Shows up to `step` bytes more than the `got` bytes of a chunk that are shown. Returns their number.
    pub(super) fn show_on(
        &self,
        chunk: u64,
        got: usize,
        step: usize,
        buffer: &mut ReadBuffer,
        problems: &mut Problems,
    ) -> Option<usize> {
        let all = match buffer.show(&self.file, chunk, got + step) {
            Ok(all) => all,
            Err(_) => {
                buffer.restart(chunk);
                self.read_at(buffer, 0..got + step, chunk, problems).unwrap_or_default()
            }
        };
        if all < got {
            // The file has become shorter. The caller knows positions up to there.
            self.add_shrunk(chunk + all as u64, problems);
            buffer.bytes_mut(0..got);
        }
        all.checked_sub(got)
    }

    /// Records a problem if bytes of a chunk in this buffer were missing when they were searched.
    pub(crate) fn check(&self, buffer: &ReadBuffer, problems: &mut Problems) {
        if !buffer.shows() {
            return;
        }
        let size = self.file.metadata().map_or(0, |now| now.len());
        // Up to the end of its last page, a file that became shorter has zeros.
        if buffer.is_damaged() || size < self.end {
            self.add_shrunk(size.min(self.end), problems);
        }
    }
}
