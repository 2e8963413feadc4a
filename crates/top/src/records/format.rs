//! Formats of records.

pub(crate) mod access;
pub(crate) mod csv;
pub(crate) mod detect;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod logfmt;
pub(crate) mod name;
pub(crate) mod regex;
pub(crate) mod syslog;
