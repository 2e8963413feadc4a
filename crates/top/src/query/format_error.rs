//! Reasons why the records of a format cannot be used.

use thiserror::Error;

/// Reason why the records of a format cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The format was not detected, and fields with names are wanted. The text adds the nearest formats.
    #[error("unknown format{0}")]
    Unknown(String),
    /// The time is in no field that is recognised as one.
    #[error("the first records have no field with a usual name and a time")]
    NoTime,
    /// The format has records of its own, and lines that begin a record are given.
    #[error("--record does not apply to {0}")]
    OwnRecords(String),
    /// A field of lines has a name instead of a number.
    #[error("lines have no field '{0}'")]
    NoNames(String),
    /// The format lacks a field, or its definition is invalid.
    #[error("{0}")]
    Other(String),
}
