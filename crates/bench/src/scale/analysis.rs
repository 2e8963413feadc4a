//! Analysis of the measurements. A file includes a summary for other programs; comb itself recomputes it.

use std::num::NonZeroUsize;

use serde::{Serialize, Serializer};

use super::Width;
use super::record::{ScaleRecord, WidthRuns};
use crate::laws::{Amdahl, Estimate, Fitted, Law, Prediction, Timing, TooFewWidths, Usl, fit};
use crate::run::Measured;
use crate::sample::Sample;

/// Minimum speed-up for which a larger width pays.
const PAYS: f64 = 1.05;
/// Minimum utilisation of the cores by a CPU-bound job with as many threads as cores.
const BUSY: f64 = 0.75;
/// Minimum utilisation by a CPU-bound job at the smallest width. A job with a large serial part is CPU-bound even though it
/// leaves most of many cores idle.
const BUSY_ALONE: f64 = 0.9;

/// Findings from the measurements.
#[derive(Clone, Debug)]
pub(super) struct Analysis {
    cores: NonZeroUsize,
    pub(super) rows: Vec<WidthRow>,
    /// The smallest fixed width, the baseline, and its median wall time.
    pub(super) base: Option<(usize, f64)>,
    /// The fastest fixed width, and its median wall time.
    pub(super) best: Option<(usize, f64)>,
    /// The smallest width such that no larger one pays.
    pub(super) pays_up_to: Option<usize>,
    pub(super) bound: Bound,
    pub(super) amdahl: Result<Fitted<Amdahl>, TooFewWidths>,
    pub(super) usl: Result<Fitted<Usl>, TooFewWidths>,
}

/// Measurements and comparisons at a width: a row of the table, and of the summary in a file.
#[derive(Clone, Debug, Serialize)]
pub(super) struct WidthRow {
    pub(super) width: Width,
    #[serde(serialize_with = "median")]
    pub(super) wall: Sample,
    #[serde(rename = "wall_spread")]
    pub(super) wall_iqr: f64,
    #[serde(serialize_with = "median")]
    pub(super) cpu: Sample,
    /// Speed-up over the smallest width.
    pub(super) speed_up: f64,
    /// Speed-up divided by the factor in threads, both relative to the smallest width.
    pub(super) efficiency: f64,
    /// Average number of busy cores: the median over the runs.
    pub(super) busy: f64,
    /// Wall time relative to the best fixed width.
    pub(super) to_best: f64,
}

fn median<S: Serializer>(sample: &Sample, serializer: S) -> Result<S::Ok, S::Error> {
    sample.median().serialize(serializer)
}

/// The bottleneck of the job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    /// Whether the job is CPU-bound.
    pub(super) by_processors: bool,
    /// Width at which this was determined.
    pub(super) width: usize,
    /// Utilisation of the cores available to that number of threads.
    pub(super) busy: f64,
}

impl Analysis {
    pub(super) fn new(record: &ScaleRecord) -> Self {
        let fixed: Vec<(usize, f64)> = record
            .cases
            .iter()
            .filter_map(|case| Some((case.width.fixed()?, case.wall().median())))
            .collect();
        let base = fixed.first().copied();
        let best = fixed.iter().copied().min_by(|(_, left), (_, right)| left.total_cmp(right));
        let rows: Vec<WidthRow> = record.cases.iter().map(|case| WidthRow::new(case, base, best)).collect();
        let cores = record.machine.cores;
        let bound = Bound::new(&rows, cores.get());
        let most = if bound.by_processors { cores.get() } else { usize::MAX };
        Self {
            cores,
            base,
            best,
            pays_up_to: pays_up_to(&fixed),
            bound,
            amdahl: fit(&timings(record, most)),
            usl: fit(&timings(record, usize::MAX)),
            rows,
        }
    }

    /// The rows of fixed widths.
    pub(super) fn fixed(&self) -> impl Iterator<Item = (usize, &WidthRow)> {
        self.rows.iter().filter_map(|row| Some((row.width.fixed()?, row)))
    }

    /// The row of the width `auto`.
    pub(super) fn auto(&self) -> Option<&WidthRow> {
        self.rows.iter().find(|row| row.width == Width::Auto)
    }

    /// Speed-up of a time over the smallest width.
    pub(super) fn speed_up(&self, seconds: f64) -> f64 {
        self.base.map_or(f64::NAN, |(_, base)| base / seconds)
    }
}

