//! Sorts pairs of a trigram and a document that do not fit into memory.
//!
//! Each batch of documents becomes sorted runs in a temporary file. As a batch holds consecutive documents, the lists
//! of a trigram in the runs are joined in the order of the batches. Documents are numbered within their batch at first:
//! how many the batches before it have is known only at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Mutex;

use finecomb_scan::SpillFile;
use finecomb_sys::locks::{lock, unpoisoned};
use finecomb_sys::varint;

use super::SegmentWriter;
use crate::trigram::Trigram;

/// Pairs of a trigram and a document that all threads hold in memory, of 16 bytes each.
pub(crate) const PAIRS: usize = 12 << 20;

/// Bytes of a run that are read at a time.
const READ: usize = 64 << 10;

/// Maximum length of a number in a run.
const NUMBER: usize = 10;

/// The runs of all threads.
pub(crate) struct Runs {
    file: SpillFile,
    /// Batch, number within the batch, and place in the file.
    places: Mutex<Vec<RunPlace>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RunPlace {
    batch: usize,
    number: usize,
    start: u64,
    end: u64,
}

/// Collects the pairs of one thread, and writes them as runs.
pub(crate) struct PairSorter<'r> {
    runs: &'r Runs,
    /// Trigram above document.
    pairs: Vec<u64>,
    sorted: Vec<u64>,
    capacity: usize,
    /// Runs of the present batch so far.
    number: usize,
    bytes: Vec<u8>,
}

impl Runs {
    pub(crate) fn new(file: SpillFile) -> Self {
        Self { file, places: Mutex::default() }
    }

    /// Writes all pairs to a segment, given the number of the first document of each batch.
    pub(crate) fn merge(self, first: &[u32], segment: &mut SegmentWriter) -> io::Result<()> {
        let mut places = unpoisoned(self.places.into_inner());
        places.sort_unstable();
        let mut runs = Vec::new();
        let mut heads = BinaryHeap::new();
        for (number, place) in places.iter().enumerate() {
            let mut run = RunReader {
                file: &self.file,
                next: place.start,
                end: place.end,
                buffer: Vec::new(),
                at: 0,
                last: 0,
            };
            heads.extend(run.next_trigram()?.map(|trigram| Reverse((trigram, number))));
            runs.push(run);
        }
        let mut documents = Vec::new();
        while let Some(Reverse((trigram, number))) = heads.pop() {
            let first = first.get(places[number].batch).copied().unwrap_or_default();
            runs[number].read_documents(first, &mut documents)?;
            heads.extend(runs[number].next_trigram()?.map(|trigram| Reverse((trigram, number))));
            if heads.peek().is_none_or(|Reverse((next, _))| *next != trigram) {
                segment.add(trigram, &documents)?;
                documents.clear();
            }
        }
        Ok(())
    }
}

impl<'r> PairSorter<'r> {
    /// Collects pairs with at most this many in memory, which take 16 bytes each.
    pub(crate) fn new(runs: &'r Runs, capacity: usize) -> Self {
        let (pairs, sorted, bytes) = Default::default();
        Self { runs, pairs, sorted, capacity, number: 0, bytes }
    }

    /// Adds the trigrams of the next document of a batch.
    pub(crate) fn add(&mut self, batch: usize, document: u32, trigrams: &[Trigram]) -> io::Result<()> {
        if !self.pairs.is_empty() && self.pairs.len() + trigrams.len() > self.capacity {
            self.write_run(batch)?;
        }
        self.pairs.extend(trigrams.iter().map(|&trigram| u64::from(trigram) << 32 | u64::from(document)));
        Ok(())
    }

    /// Ends a batch.
    pub(crate) fn end_batch(&mut self, batch: usize) -> io::Result<()> {
        self.write_run(batch)?;
        self.number = 0;
        Ok(())
    }

    fn write_run(&mut self, batch: usize) -> io::Result<()> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        sort(&mut self.pairs, &mut self.sorted);
        self.bytes.clear();
        let mut last = 0;
        for list in self.pairs.chunk_by(|one, other| one >> 32 == other >> 32) {
            varint::put(&mut self.bytes, (list[0] >> 32) - last);
            last = list[0] >> 32;
            varint::put(&mut self.bytes, list.len() as u64);
            let mut before = 0;
            for pair in list {
                let document = pair & u64::from(u32::MAX);
                varint::put(&mut self.bytes, document - before);
                before = document;
            }
        }
        self.pairs.clear();
        // Only one thread may append at a time.
        let mut places = lock(&self.runs.places);
        let start = self.runs.file.len();
        self.runs.file.append(&self.bytes)?;
        places.push(RunPlace { batch, number: self.number, start, end: self.runs.file.len() });
        self.number += 1;
        Ok(())
    }
}

/// Sorts pairs by their trigrams, and keeps the order of pairs with the same trigram: two passes of a radix sort over 12 bits each.
fn sort(pairs: &mut Vec<u64>, sorted: &mut Vec<u64>) {
    const BITS: u32 = 12;
    sorted.resize(pairs.len(), 0);
    for shift in [32, 32 + BITS] {
        let digit = |pair: u64| (pair >> shift) as usize & ((1 << BITS) - 1);
        let mut places = vec![0_usize; 1 << BITS];
        pairs.iter().for_each(|&pair| places[digit(pair)] += 1);
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        for &pair in pairs.iter() {
            let place = &mut places[digit(pair)];
            sorted[*place] = pair;
            *place += 1;
        }
        std::mem::swap(pairs, sorted);
    }
}

/// A run that is read.
struct RunReader<'f> {
    file: &'f SpillFile,
    /// The part of the file that is not read yet.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    at: usize,
    last: u64,
}

impl RunReader<'_> {
    /// The next trigram, if there is one. Its documents must be read before the one after it.
    fn next_trigram(&mut self) -> io::Result<Option<Trigram>> {
        self.fill()?;
        if self.at == self.buffer.len() {
            return Ok(None);
        }
        self.last += self.number()?;
        Ok(Some(self.last as Trigram))
    }

    fn read_documents(&mut self, first: u32, documents: &mut Vec<u32>) -> io::Result<()> {
        let count = self.number()?;
        let mut document = u64::from(first);
        for _ in 0..count {
            document += self.number()?;
            documents.push(document as u32);
        }
        Ok(())
    }

    fn number(&mut self) -> io::Result<u64> {
        self.fill()?;
        let mut rest = &self.buffer[self.at..];
        let number = varint::take(&mut rest).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.at = self.buffer.len() - rest.len();
        Ok(number)
    }

    /// Reads on unless the buffer holds a whole number.
    fn fill(&mut self) -> io::Result<()> {
        if self.buffer.len() - self.at >= NUMBER || self.next == self.end {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let length = ((self.end - self.next) as usize).min(READ);
        self.file.read(self.next, length, &mut self.buffer)?;
        self.next += length as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairs_are_sorted_by_trigram_and_keep_their_order(trigrams in prop::collection::vec(0..1_u32 << 24, 0..300)) {
            let mut pairs: Vec<u64> = (0..).zip(&trigrams).map(|(at, &trigram)| u64::from(trigram % 50) << 32 | at).collect();
            let mut expected = pairs.clone();
            expected.sort_by_key(|pair| pair >> 32);
            sort(&mut pairs, &mut Vec::new());
            prop_assert_eq!(pairs, expected);
        }
    }
}
