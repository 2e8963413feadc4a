//! Finds files, reads them, cuts them into blocks of whole lines or records, and folds over the blocks in parallel.
//!
//! A job implements [`Accumulate`], which processes blocks and joins the results of the workers. [`fold`] does the rest: it owns
//! every thread, file descriptor and read. Output in the order of the files is that of a [`Print`], run by [`in_order`].
//!
//! No thread is started for a file, for reading or for writing: workers pull work, and the one that completes the front of the
//! output writes it. A job takes memory for one block per worker, which grows for a longer record up to
//! [`max_line`](ScanOptions::max_line) and shrinks afterwards; for one part per worker of a compressed file in parts; and for its results.
//!
//! ```
//! use std::ops::ControlFlow;
//! use finecomb_scan::{Accumulate, Block, FoldOptions, Inputs, Meter, fold};
//!
//! /// Counts lines.
//! #[derive(Default)]
//! struct Lines(u64);
//!
//! impl Accumulate for Lines {
//!     type Part = u64;
//!     type Joined = u64;
//!
//!     fn take(&mut self, block: &Block<'_>, _meter: &mut Meter) -> ControlFlow<()> {
//!         self.0 += block.lines().count() as u64;
//!         ControlFlow::Continue(())
//!     }
//!     fn into_parts(self) -> Vec<u64> {
//!         vec![self.0]
//!     }
//!     fn join(parts: Vec<u64>) -> u64 {
//!         parts.into_iter().sum()
//!     }
//! }
//!
//! let file = tempfile::NamedTempFile::new()?;
//! std::fs::write(file.path(), "one\ntwo\nthree")?;
//! let inputs = Inputs::new([file.path()]);
//! let folded = fold(&inputs, &FoldOptions::default(), Lines::default);
//! assert_eq!(folded.joined, [3]);
//! assert!(folded.problems.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
#![warn(rustdoc::private_intra_doc_links)]

mod block;
mod collect;
mod follow;
mod heading;
mod inputs;
mod lines;
mod narrow;
mod options;
mod pieces;
mod problem;
mod progress;
mod recognize;
mod records;
mod schedule;
mod snapshot;
mod source;
mod spill;
mod stop;
mod survey;
mod walk;

pub use block::{Block, FindNul, FirstNul, Lookahead, Medium, Place, RereadFile, Source};
pub use collect::merged::{Accumulate, Folded, fold};
pub use collect::ordered::{End, Ordered, Output, Print, Search, Select, Wants, in_order};
pub use finecomb_meter::{Activity, Detail, Meter, Phase, Report};
pub use follow::{Followed, Next, Pause, follow};
pub use heading::{Heading, last_heading};
pub use ignore::overrides::{Override, OverrideBuilder};
pub use ignore::types::{Types, TypesBuilder};
pub use inputs::Inputs;
pub use lines::LineEnds;
pub use narrow::{LinesAt, Narrow, Narrowed};
pub use options::{FoldOptions, MAX_WIDTH, OrderedOptions, ScanOptions, Width};
pub use pieces::Pieces;
pub use problem::{MemberFault, Problem, ProblemKind, Problems};
pub use progress::{Progress, Watch};
pub use recognize::{MAX_HEAD, Reason, Recognize, Recognized};
pub use records::objects::{MemberPath, ObjectSpans};
pub use records::start::{JudgeLine, LineRole, RecordStart};
pub use records::{RecordEnds, Records};
pub use regex_automata::meta::Regex;
pub use schedule::limit::{Limit, Omitted};
pub use snapshot::{Absent, Checks, Instant, Known, KnownEntry, Snapshot, Snapshots, Stamp, TextPart};
pub use source::HEAD_SIZE;
pub use source::bounds::{LONG_LINE, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, Mapping, NulEnds};
pub use source::decode::Encoding;
pub use source::decompress::format::decompressed_name;
pub use source::preprocess::Preprocessor;
pub use spill::SpillFile;
pub use stop::Stop;
pub use survey::{
    Distrust, Examine, Examined, FileAt, SETTLED_AFTER, SurveyedDirectory, SurveyedEntry, compare, examine,
    now, survey,
};
pub use walk::listing::EntryKind;
pub use walk::{FoundFile, REPOSITORY_NAMES, RULE_FILES, RuleFiles, Sort, SortKey, WalkOptions, list_files};
