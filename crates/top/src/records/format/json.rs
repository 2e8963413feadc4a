//! JSON Lines: each record is an object.
//!
//! A record is examined from its start until every wanted field is known to have a value or none:
//!
//! - White space may be before and after every token. A record of white space only has no fields.
//! - The object of the record, and every object and array that a wanted path leads into, is *walked*: members and elements are
//!   separated by commas, a member is a key in double quotes, a colon and a value. Keys are compared after their escapes are
//!   decoded. If members have equal keys, the first counts; the others are skipped.
//! - Any other value is *skipped*. A string ends at the first quote that is not escaped. An object or array ends at the
//!   bracket that balances its first one: braces and square brackets are counted alike, those in strings are not counted,
//!   and a backslash escapes the next byte in strings and outside of them. Anything else is a run of at least one byte
//!   up to a comma, a closing bracket, white space, or the end of the record.
//! - A wanted `null` is a missing value. It is known like any other: a second member with its key does not count.
//! - A walked object or array in which nothing more is wanted is skipped to its end if the record is examined further.
//! - After the end of the object of the record there may only be white space, if it is reached.
//! - Escapes are checked in the keys of walked objects and in wanted strings. Half of a pair of surrogates becomes
//!   U+FFFD. Invalid UTF-8 is kept.

pub(crate) mod all;
mod cursor;
pub(crate) mod repeated;
#[cfg(test)]
mod tests;
mod wanted;

use std::mem;

use finecomb_sys::simd::{Kernel, Masks, dispatch};

use self::cursor::{RecordCursor, TokenPlace, TokenWindow};
use self::wanted::{ROOT, WantedNode, WantedTree};
use crate::cells::{Cell, Cells, Span, Violation, bytes_of};
use crate::query::field::Field;
use crate::query::input_format::FormatError;
use crate::records::escape::{unescape, unicode};

/// Extracts fields of records that are objects of JSON.
#[derive(Debug)]
pub(crate) struct Json {
    wanted: WantedTree,
}

/// Scratch memory of [`Json::extract`].
#[derive(Debug, Default)]
pub(crate) struct JsonScratch {
    /// The containers around the innermost one that is walked.
    outer: Vec<Container>,
    /// Whether the member was met, for each node of the tree.
    seen: Vec<bool>,
    /// Text of a key with escapes.
    key: Vec<u8>,
}

/// An object or array in which values are wanted.
#[derive(Clone, Copy, Debug)]
struct Container {
    node: usize,
    /// Position of the opening bracket.
    start: usize,
    /// Closing bracket.
    close: u8,
    /// Number of columns below this container whose values are not known yet.
    open_columns: usize,
    /// Index of the next element of an array.
    index: usize,
    /// Number of wanted elements before it.
    taken: usize,
}

impl Json {
    /// `fields` are the wanted fields, in the order of the columns.
    pub(crate) fn new(fields: &[Field]) -> Result<Self, FormatError> {
        let mut paths = Vec::with_capacity(fields.len());
        for field in fields {
            match field {
                Field::Named(name) => paths.push(&name.path[..]),
                Field::Position(number) => {
                    return Err(FormatError::Other(format!(
                        "fields of JSON have names, such as status or .request.host; found the number {number} (in double quotes it is a name)"
                    )));
                }
            }
        }
        Ok(Self { wanted: WantedTree::new(paths.into_iter()) })
    }

    /// Appends a cell for each wanted field and each record.
    pub(crate) fn extract(
        &self,
        scratch: &mut JsonScratch,
        text: &[u8],
        records: &[Span],
        cells: &mut Cells,
    ) {
        dispatch(ExtractMembers { json: self, scratch, text, records, cells });
    }
}

struct ExtractMembers<'a> {
    json: &'a Json,
    scratch: &'a mut JsonScratch,
    text: &'a [u8],
    records: &'a [Span],
    cells: &'a mut Cells,
}

impl Kernel for ExtractMembers<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { json, scratch, text, records, cells } = self;
        scratch.seen.resize(json.wanted.len(), false);
        for (index, &(start, end)) in records.iter().enumerate() {
            cells.push_missing();
            let cursor = RecordCursor { masks, text, end };
            let inner = Container::new(&json.wanted, ROOT, start, b'}');
            let mut walk = RecordWalk { cursor, tree: &json.wanted, scratch, cells, inner, open_columns: 0 };
            if let Err(violation) = walk.record(start) {
                report(cells, index, violation);
            }
        }
    }
}

