//! Saying where the time went.

use std::borrow::Cow;
use std::env;
use std::fs;
use std::io::{Write, stderr, stdout};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anstream::adapter::strip_str;
use finecomb_scan::Report;
use finecomb_sys::io_reason;
use finecomb_sys::units::Time;
use rustix::fs::fstat;

use super::output::not_an_input;
use super::{Exit, trouble};
use crate::args::profile::{Format, Profile};
use crate::message;

/// Says where the time of a job went, in a process that began at `start`, as `profile` asks for, but not in a file that was among
/// the named `inputs`. Gives [`Exit::Trouble`] if that failed.
pub(crate) fn show(report: Option<Report>, profile: &Profile, inputs: &[PathBuf], start: Instant) -> Exit {
    let (Some(report), Some(format)) = (report, profile.format()) else { return Exit::Found };
    let report = report.of_command(command_line()).of_process(start);
    let text = match format {
        Format::Text => report.text(),
        Format::Json => report.json(),
        Format::Html => report.html(),
        Format::Trace => report.trace(),
    };
    let Some(file) = profile.file() else {
        match format {
            Format::Text => message::note(format_args!("where the time went\n{}", text.trim_end())),
            // There is nowhere to say that standard error cannot be written.
            _ => drop(stderr().write_all(text.as_bytes())),
        }
        return Exit::Found;
    };
    let text = if format == Format::Text { Cow::Owned(strip_str(&text).to_string()) } else { text.into() };
    if is_output(file) {
        message::error(format_args!(
            "--profile-output: {} is standard output, which has the answer; name another file",
            file.display()
        ));
        return Exit::Trouble;
    }
    if let Err(reason) = not_an_input(file, inputs) {
        return trouble(reason);
    }
    if let Err(error) = fs::write(file, &*text) {
        message::error(format_args!("{}: {}", file.display(), io_reason(&error)));
        return Exit::Trouble;
    }
    let joined = match (format, report.grain()) {
        (Format::Trace, grain) if grain > Duration::ZERO => {
            format!("; phases shorter than {} are merged with their successors", Time(grain))
        }
        _ => String::new(),
    };
    message::note(format_args!("the profile is in {}{joined}", file.display()));
    Exit::Found
}

/// Whether a path leads to what standard output goes to: writing there would take away what has been printed.
fn is_output(path: &Path) -> bool {
    let (Ok(file), Ok(output)) = (fs::metadata(path), fstat(stdout())) else { return false };
    file.is_file() && (file.dev(), file.ino()) == (output.st_dev, output.st_ino)
}

/// The arguments of this process as they could be typed in a shell.
fn command_line() -> String {
    let arguments = env::args_os().enumerate().map(|(number, argument)| match number {
        0 => "comb".to_owned(),
        _ => quoted(&argument.to_string_lossy()),
    });
    arguments.collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(char);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn arguments_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("access.log"), "access.log");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's $x"), "'it'\\''s $x'");
    }
}
