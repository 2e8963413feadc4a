//! Profiling of worker threads: the time that each thread spends in each phase.
//!
//! A [`Stopwatch`] belongs to a job. A [`Meter`] belongs to one of its threads and is always in exactly one [`Phase`].
//! A change of phase reads the clock once and attributes the time since the last change to the phase that ends. So the
//! phases of a thread add up to the wall time of the job: the time before the thread ran is a phase, and the time after
//! its end counts as waiting. A meter that is off never reads the clock.
//!
//! ```
//! use finecomb_meter::{Detail, Phase, Stopwatch};
//!
//! let stopwatch = Stopwatch::start(Detail::Sums, false);
//! let mut meter = stopwatch.meter();
//! meter.enter(Phase::Read);
//! meter.add_bytes(4096);
//! meter.enter(Phase::Count);
//! let report = stopwatch.report(vec![meter.finish()]).expect("sums are recorded");
//! assert_eq!(report.threads()[0].bytes, 4096);
//! println!("{}", report.text());
//! ```
#![warn(rustdoc::private_intra_doc_links)]

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
