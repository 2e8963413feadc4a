//! Colour and width of the terminal.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use rustix::termios::tcgetwinsize;

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also in files and pipes
    #[value(alias = "ansi")]
    Always,
    /// No colour
    Never,
}

impl When {
    /// Applies the choice to all output from now on.
    pub fn apply(self) {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// Whether standard output supports colour. Data is never filtered for colours: only comb's own are omitted.
pub(crate) fn output_has_colors() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Number of columns of a terminal that does not report it.
const DEFAULT_WIDTH: usize = 80;

/// Number of columns of standard output if it is a terminal.
pub(crate) fn output_width() -> Option<usize> {
    let stdout = io::stdout();
    stdout.is_terminal().then(|| width(&stdout).unwrap_or(DEFAULT_WIDTH))
}

/// Number of columns if a stream is a terminal.
pub fn width(stream: impl AsFd) -> Option<usize> {
    let size = tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}
