//! Values by bucket of time: bars, or a line for each of several curves.

use std::iter::once;

use crate::document::{AXIS, CHARACTER, COLOURS, Colour, GRID, PixelPlace, ROW, Shapes, TextSide, document};
use crate::value_axis::ValueAxis;

/// Size in pixels of the chart without its legend.
const SIZE: (i32, i32) = (1000, 400);

/// Pixels below the chart: two lines of text.
const BELOW: i32 = 56;

/// Pixels of a line sample in the legend, with the blank that follows.
const SAMPLE: i32 = 30;

/// Colours after the ones that all pictures share.
const MORE_COLOURS: [Colour; 3] = [Colour(120, 94, 240), Colour(153, 153, 153), Colour(120, 70, 10)];

/// Up to this number of buckets, bars are apart, and lines have a mark at each value.
const FEW: usize = 120;

/// A chart of values by bucket of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Subject of the picture.
    pub title: String,
    /// Details; may be empty.
    pub subtitle: String,
    /// Name of the values.
    pub value: String,
    /// Number of buckets, all of the same width.
    pub buckets: usize,
    /// Marks of the axis of time.
    pub ticks: Vec<Tick>,
    /// Buckets before which others are left out.
    pub breaks: Vec<usize>,
    /// Whether the values of the first curve are drawn as bars, instead of a line for each curve.
    pub has_bars: bool,
    /// The curves.
    pub curves: Vec<Curve>,
}

/// A mark of the axis of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tick {
    /// Place in buckets from the start of the first.
    pub at: f64,
    /// Its text.
    pub label: String,
    /// Text below, such as the date of a time of day; may be empty.
    pub context: String,
}

/// The values of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Name in the legend; empty for none.
    pub name: String,
    /// The value of each bucket, if it has one.
    pub values: Vec<Option<f64>>,
}

impl Timeline {
    /// Maximum number of curves: each has its own colour.
    pub const MAX_CURVES: usize = COLOURS.len() + MORE_COLOURS.len();

    /// Maximum number of buckets that are all drawn, two for a pixel. If there are more, the highest of several neighbours is
    /// drawn.
    pub const MAX_BUCKETS: usize = 2000;

    /// The chart as an SVG document.
    pub fn svg(&self) -> String {
        let legend = Legend::of(self);
        let mut shapes = Shapes::default();
        legend.draw(&mut shapes);
        self.draw(f64::from(legend.height()), &mut shapes);
        document(&self.title, &self.subtitle, (SIZE.0, legend.height() + SIZE.1), &shapes.elements())
    }

    /// Draws the axes and the curves, `above` pixels from the top.
    fn draw(&self, above: f64, shapes: &mut Shapes) {
        let axis = ValueAxis::of(self.curves.iter().flat_map(|curve| &curve.values).flatten().copied());
        let frame = Frame::new(&axis, self.buckets, above);
        self.draw_axes(&axis, &frame, shapes);
        for (curve, colour) in self.curves.iter().zip(colours()) {
            let slots = Slots::of(&curve.values);
            if self.has_bars {
                for bar in slots.bars() {
                    shapes.polygon(&frame.places(&bar), colour);
                }
                continue;
            }
            for run in slots.runs(&self.breaks) {
                let points = frame.places(&run);
                if run.len() == 1 || slots.values.len() <= FEW {
                    points.iter().for_each(|&point| shapes.circle(point, 3, colour));
                }
                shapes.line(&points, colour, 2);
            }
        }
        for &bucket in &self.breaks {
            shapes.line(&frame.upright(bucket as f64), AXIS, 3);
        }
    }

