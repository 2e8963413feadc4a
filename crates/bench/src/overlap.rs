//! Overlap of reading and computing, with and without prefetch.
//!
//! Reading alone and hashing alone are measured first. If both ran at the same time without interference, the whole would
//! take as long as the longer of the two: this is the bound that the measured times are compared with.

mod command;
mod job;
mod pieces;
mod prefetch;
mod report;
mod words;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use finecomb_scan::FoundFile;
use finecomb_sys::units::{Count, counted};
use serde::{Deserialize, Serialize};

pub use self::command::{CommandOverlap, CommandOverlapOptions, overlap_of_command};
use self::job::{HashJob, Loaded, Total};
use self::pieces::{Piece, split};
use self::words::WordHash;
use crate::cache::{CacheDropper, Cold};
use crate::effort::measured;
use crate::files;
use crate::machine::Machine;
use crate::rounds::{Progress, RunStep, distinct, interleaved};
use crate::sample::Sample;
use crate::{Error, Result};

/// Options of the experiment.
pub struct OverlapOptions {
    /// The file or tree to read.
    pub path: PathBuf,
    /// Numbers of threads.
    pub widths: Vec<NonZeroUsize>,
    /// Number of runs of each case.
    pub runs: NonZeroUsize,
    /// Whether to measure with a warm cache.
    pub warm: bool,
    /// Whether to measure with caches dropped before each run.
    pub cold: bool,
    /// Number of times that every byte is hashed.
    pub work: NonZeroU32,
    /// Memory in bytes to hold files in while hashing alone is measured. If they do not fit, a part of them is hashed.
    pub memory: u64,
}

/// Result of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    machine: Machine,
    path: String,
    /// Files that were read.
    files: u64,
    /// Bytes in them.
    bytes: u64,
    /// Files and directories that could not be accessed when the tree was listed.
    unseen: u64,
    /// Pieces of files that could not be read.
    unreadable: u64,
    /// Number of times that every byte is hashed.
    work: NonZeroU32,
    /// Hash of the words, the same in all cases.
    words: WordHash,
    /// Bytes for which hashing alone was measured; its time is scaled to all bytes.
    in_memory: u64,
    /// Measurements with warm and with cold caches, in this order.
    parts: Vec<CacheTimes>,
}

/// Measurements with warm or with cold caches. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CacheTimes {
    /// Dropping of caches; `None` for a warm cache.
    cold: Option<Cold>,
    /// Hashing with one thread, without reading.
    working: Sample,
    /// The widths in ascending order, each without and with prefetch.
    cases: Vec<WidthTimes>,
}

/// Measurements at a width. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct WidthTimes {
    width: NonZeroUsize,
    /// Whether pieces were prefetched.
    ahead: bool,
    /// Reading alone.
    reading: Sample,
    /// Reading and hashing.
    both: Sample,
}

/// Measures reading, hashing, and both, in interleaved runs. Listing the files is not part of the measurement. One thread
/// processes them once beforehand, for the expected result.
///
/// # Errors
///
/// If there is nothing to read, threads are refused, or runs give different results.
pub fn overlap(options: &OverlapOptions, progress: Progress<'_>) -> Result<Overlap> {
    let machine = Machine::here();
    let (files, unseen) = files::below(&options.path)?;
    let pieces = split(&files);
    if pieces.is_empty() {
        let error = std::io::Error::other("no bytes to read: all files are empty");
        return Err(Error::Io { path: options.path.clone(), doing: "", error });
    }
    let dropper = options.cold.then(|| CacheDropper::new([&options.path])).transpose()?;
    let work = options.work.get();
    let expected = HashJob { width: 1, ahead: false, work }.run(&files, &pieces)?;
    let bench = Bench { files: &files, pieces: &pieces, options, progress, expected };
    let caches: Vec<Option<&CacheDropper>> =
        options.warm.then_some(None).into_iter().chain(dropper.as_ref().map(Some)).collect();
    let (mut parts, mut in_memory) = (Vec::new(), 0);
    for (number, dropper) in caches.iter().enumerate() {
        let (part, loaded) = bench.part(*dropper, number, caches.len())?;
        in_memory = loaded;
        parts.push(part);
    }
    Ok(Overlap {
        machine,
        path: options.path.display().to_string(),
        files: files.len() as u64,
        bytes: expected.bytes,
        unseen,
        unreadable: expected.unreadable,
        work: options.work,
        words: expected.words,
        in_memory,
        parts,
    })
}

