//! Records of [`Records::Started`](super::Records::Started): where they begin in a text that may be known only in part.

use memchr::{memchr, memrchr};

use super::start::{LineRole, RecordStart};

/// Maximum number of bytes of a line that decide its role, so that no more is needed of the line after a record.
pub(crate) const JUDGED: usize = if cfg!(test) { 50 } else { 64 << 10 };

/// A rule, and the byte that ends lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started<'r> {
    pub(crate) start: &'r RecordStart,
    pub(crate) line_end: u8,
}

/// Position of a search from line to line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineCursor {
    /// Start of the line.
    pub(crate) line: usize,
    /// The line has no end before this position.
    searched: usize,
    /// Whether the line has been judged, although its end is not known.
    pub(crate) is_judged: bool,
    /// Whether a line before it was one that [`LineRole::Opens`], and none has taken its effect since. `None` if no line decides that.
    pub(crate) is_open: Option<bool>,
}

impl LineCursor {
    /// A search from the line at `line` on.
    pub(crate) fn at(line: usize, is_open: Option<bool>) -> Self {
        Self { line, searched: line, is_judged: false, is_open }
    }

    /// A search from the first byte on, which may be within a line that has been judged.
    pub(crate) fn first(is_judged: bool, is_open: bool) -> Self {
        Self { is_judged, ..Self::at(0, Some(is_open)) }
    }
}

/// The last beginning of a record in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastStart {
    /// Its position, if there is one.
    start: Option<usize>,
    /// Whether it is none after a line that [`LineRole::Opens`] before the text. Then there is no other either.
    is_conditional: bool,
    /// [`LineCursor::is_open`] after the text.
    is_open: Option<bool>,
    /// Start of a line without an end that could not be judged; the length of the text if there is none.
    pub(crate) rest: usize,
    /// Whether the text ends within a line that was judged.
    pub(crate) ends_in_line: bool,
}

impl LastStart {
    /// Position of the last beginning, and the state after the text, by the state before it.
    pub(crate) fn after(&self, is_open: bool) -> (Option<usize>, bool) {
        let start = self.start.filter(|_| !(self.is_conditional && is_open));
        (start, self.is_open.unwrap_or(is_open))
    }

    /// The state after the text, unless it is that before it.
    pub(crate) fn is_open(&self) -> Option<bool> {
        self.is_open
    }
}

impl Started<'_> {
    /// Role of the line that these bytes begin with, without its end.
    fn role(&self, line: &[u8]) -> LineRole {
        self.start.role_before(self.line_end, line)
    }

    /// Moves to the line after the next one that begins a record, and returns the position of that. Returns `None` once more of the
    /// text is needed; `is_all` says that there is no more. The caller decides about a record if [`LineCursor::is_open`] is `None`.
    pub(crate) fn next(&self, cursor: &mut LineCursor, text: &[u8], is_all: bool) -> Option<usize> {
        loop {
            let end = memchr(self.line_end, text.get(cursor.searched..)?).map(|end| cursor.searched + end);
            let LineCursor { line, is_judged, .. } = *cursor;
            let known = &text[line..end.unwrap_or(text.len())];
            let is_known = end.is_some() || known.len() >= JUDGED || is_all && !known.is_empty();
            match end {
                Some(end) => (cursor.line, cursor.searched, cursor.is_judged) = (end + 1, end + 1, false),
                None => {
                    cursor.searched = text.len();
                    cursor.is_judged |= is_known;
                }
            }
            if is_known && !is_judged && self.begins(known, &mut cursor.is_open) {
                return Some(line);
            }
            end?;
        }
    }

    /// Whether a line begins a record. Advances the state past it if that is known.
    pub(super) fn begins(&self, line: &[u8], is_open: &mut Option<bool>) -> bool {
        match self.role(line) {
            LineRole::Continues => false,
            LineRole::Opens => {
                *is_open = Some(true);
                false
            }
            LineRole::Begins if *is_open == Some(true) => {
                *is_open = Some(false);
                false
            }
            LineRole::Begins => true,
        }
    }

    /// Finds the last beginning of a record in a text, which begins with a line. Examines as few lines as possible, from its end.
    pub(crate) fn last(&self, text: &[u8]) -> LastStart {
        let mut end = memrchr(self.line_end, text).map_or(0, |end| end + 1);
        let ends_in_line = text.len() - end >= JUDGED;
        let rest = if ends_in_line { text.len() } else { end };
        let mut found = LastStart { start: None, is_conditional: false, is_open: None, rest, ends_in_line };
        if ends_in_line && self.precedes(&mut found, end, &text[end..]) {
            return found;
        }
        while end > 0 {
            let line_end = end - 1;
            end = memrchr(self.line_end, &text[..line_end]).map_or(0, |end| end + 1);
            if self.precedes(&mut found, end, &text[end..line_end]) {
                break;
            }
        }
        found
    }

    /// Takes the line before those that were examined. Returns whether the last beginning is found.
    fn precedes(&self, found: &mut LastStart, at: usize, line: &[u8]) -> bool {
        match self.role(line) {
            LineRole::Continues => return false,
            LineRole::Opens => {
                found.is_open.get_or_insert(true);
                (found.start, found.is_conditional) = (None, false);
            }
            LineRole::Begins => {
                found.is_open.get_or_insert(false);
                if found.start.is_some() {
                    // It takes the effect of lines before it.
                    found.is_conditional = false;
                    return true;
                }
                (found.start, found.is_conditional) = (Some(at), self.start.may_open());
            }
        }
        found.start.is_some() && !found.is_conditional
    }

    /// Position of the first beginning of a record in `text` after the end of a line at `position` or after it. `text` begins with a
    /// record.
    pub(crate) fn first_from(&self, text: &[u8], position: usize) -> Option<usize> {
        let mut cursor = LineCursor::at(0, Some(false));
        std::iter::from_fn(|| self.next(&mut cursor, text, true)).find(|&start| start > position)
    }

    /// Length of a record without its last line end.
    pub(crate) fn length(&self, record: &[u8]) -> usize {
        record.len() - usize::from(record.last() == Some(&self.line_end))
    }
}
