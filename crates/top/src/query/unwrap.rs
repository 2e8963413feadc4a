//! A field whose text is the record, as typed: `log`, `message=json`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::query::field::{Field, FieldError};
use crate::query::input_format::{InputFormat, InputFormatError};

/// A field whose text is the record, and the format of that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrap {
    /// The field.
    pub field: Field,
    /// Format of its text. Default: as that of files.
    pub format: Option<InputFormat>,
}

/// An invalid field to unwrap.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnwrapError {
    /// Not a field.
    #[error("{0}")]
    Field(#[from] FieldError),
    /// Not a format.
    #[error("{0}")]
    Format(#[from] InputFormatError),
    /// A format with a header.
    #[error("a field has one record; the header of {0} needs a file")]
    Table(String),
}

impl FromStr for Unwrap {
    type Err = UnwrapError;

    fn from_str(text: &str) -> Result<Self, UnwrapError> {
        let mut is_quoted = false;
        let equals = text.bytes().position(|byte| {
            is_quoted ^= byte == b'"';
            byte == b'=' && !is_quoted
        });
        let (field, format) = match equals {
            Some(at) => (&text[..at], Some(text[at + 1..].parse::<InputFormat>()?)),
            None => (text, None),
        };
        match format {
            Some(format) if format.needs_header() => Err(UnwrapError::Table(format.name().to_owned())),
            format => Ok(Self { field: Field::parse(field)?, format }),
        }
    }
}

/// As typed.
impl fmt::Display for Unwrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.field.written();
        // Otherwise the format would begin there.
        match name.contains('=') && !name.contains('"') {
            true => write!(f, "\"{name}\"")?,
            false => f.write_str(&name)?,
        }
        match &self.format {
            Some(format) => write!(f, "={format}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_and_its_format_are_written_as_they_are_parsed() {
        for text in ["log", "a.b[0]", "log=json", "3", "m=regex:a=(?<b>.)", "\"a=b\"=logfmt", "\"a.b\""] {
            assert_eq!(text.parse::<Unwrap>().expect("a field").to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let error = |text: &str| text.parse::<Unwrap>().expect_err("an error").to_string();
        for format in ["csv", "tsv", "w3c"] {
            let expected = format!("a field has one record; the header of {format} needs a file");
            assert_eq!(error(&format!("log={format}")), expected);
        }
        assert!(error("log=xml").ends_with("found 'xml'"));
        assert!(error("=json").contains("name or number"));
    }
}
