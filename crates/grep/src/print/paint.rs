//! Colours, as the bytes that switch them on.

use grep_printer::ColorSpecs;
use termcolor::{Ansi, ColorSpec, WriteColor};

/// What to write before each kind of text, and after it. Without colours all of it is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paint {
    pub(crate) path: Vec<u8>,
    pub(crate) line: Vec<u8>,
    pub(crate) column: Vec<u8>,
    pub(crate) matched: Vec<u8>,
    /// For the rest of a line that matches; empty if it is not coloured.
    pub(crate) highlight: Vec<u8>,
    pub(crate) reset: Vec<u8>,
    /// Whether matches are coloured, so that it must be known where they are.
    pub(crate) paints_matches: bool,
}

impl Paint {
    pub(crate) fn new(colors: Option<&ColorSpecs>) -> Self {
        let Some(colors) = colors else { return Self::default() };
        let has_highlight = !colors.highlight().is_none();
        Self {
            path: switch_on(colors.path()),
            line: switch_on(colors.line()),
            column: switch_on(colors.column()),
            matched: switch_on(colors.matched()),
            highlight: if has_highlight { switch_on(colors.highlight()) } else { Vec::new() },
            reset: bytes(|ansi| ansi.reset()),
            paints_matches: !colors.matched().is_none(),
        }
    }

    /// How many bytes it takes to write text in a colour, besides the text.
    pub(crate) fn cost(&self, color: &[u8]) -> u64 {
        (color.len() + self.reset.len()) as u64
    }

    /// Writes text in a colour.
    pub(crate) fn write(&self, color: &[u8], text: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(color);
        out.extend_from_slice(text);
        out.extend_from_slice(&self.reset);
    }
}

fn switch_on(color: &ColorSpec) -> Vec<u8> {
    bytes(|ansi| ansi.set_color(color))
}

fn bytes(write: impl FnOnce(&mut Ansi<Vec<u8>>) -> std::io::Result<()>) -> Vec<u8> {
    let mut ansi = Ansi::new(Vec::new());
    // Writing to memory does not fail.
    let _ = write(&mut ansi);
    ansi.into_inner()
}
