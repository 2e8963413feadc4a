//! Options of a scan: those of all jobs, and those that jobs with merged results or with ordered output add.

use std::ops::Range;
use std::sync::Arc;

use finecomb_meter::Detail;
use finecomb_sys::setters;
use finecomb_sys::threads::cores;

use crate::narrow::Narrow;
use crate::progress::Watch;
use crate::recognize::Recognize;
use crate::records::Records;
use crate::schedule::limit::Limit;
use crate::snapshot::Snapshots;
use crate::source::bounds::{Bounds, MAX_BLOCK_SIZE, MAX_LINE_LIMIT, Mapping, NulEnds};
use crate::stop::Stop;

/// Maximum number of workers.
pub const MAX_WIDTH: usize = 1024;

/// Number of workers of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// Adapts at run time. A job starts with one worker per core available to this process (CPU affinity and control
    /// group). It adds workers while files come from storage, up to the larger of 32 and the number of cores, and parks
    /// workers that have nothing to do.
    #[default]
    Auto,
    /// Exactly this many workers, from 1 to [`MAX_WIDTH`].
    Fixed(usize),
    /// A number that varies at random while the job runs. The value is the seed.
    #[cfg(test)]
    Random(u64),
}

impl Width {
    /// Number of cores available to this process.
    pub(crate) fn processors() -> usize {
        cores().get().min(MAX_WIDTH)
    }
}

setters! {
    /// Options of every scan. The defaults suit nearly every job.
    #[derive(Clone)]
    #[non_exhaustive]
    pub struct ScanOptions<'a> {
        /// Number of workers. Default: [`Width::Auto`].
        pub width: Width = Width::Auto,
        /// Bytes per block, from 1 to [`MAX_BLOCK_SIZE`]. Default: 128 KiB, which stays in the L2 cache of a core from the
        /// copy out of the kernel to the last phase of the work. Measured throughput varies by about 5 % between 32 and 512
        /// KiB.
        pub block_size: usize = 128 << 10,
        /// Maximum length of a line or record without its terminator, in bytes, up to [`MAX_LINE_LIMIT`]. Longer ones are
        /// skipped and reported. Default: 64 MiB.
        pub max_line: usize = 64 << 20,
        /// Line terminator. Default: a line feed.
        pub line_end: u8 = b'\n',
        /// How large files are read. Default: [`Mapping::Auto`].
        pub mapping: Mapping = Mapping::Auto,
        /// How texts are divided into records, unless they are recognised. Default: every line is a record.
        pub records: Records = Records::Lines,
        /// Recognises files by their beginnings, and so decides how they are divided into records. Default: none.
        pub recognize: Option<Arc<dyn Recognize>> = None,
        /// Offsets in each file: only lines that begin there are read, so that files can be divided among several jobs. A file
        /// that cannot be read from an arbitrary offset is read as a whole if the part begins at 0, and otherwise skipped: one that is
        /// compressed or decoded, an archive, a pipe, or one whose records may span lines. Default: all.
        pub part: Option<Range<u64>> = None,
        /// Detail of the time profile. Default: none.
        pub profile: Detail = Detail::Nothing,
        /// Ends the job early when raised. Output that is not yet written is dropped. Default: none.
        pub stop: Option<Arc<Stop>> = None,
        /// Receives the progress of the job. Default: none.
        pub watch: Option<Watch<'a>> = None,
    }
}

setters! {
    /// Options of [`fold`](crate::fold) and [`follow`](crate::follow()).
    #[derive(Clone, Default)]
    #[non_exhaustive]
    pub struct FoldOptions<'a> {
        /// Those of every scan.
        pub scan: ScanOptions<'a>,
        /// Restricts the part of each file that is read. Default: none.
        pub narrow: Option<Arc<dyn Narrow>>,
    }
}

setters! {
    /// Options of [`in_order`](crate::in_order).
    #[derive(Clone)]
    #[non_exhaustive]
    pub struct OrderedOptions<'a> {
        /// Those of every scan.
        pub scan: ScanOptions<'a>,
        /// Snapshots of the trees that are searched. Default: none.
        pub snapshots: Option<Arc<dyn Snapshots>>,
        /// Bound on the output that waits to be written, in bytes. Each worker may hold the output of a few blocks on top of it.
        /// Default: 4 MiB.
        pub pending: usize,
        /// Limit on the number of results that are printed, as visitors [mark](crate::Output::begin_result) them. Default: none.
        pub limit: Option<Limit>,
    }
}

impl<'a> From<ScanOptions<'a>> for FoldOptions<'a> {
    fn from(scan: ScanOptions<'a>) -> Self {
        Self { scan, narrow: None }
    }
}

impl<'a> From<ScanOptions<'a>> for OrderedOptions<'a> {
    fn from(scan: ScanOptions<'a>) -> Self {
        Self { scan, snapshots: None, pending: 4 << 20, limit: None }
    }
}

impl Default for OrderedOptions<'_> {
    fn default() -> Self {
        ScanOptions::default().into()
    }
}

impl ScanOptions<'_> {
    /// The numeric options, clamped to their bounds.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            block_size: self.block_size.clamp(1, MAX_BLOCK_SIZE),
            max_line: self.max_line.min(MAX_LINE_LIMIT),
            line_end: self.line_end,
            mapping: self.mapping,
            nul_ends: NulEnds::Never,
            records: self.records.clone(),
        }
    }
}
