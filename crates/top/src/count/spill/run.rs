//! A run: the counts of a table in a temporary file, by partition of the hashes.

use std::io;
use std::sync::Arc;

use finecomb_scan::SpillFile;

use crate::count::order::Entry;
use crate::count::table::{Counted, SHARDS, Table};
use crate::measure::Measures;
use crate::measure::column::Scale;
use crate::measure::quantity::Form;
use finecomb_sys::varint;

/// Partitions of the hashes in a shard.
pub(super) const PARTS: usize = 64;

/// Bits of a hash that select the shard, and bits that select the partition in it.
const SHARD_BITS: u32 = SHARDS.trailing_zeros();
const PART_BITS: u32 = PARTS.trailing_zeros();

/// Bytes that are written at a time.
const WRITTEN: usize = 1 << 20;

/// Bytes that are read at a time, unless a record is longer.
const READ: usize = 256 << 10;

/// The counts of a table in a file. A record is the count, the key and, with measures, their states; before the last two is
/// their length. Numbers are varints.
#[derive(Debug)]
pub(super) struct SpilledRun {
    file: Arc<SpillFile>,
    index: Partitions,
}

/// Where the partitions of all shards are in a file.
#[derive(Debug)]
pub(super) struct Partitions {
    /// Offsets at which partitions begin, and where the last one ends.
    offsets: Vec<u64>,
    /// Number of keys by partition.
    keys: Vec<u32>,
    /// The scales of the measured fields.
    scales: Vec<Scale>,
}

/// The partition of a hash in its shard.
pub(super) fn part_of(hash: u32) -> usize {
    (hash << SHARD_BITS >> (u32::BITS - PART_BITS)) as usize
}

/// Appends the counts of a table to a file.
pub(super) fn write(table: &Table, file: &SpillFile) -> io::Result<Partitions> {
    let (mut offsets, mut keys) = (Vec::with_capacity(SHARDS * PARTS + 1), vec![0; SHARDS * PARTS]);
    let (mut buffer, mut entries) = (Vec::with_capacity(WRITTEN + (64 << 10)), Vec::new());
    let mut states = Vec::new();
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
                if let Some(measures) = table.measures() {
                    states.clear();
                    measures.encode(entry.group, Form::AsHeld, &mut states);
                    varint::put_bytes(&mut buffer, &states);
                }
                if buffer.len() >= WRITTEN {
                    file.append(&buffer)?;
                    buffer.clear();
                }
            }
        }
    }
    file.append(&buffer)?;
    offsets.push(file.len());
    Ok(Partitions { offsets, keys, scales: table.measures().map(Measures::scales).unwrap_or_default() })
}

fn push(buffer: &mut Vec<u8>, entry: &Entry<'_>) {
    varint::put(buffer, entry.count);
    varint::put_bytes(buffer, entry.key);
}

impl SpilledRun {
    pub(super) fn new(file: Arc<SpillFile>, index: Partitions) -> Self {
        Self { file, index }
    }

    /// Number of keys and bytes of a partition.
    pub(super) fn size(&self, shard: usize, part: usize) -> (u64, u64) {
        let Partitions { offsets, keys, .. } = &self.index;
        let index = shard * PARTS + part;
        (keys[index].into(), offsets[index + 1] - offsets[index])
    }

    /// The scales of the measured fields.
    pub(super) fn scales(&self) -> &[Scale] {
        &self.index.scales
    }

    /// Adds the counts and measures of some partitions of a shard to a table. `records` is memory that is used again.
    pub(super) fn add_to(
        &self,
        table: &mut Table,
        shard: usize,
        parts: std::ops::Range<usize>,
        records: &mut Counted,
    ) -> io::Result<()> {
        let (offsets, index) = (&self.index.offsets, shard * PARTS);
        let (mut offset, end) = (offsets[index + parts.start], offsets[index + parts.end]);
        records.text.clear();
        while offset < end || !records.text.is_empty() {
            let kept = records.text.len();
            let more = READ.max(kept).min(usize::try_from(end - offset).unwrap_or(READ));
            if more == 0 {
                return Err(damaged());
            }
            self.file.read(offset, more, &mut records.text)?;
            offset += more as u64;
            let mut measures = table.measures().map(Measures::without_groups);
            measures.iter_mut().for_each(|measures| measures.raise_to(self.scales()));
            let used = find(records, measures.as_mut())?;
            table.add(records, measures.as_ref());
            records.text.drain(..used);
        }
        Ok(())
    }
}

/// Finds the whole records in the text, adds their measures, and returns their length.
fn find(records: &mut Counted, mut measures: Option<&mut Measures>) -> io::Result<usize> {
    let Counted { text, keys, counts, groups } = records;
    keys.clear();
    counts.clear();
    let (mut rest, mut used) = (&text[..], 0);
    while let (Some(count), Some(key)) = (varint::take(&mut rest), varint::take_bytes(&mut rest)) {
        let end = text.len() - rest.len();
        if let Some(measures) = &mut measures {
            let Some(mut states) = varint::take_bytes(&mut rest) else { break };
            let decoded = measures.decode(keys.len(), &mut states);
            decoded.filter(|()| states.is_empty()).ok_or_else(damaged)?;
        }
        keys.push((end - key.len(), end));
        counts.push(count);
        used = text.len() - rest.len();
    }
    groups.clear();
    groups.extend(0..keys.len() as u32);
    Ok(used)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "damaged temporary file")
}
