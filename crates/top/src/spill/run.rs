//! A run: the counts of a table in a temporary file, by partition of the hashes.

use std::io;
use std::sync::Arc;

use finecomb_scan::SpillFile;

use crate::Span;
use crate::table::{Entry, SHARDS, Table};

/// Partitions of the hashes in a shard.
pub(super) const PARTS: usize = 64;

/// Bits of a hash that tell the shard, and those that tell the partition in it.
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
const PART_BITS: u32 = PARTS.trailing_zeros();

/// Bytes that are written at a time.
const WRITTEN: usize = 1 << 20;

/// Bytes that are read at a time, unless a record is longer.
const READ: usize = 256 << 10;

/// Maximum length of a number in a record.
const MAX_NUMBER: usize = 10;

/// The counts of a table in a file. A record is the count, the length of the key, both in LEB128, and the key.
#[derive(Debug)]
pub(super) struct Run {
    file: Arc<SpillFile>,
    /// Offsets in the file at which the partitions of all shards begin, and where the last one ends.
    offsets: Vec<u64>,
    /// Number of keys by partition.
    keys: Vec<u32>,
}

/// The partition of a hash in its shard.
pub(super) fn part_of(hash: u32) -> usize {
    (hash << SHARD_BITS >> (u32::BITS - PART_BITS)) as usize
}

/// Appends the counts of a table to a file.
pub(super) fn write(table: &Table, file: &SpillFile) -> io::Result<(Vec<u64>, Vec<u32>)> {
    let (mut offsets, mut keys) = (Vec::with_capacity(SHARDS * PARTS + 1), vec![0; SHARDS * PARTS]);
    let (mut buffer, mut entries) = (Vec::with_capacity(WRITTEN + (64 << 10)), Vec::new());
    for shard in 0..SHARDS {
        entries.clear();
        table.visit_shard(shard, |entry| entries.push(entry));
        // They are nearly in the order of their hashes.
        entries.sort_unstable_by_key(|entry| part_of(entry.hash));
        let mut entries = entries.iter().peekable();
        for part in 0..PARTS {
            offsets.push(file.len() + buffer.len() as u64);
            while let Some(entry) = entries.next_if(|entry| part_of(entry.hash) == part) {
                keys[shard * PARTS + part] += 1;
                push(&mut buffer, entry);
                if buffer.len() >= WRITTEN {
                    file.append(&buffer)?;
                    buffer.clear();
                }
            }
        }
    }
    file.append(&buffer)?;
    offsets.push(file.len());
    Ok((offsets, keys))
}

fn push(buffer: &mut Vec<u8>, entry: &Entry<'_>) {
    push_number(buffer, entry.count);
    push_number(buffer, entry.key.len() as u64);
    buffer.extend_from_slice(entry.key);
}

fn push_number(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number as u8 | 0x80);
        number >>= 7;
    }
    buffer.push(number as u8);
}

/// Takes a number from the beginning of some bytes.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for (index, &byte) in bytes.iter().enumerate().take(MAX_NUMBER) {
        number |= u64::from(byte & 0x7F) << (7 * index);
        if byte < 0x80 {
            *bytes = &bytes[index + 1..];
            return Some(number);
        }
    }
    None
}

/// Records of a run in memory.
#[derive(Debug, Default)]
pub(super) struct Records {
    bytes: Vec<u8>,
    keys: Vec<Span>,
    counts: Vec<u64>,
}

impl Run {
    pub(super) fn new(file: Arc<SpillFile>, (offsets, keys): (Vec<u64>, Vec<u32>)) -> Self {
        Self { file, offsets, keys }
    }

    /// Number of keys and bytes of a partition.
    pub(super) fn size(&self, shard: usize, part: usize) -> (u64, u64) {
        let index = shard * PARTS + part;
        (self.keys[index].into(), self.offsets[index + 1] - self.offsets[index])
    }

    /// Adds the counts of some partitions of a shard to a table.
    pub(super) fn add_to(
        &self,
        table: &mut Table,
        shard: usize,
        parts: std::ops::Range<usize>,
        records: &mut Records,
    ) -> io::Result<()> {
        let index = shard * PARTS;
        let (mut offset, end) = (self.offsets[index + parts.start], self.offsets[index + parts.end]);
        records.bytes.clear();
        while offset < end || !records.bytes.is_empty() {
            let kept = records.bytes.len();
            let more = READ.max(kept).min(usize::try_from(end - offset).unwrap_or(READ));
            if more == 0 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "damaged temporary file"));
            }
            records.bytes.resize(kept + more, 0);
            self.file.read(offset, &mut records.bytes[kept..])?;
            offset += more as u64;
            let used = records.find();
            table.add_counts(&records.bytes, &records.keys, &records.counts);
            records.bytes.drain(..used);
        }
        Ok(())
    }
}

impl Records {
    /// Finds the whole records and returns their length.
    fn find(&mut self) -> usize {
        self.keys.clear();
        self.counts.clear();
        let all = self.bytes.len();
        let (mut rest, mut used) = (&self.bytes[..], 0);
        while let (Some(count), Some(length)) = (take_number(&mut rest), take_number(&mut rest)) {
            let start = all - rest.len();
            let Some(behind) = usize::try_from(length).ok().and_then(|length| rest.get(length..)) else {
                break;
            };
            rest = behind;
            used = all - rest.len();
            self.keys.push((start, used));
            self.counts.push(count);
        }
        used
    }
}
