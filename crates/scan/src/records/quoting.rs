//! Quotes in a text of [`Records::Quoted`](super::Records::Quoted): where records end, and in which state a text leaves
//! the reader, also if the state at its beginning is not known.

use finecomb_sys::simd::{Kernel, Masks, dispatch};
use memchr::{memchr, memrchr};

use super::rules::{RecordEffect, RecordState};

/// The quote.
pub(crate) const QUOTE: u8 = b'"';

/// The bytes that divide a text, besides the quote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoting {
    delimiter: u8,
    line_end: u8,
}

/// State between two bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuoteState {
    /// A quote begins a quoted text: at the beginning of a field, and after a quote within quotes, which ends the quoting unless
    /// the next byte is a quote.
    Start,
    /// A quote is literal.
    Literal,
    /// Within quotes.
    Quoted,
}

/// All states, in the order of [`Transition`].
const STATES: [QuoteState; 3] = [QuoteState::Start, QuoteState::Literal, QuoteState::Quoted];

/// Effect of a text on a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuoteEffect {
    /// The state after the text.
    pub(crate) state: QuoteState,
    /// Position after the last end of a record in the text; 0 if none ends in it.
    pub(crate) last_record: usize,
}

impl From<QuoteEffect> for RecordEffect {
    fn from(QuoteEffect { state, last_record }: QuoteEffect) -> Self {
        Self { state: RecordState::Quoted(state), last_record }
    }
}

/// Effect of a text on every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transition([QuoteEffect; 3]);

impl Transition {
    /// Effect on this state.
    pub(crate) fn of(&self, state: QuoteState) -> QuoteEffect {
        self.0[state as usize]
    }
}

impl Quoting {
    pub(crate) fn new(delimiter: u8, line_end: u8) -> Self {
        // A line end begins a field anyway.
        Self { delimiter: if delimiter == QUOTE { line_end } else { delimiter }, line_end }
    }

    /// Effect of a text on a state.
    pub(crate) fn pass(self, text: &[u8], state: QuoteState) -> QuoteEffect {
        match memchr(QUOTE, text) {
            None => self.pass_unquoted(text, state),
            Some(_) => {
                let mut runs = [PassRun::from(state)];
                dispatch(Pass { text, quoting: self, runs: &mut runs });
                runs[0].passage()
            }
        }
    }

    /// Effect of a text on every state.
    pub(crate) fn transition(self, text: &[u8]) -> Transition {
        if memchr(QUOTE, text).is_none() {
            return Transition(STATES.map(|state| self.pass_unquoted(text, state)));
        }
        // Most texts lead every state to the same one within a few fields.
        const FIRST: usize = 4 << 10;
        let (first, rest) = text.split_at(FIRST.min(text.len()));
        let mut runs = STATES.map(PassRun::from);
        dispatch(Pass { text: first, quoting: self, runs: &mut runs });
        let after_first = Transition(runs.map(PassRun::passage));
        let mut known: [Option<QuoteEffect>; 3] = [None; 3];
        Transition(after_first.0.map(|QuoteEffect { state, last_record }| {
            let after = *known[state as usize].get_or_insert_with(|| self.pass(rest, state));
            let in_rest = if after.last_record > 0 { first.len() + after.last_record } else { 0 };
            QuoteEffect { state: after.state, last_record: last_record.max(in_rest) }
        }))
    }

    /// Effect of a text without quotes on a state.
    fn pass_unquoted(self, text: &[u8], state: QuoteState) -> QuoteEffect {
        let Some(&last) = text.last() else { return QuoteEffect { state, last_record: 0 } };
        if state == QuoteState::Quoted {
            return QuoteEffect { state, last_record: 0 };
        }
        let is_start = last == self.delimiter || last == self.line_end;
        let last_record = memrchr(self.line_end, text).map_or(0, |end| end + 1);
        QuoteEffect { state: if is_start { QuoteState::Start } else { QuoteState::Literal }, last_record }
    }

    /// Returns the position of the first end of a record in `text`; if there is none, the state after the text.
    pub(crate) fn first_end(self, text: &[u8], state: QuoteState) -> Result<usize, QuoteState> {
        if state != QuoteState::Quoted {
            // Most records are lines without quotes.
            let line = memchr(self.line_end, text);
            if memchr(QUOTE, &text[..line.unwrap_or(text.len())]).is_none() {
                return line.ok_or_else(|| self.pass_unquoted(text, state).state);
            }
        }
        dispatch(FirstEnd { text, quoting: self, state })
    }
}

/// Bits of the bytes of a text of up to 64 bytes.
#[derive(Clone, Copy)]
pub(crate) struct QuoteBits {
    quotes: u64,
    /// Delimiters and line ends.
    separators: u64,
    line_ends: u64,
    /// Index of the last byte.
    last: u32,
}

impl QuoteBits {
    #[inline(always)]
    pub(crate) fn of<M: Masks>(masks: M, bytes: &[u8; 64], quoting: Quoting) -> Self {
        Self {
            quotes: masks.equal(bytes, QUOTE),
            separators: masks.equal_either(bytes, quoting.delimiter, quoting.line_end),
            line_ends: masks.equal(bytes, quoting.line_end),
            last: 63,
        }
    }

