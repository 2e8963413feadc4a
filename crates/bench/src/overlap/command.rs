//! Overlap of reading and computing in a comb command: its time with a cold cache, against reading alone and its time with a warm
//! cache.

mod report;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use finecomb_scan::FoundFile;
use finecomb_sys::units::counted;
use serde::{Deserialize, Serialize};

use super::job::HashJob;
use super::pieces::split;
use crate::cache::{CacheDropper, Cold};
use crate::effort::measured;
use crate::files;
use crate::machine::Machine;
use crate::rounds::{Progress, RunStep, distinct, interleaved};
use crate::run::Digest;
use crate::sample::Sample;
use crate::scale::{Scalable, Width, same_output};
use crate::{Error, Result};

/// Options of the experiment.
pub struct CommandOverlapOptions {
    /// Path of comb.
    pub program: PathBuf,
    /// The command to run, with its arguments except a width.
    pub command: Vec<OsString>,
    /// Numbers of threads. The command also runs with `auto`.
    pub widths: Vec<NonZeroUsize>,
    /// Number of runs of each case.
    pub runs: NonZeroUsize,
    /// Whether the command reads a file, by its path.
    pub reads: fn(&Path) -> bool,
}

/// Result of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandOverlap {
    machine: Machine,
    /// The command line, without a width.
    command: String,
    /// Files that it reads.
    files: u64,
    /// Bytes in them.
    bytes: u64,
    /// Output of the command, the same in all runs that were compared.
    output: Digest,
    /// Dropping of caches before cold runs.
    cold: Option<Cold>,
    /// Reading alone with a cold cache, by number of threads, in ascending order.
    reading: Vec<(NonZeroUsize, Sample)>,
    /// The command by width, in ascending order, `auto` last.
    cases: Vec<CommandTimes>,
}

/// Times of the command at a width, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CommandTimes {
    width: Width,
    /// With a warm cache.
    warm: Sample,
    /// With a cold cache.
    cold: Sample,
}

impl CommandOverlap {
    /// Seconds of reading alone. With `auto`, it is the fastest of all numbers of threads.
    fn reading_at(&self, width: Width) -> f64 {
        let is_at = |threads: NonZeroUsize| width == Width::Auto || width == Width::Fixed(threads);
        let times =
            self.reading.iter().filter(|(threads, _)| is_at(*threads)).map(|(_, sample)| sample.median());
        times.fold(f64::NAN, f64::min)
    }

    /// Seconds of the longer of reading alone and the command with a warm cache.
    fn bound_of(&self, case: &CommandTimes) -> f64 {
        self.reading_at(case.width).max(case.warm.median())
    }
}

/// A run with a cold cache.
#[derive(Clone, Copy)]
enum ColdRun {
    Reading(NonZeroUsize),
    Command(Width),
}

/// Runs the command at each width, first with a warm cache and then with a cold one, and reads its files alone. A first round
/// compares the output of all widths and warms the cache.
///
/// # Errors
///
/// If the command has no width or sets its own, if it reads nothing, if a run fails, or if output differs between widths.
pub fn overlap_of_command(options: &CommandOverlapOptions, progress: Progress<'_>) -> Result<CommandOverlap> {
    let machine = Machine::here();
    let job = Scalable::new(options.program.clone(), &options.command, None)?;
    let files = files_of(&job, options.reads)?;
    let dropper = CacheDropper::new(job.paths())?;
    let threads = distinct(options.widths.iter().copied());
    let widths: Vec<Width> = threads.iter().copied().map(Width::Fixed).chain([Width::Auto]).collect();
    let cold_runs: Vec<ColdRun> = threads
        .iter()
        .copied()
        .map(ColdRun::Reading)
        .chain(widths.iter().copied().map(ColdRun::Command))
        .collect();
    let total = widths.len() * (1 + options.runs.get()) + cold_runs.len() * options.runs.get();
    let from =
        |first: usize| move |step: RunStep<'_>| progress(RunStep { done: first + step.done, total, ..step });

    let name = |width: &Width| format!("{}: width {width}, warm", job.command_line());
    let digests = interleaved(&widths, NonZeroUsize::MIN, name, &from(0), |&width| job.at(width).digest())?;
    let output = same_output(&job, &widths, digests.into_iter().flatten().collect())?;
    let warm = interleaved(&widths, options.runs, name, &from(widths.len()), |&width| {
        Ok(job.at(width).measure()?.wall)
    })?;

    let name = |run: &ColdRun| match run {
        ColdRun::Reading(threads) => {
            format!("reading alone, {}, cold", counted(threads.get() as u64, "thread"))
        }
        ColdRun::Command(width) => format!("{}: width {width}, cold", job.command_line()),
    };
    let done = widths.len() * (1 + options.runs.get());
    let (mut cold, pieces) = (None, split(&files));
    let times = interleaved(&cold_runs, options.runs, name, &from(done), |run| {
        cold = Some(dropper.drop_and_verify(cold));
        match *run {
            ColdRun::Reading(width) => {
                let (total, effort) =
                    measured(|| HashJob { width: width.get(), ahead: true, work: 0 }.run(&files, &pieces));
                total.map(|_| effort.wall)
            }
            ColdRun::Command(width) => {
                job.load_program()?;
                Ok(job.at(width).measure()?.wall)
            }
        }
    })?;
    let mut times = times.into_iter().map(Sample::new);
    let reading = threads.into_iter().zip(times.by_ref()).collect();
    let warm = warm.into_iter().map(Sample::new);
    let cases = widths.into_iter().zip(warm.zip(times)).map(|(width, (warm, cold))| CommandTimes {
        width,
        warm,
        cold,
    });
    Ok(CommandOverlap {
        machine,
        command: job.command_line(),
        files: files.len() as u64,
        bytes: files.iter().map(|file| file.size).sum(),
        output,
        cold,
        reading,
        cases: cases.collect(),
    })
}

/// The files that a command reads.
fn files_of(job: &Scalable, reads: fn(&Path) -> bool) -> Result<Vec<FoundFile>> {
    let mut files = Vec::new();
    for path in job.paths() {
        files.extend(files::below(&path)?.0.into_iter().filter(|file| reads(&file.path)));
    }
    if files.is_empty() {
        return Err(Error::Other(format!("no files to read: {}", job.command_line())));
    }
    Ok(files)
}
