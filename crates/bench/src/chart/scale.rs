//! How values become places on an axis, and where the axis has ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::{Axis, Panel, Point};

/// About how many ticks an axis has.
const TICKS: f64 = 6.0;
/// Values of which one is not this many times the other do not both have room for a tick on a logarithmic axis.
const CLOSEST: f64 = 1.3;
/// A logarithmic axis begins and ends this factor beyond the outermost values.
const MARGIN: f64 = 1.15;
/// How wrong a quotient of two numbers may be that should be a whole one.
const ROUNDING: f64 = 1e-9;

/// An axis, as plotters wants it.
pub(super) struct Scale {
    axis: Axis,
    /// The values at its ends.
    range: Range<f64>,
    /// The values that have ticks.
    ticks: Vec<f64>,
    /// Digits behind the point in the labels of the ticks.
    digits: usize,
}

impl Scale {
    /// The horizontal axis of a panel.
    pub(super) fn horizontal(panel: &Panel) -> Self {
        let extent = extent(shown_points(panel).map(|point| point.x));
        match panel.x {
            Axis::Linear => {
                let [least, most] = extent.unwrap_or([0.0, 1.0]);
                let scale = Self::linear(least.min(0.0), most);
                // Room for the marks at the end, but no more.
                let end = most + (scale.range.end - scale.range.start) * 0.02;
                scale.until(end)
            }
            Axis::Log2 => Self::log2(extent.unwrap_or([1.0, 2.0]), marked(panel)),
        }
    }

    /// The vertical axis of a panel, from zero to a tick that no whisker reaches beyond.
    pub(super) fn vertical(panel: &Panel) -> Self {
        let values = shown_points(panel).flat_map(|point| [point.y, point.low, point.high]);
        let [least, most] = extent(values).unwrap_or([0.0, 1.0]);
        Self::linear(least.min(0.0), most.max(0.0))
    }

    /// An axis between two ticks that have these values between them.
    fn linear(from: f64, to: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        let step = round_step((to - from) / TICKS);
        let (first, last) = ((from / step + ROUNDING).floor(), (to / step - ROUNDING).ceil());
        let ticks: Vec<f64> =
            (0..=(last - first) as u32).map(|tick| (first + f64::from(tick)) * step).collect();
        let digits = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        Self { axis: Axis::Linear, range: first * step..last * step, ticks, digits }
    }

    /// The same axis, cut off at a value.
    fn until(mut self, end: f64) -> Self {
        if end > self.range.start {
            self.range.end = end;
            self.ticks.retain(|&tick| tick <= end);
        }
        self
    }

    fn log2([least, most]: [f64; 2], mut ticks: Vec<f64>) -> Self {
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let close = |one: f64, other: f64| one.max(other) < one.min(other) * CLOSEST;
        if ticks.windows(2).any(|pair| close(pair[0], pair[1])) {
            ticks.clear();
        }
        let range = least / MARGIN..most * MARGIN;
        for power in (least.log2().floor() as i32..=most.log2().ceil() as i32).map(|power| 2f64.powi(power)) {
            if range.contains(&power) && !ticks.iter().any(|&tick| close(tick, power)) {
                ticks.push(power);
            }
        }
        let digits = if ticks.iter().all(|tick| (tick - tick.round()).abs() < ROUNDING) { 0 } else { 2 };
        Self { axis: Axis::Log2, range, ticks, digits }
    }

