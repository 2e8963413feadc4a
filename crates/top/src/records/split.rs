//! Splits texts into records, and records into fields.

use finecomb_scan::LineEnds;
use finecomb_sys::simd::{Kernel, Masks, dispatch, equal_either_at};
use memchr::memchr;
use regex_automata::Input;

use crate::cells::Span;
use crate::key::expression::{Expression, ExpressionCache, Fitting};
use crate::query::options::Splitter;
use crate::records::escape::closing_quote;

/// Splits a text into records: its lines without `\n` or `\r\n`.
pub(crate) fn split_records(text: &[u8], ends: &mut LineEnds, records: &mut Vec<Span>) {
    split_at(text, ends.find(text), records);
}

/// Splits a text into the records that have these ends, without `\n` or `\r\n`.
pub(crate) fn split_at(text: &[u8], ends: &[u32], records: &mut Vec<Span>) {
    records.clear();
    let mut start = 0;
    records.extend(ends.iter().map(|&end| {
        let line = (start, end as usize);
        start = line.1 + 1;
        without_carriage_return(text, line)
    }));
    if start < text.len() {
        records.push(without_carriage_return(text, (start, text.len())));
    }
}

/// The first line of a record, without `\n` or `\r\n`.
pub(crate) fn first_line(text: &[u8], (start, end): Span) -> Span {
    match memchr(b'\n', &text[start..end]) {
        Some(length) => without_carriage_return(text, (start, start + length)),
        None => (start, end),
    }
}

#[inline(always)]
pub(crate) fn without_carriage_return(text: &[u8], (start, end): Span) -> Span {
    // For an empty line, this looks at the line feed before it, or at nothing if the line is the first.
    let has_carriage_return = end > 0 && text[end - 1] == b'\r';
    (start, end - usize::from(has_carriage_return))
}

/// Scratch memory of a splitter.
#[derive(Debug)]
pub(crate) struct SplitCache {
    regex: Option<ExpressionCache>,
}

/// A quote that is never closed, after which there are no fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenQuote;

impl Splitter {
    pub(crate) fn cache(&self) -> SplitCache {
        let regex = match self {
            Self::Regex(regex) => Some(regex.cache()),
            Self::Blanks | Self::Quotes => None,
        };
        SplitCache { regex }
    }

    /// Stores the first `needed` fields of a record in `fields`, or all if there are fewer. Fails at a quote that is
    /// never closed, with the preceding fields in `fields`.
    pub(crate) fn split(
        &self,
        cache: &mut SplitCache,
        record: &[u8],
        needed: usize,
        fields: &mut Vec<Span>,
    ) -> Result<(), OpenQuote> {
        fields.clear();
        match (self, &mut cache.regex) {
            (Self::Regex(regex), Some(cache)) => split_at_matches(regex, cache, record, needed, fields),
            (Self::Quotes, _) => return split_quoted(record, needed, fields),
            _ => dispatch(SplitBlanks { record, needed, fields }),
        }
        Ok(())
    }
}

fn split_at_matches(
    regex: &Expression,
    cache: &mut ExpressionCache,
    record: &[u8],
    needed: usize,
    fields: &mut Vec<Span>,
) {
    let Fitting { regex, cache, .. } = regex.fitting(cache, record);
    let mut start = 0;
    while fields.len() < needed {
        let Some(separator) = regex.search_with(cache, &Input::new(record).range(start..)) else {
            fields.push((start, record.len()));
            break;
        };
        fields.push((start, separator.start()));
        start = separator.end();
    }
}

/// Splits at blanks outside of quotes. A field that begins with a double quote ends at the next one that is not escaped
/// by a backslash, as Apache escapes it. Text after the closing quote begins a new field.
fn split_quoted(record: &[u8], needed: usize, fields: &mut Vec<Span>) -> Result<(), OpenQuote> {
    let is_blank = |byte: u8| byte == b' ' || byte == b'\t';
    let mut at = 0;
    while fields.len() < needed {
        at += record[at..].iter().take_while(|&&byte| is_blank(byte)).count();
        match record.get(at) {
            None => break,
            Some(b'"') => {
                let length = closing_quote(&record[at + 1..]).ok_or(OpenQuote)?;
                fields.push((at + 1, at + 1 + length));
                at += length + 2;
            }
            Some(_) => {
                let length = record[at..].iter().take_while(|&&byte| !is_blank(byte)).count();
                fields.push((at, at + length));
                at += length;
            }
        }
    }
    Ok(())
}

