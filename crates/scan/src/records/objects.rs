//! Objects in documents of JSON: where the records of a text of [`Records::Objects`](super::Records::Objects) begin and end.
//!
//! Without a path, every object that is in no other object is a record: an element of an array, or a document. With the
//! path of an array, its elements are. Brackets, commas and white space between records are not checked. Text that is no
//! object is reported, and ends with its line, or before the next comma of the array.
//!
//! A text is divided after each object and after each line feed outside of objects. There the state is always the same, so
//! that a block can be read without the blocks before it. With a path, it is divided after the records and after documents:
//! a comma or a closing bracket that follows is one of the array, and an opening brace begins a document.

mod member_path;
#[cfg(test)]
pub(crate) mod tests;
mod unclosed;

use std::ops::ControlFlow;

use finecomb_sys::simd::brackets::{Nesting, escaped};
use finecomb_sys::simd::{Kernel, Masks, dispatch, window_at};

pub use member_path::MemberPath;

/// Start and end of a record in a text.
type Span = (usize, usize);

/// The rules of records that are objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Objects {
    array: MemberPath,
}

/// State between two bytes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectState {
    place: ObjectPlace,
    /// Number of objects and arrays that are open around the text, besides those that the path leads through.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

/// Place between two bytes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ObjectPlace {
    /// After a record or a document. With a path, the next byte says whether that is in the array.
    #[default]
    Between,
    /// In the array that the path leads to.
    Array,
    /// In text that is no object. With a path, `in_array` says whether it is known to be in the array.
    Other { in_array: bool },
    /// In a record.
    Record,
    /// In a document, outside of the array.
    Document {
        /// Number of objects around the text that the path leads through.
        level: usize,
        key: Key,
    },
}

/// The key of a member of an object that the path leads through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Expected,
    /// The first bytes of the key, this many, are those of the path.
    Begun(usize),
    /// It is the one of the path.
    Wanted,
    /// It is another one.
    Other,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// A record begins.
    Record(usize),
    /// Text that is no object begins, or ends before this position.
    Other(usize),
    EndOfOther(usize),
    /// A document begins, which must have an array at the path.
    Document(usize),
    /// The array begins.
    Array,
    /// The text is divided after this byte.
    End(usize),
}

impl ObjectState {
    /// Whether the text is in a record.
    pub(crate) fn is_in_record(self) -> bool {
        self.place == ObjectPlace::Record
    }
}

impl Objects {
    pub(crate) fn new(array: MemberPath) -> Self {
        Self { array }
    }

    /// Returns the state after a text, and the position after the last end in it, or 0.
    pub(crate) fn pass(self, text: &[u8], mut state: ObjectState) -> (ObjectState, usize) {
        let mut last = 0;
        self.visit(text, &mut state, |mark| {
            if let Mark::End(end) = mark {
                last = end + 1;
            }
            ControlFlow::Continue(())
        });
        (state, last)
    }

    /// Returns the position of the first end in a text; if there is none, the state after it.
    pub(crate) fn first_end(self, text: &[u8], mut state: ObjectState) -> Result<usize, ObjectState> {
        let mut first = None;
        self.visit(text, &mut state, |mark| match mark {
            Mark::End(end) => {
                first = Some(end);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
        first.ok_or(state)
    }

    /// Calls `visit` at each mark of a text until it breaks, and advances the state up to there.
    fn visit(self, text: &[u8], state: &mut ObjectState, mut visit: impl FnMut(Mark) -> ControlFlow<()>) {
        let _ = dispatch(VisitObjects { objects: self, text, state, visit: &mut visit });
    }
}

struct VisitObjects<'a, F> {
    objects: Objects,
    text: &'a [u8],
    state: &'a mut ObjectState,
    visit: &'a mut F,
}

impl<F: FnMut(Mark) -> ControlFlow<()>> Kernel for VisitObjects<'_, F> {
    type Output = ControlFlow<()>;

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) -> ControlFlow<()> {
        let Self { objects, text, state, visit } = self;
        let mut at = 0;
        while at < text.len() {
            if state.depth > 0 {
                let Some(close) = state.close(masks, text, at) else { break };
                at = close + 1;
                if state.place == ObjectPlace::Record {
                    *state = ObjectState::default();
                    visit(Mark::End(close))?;
                }
                continue;
            }
            if let ObjectPlace::Document { .. } = state.place {
                objects.step_in_document(text[at], at, state, visit)?;
                at += 1;
            } else {
                at = objects.step_outside(text, at, state, visit)?;
            }
        }
        ControlFlow::Continue(())
    }
}

trait Step {
    /// Continues at a position.
    fn go(self, at: usize) -> ControlFlow<(), usize>;
}