/// Reports a record and removes the values that were found in it.
#[cold]
#[inline(never)]
fn report(cells: &mut Cells, record: usize, violation: Violation) {
    for column in cells.columns_mut() {
        if let Some(last) = column.last_mut() {
            *last = Cell::Missing;
        }
    }
    cells.report(record, violation);
}

/// Walks through a record.
struct RecordWalk<'a, 't, M> {
    cursor: RecordCursor<'t, M>,
    tree: &'a WantedTree,
    scratch: &'a mut JsonScratch,
    cells: &'a mut Cells,
    /// The container that is walked.
    inner: Container,
    /// Number of columns whose values are not known yet.
    open_columns: usize,
}

impl<M: Masks> RecordWalk<'_, '_, M> {
    #[inline(always)]
    fn record(&mut self, start: usize) -> Result<(), Violation> {
        let Some(at) = self.cursor.object(start)? else { return Ok(()) };
        self.scratch.outer.clear();
        self.scratch.seen.fill(false);
        self.inner = Container::new(self.tree, ROOT, at, b'}');
        self.open_columns = self.inner.open_columns;
        let mut place = self.first_item(at);
        while self.open_columns > 0 {
            place = match place {
                TokenPlace::Item(at) => self.item(at)?,
                TokenPlace::Close(at) => match self.leave(at + 1)? {
                    Some(place) => place,
                    None => break,
                },
            };
        }
        Ok(())
    }

    /// Goes past the opening bracket of the innermost container.
    #[inline(always)]
    fn first_item(&self, bracket: usize) -> TokenPlace {
        self.cursor.first_item(bracket, self.inner.close)
    }

    /// Goes past a member or element, or into it.
    #[inline(always)]
    fn item(&mut self, at: usize) -> Result<TokenPlace, Violation> {
        let is_member = self.inner.close == b'}';
        // A local variable: returned from `key`, it would be read back from memory before it is there.
        let window = self.cursor.look(at + usize::from(is_member));
        let (child, at) =
            if is_member { self.key(at, &window)? } else { (self.inner.next_element(self.tree), at) };
        match child {
            Some(child) => self.wanted_value(child, at, &window),
            None => {
                let at = self.cursor.skip_value(at, &window)?;
                self.after_value(at)
            }
        }
    }

    /// Goes past a value that is wanted, or into one in which values are wanted.
    #[inline(always)]
    fn wanted_value(
        &mut self,
        child: usize,
        at: usize,
        window: &TokenWindow,
    ) -> Result<TokenPlace, Violation> {
        let node = self.tree.node(child);
        let container = Container::new(self.tree, child, at, closing_bracket(self.cursor.byte(at)));
        // Fields of something that is no container, or one of the other kind, are missing.
        self.open_columns -= node.below() - container.open_columns;
        if container.open_columns > 0 {
            self.scratch.outer.push(mem::replace(&mut self.inner, container));
            return Ok(self.first_item(at));
        }
        let end = if node.columns.is_empty() {
            self.cursor.skip_value(at, window)?
        } else {
            let (cell, end) = value(self.cursor, self.cells, at, window)?;
            self.set(child, cell);
            end
        };
        self.after_child(node, end)
    }

    /// Ends the innermost container, whose end is `end`, and continues in the one around it. `None` at the end of the record.
    #[inline(always)]
    fn leave(&mut self, end: usize) -> Result<Option<TokenPlace>, Violation> {
        let Container { node, start, open_columns, .. } = self.inner;
        self.open_columns -= open_columns;
        let Some(outer) = self.scratch.outer.pop() else {
            return self.cursor.nothing_follows(end).map(|()| None);
        };
        self.inner = outer;
        self.set(node, Cell::raw((start, end)));
        self.after_child(self.tree.node(node), end).map(Some)
    }

    /// Advances past the value of a node, unless nothing more is wanted.
    #[inline(always)]
    fn after_child(&mut self, node: &WantedNode, end: usize) -> Result<TokenPlace, Violation> {
        self.inner.open_columns -= node.total();
        // Nothing more is read, so the place does not matter.
        if self.open_columns == 0 {
            return Ok(TokenPlace::Close(end));
        }
        if self.inner.open_columns == 0 {
            return Ok(TokenPlace::Close(self.cursor.container_end(end)? - 1));
        }
        self.after_value(end)
    }

