//! Fields of logfmt records: `level=info msg="user \"x\" logged in" dur=1.2s cached`.
//!
//! A record is a sequence of pairs, separated by runs of spaces and tabs. A key ends at the first `=` or blank. A value
//! that begins with a double quote ends at the next one that no backslash precedes; any other value ends at the next
//! blank and may contain quotes and `=`. A key directly followed by `=` and a blank has an empty value. A key without
//! `=` has the value `true`, as in the definition of the format by kr/logfmt and in Fluent Bit (Grafana Loki drops such
//! keys). So the plain words of a message are keys. The first of several pairs with the same key counts. No pair has an
//! empty key.
//!
//! Pairs are examined in order, until all wanted keys are found. A record is malformed if an examined value has no
//! closing quote, or if text directly follows its closing quote.

pub(crate) mod all;

use finecomb_sys::simd::{Kernel, Masks, dispatch, equal_either_at};

use crate::cells::{Cell, Cells, Span, Violation, bytes_of};
use crate::query::field::Field;
use crate::query::input_format::FormatError;
use crate::records::escape::{hexadecimal, push_character, unescape, unicode};

/// Extracts fields of logfmt records.
#[derive(Clone, Debug)]
pub(crate) struct Logfmt {
    /// The wanted keys that a record can have, each once.
    keys: Vec<WantedKey>,
    /// Last bytes of the keys, in pairs.
    last_bytes: Vec<[u8; 2]>,
    /// Whether a wanted key can be in no record: it is empty, or contains a blank or `=`.
    has_impossible: bool,
    /// The columns with the key of a column before them: that column and the later one.
    copies: Vec<(usize, usize)>,
}

/// A wanted key.
#[derive(Clone, Debug)]
struct WantedKey {
    text: Box<[u8]>,
    column: usize,
}

impl Logfmt {
    /// An extractor of these fields.
    pub(crate) fn new(fields: &[Field]) -> Result<Self, FormatError> {
        let mut logfmt =
            Self { keys: Vec::new(), last_bytes: Vec::new(), has_impossible: false, copies: Vec::new() };
        let mut last_bytes = Vec::new();
        for (column, field) in fields.iter().enumerate() {
            let name = match field {
                Field::Named(name) => name.text.as_bytes(),
                Field::Position(number) => {
                    return Err(FormatError::Other(format!(
                        "field {number}: logfmt fields have names, such as level or msg, not numbers"
                    )));
                }
            };
            let Some(&last) = name.last().filter(|_| !name.iter().any(|byte| b" \t=".contains(byte))) else {
                logfmt.has_impossible = true;
                continue;
            };
            match logfmt.keys.iter().find(|key| *key.text == *name) {
                Some(key) => logfmt.copies.push((key.column, column)),
                None => {
                    logfmt.keys.push(WantedKey { text: name.into(), column });
                    last_bytes.push(last);
                }
            }
        }
        last_bytes.sort_unstable();
        last_bytes.dedup();
        logfmt.last_bytes =
            last_bytes.chunks(2).map(|pair| [pair[0], *pair.last().unwrap_or(&pair[0])]).collect();
        Ok(logfmt)
    }

    /// Appends the values of the wanted fields of all records.
    pub(crate) fn extract(&self, text: &[u8], records: &[Span], cells: &mut Cells) {
        let Some(first_row) = cells.columns_mut().first().map(Vec::len) else { return };
        for column in cells.columns_mut() {
            column.resize(first_row + records.len(), Cell::Missing);
        }
        dispatch(ExtractPairs { logfmt: self, text, records, first_row, cells });
        for &(from, to) in &self.copies {
            for row in first_row..first_row + records.len() {
                cells.set(to, row, cells.column(from)[row]);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn reject(&self, cells: &mut Cells, row: usize, record: usize, violation: Violation) {
        for key in &self.keys {
            cells.set(key.column, row, Cell::Missing);
        }
        cells.report(record, violation);
    }
}

/// Fills the rows of all records from `first_row` on.
struct ExtractPairs<'a> {
    logfmt: &'a Logfmt,
    text: &'a [u8],
    records: &'a [Span],
    first_row: usize,
    cells: &'a mut Cells,
}

impl Kernel for ExtractPairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { logfmt, text, records, first_row, cells } = self;
        let mut bare = None;
        let mut left: Vec<&WantedKey> = Vec::with_capacity(logfmt.keys.len());
        for (index, &record) in records.iter().enumerate() {
            left.clear();
            left.extend(&logfmt.keys);
            let mut pairs = PairScanner::new(masks, text, record, &logfmt.last_bytes);
            let violation = loop {
                // An impossible key is never found, so a record is examined to its end, like one without the key.
                if left.is_empty() && !logfmt.has_impossible {
                    break None;
                }
                let (key, value) = match pairs.next(&mut left) {
                    Ok(Some(pair)) => pair,
                    Ok(None) => break None,
                    Err(violation) => break Some(violation),
                };
                let cell = match value {
                    PairValue::Text(value) => Cell::raw(value),
                    PairValue::Escaped(value) => {
                        cells.decode(|out| _ = unescape(bytes_of(text, value), out, unescape_one))
                    }
                    PairValue::None => {
                        *bare.get_or_insert_with(|| cells.decode(|out| out.extend_from_slice(b"true")))
                    }
                };
                cells.set(key.column, first_row + index, cell);
            };
            if let Some(violation) = violation {
                logfmt.reject(cells, first_row + index, index, violation);
            }
        }
    }
}

