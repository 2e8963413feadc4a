//! A large file that is wanted as a whole, and whose parts are searched by all workers before one of them visits it.

use std::mem;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, RwLock};

use finecomb_meter::Phase;
use finecomb_sys::GuardedMap;
use finecomb_sys::locks::{lock, unpoisoned};

use super::Visit;
use super::job::Job;
use super::visiting::WholeText;
use super::worker::Visitor;
use crate::block::Source;
use crate::problem::ProblemKind;

/// A mapped file.
pub(crate) struct Mapped<V: Visit> {
    source: Source,
    /// Written to by the visit of the whole, when all parts have been searched.
    map: RwLock<GuardedMap>,
    text: WholeText,
    part_size: usize,
    found: Mutex<Parts<V::Found>>,
    /// Notified when all parts have been searched.
    all_found: Condvar,
}

/// Results of parts, and the number of parts that have not been searched.
struct Parts<F> {
    found: Vec<Option<F>>,
    missing: usize,
}

impl<V: Visit> Mapped<V> {
    fn new(source: Source, map: GuardedMap, text: WholeText, part_size: usize) -> Self {
        let missing = text.range.len().div_ceil(part_size);
        let found = (0..missing).map(|_| None).collect();
        Self {
            source,
            map: RwLock::new(map),
            text,
            part_size,
            found: Mutex::new(Parts { found, missing }),
            all_found: Condvar::new(),
        }
    }

    /// Number of parts.
    pub(crate) fn parts(&self) -> usize {
        self.text.range.len().div_ceil(self.part_size)
    }

    /// The range of a part in the text.
    fn part(&self, number: usize) -> Range<usize> {
        let start = number * self.part_size;
        start..self.text.range.len().min(start + self.part_size)
    }

    /// Records what was found in a part.
    fn record(&self, number: usize, found: Option<V::Found>) {
        let mut parts = lock(&self.found);
        parts.found[number] = found;
        parts.missing -= 1;
        if parts.missing == 0 {
            self.all_found.notify_all();
        }
    }

    /// Waits until all parts have been searched. They are in progress, and their workers wait for nothing.
    fn await_parts(&self) -> Vec<Option<V::Found>> {
        let parts = lock(&self.found);
        let parts = self.all_found.wait_while(parts, |parts| parts.missing > 0);
        mem::take(&mut unpoisoned(parts).found)
    }
}

impl<V: Visit> Visitor<'_, V> {
    /// Visits a mapped file, or returns the task if its parts are searched first.
    pub(super) fn begin_mapped(
        &mut self,
        source: &Source,
        mut map: GuardedMap,
        text: WholeText,
    ) -> Option<Job<V>> {
        if self.visit.searches_parts() {
            let file = Mapped::new(source.clone(), map, text, self.reader.context.mapped_part());
            return Some(Job::Mapped(Arc::new(file), 0));
        }
        self.record_bytes(text.range.len());
        self.visit_mapped(source, &mut map, text);
        None
    }

    /// Searches a part of a mapped file.
    pub(super) fn visit_part(&mut self, file: &Mapped<V>, number: usize) {
        self.reader.meter.enter(Phase::Search);
        let part = file.part(number);
        self.record_bytes(part.len());
        let found = {
            let map = unpoisoned(file.map.read());
            self.visit.search_part(&map[file.text.range.clone()], part)
        };
        file.record(number, found);
    }

    /// Visits a mapped file whose parts have been claimed.
    pub(super) fn visit_searched(&mut self, file: &Mapped<V>) {
        self.reader.meter.enter(Phase::Wait);
        let found = file.await_parts();
        self.visit.receive_parts(found);
        let mut map = unpoisoned(file.map.write());
        self.visit_mapped(&file.source, &mut map, file.text.clone());
    }

    fn visit_mapped(&mut self, source: &Source, map: &mut GuardedMap, text: WholeText) {
        let expected = map.len() as u64;
        match map.bytes_mut() {
            Ok(bytes) => self.visit_bytes(source, &mut bytes[text.range.clone()], &text),
            Err(error) => {
                let kind = ProblemKind::Read { offset: text.start, error };
                return self.reader.problems.add(source, kind);
            }
        }
        if map.is_damaged() {
            let found = source.file_path().and_then(|path| path.metadata().ok());
            let found = found.map_or(0, |metadata| metadata.len()).min(expected);
            self.reader.problems.add(source, ProblemKind::Shrank { expected, found });
        }
    }
}
