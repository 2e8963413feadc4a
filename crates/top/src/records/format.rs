//! Formats of records.
//!
//! # Adding a format
//!
//! A module here with an extractor, and a variant of [`InputFormat`](name::InputFormat) with its name in `NAMES` and `PLAIN`. The compiler
//! then asks [`layout`](crate::records::layout) for the extractor, and [`named_fields`](crate::records::named_fields) for the names of its
//! fields. [`detect`] recognises it. Tests write and read it: `tests/table/style.rs`, and an oracle in the module. `fuzz/hunt_formats.py` has a
//! table of each. For users: `--input` in the arguments and completions of `finecomb-command`, the tool `top` of `comb-serve`,
//! docs/records.md, docs/commands/top.md, and a sample that `bench/corpus` writes.

pub(crate) mod access;
pub(crate) mod csv;
pub(crate) mod detect;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod logfmt;
pub(crate) mod regex;
pub(crate) mod syslog;
