//! The flag for the number of threads.

use std::num::NonZeroUsize;

use clap::Args;
use finecomb_scan::{MAX_WIDTH, Width};
use finecomb_sys::threads::cores;
use serde::Deserialize;

use crate::args::value;

/// Number of threads, for all commands with threads except `grep`, where `-w` is `--word-regexp`.
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default)]
#[group(skip)]
pub struct Threads {
    /// Number of threads; auto (or 0) adapts to the available cores
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
    #[serde(deserialize_with = "value::one")]
    pub threads: Width,
}

impl Threads {
    /// For commands that scan: `auto` adapts at run time.
    pub fn width(&self) -> Width {
        self.threads
    }

    /// For commands that do not scan: `auto` is the number of cores.
    pub fn count(&self) -> NonZeroUsize {
        count(self.threads)
    }
}

/// The number of threads of a job that does not scan: `auto` is the number of cores.
pub fn count(threads: Width) -> NonZeroUsize {
    let count = match threads {
        Width::Auto => cores(),
        Width::Fixed(count) => NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN),
    };
    count.min(MAX_THREADS)
}

/// Maximum number of threads outside of scans: more would not help, and could exhaust the limits of the system.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");

/// Parses a number of threads; `auto` and 0 are automatic.
pub fn parse(text: &str) -> Result<Width, String> {
    if text == "auto" || text == "0" {
        return Ok(Width::Auto);
    }
    let width = text.parse().ok().filter(|width| (1..=MAX_WIDTH).contains(width));
    width.map(Width::Fixed).ok_or_else(|| format!("expected auto or a number from 1 to {MAX_WIDTH}"))
}
