//! How to scan: how many workers, how large the blocks, how long a line may be.

use std::sync::Arc;

use finecomb_meter::Detail;
use finecomb_sys::threads::cores;

use crate::progress::Watch;
use crate::source::{LONG_LINE, NulEnds};
use crate::stop::Stop;

/// The largest number of workers.
pub const MAX_WIDTH: usize = 1024;

/// The largest block, in bytes. With [`MAX_LINE_LIMIT`] it keeps every position within a block below 2^32.
pub const MAX_BLOCK_SIZE: usize = 1 << 30;

/// The largest limit on the length of a line, in bytes.
pub const MAX_LINE_LIMIT: usize = 1 << 31;

/// How many workers a job has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// As many as do best, which is found out while the job runs. It begins with one for each processor that this process
    /// may use, by its affinity and its control group; where files have to come from storage there are more, up to 32
    /// or the number of processors, and where workers have nothing to do there are fewer.
    #[default]
    Auto,
    /// So many, from 1 to [`MAX_WIDTH`].
    Fixed(usize),
    /// Now more, now fewer, at random.
    #[cfg(test)]
    Restless(u64),
}

impl Width {
    /// How many processors this process may use.
    pub(crate) fn processors() -> usize {
        cores().get().min(MAX_WIDTH)
    }
}

/// How to scan. The defaults suit nearly every job.
#[derive(Clone)]
pub struct ScanOptions<'a> {
    /// How many workers there are. Default: as many as do best.
    pub width: Width,
    /// How many bytes a worker takes at a time, from 1 to [`MAX_BLOCK_SIZE`]. Default: 128 KiB, which stays in a
    /// core's second-level cache between the copy from the kernel and the last phase of the work. From 32 to
    /// 512 KiB the speed was measured to differ by about 5 %.
    pub block_size: usize,
    /// How many bytes a line may have, without its end, up to [`MAX_LINE_LIMIT`]. Longer ones are left out and
    /// reported. Default: 64 MiB.
    pub max_line: usize,
    /// The byte that ends a line. Default: a line feed.
    pub line_end: u8,
    /// What to measure of where the time goes. Default: nothing.
    pub profile: Detail,
    /// Ends the job early when it is raised. Default: none.
    pub stop: Option<Arc<Stop>>,
    /// Is shown how far the job is. Default: none.
    pub watch: Option<Watch<'a>>,
}

impl Default for ScanOptions<'_> {
    fn default() -> Self {
        Self {
            width: Width::Auto,
            block_size: 128 << 10,
            max_line: 64 << 20,
            line_end: b'\n',
            profile: Detail::Nothing,
            stop: None,
            watch: None,
        }
    }
}

impl ScanOptions<'_> {
    /// These options with every number brought into its bounds.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            block_size: self.block_size.clamp(1, MAX_BLOCK_SIZE),
            max_line: self.max_line.min(MAX_LINE_LIMIT),
            line_end: self.line_end,
            nul_ends: NulEnds::Nowhere,
        }
    }
}

/// The numbers of [`ScanOptions`], within their bounds.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) block_size: usize,
    pub(crate) max_line: usize,
    pub(crate) line_end: u8,
    pub(crate) nul_ends: NulEnds,
}

impl Bounds {
    /// These bounds with other ends of lines. Where no line may become that long, nothing is gained by cutting long ones.
    pub(crate) fn with_ends(self, nul_ends: NulEnds) -> Self {
        let cuts_nothing = nul_ends == NulEnds::LongLines && self.max_line < LONG_LINE;
        Self { nul_ends: if cuts_nothing { NulEnds::Nowhere } else { nul_ends }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nuls_cut_long_lines_only_where_lines_may_become_long() {
        let ends = |max_line, nul_ends| {
            let options = ScanOptions { max_line, ..ScanOptions::default() };
            options.bounds().with_ends(nul_ends).nul_ends
        };
        assert_eq!(ends(LONG_LINE, NulEnds::LongLines), NulEnds::LongLines);
        assert_eq!(ends(LONG_LINE - 1, NulEnds::LongLines), NulEnds::Nowhere);
        assert_eq!(ends(LONG_LINE - 1, NulEnds::Everywhere), NulEnds::Everywhere);
    }
}
