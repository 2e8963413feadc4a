//! The phases of a worker.
//!
//! A new phase is a variant at its place in the order, also in [`Phase::ALL`]. The compiler asks for its name, mark and colour; no other phase
//! may have the same. docs/profile.schema.json and docs/commands/profile.md describe it, and `IDLE` in the page of `finecomb-serve` lists phases without
//! work; no test asks for these. A job enters it by [`Meter::enter`](crate::Meter::enter).

use std::fmt;

/// A kind of work or of waiting. The start of the worker is first, the phases of work follow in the order in which a
/// block passes through them, and the phases without work are last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Time from the start of the job until the thread runs.
    Start,
    /// Opening indexes and looking up what they know of the query.
    Lookup,
    /// Listing a directory and selecting entries.
    Walk,
    /// Comparing files with what an index knows of them.
    Check,
    /// Opening a file and querying its size; closing the previous one.
    Open,
    /// Reading, including the wait for storage.
    Read,
    /// Decompressing or transcoding, including the reading of its input.
    Decompress,
    /// Searching a block for matches.
    Search,
    /// Splitting a block into records.
    Split,
    /// Filtering records by regular expressions.
    Filter,
    /// Extracting the fields of keys.
    Extract,
    /// Rewriting keys.
    Edit,
    /// Hashing and counting keys.
    Count,
    /// Writing a full table to a temporary file.
    Spill,
    /// Merging the results of the workers.
    Merge,
    /// Formatting output, and writing it or queueing it for the writing thread.
    Print,
    /// Waiting for work, for other threads (also after the thread has ended), for its turn with a block, or for room in
    /// the output queue (back-pressure).
    Wait,
    /// Parked, as fewer workers are faster at the moment.
    Park,
}

/// Number of phases.
pub(crate) const PHASES: usize = Phase::ALL.len();

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 18] = [
        Self::Start,
        Self::Lookup,
        Self::Walk,
        Self::Check,
        Self::Open,
        Self::Read,
        Self::Decompress,
        Self::Search,
        Self::Split,
        Self::Filter,
        Self::Extract,
        Self::Edit,
        Self::Count,
        Self::Spill,
        Self::Merge,
        Self::Print,
        Self::Wait,
        Self::Park,
    ];

    /// Name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Lookup => "lookup",
            Self::Walk => "walk",
            Self::Check => "check",
            Self::Open => "open",
            Self::Read => "read",
            Self::Decompress => "decompress",
            Self::Search => "search",
            Self::Split => "split",
            Self::Filter => "filter",
            Self::Extract => "extract",
            Self::Edit => "edit",
            Self::Count => "count",
            Self::Spill => "spill",
            Self::Merge => "merge",
            Self::Print => "print",
            Self::Wait => "wait",
            Self::Park => "park",
        }
    }

    /// Character of the phase in text bars.
    pub const fn mark(self) -> char {
        match self {
            Self::Start => ':',
            Self::Lookup => 'i',
            Self::Walk => 'w',
            Self::Check => 'k',
            Self::Open => 'o',
            Self::Read => 'r',
            Self::Decompress => 'z',
            Self::Search => 's',
            Self::Split => 'l',
            Self::Filter => 'f',
            Self::Extract => 'e',
            Self::Edit => 'd',
            Self::Count => 'c',
            Self::Spill => 'x',
            Self::Merge => 'm',
            Self::Print => 'p',
            Self::Wait => '.',
            Self::Park => '_',
        }
    }

    /// Colour in charts, as red, green and blue: bluish for files, greenish for text, reddish for counting, grey for
    /// waiting.
    pub const fn color(self) -> (u8, u8, u8) {
        match self {
            Self::Start => (0xcb, 0xc6, 0xba),
            Self::Lookup => (0x3a, 0x1b, 0x5e),
            Self::Walk => (0x1b, 0x3a, 0x6b),
            Self::Check => (0x2a, 0x8c, 0xa8),
            Self::Open => (0x3b, 0x6f, 0xb6),
            Self::Read => (0x56, 0xb4, 0xe9),
            Self::Decompress => (0x7a, 0x5a, 0xc8),
            Self::Search => (0x00, 0x9e, 0x73),
            Self::Split => (0x5f, 0xc4, 0x8d),
            Self::Filter => (0x8f, 0xa8, 0x2b),
            Self::Extract => (0xf0, 0xd0, 0x42),
            Self::Edit => (0xe6, 0x9f, 0x00),
            Self::Count => (0xd5, 0x5e, 0x00),
            Self::Spill => (0x9c, 0x1c, 0x3c),
            Self::Merge => (0xcc, 0x79, 0xa7),
            Self::Print => (0x8c, 0x51, 0x2d),
            Self::Wait => (0xb4, 0xb4, 0xb4),
            Self::Park => (0xe2, 0xe2, 0xe2),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_phases_are_listed_in_order() {
        for (index, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, index);
        }
    }

    #[test]
    fn no_two_phases_look_alike() {
        let marks: HashSet<_> = Phase::ALL.iter().map(|phase| phase.mark()).collect();
        let colors: HashSet<_> = Phase::ALL.iter().map(|phase| phase.color()).collect();
        assert_eq!((marks.len(), colors.len()), (PHASES, PHASES));
    }
}
