//! Counts in files and messages. `docs/counts-format.md` is the public description of the format.
//!
//! Equal counts are stored in equal bytes, however they were made: keys are in the order of their bytes, and states of measures in
//! their canonical form.

use finecomb_sys::units::Bytes;
use finecomb_sys::{memory, varint};
use thiserror::Error;
use twox_hash::XxHash3_64;

use super::Counts;
use crate::count::order::Entry;
use crate::count::table::Counted;
use crate::count::tally::Tally;
use crate::measure::Measures;
use crate::measure::column::Scale;
use crate::measure::quantity::{Form, MAX_COUNT};
use crate::time::bucket;

/// First bytes of stored counts. The first byte does not occur in text; a transfer that converts line endings changes the others.
const MAGIC: [u8; 8] = *b"\x89FCNT\r\n\x1a";

/// Version of the format.
const VERSION: u8 = 4;

/// Bytes of the checksum at the end.
const CHECKSUM: usize = size_of::<u64>();

/// Bytes of a key at least: two lengths and a count.
const KEY: usize = 3;

/// Number of keys that are added at a time.
const BATCH: u64 = 4096;

/// Bytes of keys that are added at a time, with the last of them.
const BATCH_BYTES: usize = 1 << 20;

/// Bytes of all keys from which on the memory of the system is examined.
const MANY_BYTES: u64 = 1 << 30;

/// Bytes that are no stored counts, or counts of another query.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredError {
    /// The bytes are something else.
    #[error("not a file of counts")]
    NotCounts,
    /// Another version of the format.
    #[error("counts of version {0}; this program reads version {VERSION}: count again")]
    Version(u8),
    /// The bytes have changed since they were written, or their end is missing.
    #[error("damaged counts: {0}")]
    Damaged(&'static str),
    /// The keys do not fit in memory.
    #[error("the keys take {} of memory, and {} are available", Bytes(*keys), Bytes(*available))]
    TooLarge {
        /// Bytes of all keys.
        keys: u64,
        /// Bytes of memory that are available.
        available: u64,
    },
}

/// Counts as they are stored, before they are read.
#[derive(Clone, Copy, Debug)]
pub struct StoredCounts<'b> {
    definition: &'b [u8],
    /// All bytes after the definition.
    rest: &'b [u8],
}

impl<'b> StoredCounts<'b> {
    /// Stored counts. The checksum is compared, so all bytes are read.
    ///
    /// # Errors
    /// If the bytes are something else, of another version, or damaged.
    pub fn new(bytes: &'b [u8]) -> Result<Self, StoredError> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(StoredError::NotCounts)?;
        let (&version, rest) = rest.split_first().ok_or(StoredError::Damaged("the end is missing"))?;
        if version != VERSION {
            return Err(StoredError::Version(version));
        }
        let (mut rest, checksum) =
            rest.split_last_chunk::<CHECKSUM>().ok_or(StoredError::Damaged("the end is missing"))?;
        if u64::from_le_bytes(*checksum) != XxHash3_64::oneshot(&bytes[..bytes.len() - CHECKSUM]) {
            return Err(StoredError::Damaged("the checksum does not match"));
        }
        let definition = varint::take_bytes(&mut rest).ok_or(INVALID)?;
        Ok(Self { definition, rest })
    }

    /// Whether bytes are the beginning of stored counts, of any version.
    pub fn is_beginning(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// The definition that the writer of the counts gave them: counts may be merged if it is the same.
    pub fn definition(&self) -> &'b [u8] {
        self.definition
    }

    /// Adds the counts to others of the same definition.
    ///
    /// # Errors
    /// If no program has written these bytes, or the keys do not fit in memory. Then some of the counts may have been added.
    pub fn add_to(&self, counts: &mut Counts) -> Result<(), StoredError> {
        let mut rest = self.rest;
        let tally = Tally::decode(&mut rest).ok_or(INVALID)?;
        let scales = varint::take_bytes(&mut rest).ok_or(INVALID)?;
        let scales: Option<Vec<Scale>> = scales.iter().map(|byte| Scale::from_byte(*byte)).collect();
        let own = counts.table.measures().map(Measures::scales).unwrap_or_default();
        let scales = scales.filter(|scales| scales.len() == own.len()).ok_or(INVALID)?;
        counts.table.raise_to(&scales);
        let mut left = varint::take(&mut rest).ok_or(INVALID)?;
        // As in the addition of tables. Bytes that claim more keys than they have are invalid.
        counts
            .table
            .reserve(usize::try_from(left).ok().filter(|keys| *keys <= rest.len() / KEY).ok_or(INVALID)?);
        check_memory(rest, left, !scales.is_empty())?;
        let (key, records) = (Vec::new(), Counted::default());
        let mut reader = KeyReader { rest, scales: &scales, key, is_first: true, records };
        while left > 0 {
            left -= reader.add_keys(left.min(BATCH) as u32, counts)?;
        }
        if !reader.rest.is_empty() {
            return Err(INVALID);
        }
        counts.tally = std::mem::take(&mut counts.tally).merge(tally);
        Ok(())
    }
}

