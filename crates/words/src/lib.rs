//! Searches texts for the words of long lists.
//!
//! A [`WordList`] has the matches of a regular expression with the words as alternatives: at the leftmost place where any word matches, the first
//! one in the list.
//!
//! ```
//! use std::sync::Arc;
//!
//! use finecomb_words::{Options, WordList};
//!
//! let words = ["blue", "bluebird", "heron"].map(str::to_owned);
//! let list = WordList::new(Arc::from(words), Options::default()).expect("words without line feeds");
//! assert_eq!(list.find_at(b"a bluebird", 0), Some(2..6));
//! assert_eq!(list.find_at(b"a bluebird", 3), None);
//! ```
//!
//! An automaton of many words does not fit into the cache: each byte of the text is a cache miss. Here, small filters of the words' first bytes
//! rule out most places of a text (`index`). At the others, candidate words are looked up in a hash table (`table`), one for each length that words
//! with the same first bytes have. Whole words and whole lines take one lookup each. If case is ignored, words and texts are folded (`fold`).
//!
//! If only matching lines are wanted, words that contain another word are left out of the index.
//!
//! An [`InnerLiteral`] searches lines for an expression by one literal in the middle of it.
#![warn(rustdoc::private_intra_doc_links)]

mod bits;
mod boundary;
mod fold;
mod hash;
mod index;
mod inner;
mod lines;
mod list;
mod runs;
mod search;
mod table;
#[cfg(test)]
mod tests;

pub use inner::{InnerCache, InnerLiteral, InnerMatch};
pub use lines::within_lines;
pub use list::{Options, WordList, WordPlace};
