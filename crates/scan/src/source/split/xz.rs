//! The blocks of an xz file with a single stream, as listed by the index at its end (The .xz File Format, version
//! 1.2.1).
//!
//! Each block is turned into a stream: the header of the file, the block, an index of one block, and a footer.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use finecomb_sys::varint;
use flate2::Crc;

use super::{CompressedPart, Restart, append};

/// Length of the header of a stream, and of its footer, in bytes.
const HEADER: usize = 12;

const MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const FOOTER_MAGIC: [u8; 2] = *b"YZ";

/// Maximum size of an index, in bytes. An index takes a few bytes per block.
const MAX_INDEX: usize = 16 << 20;

/// Maximum size of a block that is read at once, in bytes.
const MAX_BLOCK: u64 = 64 << 20;

/// A file split into the blocks listed by its index.
pub(crate) struct Blocks {
    file: Arc<File>,
    header: [u8; HEADER],
    records: std::vec::IntoIter<IndexRecord>,
    /// Offset of the next block in the file.
    offset: u64,
    done: bool,
}

/// An entry of the index.
#[derive(Clone, Copy)]
struct IndexRecord {
    /// Size of the block without padding, in bytes.
    unpadded: u64,
    /// Size of its text, in bytes.
    text: u64,
}

impl IndexRecord {
    fn padded(self) -> u64 {
        self.unpadded.saturating_add(3) & !3
    }
}

impl Blocks {
    /// A splitter for a file of `size` bytes; `None` unless it is a single stream of several blocks.
    pub(super) fn new(file: Arc<File>, size: u64) -> Option<Self> {
        let mut header = [0; HEADER];
        let mut footer = [0; HEADER];
        let footer_at = size.checked_sub(HEADER as u64)?;
        file.read_exact_at(&mut header, 0).ok()?;
        file.read_exact_at(&mut footer, footer_at).ok()?;
        let [c0, c1, c2, c3, b0, b1, b2, b3, f0, f1, magic @ ..] = footer;
        let is_footer =
            magic == FOOTER_MAGIC && u32::from_le_bytes([c0, c1, c2, c3]) == crc32(&footer[4..10]);
        if !header.starts_with(&MAGIC) || !is_footer || header[6..8] != [f0, f1] {
            return None;
        }
        let index_size = (u64::from(u32::from_le_bytes([b0, b1, b2, b3])) + 1) * 4;
        let index_at = footer_at.checked_sub(index_size)?;
        let mut index = Vec::new();
        let is_read =
            index_size <= MAX_INDEX as u64 && append(&file, &mut index, index_at, footer_at, MAX_INDEX);
        let records = parse_index(is_read.then_some(&index)?)?;
        let blocks =
            records.iter().try_fold(HEADER as u64, |sum, record| sum.checked_add(record.padded()))?;
        if records.len() < 2 || blocks != index_at {
            return None;
        }
        Some(Self { file, header, records: records.into_iter(), offset: HEADER as u64, done: false })
    }

    pub(super) fn next(&mut self) -> CompressedPart {
        if self.done {
            return CompressedPart::End;
        }
        let bytes = self.records.next().and_then(|record| self.as_stream(record));
        self.done = bytes.is_none() || self.records.len() == 0;
        match bytes {
            Some(bytes) => CompressedPart::Whole { bytes, restart: Restart::Beginning, is_last: self.done },
            None => CompressedPart::Stream(Restart::Beginning),
        }
    }

    /// Turns the next block into a stream of its own. Returns `None` if it is too large or cannot be read.
    fn as_stream(&mut self, record: IndexRecord) -> Option<Vec<u8>> {
        let length = record.padded();
        if length.max(record.text) > MAX_BLOCK {
            return None;
        }
        let mut stream = self.header.to_vec();
        let end = self.offset + length;
        if !append(&self.file, &mut stream, self.offset, end, MAX_BLOCK as usize) {
            return None;
        }
        self.offset = end;
        let mut index = vec![0, 1];
        varint::put(&mut index, record.unpadded);
        varint::put(&mut index, record.text);
        index.resize(index.len().next_multiple_of(4), 0);
        let checksum = crc32(&index);
        index.extend(checksum.to_le_bytes());
        let mut sizes = (index.len() as u32 / 4 - 1).to_le_bytes().to_vec();
        sizes.extend(&self.header[6..8]);
        stream.extend(index);
        stream.extend(crc32(&sizes).to_le_bytes());
        stream.extend(sizes);
        stream.extend(FOOTER_MAGIC);
        Some(stream)
    }
}

/// Parses an index; `None` if it is damaged.
fn parse_index(index: &[u8]) -> Option<Vec<IndexRecord>> {
    let (content, checksum) = index.split_last_chunk::<4>()?;
    if crc32(content) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let mut rest = content.strip_prefix(&[0])?;
    let count = varint::take(&mut rest)?;
    // A record takes at least two bytes.
    let count = usize::try_from(count).ok().filter(|&count| count <= rest.len() / 2)?;
    let mut records = Vec::with_capacity(count);
    for _ in 0..count {
        records.push(IndexRecord { unpadded: varint::take(&mut rest)?, text: varint::take(&mut rest)? });
    }
    (rest.len() < 4 && rest.iter().all(|&byte| byte == 0)).then_some(records)
}

/// The CRC-32 of some bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}