    /// Where a value is, where distances are even.
    fn place(&self, value: f64) -> f64 {
        match self.axis {
            Axis::Linear => value,
            Axis::Log2 => value.log2(),
        }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let (start, end) = (self.place(self.range.start), self.place(self.range.end));
        let share = (self.place(*value) - start) / (end - start);
        (f64::from(first) + f64::from(last - first) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        format!("{value:.*}", self.digits)
    }
}

/// The points of a panel that can be shown.
fn shown_points(panel: &Panel) -> impl Iterator<Item = &Point> {
    panel.series.iter().flat_map(|series| &series.points).filter(|point| shown(point, panel.x))
}

/// Whether a point can be shown on such an axis.
pub(super) fn shown(point: &Point, axis: Axis) -> bool {
    let finite = [point.x, point.y, point.low, point.high].iter().all(|value| value.is_finite());
    finite && (axis == Axis::Linear || point.x > 0.0)
}

/// Where the points are that have marks.
fn marked(panel: &Panel) -> Vec<f64> {
    let series = panel.series.iter().filter(|series| series.kind.marked());
    let points = series.flat_map(|series| &series.points).filter(|point| shown(point, panel.x));
    points.map(|point| point.x).collect()
}

/// The smallest and the largest value.
fn extent(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    values.fold(None, |extent: Option<[f64; 2]>, value| match extent {
        Some([least, most]) => Some([least.min(value), most.max(value)]),
        None => Some([value, value]),
    })
}

/// The step of at least this size that is 1, 2 or 5 times a power of ten.
fn round_step(size: f64) -> f64 {
    let power = 10f64.powf(size.log10().floor());
    let steps = [1.0, 2.0, 5.0].into_iter().map(|digit| digit * power);
    steps.into_iter().find(|&step| step >= size * (1.0 - ROUNDING)).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::super::{Series, SeriesKind};
    use super::*;

    fn labels(scale: &Scale) -> Vec<String> {
        scale.ticks.iter().map(|tick| scale.format_ext(tick)).collect()
    }

    fn panel(x: Axis, points: &[(f64, f64)]) -> Panel {
        let points = points.iter().map(|&(x, y)| Point::new(x, y)).collect();
        let series = vec![Series { name: "a".to_owned(), kind: SeriesKind::Points, points }];
        Panel { title: String::new(), x_label: String::new(), y_label: String::new(), x, series }
    }

    #[test]
    fn logarithmic_ticks_are_the_widths_themselves() {
        let widths = [(1.0, 1.0), (3.0, 1.0), (5.0, 1.0), (12.0, 1.0)];
        let mut panel = panel(Axis::Log2, &widths);
        assert_eq!(labels(&Scale::horizontal(&panel)), ["1", "3", "5", "12", "2", "8"]);
        let curve = vec![Point::new(1.0, 1.0), Point::new(33.0, 1.0)];
        panel.series.push(Series { name: "b".to_owned(), kind: SeriesKind::Line, points: curve });
        assert_eq!(labels(&Scale::horizontal(&panel)), ["1", "3", "5", "12", "2", "8", "16", "32"]);
    }

    #[test]
    fn ticks_that_would_lie_on_each_other_become_powers_of_two() {
        let widths: Vec<(f64, f64)> = (1..=9).map(|width| (f64::from(width), 1.0)).collect();
        assert_eq!(labels(&Scale::horizontal(&panel(Axis::Log2, &widths))), ["1", "2", "4", "8"]);
    }

    #[test]
    fn the_vertical_axis_begins_at_zero_and_ends_above_everything() {
        let mut panel = panel(Axis::Linear, &[(1.0, 0.31), (2.0, 0.9)]);
        panel.series[0].points.push(Point::between(3.0, 0.5, 0.4, 1.13));
        let scale = Scale::vertical(&panel);
        assert_eq!((scale.range.start, scale.range.end), (0.0, 6.0 * 0.2));
        assert_eq!(labels(&scale), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]);
    }

    #[test]
    fn what_cannot_be_shown_does_not_count() {
        let panel = panel(Axis::Log2, &[(0.0, 5.0), (2.0, f64::NAN), (4.0, 1.0), (-1.0, 1.0)]);
        assert_eq!(shown_points(&panel).count(), 1);
        assert_eq!(labels(&Scale::horizontal(&panel)), ["4"]);
    }

    #[test]
    fn empty_panels_and_equal_values_have_an_extent() {
        for points in [&[][..], &[(0.0, 0.0)], &[(7.0, 7.0), (7.0, 7.0)]] {
            for axis in [Axis::Linear, Axis::Log2] {
                let panel = panel(axis, points);
                for scale in [Scale::horizontal(&panel), Scale::vertical(&panel)] {
                    assert!(scale.range.end > scale.range.start && !scale.ticks.is_empty(), "{points:?}");
                }
            }
        }
    }
}
