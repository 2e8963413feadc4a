//! What follows from what was measured.

use super::Width;
use super::record::{Case, Record};
use crate::laws::{Amdahl, Fitted, Timing, TooFewWidths, Usl, fit};
use crate::run::Measured;
use crate::sample::Sample;

/// A width pays if it is more than so many times as fast as one that is smaller.
const PAYS: f64 = 1.05;
/// A job is bound by the processors if, with as many threads as there are cores, they are busy for so much of the time,
const BUSY: f64 = 0.75;
/// or if a single thread is on one for so much of the time. A job with a large serial part leaves most of many cores idle,
/// and yet it does not wait for anything but processors.
const BUSY_ALONE: f64 = 0.9;

/// What follows from what was measured.
#[derive(Clone, Debug)]
pub(super) struct Analysis {
    pub(super) rows: Vec<Row>,
    /// The smallest fixed width, which the others are compared with, and its median wall time.
    pub(super) base: Option<(usize, f64)>,
    /// The fastest fixed width, and its median wall time.
    pub(super) best: Option<(usize, f64)>,
    /// The smallest width from which no larger one is notably faster.
    pub(super) pays_up_to: Option<usize>,
    pub(super) bound: Bound,
    pub(super) amdahl: Result<Fitted<Amdahl>, TooFewWidths>,
    pub(super) usl: Result<Fitted<Usl>, TooFewWidths>,
}

/// What was measured at a width.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) width: Width,
    pub(super) wall: Sample,
    pub(super) cpu: Sample,
    /// How many processors were busy on average: the median of what the runs say.
    pub(super) busy: f64,
}

/// What holds the job up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    /// Whether it is processors, and not waiting.
    pub(super) by_processors: bool,
    /// Threads that were looked at to find out.
    pub(super) width: usize,
    /// The share of the time for which the processors that they could use were busy.
    pub(super) busy: f64,
}

impl Analysis {
    pub(super) fn new(record: &Record) -> Self {
        let rows: Vec<Row> = record.cases.iter().map(Row::new).collect();
        let fixed: Vec<(usize, f64)> =
            rows.iter().filter_map(|row| Some((row.width.fixed()?, row.wall.median()))).collect();
        let cores = record.machine.cores.get();
        let bound = Bound::new(&rows, cores);
        let most = if bound.by_processors { cores } else { usize::MAX };
        Self {
            base: fixed.first().copied(),
            best: fixed.iter().copied().min_by(|(_, left), (_, right)| left.total_cmp(right)),
            pays_up_to: pays_up_to(&fixed),
            bound,
            amdahl: fit(&timings(record, most)),
            usl: fit(&timings(record, usize::MAX)),
            rows,
        }
    }

    /// How many times as fast a time is as that of the smallest width.
    pub(super) fn speed_up(&self, seconds: f64) -> f64 {
        self.base.map_or(f64::NAN, |(_, base)| base / seconds)
    }

    /// The speed-up for each thread that the smallest width does not have.
    pub(super) fn efficiency(&self, row: &Row) -> f64 {
        let (Some((base, _)), Some(width)) = (self.base, row.width.fixed()) else { return f64::NAN };
        self.speed_up(row.wall.median()) * base as f64 / width as f64
    }

    /// How many times as long as the best fixed width it takes.
    pub(super) fn to_best(&self, row: &Row) -> f64 {
        self.best.map_or(f64::NAN, |(_, best)| row.wall.median() / best)
    }
}

impl Row {
    fn new(case: &Case) -> Self {
        let sample = |of: fn(&Measured) -> f64| case.runs.iter().map(of).collect::<Sample>();
        Self {
            width: case.width,
            wall: sample(|run| run.wall),
            cpu: sample(Measured::cpu),
            busy: sample(|run| run.cpu() / run.wall).median(),
        }
    }
}

impl Bound {
    fn new(rows: &[Row], cores: usize) -> Self {
        let fixed = || rows.iter().filter_map(|row| Some((row.width.fixed()?, row)));
        let at = |(width, row): (usize, &Row), enough: f64| {
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

/// The smallest width from which no larger one is notably faster.
fn pays_up_to(fixed: &[(usize, f64)]) -> Option<usize> {
    let holds = |&(width, seconds): &(usize, f64)| {
        fixed.iter().filter(|(larger, _)| *larger > width).all(|(_, other)| seconds <= other * PAYS)
    };
    fixed.iter().find(|case| holds(case)).map(|&(width, _)| width)
}

/// All single runs at fixed widths up to one.
fn timings(record: &Record, most: usize) -> Vec<Timing> {
    let fixed = record.cases.iter().filter_map(|case| Some((case.width.fixed()?, &case.runs)));
    let taken = fixed.filter(|(width, _)| *width <= most);
    taken.flat_map(|(width, runs)| runs.iter().map(move |run| Timing { width, seconds: run.wall })).collect()
}
