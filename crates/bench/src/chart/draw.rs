//! Drawing of charts with plotters.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::iter::{empty, once};
use std::vec;

use finecomb_plot::LABEL;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::element::{ComposedElement, DashedPathElement};
use plotters::prelude::*;

use super::{Axis, Chart, Panel, Point, Series, SeriesKind};
use crate::drawing::{Area, BELOW, Drawn, colour, picture, px, set_style, text_style};

/// Width and height of a panel in pixels, with axis labels. A single panel is wider, to make room for the title.
const PANEL: (i32, i32) = (516, 360);
const ALONE: i32 = 680;
/// Pixels for the numbers and the name of the vertical axis.
const LEFT: i32 = 68;
/// Pixels of a line sample in the legend, and height of a row of the legend.
const SAMPLE: i32 = 26;
const ROW: i32 = LABEL * 5 / 4;

/// A chart as an SVG document.
pub(super) fn chart(chart: &Chart) -> String {
    let panels = chart.panels.len().max(1);
    let width = if panels == 1 { ALONE } else { PANEL.0 * panels as i32 };
    let titled = chart.panels.iter().any(|panel| !panel.title.is_empty());
    let rows = chart.panels.iter().map(|panel| legend_rows(panel).len()).max().unwrap_or(0);
    // The axes of all panels are at the same height.
    let head = ROW * (i32::from(titled) + rows as i32) + 10;
    picture(&chart.title, &chart.subtitle, (width, head + PANEL.1), |area| {
        for (panel, area) in chart.panels.iter().zip(area.split_evenly((1, panels))) {
            let (head, frame) = area.split_vertically(px(head));
            let (title, legend_area) = head.split_vertically(px(if titled { ROW } else { 0 }));
            title.draw_text(&panel.title, &text_style(LABEL, FontStyle::Bold), (px(LEFT), 0))?;
            legend(chart, panel, &legend_area)?;
            let [least, most] = extent(panel, |point| [point.x; 2], [1.0, 2.0]);
            match panel.x {
                Axis::Linear => {
                    // Leaves room for the last mark.
                    let least = least.min(0.0);
                    axes(chart, panel, &frame, least..most + (most - least).max(f64::MIN_POSITIVE) * 0.02)?;
                }
                Axis::Log2 => {
                    // Spans at least one power of two, and leaves room for the marks at both ends.
                    let from = (least.log2() + 0.2).floor().exp2().min(least) / 1.1;
                    let to = (most.log2() - 0.2).ceil().exp2().max(most) * 1.1;
                    axes(chart, panel, &frame, (from..to).log_scale().base(2.0))?;
                }
            }
        }
        Ok(())
    })
}

/// Draws the axes of a panel, with a grid, and its series.
fn axes<X>(chart: &Chart, panel: &Panel, frame: &Area<'_>, x: X) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let [least, most] = extent(panel, |point| [point.y.min(point.low), point.y.max(point.high)], [0.0, 1.0]);
    let most = if most > least.min(0.0) { most * 1.05 } else { 1.0 };
    let mut axes = ChartBuilder::on(frame)
        .margin_top(px(6))
        .margin_right(px(10))
        .x_label_area_size(px(BELOW))
        .y_label_area_size(px(LEFT))
        .build_cartesian_2d(x, least.min(0.0)..most)?;
    let number = |value: &f64| ((value * 1e6).round() / 1e6).to_string();
    let mut mesh = axes.configure_mesh();
    mesh.x_desc(panel.x_label)
        .y_desc(&panel.y_label)
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .y_labels(7);
    set_style(&mut mesh);
    mesh.draw()?;
    for series in &panel.series {
        let style = SeriesStyle::of(chart, series);
        let points: Vec<&Point> = shown(series, panel.x).collect();
        let positions = points.iter().map(|point| (point.x, point.y));
        match series.kind {
            SeriesKind::Points => {}
            SeriesKind::Line | SeriesKind::Joined => {
                axes.draw_series(LineSeries::new(positions.clone(), style.stroke()))?;
            }
            SeriesKind::Dashed => {
                axes.draw_series(DashedLineSeries::new(positions.clone(), px(6), px(4), style.stroke()))?;
            }
        }
        for point in points.iter().filter(|point| point.low < point.high) {
            let (thin, half) = (style.colour.stroke_width(px(3) as u32 / 2), px(4));
            axes.draw_series(once(PathElement::new([(point.x, point.low), (point.x, point.high)], thin)))?;
            axes.draw_series(
                [point.low, point.high].map(|y| {
                    EmptyElement::at((point.x, y)) + PathElement::new([(-half, 0), (half, 0)], thin)
                }),
            )?;
        }
        if series.kind.is_marked() {
            axes.draw_series(positions.map(|position| style.sample(position, 0)))?;
        }
    }
    Ok(())
}

