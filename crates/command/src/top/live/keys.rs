//! Keys of the terminal.

use std::mem;

use rustix::event::Timespec;

use crate::top::live::screen::Keyboard;

/// Time after which a lone escape character is the Escape key: a terminal sends the bytes of a key together.
const ESCAPE_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A key that the screen knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Interrupt,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
}

/// Calls `press` for each key. Returns at the end of input.
pub(super) fn watch(mut keyboard: Keyboard, mut press: impl FnMut(Key)) {
    let mut parser = KeyParser::default();
    let mut buffer = [0; 64];
    while let Ok(read @ 1..) = keyboard.read(&mut buffer) {
        for &byte in &buffer[..read] {
            parser.parse(byte).into_iter().for_each(&mut press);
        }
        if parser.state == State::AfterEscape && keyboard.is_idle_for(ESCAPE_TIMEOUT) {
            parser.state = State::Between;
            press(Key::Escape);
        }
    }
}

/// Parses what a terminal sends. Keys that are not characters are escape sequences: `ESC [`, parameters, and a last
/// byte from `@` to `~`; or `ESC O` and a byte; or, with Alt, `ESC` and the character.
#[derive(Default)]
struct KeyParser {
    state: State,
    /// The beginning of a character, or the parameters of a sequence.
    begun: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Between,
    AfterEscape,
    InSequence,
    BeforeLast,
}

impl KeyParser {
    /// Maximum number of parameter bytes that are kept: longer sequences are of no known key.
    const MAX_PARAMETERS: usize = 8;

    /// Parses a byte. Returns the key that it completes.
    fn parse(&mut self, byte: u8) -> Option<Key> {
        const CTRL_C: u8 = 3;
        const ESCAPE: u8 = 0x1b;
        let state = mem::take(&mut self.state);
        let (next, key) = match (state, byte) {
            (_, CTRL_C) => (State::Between, Some(Key::Interrupt)),
            // The first one was the Escape key; the second may begin another key.
            (State::AfterEscape, ESCAPE) => (State::AfterEscape, Some(Key::Escape)),
            (_, ESCAPE) => (State::AfterEscape, None),
            (State::AfterEscape, b'[') => (State::InSequence, None),
            (State::AfterEscape, b'O') => (State::BeforeLast, None),
            (State::Between | State::AfterEscape, byte) => return self.character(byte),
            (State::InSequence, b'@'..=b'~') | (State::BeforeLast, _) => {
                (State::Between, named(&self.begun, byte))
            }
            (State::InSequence, byte) => {
                if self.begun.len() < Self::MAX_PARAMETERS {
                    self.begun.push(byte);
                }
                self.state = state;
                return None;
            }
        };
        self.begun.clear();
        self.state = next;
        key
    }

    /// Adds a byte of a character. Returns the character that it completes. Invalid UTF-8 is ignored.
    fn character(&mut self, byte: u8) -> Option<Key> {
        self.begun.push(byte);
        match str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => None,
            text => {
                let char = text.ok().and_then(|text| text.chars().next());
                self.begun.clear();
                match char? {
                    '\r' | '\n' => Some(Key::Enter),
                    '\x7f' | '\x08' => Some(Key::Backspace),
                    char => (!char.is_control()).then_some(Key::Char(char)),
                }
            }
        }
    }
}

/// The key of a sequence with these parameters and this last byte.
fn named(parameters: &[u8], last: u8) -> Option<Key> {
    Some(match (parameters, last) {
        (_, b'A') => Key::Up,
        (_, b'B') => Key::Down,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        (_, b'F') | (b"4" | b"8", b'~') => Key::End,
        (_, b'M') => Key::Enter,
        (b"5", b'~') => Key::PageUp,
        (b"6", b'~') => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_characters_or_sequences() {
        use Key::{Backspace, Char, Down, End, Enter, Escape, Home, Interrupt, PageDown, PageUp, Up};
        for (typed, expected) in [
            (&b"q?"[..], &[Char('q'), Char('?')][..]),
            ("é日 ".as_bytes(), &[Char('é'), Char('日'), Char(' ')]),
            (b"\xff\xc3a", &[]),
            (b"\x03\x1b[\x03", &[Interrupt, Interrupt]),
            (b"\x1b[A\x1b[15;5~q\x1b[B", &[Up, Char('q'), Down]),
            (b"\x1bOA\x1bOqx", &[Up, Char('x')]),
            (b"\x1b[5~\x1b[6~\x1b[H\x1b[4~\x1b[1~\x1b[F", &[PageUp, PageDown, Home, End, Home, End]),
            (b"\x1b[qq", &[Char('q')]),
            (b"\x1b\x1b", &[Escape]),
            (b"\x1bq", &[Char('q')]),
            (b"\r\x7f\x1a\t", &[Enter, Backspace]),
        ] {
            let mut parser = KeyParser::default();
            let keys: Vec<Key> = typed.iter().filter_map(|&byte| parser.parse(byte)).collect();
            assert_eq!(keys, expected, "{typed:?}");
        }
    }

    #[test]
    fn a_sequence_without_an_end_takes_no_memory() {
        let mut parser = KeyParser::default();
        (0..100_000).for_each(|at| _ = parser.parse(b"\x1b[1;"[at.min(3)]));
        assert!(parser.begun.capacity() < 100);
    }
}
