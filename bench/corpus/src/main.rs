//! `make-access-log LINES [--seed N] [--format FORMAT]`: writes a log to standard output, by default an access log in Apache's
//! combined format.
//!
//! The same number of lines and seed give the same bytes on every platform. Hosts and pages follow a Zipf-like distribution, some
//! requests are from crawlers, traffic varies with the hour, and the log spans four months for any number of lines. In the other
//! formats, too, some keys are frequent and most are rare, and there are errors, slow requests, and a client or an intruder who fails
//! again and again.

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
    /// Number of lines to write: records, if they may span lines, and without the header
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn samples() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples")
    }

    /// Command lines and files of `samples/README.md`, which look like `make-access-log 600 --format nginx > samples/nginx.log`.
    fn commands() -> Vec<(Arguments, String)> {
        let readme = fs::read_to_string(samples().join("README.md")).expect("samples/README.md");
        let lines = readme.lines().map(str::trim).filter(|line| line.starts_with("make-access-log "));
        lines
            .map(|line| {
                let (command, file) = line.split_once(" > samples/").expect("a file to write to");
                (
                    Arguments::try_parse_from(command.split(' ')).expect("a valid command line"),
                    file.to_owned(),
                )
            })
            .collect()
    }

    #[test]
    fn samples_are_what_the_commands_of_their_readme_write() {
        for (arguments, file) in commands() {
            let mut made = Vec::new();
            arguments.format.write(&mut made, arguments.lines, arguments.seed).expect("writing to memory");
            let committed = fs::read(samples().join(&file)).expect("a sample");
            assert!(made == committed, "samples/{file}: make it again, see samples/README.md");
        }
    }

    #[test]
    fn the_readme_of_the_samples_has_a_command_for_each_of_them() {
        let entries = fs::read_dir(samples()).expect("samples");
        let names = entries.map(|entry| entry.expect("a sample").file_name().to_string_lossy().into_owned());
        let files: BTreeSet<String> = names.filter(|name| name != "README.md").collect();
        assert_eq!(files, commands().into_iter().map(|(_, file)| file).collect::<BTreeSet<_>>());
    }
}
