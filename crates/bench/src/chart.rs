//! What is drawn: panels beside each other, with series of points.
//!
//! A [`Chart`] says what is to be seen; how it is drawn is this module's matter, so that all plots look alike.

mod draw;
mod legend;
mod marks;
mod palette;
mod scale;

use serde::{Deserialize, Serialize};

/// A picture of one or more panels beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What the picture is about.
    pub title: String,
    /// On which machine, with how many runs, and the like; may be empty.
    pub subtitle: String,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
}

/// A pair of axes and what is drawn between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// What the panel shows; may be empty.
    pub title: String,
    /// What the horizontal axis counts or measures, with its unit.
    pub x_label: String,
    /// What the vertical axis measures, with its unit. It begins at zero.
    pub y_label: String,
    /// How values are laid out along the horizontal axis.
    pub x: Axis,
    /// What is drawn, the first below the others. Series of one name have one colour in all panels.
    pub series: Vec<Series>,
}

/// How values are laid out along the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    /// Evenly, from zero or from what lies below it.
    Linear,
    /// A doubling is always the same distance. There are ticks at the measured values, which are those of series that have
    /// marks, and at powers of two where there is room. Values that are not positive are left out.
    Log2,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What the legend calls it. A series without a name is not in the legend.
    pub name: String,
    /// How it is drawn.
    pub kind: SeriesKind,
    /// Its points, from left to right. Those that are not finite are left out.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SeriesKind {
    /// A line through the points, which are not marked: for what was computed.
    Line,
    /// A dashed line through them: for bounds and ideals.
    Dashed,
    /// A mark at each point, with its whiskers: for what was measured.
    Points,
    /// The same, with a line through the marks.
    Joined,
}

impl SeriesKind {
    /// Whether each point has a mark.
    fn marked(self) -> bool {
        matches!(self, Self::Points | Self::Joined)
    }
}

/// A value at a place, and how uncertain it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where it is on the horizontal axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Where its whisker begins; `y` if it has none.
    pub low: f64,
    /// Where its whisker ends; `y` if it has none.
    pub high: f64,
}

impl Point {
    /// A point without whiskers.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }

    /// A point with whiskers from `low` to `high`.
    pub fn between(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, low, high }
    }
}

impl Chart {
    /// The picture as an SVG document: on white, with the colours of Masataka Okabe and Kei Ito ("Color Universal
    /// Design", 2008), which those who are colour-blind can tell apart.
    ///
    /// Control characters in texts are shown as �, as XML cannot hold them.
    pub fn svg(&self) -> String {
        draw::svg(self)
    }
}

#[cfg(test)]
mod tests {
    use resvg::usvg::{Options, Tree};

    use super::*;

    fn chart(name: &str, kind: SeriesKind, points: Vec<Point>) -> Chart {
        let panel = |x| Panel {
            title: name.to_owned(),
            x_label: name.to_owned(),
            y_label: name.to_owned(),
            x,
            series: vec![
                Series { name: name.to_owned(), kind, points: points.clone() },
                Series { name: "other".to_owned(), kind: SeriesKind::Dashed, points: points.clone() },
            ],
        };
        let panels = vec![panel(Axis::Linear), panel(Axis::Log2)];
        Chart { title: name.to_owned(), subtitle: name.to_owned(), panels }
    }

    fn count(svg: &str, tag: &str) -> usize {
        svg.matches(&format!("<{tag} ")).count()
    }

    #[test]
    fn pictures_are_well_formed_whatever_the_texts_and_numbers() {
        let long = "word ".repeat(100) + &"x".repeat(1000);
        let odd = [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e300, 1e-300, 1.0];
        let points: Vec<Point> =
            odd.iter().flat_map(|&x| odd.map(|y| Point::between(x, y, y - 1.0, y + 1.0))).collect();
        for name in ["", "a <b> & \"c\" 'd' \u{1b}[31m\0\n é 漢", &long] {
            for points in [Vec::new(), points.clone()] {
                let svg = chart(name, SeriesKind::Joined, points).svg();
                let tree = Tree::from_str(&svg, &Options::default());
                assert!(tree.is_ok_and(|tree| tree.size().width() > 1000.0), "{name}");
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
            }
        }
        let none = Chart { title: String::new(), subtitle: String::new(), panels: Vec::new() };
        assert!(Tree::from_str(&none.svg(), &Options::default()).is_ok());
    }

    #[test]
    fn only_what_was_measured_has_marks() {
        let points: Vec<Point> = (1..=5).map(|x| Point::new(f64::from(x), 1.0)).collect();
        // A mark for each point of two panels, and one for each legend.
        for (kind, marks) in [
            (SeriesKind::Points, 12),
            (SeriesKind::Joined, 12),
            (SeriesKind::Line, 0),
            (SeriesKind::Dashed, 0),
        ] {
            let svg = chart("measured", kind, points.clone()).svg();
            assert_eq!(count(&svg, "circle"), marks, "{kind:?}");
        }
    }

    #[test]
    fn points_with_whiskers_have_three_more_lines() {
        let lines = |point| count(&chart("measured", SeriesKind::Points, vec![point]).svg(), "polyline");
        assert_eq!(lines(Point::between(1.0, 2.0, 1.5, 2.0)), lines(Point::new(1.0, 2.0)) + 2 * 2 * 3);
    }

    #[test]
    fn one_series_needs_no_legend() {
        let mut chart = chart("measured", SeriesKind::Points, vec![Point::new(1.0, 2.0)]);
        chart.panels.truncate(1);
        let named = chart.svg().matches("\nmeasured\n").count();
        chart.panels[0].series.truncate(1);
        assert_eq!(chart.svg().matches("\nmeasured\n").count(), named - 1);
    }
}