/// The value of a pair.
enum PairValue {
    /// There is no `=`.
    None,
    /// A value without escapes, without its quotes.
    Text(Span),
    /// A value with backslashes, without its quotes.
    Escaped(Span),
}

/// Finds the wanted pairs of a record in masks of 64 bytes. Only two kinds of places are visited: opening quotes, and
/// ends of words whose last byte is that of a wanted key.
struct PairScanner<'a, M> {
    masks: M,
    text: &'a [u8],
    /// Start of the record, or the end of the last value in quotes.
    start: usize,
    /// End of the record.
    end: usize,
    last_bytes: &'a [[u8; 2]],
    /// Position of the first byte of the masks.
    base: usize,
    /// Spaces, tabs, and all from the end of the record on.
    blank: u64,
    /// `=`
    equals: u64,
    /// `"` and `\`
    quote: u64,
    /// Blanks and `=` after the last byte of a wanted key.
    key_ends: u64,
    /// The places that are still to be visited: ends of keys, and quotes and backslashes after `=`.
    places: u64,
    /// Whether the byte before the masks is the last of a wanted key.
    follows_last_byte: bool,
    /// Whether the byte before the masks is `=`.
    follows_equals: bool,
    /// Whether the word that contains the byte before the masks has a `=`.
    has_equals: bool,
}

impl<'a, M: Masks> PairScanner<'a, M> {
    #[inline(always)]
    fn new(masks: M, text: &'a [u8], (start, end): Span, last_bytes: &'a [[u8; 2]]) -> Self {
        let mut pairs = Self {
            masks,
            text,
            start,
            end,
            last_bytes,
            base: start,
            blank: 0,
            equals: 0,
            quote: 0,
            key_ends: 0,
            places: 0,
            follows_last_byte: false,
            follows_equals: false,
            has_equals: false,
        };
        pairs.load();
        pairs
    }

    /// Makes the masks of the bytes from `base` on.
    #[inline(always)]
    fn load(&mut self) {
        let mut last = 0;
        self.blank = self.equal_either(b' ', b'\t');
        self.equals = self.equal_either(b'=', b'=');
        self.quote = self.equal_either(b'"', b'\\');
        for &[one, other] in self.last_bytes {
            last |= self.equal_either(one, other);
        }
        let mut within = u64::MAX;
        if let rest @ 0..64 = self.end - self.base {
            within = !(u64::MAX << rest);
        }
        self.blank |= !within;
        self.equals &= within;
        self.quote &= within;
        last &= within;
        // After the end of the record only the first place can follow a last byte.
        self.key_ends = (last << 1 | u64::from(self.follows_last_byte)) & (self.blank | self.equals);
        self.places = self.key_ends | ((self.equals << 1 | u64::from(self.follows_equals)) & self.quote);
        self.follows_last_byte = last >> 63 == 1;
    }

    /// Mask of the bytes that equal one of two, from `base` on.
    #[inline(always)]
    fn equal_either(&self, one: u8, other: u8) -> u64 {
        equal_either_at(self.masks, self.text, self.base, one, other)
    }

