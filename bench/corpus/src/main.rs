//! `make-access-log LINES [--seed N] [--format FORMAT]`: writes a log to standard output, by default an access log in Apache's
//! combined format.
//!
//! The same number of lines and seed give the same bytes on every platform. Hosts and pages follow a Zipf-like distribution, some
//! requests are from crawlers, traffic varies with the hour, and the log spans four months for any number of lines.

mod chance;
mod clock;
mod formats;
mod log;
mod visitors;
mod words;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

use formats::Format;

/// Writes a generated log to standard output.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Number of lines to write
    lines: u64,
    /// Seed of the random generator: the same seed gives the same log
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Format of the log
    #[arg(long, value_enum, default_value_t = Format::Combined)]
    format: Format,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    let written =
        arguments.format.write(&mut out, arguments.lines, arguments.seed).and_then(|()| out.flush());
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("make-access-log: standard output: {error}");
            ExitCode::from(2)
        }
    }
}