    /// Draws the grid, the two axes, and the texts beside them.
    fn draw_axes(&self, axis: &ValueAxis, frame: &Frame, shapes: &mut Shapes) {
        let ends = [frame.left, frame.right];
        for (value, text) in axis.marks() {
            let (_, y) = frame.place((0.0, value));
            shapes.line(&ends.map(|x| (x, y)), GRID, 1);
            shapes.line(&[(frame.left - 4.0, y), (frame.left, y)], AXIS, 1);
            shapes.text((frame.left - 9.0, y), &text, TextSide::Left);
        }
        for tick in &self.ticks {
            shapes.line(&frame.upright(tick.at), GRID, 1);
            let (x, y) = frame.place((tick.at, axis.least));
            for (row, text) in (0..).zip([&tick.label, &tick.context]) {
                shapes.text((x, y + f64::from(8 + ROW * row)), text, TextSide::Below);
            }
        }
        shapes.line(&ends.map(|x| (x, frame.bottom)), AXIS, 1);
        shapes.line(&[frame.top, frame.bottom].map(|y| (frame.left, y)), AXIS, 1);
        shapes.text((10.0, (frame.top + frame.bottom) / 2.0), &self.value, TextSide::Upwards);
    }
}

/// Where the curves are, in pixels.
struct Frame<'a> {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    buckets: f64,
    axis: &'a ValueAxis,
}

impl<'a> Frame<'a> {
    fn new(axis: &'a ValueAxis, buckets: usize, above: f64) -> Self {
        let longest = axis.marks().iter().map(|(_, text)| text.len()).max().unwrap_or(0);
        Self {
            left: f64::from(32 + CHARACTER * longest as i32),
            right: f64::from(SIZE.0 - 32),
            top: above + 6.0,
            bottom: above + f64::from(SIZE.1 - BELOW),
            buckets: buckets.max(1) as f64,
            axis,
        }
    }

    /// The place of a value at a position in buckets.
    fn place(&self, (at, value): (f64, f64)) -> PixelPlace {
        let x = self.left + (self.right - self.left) * at / self.buckets;
        (x, self.bottom - (self.bottom - self.top) * self.axis.share(value))
    }

    fn places(&self, points: &[(f64, f64)]) -> Vec<PixelPlace> {
        points.iter().map(|&point| self.place(point)).collect()
    }

    /// The line from the bottom to the top at a position in buckets.
    fn upright(&self, at: f64) -> [PixelPlace; 2] {
        [self.axis.least, self.axis.most].map(|value| self.place((at, value)))
    }
}

fn colours() -> impl Iterator<Item = Colour> {
    COLOURS.into_iter().chain(MORE_COLOURS)
}

/// The values that are drawn: one for each bucket, or the highest of several neighbours.
struct Slots {
    values: Vec<Option<f64>>,
    /// Number of buckets of a slot.
    width: usize,
}

impl Slots {
    fn of(values: &[Option<f64>]) -> Self {
        let width = values.len().div_ceil(Timeline::MAX_BUCKETS).max(1);
        let finite = |value: &Option<f64>| value.filter(|value| value.is_finite());
        let slots = values.chunks(width).map(|chunk| chunk.iter().filter_map(finite).reduce(f64::max));
        Self { values: slots.collect(), width }
    }

    /// The outline of each bar: of a bucket if they are few, else of a run of buckets with values.
    fn bars(&self) -> Vec<Vec<(f64, f64)>> {
        let are_few = self.values.len() <= FEW;
        let gap = if are_few { 0.1 } else { 0.0 };
        let mut bars: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut is_open = false;
        for (slot, value) in self.values.iter().enumerate() {
            let [from, to] = [slot, slot + 1].map(|slot| (slot * self.width) as f64);
            let Some(value) = value.filter(|&value| value != 0.0) else {
                is_open = false;
                continue;
            };
            let top = [(from + gap, value), (to - gap, value)];
            match bars.last_mut().filter(|_| is_open && !are_few) {
                Some(bar) => bar.extend(top),
                None => bars.push(vec![(from + gap, 0.0), top[0], top[1]]),
            }
            is_open = true;
        }
        for bar in &mut bars {
            let right = bar.last().map_or(0.0, |&(right, _)| right);
            bar.push((right, 0.0));
        }
        bars
    }