impl WidthRow {
    fn new(case: &WidthRuns, base: Option<(usize, f64)>, best: Option<(usize, f64)>) -> Self {
        let wall = case.wall();
        let speed_up = base.map_or(f64::NAN, |(_, seconds)| seconds / wall.median());
        let widths = base.zip(case.width.fixed());
        Self {
            width: case.width,
            wall_iqr: wall.iqr(),
            cpu: case.runs.iter().map(Measured::cpu).collect(),
            speed_up,
            efficiency: widths.map_or(f64::NAN, |((base, _), own)| speed_up * base as f64 / own as f64),
            busy: case.runs.iter().map(|run| run.cpu() / run.wall).collect::<Sample>().median(),
            to_best: best.map_or(f64::NAN, |(_, best)| wall.median() / best),
            wall,
        }
    }
}

impl Bound {
    fn new(rows: &[WidthRow], cores: usize) -> Self {
        let fixed = || rows.iter().filter_map(|row| Some((row.width.fixed()?, row)));
        let at = |(width, row): (usize, &WidthRow), enough: f64| {
            let busy = row.busy / width.min(cores) as f64;
            Self { by_processors: busy >= enough, width, busy }
        };
        let first = fixed().next().map(|row| at(row, BUSY_ALONE));
        let at_cores = fixed().rfind(|(width, _)| *width <= cores).map(|row| at(row, BUSY));
        let nothing = Self { by_processors: false, width: 0, busy: f64::NAN };
        let found = || [at_cores, first].into_iter().flatten();
        found().find(|bound| bound.by_processors).or(found().next()).unwrap_or(nothing)
    }
}

/// The smallest width such that no larger one pays.
fn pays_up_to(fixed: &[(usize, f64)]) -> Option<usize> {
    let holds = |&(width, seconds): &(usize, f64)| {
        fixed.iter().filter(|(larger, _)| *larger > width).all(|(_, other)| seconds <= other * PAYS)
    };
    fixed.iter().find(|case| holds(case)).map(|&(width, _)| width)
}

/// All single runs at fixed widths up to `most`.
fn timings(record: &ScaleRecord, most: usize) -> Vec<Timing> {
    let fixed = record.cases.iter().filter_map(|case| Some((case.width.fixed()?, &case.runs)));
    let taken = fixed.filter(|(width, _)| *width <= most);
    taken.flat_map(|(width, runs)| runs.iter().map(move |run| Timing { width, seconds: run.wall })).collect()
}

/// Summary in a file. Infinite and unknown numbers are null.
#[derive(Serialize)]
struct Summary<'a> {
    widths: &'a [WidthRow],
    pays_up_to: Option<usize>,
    bound_by_processors: bool,
    amdahl: Option<LawSummary<'a>>,
    usl: Option<LawSummary<'a>>,
}

#[derive(Serialize)]
struct LawSummary<'a> {
    #[serde(flatten, serialize_with = "as_fields")]
    estimates: Vec<(&'static str, Estimate)>,
    fitted_to: &'a [usize],
    relative_error: f64,
    predictions: [Prediction; 2],
}

impl Serialize for Analysis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let amdahl = self.amdahl.as_ref().ok().map(|fitted| {
            let serial_fraction = fitted.estimate(Amdahl::serial_fraction);
            LawSummary::new(fitted, self.cores, vec![("serial_fraction", serial_fraction)])
        });
        let usl = self.usl.as_ref().ok().map(|fitted| {
            let estimates = vec![
                ("contention", fitted.estimate(Usl::contention)),
                ("coherency", fitted.estimate(Usl::coherency)),
                ("peak", fitted.estimate(Usl::peak)),
            ];
            LawSummary::new(fitted, self.cores, estimates)
        });
        let summary = Summary {
            widths: &self.rows,
            pays_up_to: self.pays_up_to,
            bound_by_processors: self.bound.by_processors,
            amdahl,
            usl,
        };
        summary.serialize(serializer)
    }
}

impl<'a> LawSummary<'a> {
    fn new<L: Law<P>, const P: usize>(
        fitted: &'a Fitted<L>,
        cores: NonZeroUsize,
        estimates: Vec<(&'static str, Estimate)>,
    ) -> Self {
        Self {
            estimates,
            fitted_to: &fitted.widths,
            relative_error: fitted.error,
            predictions: fitted.predictions(cores),
        }
    }
}

fn as_fields<S: Serializer>(fields: &[(&'static str, Estimate)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(fields.iter().copied())
}
