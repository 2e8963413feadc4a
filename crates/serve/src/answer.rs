//! Answers as JSON: the same at the prompt, over HTTP and from a CGI program.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use finecomb_text_index::{Error, Index, Occurrences, Passage, Pattern};
use serde::Serialize;

/// Bytes as JSON can say them: a string, in which what is not UTF-8 is replaced, and then the exact bytes beside it.
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

/// One occurrence, or that there is none.
#[derive(Debug, Serialize)]
pub struct Found {
    /// The name of the index, where there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// What was looked for.
    pub pattern: String,
    /// Its exact bytes, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_base64: Option<String>,
    /// Occurrences begin here or after it; null if the last before a position was asked for.
    pub from: Option<u64>,
    /// Occurrences begin before this; there if the last before a position was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_position: Option<u64>,
    /// How often it occurs in the whole text.
    pub count: u64,
    /// Where it begins; null if there is none.
    pub position: Option<u64>,
    /// Its line, counted from 1; null unless the text is one of bytes.
    pub line: Option<u64>,
    /// Its first byte in that line, counted from 1.
    pub column: Option<u64>,
    /// What is before it.
    pub before: Option<String>,
    /// The exact bytes of that, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_base64: Option<String>,
    /// The occurrence.
    #[serde(rename = "match")]
    pub matched: Option<String>,
    /// The exact bytes of that, if it is not UTF-8.
    #[serde(rename = "match_base64", skip_serializing_if = "Option::is_none")]
    pub matched_base64: Option<String>,
    /// What is after it.
    pub after: Option<String>,
    /// The exact bytes of that, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_base64: Option<String>,
}

/// From where an occurrence is looked for. Positions are as people say them: digits are counted from 1, all else from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first that begins here or after it.
    From(u64),
    /// The last that begins before this.
    Before(u64),
}

impl Side {
    /// The occurrence, as an offset from 0.
    ///
    /// # Errors
    ///
    /// If the position is not in the text, nor right behind it, or the index turns out to be damaged.
    pub fn find(self, index: &Index, occurrences: &Occurrences<'_>) -> Result<Option<u64>, Error> {
        match self {
            Self::From(position) => occurrences.first_from(index.offset(position)?),
            Self::Before(position) => occurrences.last_before(index.offset(position)?),
        }
    }
}

impl Found {
    /// The answer to a search: the passage that was found, if any.
    pub fn new(
        name: Option<&str>,
        pattern: &Pattern,
        side: Side,
        count: u64,
        passage: Option<&Passage>,
    ) -> Self {
        let wanted = Lossy::new(pattern.text());
        let part = |bytes: fn(&Passage) -> &[u8]| {
            let lossy = passage.map(|passage| Lossy::new(bytes(passage)));
            lossy.map_or((None, None), |lossy| (Some(lossy.text), lossy.base64))
        };
        let (before, before_base64) = part(|passage| &passage.before);
        let (matched, matched_base64) = part(|passage| &passage.matched);
        let (after, after_base64) = part(|passage| &passage.after);
        let place = passage.and_then(|passage| passage.place);
        let (from, before_position) = match side {
            Side::From(position) => (Some(position), None),
            Side::Before(position) => (None, Some(position)),
        };
        Self {
            index: name.map(str::to_owned),
            pattern: wanted.text,
            pattern_base64: wanted.base64,
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

/// How often a pattern occurs.
#[derive(Debug, Serialize)]
pub struct Count {
    /// The name of the index, where there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// What was looked for.
    pub pattern: String,
    /// Its exact bytes, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern_base64: Option<String>,
    /// How often it occurs; occurrences that overlap count each.
    pub count: u64,
}

impl Count {
    /// The answer to a count.
    pub fn new(name: Option<&str>, pattern: &Pattern, count: u64) -> Self {
        let Lossy { text, base64 } = Lossy::new(pattern.text());
        Self { index: name.map(str::to_owned), pattern: text, pattern_base64: base64, count }
    }
}

/// Positions of a pattern, in the order of the text.
#[derive(Debug, Serialize)]
pub(crate) struct All {
    #[serde(flatten)]
    pub(crate) count: Count,
    pub(crate) positions: Vec<u64>,
    /// What to ask for to get those that come next; null if there are none.
    pub(crate) next_cursor: Option<String>,
}

/// A part of the text.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    index: String,
    start: u64,
    count: u64,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_base64: Option<String>,
}

impl Part {
    pub(crate) fn new(name: &str, start: u64, symbols: &[u8]) -> Self {
        let Lossy { text, base64 } = Lossy::new(symbols);
        Self { index: name.to_owned(), start, count: symbols.len() as u64, text, text_base64: base64 }
    }
}
