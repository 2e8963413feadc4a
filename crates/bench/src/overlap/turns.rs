//! Reading, working, and both, in turns.

use std::num::NonZeroUsize;

use super::job::{Job, Loaded, Total};
use super::pieces::Piece;
use super::{Case, OverlapOptions, Part};
use crate::cache::CacheDropper;
use crate::cold::drop_caches;
use crate::effort::{measured, rounded};
use crate::files::Found;
use crate::rounds::{Step, in_turns};
use crate::sample::Sample;
use crate::units::grouped;
use crate::{Error, Result};

/// What takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contestant {
    Working,
    Reading { width: NonZeroUsize, ahead: bool },
    Both { width: NonZeroUsize, ahead: bool },
}

impl Contestant {
    fn name(self, temperature: &str) -> String {
        let (what, width, ahead) = match self {
            Self::Working => return format!("{temperature}: working alone"),
            Self::Reading { width, ahead } => ("reading alone", width, ahead),
            Self::Both { width, ahead } => ("reading and working", width, ahead),
        };
        let how = if ahead { ", reading ahead" } else { "" };
        format!("{temperature}: {what}, width {width}{how}")
    }
}

/// What all runs have in common.
pub(super) struct Bench<'a> {
    pub(super) files: &'a [Found],
    pub(super) pieces: &'a [Piece],
    pub(super) options: &'a OverlapOptions<'a>,
    /// What all must come to.
    pub(super) expected: Total,
}

impl Bench<'_> {
    /// Measures everything, with caches dropped before each run or not. Also says how many bytes the work
    /// alone was measured with. This is part `number` of so many.
    pub(super) fn part(
        &self,
        dropper: Option<&CacheDropper>,
        number: usize,
        parts: usize,
    ) -> Result<(Part, u64)> {
        let contestants = self.contestants();
        let temperature = if dropper.is_some() { "cold" } else { "warm" };
        let name = |contestant: &Contestant| contestant.name(temperature);
        let all = contestants.len() * self.options.runs.get();
        let progress = |step: Step<'_>| {
            (self.options.progress)(Step { done: number * all + step.done, total: parts * all, ..step });
        };
        let (mut cold, mut in_memory) = (None, 0);
        let times = in_turns(&contestants, self.options.runs, name, &progress, |&contestant| {
            let (width, ahead, work) = match contestant {
                Contestant::Working => {
                    let (seconds, loaded) = self.working()?;
                    in_memory = loaded;
                    return Ok(seconds);
                }
                Contestant::Reading { width, ahead } => (width.get(), ahead, 0),
                Contestant::Both { width, ahead } => (width.get(), ahead, self.options.work.get()),
            };
            if let Some(dropper) = dropper {
                cold = Some(drop_caches(dropper, cold));
            }
            let (total, effort) = measured(|| Job { width, ahead, work }.run(self.files, self.pieces));
            self.check(&name(&contestant), total?, work > 0)?;
            Ok(effort.wall)
        })?;
        let mut part = Part { cold, working: Sample::default(), cases: Vec::new() };
        contestants.into_iter().zip(times).for_each(|(contestant, times)| part.take(contestant, times));
        Ok((part, in_memory))
    }

    /// Working first, and then for each width, without and with reading ahead, reading and behind it both.
    fn contestants(&self) -> Vec<Contestant> {
        let mut widths = self.options.widths.clone();
        widths.sort_unstable();
        widths.dedup();
        let ways = widths.into_iter().flat_map(|width| [(width, false), (width, true)]);
        let cases = ways.flat_map(|(width, ahead)| {
            [Contestant::Reading { width, ahead }, Contestant::Both { width, ahead }]
        });
        [Contestant::Working].into_iter().chain(cases).collect()
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
        Ok((rounded(effort.wall / share), total.bytes))
    }

    /// Holds a run to what all must come to; one that only reads has no words.
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

impl Part {
    fn take(&mut self, contestant: Contestant, times: Vec<f64>) {
        let times = Sample::new(times);
        match contestant {
            Contestant::Working => self.working = times,
            Contestant::Reading { width, ahead } => {
                self.cases.push(Case { width, ahead, reading: times, both: Sample::default() });
            }
            Contestant::Both { .. } => {
                // Reading at the same width came just before it.
                if let Some(case) = self.cases.last_mut() {
                    case.both = times;
                }
            }
        }
    }
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
