//! Prints lines as text, JSON or records.

pub(crate) mod excerpt;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod link;
mod matches;
pub(crate) mod paint;
pub(crate) mod records;

use std::time::Duration;

pub(crate) use matches::Matches;

/// Mark for the part of a line that was left out.
pub const CUT: &str = "…";

/// Statistics collected while lines are printed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Number of matching lines, including those printed as matches in the context of the last counted match.
    pub(crate) lines: u64,
    /// Number of matches in these lines, if they were searched for.
    pub(crate) matches: u64,
    /// Number of printed bytes, without colour escapes.
    pub(crate) bytes: u64,
    /// Number of bytes in colour escapes, which ripgrep does not count as printed.
    pub(crate) color_bytes: u64,
    /// Time that the search took, if it is measured.
    pub(crate) elapsed: Duration,
    /// Matches were printed without their definitions, as the file is too large for a parser.
    pub(crate) lacks_definitions: bool,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.matches += other.matches;
        self.bytes += other.bytes;
        self.color_bytes += other.color_bytes;
        self.elapsed += other.elapsed;
        self.lacks_definitions |= other.lacks_definitions;
    }
}
