//! How the numbers of a measured field are written: their separators, and the unit of those without one.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::cells::Span;
use crate::measure::number::{Decimal, NoNumber, is_rounded, parse_with_unit, split_digits, split_sign};

/// Names of the units of time.
const UNITS: [&str; 8] = ["ns", "us", "µs", "ms", "s", "m", "h", "d"];

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeUnit(&'static str);

/// A text that is no unit of time.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown unit '{0}'; the units are ns, us, ms, s, m, h and d")]
pub struct TimeUnitError(String);

impl FromStr for TimeUnit {
    type Err = TimeUnitError;

    fn from_str(name: &str) -> Result<Self, TimeUnitError> {
        let known = UNITS.iter().find(|known| **known == name);
        known.map(|name| Self(name)).ok_or_else(|| TimeUnitError(name.to_owned()))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// How numbers are written, by the example of one: `1,234.50`, `$12`, `1.234,50 €`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberFormat {
    example: String,
    /// Texts before and after a number, which numbers may lack.
    prefix: String,
    suffix: String,
    /// Separator of groups of three digits.
    group: Option<String>,
    point: String,
}

/// A text that is no example of a number.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected a number such as 1,234.50 or $12 or '1.234,50 €'; found '{0}'")]
pub struct NumberFormatError(String);

impl FromStr for NumberFormat {
    type Err = NumberFormatError;

    fn from_str(example: &str) -> Result<Self, NumberFormatError> {
        Self::of_example(example).ok_or_else(|| NumberFormatError(example.to_owned()))
    }
}

/// The example.
impl fmt::Display for NumberFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.example)
    }
}

impl NumberFormat {
    fn of_example(example: &str) -> Option<Self> {
        let is_digit = |char: char| char.is_ascii_digit();
        let (first, last) = (example.find(is_digit)?, example.rfind(is_digit)?);
        let digits = &example[first..=last];
        let separators: Vec<&str> = digits.matches(|char| !is_digit(char)).collect();
        let after_last = digits.rsplit(|char| !is_digit(char)).next()?.len();
        let (group, point) = match separators[..] {
            [] => (None, "."),
            // One separator before three digits is that of thousands.
            [.., one] if separators.iter().all(|other| *other == one) => match (separators.len(), after_last)
            {
                (1, length) if length != 3 => (None, one),
                _ => (Some(one), if one == "." { "," } else { "." }),
            },
            [group, .., point] if separators[..separators.len() - 1].iter().all(|other| *other == group) => {
                (Some(group), point)
            }
            _ => return None,
        };
        let format = Self {
            example: example.to_owned(),
            prefix: example[..first].to_owned(),
            suffix: example[last + 1..].to_owned(),
            group: group.map(str::to_owned),
            point: point.to_owned(),
        };
        let is_usual =
            |text: &str| !text.contains(|char: char| char.is_alphanumeric() || "+-".contains(char));
        let are_usual = format.group.as_deref().is_none_or(is_usual) && is_usual(point);
        // An example is a number in its own format.
        let is_number = Decimal::parse(&format.rewritten(example.as_bytes())?).is_ok();
        (are_usual && is_number).then_some(format)
    }

    fn rewritten(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        self.rewrite(text, &mut out).then_some(out)
    }

    /// Appends a number as [`Decimal::parse`] reads it. Returns `false` if the text has another format.
    fn rewrite(&self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let without = |text| strip(text, &self.prefix, <[u8]>::strip_prefix);
        let (is_negative, mut rest) = split_sign(text);
        let is_signed = rest.len() < text.len();
        rest = without(rest);
        // Also $-12.
        let (is_inner_negative, after_sign) = if is_signed { (false, rest) } else { split_sign(rest) };
        rest = strip(after_sign, &self.suffix, <[u8]>::strip_suffix);
        if is_negative || is_inner_negative {
            out.push(b'-');
        }
        let (first, mut rest) = split_digits(rest);
        if first.is_empty() && !rest.starts_with(self.point.as_bytes()) {
            return false;
        }
        out.extend_from_slice(first);
        if let Some(group) = &self.group {
            while let Some(after) = rest.strip_prefix(group.as_bytes()) {
                let (digits, after) = split_digits(after);
                if digits.len() != 3 || !(1..=3).contains(&first.len()) {
                    return false;
                }
                out.extend_from_slice(digits);
                rest = after;
            }
        }
        if let Some(after) = rest.strip_prefix(self.point.as_bytes()) {
            out.push(b'.');
            rest = after;
        } else if rest.first() == Some(&b'.') {
            return false;
        }
        out.extend_from_slice(rest);
        true
    }
}

/// Removes a text at an end, if there is one and it is there.
fn strip<'t>(text: &'t [u8], end: &str, strip: fn(&'t [u8], &[u8]) -> Option<&'t [u8]>) -> &'t [u8] {
    if end.is_empty() { text } else { strip(text, end.as_bytes()).unwrap_or(text) }
}

/// How the numbers of a field are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumberReader {
    /// The unit of numbers without one.
    pub(crate) unit: Option<TimeUnit>,
    pub(crate) format: Option<NumberFormat>,
}

