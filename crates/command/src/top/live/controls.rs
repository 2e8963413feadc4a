//! Choices that the keys of the screen make.

use crate::top::live::keys::Key;

/// Number of rows that a page key moves by.
const PAGE: usize = 10;

/// Maximum number of characters of the text of shown keys.
const MAX_FILTER: usize = 200;

/// Choices of the person at the screen.
#[derive(Default)]
pub(super) struct Controls {
    pub(super) mode: Mode,
    /// Whether the counts on the screen stay as they are.
    pub(super) is_paused: bool,
    pub(super) has_threads: bool,
    /// Shown keys contain this text.
    pub(super) filter: String,
    /// The selected row, by its key.
    pub(super) selected: Option<Vec<u8>>,
    /// Whether only the selected row is shown, with its records.
    pub(super) is_open: bool,
}

/// Part of the screen below its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Rows,
    /// The rows, while the text of shown keys is typed.
    Filter,
    Help,
}

/// Request of a key, beside a change of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// End the job.
    Stop,
    /// Sort by the next criterion.
    Sort,
    /// Show the keys that contain the text.
    Filter,
    /// Show the records of the selected row.
    Open,
    /// Show all rows again.
    Close,
}

impl Controls {
    /// Changes the choices by a key. `rows` are the keys of the rows, in order.
    pub(super) fn press(&mut self, key: Key, rows: &[&[u8]], has_filter: bool) -> Option<Action> {
        let action = match (self.mode, key) {
            (_, Key::Interrupt) => Some(Action::Stop),
            (Mode::Help, _) => {
                self.mode = Mode::Rows;
                None
            }
            (Mode::Filter, key) => self.type_filter(key),
            (Mode::Rows, Key::Char(char)) => self.press_letter(char, has_filter),
            (Mode::Rows, Key::Escape) => self.leave(),
            (Mode::Rows, Key::Enter | Key::Backspace) if self.is_open => self.leave(),
            (Mode::Rows, key) => self.select(key, rows),
        };
        // The rows of another choice are new.
        self.is_paused &= !matches!(action, Some(Action::Sort | Action::Filter | Action::Open));
        action
    }

    fn press_letter(&mut self, char: char, has_filter: bool) -> Option<Action> {
        match char {
            'q' => return Some(Action::Stop),
            's' if !self.is_open => return Some(Action::Sort),
            'p' => self.is_paused = !self.is_paused,
            't' => self.has_threads = !self.has_threads,
            '?' => self.mode = Mode::Help,
            '/' if has_filter && !self.is_open => self.mode = Mode::Filter,
            _ => {}
        }
        None
    }

    /// Undoes the last choice, or ends the job.
    fn leave(&mut self) -> Option<Action> {
        if std::mem::take(&mut self.is_open) {
            return Some(Action::Close);
        }
        if self.selected.take().is_some() {
            return None;
        }
        let has_text = !self.filter.is_empty();
        self.filter.clear();
        Some(if has_text { Action::Filter } else { Action::Stop })
    }

    fn type_filter(&mut self, key: Key) -> Option<Action> {
        match key {
            Key::Char(char) if self.filter.chars().count() < MAX_FILTER => self.filter.push(char),
            Key::Backspace => _ = self.filter.pop(),
            Key::Escape => {
                self.filter.clear();
                self.mode = Mode::Rows;
            }
            Key::Enter => {
                self.mode = Mode::Rows;
                return None;
            }
            _ => return None,
        }
        Some(Action::Filter)
    }

    /// Selects a row. Enter opens it; while one is open, the next one that is selected is opened.
    fn select(&mut self, key: Key, rows: &[&[u8]]) -> Option<Action> {
        let last = rows.len().checked_sub(1)?;
        let at = self.position(rows);
        let row = match (key, at) {
            (Key::Home, _) | (Key::Down | Key::PageDown, None) => 0,
            (Key::End, _) | (Key::Up | Key::PageUp, None) => last,
            (Key::Up, Some(at)) => at.saturating_sub(1),
            (Key::Down, Some(at)) => at + 1,
            (Key::PageUp, Some(at)) => at.saturating_sub(PAGE),
            (Key::PageDown, Some(at)) => at + PAGE,
            (Key::Enter, at) => at.unwrap_or(0),
            _ => return None,
        };
        self.selected = Some(rows[row.min(last)].to_vec());
        self.is_open |= key == Key::Enter;
        self.is_open.then_some(Action::Open)
    }

