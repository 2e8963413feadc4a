//! Values of options as other languages write them: a text as on the command line, a number, or a list.

use std::convert::Infallible;
use std::path::PathBuf;
use std::slice;

use clap::ValueEnum;
use clap::builder::ArgExt;
use finecomb_scan::{Encoding, Width};
use finecomb_top::{
    Every, Field, InputFormat, Last, Normalizer, NumberFormat, RecordBegin, TimeForm, Unwrap, Zone,
};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::args::tree_index::WhenIndexed;
use crate::args::{selection, threads};
use crate::top::options::field_unit::FieldUnit;
use crate::top::options::key_fields::KeyFields;
use crate::top::options::time_fields::TimeFields;

/// Marks a flag that is also an option by name, unlike others under its heading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByName;

impl ArgExt for ByName {}

/// Reason that is replaced by that of the flag.
const INVALID: &str = "invalid value";

/// Reason for a value of another type.
const EXPECTED: &str = "expected a text or a number";

/// A value that is parsed as that of a flag.
pub(crate) trait FlagValue: Sized {
    /// Parses the text; `None` if the flag has no such value, which the parser of the flag gives the reason for.
    fn parse(text: &str) -> Option<Self>;
}

/// Implements [`FlagValue`] by the functions that parse the flags.
macro_rules! flag_values {
    ($($(#[$attribute:meta])* $type:ty: $parse:expr;)*) => {
        $(
            $(#[$attribute])*
            impl FlagValue for $type {
                fn parse(text: &str) -> Option<Self> {
                    let parse: fn(&str) -> Result<$type, _> = $parse;
                    parse(text).ok()
                }
            }
        )*
    };
}

flag_values! {
    Encoding: selection::encoding;
    Every: str::parse;
    Field: Field::parse;
    FieldUnit: FieldUnit::parse;
    InputFormat: str::parse;
    KeyFields: KeyFields::parse;
    Last: str::parse;
    Normalizer: Normalizer::new;
    NumberFormat: str::parse;
    PathBuf: |text| Ok::<_, Infallible>(text.into());
    RecordBegin: str::parse;
    String: |text| Ok::<_, Infallible>(text.to_owned());
    u64: str::parse;
    usize: str::parse;
    TimeFields: TimeFields::parse;
    TimeForm: TimeForm::format;
    Unwrap: str::parse;
    WhenIndexed: |text| WhenIndexed::from_str(text, false);
    Width: threads::parse;
    Zone: Zone::parse;
    #[cfg(feature = "symbols")]
    finecomb_symbols::Kind: str::parse;
    #[cfg(feature = "symbols")]
    finecomb_symbols::Language: str::parse;
}

/// Reads a single value.
pub(crate) fn one<'d, D: Deserializer<'d>, T: FlagValue>(deserializer: D) -> Result<T, D::Error> {
    parse(&Value::deserialize(deserializer)?).map_err(Error::custom)
}

/// Reads a value that may be missing.
pub(crate) fn maybe<'d, D: Deserializer<'d>, T: FlagValue>(deserializer: D) -> Result<Option<T>, D::Error> {
    one(deserializer).map(Some)
}

/// Reads a single value by a function.
pub(crate) fn by<'d, D: Deserializer<'d>, T, E>(
    deserializer: D,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    let text: String = one(deserializer)?;
    parse(&text).map_err(|_| Error::custom(INVALID))
}

/// Reads a single value by a function; `true` stands for the flag without a value, which means `default`.
pub(crate) fn by_or<'d, D: Deserializer<'d>, T, E>(
    deserializer: D,
    default: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Bool(true) => parse(default),
        value => parse(&text(&value).ok_or_else(|| Error::custom(EXPECTED))?),
    }
    .map_err(|_| Error::custom(INVALID))
}

/// Reads a value that is a list with commas, or the items of this list.
pub(crate) fn joined<'d, D: Deserializer<'d>, T: FlagValue>(deserializer: D) -> Result<Option<T>, D::Error> {
    let texts: Vec<String> = many(deserializer)?;
    T::parse(&texts.join(",")).map(Some).ok_or_else(|| Error::custom(INVALID))
}

/// Reads a pair of texts, or a list of pairs, as all texts in a row.
pub(crate) fn pairs<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let expected = || Error::custom("expected a pair (REGEX, REPLACEMENT), or a list of pairs");
    let value = Value::deserialize(deserializer)?;
    let items = value.as_array().ok_or_else(expected)?;
    let rows = if items.iter().all(Value::is_array) { &items[..] } else { slice::from_ref(&value) };
    let rows: Vec<_> = rows.iter().map(texts).collect::<Result<_, _>>().map_err(Error::custom)?;
    if rows.iter().all(|row| row.len() == 2) { Ok(rows.concat()) } else { Err(expected()) }
}

/// Writes texts in a row as a list of pairs.
pub(crate) fn shown_pairs<S: Serializer>(texts: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    texts.as_chunks::<2>().0.serialize(serializer)
}

/// Writes a value as the text of its flag.
pub(crate) fn shown_maybe<S: Serializer, T: ToString>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.as_ref().map(T::to_string).serialize(serializer)
}

/// Writes values as the texts of their flag.
pub(crate) fn shown_all<S: Serializer, T: ToString>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(T::to_string))
}

/// Reads a list of values, or a single one.
pub(crate) fn many<'d, D: Deserializer<'d>, T: FlagValue>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let texts = texts(&Value::deserialize(deserializer)?).map_err(Error::custom)?;
    texts.iter().map(|text| T::parse(text).ok_or_else(|| Error::custom(INVALID))).collect()
}

/// As [`many`], and a text may be a list with commas.
#[cfg(feature = "symbols")]
pub(crate) fn with_commas<'d, D: Deserializer<'d>, T: FlagValue>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let texts: Vec<String> = many(deserializer)?;
    let parsed = texts.iter().flat_map(|text| text.split(',')).map(T::parse).collect::<Option<_>>();
    parsed.ok_or_else(|| Error::custom(INVALID))
}

fn parse<T: FlagValue>(value: &Value) -> Result<T, &'static str> {
    T::parse(&text(value).ok_or(EXPECTED)?).ok_or(INVALID)
}

/// The texts of a list of values, or of a single one.
pub(crate) fn texts(value: &Value) -> Result<Vec<String>, &'static str> {
    let values = if let Value::Array(values) = value { &values[..] } else { slice::from_ref(value) };
    values.iter().map(|value| text(value).ok_or("expected texts or numbers")).collect()
}

/// The text of a value, as it would follow the flag; `None` for a switch, a list or an object.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
