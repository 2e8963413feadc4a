//! Programs that make the text of files, such as that of documents.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use ignore::overrides::Override;

/// Maximum number of bytes of a program's messages that are shown.
const MAX_MESSAGE: u64 = 1000;

/// A program that is run for each file, with the path of the file as its argument and the file as its input. Its output is
/// the text of the file.
#[derive(Clone, Debug)]
pub struct Preprocessor {
    /// The program.
    pub program: PathBuf,
    /// Files for which it is run; without globs, all.
    pub globs: Override,
}

/// A program that failed: its name, and how.
#[derive(Clone, Debug)]
pub(crate) struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failed {}

impl Preprocessor {
    /// Whether the program is run for a file.
    pub(crate) fn is_for(&self, path: &Path) -> bool {
        !self.globs.matched(path, false).is_ignore()
    }

    /// Starts the program for a file, and returns its output.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub(crate) fn start(&self, path: &Path, file: File) -> io::Result<ProgramOutput> {
        // Not a pipe, which would have to be read while the output is.
        let messages = tempfile::tempfile()?;
        let mut command = Command::new(&self.program);
        command.arg(path).stdin(file).stdout(Stdio::piped()).stderr(messages.try_clone()?);
        let mut child = command.spawn()?;
        let output = child.stdout.take();
        Ok(ProgramOutput { program: self.program.clone(), child, output, messages, failed: None })
    }
}

/// The output of a program. If the program fails, the read at the end of its output is an error.
pub(crate) struct ProgramOutput {
    program: PathBuf,
    child: Child,
    /// `None` at the end.
    output: Option<ChildStdout>,
    messages: File,
    failed: Option<Failed>,
}

impl ProgramOutput {
    fn end(&mut self) -> io::Result<()> {
        self.output = None;
        let status = self.child.wait()?;
        if !status.success() {
            self.failed = Some(Failed(self.failure(status)));
        }
        Ok(())
    }

    /// The exit status, and the first line that the program wrote to standard error.
    fn failure(&mut self, status: ExitStatus) -> String {
        let mut bytes = Vec::new();
        // Without its messages, the status has to do.
        let _ = self
            .messages
            .rewind()
            .and_then(|()| (&mut self.messages).take(MAX_MESSAGE).read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let end = match (status.code(), status.signal()) {
            (None, Some(signal)) => format!("was killed by signal {signal}"),
            (code, _) => format!("failed with exit status {}", code.unwrap_or_default()),
        };
        let program = self.program.display();
        match text.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some(line) => format!("{program} {end}: {line}"),
            None => format!("{program} {end}"),
        }
    }
}

impl Read for ProgramOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(output) = &mut self.output {
            match output.read(buffer)? {
                0 if !buffer.is_empty() => self.end()?,
                got => return Ok(got),
            }
        }
        match &self.failed {
            Some(failed) => Err(io::Error::other(failed.clone())),
            None => Ok(0),
        }
    }
}

impl Drop for ProgramOutput {
    fn drop(&mut self) {
        if self.output.take().is_some() {
            // The rest is not wanted. A program that has just ended cannot be killed.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The output of a shell script for a file, and the error at its end.
    fn run(script: &str) -> (String, Option<String>) {
        let directory = tempfile::tempdir().expect("a directory");
        let (program, path) = (directory.path().join("program"), directory.path().join("file"));
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("permissions");
        fs::write(&path, "text").expect("a file");
        let preprocessor = Preprocessor { program, globs: Override::empty() };
        let mut output = preprocessor.start(&path, File::open(&path).expect("a file")).expect("a program");
        let mut text = Vec::new();
        let error = output.read_to_end(&mut text).err();
        let again = output.read(&mut [0; 8]).err();
        assert_eq!(again.map(|error| error.to_string()), error.as_ref().map(|error| error.to_string()));
        let error = error.map(|error| error.to_string());
        (
            String::from_utf8_lossy(&text).into_owned(),
            error.map(|error| error.rsplit('/').next().unwrap_or("").to_owned()),
        )
    }

    #[test]
    fn the_file_is_the_input_and_its_path_the_argument() {
        assert_eq!(run("cat; basename $1"), ("textfile\n".to_owned(), None));
    }

    #[test]
    fn a_failure_is_reported_after_the_output() {
        let failed = |text: &str, error: &str| (text.to_owned(), Some(error.to_owned()));
        assert_eq!(
            run("echo one; echo bad file >&2; exit 3"),
            failed("one\n", "program failed with exit status 3: bad file")
        );
        assert_eq!(run("exit 1"), failed("", "program failed with exit status 1"));
        assert_eq!(run("kill -9 $$"), failed("", "program was killed by signal 9"));
        // More messages than a pipe holds.
        assert_eq!(run("yes a | head -c 200000 >&2; echo two"), ("two\n".to_owned(), None));
    }

    #[test]
    fn a_program_whose_output_is_not_wanted_is_killed() {
        let preprocessor = Preprocessor { program: "yes".into(), globs: Override::empty() };
        let file = File::open("/dev/null").expect("a file");
        let mut output = preprocessor.start(Path::new("x"), file).expect("a program");
        let mut some = [0; 4];
        output.read_exact(&mut some).expect("output");
        assert_eq!(&some, b"x\nx\n");
        drop(output);
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error() {
        let preprocessor = Preprocessor { program: "/nowhere/program".into(), globs: Override::empty() };
        let error = preprocessor.start(Path::new("x"), File::open("/dev/null").expect("a file")).err();
        assert_eq!(error.map(|error| error.kind()), Some(io::ErrorKind::NotFound));
    }
}
