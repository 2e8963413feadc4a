//! Threading strategies for a search: one thread, a thread per file, and pools, with the same minimal search.
//!
//! `du -s` walks the same tree without reading a file, and serves as the baseline for the cost of the tree itself.

mod report;
mod search;
mod strategy;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use finecomb_scan::FoundFile;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use self::search::{SearchCounts, Searcher};
use self::strategy::{Strategy, StrategyOutcome};
use crate::cache::{CacheDropper, Cold};
use crate::effort::{Measured, measured};
use crate::files;
use crate::machine::Machine;
use crate::rounds::{Progress, distinct, interleaved};
use crate::run::MeasuredCommand;
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
    /// Number of runs of each strategy.
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
    tally: SearchCounts,
    /// Files and directories that could not be accessed when the tree was listed.
    unseen: u64,
    /// Dropping of caches; `None` for a warm cache.
    cold: Option<Cold>,
    /// The strategies: one thread, thread per file, pools in ascending order of width.
    cases: Vec<StrategyTimes>,
    /// Times of `du -s`; `None` if it is not installed.
    du: Option<Times>,
}

/// Measurements of a strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StrategyTimes {
    strategy: Strategy,
    #[serde(flatten)]
    times: Times,
    /// Number of refused threads, over all runs.
    refused: u64,
    /// Maximum number of threads alive at the same time.
    alive: usize,
    /// Number of times that a file could not be opened because too many were open, over all runs.
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

/// Searches a tree with all strategies, in interleaved runs. Listing the files is not part of the measurement. One thread
/// searches them once beforehand, for the expected result.
///
/// # Errors
///
/// If the pattern is invalid, there is nothing to search, threads are refused, or strategies give different results.
pub fn spawn(options: &SpawnOptions, progress: Progress<'_>) -> Result<Spawn> {
    let SpawnOptions { pattern, path, .. } = options;
    let machine = Machine::here();
    let searcher = Searcher::new(pattern)?;
    let (files, unseen) = files::below(path)?;
    let dropper = options.cold.then(|| CacheDropper::new([path])).transpose()?;
    raise_descriptor_limit();
    let expected = Strategy::OneThread.run(&files, &searcher)?.tally;
    let strategies = cases(&options.widths);
    let name = |case: &Option<Strategy>| case.map_or_else(|| DU.to_owned(), |strategy| strategy.to_string());
    let mut cold = None;
    let runs = interleaved(&strategies, options.runs, name, progress, |strategy| {
        if let Some(dropper) = &dropper {
            cold = Some(dropper.drop_and_verify(cold));
        }
        match strategy {
            Some(strategy) => run(*strategy, &files, &searcher, expected),
            None => Ok((run_du(path, options.cold)?, StrategyOutcome::default())),
        }
    })?;
    let (mut cases, mut du) = (Vec::new(), None);
    for (strategy, runs) in strategies.into_iter().zip(runs) {
        let (measured, outcomes): (Vec<Measured>, Vec<StrategyOutcome>) = runs.into_iter().unzip();
        let times = measured.into_iter().collect();
        match strategy {
            Some(strategy) => cases.push(StrategyTimes::new(strategy, times, &outcomes)),
            None => du = Some(times),
        }
    }
    let path = path.display().to_string();
    Ok(Spawn { machine, pattern: pattern.clone(), path, tally: expected, unseen, cold, cases, du })
}

/// All strategies, and `None` for `du` if it is installed.
fn cases(widths: &[NonZeroUsize]) -> Vec<Option<Strategy>> {
    let pools = distinct(widths.iter().copied()).into_iter().map(Strategy::Pool);
    let strategies = [Strategy::OneThread, Strategy::ThreadPerFile].into_iter().chain(pools);
    let has_du = !matches!(MeasuredCommand::new("du", ["--version"]).measure(), Err(Error::Start { .. }));
    strategies.map(Some).chain(has_du.then_some(None)).collect()
}

/// Raises the limit of open files to the maximum, since a thread per file has an open file per thread.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If that fails, threads wait for others to close a file, and a note reports the number of waits.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn run(
    strategy: Strategy,
    files: &[FoundFile],
    searcher: &Searcher,
    expected: SearchCounts,
) -> Result<(Measured, StrategyOutcome)> {
    let (outcome, measured) = measured(|| strategy.run(files, searcher));
    let outcome = outcome?;
    if outcome.tally != expected {
        return Err(Error::Differs {
            this: strategy.to_string(),
            found: format!("{:#}", outcome.tally),
            other: Strategy::OneThread.to_string(),
            expected: format!("{expected:#}"),
        });
    }
    Ok((measured, outcome))
}

fn run_du(path: &Path, cold: bool) -> Result<Measured> {
    if cold {
        // Loads the program, which is not to be measured. Not every du has the flag.
        let _ = MeasuredCommand::new("du", ["--version"]).measure();
    }
    MeasuredCommand::new("du", ["-s".as_ref(), "--".as_ref(), path.as_os_str()]).measure()
}

impl StrategyTimes {
    fn new(strategy: Strategy, times: Times, runs: &[StrategyOutcome]) -> Self {
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
    use crate::experiment::tests::nonzero;

    fn spawned(pattern: &str, path: &Path) -> Result<Spawn> {
        let widths = [2, 1, 2].map(nonzero).to_vec();
        let runs = nonzero(2);
        let (pattern, path) = (pattern.to_owned(), path.to_owned());
        spawn(&SpawnOptions { pattern, path, widths, runs, cold: false }, &|_| ())
    }

    #[test]
    fn all_strategies_have_the_same_number_of_runs() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["a", "b", "c"] {
            fs::write(directory.path().join(name), "one\ntwo\n").expect("a file");
        }
        let spawned = spawned("o", directory.path()).expect("a result");
        assert_eq!(spawned.tally, SearchCounts { files: 3, bytes: 24, lines: 6, unreadable: 0 });
        let names: Vec<String> = spawned.cases.iter().map(|case| case.strategy.to_string()).collect();
        assert_eq!(names, ["one thread", "thread per file", "pool of 1", "pool of 2"]);
        let times = spawned.cases.iter().map(|case| &case.times).chain(&spawned.du);
        assert!(
            times
                .into_iter()
                .all(|times| [&times.wall, &times.cpu].map(|sample| sample.values().len()) == [2; 2])
        );
        let notes = spawned.notes();
        assert!(notes[0].contains("6 matching lines in 3 files with 24 B"), "{notes:?}");
    }

    #[test]
    fn missing_files_and_invalid_patterns_are_errors() {
        let message = |pattern, path: &Path| spawned(pattern, path).expect_err("an error").to_string();
        assert_eq!(message("a", Path::new("/nowhere")), "/nowhere: no such file or directory");
        assert_eq!(message("a(", Path::new("/")), "invalid regular expression 'a(': unclosed group");
    }

    #[test]
    fn a_different_result_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("a"), "one\n").expect("a file");
        let (files, _) = files::below(directory.path()).expect("files");
        let searcher = Searcher::new("o").expect("a pattern");
        let expected = SearchCounts { files: 1, bytes: 4, lines: 2, unreadable: 0 };
        let error = run(Strategy::ThreadPerFile, &files, &searcher, expected).expect_err("an error");
        assert_eq!(
            error.to_string(),
            "results differ: thread per file found 1 matching line in 1 file with 4 bytes, one thread found 2 matching \
             lines in 1 file with 4 bytes; did the files change?"
        );
    }
}
