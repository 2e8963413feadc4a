//! `comb bench`: measurements of scaling, threads, reading and serving.

use std::error::Error;
use std::fs;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use finecomb_bench::experiment::{Experiment, read_json, save, write_json};
use finecomb_bench::overlap::{overlap, overlap_of_command};
use finecomb_bench::picture::write_picture;
use finecomb_bench::rounds::Progress;
use finecomb_bench::scale::scale;
use finecomb_bench::serve::serve;
use finecomb_bench::slices::slices;
use finecomb_bench::spawn::spawn;
use finecomb_bench::spin::spin;
use finecomb_command::bench::output::{Drawn, ExperimentFormat, ExperimentOutput};
use finecomb_command::bench::{BenchArguments, Experiment as Choice};
use finecomb_command::exit::{Exit, Failure, check_output};
use finecomb_command::output;
use finecomb_command::output::FileKind;
use finecomb_command::{progress, terminal};
use finecomb_sys::{children, io_reason, memory, threads};
use indicatif::ProgressBar;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::options;

/// Assumed bytes of available memory if the system does not report them.
const MEMORY: u64 = 1 << 30;

/// Kind of file that a saved result may replace.
const RESULT: FileKind =
    FileKind { name: "a saved result", is_this: |head| head.starts_with(b"{\n  \"experiment\": ") };

/// Kind of file that a plot may replace.
const PLOT: FileKind = FileKind {
    name: "a plot",
    is_this: |head| head.starts_with(b"<svg ") || head.starts_with(b"\x89PNG\r\n"),
};

/// Runs the command.
pub(crate) fn run(arguments: &BenchArguments) -> Result<Exit, Failure> {
    match &arguments.experiment {
        Choice::Scale(flags) => {
            let notes = if flags.explain { Experiment::notes } else { Experiment::findings };
            let measure = |progress: Progress<'_>| Ok(scale(&options::scale(flags)?, progress)?);
            run_experiment(&flags.drawn.output, flags.drawn.plot.as_deref(), notes, measure)
        }
        Choice::Spin(flags) if flags.slices => {
            run_with_plot(&flags.drawn, |_| Ok(slices(&options::slices(flags)?)?))
        }
        Choice::Spin(flags) => {
            run_with_plot(&flags.drawn, |progress| Ok(spin(&options::spin(flags)?, progress)?))
        }
        Choice::Spawn(flags) => {
            run_with_plot(&flags.drawn, |progress| Ok(spawn(&options::spawn(flags), progress)?))
        }
        Choice::Overlap(flags) if options::is_overlap_of_command(flags) => {
            run_with_plot(&flags.drawn, |progress| {
                Ok(overlap_of_command(&options::overlap_of_command(flags)?, progress)?)
            })
        }
        Choice::Overlap(flags) => {
            // The files must also fit into the page cache, and other processes need memory, too.
            let memory = memory::available().unwrap_or(MEMORY) / 4;
            run_with_plot(&flags.drawn, |progress| Ok(overlap(&options::overlap(flags, memory), progress)?))
        }
        Choice::Serve(flags) => {
            let measure = |progress: Progress<'_>| Ok(serve(&options::serve(flags)?, progress)?);
            run_experiment(&flags.output, None, Experiment::notes, measure)
        }
    }
}

/// Whether a signal ends this process. Failures of the measured programs are no errors then.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Makes signals that end this process end the measured programs as well.
fn end_children_on_signals() -> Result<(), String> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|error| io_reason(&error))?;
    let handle = move || {
        for signal in signals.forever() {
            IS_ENDING.store(true, Ordering::Release);
            children::terminate();
            let _ = emulate_default_handler(signal);
        }
    };
    if threads::spawn_detached(handle) { Ok(()) } else { Err("cannot start a thread".to_owned()) }
}

/// Result of a measurement.
type MeasureResult<E> = Result<E, Box<dyn Error>>;

/// [`run_experiment`] with a plot.
fn run_with_plot<E: Experiment>(
    flags: &Drawn,
    measure: impl FnOnce(Progress<'_>) -> MeasureResult<E>,
) -> Result<Exit, Failure> {
    run_experiment(&flags.output, flags.plot.as_deref(), E::notes, measure)
}

/// Runs an experiment or loads a saved result, prints the result, as text with these notes, and writes the requested files.
fn run_experiment<E: Experiment>(
    output: &ExperimentOutput,
    plot: Option<&Path>,
    notes: fn(&E) -> Vec<String>,
    measure: impl FnOnce(Progress<'_>) -> MeasureResult<E>,
) -> Result<Exit, Failure> {
    check_output()?;
    // Before the measurement, which may take an hour.
    let saved = output.save.as_deref();
    let outputs = [(saved, &RESULT), (plot, &PLOT)];
    for (path, kind) in outputs.into_iter().filter_map(|(path, kind)| Some((path?, kind))) {
        check_directory(path)?;
        check_file(path, kind, output)?;
    }
    let result = match &output.from_json {
        Some(path) => read_json(path).map_err(|error| error.to_string())?,
        None => {
            end_children_on_signals().map_err(|reason| format!("cannot handle signals: {reason}"))?;
            match with_bar(measure) {
                // The thread of the signals ends the process.
                Err(_) if IS_ENDING.load(Ordering::Acquire) => loop {
                    thread::park();
                },
                measured => measured.map_err(|error| error.to_string())?,
            }
        }
    };
    let written = match output.format.choice() {
        ExperimentFormat::Text => {
            let notes = notes(&result);
            let text = match terminal::width(stdout()) {
                Some(width) => result.text_within(&notes, width),
                None => result.text(&notes),
            };
            stdout().write_all(text.as_bytes())
        }
        ExperimentFormat::Markdown => stdout().write_all(result.markdown().as_bytes()),
        ExperimentFormat::Json => write_json(&result, stdout().lock()),
    };
    let printed = written.map_or_else(|error| Failure::from(error).exit(), |()| Exit::Found);
    if let Some(path) = saved {
        save(&result, path).map_err(|error| error.to_string())?;
    }
    if let Some((path, picture)) = plot.and_then(|path| Some((path, result.picture()?))) {
        write_picture(&picture, path).map_err(|error| error.to_string())?;
    }
    Ok(printed)
}

/// Checks that a file may be written.
fn check_file(path: &Path, kind: &FileKind, flags: &ExperimentOutput) -> Result<(), String> {
    let sources: Vec<&Path> = flags.from_json.as_deref().into_iter().collect();
    output::OutputFile { path, sources: &sources, force: flags.force }.check(Some(kind))
}

/// Checks that the directory of a file exists.
fn check_directory(file: &Path) -> Result<(), String> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let reason = match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => "not a directory".to_owned(),
        Err(error) => io_reason(&error),
    };
    Err(format!("{}: cannot write: {reason}", file.display()))
}

const TEMPLATE: &str = "{bar:30} {pos} of {len}, {elapsed}: {wide_msg}";

/// Runs a measurement, and shows its progress on a terminal.
fn with_bar<T>(measure: impl FnOnce(Progress<'_>) -> T) -> T {
    let bar = if stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    bar.set_style(progress::style(TEMPLATE));
    let result = measure(&|step| {
        bar.set_length(step.total as u64);
        bar.set_position(step.done as u64);
        bar.set_message(step.name.to_owned());
    });
    bar.finish_and_clear();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(indicatif::ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
