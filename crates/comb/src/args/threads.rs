//! The flag for the number of threads, and the values that it takes.

use std::num::NonZeroUsize;

use clap::Args;
use finecomb_scan::{MAX_WIDTH, Width};
use finecomb_sys::threads::cores;

/// Number of threads, of every command that has threads but `grep`, where `-w` is `--word-regexp`.
#[derive(Args)]
#[group(skip)]
pub(crate) struct Threads {
    /// Number of threads; auto (or 0) uses as many as pay off on the cores that this process may use
    #[arg(
        short = 'j',
        visible_short_alias = 'w',
        long,
        visible_alias = "width",
        value_name = "N",
        default_value = "auto",
        value_parser = parse,
        allow_hyphen_values = true
    )]
    threads: Width,
}

impl Threads {
    /// For commands that scan, which find out at run time how many pay off.
    pub(crate) fn width(&self) -> Width {
        self.threads
    }

    /// For commands that do not scan: `auto` is the number of cores.
    pub(crate) fn count(&self) -> NonZeroUsize {
        let count = match self.threads {
            Width::Auto => cores(),
            Width::Fixed(count) => NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN),
        };
        count.min(MOST_THREADS)
    }
}

/// More threads than this are no use, and could exhaust what a system allows.
const MOST_THREADS: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// Parses a number of threads; `auto` and 0 leave it to comb.
pub(crate) fn parse(text: &str) -> Result<Width, String> {
    if text == "auto" || text == "0" {
        return Ok(Width::Auto);
    }
    let width = text.parse().ok().filter(|width| (1..=MAX_WIDTH).contains(width));
    width.map(Width::Fixed).ok_or_else(|| format!("it must be auto or a number from 1 to {MAX_WIDTH}"))
}