/// Input and options of all runs.
struct Bench<'a> {
    files: &'a [FoundFile],
    pieces: &'a [Piece],
    options: &'a OverlapOptions,
    progress: Progress<'a>,
    /// Expected result of all runs.
    expected: Total,
}

impl Bench<'_> {
    /// Measures all cases as part `number` of `parts`, with a cold cache if there is a dropper. The second result is the number
    /// of bytes for which hashing alone was measured.
    fn part(&self, dropper: Option<&CacheDropper>, number: usize, parts: usize) -> Result<(CacheTimes, u64)> {
        let widths = distinct(self.options.widths.iter().copied());
        let ways: Vec<(NonZeroUsize, bool)> =
            widths.into_iter().flat_map(|width| [(width, false), (width, true)]).collect();
        // Hashing alone, then reading alone and both for each way.
        let both = |&(width, ahead): &(NonZeroUsize, bool)| {
            [0, self.options.work.get()].map(|work| Some(HashJob { width: width.get(), ahead, work }))
        };
        let jobs: Vec<Option<HashJob>> = [None].into_iter().chain(ways.iter().flat_map(both)).collect();
        let cache = if dropper.is_some() { "cold" } else { "warm" };
        let name = |job: &Option<HashJob>| format!("{cache}: {}", name(*job));
        let all = jobs.len() * self.options.runs.get();
        let progress = |step: RunStep<'_>| {
            (self.progress)(RunStep { done: number * all + step.done, total: parts * all, ..step });
        };
        let (mut cold, mut in_memory) = (None, 0);
        let times = interleaved(&jobs, self.options.runs, name, &progress, |job| {
            let Some(job) = *job else {
                let (seconds, loaded) = self.working()?;
                in_memory = loaded;
                return Ok(seconds);
            };
            if let Some(dropper) = dropper {
                cold = Some(dropper.drop_and_verify(cold));
            }
            let (total, effort) = measured(|| job.run(self.files, self.pieces));
            self.check(&name(&Some(job)), total?, job.work > 0)?;
            Ok(effort.wall)
        })?;
        let mut times = times.into_iter().map(Sample::new);
        let mut next = || times.next().unwrap_or_default();
        let working = next();
        let case = |(width, ahead)| WidthTimes { width, ahead, reading: next(), both: next() };
        Ok((CacheTimes { cold, working, cases: ways.into_iter().map(case).collect() }, in_memory))
    }

    /// Seconds for one thread to hash bytes in memory, scaled to all bytes, and the number of hashed bytes.
    fn working(&self) -> Result<(f64, u64)> {
        let loaded = Loaded::read(self.files, self.pieces, self.options.memory)?;
        let (total, effort) = measured(|| loaded.work(self.options.work.get()));
        if loaded.is_all_of(self.pieces) {
            self.check("hashing alone", total, true)?;
        }
        let share = total.bytes.max(1) as f64 / self.expected.bytes.max(1) as f64;
        // Decimals represent a whole number of nanoseconds exactly.
        Ok(((effort.wall / share * 1e9).round() / 1e9, total.bytes))
    }

    /// Checks the result of a run; a run that only reads has no words.
    fn check(&self, name: &str, total: Total, has_words: bool) -> Result<()> {
        let words = if has_words { self.expected.words } else { total.words };
        if total == (Total { words, ..self.expected }) {
            return Ok(());
        }
        let message = |total: Total| {
            let Total { bytes, unreadable, words } = total;
            let sum = words.sum;
            format!(
                "{} words (sum {sum:x}) in {} ({unreadable} unreadable)",
                Count(words.count),
                counted(bytes, "byte")
            )
        };
        Err(Error::Differs {
            this: name.to_owned(),
            found: message(total),
            other: "the first run".to_owned(),
            expected: message(self.expected),
        })
    }
}

/// Name of a job, or of hashing alone.
fn name(job: Option<HashJob>) -> String {
    let Some(HashJob { width, ahead, work }) = job else { return "hashing alone".to_owned() };
    let activity = if work == 0 { "reading alone" } else { "reading and hashing" };
    format!("{activity}, width {width}{}", if ahead { ", prefetch" } else { "" })
}

impl CacheTimes {
    /// Lower bound in seconds at a width: the longer of reading, with or without prefetch, and hashing on all cores that have
    /// a thread.
    fn bound_at(&self, width: NonZeroUsize, cores: NonZeroUsize) -> f64 {
        self.reading_at(width).max(self.working_at(width, cores))
    }

