//! A picture becomes a file.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

use crate::{Error, Result};

/// Pixels of a PNG for each of the picture: for screens with fine pixels, and for print.
const MAGNIFICATION: f32 = 2.0;

/// Writes a picture to a file: as it is if its name ends with `.svg`, drawn in pixels with the fonts of the system if it
/// ends with `.png`.
///
/// # Errors
///
/// If the name ends with anything else, the file cannot be written, or a PNG is asked for and there are no fonts.
pub fn write_picture(svg: &str, path: &Path) -> Result<()> {
    let bytes = match Format::of(path)? {
        Format::Svg => svg.as_bytes().to_vec(),
        Format::Png => png(svg, path, fonts())?,
    };
    let failed = |error| Error::Io { path: path.to_owned(), doing: "cannot write: ", error };
    fs::write(path, bytes).map_err(failed)
}

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines and texts: Scalable Vector Graphics.
    Svg,
    /// Pixels: Portable Network Graphics.
    Png,
}

impl Format {
    /// The format that a name asks for by its ending. To be called before a long measurement whose picture is wanted.
    ///
    /// # Errors
    ///
    /// If it ends with neither `.svg` nor `.png`, in small or capital letters.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
        match ending.to_str() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Error::PictureEnding { path: path.to_owned() }),
        }
    }
}

fn png(svg: &str, path: &Path, fonts: Database) -> Result<Vec<u8>> {
    let failed = |reason: String| Error::Picture { path: path.to_owned(), reason };
    if fonts.is_empty() {
        // A text for which there is no font would be left out without a word.
        return Err(Error::NoFonts { path: path.to_owned() });
    }
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let (width, height) = (tree.size().width() * MAGNIFICATION, tree.size().height() * MAGNIFICATION);
    let pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32);
    let mut pixmap = pixmap.ok_or_else(|| failed("it has no size".to_owned()))?;
    let scale = Transform::from_scale(MAGNIFICATION, MAGNIFICATION);
    resvg::render(&tree, scale, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(error.to_string()))
}

/// The system's fonts, with one of them standing for `sans-serif`, which need not be the library's choice, Arial.
fn fonts() -> Database {
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

/// Fonts without serifs that a system may have, those preferred first.
const FAMILIES: [&str; 6] =
    ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Roboto", "Open Sans", "FreeSans"];

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;
    use crate::chart::{Axis, Chart, Panel, Point, Series, SeriesKind};

    /// A chart with all that there is.
    fn chart() -> Chart {
        let curve = |name: &str, kind, height: f64| Series {
            name: name.to_owned(),
            kind,
            points: (0..=60)
                .map(|step| (f64::from(step) / 10.0).exp2())
                .map(|x| Point::new(x, height * (1.0 - 0.8f64.powf(x))))
                .collect(),
        };
        let measured = |name: &str, kind, height: f64| Series {
            name: name.to_owned(),
            kind,
            points: (0..7)
                .map(|step| f64::from(step).exp2())
                .map(|x| {
                    let y = height * (1.0 - 0.8f64.powf(x));
                    Point::between(x, y, y * 0.93, y * 1.08)
                })
                .collect(),
        };
        let panel = |title: &str, x| Panel {
            title: title.to_owned(),
            x_label: "threads".to_owned(),
            y_label: "speed-up".to_owned(),
            x,
            series: vec![
                curve("as many times as there are cores", SeriesKind::Dashed, 4.0),
                curve("Amdahl's law, 4.1 % serial", SeriesKind::Line, 3.5),
                curve("Universal Scalability Law", SeriesKind::Line, 3.3),
                measured("measured", SeriesKind::Points, 3.4),
                measured("processor time", SeriesKind::Joined, 2.4),
            ],
        };
        Chart {
            title: "comb top -f 7 <access.log> & what more there is in a long command line that does not fit"
                .to_owned(),
            subtitle:
                "4 cores, Some CPU at 2.5 GHz, Linux 6.1; 5 runs at each width, warm; whiskers: quartiles"
                    .to_owned(),
            panels: vec![panel("Speed-up", Axis::Log2), panel("Seconds", Axis::Linear)],
        }
    }

    #[test]
    fn pictures_are_drawn_as_their_names_say() {
        let directory = tempdir().expect("a directory");
        // Not every system has fonts.
        let names = if fonts().is_empty() { &["a.svg"][..] } else { &["a.svg", "b.PNG"] };
        for &name in names {
            let path = directory.path().join(name);
            write_picture(&chart().svg(), &path).expect("a picture");
            let bytes = fs::read(&path).expect("a picture");
            let begins: &[u8] = if name == "a.svg" { b"<svg " } else { b"\x89PNG" };
            assert!(bytes.starts_with(begins), "{name}");
        }
    }

    #[test]
    fn without_fonts_there_is_no_png() {
        let error = png("<svg/>", Path::new("plot.png"), Database::new()).expect_err("no fonts");
        assert_eq!(
            error.to_string(),
            "plot.png: a PNG cannot be labelled here, as no fonts are installed; name a file that ends with .svg instead"
        );
    }

    #[test]
    fn other_endings_are_refused() {
        for name in ["plot.pdf", "plot", "svg"] {
            let error = write_picture("", Path::new(name)).expect_err("no format");
            assert_eq!(error.to_string(), format!("{name}: a picture's name ends with .svg or .png"));
        }
    }
}
