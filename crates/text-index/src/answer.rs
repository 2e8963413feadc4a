//! Answers in JSON, identical on the command line, over HTTP and from the CGI program.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::{Error, Index, Occurrences, Pattern, TextPassage};

/// Bytes as a JSON string. Invalid UTF-8 is replaced, and the exact bytes are then added in Base64.
struct Lossy {
    text: String,
    base64: Option<String>,
}

impl Lossy {
    fn new(bytes: &[u8]) -> Self {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => Self { text: text.to_owned(), base64: None },
            Cow::Owned(text) => Self { text, base64: Some(STANDARD.encode(bytes)) },
        }
    }
}

/// Answer to a search: one occurrence, or none.
#[derive(Debug, Serialize)]
pub struct SearchAnswer {
    /// Name of the index, if there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Pattern that was searched for.
    pub pattern: String,
    /// Exact bytes of the pattern, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_base64: Option<String>,
    /// Position at or after which the first occurrence was searched for; null in a backward search.
    pub from: Option<u64>,
    /// Position before which the last occurrence was searched for; absent in a forward search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_position: Option<u64>,
    /// Number of occurrences in the whole text.
    pub count: u64,
    /// Position of the occurrence; null if there is none.
    pub position: Option<u64>,
    /// Line of the occurrence, counted from 1; null unless the alphabet is bytes.
    pub line: Option<u64>,
    /// Byte of the line at which the occurrence begins, counted from 1; null unless the alphabet is bytes.
    pub column: Option<u64>,
    /// Text before the occurrence.
    pub before: Option<String>,
    /// Exact bytes of `before`, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_base64: Option<String>,
    /// Text of the occurrence.
    #[serde(rename = "match")]
    pub matched: Option<String>,
    /// Exact bytes of `match`, if they are not UTF-8.
    #[serde(rename = "match_base64", skip_serializing_if = "Option::is_none")]
    pub matched_base64: Option<String>,
    /// Text after the occurrence.
    pub after: Option<String>,
    /// Exact bytes of `after`, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_base64: Option<String>,
}

/// Direction of a search. Digits are counted from 1, all other symbols from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Finds the first occurrence at or after a position.
    FirstFrom(u64),
    /// Finds the last occurrence that begins before a position.
    LastBefore(u64),
}

impl Direction {
    /// Finds the occurrence and returns its offset, counted from 0.
    ///
    /// # Errors
    ///
    /// If the position is outside the text and not its end, or the index turns out to be corrupt.
    pub fn find(self, index: &Index, occurrences: &Occurrences<'_>) -> Result<Option<u64>, Error> {
        match self {
            Self::FirstFrom(position) => occurrences.first_from(index.offset(position)?),
            Self::LastBefore(position) => occurrences.last_before(index.offset(position)?),
        }
    }
}

impl SearchAnswer {
    /// Makes the answer from the passage, if one was found.
    pub fn new(
        name: Option<&str>,
        pattern: &Pattern,
        direction: Direction,
        count: u64,
        passage: Option<&TextPassage>,
    ) -> Self {
        let searched = Lossy::new(pattern.text());
        let part = |bytes: fn(&TextPassage) -> &[u8]| {
            let lossy = passage.map(|passage| Lossy::new(bytes(passage)));
            lossy.map_or((None, None), |lossy| (Some(lossy.text), lossy.base64))
        };
        let (before, before_base64) = part(|passage| &passage.before);
        let (matched, matched_base64) = part(|passage| &passage.matched);
        let (after, after_base64) = part(|passage| &passage.after);
        let place = passage.and_then(|passage| passage.place);
        let (from, before_position) = match direction {
            Direction::FirstFrom(position) => (Some(position), None),
            Direction::LastBefore(position) => (None, Some(position)),
        };
        Self {
            index: name.map(str::to_owned),
            pattern: searched.text,
            pattern_base64: searched.base64,
            from,
            before_position,
            count,
            position: passage.map(|passage| passage.position),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            before,
            before_base64,
            matched,
            matched_base64,
            after,
            after_base64,
        }
    }
}

/// Answer to a count.
#[derive(Debug, Serialize)]
pub struct CountAnswer {
    /// Name of the index, where there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Pattern that was searched for.
    pub pattern: String,
    /// Exact bytes of the pattern, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_base64: Option<String>,
    /// Number of occurrences, overlapping ones included.
    pub count: u64,
}

impl CountAnswer {
    /// Makes the answer.
    pub fn new(name: Option<&str>, pattern: &Pattern, count: u64) -> Self {
        let Lossy { text, base64 } = Lossy::new(pattern.text());
        Self { index: name.map(str::to_owned), pattern: text, pattern_base64: base64, count }
    }
}

/// Positions of a pattern, in ascending order.
#[derive(Debug, Serialize)]
pub struct PositionsAnswer {
    #[serde(flatten)]
    /// Their number.
    pub count: CountAnswer,
    /// The first of them, in ascending order.
    pub positions: Vec<u64>,
    /// Cursor for the next positions; null if there are no more.
    pub next_cursor: Option<String>,
}

/// Part of the text.
#[derive(Debug, Serialize)]
pub struct TextAnswer {
    index: String,
    start: u64,
    count: u64,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_base64: Option<String>,
}

impl TextAnswer {
    /// The symbols of a text from a position on.
    pub fn new(name: &str, start: u64, symbols: &[u8]) -> Self {
        let Lossy { text, base64 } = Lossy::new(symbols);
        Self { index: name.to_owned(), start, count: symbols.len() as u64, text, text_base64: base64 }
    }
}
