//! A large file that is wanted as a whole, and whose parts are searched by all workers before one of them visits it.

use std::mem;
use std::ops::Range;
use std::sync::{Condvar, Mutex, RwLock};

use finecomb_sys::GuardedMap;
use finecomb_sys::locks::{lock, unpoisoned};

use super::visit::Print;
use crate::block::Source;

/// A text in the buffer of a reader or in a map: all of a file, or a part of it.
#[derive(Clone)]
pub(super) struct WholeText {
    /// Its range in the buffer or the map.
    pub(super) range: Range<usize>,
    /// Its offset in the file.
    pub(super) start: u64,
    /// Offset of the text of the file, which begins after a byte order mark.
    pub(super) text_start: u64,
    /// Whether it is all of the file.
    pub(super) is_whole: bool,
}

/// A mapped file.
pub(crate) struct Mapped<V: Print> {
    pub(super) source: Source,
    /// Written to by the visit of the whole, when all parts have been searched.
    pub(super) map: RwLock<GuardedMap>,
    pub(super) text: WholeText,
    part_size: usize,
    found: Mutex<PartResults<V::Found>>,
    /// Notified when all parts have been searched.
    all_found: Condvar,
}

/// Results of parts, and the number of parts that have not been searched.
struct PartResults<F> {
    found: Vec<Option<F>>,
    missing: usize,
}

impl<V: Print> Mapped<V> {
    pub(super) fn new(source: Source, map: GuardedMap, text: WholeText, part_size: usize) -> Self {
        let missing = text.range.len().div_ceil(part_size);
        let found = (0..missing).map(|_| None).collect();
        Self {
            source,
            map: RwLock::new(map),
            text,
            part_size,
            found: Mutex::new(PartResults { found, missing }),
            all_found: Condvar::new(),
        }
    }

    /// Number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.text.range.len().div_ceil(self.part_size)
    }

    /// The range of a part in the text.
    pub(super) fn part(&self, number: usize) -> Range<usize> {
        let start = number * self.part_size;
        start..self.text.range.len().min(start + self.part_size)
    }

    /// Records what was found in a part.
    pub(super) fn record(&self, number: usize, found: Option<V::Found>) {
        let mut parts = lock(&self.found);
        parts.found[number] = found;
        parts.missing -= 1;
        if parts.missing == 0 {
            self.all_found.notify_all();
        }
    }

    /// Waits until all parts have been searched. They are in progress, and their workers wait for nothing.
    pub(super) fn await_parts(&self) -> Vec<Option<V::Found>> {
        let parts = lock(&self.found);
        let parts = self.all_found.wait_while(parts, |parts| parts.missing > 0);
        mem::take(&mut unpoisoned(parts).found)
    }
}