/// Bit mask of the blanks in the 64 bytes from `at` on. Bytes after the end of the record count as blank, so that every
/// field ends with a blank. `text` may extend beyond the record.
#[inline(always)]
fn blanks<M: Masks>(masks: M, text: &[u8], at: usize, end: usize) -> u64 {
    let bits = equal_either_at(masks, text, at, b' ', b'\t');
    match end.saturating_sub(at) {
        rest @ 0..64 => bits | (u64::MAX << rest),
        _ => bits,
    }
}

/// Finds the fields of a record.
struct SplitBlanks<'a> {
    record: &'a [u8],
    needed: usize,
    fields: &'a mut Vec<Span>,
}

impl Kernel for SplitBlanks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { record, needed, fields } = self;
        let mut start = None;
        let mut at = 0;
        while at < record.len() && fields.len() < needed {
            let blank = blanks(masks, record, at, record.len());
            // A field begins or ends where exactly one of a byte and its predecessor is blank.
            let before = u64::from(start.is_none());
            let mut edges = blank ^ (blank << 1 | before);
            while edges != 0 && fields.len() < needed {
                let edge = at + edges.trailing_zeros() as usize;
                edges &= edges - 1;
                match start.take() {
                    None => start = Some(edge),
                    Some(start) => fields.push((start, edge)),
                }
            }
            at += 64;
        }
        // A field that ends with the window has no edge in it.
        if let Some(start) = start.filter(|_| fields.len() < needed) {
            fields.push((start, record.len()));
        }
    }
}

/// Finds the field of this number, from 1, of all records. Stores the fields in `keys`, and the indexes of records with
/// too few fields in `missing`.
pub(crate) fn nth_blank_field(
    text: &[u8],
    records: &[Span],
    number: u32,
    keys: &mut Vec<Span>,
    missing: &mut Vec<u32>,
) {
    keys.clear();
    missing.clear();
    dispatch(NthField { text, records, number, keys, missing });
}

struct NthField<'a> {
    text: &'a [u8],
    records: &'a [Span],
    number: u32,
    keys: &'a mut Vec<Span>,
    missing: &'a mut Vec<u32>,
}

impl Kernel for NthField<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { text, records, number, keys, missing } = self;
        keys.resize(records.len(), (0, 0));
        let mut found = 0;
        for (index, &record) in records.iter().enumerate() {
            match nth_field(masks, text, record, number) {
                Some(key) => {
                    keys[found] = key;
                    found += 1;
                }
                None => missing.push(index as u32),
            }
        }
        keys.truncate(found);
    }
}

#[inline(always)]
fn nth_field<M: Masks>(masks: M, text: &[u8], (start, end): Span, number: u32) -> Option<Span> {
    let mut at = start;
    let mut left = number;
    let mut blank_before = 1;
    while at < end {
        let blank = blanks(masks, text, at, end);
        let starts = !blank & (blank << 1 | blank_before);
        let count = starts.count_ones();
        if count >= left {
            let field = masks.nth_bit(starts, left) as usize;
            let rest = blank & (u64::MAX << field);
            let key = (at + field, at + rest.trailing_zeros() as usize);
            return Some(if rest != 0 { key } else { (key.0, field_end(masks, text, at + 64, end)) });
        }
        left -= count;
        blank_before = blank >> 63;
        at += 64;
    }
    None
}

