//! Whether to print in colour.

use std::os::fd::AsFd;

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use rustix::termios::tcgetwinsize;

/// When to print in colour.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also into files and pipes
    #[value(alias = "ansi")]
    Always,
    /// Not at all
    Never,
}

impl When {
    /// Makes it hold for everything that is printed from now on.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// Whether standard output takes colours. Data is never sent through a filter for escape sequences: it is printed
/// byte for byte, and only what comb adds is left out.
pub(crate) fn output_has_colors() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Number of columns of the terminal that a stream is; none if it is none.
pub(crate) fn width(stream: impl AsFd) -> Option<usize> {
    let size = tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}
