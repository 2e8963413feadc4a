//! Scaling of a comb job: its times at each width, and scaling laws fitted to them.

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
pub(crate) use self::jobs::Scalable;
pub use self::record::Width;
use self::record::{ScaleRecord, WidthRuns, default_widths};
use crate::cache::CacheDropper;
use crate::experiment::Experiment;
use crate::machine::Machine;
use crate::rounds::{Progress, RunStep, distinct, interleaved};
use crate::run::Digest;
use crate::table::ResultTable;
use crate::units::{TimeUnit, ratio};
use crate::{Error, Result};

/// Options of the experiment.
pub struct ScaleOptions {
    /// Path of comb.
    pub program: PathBuf,
    /// The command to run, with its arguments except a width.
    pub job: Vec<OsString>,
    /// The widths to run it at; [`default_widths`] if empty.
    pub widths: Vec<Width>,
    /// Number of runs at each width.
    pub runs: NonZeroUsize,
    /// Whether caches are dropped before each run.
    pub cold: bool,
    /// A file that `cat` writes to the standard input of the job.
    pub pipe: Option<PathBuf>,
}

/// Measurements, and their analysis.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "ScaleRecord")]
pub struct Scale {
    #[serde(flatten)]
    record: ScaleRecord,
    #[serde(rename = "summary")]
    analysis: Analysis,
}

/// Runs a job at all widths, in interleaved rounds.
///
/// A first round compares the output of all widths and warms the cache. For cold runs, the inputs of the job are dropped from
/// the cache before each run, and the program itself is loaded again.
///
/// # Errors
///
/// If the command has no width or sets its own, if a run fails, or if standard output differs between widths.
pub fn scale(options: &ScaleOptions, progress: Progress<'_>) -> Result<Scale> {
    let machine = Machine::here();
    let job = Scalable::new(options.program.clone(), &options.job, options.pipe.clone())?;
    let default = if options.widths.is_empty() { default_widths(machine.cores) } else { Vec::new() };
    let widths = distinct(options.widths.iter().copied().chain(default));
    let dropper = options.cold.then(|| CacheDropper::new(job.paths())).transpose()?;
    let total = widths.len() * (1 + options.runs.get());
    let name = |width: &Width| format!("{}: width {width}", job.command_line());
    let report = |step: RunStep<'_>| progress(RunStep { total, ..step });
    let digests = interleaved(&widths, NonZeroUsize::MIN, name, &report, |&width| job.at(width).digest())?;
    let output = same_output(&job, &widths, digests.into_iter().flatten().collect())?;
    let report = |step: RunStep<'_>| progress(RunStep { done: widths.len() + step.done, total, ..step });
    let mut cold = None;
    let runs = interleaved(&widths, options.runs, name, &report, |&width| {
        if let Some(dropper) = &dropper {
            cold = Some(dropper.drop_and_verify(cold));
            job.load_program()?;
        }
        job.at(width).measure()
    })?;
    let cases = widths.iter().zip(runs).map(|(&width, runs)| WidthRuns { width, runs }).collect();
    Ok(Scale::new(ScaleRecord { job: job.command_line(), machine, cold, output, cases }))
}

/// Output of the job, which must be the same at all widths.
pub(crate) fn same_output(job: &Scalable, widths: &[Width], digests: Vec<Digest>) -> Result<Digest> {
    let first = digests.first().cloned().unwrap_or_default();
    let (same, other): (Vec<_>, Vec<_>) =
        widths.iter().zip(&digests).partition(|(_, digest)| **digest == first);
    if other.is_empty() {
        return Ok(first);
    }
    let listed = |cases: Vec<(&Width, &Digest)>| notes::listed(cases.iter().map(|(width, _)| width));
    let (command_line, same, other) = (job.command_line(), listed(same), listed(other));
    Err(Error::Other(format!("{command_line}: output at width {other} differs from output at width {same}")))
}

impl Scale {
    fn new(record: ScaleRecord) -> Self {
        let analysis = Analysis::new(&record);
        Self { record, analysis }
    }

    fn unit(&self) -> TimeUnit {
        TimeUnit::of(self.analysis.rows.iter().map(|row| row.wall.median()))
    }

    fn runs(&self) -> usize {
        self.record.cases.iter().map(|case| case.runs.len()).max().unwrap_or(0)
    }
}

/// Compares the records, which determine everything else.
impl PartialEq for Scale {
    fn eq(&self, other: &Self) -> bool {
        self.record == other.record
    }
}

impl TryFrom<ScaleRecord> for Scale {
    type Error = String;

    fn try_from(record: ScaleRecord) -> Result<Self, String> {
        record.check()?;
        Ok(Self::new(record))
    }
}

impl Experiment for Scale {
    const NAME: &'static str = "scale";

    fn heading(&self) -> String {
        format!("{}: {}", self.record.job, notes::circumstances(self))
    }

    fn table(&self) -> ResultTable {
        let unit = self.unit();
        ResultTable::of(
            &self.analysis.rows,
            [
                ("width", &|row| row.width.to_string()),
                (&unit.label("wall"), &|row| unit.number(row.wall.median())),
                (&unit.label("IQR"), &|row| unit.number(row.wall_iqr)),
                (&unit.label("CPU"), &|row| unit.number(row.cpu.median())),
                ("speed-up", &|row| ratio(row.speed_up, 1.0)),
                ("efficiency", &|row| ratio(row.efficiency, 1.0)),
                ("busy cores", &|row| ratio(row.busy, 1.0)),
                ("vs. best", &|row| ratio(row.to_best, 1.0)),
            ],
        )
    }

    fn notes(&self) -> Vec<String> {
        notes::notes(self)
    }

    fn findings(&self) -> Vec<String> {
        notes::findings(self)
    }

    fn picture(&self) -> Option<String> {
        Some(plot::chart(self).svg())
    }
}
