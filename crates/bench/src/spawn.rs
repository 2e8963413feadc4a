//! Shall every file have a thread of its own? One thread, a thread for each file, and pools, with the same
//! bare search.
//!
//! `du -s` goes through the same tree without reading a file: it is the yardstick for what the tree itself
//! takes.

mod report;
mod search;
mod strategy;

use std::fmt::{self, Display, Formatter};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use self::search::Searcher;
pub use self::search::Tally;
pub use self::strategy::Strategy;
use crate::cache::CacheDropper;
use crate::cold::{Cold, drop_caches};
use crate::effort::{Effort, measured};
use crate::files::{self, Found};
use crate::machine::Machine;
use crate::rounds::{Step, in_turns};
use crate::run::Job;
use crate::sample::Sample;
use crate::{Error, Result};

/// What to measure.
pub struct SpawnOptions<'a> {
    /// The regular expression to search for.
    pub pattern: String,
    /// The file or tree to search.
    pub path: PathBuf,
    /// The widths of pools.
    pub widths: Vec<NonZeroUsize>,
    /// How often each way is measured.
    pub runs: NonZeroUsize,
    /// Whether caches are dropped before each run.
    pub cold: bool,
    /// Told before each run.
    pub progress: &'a dyn Fn(Step<'_>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spawn {
    /// On what it ran, and when.
    pub machine: Machine,
    /// What was searched for.
    pub pattern: String,
    /// What was searched.
    pub path: String,
    /// What every way found.
    pub tally: Tally,
    /// Files and directories that could not be looked at when the tree was listed.
    pub unseen: u64,
    /// What was done to have cold runs; nothing if warm ones were wanted.
    pub cold: Option<Cold>,
    /// The ways to share files among threads: one thread, a thread for each file, pools in ascending order.
    pub cases: Vec<Case>,
    /// What `du -s` took; none if there is no such program.
    pub du: Option<Times>,
}

/// What a way to share files among threads took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The way.
    pub strategy: Strategy,
    /// What its runs took.
    #[serde(flatten)]
    pub times: Times,
    /// How often the system refused a thread, in all runs.
    pub refused: u64,
    /// Most threads that were alive at the same time.
    pub alive: usize,
    /// How often a file could not be opened at once because too many were open, in all runs.
    pub waits: u64,
}

/// What runs took, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// From the beginning to the end.
    pub wall: Sample,
    /// On processors.
    pub cpu: Sample,
}

impl FromIterator<Effort> for Times {
    fn from_iter<I: IntoIterator<Item = Effort>>(efforts: I) -> Self {
        let (wall, cpu): (Vec<f64>, Vec<f64>) =
            efforts.into_iter().map(|effort| (effort.wall, effort.cpu)).unzip();
        Self { wall: Sample::new(wall), cpu: Sample::new(cpu) }
    }
}

/// What takes turns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contestant {
    Strategy(Strategy),
    Du,
}

impl Display for Contestant {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Strategy(strategy) => strategy.fmt(formatter),
            Self::Du => formatter.write_str("du -s"),
        }
    }
}

/// A run of one of them.
struct Run {
    effort: Effort,
    refused: u64,
    alive: usize,
    waits: u64,
}