    /// Moves the masks by 64 bytes. Returns false at the end of the record.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        if self.end - self.base < 64 {
            return false;
        }
        self.has_equals = self.has_equals_before(u64::MAX);
        self.follows_equals = self.equals >> 63 == 1;
        self.base += 64;
        self.load();
        true
    }

    /// Whether the word that contains the last of the bytes of the mask `before` has a `=` among them, or before them.
    /// The larger of two masks without a common bit has the last of their bytes.
    #[inline(always)]
    fn has_equals_before(&self, before: u64) -> bool {
        let (equals, blank) = (self.equals & before, self.blank & before);
        if equals | blank == 0 { self.has_equals } else { equals > blank }
    }

    /// Returns the next pair with one of the wanted keys, which is removed from them, or `None` at the end of the
    /// record.
    #[inline(always)]
    fn next<'k>(
        &mut self,
        wanted: &mut Vec<&'k WantedKey>,
    ) -> Result<Option<(&'k WantedKey, PairValue)>, Violation> {
        loop {
            while self.places != 0 {
                let bit = self.places.trailing_zeros();
                self.places &= self.places - 1;
                let at = self.base + bit as usize;
                if self.key_ends >> bit & 1 == 1 {
                    if let Some(found) = wanted.iter().position(|key| self.is_word(&key.text, at)) {
                        let has_value = self.equals >> bit & 1 == 1;
                        let value = if has_value { self.value(at + 1)? } else { PairValue::None };
                        return Ok(Some((wanted.swap_remove(found), value)));
                    }
                } else if self.text[at] == b'"' && self.opens_value(bit) {
                    self.quoted_value(at)?;
                }
            }
            if !self.advance() {
                return Ok(None);
            }
        }
    }

    /// Whether the word that ends at `end` is `word`.
    #[inline(always)]
    fn is_word(&self, word: &[u8], end: usize) -> bool {
        if end - self.start < word.len() {
            return false;
        }
        let start = end - word.len();
        // Most words differ in the byte before them already: no blank.
        (start == self.start || matches!(self.text[start - 1], b' ' | b'\t'))
            && self.text[start..end] == *word
    }

    /// Whether the `=` before this quote is the first in its word.
    #[inline(always)]
    fn opens_value(&self, quote: u32) -> bool {
        match quote {
            0 => !self.has_equals_before_previous(),
            _ => !self.has_equals_before((1 << (quote - 1)) - 1),
        }
    }

    /// Whether the `=` directly before the masks is not the first in its word.
    #[cold]
    #[inline(never)]
    fn has_equals_before_previous(&self) -> bool {
        let before = &self.text[self.start..self.base - 1];
        before.iter().rev().take_while(|&&byte| byte != b' ' && byte != b'\t').any(|&byte| byte == b'=')
    }

    /// Returns the value that begins at `start`, directly after `=`.
    #[inline(always)]
    fn value(&mut self, start: usize) -> Result<PairValue, Violation> {
        if start < self.end && self.text[start] == b'"' {
            return self.quoted_value(start);
        }
        // Two shifts, because `start` may be the first byte after the masks.
        let rest = self.blank & (u64::MAX << (start - 1 - self.base) << 1);
        let end = match rest {
            0 => self.find_blank_after_masks(),
            _ => self.base + rest.trailing_zeros() as usize,
        };
        Ok(PairValue::Text((start, end)))
    }

    /// Returns the position of the first blank after the masks, or the end of the record.
    #[inline(always)]
    fn find_blank_after_masks(&self) -> usize {
        let mut at = self.base + 64;
        while at < self.end {
            match self.text.get(at..at + 64).and_then(|window| window.try_into().ok()) {
                Some(window) => {
                    let blank = self.masks.equal_either(window, b' ', b'\t');
                    if blank != 0 {
                        return self.end.min(at + blank.trailing_zeros() as usize);
                    }
                    at += 64;
                }
                None => {
                    let rest = &self.text[at..self.end];
                    return at + memchr::memchr2(b' ', b'\t', rest).unwrap_or(rest.len());
                }
            }
        }
        self.end
    }

    /// Returns the value in quotes, which begins with the quote at `open`, and moves to the closing quote.
    #[inline(always)]
    fn quoted_value(&mut self, open: usize) -> Result<PairValue, Violation> {
        let mut is_escaped = false;
        let mut from = open + 1;
        let close = loop {
            while from - self.base >= 64 {
                if !self.advance() {
                    return Err((open, "unclosed quote"));
                }
            }
            let rest = self.quote & (u64::MAX << (from - self.base));
            if rest == 0 {
                from = self.base + 64;
                continue;
            }
            let found = self.base + rest.trailing_zeros() as usize;
            if self.text[found] == b'"' {
                break found;
            }
            is_escaped = true;
            from = found + 2;
        };
        // Words and quotes in the value are no keys and values.
        self.places &= u64::MAX << (close - self.base) << 1;
        self.start = close + 1;
        if close + 1 < self.end && !matches!(self.text[close + 1], b' ' | b'\t') {
            return Err((close + 1, "expected a blank after the closing quote"));
        }
        let value = (open + 1, close);
        Ok(if is_escaped { PairValue::Escaped(value) } else { PairValue::Text(value) })
    }
}

