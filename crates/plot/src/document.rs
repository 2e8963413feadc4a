//! SVG documents: the style that all pictures have in common, and the shapes that charts consist of.

use std::fmt::{self, Write};

use finecomb_sys::markup::escaped;

use crate::wrap::wrapped;

/// Text size of titles in pixels.
const TITLE: i32 = 22;

/// Text size of everything else in pixels.
pub const LABEL: i32 = 16;

/// Pixels of a character and of a row of text, approximately.
pub(crate) const CHARACTER: i32 = 9;
pub(crate) const ROW: i32 = LABEL * 5 / 4;

/// Pixels around the picture.
const MARGIN: i32 = 16;

/// A colour: its red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// The colour of text.
pub const INK: Colour = Colour(34, 34, 34);

/// The colour of axes.
pub const AXIS: Colour = Colour(110, 110, 110);

/// The colour of the grid.
pub const GRID: Colour = Colour(225, 225, 225);

/// The colours of Masataka Okabe and Kei Ito ("Color Universal Design", 2008), which colour-blind readers can distinguish, in
/// order of use; yellow, which is hardly visible on white, is omitted.
pub const COLOURS: [Colour; 7] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(230, 159, 0),
    Colour(86, 180, 233),
    Colour(0, 0, 0),
];

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02X}{:02X}{:02X}", self.0, self.1, self.2)
    }
}

/// A place in pixels, from the left and from the top.
pub(crate) type PixelPlace = (f64, f64);

/// The side of its place on which a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextSide {
    /// To the right, in the middle of the row.
    Right,
    /// To the left, in the middle of the row.
    Left,
    /// Below, in the middle of the column.
    Below,
    /// Around it, turned by a quarter to the left.
    Upwards,
}

/// Shapes, later ones on top.
#[derive(Default)]
pub(crate) struct Shapes(String);

impl Shapes {
    /// A row of text.
    pub(crate) fn text(&mut self, (x, y): PixelPlace, text: &str, side: TextSide) {
        let (anchor, down) = match side {
            TextSide::Right => ("start", "0.35em"),
            TextSide::Left => ("end", "0.35em"),
            TextSide::Below => ("middle", "0.76em"),
            TextSide::Upwards => ("middle", "0.35em"),
        };
        let (x, y) = (Pixels(x), Pixels(y));
        let turn = if side == TextSide::Upwards {
            format!(" transform=\"rotate(-90 {x} {y})\"")
        } else {
            String::new()
        };
        let attributes = format!("dy=\"{down}\" text-anchor=\"{anchor}\"{turn}");
        write_text(&mut self.0, (x, y), LABEL, &attributes, text);
    }

    /// A line through several points.
    pub(crate) fn line(&mut self, points: &[PixelPlace], colour: Colour, width: i32) {
        let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"");
        self.shape("polyline", &style, points);
    }

    /// A filled outline.
    pub(crate) fn polygon(&mut self, points: &[PixelPlace], colour: Colour) {
        self.shape("polygon", &format!("fill=\"{colour}\""), points);
    }

    /// A filled circle.
    pub(crate) fn circle(&mut self, (x, y): PixelPlace, radius: i32, colour: Colour) {
        let (x, y) = (Pixels(x), Pixels(y));
        self.add(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{colour}\"/>"));
    }

    /// The elements of the shapes.
    pub(crate) fn elements(self) -> String {
        self.0
    }

    fn shape(&mut self, element: &str, style: &str, points: &[PixelPlace]) {
        let points: Vec<String> =
            points.iter().map(|&(x, y)| format!("{},{}", Pixels(x), Pixels(y))).collect();
        self.add(format_args!("<{element} {style} points=\"{}\"/>", points.join(" ")));
    }

    fn add(&mut self, element: fmt::Arguments<'_>) {
        add(&mut self.0, element);
    }
}

/// Pixels to a tenth.
#[derive(Clone, Copy)]
struct Pixels(f64);

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}

fn add(out: &mut String, element: fmt::Arguments<'_>) {
    writeln!(out, "{element}").expect("a string can be written");
}

fn write_text(out: &mut String, (x, y): (Pixels, Pixels), size: i32, attributes: &str, text: &str) {
    let text = escaped(text);
    let size = Pixels(f64::from(size) * 0.8);
    add(out, format_args!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" {attributes}>{text}</text>"));
}

/// An SVG document with a title, a subtitle, and below them SVG elements that take `size` pixels (width and height).
///
/// Characters that XML cannot represent are shown as �, also in `elements`.
pub fn document(title: &str, subtitle: &str, size: (i32, i32), elements: &str) -> String {
    // Approximate character width of DejaVu Sans, which is wider than most fonts.
    let columns = |text_size: i32| (f64::from(size.0) / (f64::from(text_size) * 0.47)) as usize;
    let mut head = String::new();
    let mut y = MARGIN;
    for (text, size, weight) in [(title, TITLE, " font-weight=\"bold\""), (subtitle, LABEL, "")] {
        for line in wrapped(text, columns(size)) {
            let place = (Pixels(MARGIN.into()), Pixels(y.into()));
            write_text(&mut head, place, size, &format!("dy=\"0.76em\"{weight}"), &line);
            y += size * 5 / 4;
        }
    }
    let top = y + MARGIN / 2;
    let (width, height) = (size.0 + 2 * MARGIN, top + size.1 + MARGIN);
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" fill=\"{INK}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>\n\
         {head}<g transform=\"translate({MARGIN} {top})\">\n{elements}</g>\n</svg>\n"
    );
    let is_refused =
        |char: char| char.is_control() && char != '\n' || matches!(char, '\u{FFFE}' | '\u{FFFF}');
    svg.replace(is_refused, "\u{FFFD}")
}
