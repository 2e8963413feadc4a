//! Summary in a file besides the measurements, for programs that read the file. comb itself computes it anew.

use serde::{Serialize, Serializer};

use super::analysis::Row;
use super::{Record, Scale};
use crate::laws::{Amdahl, Estimate, Fitted, Law, Usl};

#[derive(Serialize)]
struct Saved<'a> {
    #[serde(flatten)]
    record: &'a Record,
    summary: Summary<'a>,
}

/// Numbers that are infinite or not known are null.
#[derive(Serialize)]
struct Summary<'a> {
    widths: &'a [Row],
    pays_up_to: Option<usize>,
    bound_by_processors: bool,
    amdahl: Option<AmdahlSummary<'a>>,
    usl: Option<UslSummary<'a>>,
}

#[derive(Serialize)]
struct AmdahlSummary<'a> {
    serial_fraction: Estimate,
    #[serde(flatten)]
    fit: Fit<'a>,
}

#[derive(Serialize)]
struct UslSummary<'a> {
    contention: Estimate,
    coherency: Estimate,
    peak: Estimate,
    #[serde(flatten)]
    fit: Fit<'a>,
}

/// Numbers that fits of all laws have.
#[derive(Serialize)]
struct Fit<'a> {
    fitted_to: &'a [usize],
    relative_error: f64,
    predictions: [Prediction; 2],
}

#[derive(Serialize)]
struct Prediction {
    width: usize,
    speed_up: Estimate,
}

impl Serialize for Scale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Scale { record, analysis } = self;
        let cores = record.machine.cores.get();
        let amdahl = |fitted| AmdahlSummary {
            serial_fraction: Fitted::estimate(fitted, Amdahl::serial_fraction),
            fit: Fit::new(fitted, cores),
        };
        let usl = |fitted| UslSummary {
            contention: Fitted::estimate(fitted, Usl::contention),
            coherency: Fitted::estimate(fitted, Usl::coherency),
            peak: Fitted::estimate(fitted, Usl::peak),
            fit: Fit::new(fitted, cores),
        };
        let summary = Summary {
            widths: &analysis.rows,
            pays_up_to: analysis.pays_up_to,
            bound_by_processors: analysis.bound.by_processors,
            amdahl: analysis.amdahl.as_ref().ok().map(amdahl),
            usl: analysis.usl.as_ref().ok().map(usl),
        };
        Saved { record, summary }.serialize(serializer)
    }
}

impl<'a> Fit<'a> {
    fn new<L: Law<P>, const P: usize>(fitted: &'a Fitted<L>, cores: usize) -> Self {
        let predictions = [2 * cores, 4 * cores]
            .map(|width| Prediction { width, speed_up: fitted.estimate(|law| law.speed_up(width as f64)) });
        Self { fitted_to: &fitted.widths, relative_error: fitted.error, predictions }
    }
}
