//! An index of a tree of files by their trigrams: a search reads it instead of most files.
//!
//! [`build`] lists a tree and reads its files; [`update`] reads only files that have changed. A search asks [`Indexes`], through
//! the traits of `scan`, which files cannot match, and `scan` proves for each of them that it has not changed since it was indexed.
//! So the answer is correct for the tree at the moment of the search.
//!
//! An index is a folder: a catalog of directories, files and their stamps, and segments with a
//! list of files for each trigram. What a file must hold to match a regular expression is a condition on its trigrams.
//!
//! No other crate knows of trigrams: `scan` finds, reads and compares files, `grep` and `symbols` have the expressions, and the
//! command brings both here.
//!
//! ```
//! use finecomb_scan::{Inputs, Known, Snapshots};
//! use finecomb_tree_index::{BuildOptions, Indexes, Sought, build};
//!
//! let (home, tree) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! let root = tree.path().canonicalize()?;
//! std::fs::write(root.join("one"), "a needle")?;
//! std::fs::write(root.join("two"), "hay")?;
//! build(home.path(), &root, &BuildOptions::default())?;
//! let patterns = vec![regex_syntax::parse("nee+dle")?];
//! let sought = Sought::new(patterns).counts_absent(true);
//! let indexes = Indexes::new(home.path().to_owned(), Some(&sought), 1);
//! let trees = indexes.open(&[root.clone()], &|_| None);
//! assert!(indexes.take_opened().failures.is_empty());
//! # // A file system whose times are not trusted has no absent files.
//! assert!(matches!(trees[0].file(0), Known::Candidate | Known::Nothing));
//! assert!(matches!(trees[0].file(1), Known::Absent(_) | Known::Nothing));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(rustdoc::private_intra_doc_links)]

mod build;
mod by_folder;
mod catalog;
mod documents;
mod error;
mod folder;
mod found;
mod indexes;
mod info;
mod kept;
mod kept_file;
mod list;
mod listed;
mod needs;
mod pages;
mod reading;
mod segment;
mod segments;
mod starts;
mod terms;
mod trigram;
mod values;
mod watch;

pub use build::{BuildOptions, Built, Stage, build, update};
pub use catalog::IndexedPart;
pub use error::Error;
pub use indexes::{Indexes, Opened, drop_index};
pub use info::{Info, roots, verify};
pub use needs::{Sought, SoughtTerms};
pub use reading::MAX_FILE;
pub use regex_syntax::hir::Hir;
pub use terms::DeriveTerms;
pub use values::Values;
pub use watch::here::{FilesWithTerms, count_by_folder, files_with_terms};
pub use watch::talk::WatchInfo;
pub use watch::watched::FolderCount;
pub use watch::{WatchOptions, watch};
