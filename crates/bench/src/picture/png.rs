//! Rendering of an SVG document as PNG.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

/// Scale factor of a PNG, for high-resolution screens and for print.
const MAGNIFICATION: f32 = 2.0;

/// Common sans-serif fonts, in order of preference.
const FAMILIES: [&str; 6] =
    ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Roboto", "Open Sans", "FreeSans"];

/// The picture as a PNG, or the reason for a failure.
pub(super) fn encoded(svg: &str, fonts: Database) -> Result<Vec<u8>, String> {
    if fonts.is_empty() {
        // The renderer silently omits text without a font.
        return Err("no fonts are installed to label a PNG; use .svg".to_owned());
    }
    let failed = |reason: &dyn ToString| format!("cannot render the plot: {}", reason.to_string());
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let (width, height) = (tree.size().width() * MAGNIFICATION, tree.size().height() * MAGNIFICATION);
    let pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32);
    let mut pixmap = pixmap.ok_or_else(|| failed(&"it has no size"))?;
    let scale = Transform::from_scale(MAGNIFICATION, MAGNIFICATION);
    resvg::render(&tree, scale, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(&error))
}

/// The fonts of the system, with `sans-serif` mapped to an installed one if the default of the library, Arial, is not.
pub(super) fn fonts() -> Database {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let has = |family| fonts.query(&Query { families: &[family], ..Query::default() }).is_some();
    if !has(Family::SansSerif) {
        let known = FAMILIES.into_iter().find(|&name| has(Family::Name(name))).map(str::to_owned);
        let first = || Some(fonts.faces().next()?.families.first()?.0.clone());
        if let Some(family) = known.or_else(first) {
            fonts.set_sans_serif_family(family);
        }
    }
    fonts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::chart;
    use crate::chart::{Point, SeriesKind};

    #[test]
    fn a_chart_is_rendered() {
        // Not every system has fonts.
        if !fonts().is_empty() {
            let points = (1..9).map(|x| Point::between(f64::from(x), 2.0, 1.0, 3.0)).collect();
            let png = encoded(&chart("a <b> & c", SeriesKind::Joined, points).svg(), fonts()).expect("a PNG");
            assert!(png.starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn without_fonts_there_is_no_png() {
        let error = encoded("<svg/>", Database::new()).expect_err("no fonts");
        assert_eq!(error, "no fonts are installed to label a PNG; use .svg");
    }
}
