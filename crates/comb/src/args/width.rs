//! How many threads work, for commands that scan.

use finecomb_scan::{MAX_WIDTH, Width};

/// Parses a number of threads, or the word for finding it out.
pub(super) fn parse(text: &str) -> Result<Width, String> {
    if text == "auto" {
        return Ok(Width::Auto);
    }
    let width = text.parse().ok().filter(|width| (1..=MAX_WIDTH).contains(width));
    width.map(Width::Fixed).ok_or_else(|| format!("it must be auto or a number from 1 to {MAX_WIDTH}"))
}