    /// The place of the selected row.
    pub(super) fn position(&self, rows: &[&[u8]]) -> Option<usize> {
        let selected = self.selected.as_ref()?;
        rows.iter().position(|row| row == selected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of a text, with `<` for Escape, `>` for Enter and `^` for Backspace.
    fn pressed(controls: &mut Controls, keys: &str) -> Vec<Action> {
        let key = |char| match char {
            '<' => Key::Escape,
            '>' => Key::Enter,
            '^' => Key::Backspace,
            char => Key::Char(char),
        };
        keys.chars().filter_map(|char| controls.press(key(char), &[b"a", b"b"], true)).collect()
    }

    #[test]
    fn letters_are_commands_unless_a_text_is_typed() {
        let mut controls = Controls::default();
        assert_eq!(pressed(&mut controls, "x?q"), [], "any key leaves the help");
        assert_eq!(pressed(&mut controls, "tps"), [Action::Sort]);
        assert!(controls.has_threads && !controls.is_paused, "other rows are shown at once");
        assert_eq!(pressed(&mut controls, "/qé^>").len(), 3);
        assert_eq!((controls.mode, controls.filter.as_str()), (Mode::Rows, "q"));
        assert_eq!(pressed(&mut controls, "/s<"), [Action::Filter; 2]);
        assert_eq!(controls.filter, "");
        assert_eq!(pressed(&mut controls, "q"), [Action::Stop]);
        assert_eq!(Controls::default().press(Key::Char('/'), &[], false), None);
    }

    #[test]
    fn escape_undoes_the_selection_and_the_filter_before_it_ends_the_job() {
        let mut controls = Controls::default();
        pressed(&mut controls, "/a>");
        controls.press(Key::Down, &[b"a"], true);
        assert_eq!(pressed(&mut controls, "<<<"), [Action::Filter, Action::Stop]);
        for mode in [Mode::Rows, Mode::Filter, Mode::Help] {
            let mut controls = Controls { mode, ..Controls::default() };
            assert_eq!(controls.press(Key::Interrupt, &[], true), Some(Action::Stop));
        }
    }

    #[test]
    fn enter_opens_the_selected_row_and_the_next_ones_until_it_is_closed() {
        let mut controls = Controls::default();
        let rows: [&[u8]; 2] = [b"a", b"b"];
        assert_eq!(controls.press(Key::Enter, &[], true), None, "there is no row");
        for (key, action, selected) in [
            (Key::Enter, Some(Action::Open), 0),
            (Key::Down, Some(Action::Open), 1),
            (Key::Char('s'), None, 1),
            (Key::Char('/'), None, 1),
            (Key::Enter, Some(Action::Close), 1),
            (Key::Up, None, 0),
            (Key::Enter, Some(Action::Open), 0),
            (Key::Escape, Some(Action::Close), 0),
        ] {
            assert_eq!(controls.press(key, &rows, true), action, "{key:?}");
            assert_eq!(controls.position(&rows), Some(selected), "{key:?}");
        }
        assert_eq!(pressed(&mut controls, "<<"), [Action::Stop]);
    }

    #[test]
    fn the_selection_follows_its_key() {
        let mut controls = Controls::default();
        let rows: [&[u8]; 3] = [b"a", b"b", b"c"];
        for (key, expected) in [
            (Key::Down, 0),
            (Key::Down, 1),
            (Key::PageDown, 2),
            (Key::Up, 1),
            (Key::PageUp, 0),
            (Key::End, 2),
            (Key::Home, 0),
            (Key::Down, 1),
        ] {
            controls.press(key, &rows, true);
            assert_eq!(controls.position(&rows), Some(expected), "{key:?}");
        }
        assert_eq!(controls.position(&[b"b", b"a"]), Some(0));
        controls.press(Key::Up, &[b"x", b"y"], true);
        assert_eq!(controls.position(&[b"x", b"y"]), Some(1), "the key is gone");
        controls.press(Key::Up, &[], true);
    }
}
