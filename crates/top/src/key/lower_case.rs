//! Lower case of keys that need not be UTF-8.

/// Appends a key in lower case to `out`: each character as Unicode maps it by itself, without regard to its neighbours.
/// Invalid bytes are copied.
pub(crate) fn append_lower_case(key: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    if key.is_ascii() {
        out.extend_from_slice(key);
        out[start..].make_ascii_lowercase();
        return;
    }
    for chunk in key.utf8_chunks() {
        for char in chunk.valid().chars().flat_map(char::to_lowercase) {
            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lower_case(key: &[u8]) -> Vec<u8> {
        let mut out = b"KEPT".to_vec();
        append_lower_case(key, &mut out);
        assert_eq!(out[..4], *b"KEPT");
        out.split_off(4)
    }

    #[test]
    fn characters_become_lower_case_and_invalid_bytes_are_kept() {
        for (key, expected) in [
            ("GET /Index.HTML", "get /index.html"),
            ("STRASSE ÄÖÜ ß", "strasse äöü ß"),
            ("ΟΔΟΣ", "οδοσ"),
            ("\u{130}", "i\u{307}"),
            ("", ""),
        ] {
            assert_eq!(lower_case(key.as_bytes()), expected.as_bytes(), "{key}");
        }
        assert_eq!(lower_case(b"A\xFFB\xC3\xC3\x84"), b"a\xFFb\xC3\xC3\xA4");
    }

    proptest! {
        #[test]
        fn a_key_of_characters_is_mapped_one_by_one(key in any::<String>()) {
            let expected: String = key.chars().map(|char| char.to_lowercase().to_string()).collect();
            prop_assert_eq!(lower_case(key.as_bytes()), expected.as_bytes());
        }

        #[test]
        fn lower_case_is_left_unchanged(key in prop::collection::vec(any::<u8>(), 0..40)) {
            let lower = lower_case(&key);
            prop_assert_eq!(lower_case(&lower), lower);
        }
    }
}