impl Step for ControlFlow<()> {
    fn go(self, at: usize) -> ControlFlow<(), usize> {
        self.map_continue(|()| at)
    }
}

impl Objects {
    /// Advances past a byte or more outside of records and documents. Returns the next position.
    fn step_outside(
        self,
        text: &[u8],
        at: usize,
        state: &mut ObjectState,
        visit: &mut impl FnMut(Mark) -> ControlFlow<()>,
    ) -> ControlFlow<(), usize> {
        match state.place {
            ObjectPlace::Other { in_array } => self.step_in_other(text, at, in_array, state, visit),
            place => self.step_between(text[at], at, place == ObjectPlace::Array, state, visit),
        }
    }

    /// Advances past a byte between records.
    fn step_between(
        self,
        byte: u8,
        at: usize,
        in_array: bool,
        state: &mut ObjectState,
        visit: &mut impl FnMut(Mark) -> ControlFlow<()>,
    ) -> ControlFlow<(), usize> {
        let has_path = !self.array.is_empty();
        match byte {
            b'\n' if !in_array => visit(Mark::End(at)).go(at + 1),
            b' ' | b'\t' | b'\r' | b'\n' => ControlFlow::Continue(at + 1),
            b',' => {
                state.place = self.in_array();
                ControlFlow::Continue(at + 1)
            }
            b'[' | b']' if !has_path => ControlFlow::Continue(at + 1),
            b']' => {
                state.place = ObjectPlace::Document { level: self.array.len(), key: Key::Other };
                ControlFlow::Continue(at + 1)
            }
            b'{' if has_path && !in_array => {
                state.place = ObjectPlace::Document { level: 1, key: Key::Expected };
                visit(Mark::Document(at)).go(at + 1)
            }
            // An array as an element is read as a whole, and is no object.
            b'{' | b'[' if byte == b'{' || in_array => {
                (state.place, state.depth) = (ObjectPlace::Record, 1);
                visit(Mark::Record(at)).go(at + 1)
            }
            _ => {
                state.place = ObjectPlace::Other { in_array };
                state.in_string = byte == b'"';
                visit(Mark::Other(at)).go(at + 1)
            }
        }
    }

    /// Advances past text that is no object, up to where it may end.
    fn step_in_other(
        self,
        text: &[u8],
        at: usize,
        in_array: bool,
        state: &mut ObjectState,
        visit: &mut impl FnMut(Mark) -> ControlFlow<()>,
    ) -> ControlFlow<(), usize> {
        let byte = text[at];
        match byte {
            // A string ends with its line at the latest: it may be an apostrophe in a message.
            b'\n' => {
                *state = ObjectState::default();
                visit(Mark::EndOfOther(at))?;
                visit(Mark::End(at))?;
            }
            _ if state.in_string => {
                state.in_string = state.is_escaped || byte != b'"';
                state.is_escaped = !state.is_escaped && byte == b'\\';
            }
            b',' => {
                state.place = self.in_array();
                visit(Mark::EndOfOther(at))?;
            }
            b']' if in_array && !self.array.is_empty() => {
                visit(Mark::EndOfOther(at))?;
                state.place = ObjectPlace::Document { level: self.array.len(), key: Key::Other };
            }
            _ => {}
        }
        ControlFlow::Continue(at + 1)
    }

    /// The place between the elements of an array.
    fn in_array(self) -> ObjectPlace {
        if self.array.is_empty() { ObjectPlace::Between } else { ObjectPlace::Array }
    }

