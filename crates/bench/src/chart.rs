//! Charts: panels side by side with series of points, drawn as an SVG document with plotters.

mod draw;

use crate::sample::Sample;
use crate::units::TimeUnit;

/// A picture of one or more panels side by side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
    /// Subject of the picture.
    pub(crate) title: String,
    /// Machine, number of runs, and the like; may be empty.
    pub(crate) subtitle: String,
    /// The panels, from left to right.
    pub(crate) panels: Vec<Panel>,
}

/// A pair of axes and the series drawn on them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    /// Heading of the panel; may be empty.
    pub(crate) title: String,
    /// Name of the horizontal axis, with its unit.
    pub(crate) x_label: &'static str,
    /// Name of the vertical axis, with its unit. The axis begins at zero.
    pub(crate) y_label: String,
    /// Scale of the horizontal axis.
    pub(crate) x: Axis,
    /// The series; later ones are drawn on top. Series of the same name have the same colour in all panels.
    pub(crate) series: Vec<Series>,
}

/// Scale of the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Linear, from zero or from the least value if that is negative.
    Linear,
    /// Logarithmic, with ticks at powers of two. Omits values that are not positive.
    Log2,
}

/// A named series of points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// Name in the legend.
    pub(crate) name: String,
    pub(crate) kind: SeriesKind,
    /// The points, from left to right. Points that are not finite are omitted.
    pub(crate) points: Vec<Point>,
}

impl Series {
    pub(crate) fn new(
        name: impl Into<String>,
        kind: SeriesKind,
        points: impl IntoIterator<Item = Point>,
    ) -> Self {
        Self { name: name.into(), kind, points: points.into_iter().collect() }
    }
}

/// Style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeriesKind {
    /// A line without marks: for computed values.
    Line,
    /// A dashed line without marks: for bounds and ideals.
    Dashed,
    /// A mark and whiskers at each point: for measured values.
    Points,
    /// Marks with whiskers, and a line through them.
    Joined,
}

impl SeriesKind {
    fn is_marked(self) -> bool {
        matches!(self, Self::Points | Self::Joined)
    }
}

/// A value at a position, and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Position on the horizontal axis.
    pub(crate) x: f64,
    /// The value.
    pub(crate) y: f64,
    /// Lower end of its whisker; `y` if it has none.
    pub(crate) low: f64,
    /// Upper end of its whisker; `y` if it has none.
    pub(crate) high: f64,
}

impl Point {
    /// A point without whiskers.
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }

    /// A point with whiskers from `low` to `high`.
    pub(crate) fn between(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, low, high }
    }

    /// The median of a sample in a unit, with whiskers from the lower to the upper quartile.
    pub(crate) fn of(x: usize, sample: &Sample, unit: TimeUnit) -> Self {
        let [y, low, high] = [sample.median(), sample.lower_quartile(), sample.upper_quartile()];
        Self::between(x as f64, unit.scaled(y), unit.scaled(low), unit.scaled(high))
    }
}

impl Chart {
    /// The picture as an SVG document: on white, with the colours of Masataka Okabe and Kei Ito ("Color Universal
    /// Design", 2008), which colour-blind readers can distinguish.
    ///
    /// Control characters in texts are shown as �, as XML cannot represent them.
    pub(crate) fn svg(&self) -> String {
        draw::chart(self)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn chart(name: &str, kind: SeriesKind, points: Vec<Point>) -> Chart {
        let panel = |x| Panel {
            title: name.to_owned(),
            x_label: "threads",
            y_label: name.to_owned(),
            x,
            series: vec![
                Series::new(name, kind, points.clone()),
                Series::new("other", SeriesKind::Dashed, points.clone()),
            ],
        };
        let panels = vec![panel(Axis::Linear), panel(Axis::Log2)];
        Chart { title: name.to_owned(), subtitle: name.to_owned(), panels }
    }

    fn count(svg: &str, tag: &str) -> usize {
        svg.matches(&format!("<{tag} ")).count()
    }

    #[test]
    fn pictures_are_well_formed_for_any_texts_and_numbers() {
        let long = "word ".repeat(100) + &"x".repeat(1000);
        let odd = [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e300, 1e-300, 1.0];
        let points: Vec<Point> =
            odd.iter().flat_map(|&x| odd.map(|y| Point::between(x, y, y - 1.0, y + 1.0))).collect();
        for name in ["", "a <b> & \"c\" 'd' \u{1b}[31m\0\n é 漢", &long] {
            for points in [Vec::new(), points.clone()] {
                let svg = chart(name, SeriesKind::Joined, points).svg();
                let document = roxmltree::Document::parse(&svg).expect("well-formed");
                let width = document.root_element().attribute("width").and_then(|width| width.parse().ok());
                assert!(width.is_some_and(|width: f64| width > 1000.0), "{name}");
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
            }
        }
        let none = Chart { title: String::new(), subtitle: String::new(), panels: Vec::new() };
        assert!(roxmltree::Document::parse(&none.svg()).is_ok());
    }

    #[test]
    fn only_measured_series_have_marks() {
        let points: Vec<Point> = (1..=5).map(|x| Point::new(f64::from(x), 1.0)).collect();
        // A mark for each point of two panels, and one for each legend.
        for (kind, marks) in [
            (SeriesKind::Points, 12),
            (SeriesKind::Joined, 12),
            (SeriesKind::Line, 0),
            (SeriesKind::Dashed, 0),
        ] {
            let svg = chart("measured", kind, points.clone()).svg();
            assert_eq!(count(&svg, "polygon"), marks, "{kind:?}");
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
