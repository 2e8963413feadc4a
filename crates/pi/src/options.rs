//! Options of a computation.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

/// Options of a computation.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Maximum number of concurrent threads, including the caller's.
    pub threads: NonZeroUsize,
    /// Receives the fraction of the work that is done, from 0.0 to 1.0.
    ///
    /// Any of the threads may call it, one at a time and with increasing values, at most 1,000 times per computation;
    /// the last value is 1.0. The values are in proportion to the expected number of operations.
    pub progress: Option<&'a (dyn Fn(f64) + Sync)>,
    /// Stops the computation when set to `true`: [`digits`](crate::digits) then fails with [`Error::Stopped`](crate::Error::Stopped) once the multiplications
    /// in progress are done, which for a hundred million digits may take seconds.
    pub stop: Option<&'a AtomicBool>,
}

impl Options<'_> {
    /// Options with this number of threads, without progress reports and without a way to stop.
    pub fn new(threads: NonZeroUsize) -> Self {
        Self { threads, progress: None, stop: None }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("threads", &self.threads)
            .field("progress", &self.progress.is_some())
            .field("stop", &self.stop)
            .finish()
    }
}