    /// Advances past a byte directly in an object that the path leads through.
    fn step_in_document(
        self,
        byte: u8,
        at: usize,
        state: &mut ObjectState,
        visit: &mut impl FnMut(Mark) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let ObjectPlace::Document { level, key } = state.place else { return ControlFlow::Continue(()) };
        let with = |key| ObjectPlace::Document { level, key };
        if state.in_string {
            let is_end = byte == b'"' && !state.is_escaped;
            state.is_escaped = !state.is_escaped && byte == b'\\';
            state.in_string = !is_end;
            if let Key::Begun(length) = key {
                state.place = with(self.array.advance(level - 1, length, byte, is_end));
            }
            return ControlFlow::Continue(());
        }
        match byte {
            b'"' => {
                state.in_string = true;
                state.place = with(if key == Key::Expected { Key::Begun(0) } else { Key::Other });
            }
            b',' => state.place = with(Key::Expected),
            b'{' if key == Key::Wanted && level < self.array.len() => {
                state.place = ObjectPlace::Document { level: level + 1, key: Key::Expected };
            }
            b'[' if key == Key::Wanted && level == self.array.len() => {
                state.place = ObjectPlace::Array;
                return visit(Mark::Array);
            }
            b'{' | b'[' => state.depth = 1,
            b'}' | b']' if level > 1 => {
                state.place = ObjectPlace::Document { level: level - 1, key: Key::Other };
            }
            b'}' | b']' => {
                *state = ObjectState::default();
                return visit(Mark::End(at));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl MemberPath {
    /// Advances past a byte of a key whose first `length` bytes are those of the path.
    fn advance(&self, level: usize, length: usize, byte: u8, is_end: bool) -> Key {
        let wanted = self.key(level);
        match is_end {
            true if length == wanted.len() => Key::Wanted,
            false if wanted.get(length) == Some(&byte) => Key::Begun(length + 1),
            _ => Key::Other,
        }
    }
}

impl ObjectState {
    /// Returns the position of the bracket that closes the outermost open object or array. `None` if it is not in the text.
    #[inline(always)]
    fn close<M: Masks>(&mut self, masks: M, text: &[u8], mut at: usize) -> Option<usize> {
        let mut carry = u64::from(self.is_escaped);
        let in_string = if self.in_string { u64::MAX } else { 0 };
        let mut nesting = Nesting { depth: self.depth, in_string };
        let mut spare = None;
        while at < text.len() {
            let window = window_at(text, at, &mut spare);
            let begins_escaped = carry;
            let backslashes = masks.equal(window, b'\\');
            let hidden = if backslashes | carry == 0 { 0 } else { escaped(backslashes, &mut carry) };
            let quotes = masks.equal(window, b'"') & !hidden;
            if let Some(bit) = nesting.close(masks, window, quotes) {
                (self.depth, self.in_string, self.is_escaped) = (0, false, false);
                return Some(at + bit as usize);
            }
            if text.len() - at < 64 {
                // Only zeros follow.
                carry = if backslashes | begins_escaped == 0 { 0 } else { hidden >> (text.len() - at) & 1 };
            }
            at += 64;
        }
        (self.depth, self.in_string, self.is_escaped) = (nesting.depth, nesting.in_string != 0, carry != 0);
        None
    }
}

/// Finds the records of a text of objects. The memory is reused from text to text.
#[derive(Debug, Default)]
pub struct ObjectSpans {
    spans: Vec<Span>,
    without_array: Vec<usize>,
}

impl ObjectSpans {
    /// Finds all records of a text, which begins where a text is divided: objects, and text that is none.
    pub fn find(&mut self, text: &[u8], array: MemberPath) -> &[Span] {
        self.spans.clear();
        self.without_array.clear();
        let (mut record, mut other, mut document) = (None, None, None);
        let (mut state, mut begin) = (ObjectState::default(), 0);
        let Self { spans, without_array } = self;
        Objects::new(array).visit(text, &mut state, |mark| {
            match mark {
                Mark::Record(at) => record = Some(at),
                Mark::Other(at) => other = Some(at),
                Mark::EndOfOther(end) => spans.extend(other.take().map(|at| trimmed(text, (at, end)))),
                Mark::Document(at) => document = Some(at),
                Mark::Array => document = None,
                Mark::End(end) => {
                    match record.take() {
                        Some(at) if is_closed(text, at, end) => spans.push((at, end + 1)),
                        Some(at) => unclosed::divide(text, (begin, end), at, spans),
                        None => {}
                    }
                    without_array.extend(document.take());
                    begin = end + 1;
                }
            }
            ControlFlow::Continue(())
        });
        let unended = record.or(other).map(|at| trimmed(text, (at, text.len())));
        spans.extend(unended);
        without_array.extend(document);
        spans
    }

    /// Positions of the documents of the last text that have no array at the path.
    pub fn without_array(&self) -> &[usize] {
        &self.without_array
    }

    /// Finds the records of a text of [`Records::Unclosed`](super::Records::Unclosed).
    pub fn find_unclosed(&mut self, text: &[u8], array: MemberPath) -> &[Span] {
        self.without_array.clear();
        unclosed::divide_last(text, array, &mut self.spans);
        &self.spans
    }
}

/// Whether the bracket at `end` is of the kind that closes the one at `start`. If an object is never closed, the bracket of the
/// array around it is taken for its end.
fn is_closed(text: &[u8], start: usize, end: usize) -> bool {
    (text[start] == b'{') == (text[end] == b'}')
}

/// A part of a text without white space and separators at its end.
fn trimmed(text: &[u8], (start, end): Span) -> Span {
    let is_part = |byte: &u8| !byte.is_ascii_whitespace() && !b",]".contains(byte);
    let length = text[start..end].iter().rposition(is_part).map_or(0, |last| last + 1);
    (start, start + length)
}
