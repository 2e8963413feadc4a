//! The flag for the number of threads, of commands that do not scan.

use std::num::NonZeroUsize;

use clap::Args;
use finecomb_sys::threads::cores;

/// How many threads a command has.
#[derive(Args)]
pub(crate) struct Threads {
    /// How many threads work [default: as many as this process may use cores]
    #[arg(short, long, value_name = "N", visible_alias = "threads")]
    width: Option<NonZeroUsize>,
}

impl Threads {
    pub(crate) fn count(&self) -> NonZeroUsize {
        self.width.unwrap_or_else(cores).min(MOST_THREADS)
    }
}

/// More threads than this are no use, and could exhaust what a system allows.
const MOST_THREADS: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");
