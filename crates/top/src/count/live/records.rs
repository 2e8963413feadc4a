//! Records of a running count that a display shows: the latest of each worker, and those of the opened row.

use std::collections::VecDeque;
use std::time::Instant;

use finecomb_scan::Source;

use crate::count::changes::Side;
use crate::count::pivot;
use crate::query::CountShape;
use crate::time::bucket;

/// Maximum number of records of the opened row: more than a terminal has lines.
pub(super) const MAX_RECORDS: usize = 200;

/// Maximum number of bytes of a record.
const MAX_LENGTH: usize = 4000;

/// Maximum number of records of a block that are kept in case that their row is opened.
const MAX_OF_BLOCK: usize = 64;

/// Maximum memory of the latest records of a worker, in bytes.
const MAX_LATEST: usize = 256 << 10;

/// A record that was counted.
#[derive(Clone, Debug)]
pub struct LiveRecord {
    /// The input.
    pub source: Source,
    /// The record, or its first 4000 bytes.
    pub text: Vec<u8>,
    /// When it was counted.
    pub(super) at: Instant,
}

/// Records of a worker.
#[derive(Debug, Default)]
pub(super) struct RecentRecords {
    /// The latest records of all rows, each with its row.
    latest: VecDeque<(Vec<u8>, LiveRecord)>,
    /// Memory of these, in bytes.
    memory: usize,
    opened: Option<OpenedRecords>,
}

/// The records of the opened row.
#[derive(Debug)]
struct OpenedRecords {
    row: Vec<u8>,
    latest: VecDeque<LiveRecord>,
    /// Number of records since the row was opened.
    seen: u64,
}

/// The counted keys and the records of a block.
pub(crate) struct CountedRecords<'b, K, R> {
    pub(crate) source: &'b Source,
    /// Number of keys.
    pub(crate) keys: usize,
    /// The key with an index.
    pub(crate) key: K,
    /// The record of the key with an index.
    pub(crate) record: R,
}

/// The part of a counted key that makes its row.
fn row_of<'k>(shape: CountShape<'_>, key: &'k [u8]) -> &'k [u8] {
    match shape {
        CountShape::Keys(None) | CountShape::Buckets(_) => key,
        CountShape::Keys(Some(_)) | CountShape::Series(_) => bucket::split(key).1,
        CountShape::Pivot(_) => pivot::split(key).1,
        CountShape::Changes => Side::split(key).1,
    }
}

impl RecentRecords {
    /// Opens a row, or closes it. Records from before are found among the latest.
    pub(super) fn open(&mut self, row: Option<&[u8]>) {
        self.opened = row.map(|row| {
            let of_row = self.latest.iter().filter(|(known, _)| known == row);
            OpenedRecords {
                row: row.to_vec(),
                latest: of_row.map(|(_, record)| record.clone()).collect(),
                seen: 0,
            }
        });
    }

    /// Keeps records of a block: those of the opened row, and the latest ones if the block is small or a display has asked.
    pub(super) fn add<'b>(
        &mut self,
        counted: &CountedRecords<'b, impl Fn(usize) -> &'b [u8], impl Fn(usize) -> &'b [u8]>,
        shape: CountShape<'_>,
        is_asked: bool,
    ) {
        let CountedRecords { source, keys, key, record } = counted;
        let keeps_latest = is_asked || *keys <= MAX_OF_BLOCK;
        if self.opened.is_none() && !keeps_latest {
            return;
        }
        let at = Instant::now();
        let kept = |index: usize| {
            let text = record(index);
            LiveRecord { source: (*source).clone(), text: text[..text.len().min(MAX_LENGTH)].to_vec(), at }
        };
        if let Some(OpenedRecords { row, latest, seen }) = &mut self.opened {
            let of_row: Vec<usize> = (0..*keys).filter(|&index| row_of(shape, key(index)) == row).collect();
            *seen += of_row.len() as u64;
            latest
                .extend(of_row[of_row.len().saturating_sub(MAX_RECORDS)..].iter().map(|&index| kept(index)));
            latest.drain(..latest.len().saturating_sub(MAX_RECORDS));
        }
        if keeps_latest {
            for index in keys.saturating_sub(MAX_OF_BLOCK)..*keys {
                self.push((row_of(shape, key(index)).to_vec(), kept(index)));
            }
        }
    }

    fn push(&mut self, record: (Vec<u8>, LiveRecord)) {
        let size = |(row, record): &(Vec<u8>, LiveRecord)| {
            size_of::<(Vec<u8>, LiveRecord)>() + row.len() + record.text.len()
        };
        self.memory += size(&record);
        self.latest.push_back(record);
        while self.memory > MAX_LATEST
            && let Some(first) = self.latest.pop_front()
        {
            self.memory -= size(&first);
        }
    }

    /// The number of records since the row was opened, and the latest ones.
    pub(super) fn opened(&self) -> (u64, impl Iterator<Item = &LiveRecord>) {
        let seen = self.opened.as_ref().map_or(0, |opened| opened.seen);
        (seen, self.opened.iter().flat_map(|opened| &opened.latest))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// Adds a block with a record for each number: the key is its last digit.
    fn add(recent: &mut RecentRecords, numbers: Range<usize>, is_asked: bool) {
        let (source, texts) = (Source::named(0, None), numbers.map(|number| number.to_string()));
        let texts: Vec<String> = texts.collect();
        let counted = CountedRecords {
            source: &source,
            keys: texts.len(),
            key: |index: usize| &texts[index].as_bytes()[texts[index].len() - 1..],
            record: |index: usize| texts[index].as_bytes(),
        };
        recent.add(&counted, CountShape::Keys(None), is_asked);
    }

    fn opened(recent: &RecentRecords) -> (u64, Vec<String>) {
        let (seen, records) = recent.opened();
        (seen, records.map(|record| String::from_utf8_lossy(&record.text).into_owned()).collect())
    }

    #[test]
    fn the_records_of_the_opened_row_are_those_from_before_and_all_from_then_on() {
        let mut recent = RecentRecords::default();
        add(&mut recent, 0..13, false);
        assert_eq!(opened(&recent), (0, vec![]));
        recent.open(Some(b"2"));
        assert_eq!(opened(&recent), (0, vec!["2".to_owned(), "12".to_owned()]));
        add(&mut recent, 20..21, false);
        add(&mut recent, 100..400, false);
        let (seen, records) = opened(&recent);
        assert_eq!((seen, records.len(), &*records[2], &*records[31]), (30, 32, "102", "392"));
        add(&mut recent, 10_000..20_000, true);
        let (seen, records) = opened(&recent);
        assert_eq!((seen, records.len(), &*records[199]), (1030, MAX_RECORDS, "19992"));
        recent.open(Some(b"3"));
        assert_eq!(
            opened(&recent).1[..2],
            ["3", "19943"],
            "the latest of a block for which a display has asked"
        );
        recent.open(None);
        assert_eq!(opened(&recent), (0, vec![]));
    }

    #[test]
    fn memory_is_bounded() {
        let (source, text) = (Source::named(0, None), vec![b'x'; 10_000]);
        let mut recent = RecentRecords::default();
        for _ in 0..1000 {
            let counted =
                CountedRecords { source: &source, keys: 3, key: |_| &text[..1], record: |_| &text[..] };
            recent.add(&counted, CountShape::Keys(None), false);
        }
        let held: usize = recent.latest.iter().map(|(_, record)| record.text.len()).sum();
        assert!(held > MAX_LATEST / 2 && held <= recent.memory && recent.memory <= MAX_LATEST, "{held}");
    }
}
