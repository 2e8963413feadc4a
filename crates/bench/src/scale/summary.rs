//! What a file holds besides what was measured: what follows from it, for programs that read the file. When comb reads
//! it, all that is found anew.

use serde::Serialize;

use super::{Record, Scale, Width};
use crate::laws::{Amdahl, Estimate, Fitted, Law, Usl};

/// What is written to a file.
#[derive(Clone, Serialize)]
pub(super) struct Saved {
    #[serde(flatten)]
    record: Record,
    summary: Summary,
}

/// What follows from what was measured. Numbers that are infinite or not known are null.
#[derive(Clone, Serialize)]
struct Summary {
    widths: Vec<Row>,
    pays_up_to: Option<usize>,
    bound_by_processors: bool,
    amdahl: Option<AmdahlSummary>,
    usl: Option<UslSummary>,
}

/// Medians, in seconds, and what they are in comparison.
#[derive(Clone, Serialize)]
struct Row {
    width: Width,
    wall: f64,
    wall_spread: f64,
    cpu: f64,
    speed_up: f64,
    efficiency: f64,
    busy: f64,
    to_best: f64,
}

#[derive(Clone, Serialize)]
struct AmdahlSummary {
    serial_fraction: Estimate,
    #[serde(flatten)]
    fit: Fit,
}

#[derive(Clone, Serialize)]
struct UslSummary {
    contention: Estimate,
    coherency: Estimate,
    peak: Estimate,
    #[serde(flatten)]
    fit: Fit,
}

/// What fits of all laws have.
#[derive(Clone, Serialize)]
struct Fit {
    fitted_to: Vec<usize>,
    relative_error: f64,
    predictions: Vec<Prediction>,
}

#[derive(Clone, Serialize)]
struct Prediction {
    width: usize,
    speed_up: Estimate,
}

impl From<Scale> for Saved {
    fn from(scale: Scale) -> Self {
        let Scale { record, analysis } = scale;
        let cores = record.machine.cores.get();
        let row = |row: &super::analysis::Row| Row {
            width: row.width,
            wall: row.wall.median(),
            wall_spread: row.wall.spread(),
            cpu: row.cpu.median(),
            speed_up: analysis.speed_up(row.wall.median()),
            efficiency: analysis.efficiency(row),
            busy: row.busy,
            to_best: analysis.to_best(row),
        };
        let amdahl = |fitted: &Fitted<Amdahl>| AmdahlSummary {
            serial_fraction: fitted.estimate(Amdahl::serial_fraction),
            fit: Fit::new(fitted, cores),
        };
        let usl = |fitted: &Fitted<Usl>| UslSummary {
            contention: fitted.estimate(Usl::contention),
            coherency: fitted.estimate(Usl::coherency),
            peak: fitted.estimate(Usl::peak),
            fit: Fit::new(fitted, cores),
        };
        let summary = Summary {
            widths: analysis.rows.iter().map(row).collect(),
            pays_up_to: analysis.pays_up_to,
            bound_by_processors: analysis.bound.by_processors,
            amdahl: analysis.amdahl.as_ref().ok().map(amdahl),
            usl: analysis.usl.as_ref().ok().map(usl),
        };
        Self { record, summary }
    }
}

impl Fit {
    fn new<L: Law<P>, const P: usize>(fitted: &Fitted<L>, cores: usize) -> Self {
        let prediction =
            |width: usize| Prediction { width, speed_up: fitted.estimate(|law| law.speed_up(width as f64)) };
        Self {
            fitted_to: fitted.widths.clone(),
            relative_error: fitted.error,
            predictions: [2, 4].map(|times| prediction(times * cores)).to_vec(),
        }
    }
}
