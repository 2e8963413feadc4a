//! Rounds of reading, working, and both.

use std::num::NonZeroUsize;

use finecomb_scan::FoundFile;

use super::job::{Job, Loaded, Total};
use super::pieces::Piece;
use super::{Case, OverlapOptions, Part};
use crate::cache::CacheDropper;
use crate::effort::measured;
use crate::rounds::{Step, distinct, in_turns};
use crate::sample::Sample;
use crate::units::grouped;
use crate::{Error, Result};

/// Input and options of all runs.
pub(super) struct Bench<'a> {
    pub(super) files: &'a [FoundFile],
    pub(super) pieces: &'a [Piece],
    pub(super) options: &'a OverlapOptions<'a>,
    /// Result that all must have.
    pub(super) expected: Total,
}

impl Bench<'_> {
    /// Measures everything, with caches dropped before each run or not, as part `number` of `parts`. The second result is the
    /// number of bytes that working alone was measured with.
    pub(super) fn part(
        &self,
        dropper: Option<&CacheDropper>,
        number: usize,
        parts: usize,
    ) -> Result<(Part, u64)> {
        let widths = distinct(self.options.widths.iter().copied());
        let ways: Vec<(NonZeroUsize, bool)> =
            widths.into_iter().flat_map(|width| [(width, false), (width, true)]).collect();
        // Working alone, and then for each way reading alone and both.
        let both = |&(width, ahead): &(NonZeroUsize, bool)| {
            [0, self.options.work.get()].map(|work| Some(Job { width: width.get(), ahead, work }))
        };
        let jobs: Vec<Option<Job>> = [None].into_iter().chain(ways.iter().flat_map(both)).collect();
        let temperature = if dropper.is_some() { "cold" } else { "warm" };
        let name = |job: &Option<Job>| format!("{temperature}: {}", name(*job));
        let all = jobs.len() * self.options.runs.get();
        let progress = |step: Step<'_>| {
            (self.options.progress)(Step { done: number * all + step.done, total: parts * all, ..step });
        };
        let (mut cold, mut in_memory) = (None, 0);
        let times = in_turns(&jobs, self.options.runs, name, &progress, |job| {
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
        let case = |(width, ahead)| Case { width, ahead, reading: next(), both: next() };
        Ok((Part { cold, working, cases: ways.into_iter().map(case).collect() }, in_memory))
    }

    /// Seconds that the work takes one thread, with bytes that are in memory, scaled to all bytes; and how
    /// many bytes these are.
    fn working(&self) -> Result<(f64, u64)> {
        let loaded = Loaded::read(self.files, self.pieces, self.options.memory)?;
        let (total, effort) = measured(|| loaded.work(self.options.work.get()));
        if loaded.is_all_of(self.pieces) {
            self.check("working alone", total, true)?;
        }
        let share = total.bytes.max(1) as f64 / self.expected.bytes.max(1) as f64;
        // A whole number of nanoseconds survives being written as a decimal.
        Ok(((effort.wall / share * 1e9).round() / 1e9, total.bytes))
    }

    /// Checks the result of a run; one that only reads has no words.
    fn check(&self, name: &str, total: Total, has_words: bool) -> Result<()> {
        let words = if has_words { self.expected.words } else { total.words };
        if total == (Total { words, ..self.expected }) {
            return Ok(());
        }
        let said = |total: Total| {
            let Total { bytes, unreadable, words } = total;
            let sum = words.sum;
            format!(
                "{} words (sum {sum:x}) in {} bytes ({unreadable} unreadable)",
                grouped(words.count),
                grouped(bytes)
            )
        };
        Err(Error::Differs {
            this: name.to_owned(),
            found: said(total),
            other: "the first run".to_owned(),
            expected: said(self.expected),
        })
    }
}

/// The name of a job; of working alone if there is none.
fn name(job: Option<Job>) -> String {
    let Some(Job { width, ahead, work }) = job else { return "working alone".to_owned() };
    let what = if work == 0 { "reading alone" } else { "reading and working" };
    format!("{what}, width {width}{}", if ahead { ", reading ahead" } else { "" })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroU32;

    use super::super::Words;
    use super::super::pieces::cut;
    use super::*;
    use crate::files;

    #[test]
    fn other_words_are_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        fs::write(&path, "two words").expect("a file");
        let (files, _) = files::below(&path).expect("files");
        let pieces = cut(&files);
        let expected = Job { width: 1, ahead: false, work: 1 }.run(&files, &pieces).expect("a run");
        let options = OverlapOptions {
            path,
            widths: vec![NonZeroUsize::MIN],
            runs: NonZeroUsize::MIN,
            warm: true,
            cold: false,
            work: NonZeroU32::MIN,
            memory: 0,
            progress: &|_| (),
        };
        let bench = Bench { files: &files, pieces: &pieces, options: &options, expected };
        assert!(bench.check("one", expected, true).is_ok());
        let without = Total { words: Words::default(), ..expected };
        assert!(bench.check("one", without, false).is_ok());
        let error = bench.check("one", without, true).expect_err("other words").to_string();
        assert!(
            error.starts_with(
                "one found 0 words (sum 0) in 9 bytes (0 unreadable), and the first run 2 words"
            )
        );
        assert!(bench.part(None, 0, 1).is_ok());
        fs::write(&bench.options.path, "other words").expect("a file");
        assert!(matches!(bench.part(None, 0, 1), Err(Error::Differs { .. })));
    }
}
