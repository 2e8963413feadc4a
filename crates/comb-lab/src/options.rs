//! The options of each experiment, from the flags of `comb bench`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use finecomb_bench::experiment::{Experiment, experiment_in};
use finecomb_bench::overlap::{CommandOverlap, CommandOverlapOptions, OverlapOptions};
use finecomb_bench::scale::{ScaleOptions, Width};
use finecomb_bench::serve::{MAX_CONNECTIONS, ServeOptions};
use finecomb_bench::slices::SlicesOptions;
use finecomb_bench::spawn::SpawnOptions;
use finecomb_bench::spin::SpinOptions;
use finecomb_command::bench::values::{ThreadCounts, parse_counts};
use finecomb_command::bench::{overlap, scale, serve, spawn, spin};
use finecomb_command::door::{Other, find};
use finecomb_scan::Width as ScanWidth;
use finecomb_sys::threads::cores;

const _: () = assert!(serve::MAX_CONNECTIONS == MAX_CONNECTIONS);

/// The path of `comb`, whose commands are measured.
fn comb() -> Result<PathBuf, String> {
    program("comb")
}

fn program(name: &str) -> Result<PathBuf, String> {
    find(name).ok_or_else(|| format!("cannot find {name}, which is measured"))
}

/// Options of `comb bench scale`.
///
/// # Errors
///
/// If there is no `comb`.
pub(crate) fn scale(flags: &scale::ScaleArguments) -> Result<ScaleOptions, String> {
    let width = |width: &ScanWidth| match *width {
        ScanWidth::Fixed(count) => NonZeroUsize::new(count).map_or(Width::Auto, Width::Fixed),
        _ => Width::Auto,
    };
    Ok(ScaleOptions {
        program: comb()?,
        job: flags.job.clone(),
        widths: flags.widths.iter().map(width).collect(),
        runs: flags.runs,
        cold: flags.cold,
        pipe: flags.pipe.clone(),
    })
}

/// Options of `comb bench serve`. The program that serves is started directly, as each request of `comb cgi` would otherwise start two.
///
/// # Errors
///
/// If it is not installed.
pub(crate) fn serve(flags: &serve::BenchServeArguments) -> Result<ServeOptions, String> {
    Ok(ServeOptions {
        comb: program(Other::Serve.name())?,
        index: flags.index.clone().unwrap_or_default(),
        connections: flags.connections,
        time: flags.seconds,
    })
}

/// Options of `comb bench spawn`.
pub(crate) fn spawn(flags: &spawn::SpawnArguments) -> SpawnOptions {
    SpawnOptions {
        pattern: flags.pattern.clone().unwrap_or_default(),
        path: flags.path.clone().unwrap_or_default(),
        widths: flags.widths.0.clone(),
        runs: flags.runs,
        cold: flags.cold,
    }
}

/// Options of `comb bench spin` without `--slices`.
///
/// # Errors
///
/// None: the default is valid.
pub(crate) fn spin(flags: &spin::SpinArguments) -> Result<SpinOptions, String> {
    let threads = flags.widths.clone().map_or_else(|| parse_counts("1..64"), Ok)?.0;
    Ok(SpinOptions { threads, iterations: flags.iterations, runs: flags.runs })
}

/// Options of `comb bench spin --slices`.
///
/// # Errors
///
/// If several numbers of threads are given.
pub(crate) fn slices(flags: &spin::SpinArguments) -> Result<SlicesOptions, String> {
    let threads = match flags.widths.as_ref().map(|ThreadCounts(counts)| &counts[..]) {
        None => cores().saturating_mul(const { NonZeroUsize::new(4).expect("not zero") }),
        Some(&[threads]) => threads,
        Some(_) => {
            return Err("--slices measures one number of threads; give --widths a single number".to_owned());
        }
    };
    Ok(SlicesOptions { threads, time: flags.seconds, gap: flags.gap })
}

/// Returns `true` if `comb bench overlap` measures a command, or measured one in the saved result.
pub(crate) fn is_overlap_of_command(flags: &overlap::OverlapArguments) -> bool {
    let saved = flags.drawn.output.from_json.as_deref().and_then(experiment_in);
    !flags.job.is_empty() || saved.as_deref() == Some(CommandOverlap::NAME)
}

/// Options of `comb bench overlap` with a command.
///
/// # Errors
///
/// If there is no `comb`.
pub(crate) fn overlap_of_command(flags: &overlap::OverlapArguments) -> Result<CommandOverlapOptions, String> {
    Ok(CommandOverlapOptions {
        program: comb()?,
        command: flags.job.clone(),
        widths: flags.widths.0.clone(),
        runs: flags.runs,
        reads: match flags.job.first() {
            Some(command) if command == "symbols" => finecomb_symbols::Language::knows,
            _ => |_| true,
        },
    })
}

/// Options of `comb bench overlap` without a command, with the number of bytes of memory to hold files in.
pub(crate) fn overlap(flags: &overlap::OverlapArguments, memory: u64) -> OverlapOptions {
    OverlapOptions {
        path: flags.path.clone().unwrap_or_default(),
        widths: flags.widths.0.clone(),
        runs: flags.runs,
        warm: flags.warm || !flags.cold,
        cold: flags.cold || !flags.warm,
        work: flags.work,
        memory,
    }
}
