//! The most frequent keys: records to fields to keys to counts.
//!
//! A [`Query`] says which records to take, which of their fields make the key, and how to edit it.
//! [`top`] counts the keys of all records of some inputs and gives the most frequent ones.
//!
//! ```
//! use finecomb_scan::{Inputs, ScanOptions};
//! use finecomb_top::{Query, QueryOptions, top};
//!
//! # let log = tempfile::NamedTempFile::new()?;
//! # std::fs::write(log.path(), "a GET /x\nb GET /y\na GET /x\nc POST /x\n")?;
//! let options = QueryOptions { fields: "3".parse()?, grep: vec!["GET".into()], ..QueryOptions::default() };
//! let query = Query::new(&options)?;
//! let outcome = top(&Inputs::new([log.path()]), &ScanOptions::default(), &query);
//! let first = &outcome.answer.top[0];
//! assert_eq!((first.key.as_slice(), first.count), (&b"/x"[..], 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod answer;
mod arena;
mod behind_star;
mod count;
mod edit;
mod fields;
mod filter;
mod go_syntax;
mod hash;
mod key;
mod live;
#[cfg(test)]
#[path = "../tests/reference/runes.rs"]
mod oracle;
pub mod output;
mod pattern;
mod query;
mod replacement;
mod sample;
mod slot;
mod split;
mod table;
mod text_regex;

pub use answer::{Answer, KeyCount, Outcome, Skipped};
pub use count::{top, top_live};
pub use fields::{FieldList, FieldListError};
pub use live::Live;
pub use pattern::{PatternError, SyntaxError};
pub use query::{Query, QueryError, QueryOptions, Separator};
pub use sample::{Sample, sample};

/// Where a record or a key stands in a text: start and end.
pub(crate) type Span = (usize, usize);

/// The bytes of a span.
#[inline(always)]
pub(crate) fn bytes_of(text: &[u8], (start, end): Span) -> &[u8] {
    &text[start..end]
}
