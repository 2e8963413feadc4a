//! What is done with the result of an experiment.

use std::path::PathBuf;

use clap::Args;
use finecomb_bench::picture::Format;

/// Flags that all experiments have.
#[derive(Args)]
pub(crate) struct Output {
    /// Keep the result in this file, all single runs included
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Show the result that is kept in this file, and run nothing
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) from_json: Option<PathBuf>,

    /// Draw the result into this file, whose name ends with .svg or .png
    #[arg(long, value_name = "FILE", value_parser = parse_picture)]
    pub(crate) plot: Option<PathBuf>,

    /// Print the result in Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Refuses a name that says no format before anything is measured.
fn parse_picture(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    match Format::of(&path) {
        Ok(_) => Ok(path),
        Err(_) => Err("it must end with .svg or .png".to_owned()),
    }
}
