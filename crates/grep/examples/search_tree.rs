//! Searches files and directories for a pattern, in the order of their paths:
//!
//!     cargo run --release -p finecomb-grep --example search_tree -- 'unsafe (fn|impl)' crates

use std::env;
use std::error::Error;
use std::io::stdout;

use finecomb_grep::{GrepOptions, PatternOptions, Query, grep};
use finecomb_scan::{Inputs, OrderedOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let pattern = arguments.next().ok_or("usage: search_tree PATTERN PATH...")?;
    let pattern = pattern.into_string().map_err(|_| "the pattern is not UTF-8")?;
    let pattern = PatternOptions::default().patterns([pattern].into());
    let query = Query::new(&GrepOptions::default().pattern(pattern).with_filename(true).line_number(true))?;
    // One thread for each core. The output is the same with any number.
    let outcome = grep(&Inputs::new(arguments), &OrderedOptions::default(), &query, &mut stdout());
    for problem in &outcome.problems {
        eprintln!("{problem}");
    }
    match outcome.output_error {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}
