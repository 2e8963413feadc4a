//! Prints the lines of a record.

use grep_matcher::{LineTerminator, Match};

use super::{LinePrinter, Prelude, Role};
use crate::file_state::Line;
use crate::find::{lines, without_terminator};

/// Prints a record line by line, with its matches or their replacements. The fields of its first line are those of the record; the other
/// lines have the fields of context, so that a reader sees where a record begins.
pub(super) fn print(printer: &mut LinePrinter<'_, '_>, bytes: &[u8], shown: &[Match]) {
    let (first, options, terminator) = (printer.prelude, &printer.style.options, printer.style.terminator);
    // Each match is by itself then, with the fields of a match.
    let only_matching = options.only_matching && !shown.is_empty();
    let match_count = printer.match_count;
    if bytes.is_empty() {
        return printer.print(bytes, shown);
    }
    for (number, range) in lines(bytes, terminator).enumerate() {
        let start = range.start;
        let here = matches_in(&bytes[range.clone()], start, shown, terminator);
        if only_matching && here.is_empty() {
            continue;
        }
        let continues = number > 0 && !only_matching;
        let role = if continues { Role::Context } else { first.role };
        let (number, offset) = (first.line.number + number as u64, first.line.offset + start as u64);
        printer.prelude = Prelude { line: Line { number, offset, ..first.line }, role, ..first };
        // Without positions of matches, their number is not known either.
        printer.match_count = match_count.min(here.len());
        printer.print(&bytes[range], &here);
    }
}

/// Returns the parts of matches that are in a line, which begins at `start`, as positions in the line.
fn matches_in(line: &[u8], start: usize, shown: &[Match], terminator: LineTerminator) -> Vec<Match> {
    let text_end = without_terminator(line, terminator).len();
    let first = shown.partition_point(|found| found.end() < start);
    // A replacement may be empty at the end of a line without a terminator.
    let end = start + line.len().max(text_end + 1);
    let inside = shown[first..].iter().take_while(|found| found.start() < end);
    let part = |found: &Match| {
        let within = |at: usize| at.saturating_sub(start).min(text_end);
        let part = Match::new(within(found.start()), within(found.end()));
        // The rest of a match that has only the end of a line here.
        let is_left_out = part.is_empty() && (!found.is_empty() || found.start() < start);
        (!is_left_out).then_some(part)
    };
    inside.filter_map(part).collect()
}
