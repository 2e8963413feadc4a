//! The flag of a picture of the counts by bucket.

use std::path::PathBuf;

use clap::Args;

/// A picture of the counts by bucket.
#[derive(Args, Clone)]
#[command(next_help_heading = "Time")]
pub(crate) struct Plot {
    /// Draw the printed counts by bucket to FILE, as SVG
    ///
    /// Bars are drawn of buckets without a key, and a line for each of the first ten keys. If --sort names a measure, its
    /// values are drawn instead of the counts.
    #[arg(id = "plot", long = "plot", value_name = "FILE.svg", value_parser = parse, requires = "buckets", conflicts_with = "sample")]
    pub(crate) file: Option<PathBuf>,
}

fn parse(name: &str) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(name);
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("svg") => Ok(path),
        Some("png") => Err("a PNG cannot be drawn; use a name that ends with .svg, which browsers show"),
        _ => Err("expected a name that ends with .svg"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_svg_is_drawn() {
        assert_eq!(parse("a.b/counts.SVG"), Ok(PathBuf::from("a.b/counts.SVG")));
        assert!(parse("counts.png").is_err_and(|reason| reason.starts_with("a PNG cannot be drawn")));
        for name in ["", "svg", "counts.pdf", "counts.svg.gz"] {
            assert_eq!(parse(name), Err("expected a name that ends with .svg"), "{name}");
        }
    }
}
