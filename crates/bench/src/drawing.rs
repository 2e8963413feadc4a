//! Drawing with plotters, in the style of all pictures.

use std::io;

use finecomb_plot::{AXIS, COLOURS, Colour, GRID, INK, LABEL, document};
use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::prelude::*;

/// A part of a picture.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Whether drawing succeeded. Drawing into a string always does.
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

/// Factor by which plotters draws a picture larger than its declared size, since it rounds coordinates to whole pixels, which
/// would be visible in curves and small marks.
const FINENESS: i32 = 8;

/// The colour of text.
const TEXT: RGBColor = of(INK);

/// Pixels for the numbers and the name of the horizontal axis.
pub(crate) const BELOW: i32 = 46;

/// Converts pixels of the picture to pixels of plotters.
pub(crate) fn px(pixels: i32) -> i32 {
    pixels * FINENESS
}

/// The colour of a series by its number. They repeat.
pub(crate) fn colour(series: usize) -> RGBColor {
    of(COLOURS[series % COLOURS.len()])
}

const fn of(Colour(red, green, blue): Colour) -> RGBColor {
    RGBColor(red, green, blue)
}

/// Style of a text of this size in pixels, in sans serif.
pub(crate) fn text_style(size: i32, style: FontStyle) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", px(size)).into_font().style(style)).color(&TEXT)
}

/// An SVG document with a title, a subtitle, and a picture of `size` pixels (width and height).
pub(crate) fn picture(
    title: &str,
    subtitle: &str,
    size: (i32, i32),
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> String {
    let (width, height) = size;
    let mut svg = String::new();
    let draw_all = |backend: SVGBackend<'_>| {
        let area = backend.into_drawing_area();
        draw(&area)?;
        area.present()
    };
    draw_all(SVGBackend::with_string(&mut svg, (px(width) as u32, px(height) as u32)))
        .expect("drawing into a string cannot fail");
    let size_of = |width, height| format!("width=\"{width}\" height=\"{height}\"");
    let svg = svg.replacen(&size_of(px(width), px(height)), &size_of(width, height), 1);
    document(title, subtitle, size, &svg)
}

/// Sets the common style of axes and grid.
pub(crate) fn set_style<X: Ranged, Y: Ranged>(mesh: &mut MeshStyle<'_, '_, X, Y, SVGBackend<'_>>) {
    mesh.label_style(text_style(LABEL, FontStyle::Normal))
        .axis_desc_style(text_style(LABEL, FontStyle::Normal))
        .axis_style(of(AXIS).stroke_width(px(1) as u32))
        .bold_line_style(of(GRID).stroke_width(px(1) as u32))
        .light_line_style(TRANSPARENT)
        .set_all_tick_mark_size(px(4));
}
