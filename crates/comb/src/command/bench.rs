//! `comb bench`: experiments about where the time goes.

use std::error::Error;
use std::fs;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;

use finecomb_bench::experiment::{Experiment, read_json, save, write_json};
use finecomb_bench::overlap::overlap;
use finecomb_bench::picture::write_picture;
use finecomb_bench::rounds::Progress;
use finecomb_bench::scale::scale;
use finecomb_bench::serve::serve;
use finecomb_bench::slices::slices;
use finecomb_bench::spawn::spawn;
use finecomb_bench::spin::spin;
use finecomb_sys::{children, io_reason, memory, stdio, threads};
use indicatif::ProgressBar;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::{Exit, output_failed, trouble};
use crate::args::bench::output::{Drawn, Format, Output};
use crate::args::bench::{Arguments, Experiment as Choice};
use crate::{progress, terminal};

/// Available memory in bytes where the system does not say.
const MEMORY: u64 = 1 << 30;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Exit {
    match &arguments.experiment {
        Choice::Scale(flags) => drawn(&flags.drawn, |progress| Ok(scale(&flags.options()?, progress)?)),
        Choice::Spin(flags) if flags.slices => drawn(&flags.drawn, |_| Ok(slices(&flags.slices_options()?)?)),
        Choice::Spin(flags) => drawn(&flags.drawn, |progress| Ok(spin(&flags.options()?, progress)?)),
        Choice::Spawn(flags) => drawn(&flags.drawn, |progress| Ok(spawn(&flags.options(), progress)?)),
        Choice::Overlap(flags) => {
            // The files must also fit into the page cache, and something should be left for others.
            let memory = memory::available().unwrap_or(MEMORY) / 4;
            drawn(&flags.drawn, |progress| Ok(overlap(&flags.options(memory), progress)?))
        }
        Choice::Serve(flags) => {
            conclude(&flags.output, None, |progress| Ok(serve(&flags.options()?, progress)?))
        }
    }
}

/// Has a signal that ends this process end the programs that it measures as well.
fn end_children_on_signals() -> Result<(), String> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(|error| io_reason(&error))?;
    let handle = move || {
        for signal in signals.forever() {
            children::terminate();
            let _ = emulate_default_handler(signal);
        }
    };
    if threads::spawn_detached(handle) { Ok(()) } else { Err("the system refuses a thread".to_owned()) }
}

/// A result, or a message why there is none.
type Measured<E> = Result<E, Box<dyn Error>>;

/// [`conclude`] with a picture.
fn drawn<E: Experiment>(flags: &Drawn, measure: impl FnOnce(Progress<'_>) -> Measured<E>) -> Exit {
    conclude(&flags.output, flags.plot.as_deref(), measure)
}

/// Makes an experiment, or reads the result of an earlier one; prints the result and writes the files that are asked for.
fn conclude<E: Experiment>(
    output: &Output,
    plot: Option<&Path>,
    measure: impl FnOnce(Progress<'_>) -> Measured<E>,
) -> Exit {
    if stdio::output_was_closed() {
        return trouble("standard output is closed; connect something to it");
    }
    // An hour of measuring is not to be lost for a mistyped name.
    let saved = output.save.as_deref();
    let ready = [saved, plot].into_iter().flatten().try_for_each(check_directory);
    let result = ready.map_err(Into::into).and_then(|()| match &output.from_json {
        Some(path) => Ok(read_json(path)?),
        None => {
            end_children_on_signals().map_err(|reason| format!("cannot handle signals: {reason}"))?;
            shown(measure)
        }
    });
    let result = match result {
        Ok(result) => result,
        Err(reason) => return trouble(reason),
    };
    let written = match output.format.choice() {
        Format::Text => {
            let text =
                terminal::width(stdout()).map_or_else(|| result.text(), |width| result.text_within(width));
            stdout().write_all(text.as_bytes())
        }
        Format::Markdown => stdout().write_all(result.markdown().as_bytes()),
        Format::Json => write_json(&result, stdout().lock()),
    };
    let printed = match written {
        Ok(()) => Exit::Found,
        Err(error) => output_failed(&error),
    };
    let kept = saved.map_or(Ok(()), |path| save(&result, path));
    let picture = plot.and_then(|path| Some((path, result.picture()?)));
    match kept.and_then(|()| picture.map_or(Ok(()), |(path, picture)| write_picture(&picture, path))) {
        Ok(()) => printed,
        Err(reason) => trouble(reason),
    }
}

/// Checks that there is a directory for a file.
fn check_directory(file: &Path) -> Result<(), String> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let reason = match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => "Not a directory".to_owned(),
        Err(error) => io_reason(&error),
    };
    Err(format!("{}: cannot write: {reason}", file.display()))
}

const TEMPLATE: &str = "{bar:30} {pos} of {len}, {elapsed}: {wide_msg}";

/// Makes an experiment, and shows its progress if there is a terminal to show it on.
fn shown<T>(measure: impl FnOnce(Progress<'_>) -> T) -> T {
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
