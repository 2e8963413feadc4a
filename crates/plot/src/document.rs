//! SVG documents drawn with plotters, and the style of all pictures.

use std::io;

use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;

use crate::wrap::wrapped;

/// A part of a picture.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Whether drawing succeeded. Drawing into a string always does.
pub type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// Factor by which plotters draws a picture larger than its declared size, since it rounds coordinates to whole pixels, which
/// would be visible in curves and small marks.
const FINENESS: i32 = 8;

/// Text size of titles in pixels.
const TITLE: i32 = 22;

/// Text size of everything else in pixels.
pub const LABEL: i32 = 16;

/// The colours of text, axes and grid.
const INK: RGBColor = RGBColor(34, 34, 34);
pub(crate) const AXIS: RGBColor = RGBColor(110, 110, 110);
pub(crate) const GRID: RGBColor = RGBColor(225, 225, 225);

/// The colours of Okabe and Ito, in order of use; yellow, which is hardly visible on white, is omitted.
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Pixels around the picture.
const MARGIN: i32 = 16;

/// Pixels for the numbers and the name of the horizontal axis.
pub const BELOW: i32 = 46;

/// Converts pixels of the picture to pixels of plotters.
pub fn px(pixels: i32) -> i32 {
    pixels * FINENESS
}

/// Style of a text of this size in pixels, in sans serif.
pub fn text_style(size: i32, style: FontStyle) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", px(size)).into_font().style(style)).color(&INK)
}

/// An SVG document with a title and a subtitle, and an area of `size` pixels (width and height) below for `draw`.
pub fn document(
    title: &str,
    subtitle: &str,
    size: (i32, i32),
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> String {
    // Approximate character width of DejaVu Sans, which is wider than most fonts.
    let columns = |text_size: i32| (f64::from(size.0) / (f64::from(text_size) * 0.47)) as usize;
    let texts = [(title, TITLE, FontStyle::Bold), (subtitle, LABEL, FontStyle::Normal)];
    let lines = texts.into_iter().flat_map(|(text, size, style)| {
        wrapped(text, columns(size)).into_iter().map(move |line| (line, size, style))
    });
    let lines: Vec<(String, i32, FontStyle)> = lines.collect();
    let top = MARGIN * 3 / 2 + lines.iter().map(|(_, size, _)| size * 5 / 4).sum::<i32>();
    let (width, height) = (size.0 + 2 * MARGIN, top + size.1 + MARGIN);
    let mut svg = String::new();
    let draw_all = |backend: SVGBackend<'_>| {
        let area = backend.into_drawing_area();
        area.fill(&WHITE)?;
        let mut y = MARGIN;
        for (line, size, style) in lines {
            area.draw_text(&line, &text_style(size, style), (px(MARGIN), px(y)))?;
            y += size * 5 / 4;
        }
        draw(&area.margin(px(top), px(MARGIN), px(MARGIN), px(MARGIN)))?;
        area.present()
    };
    draw_all(SVGBackend::with_string(&mut svg, (px(width) as u32, px(height) as u32)))
        .expect("drawing into a string cannot fail");
    let size = |width, height| format!("width=\"{width}\" height=\"{height}\"");
    let svg = svg.replacen(&size(px(width), px(height)), &size(width, height), 1);
    // Texts may contain characters that XML cannot represent.
    let is_refused =
        |char: char| char.is_control() && char != '\n' || matches!(char, '\u{FFFE}' | '\u{FFFF}');
    svg.replace(is_refused, "\u{FFFD}")
}

/// Sets the common style of axes and grid.
pub fn set_style<X: Ranged, Y: Ranged>(mesh: &mut MeshStyle<'_, '_, X, Y, SVGBackend<'_>>) {
    mesh.label_style(text_style(LABEL, FontStyle::Normal))
        .axis_desc_style(text_style(LABEL, FontStyle::Normal))
        .axis_style(AXIS.stroke_width(px(1) as u32))
        .bold_line_style(GRID.stroke_width(px(1) as u32))
        .light_line_style(TRANSPARENT)
        .set_all_tick_mark_size(px(4));
}
