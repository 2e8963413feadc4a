//! Output flags of experiments.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_plot::PictureFormat as Picture;

use crate::args::format::{FormatFlags, Formats};

/// Output flags of all experiments.
#[derive(Args)]
pub struct ExperimentOutput {
    /// Save the result with all runs to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,

    /// Replace existing files that are not a saved result or a plot
    #[arg(long)]
    pub force: bool,

    /// Print a result saved with --save, without running anything
    #[arg(long, value_name = "FILE", conflicts_with = "save")]
    pub from_json: Option<PathBuf>,

    #[command(flatten)]
    pub format: FormatFlags<ExperimentFormat>,
}

/// Output formats of a result.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExperimentFormat {
    /// Table and notes
    Text,
    /// Table and notes in Markdown
    Markdown,
    /// JSON as written by --save
    Json,
}

impl Formats for ExperimentFormat {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}

/// Output flags of experiments with a plot.
#[derive(Args)]
pub struct Drawn {
    #[command(flatten)]
    pub output: ExperimentOutput,

    /// Plot the result to FILE, whose name ends with .svg (or .png in a build with the feature png)
    #[arg(long, value_name = "FILE", value_parser = parse_plot)]
    pub plot: Option<PathBuf>,
}

/// Parses the path of a plot. A name without a supported extension is rejected before anything is measured.
fn parse_plot(name: &str) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(name);
    Picture::of(&path)?;
    Ok(path)
}
