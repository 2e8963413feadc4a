//! Where an answer is written: standard output, or the file that `-o` names.

use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::path::Path;

use crate::exit::{Failure, check_output};
use crate::output;
use crate::terminal;
use crate::top::args::TopArguments;

/// Where an answer is written.
#[derive(Clone, Copy)]
pub(super) struct AnswerOutput<'a>(Option<&'a Path>);

impl<'a> AnswerOutput<'a> {
    /// # Errors
    /// If the file must not be written, or standard output is closed. The message gives the reason.
    pub(super) fn new(arguments: &'a TopArguments) -> Result<Self, Failure> {
        match &arguments.output {
            Some(path) => output::check_replaced(path, &arguments.files)?,
            None => check_output()?,
        }
        Ok(Self::of(arguments))
    }

    /// The same, which has been checked.
    pub(super) fn of(arguments: &'a TopArguments) -> Self {
        Self(arguments.output.as_deref())
    }

    /// Whether people read it.
    pub(super) fn is_terminal(self) -> bool {
        self.0.is_none() && stdout().is_terminal()
    }

    pub(super) fn has_colors(self) -> bool {
        self.0.is_none() && terminal::output_has_colors()
    }

    /// Writes an answer. A file is replaced when the answer is complete.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(self, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let Some(path) = self.0 else {
            let mut out = BufWriter::new(stdout().lock());
            return Ok(print(&mut out).and_then(|()| out.flush())?);
        };
        let mut bytes = Vec::new();
        print(&mut bytes)?;
        output::write(path, &bytes)
    }
}
