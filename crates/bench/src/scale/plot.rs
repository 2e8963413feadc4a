//! The picture of a measurement.

use super::analysis::WidthRow;
use super::{Scale, notes};
use crate::chart::{Axis, Chart, Panel, Point, Series, SeriesKind};
use crate::laws::Law;
use crate::sample::Sample;

/// Points of a curve per doubling of the width.
const STEPS: u32 = 16;
/// Height of the ideal line relative to the largest measured speed-up, for jobs that are not CPU-bound.
const ABOVE: f64 = 1.2;

/// Speed-up and times against width.
pub(super) fn chart(scale: &Scale) -> Chart {
    Chart {
        title: scale.record.job.clone(),
        subtitle: format!("{}; whiskers: interquartile range", notes::circumstances(scale)),
        panels: vec![speed_up(scale), times(scale)],
    }
}

fn speed_up(scale: &Scale) -> Panel {
    let analysis = &scale.analysis;
    let at = |(width, row): (usize, &WidthRow)| {
        let [y, low, high] = [row.wall.median(), row.wall.upper_quartile(), row.wall.lower_quartile()]
            .map(|seconds| analysis.speed_up(seconds));
        Point::between(width as f64, y, low, high)
    };
    let measured: Vec<Point> = analysis.fixed().map(at).collect();
    let mut all = vec![ideal(scale, &measured)];
    if let Ok(fitted) = &analysis.amdahl {
        let serial = fitted.law.serial_fraction() * 100.0;
        let name = match analysis.bound.by_processors {
            true => format!("Amdahl's law with more cores, {serial:.1} % serial"),
            false => format!("Amdahl's law, {serial:.1} % serial"),
        };
        all.push(Series::new(name, SeriesKind::Line, curve(scale, &fitted.law)));
    }
    if let Ok(fitted) = &analysis.usl {
        let curve = curve(scale, &fitted.law);
        all.push(Series::new("Universal Scalability Law", SeriesKind::Line, curve));
    }
    all.extend(auto(scale));
    all.push(Series::new("measured", SeriesKind::Points, measured));
    panel("Speed-up", "speed-up".to_owned(), all)
}

/// Linear speed-up; for CPU-bound jobs, up to the number of cores.
fn ideal(scale: &Scale, measured: &[Point]) -> Series {
    let (from, to) = span(scale);
    let most = match scale.analysis.bound.by_processors {
        true => scale.record.machine.cores.get() as f64 / from,
        false => measured.iter().map(|point| point.high).fold(2.0, f64::max) * ABOVE,
    };
    let corner = (most * from).clamp(from, to);
    // On a logarithmic axis a straight line is a curve.
    let mut points: Vec<Point> = steps(from, corner).map(|width| Point::new(width, width / from)).collect();
    if scale.analysis.bound.by_processors {
        points.push(Point::new(to, corner / from));
    }
    Series::new("ideal", SeriesKind::Dashed, points)
}

/// Speed-up by a law, relative to the time measured at the smallest width.
fn curve<L: Law<P>, const P: usize>(scale: &Scale, law: &L) -> Vec<Point> {
    let (from, to) = span(scale);
    steps(from, to).map(|width| Point::new(width, scale.analysis.speed_up(law.seconds(width)))).collect()
}

/// A line at the speed-up of `auto`.
fn auto(scale: &Scale) -> Option<Series> {
    let row = scale.analysis.auto()?;
    let (from, to) = span(scale);
    let points = [from, to].map(|width| Point::new(width, row.speed_up));
    Some(Series::new("width auto", SeriesKind::Dashed, points))
}

fn times(scale: &Scale) -> Panel {
    let unit = scale.unit();
    let joined = |name: &str, of: fn(&WidthRow) -> &Sample| {
        let points = scale.analysis.fixed().map(|(width, row)| Point::of(width, of(row), unit));
        Series::new(name, SeriesKind::Joined, points)
    };
    let all = vec![joined("wall time", |row| &row.wall), joined("CPU time", |row| &row.cpu)];
    panel("Time", unit.label("time"), all)
}

/// Smallest and largest width of the curves, measured and predicted.
fn span(scale: &Scale) -> (f64, f64) {
    let widths = || scale.analysis.fixed().map(|(width, _)| width);
    let most = widths().max().unwrap_or(1).max(4 * scale.record.machine.cores.get());
    (widths().min().unwrap_or(1) as f64, most as f64)
}

/// Widths from one to another, evenly spaced on a logarithmic axis.
fn steps(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let count = ((to / from).log2() * f64::from(STEPS)).ceil().max(1.0);
    (0..=count as u32).map(move |step| from * (to / from).powf(f64::from(step) / count))
}

fn panel(title: &str, y_label: String, series: Vec<Series>) -> Panel {
    Panel { title: title.to_owned(), x_label: "threads", y_label, x: Axis::Log2, series }
}
