//! Colours as escape sequences.

use grep_printer::ColorSpecs;
use termcolor::{Ansi, ColorSpec, WriteColor};

/// Escape sequences before and after each kind of text; all are empty without colours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paint {
    pub(crate) path: Vec<u8>,
    pub(crate) line: Vec<u8>,
    pub(crate) column: Vec<u8>,
    pub(crate) matched: Vec<u8>,
    /// For the rest of a matching line; empty if it is not coloured.
    pub(crate) highlight: Vec<u8>,
    pub(crate) reset: Vec<u8>,
    /// Whether matches are coloured, so that their positions are needed.
    pub(crate) colors_matches: bool,
}

impl Paint {
    pub(crate) fn new(colors: Option<&ColorSpecs>) -> Self {
        let Some(colors) = colors else { return Self::default() };
        let has_highlight = !colors.highlight().is_none();
        Self {
            path: color_escape(colors.path()),
            line: color_escape(colors.line()),
            column: color_escape(colors.column()),
            matched: color_escape(colors.matched()),
            highlight: if has_highlight { color_escape(colors.highlight()) } else { Vec::new() },
            reset: escape(|ansi| ansi.reset()),
            colors_matches: !colors.matched().is_none(),
        }
    }

    /// Writes text in a colour. Returns the number of bytes added to the text.
    pub(crate) fn write(&self, color: &[u8], text: &[u8], out: &mut Vec<u8>) -> u64 {
        out.extend_from_slice(color);
        out.extend_from_slice(text);
        out.extend_from_slice(&self.reset);
        (color.len() + self.reset.len()) as u64
    }
}

fn color_escape(color: &ColorSpec) -> Vec<u8> {
    escape(|ansi| ansi.set_color(color))
}

fn escape(write: impl FnOnce(&mut Ansi<Vec<u8>>) -> std::io::Result<()>) -> Vec<u8> {
    let mut ansi = Ansi::new(Vec::new());
    // Writing to memory cannot fail.
    let _ = write(&mut ansi);
    ansi.into_inner()
}
