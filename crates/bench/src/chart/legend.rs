//! The legend of a panel: above its axes, where no data can be.

use plotters::style::FontStyle;

use super::Panel;
use super::draw::{Area, Drawn, LABEL, px, text_style, text_width};
use super::marks::{Look, Place};

/// Pixels that a row takes.
pub(super) const ROW: i32 = 20;
/// Pixels that the sample of a line takes.
const LINE: i32 = 26;
/// Pixels between a sample and its name, and between a name and the next sample.
const GAP: i32 = 6;
const APART: i32 = 18;

/// The entries of a legend, in rows that are not wider than a panel.
pub(super) struct Legend<'a> {
    rows: Vec<Vec<&'a str>>,
}

impl<'a> Legend<'a> {
    /// The legend of a panel whose axes are so many pixels wide. A single series needs none.
    pub(super) fn new(panel: &'a Panel, width: i32) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for series in panel.series.iter().filter(|series| !series.name.is_empty()) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        if names.len() < 2 {
            return Self { rows: Vec::new() };
        }
        let mut rows: Vec<Vec<&str>> = Vec::new();
        let mut free = 0;
        for name in names {
            match rows.last_mut().filter(|_| entry_width(name) <= free) {
                Some(row) => row.push(name),
                None => {
                    rows.push(vec![name]);
                    free = width;
                }
            }
            free -= entry_width(name) + APART;
        }
        Self { rows }
    }

    /// How many rows it has.
    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Draws it, with its upper left corner at this place.
    pub(super) fn draw(
        &self,
        area: &Area<'_>,
        (left, top): Place,
        look: impl Fn(&str) -> Vec<Look>,
    ) -> Drawn {
        let style = text_style(LABEL, FontStyle::Normal);
        for (row, names) in self.rows.iter().enumerate() {
            let middle = top + px(ROW) * row as i32 + px(ROW) / 2;
            let mut x = left;
            for name in names {
                for look in look(name) {
                    look.line(area, vec![(x, middle), (x + px(LINE), middle)])?;
                    look.mark(area, (x + px(LINE) / 2, middle))?;
                }
                let text_top = middle - px(LABEL) * 2 / 5;
                area.draw_text(name, &style, (x + px(LINE + GAP), text_top))?;
                x += px(entry_width(name) + APART);
            }
        }
        Ok(())
    }
}

fn entry_width(name: &str) -> i32 {
    LINE + GAP + text_width(name, LABEL)
}
