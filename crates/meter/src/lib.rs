//! Clocks for worker threads: which thread spent how long in which phase.
//!
//! A [`Stopwatch`] belongs to a job. A [`Meter`] belongs to one thread of it and is always in exactly one [`Phase`]. Changing
//! the phase reads the clock once and books the time since the last change on the phase that ends, so that the phases of a
//! thread, the time before it ran among them, add up to all of its time since the job began, with nothing unaccounted for. A
//! meter that is off never reads the clock.
//!
//! ```
//! use finecomb_meter::{Detail, Phase, Stopwatch};
//!
//! let stopwatch = Stopwatch::start(Detail::Sums, false);
//! let mut meter = stopwatch.meter();
//! meter.enter(Phase::Read);
//! meter.add_bytes(4096);
//! meter.enter(Phase::Count);
//! let report = stopwatch.report(vec![meter.finish()]).expect("sums were to be kept");
//! assert_eq!(report.threads()[0].bytes, 4096);
//! println!("{}", report.text());
//! ```

#![forbid(unsafe_code)]

mod clock;
mod gauge;
mod phase;
mod report;
mod spans;

pub use clock::{Detail, Meter, Stopwatch, ThreadTimes};
pub use gauge::Activity;
pub use phase::Phase;
pub use report::Report;
pub use spans::{Span, Spans};
