//! Visits all members of records, at any depth up to a bound.
//!
//! A record is examined to its end. Objects are walked as in [`super`], and every other value is skipped as there.

use finecomb_sys::simd::{Kernel, Masks, dispatch};

use super::cursor::{RecordCursor, TokenWindow};
use super::{TokenPlace, decode, decode_value, is_null};
use crate::cells::{Cell, Cells, Span, Violation, bytes_of};

/// Maximum number of objects around a member. Deeper objects are values.
pub(crate) const MAX_DEPTH: usize = 8;

/// Receives the members of records.
pub(crate) trait MemberVisitor {
    /// The cells in which values are decoded.
    fn cells(&mut self) -> &mut Cells;
    /// Begins a record.
    fn begin(&mut self);
    /// Receives a key. Returns `false` if there was one before in the same object: its value is skipped.
    fn key(&mut self, key: &[u8]) -> bool;
    /// Enters the object that is the value of the last key.
    fn enter(&mut self);
    /// Leaves the innermost object.
    fn leave(&mut self);
    /// Receives the value of the last key.
    fn value(&mut self, value: Cell);
    /// Ends a record, which has an object or only white space.
    fn end(&mut self, outcome: Result<(), Violation>);
}

/// Visits the members of all records.
pub(crate) fn visit<V: MemberVisitor>(text: &[u8], records: &[Span], visitor: &mut V) {
    dispatch(VisitMembers { text, records, visitor });
}

struct VisitMembers<'a, V> {
    text: &'a [u8],
    records: &'a [Span],
    visitor: &'a mut V,
}

impl<V: MemberVisitor> Kernel for VisitMembers<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { text, records, visitor } = self;
        let mut key = Vec::new();
        for &(start, end) in records {
            visitor.begin();
            let cursor = RecordCursor { masks, text, end };
            let outcome = MemberWalk { cursor, visitor, key: &mut key }.record(start);
            visitor.end(outcome);
        }
    }
}

struct MemberWalk<'a, 't, M, V> {
    cursor: RecordCursor<'t, M>,
    visitor: &'a mut V,
    /// Buffer for a key with escapes.
    key: &'a mut Vec<u8>,
}

impl<M: Masks, V: MemberVisitor> MemberWalk<'_, '_, M, V> {
    #[inline(always)]
    fn record(&mut self, start: usize) -> Result<(), Violation> {
        let at = self.cursor.skip_space(start);
        if at >= self.cursor.end {
            return Ok(());
        }
        if self.cursor.byte(at) != b'{' {
            return Err((at, "expected an object"));
        }
        let mut place = self.first_item(at);
        let mut depth = 1;
        loop {
            place = match place {
                TokenPlace::Item(at) => {
                    let (value, window, is_wanted) = self.key(at)?;
                    if is_wanted && depth < MAX_DEPTH && self.cursor.byte(value) == b'{' {
                        depth += 1;
                        self.visitor.enter();
                        self.first_item(value)
                    } else {
                        let end = self.value(value, &window, is_wanted)?;
                        self.after_value(end)?
                    }
                }
                TokenPlace::Close(at) => {
                    depth -= 1;
                    if depth == 0 {
                        return self.nothing_follows(at + 1);
                    }
                    self.visitor.leave();
                    self.after_value(at + 1)?
                }
            };
        }
    }

    /// Goes past the opening bracket of an object.
    #[inline(always)]
    fn first_item(&self, bracket: usize) -> TokenPlace {
        let at = self.cursor.skip_space(bracket + 1);
        if self.cursor.byte(at) == b'}' { TokenPlace::Close(at) } else { TokenPlace::Item(at) }
    }

    /// Reads a key and the colon. Returns the position of the value, the window of the key, and whether the value is wanted.
    #[inline(always)]
    fn key(&mut self, at: usize) -> Result<(usize, TokenWindow, bool), Violation> {
        let cursor = self.cursor;
        if cursor.byte(at) != b'"' {
            return Err((at, "expected a key in double quotes"));
        }
        let start = at + 1;
        let window = cursor.look(start);
        let end = cursor.string_end(start, &window)?;
        let is_wanted = if end.has_escapes {
            self.key.clear();
            decode(cursor.text, (start, end.quote), self.key)?;
            self.visitor.key(self.key)
        } else {
            self.visitor.key(bytes_of(cursor.text, (start, end.quote)))
        };
        let colon = cursor.skip_space(end.quote + 1);
        if cursor.byte(colon) != b':' {
            return Err((colon, "expected ':' after a key"));
        }
        Ok((cursor.skip_space(colon + 1), window, is_wanted))
    }

    /// Visits a value if it is wanted. Returns the position after it.
    #[inline(always)]
    fn value(&mut self, at: usize, window: &TokenWindow, is_wanted: bool) -> Result<usize, Violation> {
        let cursor = self.cursor;
        let first = cursor.byte(at);
        let (cell, end) = match first {
            b'"' => {
                let start = at + 1;
                let end = cursor.string_end(start, window)?;
                let cell = match end.has_escapes {
                    true if is_wanted => decode_value(self.visitor.cells(), cursor.text, (start, end.quote))?,
                    _ => Cell::raw((start, end.quote)),
                };
                (cell, end.quote + 1)
            }
            b'{' | b'[' => {
                let end = cursor.container_end(at + 1)?;
                (Cell::raw((at, end)), end)
            }
            _ => {
                let end = cursor.scalar_end(at, window)?;
                let is_missing = first == b'n' && is_null(bytes_of(cursor.text, (at, end)));
                (if is_missing { Cell::Missing } else { Cell::raw((at, end)) }, end)
            }
        };
        if is_wanted {
            self.visitor.value(cell);
        }
        Ok(end)
    }

    /// Goes past the comma after a value, or to the closing bracket.
    #[inline(always)]
    fn after_value(&self, at: usize) -> Result<TokenPlace, Violation> {
        let at = self.cursor.skip_space(at);
        match self.cursor.byte(at) {
            b',' => Ok(TokenPlace::Item(self.cursor.skip_space(at + 1))),
            b'}' => Ok(TokenPlace::Close(at)),
            _ => Err((at, "expected ',' or a closing bracket after a value")),
        }
    }

    /// Checks that nothing follows the object.
    #[inline(always)]
    fn nothing_follows(&self, at: usize) -> Result<(), Violation> {
        let at = self.cursor.skip_space(at);
        if at < self.cursor.end { Err((at, "unexpected text after the object")) } else { Ok(()) }
    }
}
