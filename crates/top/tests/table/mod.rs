//! Tables of records that are written in any format, queries of them, and a plain implementation of these queries.
//!
//! The implementation sees the values of the table. It knows nothing of the formats but the texts of their records, which
//! expressions search.

pub(crate) mod number;
pub(crate) mod oracle;
pub(crate) mod question;
pub(crate) mod style;

/// Number of columns of a table.
pub(crate) const COLUMNS: usize = 4;

/// A record of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TableRow {
    Values([Option<String>; COLUMNS]),
    /// A record that does not have the format of its file.
    Malformed,
}

/// A table in a format.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) bytes: Vec<u8>,
    /// The rows as the format can hold them, each with the offset and the text of its record.
    pub(crate) records: Vec<(TableRow, u64, Vec<u8>)>,
}

/// Arbitrary choices among equivalent texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    /// A number less than `count`.
    pub(crate) fn pick(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }

    /// True in one of `count` cases.
    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.pick(count) == 0
    }
}
