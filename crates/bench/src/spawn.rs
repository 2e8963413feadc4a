//! Shall every file have a thread of its own? One thread, a thread for each file, and pools, with the same
//! bare search.
//!
//! `du -s` goes through the same tree without reading a file: it is the yardstick for what the tree itself
//! takes.

mod report;
mod search;
mod strategy;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use finecomb_scan::FoundFile;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use self::search::{Searcher, Tally};
use self::strategy::{Outcome, Strategy};
use crate::cache::{CacheDropper, Cold};
use crate::effort::{Measured, measured};
use crate::files;
use crate::machine::Machine;
use crate::rounds::{Progress, distinct, in_turns};
use crate::run::Job;
use crate::sample::Sample;
use crate::{Error, Result};

/// Options of the experiment.
pub struct SpawnOptions {
    /// The regular expression to search for.
    pub pattern: String,
    /// The file or tree to search.
    pub path: PathBuf,
    /// The widths of pools.
    pub widths: Vec<NonZeroUsize>,
    /// Number of runs of each way.
    pub runs: NonZeroUsize,
    /// Whether caches are dropped before each run.
    pub cold: bool,
}

/// Result of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spawn {
    machine: Machine,
    pattern: String,
    path: String,
    /// Result of every strategy.
    tally: Tally,
    /// Files and directories that could not be looked at when the tree was listed.
    unseen: u64,
    /// Dropping of caches; none if the runs were to be warm.
    cold: Option<Cold>,
    /// The ways to share files among threads: one thread, a thread for each file, pools in ascending order.
    cases: Vec<Case>,
    /// Times of `du -s`; none if there is no such program.
    du: Option<Times>,
}

/// Measurements of a strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Case {
    strategy: Strategy,
    #[serde(flatten)]
    times: Times,
    /// Times that the system refused a thread, in all runs.
    refused: u64,
    /// Most threads that were alive at the same time.
    alive: usize,
    /// Times that a file could not be opened at once because too many were open, in all runs.
    waits: u64,
}

/// Times of runs, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Times {
    wall: Sample,
    cpu: Sample,
}

impl FromIterator<Measured> for Times {
    fn from_iter<I: IntoIterator<Item = Measured>>(runs: I) -> Self {
        let (wall, cpu) = runs.into_iter().map(|run| (run.wall, run.cpu())).unzip();
        Self { wall: Sample::new(wall), cpu: Sample::new(cpu) }
    }
}

/// The command that walks the tree without reading files.
const DU: &str = "du -s";

/// Searches a tree in all ways, in turns. The files are found before, which is not part of what is measured,
/// and searched once by one thread, whose count all others must come to.
///
/// # Errors
///
/// If the pattern is none, there is nothing to search, threads are refused, or a way comes to another count.
pub fn spawn(options: &SpawnOptions, progress: Progress<'_>) -> Result<Spawn> {
    let SpawnOptions { pattern, path, .. } = options;
    let machine = Machine::here();
    let searcher = Searcher::new(pattern)?;
    let (files, unseen) = files::below(path)?;
    let dropper = options.cold.then(|| CacheDropper::new([path])).transpose()?;
    raise_descriptor_limit();
    let expected = Strategy::OneThread.run(&files, &searcher)?.tally;
    let ways = ways(&options.widths);
    let name = |way: &Option<Strategy>| way.map_or_else(|| DU.to_owned(), |strategy| strategy.to_string());
    let mut cold = None;
    let runs = in_turns(&ways, options.runs, name, progress, |way| {
        if let Some(dropper) = &dropper {
            cold = Some(dropper.drop_and_verify(cold));
        }
        match way {
            Some(strategy) => run(*strategy, &files, &searcher, expected),
            None => Ok((run_du(path, options.cold)?, Outcome::default())),
        }
    })?;
    let (mut cases, mut du) = (Vec::new(), None);
    for (way, runs) in ways.into_iter().zip(runs) {
        let (measured, outcomes): (Vec<Measured>, Vec<Outcome>) = runs.into_iter().unzip();
        let times = measured.into_iter().collect();
        match way {
            Some(strategy) => cases.push(Case::new(strategy, times, &outcomes)),
            None => du = Some(times),
        }
    }
    let path = path.display().to_string();
    Ok(Spawn { machine, pattern: pattern.clone(), path, tally: expected, unseen, cold, cases, du })
}

