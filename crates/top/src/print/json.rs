//! A JSON object.

use std::borrow::Cow;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::ser::{Error, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::columns::{AnswerTable, Format, Layout, Value};
use crate::count::answer::{Answer, Changes, Skipped};
use crate::measure::quantity::Quantity;

/// A JSON object, described by `docs/top.schema.json`. `top` is the list of keys with their counts, `records` the number
/// of records counted, `distinct` the number of distinct keys, `skipped` the number of records without a key, and
/// `partial` is true if the count was interrupted. `malformed`, `unmatched`, `untimed`, `not_numbers`, `out_of_range`, `without_unit` and
/// `rounded` are there only if they are not 0.
///
/// A `key` is a string, or an object with a member for each field if it has several named fields. If a key is not valid
/// UTF-8, its `key` has U+FFFD for the invalid parts, and only then `key_base64` has its exact bytes (RFC 4648, section
/// 4). A measure is a member with its name, such as `"sum(bytes)"`; it is null if there is no value. Columns of the values of a field
/// are members of `columns`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json(pub Layout);

#[derive(Serialize)]
struct Object<'a> {
    partial: bool,
    #[serde(skip_serializing_if = "is_false")]
    late: bool,
    records: u64,
    /// Null if it is not known.
    distinct: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distinct_at_least: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<u64>,
    skipped: u64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    changes: Option<ChangesObject>,
    #[serde(skip_serializing_if = "is_zero")]
    malformed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unmatched: u64,
    #[serde(skip_serializing_if = "is_zero")]
    untimed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    not_numbers: u64,
    #[serde(skip_serializing_if = "is_zero")]
    out_of_range: u64,
    #[serde(skip_serializing_if = "is_zero")]
    without_unit: u64,
    #[serde(skip_serializing_if = "is_zero")]
    rounded: u64,
    top: Vec<KeyObject<'a>>,
}

/// The numbers of records and keys of a comparison.
#[derive(Serialize)]
struct ChangesObject {
    before: u64,
    new: u64,
    gone: u64,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A key with its count and measures.
struct KeyObject<'a> {
    names: &'a [&'a str],
    row: Vec<Value<'a>>,
    /// Number of columns of the key.
    keys: usize,
    /// Number of columns of the values of a field.
    pivot: usize,
}

impl Serialize for KeyObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (numbers, keys) = self.row.split_at(self.row.len() - self.keys);
        let mut map = serializer.serialize_map(None)?;
        let names = &self.names[numbers.len()..];
        let (numbers, pivot) = numbers.split_at(numbers.len() - self.pivot);
        for (name, &value) in self.names.iter().zip(numbers) {
            map.serialize_entry(name, &NumberValue(value))?;
        }
        if self.pivot > 0 {
            map.serialize_entry("columns", &Numbers { names: &self.names[numbers.len()..], numbers: pivot })?;
        }
        match keys {
            [Value::Key(key)] => {
                map.serialize_entry("key", &text(key))?;
                if let Some(exact) = base64(key) {
                    map.serialize_entry("key_base64", &exact)?;
                }
            }
            [] => map.serialize_entry("key", "")?,
            keys => {
                map.serialize_entry("key", &Fields { names, keys, encode: |key| Some(text(key)) })?;
                if keys.iter().any(|key| matches!(key, Value::Key(key) if base64(key).is_some())) {
                    let encode = |key| base64(key).map(Cow::Owned);
                    map.serialize_entry("key_base64", &Fields { names, keys, encode })?;
                }
            }
        }
        map.end()
    }
}

/// Numbers by the names of their columns.
struct Numbers<'a> {
    names: &'a [&'a str],
    numbers: &'a [Value<'a>],
}

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(self.numbers.iter().map(|&value| NumberValue(value))))
    }
}

/// The fields of a key that have an encoding.
struct Fields<'a, F> {
    names: &'a [&'a str],
    keys: &'a [Value<'a>],
    encode: F,
}

impl<'a, F: Fn(&'a [u8]) -> Option<Cow<'a, str>>> Serialize for Fields<'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, key) in self.names.iter().zip(self.keys) {
            if let Value::Key(key) = key
                && let Some(encoded) = (self.encode)(key)
            {
                map.serialize_entry(name, &encoded)?;
            }
        }
        map.end()
    }
}

/// A value that is not of the key: a number with all its digits, or null for none.
struct NumberValue<'a>(Value<'a>);

impl Serialize for NumberValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0, self.0.number("")) {
            (Value::Measure(Quantity::None), _) | (_, None) => serializer.serialize_none(),
            (_, Some(text)) => RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer),
        }
    }
}

