//! What a worker can be busy with.

use std::fmt;

/// What a worker is busy with. The order is the order in which a block passes through them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Nothing to do: for want of work, for the others to finish, or for the reader of a stream.
    Wait,
    /// Listing a directory.
    Walk,
    /// Opening a file and asking for its size.
    Open,
    /// Copying bytes from the kernel.
    Read,
    /// Looking for matches in a block.
    Search,
    /// Writing out what is printed, or handing it over to whoever writes.
    Print,
    /// Cutting a block into records.
    Split,
    /// Choosing records by regular expressions.
    Filter,
    /// Finding the fields that make up a key.
    Extract,
    /// Rewriting keys.
    Edit,
    /// Hashing keys and counting them.
    Count,
    /// Joining what the workers gathered.
    Merge,
}

impl Phase {
    /// How many phases there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Every phase, in order.
    pub const ALL: [Self; 12] = [
        Self::Wait,
        Self::Walk,
        Self::Open,
        Self::Read,
        Self::Search,
        Self::Print,
        Self::Split,
        Self::Filter,
        Self::Extract,
        Self::Edit,
        Self::Count,
        Self::Merge,
    ];

    /// The phase's name, as reports show it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Walk => "walk",
            Self::Open => "open",
            Self::Read => "read",
            Self::Search => "search",
            Self::Print => "print",
            Self::Split => "split",
            Self::Filter => "filter",
            Self::Extract => "extract",
            Self::Edit => "edit",
            Self::Count => "count",
            Self::Merge => "merge",
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
    use super::*;

    #[test]
    fn all_phases_are_listed_in_order() {
        for (index, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, index);
        }
    }
}