    /// The points of each run of buckets with values, without a break.
    fn runs(&self, breaks: &[usize]) -> Vec<Vec<(f64, f64)>> {
        let mut runs = Vec::new();
        let mut run = Vec::new();
        let mut breaks = breaks.iter().map(|bucket| bucket / self.width).peekable();
        for (slot, value) in self.values.iter().enumerate() {
            while breaks.next_if(|&at| at <= slot).is_some() {
                runs.push(std::mem::take(&mut run));
            }
            match value {
                Some(value) => run.push(((slot as f64 + 0.5) * self.width as f64, *value)),
                None => runs.push(std::mem::take(&mut run)),
            }
        }
        runs.push(run);
        runs.retain(|run| !run.is_empty());
        runs
    }
}

/// Names of the curves, in columns above the chart, where they hide no data.
struct Legend<'a> {
    curves: &'a [Curve],
    columns: usize,
    /// Maximum number of columns of a character grid that a name takes.
    width: usize,
}

impl<'a> Legend<'a> {
    fn of(timeline: &'a Timeline) -> Self {
        let is_named = |curve: &Curve| !curve.name.is_empty();
        let curves = if timeline.curves.iter().any(is_named) { &timeline.curves[..] } else { &[] };
        let room = |columns: usize| ((SIZE.0 / columns as i32 - SAMPLE - 16) / CHARACTER) as usize;
        let longest = curves.iter().map(|curve| text_width(&curve.name)).max().unwrap_or(0);
        let columns = (1..=4).rev().find(|&columns| longest <= room(columns)).unwrap_or(1);
        Self { curves, columns, width: room(columns) }
    }

    fn height(&self) -> i32 {
        let rows = self.curves.len().div_ceil(self.columns) as i32;
        ROW * rows + if rows > 0 { 10 } else { 0 }
    }

    fn draw(&self, shapes: &mut Shapes) {
        for (index, (curve, colour)) in self.curves.iter().zip(colours()).enumerate() {
            let (row, column) = ((index / self.columns) as i32, (index % self.columns) as i32);
            let (x, y) = (f64::from(SIZE.0 / self.columns as i32 * column), f64::from(ROW * row + ROW / 2));
            shapes.line(&[(x, y), (x + f64::from(SAMPLE - 8), y)], colour, 3);
            shapes.text((x + f64::from(SAMPLE), y), &cut(&curve.name, self.width), TextSide::Right);
        }
    }
}

/// Width of a text in characters. East Asian wide characters count twice.
fn text_width(text: &str) -> usize {
    text.chars().map(character_width).sum()
}

fn character_width(char: char) -> usize {
    if char >= '\u{1100}' { 2 } else { 1 }
}

