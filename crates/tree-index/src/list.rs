//! A list of documents in a file: their number, and either the gaps between them or a bit for each document.

use finecomb_sys::varint;

/// Appends the list of some of `all` documents, in order.
pub(crate) fn write(documents: &[u32], all: u32, out: &mut Vec<u8>) {
    let bitmap = all.div_ceil(8) as usize;
    let start = out.len();
    varint::put(out, (documents.len() as u64) << 1);
    let mut before = 0;
    for &document in documents {
        varint::put(out, u64::from(document - before));
        before = document + 1;
        if out.len() - start > bitmap {
            out.truncate(start);
            varint::put(out, (documents.len() as u64) << 1 | 1);
            return write_bitmap(documents, bitmap, out);
        }
    }
}

fn write_bitmap(documents: &[u32], length: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + length, 0);
    for &document in documents {
        out[start + document as usize / 8] |= 1 << (document % 8);
    }
}

/// Calls `take` with each document of a list, of `all` documents; `None` if the bytes are no such list.
pub(crate) fn read(mut bytes: &[u8], all: u32, mut take: impl FnMut(u32)) -> Option<()> {
    let head = varint::take(&mut bytes)?;
    if head & 1 == 1 {
        for (number, &byte) in bytes.iter().enumerate() {
            let mut bits = byte;
            while bits != 0 {
                let document = number as u32 * 8 + bits.trailing_zeros();
                (document < all).then(|| take(document))?;
                bits &= bits - 1;
            }
        }
        return (bytes.len() == all.div_ceil(8) as usize).then_some(());
    }
    let mut next = 0;
    for _ in 0..head >> 1 {
        let document = varint::take(&mut bytes)?.checked_add(next)?;
        let document = u32::try_from(document).ok().filter(|&document| document < all)?;
        take(document);
        next = u64::from(document) + 1;
    }
    bytes.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_read_as_written(bits in prop::collection::vec(any::<bool>(), 0..300), dense: bool) {
            let all = bits.len() as u32;
            let list: Vec<u32> = (0..all).filter(|&at| bits[at as usize] && (dense || at % 17 == 0)).collect();
            let mut bytes = Vec::new();
            write(&list, all, &mut bytes);
            let mut found = Vec::new();
            prop_assert_eq!(read(&bytes, all, |document| found.push(document)), Some(()));
            prop_assert_eq!(found, list);
            prop_assert!(bytes.len() <= all.div_ceil(8) as usize + 2);
        }

        #[test]
        fn any_bytes_are_a_list_within_bounds_or_none(bytes in prop::collection::vec(any::<u8>(), 0..40), all in 0..200_u32) {
            let mut largest = 0;
            let _ = read(&bytes, all, |document| largest = largest.max(document + 1));
            prop_assert!(largest <= all);
        }
    }
}
