//! Scaling of a job of comb: its times at each width, and the laws fitted to them.

mod analysis;
mod jobs;
mod notes;
mod plot;
mod record;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use self::analysis::Analysis;
use self::jobs::Scalable;
pub use self::record::Width;
use self::record::{Case, Record, default_widths};
use crate::cache::CacheDropper;
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::rounds::{Progress, Step, distinct, in_turns};
use crate::run::Digest;
use crate::table::Table;
use crate::units::{Unit, ratio};
use crate::{Error, Result};

/// Options of the experiment.
pub struct ScaleOptions {
    /// The program, which is comb.
    pub program: PathBuf,
    /// The command that it is to run, with its arguments but for a width.
    pub job: Vec<OsString>,
    /// The widths to run it at; those of [`default_widths`] if there are none.
    pub widths: Vec<Width>,
    /// Number of runs at each width.
    pub runs: NonZeroUsize,
    /// Whether caches are dropped before each run.
    pub cold: bool,
    /// A file that `cat` writes into the job's standard input.
    pub pipe: Option<PathBuf>,
}

/// Measurements, and their analysis.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Record")]
pub struct Scale {
    #[serde(flatten)]
    record: Record,
    #[serde(rename = "summary")]
    analysis: Analysis,
}

/// Runs a job at all widths, in turns, so often as is wanted at each.
///
/// Before that it is run once at each width to see whether it always writes the same; this round also warms the caches.
/// For cold runs, what the job reads is dropped from memory before each run, and the program itself is brought back.
///
/// # Errors
///
/// If the job is none that has a width, or sets its own; if a run fails; if standard output is not the same at each
/// width.
pub fn scale(options: &ScaleOptions, progress: Progress<'_>) -> Result<Scale> {
    let machine = Machine::here();
    let job = Scalable::new(options.program.clone(), &options.job, options.pipe.clone())?;
    let default = if options.widths.is_empty() { default_widths(machine.cores) } else { Vec::new() };
    let widths = distinct(options.widths.iter().copied().chain(default));
    let dropper = options.cold.then(|| CacheDropper::new(job.paths())).transpose()?;
    let total = widths.len() * (1 + options.runs.get());
    let name = |width: &Width| format!("{}: width {width}", job.line());
    let told = |step: Step<'_>| progress(Step { total, ..step });
    let digests = in_turns(&widths, NonZeroUsize::MIN, name, &told, |&width| job.at(width).digest())?;
    let output = same_output(&job, &widths, digests.into_iter().flatten().collect())?;
    let told = |step: Step<'_>| progress(Step { done: widths.len() + step.done, total, ..step });
    let mut cold = None;
    let runs = in_turns(&widths, options.runs, name, &told, |&width| {
        if let Some(dropper) = &dropper {
            cold = Some(dropper.drop_and_verify(cold));
            job.awaken()?;
        }
        job.at(width).measure()
    })?;
    let cases = widths.iter().zip(runs).map(|(&width, runs)| Case { width, runs }).collect();
    Ok(Scale::new(Record { job: job.line(), machine, cold, output, cases }))
}

/// Output of the job, if it is the same at all widths.
fn same_output(job: &Scalable, widths: &[Width], digests: Vec<Digest>) -> Result<Digest> {
    let first = digests.first().cloned().unwrap_or_default();
    let (same, other): (Vec<_>, Vec<_>) =
        widths.iter().zip(&digests).partition(|(_, digest)| **digest == first);
    if other.is_empty() {
        return Ok(first);
    }
    let listed = |cases: Vec<(&Width, &Digest)>| notes::listed(cases.iter().map(|(width, _)| width));
    let (line, same, other) = (job.line(), listed(same), listed(other));
    Err(Error::Other(format!("{line}: output at width {other} differs from output at width {same}")))
}

impl Scale {
    fn new(record: Record) -> Self {
        let analysis = Analysis::new(&record);
        Self { record, analysis }
    }

    fn unit(&self) -> Unit {
        Unit::of(self.analysis.rows.iter().map(|row| row.wall.median()))
    }

    fn runs(&self) -> usize {
        self.record.cases.iter().map(|case| case.runs.len()).max().unwrap_or(0)
    }
}

/// Compares the records, from which all else follows.
impl PartialEq for Scale {
    fn eq(&self, other: &Self) -> bool {
        self.record == other.record
    }
}

impl TryFrom<Record> for Scale {
    type Error = String;

    fn try_from(record: Record) -> Result<Self, String> {
        record.check()?;
        Ok(Self::new(record))
    }
}

impl Experiment for Scale {
    const NAME: &'static str = "scale";

    fn heading(&self) -> String {
        format!("{}: {}", self.record.job, notes::circumstances(self))
    }

    fn table(&self) -> Table {
        let unit = self.unit();
        Table::of(
            &self.analysis.rows,
            [
                ("width", &|row| row.width.to_string()),
                (&unit.label("wall"), &|row| unit.number(row.wall.median())),
                (&unit.label("spread"), &|row| unit.number(row.wall_spread)),
                (&unit.label("CPU"), &|row| unit.number(row.cpu.median())),
                ("speed-up", &|row| ratio(row.speed_up, 1.0)),
                ("efficiency", &|row| ratio(row.efficiency, 1.0)),
                ("busy", &|row| ratio(row.busy, 1.0)),
                ("to best", &|row| ratio(row.to_best, 1.0)),
            ],
        )
    }

    fn notes(&self) -> Vec<String> {
        notes::notes(self)
    }

    fn picture(&self) -> Option<String> {
        Some(plot::chart(self).svg())
    }
}