pub(crate) fn text(key: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(key)
}

/// The exact bytes of a key that is not UTF-8.
pub(crate) fn base64(key: &[u8]) -> Option<String> {
    str::from_utf8(key).is_err().then(|| STANDARD.encode(key))
}

impl Json {
    /// Returns the object of an answer on one line, without a line feed. `is_late` marks records that came after their bucket
    /// of time had ended.
    ///
    /// # Errors
    ///
    /// Never in practice: every answer has an object.
    pub fn line(&self, answer: &Answer, is_late: bool) -> serde_json::Result<String> {
        self.with_object(answer, is_late, |object| serde_json::to_string(object))
    }

    fn with_object<T>(&self, answer: &Answer, late: bool, write: impl FnOnce(&Object<'_>) -> T) -> T {
        let columns = AnswerTable::new(answer, self.0);
        let names = columns.names();
        let (keys, pivot) = (columns.key_columns(), columns.pivot_columns());
        let count = |skipped: &Option<Skipped>| skipped.as_ref().map_or(0, |skipped| skipped.count);
        write(&Object {
            partial: answer.partial,
            late,
            records: answer.records,
            distinct: (!answer.is_approximate()).then_some(answer.distinct),
            distinct_at_least: answer.is_approximate().then_some(answer.distinct),
            bound: answer.approximation.map(|approximation| approximation.bound),
            skipped: count(&answer.skipped),
            changes: answer.changes.map(|Changes { before, new, gone }| ChangesObject { before, new, gone }),
            malformed: count(&answer.malformed),
            unmatched: count(&answer.unmatched),
            untimed: count(&answer.untimed),
            not_numbers: count(&answer.not_numbers),
            out_of_range: count(&answer.out_of_range),
            without_unit: count(&answer.without_unit),
            rounded: count(&answer.rounded),
            top: columns.rows().map(|row| KeyObject { names: &names, row, keys, pivot }).collect(),
        })
    }
}

impl Format for Json {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        self.with_object(answer, false, |object| serde_json::to_writer_pretty(&mut *out, object))?;
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::answer::KeyCount;
    use crate::measure::number::Decimal;
    use crate::measure::wide::WideDecimal;
    use crate::print::tests::{several, written};

    fn parsed(text: &str) -> serde_json::Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn keys_are_strings_and_bytes_are_kept() {
        let keys: &[(&[u8], u64)] = &[(b"say \"hi\"\t\\", 2), (b"caf\xE9", 1)];
        let value = parsed(&written(&Json::default(), keys, false));
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
    fn a_key_of_several_fields_is_an_object() {
        let layout = Layout { percent: true, ..Layout::default() };
        let value = parsed(&several(&Json(layout)));
        assert_eq!(
            value["top"][0],
            serde_json::json!({"count": 3, "percent": 75.0, "key": {"path": "/a b", "user agent": "x,|y"}})
        );
    }

    #[test]
    fn numbers_have_all_their_digits() {
        let values = [
            Quantity::None,
            Quantity::Number(Decimal::new(i128::MIN, 18)),
            Quantity::Number(Decimal::new(1_200, 3)),
            Quantity::Wide(WideDecimal { high: -1 << 64, low: 0, places: 18 }),
        ];
        let measures: Vec<NumberValue<'_>> =
            values.iter().map(|value| NumberValue(Value::Measure(value))).collect();
        let json = serde_json::to_string(&measures).expect("JSON");
        assert_eq!(
            json,
            "[null,-170141183460469231731.687303715884105728,1.2,-340282366920938463463.374607431768211456]"
        );
        let counts = [NumberValue(Value::Count(u64::MAX)), NumberValue(Value::Share(1, 3))];
        assert_eq!(serde_json::to_string(&counts).expect("JSON"), "[18446744073709551615,33.33]");
    }

    #[test]
    fn a_line_is_the_same_object() {
        let keys: &[(&[u8], u64)] = &[(b"a\nb", 2), (b"caf\xE9", 1)];
        let top = keys.iter().map(|&(key, count)| KeyCount::new(key.to_vec(), count)).collect();
        let answer =
            Answer { top, records: 3, distinct: 2, key_names: vec!["key".to_owned()], ..Answer::default() };
        let line = Json::default().line(&answer, false).expect("a line");
        let mut written = Vec::new();
        Json::default().write(&answer, &mut written).expect("writing to memory");
        assert_eq!(parsed(&line), parsed(&String::from_utf8(written).expect("UTF-8")));
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn partial_answers_are_marked() {
        assert!(written(&Json::default(), &[], true).contains("\"partial\": true"));
    }
}
