//! A JSON object.

use std::borrow::Cow;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::Format;
use crate::answer::{Answer, KeyCount};

/// A JSON object: `top` is the list of keys with their counts, `records` the number of records counted, `distinct` the
/// number of distinct keys, `skipped` the number of records without a key, and `partial` is true if the count was
/// interrupted.
///
/// A `key` is a string. If a key is not valid UTF-8, its `key` has U+FFFD for the invalid parts, and only then
/// `key_base64` has its exact bytes (RFC 4648, section 4).
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

#[derive(Serialize)]
struct Object<'a> {
    partial: bool,
    records: u64,
    distinct: u64,
    skipped: u64,
    top: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    count: u64,
    key: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_base64: Option<String>,
}

impl<'a> From<&'a KeyCount> for Entry<'a> {
    fn from(KeyCount { key, count }: &'a KeyCount) -> Self {
        let is_exact = str::from_utf8(key).is_ok();
        Self {
            count: *count,
            key: String::from_utf8_lossy(key),
            key_base64: (!is_exact).then(|| STANDARD.encode(key)),
        }
    }
}

impl Format for Json {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let object = Object {
            partial: answer.partial,
            records: answer.records,
            distinct: answer.distinct,
            skipped: answer.skipped.as_ref().map_or(0, |skipped| skipped.count),
            top: answer.top.iter().map(Entry::from).collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &object)?;
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::written;

    #[test]
    fn keys_are_strings_and_bytes_are_kept() {
        let keys: &[(&[u8], u64)] = &[(b"say \"hi\"\t\\", 2), (b"caf\xE9", 1)];
        let value: serde_json::Value = serde_json::from_str(&written(&Json, keys, false)).expect("JSON");
        assert_eq!(value["top"][0]["key"], "say \"hi\"\t\\");
        assert_eq!(value["top"][0].get("key_base64"), None);
        let exact = value["top"][1]["key_base64"].as_str().expect("a string");
        assert_eq!(STANDARD.decode(exact).expect("base64"), b"caf\xE9");
        assert_eq!(
            (&value["partial"], &value["records"], &value["distinct"]),
            (&false.into(), &3.into(), &2.into())
        );
    }

    #[test]
    fn partial_answers_are_marked() {
        assert!(written(&Json, &[], true).contains("\"partial\": true"));
    }
}