/// Returns the end of a field that continues at `at`.
#[inline(always)]
fn field_end<M: Masks>(masks: M, text: &[u8], mut at: usize, end: usize) -> usize {
    loop {
        let blank = blanks(masks, text, at, end);
        if blank != 0 {
            return at + blank.trailing_zeros() as usize;
        }
        at += 64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cells::bytes_of;
    use crate::oracle::Oracle;

    fn split<'r>(splitter: &Splitter, record: &'r [u8], needed: usize) -> Vec<&'r [u8]> {
        let mut fields = Vec::new();
        splitter.split(&mut splitter.cache(), record, needed, &mut fields).expect("no open quote");
        fields.into_iter().map(|field| bytes_of(record, field)).collect()
    }

    /// Reference implementation of the splitting at blanks.
    fn words(record: &[u8]) -> Vec<&[u8]> {
        record.split(|&byte| byte == b' ' || byte == b'\t').filter(|word| !word.is_empty()).collect()
    }

    fn records() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            3 => prop::collection::vec(prop::sample::select(&[b'a', b'"', b'\\', 0, 0xFF][..]), 1..9),
            3 => prop::collection::vec(prop::sample::select(&[b' ', b'\t'][..]), 1..3),
            1 => (1..150_usize).prop_map(|length| vec![b'x'; length]),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn blanks_separate_words(record in records(), needed in prop_oneof![0..20_usize, Just(usize::MAX)]) {
            let mut expected = words(&record);
            expected.truncate(needed);
            prop_assert_eq!(split(&Splitter::Blanks, &record, needed), expected);
        }

        #[test]
        fn a_field_of_many_records_is_that_of_each_record(
            lines in prop::collection::vec(records(), 0..12),
            number in 1..20_u32,
        ) {
            let text = lines.join(&b'\n');
            let mut records = Vec::new();
            crate::records::split::split_records(&text, &mut finecomb_scan::LineEnds::default(), &mut records);
            let (mut keys, mut missing) = (Vec::new(), Vec::new());
            nth_blank_field(&text, &records, number, &mut keys, &mut missing);
            let found = keys.iter().map(|&key| bytes_of(&text, key)).collect::<Vec<_>>();
            let field = |record| words(bytes_of(&text, record)).get(number as usize - 1).copied();
            let expected = records.iter().filter_map(|&record| field(record)).collect::<Vec<_>>();
            let without = (0..).zip(&records).filter(|&(_, &record)| field(record).is_none());
            prop_assert_eq!(found, expected);
            prop_assert_eq!(missing, without.map(|(index, _)| index).collect::<Vec<u32>>());
        }

        #[test]
        fn expressions_separate_as_the_oracle_does(
            record in records(),
            pattern in prop::sample::select(&["a", " ", "[ \t]+", r"\s", "a+", "\"", "^a", "x$", "[^a]", ".a", r"\ba"][..]),
            needed in prop_oneof![1..6_usize, Just(usize::MAX)],
        ) {
            let splitter = Splitter::Regex(Expression::separator(pattern).expect("a valid pattern"));
            let mut expected = Oracle::new(pattern).split(&record);
            expected.truncate(needed);
            prop_assert_eq!(split(&splitter, &record, needed), expected);
        }
    }

    #[test]
    fn a_field_may_end_with_the_record_and_a_window() {
        for length in [63, 64, 65, 128] {
            let record = vec![b'x'; length];
            assert_eq!(split(&Splitter::Blanks, &record, usize::MAX), [&record], "{length}");
            assert_eq!(split(&Splitter::Blanks, &record, 1), [&record], "{length}");
            let with_blank = [&record[1..], b" "].concat();
            assert_eq!(split(&Splitter::Blanks, &with_blank, usize::MAX), [&record[1..]], "{length}");
        }
    }

    #[test]
    fn quoted_fields_may_contain_blanks() {
        let fields = |record: &'static str| {
            let found = split(&Splitter::Quotes, record.as_bytes(), usize::MAX);
            found.into_iter().map(|field| str::from_utf8(field).expect("UTF-8")).collect::<Vec<_>>()
        };
        assert_eq!(fields(r#"a "b c" d"#), ["a", "b c", "d"]);
        assert_eq!(fields("  \t\"\" x\t"), ["", "x"]);
        assert_eq!(fields(r#""b \"c\" d" e"#), [r#"b \"c\" d"#, "e"]);
        assert_eq!(fields(r#""a"b "c""d""#), ["a", "b", "c", "d"]);
        assert_eq!(fields(r#"a"b c"#), ["a\"b", "c"]);
        assert_eq!(fields(""), [""; 0]);
    }

    #[test]
    fn an_unclosed_quote_is_an_error_only_if_it_is_reached() {
        let split = |record: &str, needed| {
            let mut fields = Vec::new();
            let (splitter, record) = (Splitter::Quotes, record.as_bytes());
            splitter.split(&mut splitter.cache(), record, needed, &mut fields).map(|()| fields.len())
        };
        for open in [r#"a "b c"#, r#"a "b\"#, r#"a "b\""#, r#"a ""#] {
            assert_eq!(split(open, 1), Ok(1), "{open}");
            assert_eq!(split(open, 2), Err(OpenQuote), "{open}");
            assert_eq!(split(open, usize::MAX), Err(OpenQuote), "{open}");
        }
    }
}
