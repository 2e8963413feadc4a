//! A list of documents in a file: their number, and either the gaps between them or a bit for each document.
//!
//! Gaps are written with π codes (Apostolico and Drovandi, "Graph Compression by BFS", 2009) with the parameter 1. They are short for
//! small gaps, which are the most frequent ones as neighbouring files are alike: a third shorter than bytes of seven bits.
//!
//! For Linux the lists take 102 MB. Alternatives: bytes of seven bits 154, blocks of 128 numbers of equal width 159, Golomb codes 121,
//! γ codes 105, interpolative codes 95, which take long to read. `roaring` takes twice the space of bytes, as most lists are short.

use dsi_bitstream::prelude::{
    BitRead, BitSeek, BufBitReader, BufBitWriter, LE, MemWordReader, MemWordWriterVec, PiWrite,
};
use finecomb_sys::varint;

use crate::documents::Documents;

/// Parameter of the codes.
const PARAMETER: usize = 1;

/// Maximum value of the part of a code that is written in unary: gaps are below 2^32.
const MAX_UNARY: u64 = 15;

/// Appends the list of some of `all` documents, in order.
pub(crate) fn write(documents: &[u32], all: u32, out: &mut Vec<u8>) {
    let bitmap = all.div_ceil(8) as usize;
    match gaps(documents).filter(|gaps| gaps.len() <= bitmap) {
        Some(gaps) => {
            varint::put(out, (documents.len() as u64) << 1);
            out.extend_from_slice(&gaps);
        }
        None => {
            varint::put(out, (documents.len() as u64) << 1 | 1);
            write_bitmap(documents, bitmap, out);
        }
    }
}

/// The codes of the gaps. The library's words have the byte order of the file.
fn gaps(documents: &[u32]) -> Option<Vec<u8>> {
    let mut writer = BufBitWriter::<LE, _>::new(MemWordWriterVec::new(Vec::<u64>::new()));
    let (mut next, mut bits) = (0, 0);
    for &document in documents {
        bits += writer.write_pi(u64::from(document - next), PARAMETER).ok()?;
        next = document + 1;
    }
    let words = writer.into_inner().ok()?.into_inner();
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_ne_bytes).collect();
    bytes.truncate(bits.div_ceil(8));
    Some(bytes)
}

fn write_bitmap(documents: &[u32], length: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + length, 0);
    for &document in documents {
        out[start + document as usize / 8] |= 1 << (document % 8);
    }
}

/// Adds the documents of a list to others; `None` if the bytes are no such list.
pub(crate) fn add_to(documents: &mut Documents, mut bytes: &[u8]) -> Option<()> {
    let head = varint::take(&mut bytes)?;
    if head & 1 == 1 {
        return documents.add_bitmap(bytes);
    }
    let all = documents.bound();
    let mut next = 0;
    let mut gaps = Gaps::new(bytes);
    for _ in 0..head >> 1 {
        let document = u32::try_from(gaps.next()? + next).ok().filter(|&document| document < all)?;
        documents.add(document);
        next = u64::from(document) + 1;
    }
    gaps.has_read(bytes.len()).then_some(())
}

/// Reads the codes of gaps.
struct Gaps(BufBitReader<LE, MemWordReader<u32, Vec<u32>>>);

impl Gaps {
    fn new(bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| {
            let mut bytes = [0; 4];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u32::from_ne_bytes(bytes)
        };
        Self(BufBitReader::new(MemWordReader::new(bytes.chunks(4).map(word).collect())))
    }

    /// The next gap; `None` if there is none, or it is too large. Reads the code by its parts, since the library does not check the size of
    /// a code, which damaged bytes may make too large for a shift.
    fn next(&mut self) -> Option<u64> {
        let unary = self.0.read_unary().ok().filter(|&unary| unary <= MAX_UNARY)?;
        let bits = (unary << PARAMETER | self.0.read_bits(PARAMETER).ok()?) as usize;
        Some((1 << bits) - 1 + self.0.read_bits(bits).ok()?)
    }

    /// Whether exactly this many bytes have been read.
    fn has_read(mut self, bytes: usize) -> bool {
        self.0.bit_pos().is_ok_and(|bits| bits.div_ceil(8) == bytes as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes a list and reads it.
    fn read_as_written(list: &[u32], all: u32) -> (Vec<u8>, Vec<u32>) {
        let mut bytes = Vec::new();
        write(list, all, &mut bytes);
        let mut found = Documents::none(all);
        assert_eq!(add_to(&mut found, &bytes), Some(()));
        (bytes, found.iter().collect())
    }

    proptest! {
        #[test]
        fn lists_are_read_as_written(bits in prop::collection::vec(any::<bool>(), 0..300), dense: bool) {
            let all = bits.len() as u32;
            let list: Vec<u32> = (0..all).filter(|&at| bits[at as usize] && (dense || at % 17 == 0)).collect();
            let (bytes, found) = read_as_written(&list, all);
            prop_assert_eq!(found, list);
            prop_assert!(bytes.len() <= all.div_ceil(8) as usize + 2);
        }

        #[test]
        fn gaps_of_any_size_are_read_as_written(list in prop::collection::btree_set(0..1_u32 << 26, 0..20)) {
            let list: Vec<u32> = list.into_iter().collect();
            let (bytes, found) = read_as_written(&list, 1 << 26);
            prop_assert_eq!(found, list);
            prop_assert_eq!(add_to(&mut Documents::none(1 << 26), &[&bytes[..], b"\0"].concat()), None);
        }

        #[test]
        fn any_bytes_are_a_list_within_bounds_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40), all in 0..200_u32) {
            let mut found = Documents::none(all);
            let _ = add_to(&mut found, &bytes);
            prop_assert!(found.iter().all(|document| document < all));
        }
    }

    #[test]
    fn the_largest_gap_has_a_code() {
        let bytes = gaps(&[u32::MAX - 1]).expect("a code");
        assert_eq!(Gaps::new(&bytes).next(), Some(u64::from(u32::MAX - 1)));
    }
}
