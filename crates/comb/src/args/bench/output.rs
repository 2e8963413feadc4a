//! Output of an experiment.

use std::path::PathBuf;

use clap::Args;
use finecomb_bench::picture::Format;

/// Flags of all experiments.
#[derive(Args)]
pub(crate) struct Output {
    /// Keep the result in this file, with every single run it has
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Show the result that is kept in this file, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) from_json: Option<PathBuf>,

    /// Print the result in Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
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
    Format::of(&path)?;
    Ok(path)
}
