//! Lines, marks and whiskers, in pixels.

use plotters::element::{Circle, DashedPathElement, PathElement, Rectangle, TriangleMarker};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::draw::{Area, Drawn, px};
use super::{Panel, Series, SeriesKind, scale};

/// A place in the picture.
pub(super) type Place = (i32, i32);

/// How a series is drawn: its colour and the shape of its marks.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) colour: RGBColor,
    pub(super) shape: usize,
    pub(super) kind: SeriesKind,
}

impl Look {
    fn stroke(self) -> ShapeStyle {
        self.colour.stroke_width(px(2) as u32)
    }

    /// The line through some places, if the series has one.
    pub(super) fn line(self, area: &Area<'_>, places: Vec<Place>) -> Drawn {
        match self.kind {
            SeriesKind::Points => Ok(()),
            SeriesKind::Line | SeriesKind::Joined => area.draw(&PathElement::new(places, self.stroke())),
            SeriesKind::Dashed => area.draw(&DashedPathElement::new(places, px(6), px(4), self.stroke())),
        }
    }

    /// The mark at a place, if the series has marks. Their shapes differ, for those who print without colours.
    pub(super) fn mark(self, area: &Area<'_>, (x, y): Place) -> Drawn {
        if !self.kind.marked() {
            return Ok(());
        }
        let filled = self.colour.filled();
        let half = px(4);
        match self.shape % 3 {
            0 => area.draw(&Circle::new((x, y), half, filled)),
            1 => area.draw(&TriangleMarker::new((x, y), px(6), filled)),
            _ => area.draw(&Rectangle::new([(x - half, y - half), (x + half, y + half)], filled)),
        }
    }

    /// A whisker from one height to another, with caps.
    fn whisker(self, area: &Area<'_>, x: i32, low: i32, high: i32) -> Drawn {
        let style = self.colour.stroke_width(px(1) as u32 + px(1) as u32 / 2);
        area.draw(&PathElement::new([(x, low), (x, high)], style))?;
        let half = px(4);
        for y in [low, high] {
            area.draw(&PathElement::new([(x - half, y), (x + half, y)], style))?;
        }
        Ok(())
    }

    /// All of a series, where `place` says where a value is.
    pub(super) fn series(
        self,
        area: &Area<'_>,
        panel: &Panel,
        series: &Series,
        place: impl Fn(f64, f64) -> Place,
    ) -> Drawn {
        let points = || series.points.iter().filter(|point| scale::shown(point, panel.x));
        self.line(area, points().map(|point| place(point.x, point.y)).collect())?;
        for point in points() {
            if point.low < point.high {
                let ((x, low), (_, high)) = (place(point.x, point.low), place(point.x, point.high));
                self.whisker(area, x, low, high)?;
            }
            self.mark(area, place(point.x, point.y))?;
        }
        Ok(())
    }
}
