//! `comb pi`: digits of pi.

use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::time::Duration;

use finecomb_pi::{Options, digits, memory};
use finecomb_sys::{io_reason, stdio};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Exit, fits_memory, output_failed, trouble};
use crate::args::pi::Arguments;
use crate::message;

/// Steps of the progress bar.
const STEPS: u64 = 1000;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Exit {
    if arguments.output.is_none() && stdio::output_was_closed() {
        message::error("standard output is closed; connect something to it");
        return Exit::Trouble;
    }
    let mut computed =
        match fits_memory(format_args!("{} digits take", arguments.digits), memory(arguments.digits))
            .and_then(|()| compute(arguments))
        {
            Ok(computed) => computed,
            Err(reason) => return trouble(reason),
        };
    match arguments.packed {
        true => computed = packed(&computed),
        false => computed.push(b'\n'),
    }
    let Some(path) = &arguments.output else {
        let mut out = stdout().lock();
        let written = out.write_all(&computed).and_then(|()| out.flush());
        return written.map_or_else(|error| output_failed(&error), |()| Exit::Found);
    };
    match write_beside(path, &computed) {
        Ok(()) => Exit::Found,
        Err(error) => {
            message::error(format_args!("{}: cannot write: {}", path.display(), io_reason(&error)));
            Exit::Trouble
        }
    }
}

fn compute(arguments: &Arguments) -> Result<Vec<u8>, String> {
    let bar = if stderr().is_terminal() { ProgressBar::new(STEPS) } else { ProgressBar::hidden() };
    let style = ProgressStyle::with_template("{bar:40} {percent} %, {elapsed}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    let progress = |done: f64| bar.set_position((done * STEPS as f64) as u64);
    let options = Options { progress: Some(&progress), ..Options::new(arguments.threads.count()) };
    let computed = digits(arguments.digits, &options).map_err(|error| error.to_string());
    bar.finish_and_clear();
    computed
}

fn packed(digits: &[u8]) -> Vec<u8> {
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).map_or(0, |digit| digit & 15)).collect()
}

/// Writes a file that is there with all its bytes or not at all. What is not a regular file, such as a device, is written to as it is.
fn write_beside(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return std::fs::write(path, bytes);
    }
    finecomb_text_index::write_beside(path, bytes)
}
