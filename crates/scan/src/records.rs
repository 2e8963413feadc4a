//! Division of a text into records.

pub(crate) mod objects;
pub(crate) mod quoting;
pub(crate) mod rules;
pub(crate) mod start;
pub(crate) mod started;

use finecomb_sys::simd::{Kernel, Masks, dispatch};
use memchr::memchr;

use crate::lines::{LineEnds, STRIDE, write_positions};
use objects::MemberPath;
use quoting::{Carry, QUOTE, QuoteBits, QuoteState, Quoting};
use start::RecordStart;
use started::Started;

/// How a text is divided into records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// Every line is a record.
    #[default]
    Lines,
    /// A record ends at a line feed outside of quotes (RFC 4180). A field that begins with `"` is quoted: line feeds and
    /// delimiters in it are data, and so is `""`, as one quote. Any other quote in it ends the quoting; what follows, up
    /// to the delimiter or the line feed, is literal, and so is a quote in a field that does not begin with one. The
    /// `csv` crate reads the same way.
    Quoted {
        /// The byte between two fields. A quote cannot be one: then there is no delimiter.
        delimiter: u8,
    },
    /// A record ends before a line that begins one. The lines before the first such line are a record of their own.
    Started(RecordStart),
    /// A record is an object of JSON: a document, also over several lines, or an element of an array.
    /// [`ObjectSpans`](crate::ObjectSpans) finds them.
    Objects {
        /// The array whose elements are records, if documents are not.
        array: MemberPath,
    },
    /// The end of a text of [`Records::Objects`] with an object that is never closed.
    Unclosed {
        /// As in [`Records::Objects`].
        array: MemberPath,
    },
}

impl Records {
    /// How the text of a single record is divided.
    pub fn of_one(&self) -> Self {
        match self {
            Self::Lines | Self::Quoted { .. } | Self::Started(_) => self.clone(),
            Self::Objects { .. } | Self::Unclosed { .. } => Self::Objects { array: MemberPath::default() },
        }
    }

    /// How a record is divided that is not closed up to the end of the text.
    pub(crate) fn when_unclosed(&self) -> Self {
        match *self {
            Self::Lines | Self::Quoted { .. } | Self::Started(_) => Self::Lines,
            Self::Objects { array } | Self::Unclosed { array } => Self::Unclosed { array },
        }
    }
}

/// Positions of the line feeds that end the records of a text. The memory is reused from text to text.
#[derive(Debug, Default)]
pub struct RecordEnds {
    ends: LineEnds,
    /// The ends of all lines, if lines that begin a record divide the text.
    lines: LineEnds,
}

impl RecordEnds {
    /// Finds the ends of all [`Records::Quoted`] in `text`, which begins with a record. Its length must be below 2^32.
    pub fn find(&mut self, text: &[u8], delimiter: u8) -> &[u32] {
        let ends = &mut self.ends;
        if memchr(QUOTE, text).is_none() {
            return ends.find(text);
        }
        dispatch(FindRecordEnds { text, quoting: Quoting::new(delimiter, b'\n'), ends });
        ends.positions()
    }

    /// Finds the ends of all [`Records::Started`] in `text`, which begins with a record. Its length must be below 2^32. The last record
    /// has an end only if its last line has one.
    pub fn find_started(&mut self, text: &[u8], start: &RecordStart) -> &[u32] {
        let started = Started { start, line_end: b'\n' };
        let lines = self.lines.find(text);
        let has_end = text.ends_with(b"\n");
        let rest = (!has_end).then_some(text.len() as u32);
        let (mut line, mut is_open) = (0, Some(false));
        let begins = lines.iter().copied().chain(rest).filter_map(|end| {
            let start = line;
            line = end as usize + 1;
            let begins = started.begins(&text[start..end as usize], &mut is_open);
            (begins && start > 0).then(|| start as u32 - 1)
        });
        self.ends.set(begins.chain(has_end.then(|| text.len() as u32 - 1)));
        self.ends.positions()
    }

    /// The ends of all lines of the text whose [`Records::Started`] were found last.
    pub fn line_ends(&self) -> &[u32] {
        self.lines.positions()
    }
}

struct FindRecordEnds<'a> {
    text: &'a [u8],
    quoting: Quoting,
    ends: &'a mut LineEnds,
}

impl Kernel for FindRecordEnds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { text, quoting, ends } = self;
        let mut carry = Carry::from(QuoteState::Start);
        let mut used = 0;
        let mut base = 0;
        let (windows, rest) = text.as_chunks::<64>();
        for stride in windows.chunks(STRIDE) {
            let positions = ends.room(used, (STRIDE + 1) * 64);
            for window in stride {
                let found = carry.advance(masks, QuoteBits::of(masks, window, quoting));
                used += write_positions(&mut positions[used..], base, found);
                base += 64;
            }
        }
        if let Some(window) = QuoteBits::of_rest(masks, rest, quoting) {
            used += write_positions(&mut ends.room(used, 64)[used..], base, carry.advance(masks, window));
        }
        ends.set_used(used);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::quoting::tests::{ends_byte_by_byte, texts};
    use super::*;

    proptest! {
        #[test]
        fn record_ends_equal_those_found_byte_by_byte(texts in prop::collection::vec(texts(9000), 1..4)) {
            let mut ends = RecordEnds::default();
            for (text, delimiter) in texts {
                let expected: Vec<u32> = ends_byte_by_byte(&text, delimiter).iter().map(|&end| end as u32).collect();
                prop_assert_eq!(ends.find(&text, delimiter), expected);
            }
        }
    }

    /// The records of a text, separated by bars.
    fn records(text: &str) -> String {
        let mut ends = RecordEnds::default();
        let mut shown = String::new();
        let mut begin = 0;
        for &end in ends.find(text.as_bytes(), b',') {
            shown += &text[begin..end as usize];
            shown.push('|');
            begin = end as usize + 1;
        }
        shown + &text[begin..]
    }

    #[test]
    fn a_line_feed_within_quotes_is_data() {
        assert_eq!(records("a,\"b\nc\",d\ne\n"), "a,\"b\nc\",d|e|");
        assert_eq!(records("\"a\r\nb\"\r\nc"), "\"a\r\nb\"\r|c");
    }

    #[test]
    fn two_quotes_within_quotes_are_data() {
        assert_eq!(records("\"a\"\"\nb\"\nc\n"), "\"a\"\"\nb\"|c|");
        assert_eq!(records("\"\"\n\"\"\"\n\"\n"), "\"\"|\"\"\"\n\"|");
    }

    #[test]
    fn a_quote_within_or_behind_a_field_is_literal() {
        assert_eq!(records("a\"b\nc\"\n"), "a\"b|c\"|");
        assert_eq!(records("\"a\"b\"\nc\n"), "\"a\"b\"|c|");
        assert_eq!(records(" \"a\n\"b\n\"\n"), " \"a|\"b\n\"|");
    }

    #[test]
    fn without_a_delimiter_only_a_record_begins_with_quotes() {
        let mut ends = RecordEnds::default();
        for delimiter in [b'"', b'\n'] {
            assert_eq!(ends.find(b"a\"\n\"b\n\"\"\n\"\nc\n", delimiter), [2, 10, 12]);
        }
    }
}
