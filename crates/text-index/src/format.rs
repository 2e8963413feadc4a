//! Format of index files: a header of one page, followed by page-aligned sections. `docs/index-format.md` is its public
//! description.

use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::alphabet::Alphabet;
use crate::entries::EntryWidth;
use crate::error::Damage;
use crate::front::{self, Ranks};
use crate::lines;
use crate::packed::packed_len;
use crate::presence::BitmapLayout;

/// First bytes of an index file. The first byte does not occur in text; a transfer that converts line endings changes the others.
const MAGIC: [u8; 8] = *b"\x89COMB\r\n\x1a";

/// Version of the format.
pub(crate) const VERSION: u32 = 1;

/// Size of the header; sections are aligned to it.
pub(crate) const PAGE: u64 = 4096;

/// Bytes per hash. The checksum of a section is the hash of the hashes of its pieces, which are computed in parallel.
pub(crate) const PIECE: usize = 1 << 24;

/// Offset of the set of bytes that occur, one bit each.
const OCCURS_AT: usize = 64;
/// Offset of the section table.
const TABLE_AT: usize = 128;
/// Offset of the header's own checksum.
const CHECKSUM_AT: usize = PAGE as usize - 8;

/// Section of an index file, in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// The packed text.
    Text,
    /// The suffix array.
    Suffixes,
    /// The front table.
    Front,
    /// The bitmaps.
    Presence,
    /// The samples of line numbers; empty unless the alphabet is bytes.
    Lines,
}

impl Section {
    pub(crate) const ALL: [Self; 5] = [Self::Text, Self::Suffixes, Self::Front, Self::Presence, Self::Lines];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Suffixes => "suffix array",
            Self::Front => "front table",
            Self::Presence => "bitmaps",
            Self::Lines => "line numbers",
        }
    }
}

/// Header of an index file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) alphabet: Alphabet,
    pub(crate) symbols: u64,
    pub(crate) width: EntryWidth,
    /// Number of symbols in a string of the front table.
    pub(crate) depth: u32,
    /// Bytes that occur in a text of bytes; all `false` for other alphabets.
    pub(crate) occurs: [bool; 256],
    /// Checksum of each section.
    pub(crate) checksums: [u64; Section::ALL.len()],
}

impl Header {
    /// Makes the header of a text, with checksums of zero.
    pub(crate) fn new(alphabet: Alphabet, symbols: u64, occurs: [bool; 256]) -> Self {
        let depth = front::depth(symbols, &Ranks::new(alphabet, &occurs));
        Self {
            alphabet,
            symbols,
            width: EntryWidth::of(symbols),
            depth,
            occurs,
            checksums: [0; Section::ALL.len()],
        }
    }

    pub(crate) fn ranks(&self) -> Ranks {
        Ranks::new(self.alphabet, &self.occurs)
    }

    pub(crate) fn shape(&self) -> BitmapLayout {
        BitmapLayout::new(self.symbols)
    }

    /// Size of a section in bytes; `None` if it overflows.
    fn len(&self, section: Section) -> Option<u64> {
        let width = self.width.bytes() as u64;
        match section {
            Section::Text => Some(packed_len(self.symbols, self.alphabet)),
            Section::Suffixes => self.symbols.checked_mul(width),
            Section::Front => front::len(self.depth, &self.ranks())?.checked_mul(width),
            Section::Presence => Some(self.shape().len()),
            Section::Lines if self.alphabet == Alphabet::Bytes => Some(lines::len(self.symbols)),
            Section::Lines => Some(0),
        }
    }

    /// Byte ranges of the sections in the file; `None` if they overflow.
    pub(crate) fn ranges(&self) -> Option<[Range<u64>; Section::ALL.len()]> {
        let mut start = PAGE;
        let mut ranges = [const { 0..0 }; Section::ALL.len()];
        for (section, range) in Section::ALL.into_iter().zip(&mut ranges) {
            *range = start..start.checked_add(self.len(section)?)?;
            start = range.end.checked_next_multiple_of(PAGE)?;
        }
        Some(ranges)
    }

