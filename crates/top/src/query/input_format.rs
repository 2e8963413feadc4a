//! The format of an input, as typed: `combined`, `json`, `nginx:$remote_addr [$time_local] $status`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;

use crate::query::field::Field;
pub(crate) use crate::query::format_error::FormatError;
use crate::query::record_begin::RecordBegin;
use crate::records::format::named::directory::find;
use crate::records::format::named::{Base, FormatFileError, NamedFormat, Reader};

/// Format of the records of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFormat {
    /// Lines with fields by position.
    Lines,
    /// Decided for each file by its first records.
    Auto,
    /// Common Log Format of web servers.
    Clf,
    /// Combined Log Format: like [`InputFormat::Clf`], with referrer and user agent.
    Combined,
    /// Virtual host and port, then the [`InputFormat::Combined`] format.
    VhostCombined,
    /// The `log_format` of nginx.
    Nginx(String),
    /// Comma-separated values (RFC 4180), or values with another delimiter.
    Csv,
    /// Tab-separated values, without quotes.
    Tsv,
    /// A JSON object per line.
    Json,
    /// Lines of `key=value`.
    Logfmt,
    /// Syslog (RFC 3164 or RFC 5424).
    Syslog,
    /// Lines that a regular expression matches; its named groups are the fields.
    Regex(String),
    /// A format that a file defines.
    Named(Arc<NamedFormat>),
}

/// An unknown format.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputFormatError {
    /// No format has this name.
    #[error("expected {names}, a named format or auto; found '{0}'", names = InputFormat::NAMES.join(", "))]
    Unknown(String),
    /// The file of the format is wrong.
    #[error(transparent)]
    File(#[from] FormatFileError),
    /// Nothing follows `nginx:` or `regex:`.
    #[error("'{0}:' must be followed by {1}")]
    Incomplete(&'static str, &'static str),
}

impl FromStr for InputFormat {
    type Err = InputFormatError;

    fn from_str(text: &str) -> Result<Self, InputFormatError> {
        if let Some(format) = text.strip_prefix("nginx:") {
            let incomplete = InputFormatError::Incomplete("nginx", "a log_format");
            return if format.is_empty() { Err(incomplete) } else { Ok(Self::Nginx(format.to_owned())) };
        }
        if let Some(pattern) = text.strip_prefix("regex:") {
            let incomplete = InputFormatError::Incomplete("regex", "a regular expression with named groups");
            return if pattern.is_empty() { Err(incomplete) } else { Ok(Self::Regex(pattern.to_owned())) };
        }
        if let Some(plain) = Self::PLAIN.into_iter().find(|format| format.name() == text) {
            return Ok(plain);
        }
        let named = find(text).ok_or_else(|| InputFormatError::Unknown(text.to_owned()))?;
        Ok(Self::Named(named?))
    }
}

impl InputFormat {
    /// All formats as they are typed, except `auto` and the named ones.
    pub const NAMES: [&'static str; 11] = [
        "lines",
        "clf",
        "combined",
        "vhost_combined",
        "csv",
        "tsv",
        "json",
        "logfmt",
        "syslog",
        "nginx:LOG_FORMAT",
        "regex:PATTERN",
    ];

    /// The formats without a text after their name.
    const PLAIN: [Self; 10] = [
        Self::Lines,
        Self::Auto,
        Self::Clf,
        Self::Combined,
        Self::VhostCombined,
        Self::Csv,
        Self::Tsv,
        Self::Json,
        Self::Logfmt,
        Self::Syslog,
    ];

    /// The format whose reader reads the records: for a named format whose records name their fields, another one.
    pub(crate) fn plain(&self) -> &Self {
        let Self::Named(named) = self else { return self };
        match named.reader {
            Reader::Template(..) | Reader::Pattern(_) | Reader::Base(Base::W3c) => self,
            Reader::Base(Base::Csv) => &Self::Csv,
            Reader::Base(Base::Json) => &Self::Json,
            Reader::Base(Base::Logfmt) => &Self::Logfmt,
            Reader::Base(Base::Tsv) => &Self::Tsv,
        }
    }

    /// The definition of a named format.
    pub(crate) fn named(&self) -> Option<&NamedFormat> {
        match self {
            Self::Named(named) => Some(named),
            _ => None,
        }
    }

    /// Whether lines among the records name their columns.
    pub(crate) fn has_headings(&self) -> bool {
        self.named().is_some_and(|named| named.reader == Reader::Base(Base::W3c))
    }

    /// The lines that begin a record of several lines, if the definition of the format has them.
    pub(crate) fn record(&self) -> Option<&RecordBegin> {
        self.named().and_then(NamedFormat::record)
    }

    /// Whether other lines than the records name the fields.
    pub(crate) fn needs_header(&self) -> bool {
        matches!(self.plain(), Self::Csv | Self::Tsv) || self.has_headings()
    }

    /// Field whose text is the record, if the definition of the format has one.
    pub(crate) fn unwrap(&self) -> Option<&Field> {
        match self {
            Self::Named(named) => named.unwrap(),
            _ => None,
        }
    }

    /// Name of the format, without the text after the colon.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(named) => named.name(),
            Self::Nginx(_) => "nginx",
            Self::Regex(_) => "regex",
            Self::Lines => "lines",
            Self::Auto => "auto",
            Self::Clf => "clf",
            Self::Combined => "combined",
            Self::VhostCombined => "vhost_combined",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Logfmt => "logfmt",
            Self::Syslog => "syslog",
        }
    }
}

/// The format as typed.
impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Nginx(text) | Self::Regex(text) => write!(f, ":{text}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_written_as_they_are_parsed() {
        for text in InputFormat::NAMES.into_iter().chain(["auto"]) {
            assert_eq!(text.parse::<InputFormat>().expect("a format").to_string(), text);
        }
        assert!(
            InputFormat::PLAIN
                .iter()
                .all(|format| *format == InputFormat::Auto || InputFormat::NAMES.contains(&format.name()))
        );
        for text in ["nginx:$host $status", "regex:(?P<a>.)"] {
            assert_eq!(text.parse::<InputFormat>().expect("a format").to_string(), text);
        }
    }

    #[test]
    fn unknown_formats_are_refused() {
        let error = |text: &str| text.parse::<InputFormat>().expect_err("an error").to_string();
        assert!(error("xml").ends_with("found 'xml'"));
        assert_eq!(error("nginx:"), "'nginx:' must be followed by a log_format");
        assert_eq!(error("regex:"), "'regex:' must be followed by a regular expression with named groups");
        assert!(error("nginx").starts_with("expected lines"));
    }
}
