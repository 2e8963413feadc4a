//! Lines of the screen with their styles.

use std::fmt::Write;

use anstyle::{AnsiColor, Color, RgbColor, Style};
use finecomb_scan::Phase;
use finecomb_sys::display;

/// Styled text that is not yet truncated to the width of the screen.
#[derive(Default)]
pub(super) struct LiveLine {
    spans: Vec<(Style, String)>,
}

impl LiveLine {
    /// A line in one style.
    pub(super) fn new(style: Style, text: impl Into<String>) -> Self {
        Self { spans: vec![(style, text.into())] }
    }

    pub(super) fn add(&mut self, style: Style, text: impl Into<String>) {
        self.spans.push((style, text.into()));
    }

    /// Adds the mark of a phase in its colour.
    pub(super) fn add_mark(&mut self, phase: Phase, times: usize) {
        let color = Color::Rgb(RgbColor::from(phase.color()));
        let style = Style::new().bg_color(Some(color)).fg_color(Some(AnsiColor::Black.into()));
        self.add(style, String::from(phase.mark()).repeat(times));
    }

    /// The line with its escape sequences, truncated to `columns` of the terminal. The rest of the line is erased.
    pub(super) fn drawn(self, columns: usize, has_colors: bool) -> String {
        /// Erases to the end of the line.
        const ERASE: &str = "\x1b[K";
        let mut left = columns;
        let mut shown = String::new();
        for (style, text) in self.spans {
            let text = display::beginning(&text, left);
            if text.is_empty() {
                continue;
            }
            left -= display::width(text).min(left);
            let style = if has_colors { style } else { style.fg_color(None).bg_color(None) };
            let _ = write!(shown, "{style}{text}{style:#}");
        }
        // In the last column, the cursor stays on the last character, which would be erased.
        if left > 0 {
            shown.push_str(ERASE);
        }
        shown
    }
}
