//! Output of an experiment.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_bench::picture;

use crate::args::format::{FormatFlags, Formats};

/// Flags of all experiments.
#[derive(Args)]
pub(crate) struct Output {
    /// Save the result to FILE, as JSON with every single run
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Show the result that --save has written to FILE, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "save")]
    pub(crate) from_json: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) format: FormatFlags<Format>,
}

/// How a result is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table and notes
    Text,
    /// The same in Markdown
    Markdown,
    /// The same JSON as --save writes
    Json,
}

impl Formats for Format {
    const TEXT: Self = Self::Text;
    const JSON: Self = Self::Json;
}

/// Flags of the experiments that have a picture.
#[derive(Args)]
pub(crate) struct Drawn {
    #[command(flatten)]
    pub(crate) output: Output,

    /// Draw the result into this file, whose name ends with .svg (or .png in a build with the feature png)
    #[arg(long, value_name = "FILE", value_parser = parse_picture)]
    pub(crate) plot: Option<PathBuf>,
}

/// Refuses a name that says no format before anything is measured.
fn parse_picture(name: &str) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(name);
    picture::Format::of(&path)?;
    Ok(path)
}
