//! Lists of fields that form a key: `7`, `1,3`, `2-4`, `-1`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use thiserror::Error;

/// The fields that form a key, in order. Fields are numbered from 1; `-1` is the last one. With the empty list
/// (default), the key is the whole record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldList(Vec<FieldRange>);

/// An inclusive range of fields. Negative numbers count from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldRange {
    first: i32,
    last: i32,
}

/// An invalid list of fields.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldListError {
    /// A field is missing or not a number.
    #[error("expected a number such as 7, a range such as 2-4, or -1 for the last; found '{0}'")]
    NotANumber(String),
    /// Field 0.
    #[error("fields are numbered from 1; found 0")]
    Zero,
    /// A range that ends before it starts.
    #[error("the range {0} is empty")]
    Backwards(String),
}

impl FieldList {
    /// Whether the key is the whole record.
    pub fn is_whole_record(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the field if there is only one and it is counted from the start.
    pub(crate) fn single(&self) -> Option<u32> {
        match self.0[..] {
            [FieldRange { first, last }] if first == last => u32::try_from(first).ok(),
            _ => None,
        }
    }

    /// Number of leading fields that a record must be split into to resolve the list; `usize::MAX` for all fields.
    pub(crate) fn needed(&self) -> usize {
        let needed = |range: &FieldRange| match (usize::try_from(range.first), usize::try_from(range.last)) {
            (Ok(_), Ok(last)) => last,
            _ => usize::MAX,
        };
        self.0.iter().map(needed).max().unwrap_or(0)
    }

    /// Number of the single fields of the list, without ranges that count from both ends.
    pub(crate) fn len(&self) -> u64 {
        let length = |range: &FieldRange| u64::from(range.last.abs_diff(range.first)) + 1;
        self.0.iter().filter(|range| range.is_bounded()).map(length).sum()
    }

    /// The single fields of the list. Returns `None` if it has a range that counts from both ends, such as `2--1`.
    pub fn positions(&self) -> Option<Vec<i32>> {
        let positions = || self.0.iter().flat_map(|range| range.first..=range.last);
        self.0.iter().all(FieldRange::is_bounded).then(|| positions().collect())
    }

    /// Resolves the list for a record of `count` fields into indexes from 0. Returns `None` if the record has too few
    /// fields.
    pub(crate) fn resolve(&self, count: usize) -> Option<impl Iterator<Item = usize> + '_> {
        let all_there = self.0.iter().all(|range| range.resolve(count).is_some());
        all_there.then(|| self.0.iter().filter_map(move |range| range.resolve(count)).flatten())
    }
}

impl FieldRange {
    /// Whether the number of fields does not depend on the record.
    fn is_bounded(&self) -> bool {
        (self.first < 0) == (self.last < 0)
    }

    fn resolve(self, count: usize) -> Option<RangeInclusive<usize>> {
        let (first, last) = (index_of(self.first, count)?, index_of(self.last, count)?);
        (first <= last).then_some(first..=last)
    }
}

/// Returns the index, from 0, of a field of `count` by its number, from 1 or from -1 for the last.
pub(crate) fn index_of(number: i32, count: usize) -> Option<usize> {
    match usize::try_from(number) {
        Ok(number) => number.checked_sub(1).filter(|&index| index < count),
        Err(_) => count.checked_sub(number.unsigned_abs() as usize),
    }
}

impl FromStr for FieldList {
    type Err = FieldListError;

    fn from_str(list: &str) -> Result<Self, FieldListError> {
        list.split(',').map(parse_range).collect::<Result<_, _>>().map(Self)
    }
}

/// Parses `7`, `-1`, `2-4`, `2--1` or `-3--1`.
fn parse_range(item: &str) -> Result<FieldRange, FieldListError> {
    // A dash that is not the first character separates a range.
    let dash = item.bytes().skip(1).position(|byte| byte == b'-').map(|position| position + 1);
    let (first, last) = match dash {
        Some(dash) => (parse_number(&item[..dash], item)?, parse_number(&item[dash + 1..], item)?),
        None => (parse_number(item, item)?, parse_number(item, item)?),
    };
    let comparable = (first < 0) == (last < 0);
    if comparable && first > last {
        return Err(FieldListError::Backwards(item.to_owned()));
    }
    Ok(FieldRange { first, last })
}

fn parse_number(number: &str, item: &str) -> Result<i32, FieldListError> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = number.parse().ok().filter(|_| all_digits);
    match parsed {
        None => Err(FieldListError::NotANumber(item.to_owned())),
        Some(0) => Err(FieldListError::Zero),
        Some(number) => Ok(number),
    }
}

impl fmt::Display for FieldList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, FieldRange { first, last }) in self.0.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            if first == last { write!(f, "{comma}{first}")? } else { write!(f, "{comma}{first}-{last}")? }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> FieldList {
        text.parse().expect("a field list")
    }

    fn resolved(text: &str, count: usize) -> Option<Vec<usize>> {
        list(text).resolve(count).map(Iterator::collect)
    }

    #[test]
    fn fields_are_in_the_order_of_the_list() {
        assert_eq!(resolved("7", 9), Some(vec![6]));
        assert_eq!(resolved("3,1", 3), Some(vec![2, 0]));
        assert_eq!(resolved("2-4,1", 4), Some(vec![1, 2, 3, 0]));
        assert_eq!(resolved("-1", 4), Some(vec![3]));
        assert_eq!(resolved("2--1", 4), Some(vec![1, 2, 3]));
        assert_eq!(resolved("-3--2", 4), Some(vec![1, 2]));
        assert_eq!(resolved("1,1", 1), Some(vec![0, 0]));
    }

    #[test]
    fn too_few_fields_resolve_to_none() {
        assert_eq!(resolved("7", 6), None);
        assert_eq!(resolved("-3", 2), None);
        assert_eq!(resolved("2-4", 3), None);
        assert_eq!(resolved("3--1", 2), None);
        assert_eq!(resolved("-2-3", 5), None);
        assert_eq!(resolved("1", 0), None);
    }

    #[test]
    fn invalid_lists_are_refused() {
        let error = |text: &str| text.parse::<FieldList>().expect_err("an error");
        assert_eq!(error("0"), FieldListError::Zero);
        assert_eq!(error("1,0-3"), FieldListError::Zero);
        assert_eq!(error("-0"), FieldListError::Zero);
        assert_eq!(error("4-2"), FieldListError::Backwards("4-2".into()));
        assert_eq!(error("-1--2"), FieldListError::Backwards("-1--2".into()));
        for wrong in ["", "x", "3,x", "1,,2", "+1", "1-", "--1", "-", "1-2-3", "99999999999", "é-1"] {
            assert!(matches!(error(wrong), FieldListError::NotANumber(_)), "{wrong}");
        }
    }

    #[test]
    fn a_record_is_split_only_as_far_as_needed() {
        assert_eq!((list("7").single(), list("7").needed()), (Some(7), 7));
        assert_eq!((list("1,3").single(), list("1,3").needed()), (None, 3));
        assert_eq!((list("-1").single(), list("-1").needed()), (None, usize::MAX));
        assert_eq!(list("2--1").needed(), usize::MAX);
        assert_eq!(list("-2-3").needed(), usize::MAX);
    }

    #[test]
    fn a_list_is_formatted_as_written() {
        for text in ["7", "1,3", "2-4", "-1", "2--1,5"] {
            assert_eq!(list(text).to_string(), text);
        }
    }
}