impl NumberReader {
    /// Whether numbers are read as they are.
    pub(crate) fn is_usual(&self) -> bool {
        self.unit.is_none() && self.format.is_none()
    }

    /// Reads the number `text[start..end]`, and whether it has a unit.
    #[inline(never)]
    pub(crate) fn read_any(
        &self,
        text: &[u8],
        (start, end): Span,
        buffer: &mut Vec<u8>,
    ) -> Result<(Decimal, bool), NoNumber> {
        if self.is_usual() { parse_with_unit(text, start, end) } else { self.read(&text[start..end], buffer) }
    }

    /// Whether the number `text[start..end]`, which [`NumberReader::read_any`] has just read with this buffer, was rounded.
    pub(crate) fn rounds(&self, text: &[u8], (start, end): Span, buffer: &[u8]) -> bool {
        is_rounded(if self.is_usual() { &text[start..end] } else { buffer })
    }

    /// Reads a number, and whether it has a unit. `buffer` is memory that is used again.
    pub(crate) fn read(&self, text: &[u8], buffer: &mut Vec<u8>) -> Result<(Decimal, bool), NoNumber> {
        buffer.clear();
        match &self.format {
            Some(format) if !matches!(text, b"" | b"-") => {
                if !format.rewrite(text, buffer) {
                    return Err(NoNumber::Invalid);
                }
            }
            _ => buffer.extend_from_slice(text),
        }
        match (parse_with_unit(buffer, 0, buffer.len()), self.unit) {
            (Ok((_, false)), Some(TimeUnit(name))) => {
                buffer.extend_from_slice(name.as_bytes());
                parse_with_unit(buffer, 0, buffer.len())
            }
            (read, _) => read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(format: &str, text: &str) -> String {
        let reader = NumberReader { format: Some(format.parse().expect("a format")), unit: None };
        let read = reader.read(text.as_bytes(), &mut Vec::new());
        read.map_or_else(|error| format!("{error:?}"), |(number, _)| number.to_string())
    }

    #[test]
    fn numbers_are_read_as_the_example_is_written() {
        for (format, text, expected) in [
            ("1,234.50", "1,234.50", "1234.5"),
            ("1,234.50", "-1,234,567", "-1234567"),
            ("1,234.50", "1234.5", "1234.5"),
            ("1,234.50", "12", "12"),
            ("1,234.50", "1,234.5ms", "1.2345"),
            ("1,234.50", "1.5e3", "1500"),
            ("1,234.50", "1,23", "Invalid"),
            ("1,234.50", "1234,567", "Invalid"),
            ("1,234.50", "$1", "Invalid"),
            ("1,234.50", "", "NoValue"),
            ("1,234.50", "-", "NoValue"),
            ("1,234", "1,234", "1234"),
            ("1,5", "1,234", "1.234"),
            ("1,5", "1.234", "Invalid"),
            ("$12", "$12", "12"),
            ("$12", "-$12.5", "-12.5"),
            ("$12", "$-12.5", "-12.5"),
            ("$12", "-$-12.5", "Invalid"),
            ("$12", "12", "12"),
            ("$12", "$", "Invalid"),
            ("$12", "$1,000", "Invalid"),
            ("1.234,50 €", "1.234.567,5 €", "1234567.5"),
            ("1.234,50 €", "12,5", "12.5"),
            ("1.234,50 €", "12.5", "Invalid"),
            ("1.234", "1.234", "1234"),
            ("1'234.5", "12'345", "12345"),
            ("1\u{a0}234,5", "1\u{a0}234,5", "1234.5"),
            ("1 234 567", "1 234", "1234"),
        ] {
            assert_eq!(shown(format, text), expected, "{format} {text}");
        }
        for format in ["", "$", "x", "1x234", "1,23,456.7", "1,234.567,8", "1-234", "12,34"] {
            let is_refused = format.parse::<NumberFormat>().is_err();
            assert_eq!(is_refused, format != "12,34", "{format}");
        }
    }

    #[test]
    fn numbers_without_a_unit_are_in_that_of_the_field() {
        let reader = NumberReader { unit: Some("ms".parse().expect("a unit")), format: None };
        for (text, expected) in [
            ("1500", "1.5"),
            ("1.5s", "1.5"),
            ("-2e3", "-2"),
            ("12345678901234567890", "12345678901234567.89"),
        ] {
            let read = reader.read(text.as_bytes(), &mut Vec::new());
            assert_eq!(
                read.map(|(number, unit)| (number.to_string(), unit)),
                Ok((expected.to_owned(), true))
            );
        }
        assert_eq!(reader.read(b"x", &mut Vec::new()), Err(NoNumber::Invalid));
        assert_eq!(reader.read(b"-", &mut Vec::new()), Err(NoNumber::NoValue));
        let error = "min".parse::<TimeUnit>().expect_err("no unit").to_string();
        assert_eq!(error, "unknown unit 'min'; the units are ns, us, ms, s, m, h and d");
    }
}
