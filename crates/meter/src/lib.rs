//! Clocks for worker threads: which thread spent how long in which phase.
//!
//! A [`Meter`] belongs to one thread and is always in exactly one [`Phase`]. Changing the phase reads the clock once
//! and books the time since the last change on the phase that ends, so that the phases of a thread add up to
//! its whole running time, with nothing unaccounted for. A meter that is off never reads the clock.
//!
//! ```
//! use finecomb_meter::{Meter, Phase, Report};
//!
//! let mut meter = Meter::on();
//! meter.enter(Phase::Read);
//! meter.add_bytes(4096);
//! meter.enter(Phase::Count);
//! let report = Report::new(vec![meter.finish()]);
//! assert_eq!(report.threads()[0].bytes, 4096);
//! println!("{report}");
//! ```

#![forbid(unsafe_code)]

mod clock;
mod phase;
mod report;

pub use clock::{Meter, ThreadTimes};
pub use phase::Phase;
pub use report::Report;
