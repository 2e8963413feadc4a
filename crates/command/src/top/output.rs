//! Where an answer is written: standard output, or the file that `-o` names.

use std::io::{self, BufWriter, Write, stdout};
use std::path::{Path, PathBuf};

use finecomb_sys::display::{EscapeForm, EscapingWriter};

use crate::exit::{Failure, check_output};
use crate::output::{self, OutputFile};
use crate::terminal;
use crate::top::args::{TopArguments, TopFormat};

/// Name of the standard output.
const STANDARD: &str = "-";

/// Where an answer is written.
#[derive(Clone, Copy)]
pub(super) struct AnswerOutput<'a> {
    file: Option<&'a Path>,
    /// How control characters are written to a terminal; `None` if the format escapes them itself, or is not for people.
    escapes: Option<EscapeForm>,
}

impl<'a> AnswerOutput<'a> {
    /// # Errors
    /// If the file must not be written, or standard output is closed. The message gives the reason.
    pub(super) fn new(arguments: &'a TopArguments) -> Result<Self, Failure> {
        let output = Self::of(arguments);
        let Some(path) = output.file else {
            check_output()?;
            return Ok(output);
        };
        let sources: Vec<&Path> = arguments.files.iter().map(PathBuf::as_path).collect();
        OutputFile { path, sources: &sources, force: arguments.force }.check(None)?;
        output::check_directory(path)?;
        Ok(output)
    }

    /// The same, which has been checked.
    pub(super) fn of(arguments: &'a TopArguments) -> Self {
        let escapes = match arguments.format.choice() {
            _ if arguments.sample.is_some() => Some(EscapeForm::Text),
            TopFormat::Text | TopFormat::Arrow | TopFormat::Parquet => None,
            TopFormat::Json => Some(EscapeForm::Json),
            TopFormat::Csv => Some(EscapeForm::Distinct),
            // Their own backslashes are escaped.
            TopFormat::Tsv | TopFormat::Markdown => Some(EscapeForm::Text),
        };
        let file = arguments.output.as_deref().filter(|path| *path != Path::new(STANDARD));
        Self { file, escapes }
    }

    /// Number of columns of the terminal where people read it.
    pub(super) fn terminal(self) -> Option<usize> {
        if self.file.is_none() { terminal::output_width() } else { None }
    }

    pub(super) fn has_colors(self) -> bool {
        self.file.is_none() && terminal::output_has_colors()
    }

    /// Standard output. On a terminal, control characters are escaped.
    pub(super) fn stream(self) -> Box<dyn Write> {
        let out = BufWriter::new(stdout().lock());
        match self.escapes.filter(|_| self.terminal().is_some()) {
            Some(form) => Box::new(EscapingWriter::new(out, form)),
            None => Box::new(out),
        }
    }

    /// Writes an answer. A file is written when the answer is complete.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(self, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let Some(path) = self.file else {
            let mut out = self.stream();
            return Ok(print(&mut out).and_then(|()| out.flush())?);
        };
        let mut bytes = Vec::new();
        print(&mut bytes)?;
        output::write(path, &bytes)
    }
}
