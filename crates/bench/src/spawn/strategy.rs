//! Threading strategies.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::Ordering;
use std::thread::{self, Builder, ScopedJoinHandle};

use finecomb_sys::process::max_maps;
use serde::{Deserialize, Serialize};

use super::search::{SearchCounts, Searcher};
use crate::error::{Error, Result};
use crate::threads::distribute;
use finecomb_scan::FoundFile;

/// A way to distribute files over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Strategy {
    /// One thread for all files.
    OneThread,
    /// A new thread for each file.
    ThreadPerFile,
    /// A fixed number of threads. Each thread claims the next unclaimed file.
    Pool(NonZeroUsize),
}

impl Display for Strategy {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneThread => formatter.write_str("one thread"),
            Self::ThreadPerFile => formatter.write_str("thread per file"),
            Self::Pool(width) => write!(formatter, "pool of {width}"),
        }
    }
}

/// Result of a run of a strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StrategyOutcome {
    pub(super) tally: SearchCounts,
    /// Number of refused threads; before each retry the oldest thread was joined.
    pub(super) refused: u64,
    /// Maximum number of threads alive at the same time, besides the one that started them.
    pub(super) alive: usize,
    /// Number of times that a file could not be opened because too many were open.
    pub(super) waits: u64,
}

impl Strategy {
    /// Searches all files.
    pub(super) fn run(self, files: &[FoundFile], searcher: &Searcher) -> Result<StrategyOutcome> {
        let waits = || searcher.waits.load(Ordering::Relaxed);
        let before = waits();
        let outcome = match self {
            Self::OneThread => {
                StrategyOutcome { tally: sequential(files, searcher), ..StrategyOutcome::default() }
            }
            Self::ThreadPerFile => thread_per_file(files, searcher, max_threads(), &Builder::new)?,
            Self::Pool(width) => pool(width.get(), files, searcher)?,
        };
        Ok(StrategyOutcome { waits: waits() - before, ..outcome })
    }
}

fn sequential(files: &[FoundFile], searcher: &Searcher) -> SearchCounts {
    let (mut tally, mut buffer) = (SearchCounts::default(), Vec::new());
    for file in files {
        tally += searcher.search(&file.path, &mut buffer);
    }
    tally
}

fn pool(width: usize, files: &[FoundFile], searcher: &Searcher) -> Result<StrategyOutcome> {
    let search = |(tally, buffer): &mut (SearchCounts, Vec<u8>), number: usize| {
        *tally += searcher.search(&files[number].path, buffer);
    };
    let mut outcome = StrategyOutcome { alive: width, ..StrategyOutcome::default() };
    distribute(width, files.len(), search)?.into_iter().for_each(|(tally, _)| outcome.tally += tally);
    Ok(outcome)
}

/// Starts a thread per file. Only the system limits their number: when it refuses one, the oldest is joined. `most` is a limit
/// beyond which the system might abort the process instead of refusing a thread.
fn thread_per_file(
    files: &[FoundFile],
    searcher: &Searcher,
    most: usize,
    builder: &dyn Fn() -> Builder,
) -> Result<StrategyOutcome> {
    thread::scope(|scope| {
        let mut outcome = StrategyOutcome::default();
        let mut alive: VecDeque<ScopedJoinHandle<'_, SearchCounts>> = VecDeque::new();
        for file in files {
            // A finished thread keeps its stack until it is joined.
            while let Some(ended) = alive.pop_front_if(|thread| thread.is_finished()) {
                outcome.tally += join(ended);
            }
            loop {
                let refused = match alive.len() < most {
                    true => builder().spawn_scoped(scope, || searcher.search(&file.path, &mut Vec::new())),
                    false => Err(io::ErrorKind::WouldBlock.into()),
                };
                match refused {
                    Ok(thread) => break alive.push_back(thread),
                    Err(error) => {
                        outcome.refused += 1;
                        let oldest = alive.pop_front().ok_or(Error::Thread { count: 1, error })?;
                        outcome.tally += join(oldest);
                    }
                }
            }
            outcome.alive = outcome.alive.max(alive.len());
        }
        alive.into_iter().for_each(|thread| outcome.tally += join(thread));
        Ok(outcome)
    })
}

fn join(thread: ScopedJoinHandle<'_, SearchCounts>) -> SearchCounts {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Number of threads that the limit of memory maps of a process allows. Each thread has a stack and a signal stack, with a guard
/// page each: four maps. A thread that gets the first two but not the others aborts the process, so some maps are left
/// free.
fn max_threads() -> usize {
    const MAPS_OF_A_THREAD: usize = 5;
    /// Default limit of Linux.
    const MAPS: usize = 65_530;
    max_maps().unwrap_or(MAPS) / MAPS_OF_A_THREAD
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::experiment::tests::nonzero;
    use crate::files;

    /// 40 files of 1 to 40 lines, with a match on every third line.
    fn tree() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        for count in 1..=40 {
            let text: String =
                (0..count).map(|line| if line % 3 == 0 { "match\n" } else { "line\n" }).collect();
            fs::write(directory.path().join(count.to_string()), text).expect("a file");
        }
        directory
    }

    #[test]
    fn all_strategies_give_the_same_counts() {
        let directory = tree();
        let (found, _) = files::below(directory.path()).expect("files");
        let searcher = Searcher::new("ma(t)ch$").expect("a pattern");
        let one = Strategy::OneThread.run(&found, &searcher).expect("a run").tally;
        let lines = (1..=40_u64).map(|n| n.div_ceil(3)).sum();
        assert_eq!((one.files, one.lines, one.unreadable), (40, lines, 0));
        assert_eq!(one.bytes, found.iter().map(|file| file.size).sum::<u64>());
        for strategy in [1, 2, 3, 8, 64].map(|width| Strategy::Pool(nonzero(width))) {
            assert_eq!(strategy.run(&found, &searcher).expect("a run").tally, one, "{strategy}");
        }
        let each = Strategy::ThreadPerFile.run(&found, &searcher).expect("a run");
        assert_eq!((each.tally, each.refused), (one, 0));
        assert!((1..=40).contains(&each.alive));
    }

    #[test]
    fn the_oldest_thread_is_joined_if_one_is_refused() {
        let directory = tree();
        let (found, _) = files::below(directory.path()).expect("files");
        let searcher = Searcher::new("line").expect("a pattern");
        let one = sequential(&found, &searcher);
        for most in [1, 3] {
            let each = thread_per_file(&found, &searcher, most, &Builder::new).expect("a run");
            assert_eq!(each.tally, one);
            assert!(each.alive <= most);
        }
        let greedy = || Builder::new().stack_size(1 << 62);
        let refused = thread_per_file(&found, &searcher, 9, &greedy).expect_err("no room");
        assert!(matches!(refused, Error::Thread { count: 1, .. }), "{refused}");
    }
}
