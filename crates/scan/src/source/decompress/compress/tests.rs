use std::collections::HashMap;

use proptest::prelude::*;

use super::super::tests::read;
use super::super::{Compression, DecompressError};
use super::{CLEAR, GROUP, MIN_BITS};

/// Writes codes, in groups of eight codes of the same length.
struct CodeWriter {
    bytes: Vec<u8>,
    bits: Vec<bool>,
    in_group: u32,
}

impl CodeWriter {
    fn put(&mut self, code: u32, length: u32) {
        self.bits.extend((0..length).map(|bit| code >> bit & 1 == 1));
        self.in_group = (self.in_group + 1) % GROUP;
    }

    fn end_group(&mut self, length: u32) {
        while self.in_group != 0 {
            self.put(0, length);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
        self.bytes.extend(self.bits.chunks(8).map(byte));
        self.bytes
    }
}

/// Compresses as `compress -b MAX_LENGTH` does. With `clears`, the table is cleared whenever it is full.
pub(in super::super) fn compress(data: &[u8], max_length: u32, clears: bool) -> Vec<u8> {
    let flags = max_length as u8 | if clears { 0x80 } else { 0 };
    let mut writer = CodeWriter { bytes: vec![0x1f, 0x9d, flags], bits: Vec::new(), in_group: 0 };
    let first_code = if clears { u32::from(CLEAR) + 1 } else { u32::from(CLEAR) };
    let (mut table, mut next, mut length) = (HashMap::new(), first_code, MIN_BITS);
    let mut bytes = data.iter();
    let Some(&first) = bytes.next() else { return writer.finish() };
    let mut code = u32::from(first);
    // The decoder knows a code only after the next one.
    let mut known = first_code;
    let mut any = false;
    let put = |writer: &mut CodeWriter, code: u32, length: &mut u32, known: &mut u32, is_new: bool| {
        writer.put(code, *length);
        if is_new && *known < 1 << max_length {
            *known += 1;
        }
        if *known > (1 << *length) - 1 && *length < max_length {
            writer.end_group(*length);
            *length += 1;
        }
    };
    for &byte in bytes {
        if let Some(&longer) = table.get(&(code, byte)) {
            code = longer;
            continue;
        }
        put(&mut writer, code, &mut length, &mut known, any);
        any = true;
        if next < 1 << max_length {
            table.insert((code, byte), next);
            next += 1;
        } else if clears {
            writer.put(u32::from(CLEAR), length);
            writer.end_group(length);
            table.clear();
            (next, length, known, any) = (first_code, MIN_BITS, first_code, false);
        }
        code = u32::from(byte);
    }
    put(&mut writer, code, &mut length, &mut known, any);
    writer.finish()
}

proptest! {
    #[test]
    fn files_round_trip(
        words in prop::collection::vec("[a-d]{1,6}", 0..3000),
        max_length in MIN_BITS + 1..=16,
        clears in any::<bool>(),
    ) {
        let data = words.concat().into_bytes();
        prop_assert!(read(Compression::Compress, &compress(&data, max_length, clears)) == (data, None));
    }
}

#[test]
fn the_code_that_is_added_next_is_known() {
    // a, then the code of "aa", which is added by itself.
    let data = b"aaaaaaaaaaaaa";
    assert_eq!(read(Compression::Compress, &compress(data, 16, true)), (data.to_vec(), None));
}

#[test]
fn a_file_that_says_9_bits_has_codes_of_10() {
    let data: Vec<u8> = (0..3000_u32).flat_map(|number| format!("{number} ").into_bytes()).collect();
    let mut file = compress(&data, 10, true);
    file[2] = 0x80 | 9;
    assert_eq!(read(Compression::Compress, &file), (data, None));
    file[2] |= 0x20;
    assert_eq!(
        read(Compression::Compress, &file),
        (Vec::new(), Some(DecompressError::Unsupported.of(Compression::Compress).to_string()))
    );
}

#[test]
fn damage_is_reported() {
    let failed = |failure: DecompressError| Some(failure.of(Compression::Compress).to_string());
    assert_eq!(read(Compression::Compress, b"\x1f\x9d"), (Vec::new(), failed(DecompressError::Truncated)));
    assert_eq!(
        read(Compression::Compress, b"\x1f\x9d\x88abc"),
        (Vec::new(), failed(DecompressError::Unsupported))
    );
    // The first code is no byte.
    assert_eq!(
        read(Compression::Compress, b"\x1f\x9d\x90\xff\xff"),
        (Vec::new(), failed(DecompressError::Damaged))
    );
    let mut writer = CodeWriter { bytes: b"\x1f\x9d\x90".to_vec(), bits: Vec::new(), in_group: 0 };
    writer.put(u32::from(b'a'), 9);
    writer.put(300, 9);
    assert_eq!(
        read(Compression::Compress, &writer.finish()),
        (b"a".to_vec(), failed(DecompressError::Damaged))
    );
}