/// Decodes an escape of Go or JSON: `\"`, `\\`, `\/`, `\a`, `\b`, `\f`, `\n`, `\r`, `\t`, `\v`, `\xNN` (a byte),
/// `\uNNNN`, also in surrogate pairs, and `\UNNNNNNNN`. A number that is no character becomes U+FFFD. Any other
/// backslash stays.
fn unescape_one(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let number = |digits: usize| hexadecimal(text.get(2..2 + digits)?);
    out.push(match text.get(1)? {
        &byte @ (b'"' | b'\\' | b'/') => byte,
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0B,
        b'f' => 0x0C,
        b'r' => b'\r',
        b'x' => {
            out.push(number(2)? as u8);
            return Some(4);
        }
        b'u' => return unicode(text, out),
        b'U' => {
            push_character(number(8)?, out);
            return Some(10);
        }
        _ => return None,
    });
    Some(2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The values of the fields of a record, or the position and reason of the violation.
    type Outcome = Result<Vec<Option<Vec<u8>>>, (usize, &'static str)>;

    fn extract(text: &[u8], records: &[Span], names: &[&str]) -> Vec<Outcome> {
        let fields: Vec<Field> = names.iter().map(|name| Field::named(name)).collect();
        let mut cells = Cells::default();
        cells.reset(fields.len());
        Logfmt::new(&fields).expect("names").extract(text, records, &mut cells);
        let value =
            |field: usize, record: usize| cells.bytes(text, cells.column(field)[record]).map(<[u8]>::to_vec);
        (0..records.len())
            .map(|record| {
                let values: Vec<_> = (0..names.len()).map(|field| value(field, record)).collect();
                match cells.malformed().iter().find(|malformed| malformed.record as usize == record) {
                    Some(malformed) => {
                        assert!(values.iter().all(Option::is_none), "a malformed record has no values");
                        Err((malformed.at as usize - records[record].0, malformed.reason))
                    }
                    None => Ok(values),
                }
            })
            .collect()
    }

    /// Reference implementation: one byte after the other, with the whole record in mind.
    fn reference(record: &[u8], names: &[&str]) -> Outcome {
        let mut values: Vec<Option<Vec<u8>>> = vec![None; names.len()];
        let mut rest = record.iter().copied().enumerate().peekable();
        let is_blank = |byte: u8| byte == b' ' || byte == b'\t';
        while values.contains(&None) {
            while rest.next_if(|&(_, byte)| is_blank(byte)).is_some() {}
            if rest.peek().is_none() {
                break;
            }
            let mut key = Vec::new();
            while let Some((_, byte)) = rest.next_if(|&(_, byte)| !is_blank(byte) && byte != b'=') {
                key.push(byte);
            }
            let mut value = Vec::new();
            let mut is_quoted = false;
            if rest.next_if(|&(_, byte)| byte == b'=').is_none() {
                value = b"true".to_vec();
            } else if let Some((open, _)) = rest.next_if(|&(_, byte)| byte == b'"') {
                is_quoted = true;
                loop {
                    let (_, byte) = rest.next().ok_or((open, "unclosed quote"))?;
                    match byte {
                        b'"' => break,
                        b'\\' => value.extend([byte, rest.next().ok_or((open, "unclosed quote"))?.1]),
                        _ => value.push(byte),
                    }
                }
                if let Some(&(at, _)) = rest.peek().filter(|&&(_, byte)| !is_blank(byte)) {
                    return Err((at, "expected a blank after the closing quote"));
                }
            } else {
                while let Some((_, byte)) = rest.next_if(|&(_, byte)| !is_blank(byte)) {
                    value.push(byte);
                }
            }
            if is_quoted {
                value = unescaped(&value);
            }
            for (name, found) in names.iter().zip(&mut values) {
                if name.as_bytes() == key && !key.is_empty() && found.is_none() {
                    *found = Some(value.clone());
                }
            }
        }
        Ok(values)
    }

    /// Reference implementation of the decoding, by an expression.
    fn unescaped(text: &[u8]) -> Vec<u8> {
        let escape = r#"(?s-u)\\(?:([abfnrtv"\\/])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))"#;
        let pair = r"(?-u)\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})";
        let both = regex::bytes::Regex::new(&format!("{pair}|{escape}")).expect("a valid pattern");
        let number = |found: regex::bytes::Match<'_>| {
            u32::from_str_radix(str::from_utf8(found.as_bytes()).expect("digits"), 16).expect("a number")
        };
        let character = |code: u32| char::from_u32(code).unwrap_or('\u{FFFD}').to_string().into_bytes();
        let replace = |captures: &regex::bytes::Captures<'_>| {
            if let (Some(high), Some(low)) = (captures.get(1), captures.get(2)) {
                let units = [number(high) as u16, number(low) as u16];
                return String::from_utf16(&units).expect("a surrogate pair").into_bytes();
            }
            if let Some(letter) = captures.get(3) {
                let place = b"abfnrtv".iter().position(|known| *known == letter.as_bytes()[0]);
                return place
                    .map_or(letter.as_bytes().to_vec(), |place| vec![b"\x07\x08\x0C\n\r\t\x0B"[place]]);
            }
            match captures.get(4) {
                Some(byte) => vec![number(byte) as u8],
                None => character(number(captures.get(5).or(captures.get(6)).expect("a group"))),
            }
        };
        both.replace_all(text, replace).into_owned()
    }

    fn one(record: &str, names: &[&str]) -> Result<Vec<String>, (usize, &'static str)> {
        let outcome = extract(record.as_bytes(), &[(0, record.len())], names).remove(0);
        let shown = |value: Option<Vec<u8>>| {
            value.map_or("-".to_owned(), |value| String::from_utf8_lossy(&value).into_owned())
        };
        outcome.map(|values| values.into_iter().map(shown).collect())
    }

    const PIECES: &[&str] = &[
        " ",
        " ",
        " ",
        "\t",
        "a=",
        "b=",
        "key=",
        "a",
        "b",
        "key",
        "=",
        "\"",
        "\"",
        "\\",
        "\\\"",
        "\\n",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "\\x1b",
        "\\U0001F600",
        "\\u12",
        "x",
        "=\"",
        "=\"\"",
        "a=\"b c\"",
        "key=\"\\\\\"",
        "\0",
        "é",
        " level=info msg=\"one two\" ",
    ];

    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            9 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
            1 => (1..150_usize).prop_map(|length| vec![b'x'; length]),
            1 => (1..90_usize).prop_map(|length| vec![b' '; length]),
            1 => prop::collection::vec(any::<u8>(), 1..4),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn fields_equal_those_of_the_reference(
            lines in prop::collection::vec(lines(), 0..6),
            names in prop::collection::vec(prop::sample::select(&["a", "b", "key", "x", "level", "", "a", "key=", "a b", "\"", "\\"][..]), 0..5),
        ) {
            let mut records = Vec::new();
            let mut text = Vec::new();
            for line in &lines {
                records.push((text.len(), text.len() + line.len()));
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            text.pop();
            let expected: Vec<_> =
                if names.is_empty() { vec![Ok(vec![]); lines.len()] }
                else { lines.iter().map(|line| reference(line, &names)).collect() };
            prop_assert_eq!(extract(&text, &records, &names), expected);
        }

        #[test]
        fn escapes_equal_those_of_the_reference(text in lines()) {
            let mut out = Vec::new();
            unescape(&text, &mut out, unescape_one);
            prop_assert_eq!(out, unescaped(&text));
        }
    }

    #[test]
    fn pairs_have_bare_or_quoted_values() {
        let record =
            r#"level=info msg="user \"x\" logged in" dur=1.2s cached path=/a?b=c&d="e empty= none="""#;
        let names = ["level", "msg", "dur", "cached", "path", "empty", "none", "absent", "b"];
        let values = ["info", r#"user "x" logged in"#, "1.2s", "true", r#"/a?b=c&d="e"#, "", "", "-", "-"];
        assert_eq!(one(record, &names), Ok(values.map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_value_without_escapes_is_not_copied() {
        let text = br#"a="b c" d=e"#;
        let mut cells = Cells::default();
        cells.reset(2);
        let logfmt = Logfmt::new(&[Field::named("a"), Field::named("d")]).expect("names");
        logfmt.extract(text, &[(0, text.len())], &mut cells);
        assert_eq!((cells.column(0)[0], cells.column(1)[0]), (Cell::Raw(3, 6), Cell::Raw(10, 11)));
    }

    #[test]
    fn words_of_a_message_are_keys() {
        let record = "2024-05-01T10:00:00Z \"quoted words\" done: took=5ms user=7";
        assert_eq!(
            one(record, &["took", "user", "done:"]),
            Ok(["5ms", "7", "true"].map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn the_first_of_duplicate_keys_counts() {
        assert_eq!(one("a=1 a=2 a b=3", &["a", "b", "a"]), Ok(["1", "3", "1"].map(str::to_owned).to_vec()));
        assert_eq!(one("a a=2", &["a"]), Ok(vec!["true".to_owned()]));
    }

    #[test]
    fn escapes_are_decoded() {
        let value = |escaped: &str| one(&format!("a=\"{escaped}\""), &["a"]).expect("a value").remove(0);
        assert_eq!(value(r"\\ \/ \n\t\r"), "\\ / \n\t\r");
        assert_eq!(value(r"\u00e9 \ud83d\ude00 \U0001F600 \x41"), "é 😀 😀 A");
        assert_eq!(value(r"\ud83d \ud83d\u0041 \UFFFFFFFF"), "\u{FFFD} \u{FFFD}A \u{FFFD}");
        assert_eq!(value(r"C:\dir \u12 \xg \U1"), r"C:\dir \u12 \xg \U1");
    }

    #[test]
    fn a_violation_counts_only_if_it_is_reached() {
        assert_eq!(one("a=1 b=\"x", &["a"]), Ok(vec!["1".to_owned()]));
        assert_eq!(one("a=1 b=\"x", &["a", "b"]), Err((6, "unclosed quote")));
        assert_eq!(one("a=1 b=\"x\\\"", &["a", "c"]), Err((6, "unclosed quote")));
        assert_eq!(one("a=1 b=\"x\\", &["b"]), Err((6, "unclosed quote")));
        assert_eq!(one("a=\"x\"y b=1", &["a"]), Err((5, "expected a blank after the closing quote")));
        assert_eq!(one("a=\"x\"\tb=1", &["a"]), Ok(vec!["x".to_owned()]));
    }

    #[test]
    fn a_closing_quote_is_no_word() {
        assert_eq!(one("a=\" \" b=1", &["\""]), Ok(vec!["-".to_owned()]));
        assert_eq!(one("a=\" b=1 b=\" b=2", &["b"]), Ok(vec!["2".to_owned()]));
        assert_eq!(one("said \" b=2", &["\"", "b"]), Ok(["true", "2"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_quote_opens_a_value_only_after_the_first_equals_sign_of_a_word() {
        for length in 0..140 {
            let word = "x".repeat(length);
            let names = ["b", "c"];
            assert_eq!(
                one(&format!("{word}==\" b=1 c=2"), &names),
                Ok(["1", "2"].map(str::to_owned).to_vec())
            );
            assert_eq!(
                one(&format!("a={word}=\" b=1 c=2"), &names),
                Ok(["1", "2"].map(str::to_owned).to_vec())
            );
            assert_eq!(
                one(&format!("{word}=\" b=1\" c=2"), &names),
                Ok(["-", "2"].map(str::to_owned).to_vec())
            );
            let quoted = format!("a=\"{word}= b=1\" {word}=\"\" c=2");
            assert_eq!(one(&quoted, &names), Ok(["-", "2"].map(str::to_owned).to_vec()));
        }
    }

    #[test]
    fn impossible_keys_are_in_no_record() {
        let names = ["", "a b", "=", "a=", "c"];
        assert_eq!(
            one("a b=1 =2 a==3 c=4", &names),
            Ok(["-", "-", "-", "-", "4"].map(str::to_owned).to_vec())
        );
    }

    #[test]
    fn fields_by_number_are_refused() {
        let error = Logfmt::new(&[Field::named("a"), Field::Position(-2)]).expect_err("an error");
        assert_eq!(
            error.to_string(),
            "field -2: logfmt fields have names, such as level or msg, not numbers"
        );
    }

    #[test]
    fn a_record_may_be_long() {
        let mut record = vec![b' '; 1 << 20];
        record.extend_from_slice(b"k=\"");
        record.resize(3 << 20, b'\\');
        record.extend_from_slice(b"\" last=1");
        let outcome = extract(&record, &[(0, record.len())], &["last"]);
        assert_eq!(outcome[0], reference(&record, &["last"]));
    }
}
