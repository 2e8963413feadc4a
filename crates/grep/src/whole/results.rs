//! Results in the output of ripgrep's printers, for the limit on their number.

use finecomb_scan::Output;

use super::definitions::{Piece, Role};
use crate::options::GrepOptions;

/// Positions of the results in the output of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Results {
    /// Where the results begin, each with the context before it.
    pub(super) starts: Vec<usize>,
    /// The end of the last one.
    pub(super) end: usize,
}

impl Results {
    /// The results among lines.
    pub(super) fn of_pieces(pieces: &[Piece], options: &GrepOptions) -> Self {
        let (mut starts, mut next_start) = (Vec::new(), 0);
        for piece in pieces {
            match piece.role {
                Role::Match => {
                    starts.push(next_start);
                    next_start = piece.end;
                }
                Role::After => next_start = piece.end,
                // All lines are printed, so those before a match do not belong to it.
                Role::Before if options.passthru => next_start = piece.end,
                Role::Before | Role::Gap => {}
            }
        }
        let end = pieces.last().map_or(0, |piece| piece.end);
        Self { starts, end }
    }

    /// The results among JSON messages.
    pub(super) fn of_messages(printed: &[u8], options: &GrepOptions) -> Self {
        let (mut starts, mut end, mut at) = (Vec::new(), 0, 0);
        // Messages of context may follow the first match.
        let mut after = 0;
        for message in printed.split_inclusive(|&byte| byte == b'\n') {
            let start = at;
            at += message.len();
            if message.starts_with(br#"{"type":"match","#) {
                starts.push(end);
                (end, after) = (at, options.after_context);
            } else if message.starts_with(br#"{"type":"context","#) {
                if after > 0 || options.passthru {
                    end = at;
                }
                after = after.saturating_sub(1);
            } else if message.starts_with(br#"{"type":"begin","#) {
                end = at;
            } else {
                // The end of the file.
                return Self { starts, end: start };
            }
        }
        Self { starts, end: at }
    }

    /// The only result of a file of which a name or a count is printed.
    pub(super) fn one(printed: &[u8]) -> Self {
        Self { starts: if printed.is_empty() { Vec::new() } else { vec![0] }, end: printed.len() }
    }

    /// Marks the results in the output that follows.
    pub(super) fn mark(&self, out: &mut Output<'_>) {
        let from = out.bytes().len();
        for start in &self.starts {
            out.begin_result_at(from + start);
        }
        out.begin_rest_at(from + self.end);
    }
}
