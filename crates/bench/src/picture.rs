//! Pictures as files.

#[cfg(feature = "png")]
mod png;

use std::fs;
use std::path::Path;

use finecomb_plot::PictureFormat;

use crate::{Error, Result};

/// Writes a picture to a file: unchanged if the name ends with `.svg`, rendered with the fonts of the system if it ends with
/// `.png`.
///
/// # Errors
///
/// If [`PictureFormat::of`] refuses the name, the file cannot be written, or no fonts are installed for a PNG.
pub fn write_picture(svg: &str, path: &Path) -> Result<()> {
    let refused = |reason| Error::File { path: path.to_owned(), reason };
    let bytes = match PictureFormat::of(path).map_err(|reason| refused(reason.to_owned()))? {
        PictureFormat::Svg => svg.as_bytes().to_vec(),
        #[cfg(feature = "png")]
        PictureFormat::Png => png::encoded(svg, png::fonts()).map_err(refused)?,
    };
    let failed = |error| Error::Io { path: path.to_owned(), doing: "cannot write: ", error };
    fs::write(path, bytes).map_err(failed)
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;

    #[test]
    fn an_svg_is_written_unchanged() {
        let directory = tempdir().expect("a directory");
        let path = directory.path().join("a.SVG");
        write_picture("<svg/>", &path).expect("a picture");
        assert_eq!(fs::read(&path).expect("a picture"), b"<svg/>");
    }

    #[test]
    fn other_extensions_are_refused() {
        for name in ["plot.pdf", "plot", "svg"] {
            let error = write_picture("", Path::new(name)).expect_err("no format").to_string();
            assert!(error.starts_with(&format!("{name}: expected a name that ends with .svg")), "{error}");
        }
    }
}