    /// Hash of the contents, equal for equal indexes regardless of when they were built.
    pub(crate) fn version(&self) -> u64 {
        XxHash3_64::oneshot(&self.encode()[..CHECKSUM_AT])
    }

    /// Encodes the header.
    pub(crate) fn encode(&self) -> [u8; PAGE as usize] {
        let mut page = [0; PAGE as usize];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(16, &self.symbols.to_le_bytes());
        put(24, &[self.alphabet.number(), self.width.bytes() as u8, self.depth as u8]);
        for (at, occurs) in self.occurs.chunks(8).enumerate() {
            put(OCCURS_AT + at, &[occurs.iter().rev().fold(0, |byte, &occurs| byte << 1 | u8::from(occurs))]);
        }
        for (number, range) in self.ranges().into_iter().flatten().enumerate() {
            let row = [range.start, range.end - range.start, self.checksums[number]];
            row.iter()
                .enumerate()
                .for_each(|(at, value)| put(TABLE_AT + number * 24 + at * 8, &value.to_le_bytes()));
        }
        let checksum = XxHash3_64::oneshot(&page[..CHECKSUM_AT]);
        page[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        page
    }

    /// Decodes the header of a file, and checks the length of the file.
    pub(crate) fn decode(file: &[u8]) -> Result<Self, Damage> {
        let found = file.len() as u64;
        if !is_index(file) {
            // A file can be truncated within the magic bytes.
            let is_beginning = !file.is_empty() && MAGIC.starts_with(file);
            return Err(if is_beginning {
                Damage::Truncated { found, expected: PAGE }
            } else {
                Damage::NotAnIndex
            });
        }
        let Some((page, _)) = file.split_first_chunk::<{ PAGE as usize }>() else {
            return Err(Damage::Truncated { found, expected: PAGE });
        };
        let version = u32::from_le_bytes([page[8], page[9], page[10], page[11]]);
        if version != VERSION {
            return Err(Damage::Version { found: version, known: VERSION });
        }
        if XxHash3_64::oneshot(&page[..CHECKSUM_AT]) != number(page, CHECKSUM_AT) {
            return Err(Damage::Checksum("header"));
        }
        let header = Self::fields(page).ok_or(Damage::Inconsistent("invalid header"))?;
        let expected = header.ranges().map(|ranges| ranges[Section::ALL.len() - 1].end);
        match expected.ok_or(Damage::Inconsistent("the size in the header overflows"))? {
            expected if expected == found => Ok(header),
            expected if expected > found => Err(Damage::Truncated { found, expected }),
            _ => Err(Damage::Inconsistent("extra bytes at the end")),
        }
    }

    /// Decodes a page with a valid checksum. Returns `None` unless encoding the result gives the same page.
    fn fields(page: &[u8; PAGE as usize]) -> Option<Self> {
        let symbols = number(page, 16);
        let mut header = Self {
            alphabet: Alphabet::from_number(page[24])?,
            symbols,
            width: EntryWidth::from_bytes(page[25])?,
            depth: u32::from(page[26]),
            occurs: std::array::from_fn(|byte| page[OCCURS_AT + byte / 8] >> (byte % 8) & 1 == 1),
            checksums: [0; Section::ALL.len()],
        };
        for (at, checksum) in header.checksums.iter_mut().enumerate() {
            *checksum = number(page, TABLE_AT + at * 24 + 16);
        }
        let is_wide_enough = EntryWidth::of(symbols).bytes() <= header.width.bytes() && symbols < 1 << 40;
        let has_depth = header.depth == front::depth(symbols, &header.ranks());
        let is_same = is_wide_enough && has_depth && header.ranges().is_some() && header.encode() == *page;
        is_same.then_some(header)
    }
}

/// Returns `true` if a file begins with the magic bytes of an index, of any version, intact or not.
pub fn is_index(file: &[u8]) -> bool {
    file.starts_with(&MAGIC)
}

/// Recomputes the checksums of a damaged index with a valid section table, so that a fuzzer gets past them.
pub fn recompute_checksums(file: &mut [u8]) {
    for section in 0..Section::ALL.len() {
        let Some((page, _)) = file.split_first_chunk::<{ PAGE as usize }>() else { return };
        let row = TABLE_AT + section * 24;
        let [start, length] =
            [row, row + 8].map(|at| usize::try_from(number(page, at)).unwrap_or(usize::MAX));
        let Some(bytes) = file.get(start..start.saturating_add(length)) else { continue };
        let checksum = checksum(bytes.chunks(PIECE).map(piece_hash));
        file[row + 16..row + 24].copy_from_slice(&checksum.to_le_bytes());
    }
    if let Some((page, _)) = file.split_first_chunk_mut::<{ PAGE as usize }>() {
        let checksum = XxHash3_64::oneshot(&page[..CHECKSUM_AT]);
        page[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn number(page: &[u8; PAGE as usize], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&page[at..at + 8]);
    u64::from_le_bytes(bytes)
}

/// Combines the hashes of the pieces of a section into its checksum.
pub(crate) fn checksum(pieces: impl IntoIterator<Item = u64>) -> u64 {
    let hashes: Vec<u8> = pieces.into_iter().flat_map(u64::to_le_bytes).collect();
    XxHash3_64::oneshot(&hashes)
}

/// Hashes one piece.
pub(crate) fn piece_hash(piece: &[u8]) -> u64 {
    XxHash3_64::oneshot(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> (Header, Vec<u8>) {
        let mut occurs = [false; 256];
        occurs[usize::from(b'a')] = true;
        occurs[255] = true;
        let mut header = Header::new(Alphabet::Bytes, 1000, occurs);
        header.checksums = [1, 2, 3, 4, u64::MAX];
        let mut file = header.encode().to_vec();
        let end = header.ranges().expect("a small file")[4].end;
        file.resize(end as usize, 0);
        (header, file)
    }

    #[test]
    fn headers_survive_encoding_and_decoding() {
        let (header, file) = file();
        assert_eq!(Header::decode(&file), Ok(header));
    }

    #[test]
    fn recomputed_checksums_equal_those_of_a_build() {
        let (header, sound) = file();
        let mut file = sound.clone();
        recompute_checksums(&mut file);
        let mended = Header::decode(&file).expect("a header");
        let of_sections = header.ranges().map_or_else(Vec::new, |ranges| {
            ranges.map(|range| &file[range.start as usize..range.end as usize]).to_vec()
        });
        for (section, bytes) in Section::ALL.into_iter().zip(of_sections) {
            let expected = checksum(bytes.chunks(PIECE).map(piece_hash));
            assert_eq!(mended.checksums[section as usize], expected, "{}", section.name());
        }
        let again = mended.encode();
        assert_eq!(again[..], file[..again.len()]);
        recompute_checksums(&mut []);
    }

    #[test]
    fn a_front_table_of_a_different_depth_is_rejected() {
        for (symbols, depth) in [(0, 255), (0, 1), (1000, 0), (1000, 1), (1000, 255)] {
            let header = Header { depth, ..Header::new(Alphabet::Bytes, symbols, [false; 256]) };
            let mut file = header.encode().to_vec();
            file.resize(header.ranges().map_or(file.len(), |ranges| ranges[4].end as usize), 0);
            let is_right = depth == 0;
            assert_eq!(Header::decode(&file).is_ok(), is_right, "depth {depth} for {symbols} symbols");
        }
    }

    #[test]
    fn every_truncation_and_every_changed_byte_of_the_header_is_detected() {
        let (_, file) = file();
        for cut in 1..file.len() {
            assert!(matches!(Header::decode(&file[..cut]), Err(Damage::Truncated { .. })), "cut at {cut}");
        }
        assert_eq!(Header::decode(b""), Err(Damage::NotAnIndex));
        assert_eq!(Header::decode(b"digits"), Err(Damage::NotAnIndex));
        for at in 0..PAGE as usize {
            let mut changed = file.clone();
            changed[at] ^= 0x10;
            assert!(Header::decode(&changed).is_err(), "changed at {at}");
        }
        let mut longer = file;
        longer.push(0);
        assert_eq!(Header::decode(&longer), Err(Damage::Inconsistent("extra bytes at the end")));
    }
}
