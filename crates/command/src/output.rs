//! Output files named by the user: a command replaces neither its inputs nor files of other kinds.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use finecomb_sys::io_reason;
use finecomb_sys::stdio::{is_output, is_stream, open_stream};

use crate::exit::Failure;

/// Number of bytes read to recognise the kind of a file.
const HEAD: u64 = 256;

/// A file to write.
pub struct OutputFile<'a> {
    /// Where it is written.
    pub path: &'a Path,
    /// Input files.
    pub sources: &'a [&'a Path],
    /// Whether to replace files of any kind.
    pub force: bool,
}

/// A kind of file that a command writes and may replace: its name, and a test of the first bytes of a file.
pub struct FileKind {
    /// Name with an article, as in "a plot".
    pub name: &'static str,
    /// Tests the first bytes of a file.
    pub is_this: fn(&[u8]) -> bool,
}

impl OutputFile<'_> {
    /// Checks that the file may be written.
    ///
    /// # Errors
    ///
    /// If the file is a source, or a directory, or, without `force`, an existing file of another kind, or any existing file without
    /// a `kind`. An empty file may be replaced, and a stream is always written to. The message gives the reason and the fix.
    pub fn check(&self, kind: Option<&FileKind>) -> Result<(), String> {
        let path = self.path.display();
        // The file does not exist, or writing it will report the error.
        let Ok(metadata) = fs::metadata(self.path) else { return Ok(()) };
        check_not_input(self.path, self.sources)?;
        if is_stream(self.path) {
            return Ok(());
        }
        if !metadata.is_file() {
            return Err(format!("{path}: not a regular file; use another output"));
        }
        if self.force || metadata.len() == 0 || kind.is_some_and(|kind| is_kind(self.path, kind)) {
            return Ok(());
        }
        let other = kind.map_or_else(String::new, |kind| format!(" and is not {}", kind.name));
        Err(format!("{path}: file exists{other}; use --force to replace it"))
    }
}

fn is_kind(path: &Path, kind: &FileKind) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok() && (kind.is_this)(&head)
}

/// Checks that an output of a command without `--force` replaces no file of another kind. An empty file may be replaced,
/// and a stream, such as a pipe, is written to.
///
/// # Errors
///
/// If it does. The message gives the reason and the fix.
pub fn check_kind(output: &Path, kind: &FileKind) -> Result<(), String> {
    match fs::metadata(output) {
        Ok(_) if is_stream(output) => Ok(()),
        Ok(metadata) if metadata.is_file() && metadata.len() > 0 && !is_kind(output, kind) => {
            Err(format!("{}: file exists and is not {}; use another output", output.display(), kind.name))
        }
        // If the file cannot be examined, writing it will report the error.
        _ => Ok(()),
    }
}

/// Checks, before a job, that its output replaces neither an input nor a file of another kind, and that its directory exists.
///
/// # Errors
///
/// If not. The message gives the reason and the fix.
pub fn check_new(output: &Path, inputs: &[impl AsRef<Path>], kind: &FileKind) -> Result<(), String> {
    check_not_input(output, inputs)?;
    check_kind(output, kind)?;
    check_directory(output)
}

/// Checks, before a job, that the directory of its output exists.
///
/// # Errors
///
/// If it does not.
pub fn check_directory(output: &Path) -> Result<(), String> {
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent.filter(|parent| !parent.is_dir()) {
        Some(parent) if !is_stream(output) => Err(format!("{}: no such directory", parent.display())),
        _ => Ok(()),
    }
}

/// Writes a file atomically. A stream is written to directly.
///
/// # Errors
///
/// If it cannot be written; the message names the file, unless it is the standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_output(path) {
        return Ok(open_stream(path)?.write_all(bytes)?);
    }
    let written = match is_stream(path) {
        true => open_stream(path).and_then(|mut stream| stream.write_all(bytes)),
        false => finecomb_text_index::write_atomically(path, bytes),
    };
    Ok(written.map_err(|error| format!("{}: cannot write: {}", path.display(), io_reason(&error)))?)
}

/// Checks that an output is none of the inputs, under any name.
///
/// # Errors
///
/// If it is; the message names the input.
pub fn check_not_input(output: &Path, inputs: &[impl AsRef<Path>]) -> Result<(), String> {
    // A device may be both input and output.
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(|metadata| metadata.is_file())?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(written) = identity(output) else { return Ok(()) };
    match inputs.iter().find(|input| identity(input.as_ref()) == Some(written)) {
        None => Ok(()),
        Some(input) => {
            let (output, input) = (output.display(), input.as_ref().display());
            Err(format!("{output}: same file as the input {input}; use another output"))
        }
    }
}
