//! Formats of pictures as files.

use std::path::Path;

/// The format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    #[cfg(feature = "png")]
    Png,
}

impl PictureFormat {
    /// The format for the extension of a file name, in lower or upper case.
    ///
    /// # Errors
    ///
    /// The reason if no format has this extension, or this build cannot draw it. Check it before a long measurement.
    pub fn of(path: &Path) -> Result<Self, &'static str> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("svg") => Ok(Self::Svg),
            #[cfg(feature = "png")]
            Some("png") => Ok(Self::Png),
            #[cfg(feature = "png")]
            _ => Err("expected a name that ends with .svg or .png"),
            #[cfg(not(feature = "png"))]
            Some("png") => Err("this build cannot draw PNG: use .svg, or build with --features png"),
            #[cfg(not(feature = "png"))]
            _ => Err("expected a name that ends with .svg"),
        }
    }
}

#[cfg(all(test, not(feature = "png")))]
mod tests {
    use super::*;

    #[test]
    fn without_the_feature_a_png_is_refused_with_a_remedy() {
        let reason = PictureFormat::of(Path::new("plot.png")).expect_err("no PNG");
        assert_eq!(reason, "this build cannot draw PNG: use .svg, or build with --features png");
    }
}