    /// Seconds of reading at a width: the faster of with and without prefetch.
    fn reading_at(&self, width: NonZeroUsize) -> f64 {
        let cases = self.cases.iter().filter(|case| case.width == width);
        cases.map(|case| case.reading.median()).fold(f64::NAN, f64::min)
    }

    /// Seconds of hashing with `width` threads on `cores` cores, without interference.
    fn working_at(&self, width: NonZeroUsize, cores: NonZeroUsize) -> f64 {
        self.working.median() / width.min(cores).get() as f64
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;

    use super::*;
    use crate::experiment::tests::{file, nonzero};

    fn options(path: &std::path::Path) -> OverlapOptions {
        let two = nonzero(2);
        OverlapOptions {
            path: path.to_owned(),
            widths: vec![two, NonZeroUsize::MIN, two],
            runs: two,
            warm: true,
            cold: false,
            work: NonZeroU32::MIN,
            memory: u64::MAX,
        }
    }

    #[test]
    fn all_cases_have_the_same_number_of_runs() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("large"), "word ".repeat(100_000)).expect("a file");
        fs::write(directory.path().join("small"), "two words").expect("a file");
        let steps = RefCell::new(Vec::new());
        let progress = |step: RunStep<'_>| steps.borrow_mut().push((step.done, step.total));
        let result = overlap(&options(directory.path()), &progress).expect("a result");
        // The first and the last of the three cuts at multiples of 131,072 are within a word.
        assert_eq!((result.files, result.bytes, result.words.count), (2, 500_009, 100_004));
        assert_eq!((result.in_memory, result.unreadable), (500_009, 0));
        let [part] = &result.parts[..] else { panic!("{result:?}") };
        let cases: Vec<_> = part.cases.iter().map(|case| (case.width.get(), case.ahead)).collect();
        assert_eq!(cases, [(1, false), (1, true), (2, false), (2, true)]);
        let samples = part.cases.iter().flat_map(|case| [&case.reading, &case.both]).chain([&part.working]);
        assert!(samples.into_iter().all(|sample| sample.values().len() == 2 && sample.quantile(0.0) > 0.0));
        assert_eq!(steps.into_inner(), Vec::from_iter((0..18).map(|done| (done, 18))));
    }

    #[test]
    fn hashing_is_scaled_if_the_files_do_not_fit_in_memory() {
        let (_directory, path) = file("x ".repeat(200_000));
        let result =
            overlap(&OverlapOptions { memory: 300_000, ..options(&path) }, &|_| ()).expect("a result");
        assert_eq!((result.bytes, result.in_memory), (400_000, 2 * pieces::PIECE));
    }

    #[test]
    fn missing_and_empty_files_are_errors() {
        let directory = tempfile::tempdir().expect("a directory");
        let message = |path: &std::path::Path| {
            overlap(&options(path), &|_| ()).expect_err("nothing to read").to_string()
        };
        assert_eq!(message("/nowhere".as_ref()), "/nowhere: no such file or directory");
        let path = directory.path().join("empty");
        fs::write(&path, "").expect("a file");
        assert_eq!(message(&path), format!("{}: no bytes to read: all files are empty", path.display()));
    }

    #[test]
    fn a_different_result_is_an_error() {
        let (_directory, path) = file("two words");
        let (files, _) = files::below(&path).expect("files");
        let pieces = split(&files);
        let expected = HashJob { width: 1, ahead: false, work: 1 }.run(&files, &pieces).expect("a run");
        let one = NonZeroUsize::MIN;
        let options = OverlapOptions { widths: vec![one], runs: one, memory: 0, ..options(&path) };
        let bench = Bench { files: &files, pieces: &pieces, options: &options, progress: &|_| (), expected };
        assert!(bench.check("one", expected, true).is_ok());
        let without = Total { words: WordHash::default(), ..expected };
        assert!(bench.check("one", without, false).is_ok());
        let error = bench.check("one", without, true).expect_err("other words").to_string();
        assert!(error.starts_with(
            "results differ: one found 0 words (sum 0) in 9 bytes (0 unreadable), the first run found 2 words"
        ));
        assert!(bench.part(None, 0, 1).is_ok());
        fs::write(&bench.options.path, "other words").expect("a file");
        assert!(matches!(bench.part(None, 0, 1), Err(Error::Differs { .. })));
    }
}
