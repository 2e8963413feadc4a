//! Counts of keys by the values of another field: each value is a column of the answer.
//!
//! During the count, a key begins with its value, so that the table counts the pairs. Here they are separated again.

use std::collections::{HashMap, HashSet};
use std::mem;

use finecomb_sys::{display, varint};

use crate::count::answer::{Answer, KeyCount, PivotColumns};
use crate::count::timeline::first_keys;
use crate::measure::number::Decimal;
use crate::measure::quantity::Quantity;
use crate::query::Query;

/// Maximum number of columns. The most frequent values have one.
const MAX_COLUMNS: usize = 50;

/// Names of columns that no value has.
const RESERVED: [&str; 7] =
    ["count", "percent", "cumulative", "cumulative_percent", "key", "key_bytes", "key_base64"];

/// Appends the value that a key is counted by.
pub(crate) fn append_value(value: &[u8], out: &mut Vec<u8>) {
    varint::put_bytes(out, value);
}

/// The value and the key that were counted as one.
pub(crate) fn split(pair: &[u8]) -> (&[u8], &[u8]) {
    let mut key = pair;
    match varint::take_bytes(&mut key) {
        Some(value) => (value, key),
        None => (&[], pair),
    }
}

/// Makes the rows of the first keys, with a column for each of the most frequent values.
pub(crate) fn arrange(answer: &mut Answer, query: &Query, field: &str) {
    let pairs = mem::take(&mut answer.top);
    let (distinct, keys) =
        first_keys(pairs.iter().map(|pair| (split(&pair.key).1, pair.count)), &query.order);
    let values = Values::of(&pairs);
    let measure = mem::take(&mut answer.measure_names).into_iter().next();
    let empty = if measure.is_some() { Quantity::None } else { Quantity::Number(Decimal::new(0, 0)) };
    let mut cells = vec![vec![empty; values.columns.len()]; keys.len()];
    let ranks: HashMap<&[u8], usize> = (keys.iter().map(|key| &key.key[..])).zip(0..).collect();
    let places: HashMap<&[u8], usize> = values.columns.iter().copied().zip(0..).collect();
    for pair in &pairs {
        let (value, key) = split(&pair.key);
        if let (Some(&row), Some(&column)) = (ranks.get(key), places.get(value)) {
            let count = || Quantity::Number(Decimal::new(pair.count.into(), 0));
            cells[row][column] = pair.values.first().copied().unwrap_or_else(count);
        }
    }
    answer.distinct = distinct as u64;
    answer.measure_names = names(&values.columns, field, &answer.key_names);
    // Records without the value are skipped as well: the message on them names the missing field only if it is always the same.
    answer.key_fields.extend((answer.key_fields.len() == 1).then(|| field.to_owned()));
    answer.pivot = Some(PivotColumns {
        field: field.to_owned(),
        measure,
        values: values.columns.len(),
        left_out: values.left_out,
        records: values.records,
    });
    let rows = keys.into_iter().zip(cells);
    answer.top = rows.map(|(key, values)| KeyCount { values, ..key }).collect();
    answer.top.iter_mut().for_each(|key| key.split(query.joint));
}

/// The values of the field that keys are counted by.
struct Values<'a> {
    /// The most frequent ones, in the order of the columns.
    columns: Vec<&'a [u8]>,
    /// Number of other values, and of the records that have them.
    left_out: u64,
    records: u64,
}

impl<'a> Values<'a> {
    fn of(pairs: &'a [KeyCount]) -> Self {
        let mut counts: HashMap<&[u8], u64> = HashMap::new();
        pairs.iter().for_each(|pair| *counts.entry(split(&pair.key).0).or_default() += pair.count);
        let mut counts: Vec<(&[u8], u64)> = counts.into_iter().collect();
        counts.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        let others = counts.split_off(counts.len().min(MAX_COLUMNS));
        let mut columns: Vec<&[u8]> = counts.into_iter().map(|(value, _)| value).collect();
        columns.sort_unstable();
        let numbers: Option<Vec<Decimal>> = columns.iter().map(|value| Decimal::parse(value).ok()).collect();
        if let Some(numbers) = numbers {
            // Numbers that are equal remain in the order of their bytes.
            let mut ordered: Vec<(Decimal, &[u8])> = numbers.into_iter().zip(columns).collect();
            ordered.sort_by_key(|&(number, _)| number);
            columns = ordered.into_iter().map(|(_, value)| value).collect();
        }
        let records = others.iter().map(|(_, count)| count).sum();
        Self { columns, left_out: others.len() as u64, records }
    }
}

/// A name for the column of each value: the value, or with the field before it if it is empty or the name of another column.
fn names(values: &[&[u8]], field: &str, key_names: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = RESERVED.into_iter().map(str::to_owned).collect();
    taken.extend(key_names.iter().cloned());
    let name = |value: &&[u8]| {
        let mut name = str::from_utf8(value).map_or_else(|_| display::escaped_bytes(value), str::to_owned);
        if name.is_empty() || taken.contains(&name) {
            name = format!("{field}={name}");
        }
        while !taken.insert(name.clone()) {
            name.push('\'');
        }
        name
    };
    values.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pair(value: &str, key: &str, count: u64) -> KeyCount {
        let mut pair = Vec::new();
        append_value(value.as_bytes(), &mut pair);
        pair.extend_from_slice(key.as_bytes());
        KeyCount::new(pair, count)
    }

    fn columns(counts: &[(&str, u64)]) -> Vec<String> {
        let pairs: Vec<KeyCount> = counts.iter().map(|&(value, count)| pair(value, "", count)).collect();
        let columns = Values::of(&pairs).columns;
        columns.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect()
    }

    #[test]
    fn columns_are_in_the_order_of_their_values() {
        assert_eq!(columns(&[("warn", 9), ("error", 1), ("info", 5)]), ["error", "info", "warn"]);
        assert_eq!(columns(&[("200", 9), ("404", 1), ("1000", 5), ("-1", 1)]), ["-1", "200", "404", "1000"]);
        assert_eq!(columns(&[("10", 9), ("9", 1), ("x", 1)]), ["10", "9", "x"]);
    }

    #[test]
    fn the_most_frequent_values_have_columns() {
        let values: Vec<String> = (0..60).map(|number| format!("v{number:02}")).collect();
        let pairs: Vec<KeyCount> =
            values.iter().zip(1..).map(|(value, count)| pair(value, "key", count)).collect();
        let Values { columns, left_out, records } = Values::of(&pairs);
        let expected: Vec<&[u8]> = values[10..].iter().map(String::as_bytes).collect();
        assert_eq!((columns, left_out, records), (expected, 10, 55));
    }

    #[test]
    fn names_of_columns_are_unique() {
        let long = "x".repeat(200);
        let values: [&[u8]; 6] = [b"count", b"", b"path", b"\xFF", b"\\xff", long.as_bytes()];
        let mut names = names(&values, "status", &["path".to_owned()]);
        let last = names.pop().expect("a name");
        assert_eq!(names, ["status=count", "status=", "status=path", "\\xff", "status=\\xff"]);
        assert_eq!(last, long);
    }

    proptest! {
        #[test]
        fn values_and_keys_are_told_apart(value: Vec<u8>, key: Vec<u8>) {
            let mut pair = Vec::new();
            append_value(&value, &mut pair);
            pair.extend_from_slice(&key);
            prop_assert_eq!(split(&pair), (&value[..], &key[..]));
        }
    }
}
