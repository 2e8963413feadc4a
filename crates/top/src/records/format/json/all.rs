//! Visits all members of records, at any depth up to a bound.
//!
//! A record is examined to its end. Objects are walked as in [`super`], and every other value is skipped as there.

use finecomb_sys::simd::{Kernel, Masks, dispatch};

use super::cursor::{RecordCursor, TokenPlace, TokenWindow};
use super::{decode, value};
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
        let Some(at) = self.cursor.object(start)? else { return Ok(()) };
        let mut place = self.cursor.first_item(at, b'}');
        let mut depth = 1;
        loop {
            place = match place {
                TokenPlace::Item(at) => {
                    let (value, window, is_wanted) = self.key(at)?;
                    if is_wanted && depth < MAX_DEPTH && self.cursor.byte(value) == b'{' {
                        depth += 1;
                        self.visitor.enter();
                        self.cursor.first_item(value, b'}')
                    } else {
                        let end = self.value(value, &window, is_wanted)?;
                        self.cursor.after_value(end, b'}')?
                    }
                }
                TokenPlace::Close(at) => {
                    depth -= 1;
                    if depth == 0 {
                        return self.cursor.nothing_follows(at + 1);
                    }
                    self.visitor.leave();
                    self.cursor.after_value(at + 1, b'}')?
                }
            };
        }
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
        Ok((cursor.after_key(end.quote + 1)?, window, is_wanted))
    }

    /// Visits a value if it is wanted. Returns the position after it.
    #[inline(always)]
    fn value(&mut self, at: usize, window: &TokenWindow, is_wanted: bool) -> Result<usize, Violation> {
        if !is_wanted {
            return self.cursor.skip_value(at, window);
        }
        let (cell, end) = value(self.cursor, self.visitor.cells(), at, window)?;
        self.visitor.value(cell);
        Ok(end)
    }
}
