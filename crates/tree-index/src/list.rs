//! A list of documents in a file: their number, and either the gaps between them or a bit for each document.

/// Appends a number, seven bits to a byte, the lowest first.
pub(crate) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads such a number from the beginning of `bytes`, and moves behind it; `None` if it does not end.
pub(crate) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Appends the list of some of `all` documents, in order.
pub(crate) fn write(documents: &[u32], all: u32, out: &mut Vec<u8>) {
    let bitmap = all.div_ceil(8) as usize;
    let start = out.len();
    write_number((documents.len() as u64) << 1, out);
    let mut before = 0;
    for &document in documents {
        write_number(u64::from(document - before), out);
        before = document + 1;
        if out.len() - start > bitmap {
            out.truncate(start);
            write_number((documents.len() as u64) << 1 | 1, out);
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
    let head = read_number(&mut bytes)?;
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
        let document = read_number(&mut bytes)?.checked_add(next)?;
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
