use proptest::prelude::*;

use super::*;

/// Reference implementation: the states of the `csv` crate, byte by byte.
#[derive(Clone, Copy, PartialEq)]
enum CsvState {
    FieldStart,
    Field,
    Quoted,
    /// After a quote within quotes.
    Quote,
}

impl CsvState {
    fn of(state: QuoteState) -> Self {
        match state {
            QuoteState::Start => Self::FieldStart,
            QuoteState::Literal => Self::Field,
            QuoteState::Quoted => Self::Quoted,
        }
    }

    fn state(self) -> QuoteState {
        match self {
            Self::FieldStart | Self::Quote => QuoteState::Start,
            Self::Field => QuoteState::Literal,
            Self::Quoted => QuoteState::Quoted,
        }
    }

    /// The next state, and whether the byte ends a record.
    fn next(self, byte: u8, delimiter: u8) -> (Self, bool) {
        match (self, byte) {
            (Self::Quoted, b'"') => (Self::Quote, false),
            (Self::Quoted, _) => (Self::Quoted, false),
            (Self::FieldStart | Self::Quote, b'"') => (Self::Quoted, false),
            (_, b'\n') => (Self::FieldStart, true),
            (_, byte) if byte == delimiter && byte != b'"' => (Self::FieldStart, false),
            _ => (Self::Field, false),
        }
    }
}

fn pass_byte_by_byte(text: &[u8], state: QuoteState, delimiter: u8) -> (Vec<usize>, QuoteState) {
    let mut reader = CsvState::of(state);
    let mut ends = Vec::new();
    for (at, &byte) in text.iter().enumerate() {
        let (next, is_end) = reader.next(byte, delimiter);
        reader = next;
        if is_end {
            ends.push(at);
        }
    }
    (ends, reader.state())
}

/// Positions of the ends of all records.
pub(crate) fn ends_byte_by_byte(text: &[u8], delimiter: u8) -> Vec<usize> {
    pass_byte_by_byte(text, QuoteState::Start, delimiter).0
}

/// Texts of few different bytes, and delimiters.
pub(crate) fn texts(length: usize) -> impl Strategy<Value = (Vec<u8>, u8)> {
    let byte =
        prop_oneof![3 => Just(b'"'), 2 => Just(b','), 2 => Just(b'\n'), 1 => Just(b'\t'), 3 => any::<u8>()];
    let rare = prop_oneof![1 => Just(b'"'), 9 => Just(b','), 9 => Just(b'\n'), 81 => Just(b'x')];
    let text = prop_oneof![
        prop::collection::vec(byte, 0..length),
        prop::collection::vec(rare, 0..length),
        prop::collection::vec(
            prop::sample::select(vec![&b"\""[..], b"a\n", b"\",\"", b"\"\n", b"xyz"]),
            0..length / 2
        )
        .prop_map(|words| words.concat()),
    ];
    (text, prop::sample::select(vec![b',', b'\t', b'x', b'"', b'\n', 0]))
}

fn states() -> impl Strategy<Value = QuoteState> {
    prop::sample::select(STATES.to_vec())
}

proptest! {
    #[test]
    fn a_pass_equals_one_byte_by_byte((text, delimiter) in texts(12_000), state in states()) {
        let quoting = Quoting::new(delimiter, b'\n');
        let (ends, after) = pass_byte_by_byte(&text, state, delimiter);
        let expected = QuoteEffect { state: after, last_record: ends.last().map_or(0, |end| end + 1) };
        prop_assert_eq!(quoting.pass(&text, state), expected);
        prop_assert_eq!(quoting.transition(&text).of(state), expected);
        prop_assert_eq!(quoting.first_end(&text, state), ends.first().copied().ok_or(after));
    }

    #[test]
    fn a_text_in_two_parts_is_passed_as_a_whole(
        (text, delimiter) in texts(500),
        state in states(),
        at in any::<prop::sample::Index>(),
    ) {
        let quoting = Quoting::new(delimiter, b'\n');
        let (first, second) = text.split_at(at.index(text.len() + 1));
        let between = quoting.transition(first).of(state);
        let after = quoting.transition(second).of(between.state);
        prop_assert_eq!(after.state, quoting.pass(&text, state).state);
    }
}
