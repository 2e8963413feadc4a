//! Record of a measurement: all single runs, and the circumstances.

use serde::{Deserialize, Serialize};

use super::Width;
use crate::cold::Cold;
use crate::machine::Machine;
use crate::run::{Digest, Measured};

/// The measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The command line, without a width.
    pub job: String,
    /// Machine and time.
    pub machine: Machine,
    /// Dropping of caches; none if the runs were to be warm.
    pub cold: Option<Cold>,
    /// Output of the job, the same at each width.
    pub output: Digest,
    /// The widths, in ascending order, `auto` last.
    pub cases: Vec<Case>,
}

/// Measurements at a width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The width.
    pub width: Width,
    /// The runs, in the order of the rounds.
    pub runs: Vec<Measured>,
}

impl Record {
    /// Checks a record that may have been edited.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.cases.is_empty() {
            return Err("it has no cases".to_owned());
        }
        if !self.cases.is_sorted_by(|left, right| left.width < right.width) {
            return Err("its widths are not in ascending order".to_owned());
        }
        for Case { width, runs } in &self.cases {
            if runs.is_empty() {
                return Err(format!("it has no runs at width {width}"));
            }
            let is_time = |time: f64| time.is_finite() && time >= 0.0;
            let is_sound =
                |run: &Measured| run.wall > 0.0 && [run.wall, run.user, run.system].into_iter().all(is_time);
            if !runs.iter().all(is_sound) {
                return Err(format!("a run at width {width} has taken an impossible time"));
            }
        }
        Ok(())
    }
}