/// The series in the legend of a panel. A single series needs no legend.
fn legend_rows(panel: &Panel) -> Vec<&Series> {
    let rows: Vec<&Series> = panel.series.iter().filter(|series| !series.name.is_empty()).collect();
    if rows.len() < 2 { Vec::new() } else { rows }
}

/// Draws the legend of a panel above its axes, where it cannot hide data.
fn legend(chart: &Chart, panel: &Panel, area: &Area<'_>) -> Drawn {
    let mut axes = ChartBuilder::on(area).build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
    for series in legend_rows(panel) {
        let style = SeriesStyle::of(chart, series);
        let annotation = axes.draw_series(empty::<Circle<(f64, f64), i32>>())?;
        annotation
            .label(series.name.clone())
            .legend(move |(x, y)| style.sample((x + px(SAMPLE / 2), y), px(SAMPLE)));
    }
    axes.configure_series_labels()
        .position(SeriesLabelPosition::Coordinate(px(LEFT), 0))
        .margin(0)
        .legend_area_size(px(SAMPLE + 6))
        .label_font(text_style(LABEL, FontStyle::Normal))
        .draw()
}

type Position = (i32, i32);
type LegendSample<'a, C> =
    ComposedElement<C, SVGBackend<'a>, Polygon<Position>, DashedPathElement<vec::IntoIter<Position>, i32>>;

/// Colour and marks of a series.
#[derive(Clone, Copy)]
struct SeriesStyle {
    colour: RGBColor,
    kind: SeriesKind,
    /// Number of corners of its marks, which differ for prints without colour; many make a circle.
    corners: u32,
}

impl SeriesStyle {
    /// Assigns colours and marks by name, in order of appearance, measured series first. They repeat if there are more
    /// names than colours.
    fn of(chart: &Chart, series: &Series) -> Self {
        let all = || chart.panels.iter().flat_map(|panel| &panel.series);
        let mut names: Vec<&str> = Vec::new();
        for series in all().filter(|series| series.kind.is_marked()).chain(all()) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        let index = names.iter().position(|&name| name == series.name).unwrap_or(0);
        Self { colour: colour(index), kind: series.kind, corners: [16, 3, 4][index % 3] }
    }

    fn stroke(self) -> ShapeStyle {
        self.colour.stroke_width(px(2) as u32)
    }

    /// Its mark at a position, if it has marks, with a piece of its line of `length` pixels through that position.
    fn sample<'a, C>(self, at: C, length: i32) -> LegendSample<'a, C> {
        // The top is a corner, or an edge if there are four corners.
        let first = if self.corners == 4 { 0.5 } else { 0.0 };
        let radius = f64::from(px(if self.corners > 4 { 4 } else { 5 }));
        let corner = |number| {
            let angle = (f64::from(number) + first) / f64::from(self.corners) * TAU - FRAC_PI_2;
            ((radius * angle.cos()).round() as i32, (radius * angle.sin()).round() as i32)
        };
        let corners: Vec<Position> = (0..self.corners).map(corner).collect();
        let fill = if self.kind.is_marked() { self.colour.filled() } else { TRANSPARENT.filled() };
        let dash = if self.kind == SeriesKind::Dashed { px(6) } else { length };
        let has_line = length > 0 && self.kind != SeriesKind::Points;
        let line = if has_line { vec![(-length / 2, 0), (length / 2, 0)] } else { Vec::new() };
        EmptyElement::at(at)
            + Polygon::new(corners, fill)
            + DashedPathElement::new(line, dash, px(4), self.stroke())
    }
}

/// The points of a series that can be drawn on an axis.
fn shown(series: &Series, axis: Axis) -> impl Iterator<Item = &Point> {
    series.points.iter().filter(move |point| {
        let finite = [point.x, point.y, point.low, point.high].iter().all(|value| value.is_finite());
        // The ratio of two positions on a logarithmic axis must be finite.
        finite && (axis == Axis::Linear || (1e-150..1e150).contains(&point.x))
    })
}

/// Minimum and maximum of `values` over all drawn points of a panel, or `otherwise` if there are none.
fn extent(panel: &Panel, values: impl Fn(&Point) -> [f64; 2], otherwise: [f64; 2]) -> [f64; 2] {
    let points = panel.series.iter().flat_map(|series| shown(series, panel.x));
    let all = points.map(values).reduce(|[low, high], [least, most]| [low.min(least), high.max(most)]);
    all.unwrap_or(otherwise)
}
