//! Finds the matching records of a block.

use std::ops::{ControlFlow, Range};

use grep_matcher::Matcher;

use super::Finder;
use crate::condition::Conditions;
use crate::units::Units;

/// How records are found: those with a matching line, or, if matches may span lines, with a match in the record by itself.
#[derive(Clone, Debug)]
pub(crate) struct RecordSearch<M> {
    pub(crate) units: Units,
    /// Whether matches may span lines.
    pub(crate) multiline: bool,
    /// Conditions on records.
    pub(crate) conditions: Conditions<Finder<M>>,
}

impl<M: Matcher> RecordSearch<M> {
    /// Returns `true` if a record meets the conditions.
    pub(super) fn is_met(&self, record: &[u8]) -> Result<bool, M::Error> {
        self.conditions.hold(|finder| finder.is_match_in_record(record, self.multiline))
    }
}

impl<M: Matcher> Finder<M> {
    /// Calls `found` with every record that matches and meets the conditions, until it breaks.
    pub(super) fn records(
        &self,
        search: &RecordSearch<M>,
        bytes: &[u8],
        mut found: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> Result<(), M::Error> {
        let mut found_if_met = |record: Range<usize>| {
            let is_met = search.is_met(&bytes[record.clone()])?;
            Ok(if is_met { found(record) } else { ControlFlow::Continue(()) })
        };
        if search.multiline {
            for record in search.units.iter(bytes, 0) {
                if self.is_match_in_record(&bytes[record.clone()], true)? && found_if_met(record)?.is_break()
                {
                    break;
                }
            }
            return Ok(());
        }
        // The first line of the next record. Its end is known once it has been examined.
        let mut next = 0..0;
        while let Some(line) = self.line_from(bytes, next.clone())? {
            let (start, after) = search.units.around(bytes, next.start, line);
            next = after;
            if found_if_met(start..next.start)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns `true` if a line of a record matches or, with `multiline`, the pattern matches in the record by itself.
    fn is_match_in_record(&self, record: &[u8], multiline: bool) -> Result<bool, M::Error> {
        if multiline {
            // An empty match after the last line is in no line.
            let is_ended = self.terminator.is_suffix(record);
            let found = self.matcher.find(record)?;
            return Ok(found.is_some_and(|found| found.start() < record.len() || !is_ended));
        }
        // A search across lines sees an end of a line between a carriage return and a line feed. Conditions on lines do not.
        let is_crlf = self.terminator.is_crlf();
        let line = if is_crlf { self.line_by_itself(record, 0) } else { self.line_from(record, 0..0) };
        Ok(line?.is_some())
    }
}
