//! Runs of a command, and their resource usage.

use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use finecomb_sys::Usage;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

pub(crate) use crate::effort::Measured;
use crate::{Error, Result};

/// Size of the read buffer for output, in bytes.
const BUFFER: usize = 128 << 10;
/// Bytes kept of the end of standard error, and maximum number of lines of it in an error.
const TAIL: usize = 4096;
const LINES: usize = 3;

/// A command that can be run repeatedly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MeasuredCommand {
    /// The program: a path, or a name to search in PATH.
    pub(crate) program: PathBuf,
    /// Its arguments.
    pub(crate) arguments: Vec<OsString>,
    /// A file that `cat` writes to its standard input; empty input otherwise. The usage of `cat` is not counted.
    pub(crate) pipe: Option<PathBuf>,
}

impl MeasuredCommand {
    /// A job without standard input.
    pub(crate) fn new(
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            pipe: None,
        }
    }

    /// Runs the job with its standard output discarded, and measures it. No other child process may be reaped at the same
    /// time, as the CPU time is that of all children. Fails if the job cannot be started, is killed by a signal, or has an exit
    /// status of 2 or more.
    pub(crate) fn measure(&self) -> Result<Measured> {
        let (_, measured) = self.run(Stdio::null(), |_| Ok(()))?;
        Ok(measured)
    }

    /// Runs the job and hashes its standard output.
    pub(crate) fn digest(&self) -> Result<Digest> {
        let read = |child: &mut Child| child.stdout.take().map_or_else(|| Ok(Digest::default()), Digest::of);
        let (digest, _) = self.run(Stdio::piped(), read)?;
        Ok(digest)
    }

    fn run<T>(&self, output: Stdio, read: impl FnOnce(&mut Child) -> io::Result<T>) -> Result<(T, Measured)> {
        let failed = |error| Error::Start { command: self.to_string(), error };
        let mut stdin = StdinPipe::start(self.pipe.as_deref())?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(stdin.input()).stdout(output).stderr(Stdio::piped());
        let (before, start) = (Usage::of_children(), Instant::now());
        let mut child = command.spawn().map_err(failed)?;
        // It holds the read end of the pipe: `cat` would not notice the end of the job.
        drop(command);
        let stderr = StderrTail::start(child.stderr.take());
        let result = read(&mut child);
        let status = child.wait().map_err(failed)?;
        let measured = Measured::new(start.elapsed(), Usage::of_children() - before);
        self.check(status, stderr.last_lines())?;
        Ok((result.map_err(failed)?, measured))
    }

    /// Exit status 1 is not a failure: `comb` uses it for no match.
    fn check(&self, status: ExitStatus, message: String) -> Result<()> {
        match status.code() {
            Some(0 | 1) => Ok(()),
            _ => Err(Error::Failed { command: self.to_string(), status, message }),
        }
    }
}

/// The command line for a shell, with the program name without its directory.
impl Display for MeasuredCommand {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let program = self.program.file_name().unwrap_or(self.program.as_os_str());
        formatter.write_str(&quoted(&program.to_string_lossy()))?;
        for argument in &self.arguments {
            write!(formatter, " {}", quoted(&argument.to_string_lossy()))?;
        }
        match &self.pipe {
            Some(path) => write!(formatter, " < {} (through cat)", quoted(&path.to_string_lossy())),
            None => Ok(()),
        }
    }
}

/// A word, quoted for a shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "_@%+=:,./-".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Length and hash of the standard output of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Digest {
    /// Number of bytes.
    pub(crate) bytes: u64,
    /// Their 128-bit XXH3, in hexadecimal.
    pub(crate) xxh3_128: String,
}

impl Digest {
    fn of(source: impl Read) -> io::Result<Self> {
        let (mut hash, mut bytes) = (XxHash3_128::new(), 0);
        let mut source = BufReader::with_capacity(BUFFER, source);
        loop {
            let part = match source.fill_buf() {
                Ok([]) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                part => part?,
            };
            hash.write(part);
            let length = part.len();
            bytes += length as u64;
            source.consume(length);
        }
        Ok(Self { bytes, xxh3_128: format!("{:032x}", hash.finish_128()) })
    }
}

/// A `cat` process that writes a file to the standard input of a job, if it has one.
struct StdinPipe(Option<Child>);

impl StdinPipe {
    fn start(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = opened(path).map_err(|error| Error::Io { path: path.to_owned(), doing: "", error })?;
        let mut command = Command::new("cat");
        command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |error| Error::Start { command: "cat".to_owned(), error };
        Ok(Self(Some(command.spawn().map_err(failed)?)))
    }

    /// The read end of its pipe, or empty input.
    fn input(&mut self) -> Stdio {
        self.0.as_mut().and_then(|cat| cat.stdout.take()).map_or_else(Stdio::null, Stdio::from)
    }
}

