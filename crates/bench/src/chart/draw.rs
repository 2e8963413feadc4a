//! How a chart is drawn, with plotters.

use std::io;

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::{Cartesian2d, SVGBackend};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TextStyle, WHITE};

use super::legend::{self, Legend};
use super::marks::Look;
use super::palette::Palette;
use super::scale::Scale;
use super::{Chart, Panel};

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;
type Axes<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<Scale, Scale>>;

/// plotters puts everything at whole pixels, which curves and small marks show. So it draws a picture this many times
/// as large, which is then declared to be as small as it should be.
const FINENESS: i32 = 8;

const FAMILY: &str = "sans-serif";
/// The size of titles, subtitles, and of all else, in pixels.
const TITLE: i32 = 22;
const SUBTITLE: i32 = 16;
pub(super) const LABEL: i32 = 16;

/// The colours of text, axes and grid.
const INK: RGBColor = RGBColor(34, 34, 34);
const AXIS: RGBColor = RGBColor(110, 110, 110);
const GRID: RGBColor = RGBColor(225, 225, 225);

/// Pixels of a panel with its labels, but without its title and legend.
const PANEL: (i32, i32) = (500, 360);
/// One panel alone is wider, so that there is room for the title.
const ALONE: i32 = 680;
/// Pixels around the picture and between panels.
const MARGIN: i32 = 16;
/// Pixels for the numbers and the name of the vertical and the horizontal axis.
const LEFT: i32 = 64;
const BELOW: i32 = 46;

/// So many of plotters' pixels for those of the picture.
pub(super) fn px(pixels: i32) -> i32 {
    pixels * FINENESS
}

/// About how wide a text is, in pixels: as wide as in DejaVu Sans, which is wider than most.
pub(super) fn text_width(text: &str, size: i32) -> i32 {
    (text.chars().count() as f64 * f64::from(size) * 0.47).ceil() as i32
}

/// The chart as an SVG document.
pub(super) fn svg(chart: &Chart) -> String {
    let chart = printable(chart);
    let layout = Layout::new(&chart);
    let mut svg = String::new();
    let size = (px(layout.width) as u32, px(layout.height) as u32);
    layout.draw(SVGBackend::with_string(&mut svg, size)).expect("drawing into a string cannot fail");
    let drawn = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    let declared = format!("width=\"{}\" height=\"{}\"", layout.width, layout.height);
    svg.replacen(&drawn, &declared, 1)
}

/// The chart with texts that XML can hold.
fn printable(chart: &Chart) -> Chart {
    let text = |text: &str| text.replace(|char: char| char.is_control(), "\u{FFFD}");
    let mut chart = chart.clone();
    chart.title = text(&chart.title);
    chart.subtitle = text(&chart.subtitle);
    for panel in &mut chart.panels {
        panel.title = text(&panel.title);
        panel.x_label = text(&panel.x_label);
        panel.y_label = text(&panel.y_label);
        for series in &mut panel.series {
            series.name = text(&series.name);
        }
    }
    chart
}

/// Where everything is, in pixels of the picture.
struct Layout<'a> {
    chart: &'a Chart,
    palette: Palette<'a>,
    title: Vec<String>,
    subtitle: Vec<String>,
    legends: Vec<Legend<'a>>,
    panel_width: i32,
    width: i32,
    height: i32,
}

impl<'a> Layout<'a> {
    fn new(chart: &'a Chart) -> Self {
        let panels = chart.panels.len().max(1) as i32;
        let panel_width = if panels == 1 { ALONE } else { PANEL.0 };
        let width = MARGIN + panels * (panel_width + MARGIN);
        let lines = |text: &str, size| {
            wrapped(text, (f64::from(width - 2 * MARGIN) / text_width("x", size) as f64) as usize)
        };
        let legends = chart.panels.iter().map(|panel| Legend::new(panel, panel_width - LEFT)).collect();
        let mut layout = Self {
            chart,
            palette: Palette::new(chart),
            title: lines(&chart.title, TITLE),
            subtitle: lines(&chart.subtitle, SUBTITLE),
            legends,
            panel_width,
            width,
            height: 0,
        };
        layout.height = layout.axes_top() + PANEL.1 + MARGIN;
        layout
    }