    /// Reads a key, whose text begins with the window, and the colon. Returns the wanted member, unless there was one
    /// with this key before, and the position of the value.
    #[inline(always)]
    fn key(&mut self, at: usize, window: &TokenWindow) -> Result<(Option<usize>, usize), Violation> {
        let Self { cursor, tree, .. } = *self;
        if cursor.byte(at) != b'"' {
            return Err((at, "expected a key in double quotes"));
        }
        let start = at + 1;
        let end = cursor.string_end(start, window)?;
        let node = tree.node(self.inner.node);
        let mut child = if end.has_escapes {
            self.scratch.key.clear();
            decode(cursor.text, (start, end.quote), &mut self.scratch.key)?;
            node.at_key(&self.scratch.key)
        } else {
            node.at_key(bytes_of(cursor.text, (start, end.quote)))
        };
        if let Some(found) = child
            && mem::replace(&mut self.scratch.seen[found], true)
        {
            child = None;
        }
        Ok((child, cursor.after_key(end.quote + 1)?))
    }

    /// Goes past the comma after a value, or to the closing bracket.
    #[inline(always)]
    fn after_value(&self, at: usize) -> Result<TokenPlace, Violation> {
        self.cursor.after_value(at, self.inner.close)
    }

    /// Sets the columns of a node, whose values become known.
    #[inline(always)]
    fn set(&mut self, node: usize, cell: Cell) {
        let columns = &self.tree.node(node).columns;
        self.open_columns -= columns.len();
        for &column in columns {
            if let Some(last) = self.cells.columns_mut()[column].last_mut() {
                *last = cell;
            }
        }
    }
}

/// Returns a value and the position after it.
#[inline(always)]
fn value<M: Masks>(
    cursor: RecordCursor<'_, M>,
    cells: &mut Cells,
    at: usize,
    window: &TokenWindow,
) -> Result<(Cell, usize), Violation> {
    let first = cursor.byte(at);
    if first != b'"' {
        let end = cursor.skip_value(at, window)?;
        if first == b'n' && is_null(bytes_of(cursor.text, (at, end))) {
            return Ok((Cell::Missing, end));
        }
        return Ok((Cell::raw((at, end)), end));
    }
    let start = at + 1;
    let end = cursor.string_end(start, window)?;
    let cell = if end.has_escapes {
        decode_value(cells, cursor.text, (start, end.quote))?
    } else {
        Cell::raw((start, end.quote))
    };
    Ok((cell, end.quote + 1))
}

#[cold]
#[inline(never)]
fn is_null(value: &[u8]) -> bool {
    value == b"null"
}

#[cold]
#[inline(never)]
fn decode_value(cells: &mut Cells, text: &[u8], span: Span) -> Result<Cell, Violation> {
    let mut result = Ok(());
    let cell = cells.decode(|out| result = decode(text, span, out));
    result.map(|()| cell)
}

/// Appends the text of a string, given by its bytes between the quotes.
fn decode(text: &[u8], span: Span, out: &mut Vec<u8>) -> Result<(), Violation> {
    match unescape(bytes_of(text, span), out, unescape_one) {
        Some(invalid) => Err((span.0 + invalid, "invalid escape in a string")),
        None => Ok(()),
    }
}

/// Appends the character of the escape at the beginning of `text`, and returns the length of the escape.
fn unescape_one(text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    out.push(match text.get(1)? {
        &byte @ (b'"' | b'\\' | b'/') => byte,
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => return unicode(text, out),
        _ => return None,
    });
    Some(2)
}

/// The bracket that closes a container which begins with `byte`; 0 if none does.
#[inline(always)]
fn closing_bracket(byte: u8) -> u8 {
    match byte {
        b'{' => b'}',
        b'[' => b']',
        _ => 0,
    }
}

impl Container {
    #[inline(always)]
    fn new(tree: &WantedTree, node: usize, start: usize, close: u8) -> Self {
        let wanted = tree.node(node);
        let open_columns = match close {
            b'}' => wanted.in_object,
            b']' => wanted.in_array,
            _ => 0,
        };
        Self { node, start, close, open_columns, index: 0, taken: 0 }
    }

    /// Counts an element of an array, and returns it if it is wanted.
    #[inline(always)]
    fn next_element(&mut self, tree: &WantedTree) -> Option<usize> {
        let child = tree.node(self.node).at_index(self.taken, self.index);
        self.index += 1;
        self.taken += usize::from(child.is_some());
        child
    }
}