    /// The bits of fewer than 64 bytes; `None` if there are none.
    #[inline(always)]
    pub(crate) fn of_rest<M: Masks>(masks: M, rest: &[u8], quoting: Quoting) -> Option<Self> {
        let last = rest.len().checked_sub(1)?;
        let mut bytes = [0; 64];
        bytes[..rest.len()].copy_from_slice(rest);
        let all = Self::of(masks, &bytes, quoting);
        let valid = !0 >> (63 - last);
        let (quotes, separators, line_ends) =
            (all.quotes & valid, all.separators & valid, all.line_ends & valid);
        Some(Self { quotes, separators, line_ends, last: last as u32 })
    }
}

/// The state between two windows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Carry {
    /// All ones within quotes, otherwise 0.
    inside: u64,
    /// 1 where a quote begins a quoted text, otherwise 0.
    start: u64,
}

impl From<QuoteState> for Carry {
    fn from(state: QuoteState) -> Self {
        Self {
            inside: if state == QuoteState::Quoted { !0 } else { 0 },
            start: u64::from(state == QuoteState::Start),
        }
    }
}

impl Carry {
    fn state(self) -> QuoteState {
        match self {
            Self { inside: 0, start: 0 } => QuoteState::Literal,
            Self { inside: 0, .. } => QuoteState::Start,
            _ => QuoteState::Quoted,
        }
    }

    /// Advances past a window. Returns the bits of the ends of records in it.
    ///
    /// If no quote were literal, a byte would be within quotes if the number of quotes up to it is odd. So no quote is taken as
    /// literal at first. The first quote that would open quotes where none may begin is in fact literal, and so are the later ones
    /// up to the beginning of the next quoted field. They are left out, and the rest is examined again.
    #[inline(always)]
    pub(crate) fn advance<M: Masks>(&mut self, masks: M, window: QuoteBits) -> u64 {
        let QuoteBits { mut quotes, separators, line_ends, last } = window;
        if quotes == 0 {
            self.start = separators >> last & 1 & !self.inside;
            return line_ends & !self.inside;
        }
        let at_start = quotes & (separators << 1 | self.start);
        loop {
            // The bytes after which the text is within quotes.
            let inside = masks.prefix_xor(quotes) ^ self.inside;
            let closing = quotes & !inside;
            let literal = quotes & inside & !(at_start | closing << 1);
            if literal == 0 {
                self.inside = (inside >> last & 1).wrapping_neg();
                self.start = (separators & !inside | closing) >> last & 1;
                return line_ends & !inside;
            }
            let before = literal.wrapping_sub(1) & !literal;
            let next = at_start & !before;
            quotes &= before | !(next.wrapping_sub(1) & !next);
        }
    }
}

/// State of a pass that began in one state.
#[derive(Clone, Copy)]
struct PassRun {
    carry: Carry,
    last_record: usize,
}

impl From<QuoteState> for PassRun {
    fn from(state: QuoteState) -> Self {
        Self { carry: state.into(), last_record: 0 }
    }
}

impl PassRun {
    #[inline(always)]
    fn advance<M: Masks>(&mut self, masks: M, window: QuoteBits, base: usize) {
        let ends = self.carry.advance(masks, window);
        if ends != 0 {
            self.last_record = base + 64 - ends.leading_zeros() as usize;
        }
    }

    fn passage(self) -> QuoteEffect {
        QuoteEffect { state: self.carry.state(), last_record: self.last_record }
    }
}

struct Pass<'a, const N: usize> {
    text: &'a [u8],
    quoting: Quoting,
    runs: &'a mut [PassRun; N],
}

impl<const N: usize> Kernel for Pass<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { text, quoting, runs: all } = self;
        let mut runs = *all;
        let (windows, rest) = text.as_chunks::<64>();
        let mut base = 0;
        for bytes in windows {
            let window = QuoteBits::of(masks, bytes, quoting);
            for run in &mut runs {
                run.advance(masks, window, base);
            }
            base += 64;
        }
        if let Some(window) = QuoteBits::of_rest(masks, rest, quoting) {
            for run in &mut runs {
                run.advance(masks, window, base);
            }
        }
        *all = runs;
    }
}

struct FirstEnd<'a> {
    text: &'a [u8],
    quoting: Quoting,
    state: QuoteState,
}

impl Kernel for FirstEnd<'_> {
    type Output = Result<usize, QuoteState>;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> Result<usize, QuoteState> {
        let Self { text, quoting, state } = self;
        let mut carry = Carry::from(state);
        let (windows, rest) = text.as_chunks::<64>();
        let mut base = 0;
        for bytes in windows {
            let ends = carry.advance(masks, QuoteBits::of(masks, bytes, quoting));
            if ends != 0 {
                return Ok(base + ends.trailing_zeros() as usize);
            }
            base += 64;
        }
        if let Some(window) = QuoteBits::of_rest(masks, rest, quoting) {
            let ends = carry.advance(masks, window);
            if ends != 0 {
                return Ok(base + ends.trailing_zeros() as usize);
            }
        }
        Err(carry.state())
    }
}

#[cfg(test)]
pub(crate) mod tests;
