//! Times lexer and parser alone, on files that were read into memory before. This is the limit of `comb symbols`:
//! `cargo run --release -p finecomb-symbols --example limit -- [--thorough] THREADS PATH...`
//!
//! Threads take the next file by a counter; nothing is printed per file and no order is kept. Prints a JSON object.

use std::error::Error;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use finecomb_scan::{Inputs, WalkOptions, list_files};
use finecomb_symbols::{Language, SymbolsOptions, SymbolsQuery, TextParser};
use finecomb_sys::Usage;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let thorough = arguments.first().is_some_and(|first| first == "--thorough");
    arguments.drain(..usize::from(thorough));
    let [threads, paths @ ..] = &arguments[..] else { return Err("expected THREADS PATH...".into()) };
    let threads: usize = threads.parse()?;
    let files = read(paths)?;
    let query = SymbolsQuery::new(&SymbolsOptions::default().thorough(thorough))?;

    let (next, before, start) = (AtomicUsize::new(0), Usage::of_process(), Instant::now());
    let work = || {
        let (mut parser, mut definitions) = (TextParser::new(&query), 0);
        while let Some((path, text)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            definitions += parser.count(path, text);
        }
        definitions
    };
    let definitions: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).sum()
    });
    let (seconds, used) = (start.elapsed().as_secs_f64(), Usage::of_process() - before);

    let sizes = files.iter().map(|(_, text)| text.len());
    println!(
        "{}",
        serde_json::json!({
            "files": files.len(),
            "bytes": sizes.clone().sum::<usize>(),
            "largest": sizes.max().unwrap_or_default(),
            "definitions": definitions,
            "seconds": seconds,
            "cpu_seconds": used.cpu_time().as_secs_f64(),
        })
    );
    Ok(())
}

/// A path, and the bytes of its file.
type NamedText = (PathBuf, Vec<u8>);

/// The files that `comb symbols` would list, in path order.
fn read(paths: &[String]) -> io::Result<Vec<NamedText>> {
    let walk = WalkOptions::of_search();
    let (found, _) = list_files(&Inputs { walk, ..Inputs::new(paths) });
    let known = found.into_iter().map(|file| file.path).filter(|path| Language::knows(path));
    known.map(|path| Ok((path.clone(), fs::read(path)?))).collect()
}