/// Searches a tree in all ways, in turns. The files are found before, which is not part of what is measured,
/// and searched once by one thread, whose count all others must come to.
///
/// # Errors
///
/// If the pattern is none, there is nothing to search, threads are refused, or a way comes to another count.
pub fn spawn(options: &SpawnOptions<'_>) -> Result<Spawn> {
    let SpawnOptions { pattern, path, .. } = options;
    let machine = Machine::here();
    let searcher = Searcher::new(pattern)?;
    let (files, unseen) = files::below(path)?;
    let dropper = options.cold.then(|| CacheDropper::new([path])).transpose()?;
    raise_descriptor_limit();
    let expected = Strategy::OneThread.run(&files, &searcher)?.tally;
    let contestants = contestants(&options.widths);
    let mut cold = None;
    let runs = in_turns(&contestants, options.runs, Contestant::to_string, options.progress, |contestant| {
        if let Some(dropper) = &dropper {
            cold = Some(drop_caches(dropper, cold));
        }
        match contestant {
            Contestant::Strategy(strategy) => run(*strategy, &files, &searcher, expected),
            Contestant::Du => du(path, options.cold),
        }
    })?;
    let (mut cases, mut du) = (Vec::new(), None);
    for (contestant, runs) in contestants.into_iter().zip(runs) {
        match contestant {
            Contestant::Strategy(strategy) => cases.push(Case::new(strategy, &runs)),
            Contestant::Du => du = Some(runs.iter().map(|run| run.effort).collect()),
        }
    }
    let path = path.display().to_string();
    Ok(Spawn { machine, pattern: pattern.clone(), path, tally: expected, unseen, cold, cases, du })
}

fn contestants(widths: &[NonZeroUsize]) -> Vec<Contestant> {
    let mut widths = widths.to_vec();
    widths.sort_unstable();
    widths.dedup();
    let pools = widths.into_iter().map(Strategy::Pool);
    let strategies = [Strategy::OneThread, Strategy::ThreadPerFile].into_iter().chain(pools);
    let has_du = !matches!(Job::new("du", ["--version"]).measure(), Err(Error::Start { .. }));
    strategies.map(Contestant::Strategy).chain(has_du.then_some(Contestant::Du)).collect()
}

/// A thread for each file means an open file for each thread: as many as the system can be made to allow.
fn raise_descriptor_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        // Where that is refused, threads wait for each other's files, and it is said how often.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

fn run(strategy: Strategy, files: &[Found], searcher: &Searcher, expected: Tally) -> Result<Run> {
    searcher.take_waits();
    let (outcome, effort) = measured(|| strategy.run(files, searcher));
    let outcome = outcome?;
    if outcome.tally != expected {
        return Err(Error::Differs {
            this: strategy.to_string(),
            found: outcome.tally.to_string(),
            other: Strategy::OneThread.to_string(),
            expected: expected.to_string(),
        });
    }
    Ok(Run { effort, refused: outcome.refused, alive: outcome.alive, waits: searcher.take_waits() })
}

fn du(path: &Path, cold: bool) -> Result<Run> {
    if cold {
        // That the program itself is loaded is not to be measured. Not every du knows the flag.
        let _ = Job::new("du", ["--version"]).measure();
    }
    let measured = Job::new("du", ["-s".as_ref(), "--".as_ref(), path.as_os_str()]).measure()?;
    let effort = Effort { wall: measured.wall, cpu: measured.cpu() };
    Ok(Run { effort, refused: 0, alive: 0, waits: 0 })
}

impl Case {
    fn new(strategy: Strategy, runs: &[Run]) -> Self {
        Self {
            strategy,
            times: runs.iter().map(|run| run.effort).collect(),
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
        spawn(&SpawnOptions { pattern, path, widths, runs, cold: false, progress: &|_| () })
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
        assert_eq!(said("a", Path::new("/nowhere")), "/nowhere: No such file or directory");
        assert_eq!(said("a(", Path::new("/")), "the pattern 'a(' is no regular expression: unclosed group");
    }

    #[test]
    fn another_count_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("a"), "one\n").expect("a file");
        let (files, _) = files::below(directory.path()).expect("files");
        let searcher = Searcher::new("o").expect("a pattern");
        let expected = Tally { files: 1, bytes: 4, lines: 2, unreadable: 0 };
        let error = run(Strategy::ThreadPerFile, &files, &searcher, expected).err().expect("an error");
        assert_eq!(
            error.to_string(),
            "a thread for each file found 1 matching line in 1 file with 4 bytes, and one thread 2 matching \
             lines in 1 file with 4 bytes; did the files change meanwhile?"
        );
    }
}