/// Opens a file for `cat`, and refuses directories.
fn opened(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

impl Drop for StdinPipe {
    /// Closes the read end, which ends `cat`, and reaps it. Its usage counts as that of a child only from then on, after the
    /// usage of the job has been read.
    fn drop(&mut self) {
        if let Some(cat) = &mut self.0 {
            drop(cat.stdout.take());
            // Cannot fail: the process has not been reaped.
            let _ = cat.wait();
        }
    }
}

/// Drains the standard error of a job, so that the job does not block on a full pipe.
struct StderrTail(Option<JoinHandle<Vec<u8>>>);

impl StderrTail {
    fn start(source: Option<ChildStderr>) -> Self {
        Self(source.map(|source| thread::spawn(move || read_tail(source))))
    }

    /// The last lines, or the lines from the first message of comb on, joined to one line without control characters. Waits until
    /// standard error is closed.
    fn last_lines(self) -> String {
        let message = self.0.and_then(|reader| reader.join().ok()).unwrap_or_default();
        last_lines(&String::from_utf8_lossy(&message))
    }
}

/// Reads a source to its end, and returns the last bytes.
fn read_tail(mut source: impl Read) -> Vec<u8> {
    let (mut end, mut buffer) = (Vec::new(), [0; TAIL]);
    while let Ok(read @ 1..) = source.read(&mut buffer) {
        end.extend_from_slice(&buffer[..read]);
        end.drain(..end.len().saturating_sub(TAIL));
    }
    end
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // A message of comb precedes its hints.
    let first = lines.iter().position(|line| line.starts_with("comb: "));
    let first = first.unwrap_or(lines.len().saturating_sub(LINES));
    let shown: Vec<&str> = lines.into_iter().skip(first).take(LINES).collect();
    shown.join("; ").replace(|char: char| char.is_control(), "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> MeasuredCommand {
        MeasuredCommand::new("/bin/sh", ["-c", script])
    }

    #[test]
    fn time_is_measured_in_whole_nanoseconds() {
        let measured = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").measure().expect("a run");
        assert!(measured.wall > 0.0 && measured.cpu() > 0.0, "{measured:?}");
        for time in [measured.wall, measured.user, measured.system] {
            assert_eq!((time * 1e9).round() / 1e9, time);
        }
    }

    #[test]
    fn output_is_hashed() {
        let empty = shell(":").digest().expect("a run");
        assert_eq!((empty.bytes, empty.xxh3_128.as_str()), (0, "99aa06d3014798d86001c324468d497f"));
        let [one, same, other] = ["printf abc", "printf a; printf bc", "printf abd"]
            .map(|script| shell(script).digest().expect("a run"));
        assert_eq!(one.bytes, 3);
        assert_eq!(one, same);
        assert_ne!(one, other);
    }

    #[test]
    fn a_pipe_need_not_be_read_to_its_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("-file");
        std::fs::write(&path, vec![b'x'; 1 << 20]).expect("a file");
        let piped = |script| MeasuredCommand { pipe: Some(path.clone()), ..shell(script) };
        assert_eq!(piped("cat").digest().expect("a run").bytes, 1 << 20);
        assert_eq!(piped("head -c 3").digest().expect("a run").bytes, 3);
        assert_eq!(piped(":").digest().expect("a run").bytes, 0);
        assert_eq!(shell("cat").digest().expect("a run").bytes, 0);
        for (path, reason) in [("/", "is a directory"), ("/nowhere", "no such file or directory")] {
            let job = MeasuredCommand { pipe: Some(path.into()), ..shell(":") };
            assert_eq!(job.measure().expect_err("no file").to_string(), format!("{path}: {reason}"));
        }
    }

    #[test]
    fn errors_name_command_and_reason() {
        let message = |job: MeasuredCommand| job.measure().expect_err("a failure").to_string();
        assert!(shell("exit 1").measure().is_ok());
        let missing = MeasuredCommand::new("/nowhere/it's", ["a b", ""]);
        for (job, expected) in [
            (shell("echo why >&2; exit 3"), "sh -c 'echo why >&2; exit 3' exited with status 3: why"),
            (shell("kill -9 $$"), "sh -c 'kill -9 $$' was killed by signal 9 without a message"),
            (missing, "cannot run 'it'\\''s' 'a b' '': no such file or directory"),
        ] {
            assert_eq!(message(job), expected);
        }
    }

    #[test]
    fn the_last_lines_are_kept() {
        let mut text = "x".repeat(3 * TAIL).into_bytes();
        text.extend_from_slice(b"\none\n\n two\x1b[31m \nthree\nfour\n");
        let end = read_tail(&text[..]);
        assert_eq!(end.len(), TAIL);
        assert_eq!(last_lines(&String::from_utf8_lossy(&end)), "two\u{FFFD}[31m; three; four");
        assert_eq!(last_lines(""), "");
        let usage = "comb: unexpected argument '-x' found\n\n  tip: a\n\nUsage: b\n\nFor more information\n";
        assert_eq!(last_lines(usage), "comb: unexpected argument '-x' found; tip: a; Usage: b");
    }
}
