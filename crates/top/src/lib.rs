//! The most frequent keys of records: splits records into fields, makes keys of fields, and counts keys.
//!
//! A [`Query`] defines which records are counted, which fields form the key, and how the key is edited. [`top`] counts
//! the keys of all records of its inputs and returns the most frequent ones.
//!
//! ```
//! use finecomb_scan::{Inputs, ScanOptions};
//! use finecomb_top::{Query, QueryOptions, top};
//!
//! let log = tempfile::NamedTempFile::new()?;
//! std::fs::write(log.path(), "a GET /x\nb GET /y\na GET /x\nc POST /x\n")?;
//! let options = QueryOptions::default().fields("3".parse()?).grep(vec!["GET".into()]);
//! let query = Query::new(&options)?;
//! let outcome = top(&Inputs::new([log.path()]), &ScanOptions::default(), &query);
//! let first = &outcome.answer.top[0];
//! assert_eq!((first.key.as_slice(), first.count), (&b"/x"[..], 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(rustdoc::private_intra_doc_links)]

mod answer;
mod approximate;
mod arena;
mod axis;
mod cells;
mod condition;
mod count;
mod counts;
mod deferred;
mod edit;
mod editor;
mod extract;
mod field;
mod fields;
mod filter;
mod follow;
mod format;
mod go_syntax;
mod hash;
mod input;
mod joint;
mod key;
mod leading_star;
mod live;
mod lower_case;
mod measure;
mod named_fields;
mod nearest;
mod normalize;
mod number;
#[cfg(test)]
#[path = "../tests/reference/runes.rs"]
mod oracle;
mod order;
pub mod output;
mod pairs;
mod pattern;
mod plan;
mod presence;
mod query;
mod replacement;
mod row_query;
mod row_time;
mod rows;
mod sample;
mod slot;
mod sorted;
mod spill;
mod split;
mod table;
mod tally;
mod text_regex;
mod time;
mod timeline;

pub use answer::{
    AbsentField, Answer, Approximation, Cause, FirstSkipped, KeyCount, Outcome, QueryPart, Skipped,
};
pub use axis::{AxisTick, TimeAxis};
pub use condition::{ConditionError, field_start};
pub use count::{top, top_live};
pub use counts::{AllCounted, Counts, StoredCounts, StoredError, TableLimit, count_all};
pub use field::{Field, FieldError, Name, Step};
pub use fields::{FieldList, FieldListError};
pub use follow::{FinishedBucket, Following, top_follow};
pub use input::{FormatError, InputFormat, InputFormatError};
pub use live::{Live, LiveRows};
pub use measure::{Measure, MeasureKind, Percentile, PercentileError, Quantity};
pub use named_fields::named_fields;
pub use normalize::{Normalizer, UnknownKind};
pub use order::SortBy;
pub use pattern::{PatternError, SyntaxError};
pub use query::{Query, QueryError, QueryOptions, Separator};
pub use sample::{Sample, sample};
pub use spill::MemoryLimit;
pub use time::{
    Bound, BoundError, Every, EveryError, Last, LastError, Slack, SlackError, TimeForm, TimeFormError, Zone,
    ZoneError,
};
pub use timeline::{MAX_GAP, Series, SeriesCount};

/// Start and end of a record or a key in a text.
pub(crate) type Span = (usize, usize);

/// Returns the bytes of a span.
#[inline(always)]
pub(crate) fn bytes_of(text: &[u8], (start, end): Span) -> &[u8] {
    &text[start..end]
}
