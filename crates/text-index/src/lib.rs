//! Suffix array over packed text: built once, memory-mapped, and searched in microseconds.
//!
//! An index is one file: the text with as few bits per symbol as its alphabet needs, its suffix array (Manber and Myers: Suffix
//! arrays, 1993), a front table that replaces most of the binary search, and bitmaps of the parts of the text in which the
//! suffixes of a range of the array begin. The occurrences of a pattern are adjacent in the array: the ends of their range give
//! their number, and the bitmaps give the earliest one at or after a position without a scan of all occurrences.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use std::path::Path;
//! use finecomb_text_index::{BuildOptions, Index, LoadedText};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let output = directory.path().join("pi.comb");
//! let text = LoadedText::new(Path::new("pi"), b"14159265358979323846".to_vec(), None)?;
//! let options = BuildOptions::default().threads(NonZeroUsize::MIN);
//! text.build(&output, &options)?;
//!
//! let index = Index::open(&output)?;
//! let pattern = index.pattern(b"9")?;
//! let nines = index.occurrences(&pattern)?;
//! assert_eq!(nines.count(), 3);
//! assert_eq!(nines.first_from(5)?, Some(11));
//! assert_eq!(index.text(11, 16)?, b"97932");
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `openmp`, a build sorts on several cores. Its threads spin while they wait, which costs much time where other
//! programs want these cores, unless the process is started with `OMP_WAIT_POLICY=passive`, as `comb` starts itself.
#![warn(rustdoc::private_intra_doc_links)]

mod alphabet;
mod answer;
mod build;
mod consistency;
mod entries;
mod error;
mod format;
mod front;
mod index;
mod lines;
mod occurrences;
mod packed;
mod passage;
mod pattern;
mod pisearch;
mod presence;
mod sort;
mod verify;
mod write;

pub use alphabet::Alphabet;
pub use answer::{CountAnswer, Direction, PositionsAnswer, SearchAnswer, TextAnswer};
pub use build::{BuildOptions, LoadedText, Stage, max_index_size, memory};
pub use error::{Damage, Error};
pub use format::is_index;
#[doc(hidden)]
pub use format::recompute_checksums;
pub use index::Index;
pub use lines::LineColumn;
pub use occurrences::{ListingState, Occurrences, Positions};
pub use passage::TextPassage;
pub use pattern::Pattern;
pub use pisearch::{import_pisearch, pisearch_files};
pub use write::write_atomically;
