//! Output of profiles.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write, stderr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anstream::adapter::strip_str;
use finecomb_scan::Report;
use finecomb_sys::io_reason;
use finecomb_sys::stdio::is_output;
use finecomb_sys::units::Time;
use rustix::fs::{Access, access};

use crate::args::profile::{Profile, ProfileFormat};
use crate::command_line::command_line;
use crate::exit::{Exit, fail};
use crate::message;
use crate::output::{FileKind, check_kind, check_not_input};

/// Kind of file that a profile may replace.
const PROFILE: FileKind = FileKind { name: "a profile", is_this: Report::is_report };

/// Checks, before a job, that its profile can be written.
///
/// # Errors
///
/// If its file is standard output, one of the named `inputs`, an existing file that is not a profile, or cannot be written.
/// The message names the file.
pub(crate) fn check(profile: &Profile, inputs: &[PathBuf]) -> Result<(), String> {
    let Some(file) = profile.file() else { return Ok(()) };
    // It would be overwritten.
    if file.is_file() && is_output(file) {
        return Err(format!("{}: same file as standard output; use another output", file.display()));
    }
    check_not_input(file, inputs)?;
    check_kind(file, &PROFILE)?;
    check_access(file).map_err(|error| cannot_write(file, &error))
}

/// Checks that a file can be written, or created if it does not exist, without opening it: it may be a pipe.
fn check_access(file: &Path) -> io::Result<()> {
    if file.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if file.exists() {
        return Ok(access(file, Access::WRITE_OK)?);
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !fs::metadata(parent)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(access(parent, Access::WRITE_OK | Access::EXEC_OK)?)
}

fn cannot_write(file: &Path, error: &io::Error) -> String {
    format!("{}: cannot write: {}", file.display(), io_reason(error))
}

/// Writes the profile of a job in the requested format, for a process that began at `start`. Returns [`Exit::Error`] if
/// [`check`] refuses its file, which may have changed during the job, or writing it fails.
pub(crate) fn show(report: Option<Report>, profile: &Profile, inputs: &[PathBuf], start: Instant) -> Exit {
    let (Some(report), Some(format)) = (report, profile.format()) else { return Exit::Found };
    let report = report.of_command(command_line()).of_process(start);
    let text = match format {
        ProfileFormat::Text => report.text(),
        ProfileFormat::Json => report.json(),
        ProfileFormat::Html => report.html(),
        ProfileFormat::Trace => report.trace(),
    };
    let Some(file) = profile.file() else {
        match format {
            ProfileFormat::Text => message::note(format_args!("where the time went\n{}", text.trim_end())),
            // There is nowhere to report a failed write to standard error.
            _ => drop(stderr().write_all(text.as_bytes())),
        }
        return Exit::Found;
    };
    let text =
        if format == ProfileFormat::Text { Cow::Owned(strip_str(&text).to_string()) } else { text.into() };
    let written = check(profile, inputs)
        .and_then(|()| fs::write(file, &*text).map_err(|error| cannot_write(file, &error)));
    if let Err(reason) = written {
        return fail(reason);
    }
    let merged = match (format, report.grain()) {
        (ProfileFormat::Trace, grain) if grain > Duration::ZERO => {
            format!("; phases shorter than {} are merged with the next one to limit its size", Time(grain))
        }
        _ => String::new(),
    };
    message::note(format_args!("profile written to {}{merged}", file.display()));
    Exit::Found
}
