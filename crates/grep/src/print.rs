//! What is printed of lines.

pub(crate) mod json;
pub(crate) mod lines;
mod matches;
pub(crate) mod paint;

use std::time::Duration;

pub(crate) use matches::Matches;

/// What is counted while lines are printed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Lines that match, with those that are printed in the context of the last one that counts.
    pub(crate) lines: u64,
    /// Matches in them, if they were looked for.
    pub(crate) matches: u64,
    /// Bytes that were printed.
    pub(crate) bytes: u64,
    /// Bytes of these that switch colours, which ripgrep does not count.
    pub(crate) colors: u64,
    /// How long the search took, if that is wanted.
    pub(crate) elapsed: Duration,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.matches += other.matches;
        self.bytes += other.bytes;
        self.colors += other.colors;
        self.elapsed += other.elapsed;
    }
}