/// A text of at most this width, with an ellipsis if it is cut.
fn cut(text: &str, width: usize) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let kept = text.chars().take_while(|&char| {
        let fits = character_width(char) <= left;
        left = left.saturating_sub(character_width(char));
        fits
    });
    kept.chain(once('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(curves: &[(&str, &[Option<f64>])]) -> Timeline {
        let curve = |&(name, values): &(&str, &[Option<f64>])| Curve {
            name: name.to_owned(),
            values: values.to_vec(),
        };
        Timeline {
            title: "access.log".to_owned(),
            value: "records".to_owned(),
            buckets: curves.iter().map(|(_, values)| values.len()).max().unwrap_or(0),
            ticks: vec![Tick { at: 1.0, label: "06:20".to_owned(), context: "2026-03-01".to_owned() }],
            curves: curves.iter().map(curve).collect(),
            has_bars: curves.iter().all(|(name, _)| name.is_empty()),
            ..Timeline::default()
        }
    }

    fn count(svg: &str, tag: &str) -> usize {
        svg.matches(&format!("<{tag} ")).count()
    }

    #[test]
    fn a_bar_is_drawn_for_each_bucket_with_records() {
        let svg = timeline(&[("", &[Some(3.0), Some(0.0), Some(5.0)])]).svg();
        assert_eq!((count(&svg, "polygon"), count(&svg, "circle")), (2, 0));
        for text in ["access.log", "records", "06:20", "2026-03-01"] {
            assert!(svg.contains(&format!(">{text}<")), "{text}");
        }
    }

    #[test]
    fn a_curve_without_a_name_needs_no_legend() {
        let values = [Some(1.0), Some(2.0)];
        let unnamed = Timeline { has_bars: false, ..timeline(&[("", &values)]) }.svg();
        assert_eq!(count(&timeline(&[("p99", &values)]).svg(), "polyline"), count(&unnamed, "polyline") + 1);
    }

    #[test]
    fn a_line_is_broken_where_a_bucket_has_no_value() {
        let whole = [1.0, 2.0, 2.0, 0.5, 0.5].map(Some);
        let broken = [Some(1.0), Some(2.0), None, Some(0.5), Some(0.5)];
        let [whole, broken] = [whole, broken].map(|values| timeline(&[("p99", &values)]).svg());
        assert_eq!(count(&broken, "polyline"), count(&whole, "polyline") + 1);
        assert_eq!((count(&broken, "circle"), count(&whole, "circle")), (4, 5));
    }

    #[test]
    fn no_line_leads_across_a_gap_that_is_left_out() {
        let slots = Slots::of(&[1.0, 2.0, 3.0, 4.0].map(Some));
        assert_eq!(slots.runs(&[]).len(), 1);
        let ends = slots.runs(&[1]).iter().map(|run| (run[0].0, run[run.len() - 1].0)).collect::<Vec<_>>();
        assert_eq!(ends, [(0.5, 0.5), (1.5, 3.5)]);
    }

    #[test]
    fn small_counts_have_marks_at_whole_numbers() {
        let svg = timeline(&[("", &[1.0, 3.0].map(Some))]).svg();
        assert!(["0", "1", "2", "3"].iter().all(|mark| svg.contains(&format!(">{mark}<"))));
        assert!(!svg.contains(">0.5<") && !svg.contains(">1.5<"));
        assert!(timeline(&[("", &[0.5, 1.5].map(Some))]).svg().contains(">0.5<"));
    }

    #[test]
    fn names_of_curves_are_escaped_and_cut() {
        let long = "/search?q=".to_owned() + &"漢".repeat(100);
        let names = ["<script>&\"'\u{1b}\u{FFFF}", &long];
        let svg = timeline(&names.map(|name| (name, &[Some(1.0), Some(2.0)][..]))).svg();
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
        assert!(texts.contains(&"<script>&\"'\u{FFFD}\u{FFFD}"), "{texts:?}");
        assert!(texts.iter().any(|text| text.starts_with("/search?q=漢") && text.ends_with("漢…")));
        assert!(!svg.contains(&long));
    }

    #[test]
    fn odd_values_are_drawn_or_left_out() {
        let odd = [f64::NAN, f64::INFINITY, 0.0, -3.0, 1e300, -1e300, 1e-300].map(Some);
        for name in ["", "mean"] {
            for values in [&odd[..], &[None, None], &[]] {
                let svg = timeline(&[(name, values)]).svg();
                assert!(roxmltree::Document::parse(&svg).is_ok());
                assert!(!svg.contains("NaN") && !svg.contains("inf"));
            }
        }
        assert!(roxmltree::Document::parse(&Timeline::default().svg()).is_ok());
    }

    #[test]
    fn of_many_buckets_the_highest_of_several_is_drawn() {
        let mut values = vec![Some(1.0); 100_000];
        values[77_777] = Some(1000.0);
        values[5] = None;
        let slots = Slots::of(&values);
        assert_eq!((slots.values.len(), slots.width), (Timeline::MAX_BUCKETS, 50));
        assert_eq!(slots.values.iter().flatten().copied().fold(0.0, f64::max), 1000.0);
        assert!(timeline(&[("", &values)]).svg().len() < 300_000);
    }

    #[test]
    fn neighbouring_bars_are_one_outline_if_they_are_many() {
        let mut values = vec![Some(1.0); 2 * FEW];
        values[1] = Some(2.0);
        values[FEW] = Some(0.0);
        let bars = Slots::of(&values).bars();
        assert_eq!(bars.len(), 2);
        assert_eq!(bars[0][..5], [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 2.0), (2.0, 2.0)]);
        assert_eq!(bars[0].last(), Some(&(FEW as f64, 0.0)));
    }

    #[test]
    fn a_cut_text_is_no_wider_than_its_room() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字", 2), "…");
    }
}
