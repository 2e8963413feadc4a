//! The most frequent keys of records: splits records into fields, makes keys of fields, and counts keys.
//!
//! A [`Query`] defines which records are counted, which fields form the key, and how the key is edited. [`top`] counts
//! the keys of all records of its inputs and returns the most frequent ones.
//!
//! The crate opens no file and starts no thread: [`finecomb_scan`] hands it blocks. A block is worked phase by phase (split or filter,
//! extract, edit, count), each a loop over all of its records, rather than record by record. So loops stay tight, cache misses overlap,
//! and a phase costs two readings of the clock.
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

mod cells;
mod count;
mod follow;
mod format_samples;
mod key;
mod measure;
#[cfg(test)]
#[path = "../tests/reference/oracle.rs"]
mod oracle;
mod overview;
pub mod print;
mod query;
mod records;
mod sample;
mod time;

pub use count::answer::{
    Answer, Approximation, BucketRows, Cause, Changes, FirstSkipped, KeyCount, Outcome, PivotColumns, Series,
    SeriesCount, Skipped,
};
pub use count::changes::CHANGE_COLUMNS;
pub use count::live::{Live, LiveRecord, LiveRows, OpenedRow};
pub use count::saved::{AllCounted, Counts, StoredCounts, StoredError, TableLimit, count_all};
pub use count::{top, top_live};
pub use follow::{FinishedBucket, Following, top_follow};
pub use format_samples::sample_faults;
pub use key::expression::PatternError;
pub use key::normalize::{Normalizer, UnknownKind};
pub use measure::column::MeasureKind;
pub use measure::percentiles::{Percentile, PercentileError};
pub use measure::quantity::Quantity;
pub use measure::reader::{NumberFormat, NumberFormatError, TimeUnit, TimeUnitError};
pub use overview::answer::{Bars, FieldOverview, Gap, Numbers, Overview, OverviewOutcome, Times, ValueCount};
pub use overview::overview;
pub use query::Query;
pub use query::compare::Compare;
pub use query::condition::{ConditionError, field_start};
pub use query::field::{Field, FieldError, Name, Step};
pub use query::fields::{FieldList, FieldListError};
pub use query::format_error::FormatError;
pub use query::input_format::{InputFormat, InputFormatError};
pub use query::options::{Measure, MemoryLimit, QueryError, QueryOptions, Separator, SortBy};
pub use query::record_begin::RecordBegin;
pub use query::unwrap::{Unwrap, UnwrapError};
pub use records::absent_fields::{AbsentField, QueryPart};
pub use records::format::named::directory::{ReadFormat, named_formats, user_formats};
pub use records::format::named::{FieldType, FormatFileError, FormatSample, NamedFormat};
pub use records::named_fields::named_fields;
pub use sample::{Sample, sample};
pub use time::axis::{AxisTick, TimeAxis};
pub use time::bucket::MAX_GAP;
pub use time::{
    Bound, BoundError, Every, EveryError, Last, LastError, Slack, SlackError, TimeForm, TimeFormError, Zone,
    ZoneError,
};