    /// Where the panels begin.
    fn panels_top(&self) -> i32 {
        let title = self.title.len() as i32 * line_height(TITLE);
        MARGIN + title + self.subtitle.len() as i32 * line_height(SUBTITLE) + MARGIN / 2
    }

    /// Where the legends begin.
    fn legends_top(&self) -> i32 {
        let titled = self.chart.panels.iter().any(|panel| !panel.title.is_empty());
        self.panels_top() + if titled { line_height(LABEL) + 4 } else { 0 }
    }

    /// Where the axes begin: at the same height in all panels.
    fn axes_top(&self) -> i32 {
        let rows = self.legends.iter().map(Legend::rows).max().unwrap_or(0) as i32;
        self.legends_top() + rows * legend::ROW + 10
    }

    fn draw(&self, backend: SVGBackend<'_>) -> Drawn {
        let area = backend.into_drawing_area();
        area.fill(&WHITE)?;
        let mut top = MARGIN;
        for (lines, size, style) in
            [(&self.title, TITLE, FontStyle::Bold), (&self.subtitle, SUBTITLE, FontStyle::Normal)]
        {
            for line in lines {
                area.draw_text(line, &text_style(size, style), (px(MARGIN), px(top)))?;
                top += line_height(size);
            }
        }
        for (index, (panel, legend)) in self.chart.panels.iter().zip(&self.legends).enumerate() {
            let left = MARGIN + index as i32 * (self.panel_width + MARGIN);
            self.panel(&area, panel, legend, left)?;
        }
        area.present()
    }

    fn panel(&self, area: &Area<'_>, panel: &Panel, legend: &Legend<'_>, left: i32) -> Drawn {
        let inner = left + LEFT;
        let title = text_style(LABEL, FontStyle::Bold);
        area.draw_text(&panel.title, &title, (px(inner), px(self.panels_top())))?;
        legend.draw(area, (px(inner), px(self.legends_top())), |name| self.looks(panel, name))?;
        let frame = area.clone().shrink((px(left), px(self.axes_top())), (px(self.panel_width), px(PANEL.1)));
        let axes = axes(&frame, panel)?;
        for series in &panel.series {
            let place = |x, y| axes.plotting_area().map_coordinate(&(x, y));
            self.look(series).series(area, panel, series, place)?;
        }
        Ok(())
    }

    fn look(&self, series: &super::Series) -> Look {
        let Self { palette, .. } = self;
        Look { colour: palette.colour(&series.name), shape: palette.index(&series.name), kind: series.kind }
    }

    /// How the series of this name are drawn in a panel.
    fn looks(&self, panel: &Panel, name: &str) -> Vec<Look> {
        panel.series.iter().filter(|series| series.name == name).map(|series| self.look(series)).collect()
    }
}

/// Draws the axes of a panel, with a grid.
fn axes<'a, 'b>(frame: &'b Area<'a>, panel: &Panel) -> Result<Axes<'a, 'b>, DrawingAreaErrorKind<io::Error>> {
    let label = text_style(LABEL, FontStyle::Normal);
    let mut axes = ChartBuilder::on(frame)
        .margin_top(px(6))
        .margin_right(px(10))
        .x_label_area_size(px(BELOW))
        .y_label_area_size(px(LEFT))
        .build_cartesian_2d(Scale::horizontal(panel), Scale::vertical(panel))?;
    axes.configure_mesh()
        .x_desc(&panel.x_label)
        .y_desc(&panel.y_label)
        .label_style(label.clone())
        .axis_desc_style(label)
        .axis_style(AXIS.stroke_width(px(1) as u32))
        .bold_line_style(GRID.stroke_width(px(1) as u32))
        .set_all_tick_mark_size(px(4))
        .draw()?;
    Ok(axes)
}

pub(super) fn text_style(size: i32, style: FontStyle) -> TextStyle<'static> {
    TextStyle::from((FAMILY, px(size)).into_font().style(style)).color(&INK)
}

fn line_height(size: i32) -> i32 {
    size * 5 / 4
}

/// A text in lines of at most so many characters, cut at spaces; a longer word is cut anywhere.
fn wrapped(text: &str, longest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let characters: Vec<char> = word.chars().collect();
        for piece in characters.chunks(longest.max(1)) {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + piece.len() <= longest => {
                    line.push(' ');
                    line.extend(piece);
                }
                _ => lines.push(piece.iter().collect()),
            }
        }
    }
    lines
}
