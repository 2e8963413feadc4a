//! Record of a measurement: widths, all single runs, and the circumstances.

use std::fmt::{self, Display, Formatter};
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::cache::Cold;
use crate::machine::Machine;
use crate::run::{Digest, Measured};
use crate::sample::Sample;

/// The measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ScaleRecord {
    /// The command line, without a width.
    pub(super) job: String,
    pub(super) machine: Machine,
    /// Dropping of caches; `None` for a warm cache.
    pub(super) cold: Option<Cold>,
    /// Output of the job, the same at each width.
    pub(super) output: Digest,
    /// The widths, in ascending order, `auto` last.
    pub(super) cases: Vec<WidthRuns>,
}

/// Measurements at a width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WidthRuns {
    pub(super) width: Width,
    /// The runs, in the order of the rounds.
    pub(super) runs: Vec<Measured>,
}

impl WidthRuns {
    /// Wall times of the runs.
    pub(super) fn wall(&self) -> Sample {
        self.runs.iter().map(|run| run.wall).collect()
    }
}

impl ScaleRecord {
    /// Checks a record that may have been edited.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.cases.is_empty() {
            return Err("no cases".to_owned());
        }
        if !self.cases.is_sorted_by(|left, right| left.width < right.width) {
            return Err("widths are not in ascending order".to_owned());
        }
        for WidthRuns { width, runs } in &self.cases {
            if runs.is_empty() {
                return Err(format!("no runs at width {width}"));
            }
            let is_time = |time: f64| time.is_finite() && time >= 0.0;
            let is_sound =
                |run: &Measured| run.wall > 0.0 && [run.wall, run.user, run.system].into_iter().all(is_time);
            if !runs.iter().all(is_sound) {
                return Err(format!("invalid time of a run at width {width}"));
            }
        }
        Ok(())
    }
}

/// Thread width of a job. Fixed widths sort before `auto`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "SavedWidth", try_from = "SavedWidth")]
pub enum Width {
    /// Exactly this number of threads.
    Fixed(NonZeroUsize),
    /// Adapts at run time.
    Auto,
}

/// Default widths for a number of cores: powers of two up to four times the cores, and at least up to 8.
pub(super) fn default_widths(cores: NonZeroUsize) -> Vec<Width> {
    let most = (cores.get() * 4).max(8);
    let powers = (0..usize::BITS).map(|power| 1 << power).take_while(|&width| width <= most);
    powers.filter_map(NonZeroUsize::new).map(Width::Fixed).collect()
}

impl Width {
    /// The number of threads, if it is fixed.
    pub(super) fn fixed(self) -> Option<usize> {
        match self {
            Self::Fixed(width) => Some(width.get()),
            Self::Auto => None,
        }
    }
}

/// Format of the job's own `--width`.
impl Display for Width {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(width) => width.fmt(formatter),
            Self::Auto => "auto".fmt(formatter),
        }
    }
}

/// A width in a file: a number or `auto`.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or auto")]
enum SavedWidth {
    Number(usize),
    Word(String),
}

impl From<Width> for SavedWidth {
    fn from(width: Width) -> Self {
        width.fixed().map_or_else(|| Self::Word(width.to_string()), Self::Number)
    }
}

impl TryFrom<SavedWidth> for Width {
    type Error = String;

    fn try_from(saved: SavedWidth) -> Result<Self, String> {
        match saved {
            SavedWidth::Number(number) => {
                NonZeroUsize::new(number).map(Self::Fixed).ok_or_else(|| "invalid width 0".to_owned())
            }
            SavedWidth::Word(word) if word == "auto" => Ok(Self::Auto),
            SavedWidth::Word(word) => Err(format!("invalid width '{word}'")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::nonzero;

    fn fixed(width: usize) -> Width {
        Width::Fixed(nonzero(width))
    }

    #[test]
    fn default_widths_are_powers_of_two() {
        for (cores, widths) in [(1, &[1, 2, 4, 8][..]), (2, &[1, 2, 4, 8]), (6, &[1, 2, 4, 8, 16])] {
            let cores = nonzero(cores);
            assert_eq!(default_widths(cores), widths.iter().map(|&width| fixed(width)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn widths_in_files_are_numbers_or_auto() {
        let json = serde_json::to_string(&[fixed(4), Width::Auto]).expect("text");
        assert_eq!(json, "[4,\"auto\"]");
        assert_eq!(serde_json::from_str::<Vec<Width>>(&json).expect("widths"), [fixed(4), Width::Auto]);
        for (wrong, reason) in [
            ("0", "invalid width 0"),
            ("\"all\"", "invalid width 'all'"),
            ("null", "expected a number or auto"),
        ] {
            assert_eq!(serde_json::from_str::<Width>(wrong).expect_err(wrong).to_string(), reason);
        }
    }
}