/// All strategies, and `du`, which is none, if there is such a program.
fn ways(widths: &[NonZeroUsize]) -> Vec<Option<Strategy>> {
    let pools = distinct(widths.iter().copied()).into_iter().map(Strategy::Pool);
    let strategies = [Strategy::OneThread, Strategy::ThreadPerFile].into_iter().chain(pools);
    let has_du = !matches!(Job::new("du", ["--version"]).measure(), Err(Error::Start { .. }));
    strategies.map(Some).chain(has_du.then_some(None)).collect()
}

/// A thread for each file means an open file for each thread: as many as the system can be made to allow.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Where that is refused, threads wait for each other's files, and a note says how often.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn run(
    strategy: Strategy,
    files: &[FoundFile],
    searcher: &Searcher,
    expected: Tally,
) -> Result<(Measured, Outcome)> {
    let (outcome, measured) = measured(|| strategy.run(files, searcher));
    let outcome = outcome?;
    if outcome.tally != expected {
        return Err(Error::Differs {
            this: strategy.to_string(),
            found: outcome.tally.to_string(),
            other: Strategy::OneThread.to_string(),
            expected: expected.to_string(),
        });
    }
    Ok((measured, outcome))
}

fn run_du(path: &Path, cold: bool) -> Result<Measured> {
    if cold {
        // That the program itself is loaded is not to be measured. Not every du knows the flag.
        let _ = Job::new("du", ["--version"]).measure();
    }
    Job::new("du", ["-s".as_ref(), "--".as_ref(), path.as_os_str()]).measure()
}

impl Case {
    fn new(strategy: Strategy, times: Times, runs: &[Outcome]) -> Self {
        Self {
            strategy,
            times,
            refused: runs.iter().map(|run| run.refused).sum(),
            alive: runs.iter().map(|run| run.alive).max().unwrap_or(0),
            waits: runs.iter().map(|run| run.waits).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::experiment::Experiment;

    fn spawned(pattern: &str, path: &Path) -> Result<Spawn> {
        let widths = [2, 1, 2].map(|width| NonZeroUsize::new(width).expect("not zero")).to_vec();
        let runs = NonZeroUsize::new(2).expect("not zero");
        let (pattern, path) = (pattern.to_owned(), path.to_owned());
        spawn(&SpawnOptions { pattern, path, widths, runs, cold: false }, &|_| ())
    }

    #[test]
    fn every_strategy_is_measured_as_often() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["a", "b", "c"] {
            fs::write(directory.path().join(name), "one\ntwo\n").expect("a file");
        }
        let spawned = spawned("o", directory.path()).expect("a result");
        assert_eq!(spawned.tally, Tally { files: 3, bytes: 24, lines: 6, unreadable: 0 });
        let names: Vec<String> = spawned.cases.iter().map(|case| case.strategy.to_string()).collect();
        assert_eq!(names, ["one thread", "a thread for each file", "a pool of 1", "a pool of 2"]);
        let times = spawned.cases.iter().map(|case| &case.times).chain(&spawned.du);
        assert!(
            times.into_iter().all(|times| times.wall.values().len() == 2 && times.cpu.values().len() == 2)
        );
        assert!(
            spawned.notes()[0].contains("6 matching lines in 3 files with 24 bytes"),
            "{:?}",
            spawned.notes()
        );
    }

    #[test]
    fn what_cannot_be_searched_is_an_error() {
        let said = |pattern, path: &Path| spawned(pattern, path).expect_err("an error").to_string();
        assert_eq!(said("a", Path::new("/nowhere")), "/nowhere: no such file or directory");
        assert_eq!(said("a(", Path::new("/")), "invalid pattern 'a(': unclosed group");
    }

    #[test]
    fn another_count_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("a"), "one\n").expect("a file");
        let (files, _) = files::below(directory.path()).expect("files");
        let searcher = Searcher::new("o").expect("a pattern");
        let expected = Tally { files: 1, bytes: 4, lines: 2, unreadable: 0 };
        let error = run(Strategy::ThreadPerFile, &files, &searcher, expected).expect_err("an error");
        assert_eq!(
            error.to_string(),
            "a thread for each file found 1 matching line in 1 file with 4 bytes, but one thread found 2 matching \
             lines in 1 file with 4 bytes; the files may have changed"
        );
    }
}
