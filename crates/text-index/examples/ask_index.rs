//! Builds an index of a text, and looks up a string in it:
//!
//!     cargo run --release -p finecomb-text-index --example ask_index -- samples/access.log /tmp/access.comb Googlebot

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use finecomb_text_index::{BuildOptions, Index, LoadedText};

const USAGE: &str = "usage: ask_index TEXT INDEX STRING";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let mut next = || arguments.next().ok_or(USAGE);
    let (text, output) = (PathBuf::from(next()?), PathBuf::from(next()?));
    let pattern = next()?.into_string().map_err(|_| "the string is not UTF-8")?;
    LoadedText::new(&text, fs::read(&text)?, None)?.build(&output, &BuildOptions::default())?;
    // The index is mapped: only the few pages that a search needs are read.
    let index = Index::open(&output)?;
    let pattern = index.pattern(pattern.as_bytes())?;
    let found = index.occurrences(&pattern)?;
    println!("{} occurrences", found.count());
    if let Some(position) = found.first_from(0)? {
        println!("first at {position}: {}", String::from_utf8_lossy(&index.text(position, position + 60)?));
    }
    Ok(())
}