const INVALID: StoredError = StoredError::Damaged("invalid contents");

impl Counts {
    /// The counts in the bytes that [`StoredCounts`] reads. `definition` is for the reader: it should say all that two queries must
    /// have in common for their counts to be merged.
    ///
    /// Only the numbers of omitted records are stored, not the records themselves.
    pub fn store(&self, definition: &[u8]) -> Vec<u8> {
        self.store_entries(self.table.entries(), &self.tally, definition)
    }

    /// The same with these keys of the table.
    pub(super) fn store_entries(
        &self,
        mut entries: Vec<Entry<'_>>,
        tally: &Tally,
        definition: &[u8],
    ) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        varint::put_bytes(&mut out, definition);
        tally.encode(&mut out);
        let measures = self.table.measures();
        let scales = measures.map(Measures::scales).unwrap_or_default();
        varint::put_bytes(&mut out, &scales.iter().map(|scale| scale.to_byte()).collect::<Vec<_>>());
        entries.sort_unstable_by(|one, other| one.key.cmp(other.key));
        varint::put(&mut out, entries.len() as u64);
        let (mut before, mut states) = (&b""[..], Vec::new());
        for entry in &entries {
            put_key(before, entry, &mut out);
            before = entry.key;
            if let Some(measures) = measures {
                states.clear();
                measures.encode(entry.group, Form::Canonical, &mut states);
                varint::put_bytes(&mut out, &states);
            }
        }
        let checksum = XxHash3_64::oneshot(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }
}

/// Checks that the memory of the system can hold `number` keys: since each has only the bytes that differ from the one before, few bytes can
/// stand for very many.
fn check_memory(mut rest: &[u8], number: u64, has_states: bool) -> Result<(), StoredError> {
    let (mut key, mut keys) = (0, 0_u64);
    for _ in 0..number {
        let common = varint::take(&mut rest).filter(|common| *common <= key).ok_or(INVALID)?;
        key = common + varint::take_bytes(&mut rest).ok_or(INVALID)?.len() as u64;
        keys = keys.saturating_add(key);
        varint::take(&mut rest).ok_or(INVALID)?;
        if has_states {
            varint::take_bytes(&mut rest).ok_or(INVALID)?;
        }
    }
    let available = if keys >= MANY_BYTES { memory::available() } else { None };
    match available {
        Some(available) if keys > available => Err(StoredError::TooLarge { keys, available }),
        _ => Ok(()),
    }
}

/// Appends the number of bytes that a key has in common with the one before, its other bytes, and its count.
fn put_key(before: &[u8], entry: &Entry<'_>, out: &mut Vec<u8>) {
    let common = before.iter().zip(entry.key).take_while(|(one, other)| one == other).count();
    varint::put(out, common as u64);
    varint::put_bytes(out, &entry.key[common..]);
    varint::put(out, entry.count);
}

/// Reads keys, which are in the order of their bytes.
struct KeyReader<'b> {
    rest: &'b [u8],
    scales: &'b [Scale],
    /// The last key, unless the next one is the first.
    key: Vec<u8>,
    is_first: bool,
    records: Counted,
}

impl KeyReader<'_> {
    /// Adds the next keys, up to this number, and returns how many.
    fn add_keys(&mut self, number: u32, counts: &mut Counts) -> Result<u64, StoredError> {
        self.records.clear();
        let has_buckets = counts.query.buckets().is_some();
        let mut measures = counts.table.measures().map(Measures::without_groups);
        measures.iter_mut().for_each(|measures| measures.raise_to(self.scales));
        let (mut added, mut bytes) = (0, 0);
        while added < number && bytes < BATCH_BYTES {
            let group = added;
            let count = self.take_key().ok_or(INVALID)?;
            if has_buckets && !bucket::is_in_bucket(&self.key) {
                return Err(INVALID);
            }
            if let Some(measures) = &mut measures {
                let mut states = varint::take_bytes(&mut self.rest).ok_or(INVALID)?;
                let decoded = measures.decode(group as usize, &mut states);
                decoded.filter(|()| states.is_empty()).ok_or(INVALID)?;
            }
            self.records.push(&self.key, count, group);
            bytes += self.key.len();
            added += 1;
        }
        counts.table.add(&self.records, measures.as_ref());
        Ok(added.into())
    }

    /// Takes a key, and returns its count. `None` if there is none, or it is not greater than the last one.
    fn take_key(&mut self) -> Option<u64> {
        let common = usize::try_from(varint::take(&mut self.rest)?).ok()?;
        let other = varint::take_bytes(&mut self.rest)?;
        let is_greater = self.key.get(common..)? < other || self.is_first;
        self.is_first = false;
        self.key.truncate(common);
        self.key.extend_from_slice(other);
        let is_valid = is_greater && u32::try_from(self.key.len()).is_ok();
        varint::take(&mut self.rest).filter(|count| is_valid && (1..=MAX_COUNT).contains(count))
    }
}
