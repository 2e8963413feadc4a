//! Keys that end the job: `q`, Escape and Ctrl-C.

use rustix::event::Timespec;

use crate::top::live::screen::Keyboard;

/// Time after which a lone escape character is the Escape key: a terminal sends the bytes of a key together.
const ESCAPE_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Calls `stop` for each key that ends the job. Returns at the end of input.
pub(super) fn watch(mut keyboard: Keyboard, stop: impl Fn()) {
    let mut keys = KeyParser::Between;
    let mut buffer = [0; 64];
    while let Ok(read @ 1..) = keyboard.read(&mut buffer) {
        let mut stops = 0;
        for &byte in &buffer[..read] {
            stops += usize::from(keys.stops_at(byte));
        }
        if keys == KeyParser::AfterEscape && keyboard.is_idle_for(ESCAPE_TIMEOUT) {
            keys = KeyParser::Between;
            stops += 1;
        }
        (0..stops).for_each(|_| stop());
    }
}

/// State of the key parser. Keys that are not characters are sent as escape sequences: `ESC [`, parameters, and a last
/// byte from `@` to `~`; or `ESC O` and a byte; or, with Alt, `ESC` and the character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KeyParser {
    Between,
    AfterEscape,
    InSequence,
    BeforeLast,
}

impl KeyParser {
    /// Parses a byte. Returns `true` if it completes a key that ends the job.
    fn stops_at(&mut self, byte: u8) -> bool {
        const CTRL_C: u8 = 3;
        const ESCAPE: u8 = 0x1b;
        let (next, stops) = match (*self, byte) {
            // The first one was the Escape key; the second may begin another key.
            (Self::AfterEscape, ESCAPE) => (Self::AfterEscape, true),
            (_, ESCAPE) => (Self::AfterEscape, false),
            (Self::Between, byte) => (Self::Between, matches!(byte, b'q' | CTRL_C)),
            (Self::AfterEscape, b'[') => (Self::InSequence, false),
            (Self::AfterEscape, b'O') => (Self::BeforeLast, false),
            (Self::AfterEscape, byte) => (Self::Between, matches!(byte, b'q' | CTRL_C)),
            (Self::InSequence, b'@'..=b'~') | (Self::BeforeLast, _) => (Self::Between, false),
            (Self::InSequence, _) => (Self::InSequence, false),
        };
        *self = next;
        stops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_q_escape_and_ctrl_c_end_the_job() {
        for (typed, stops) in [
            ("q", 1),
            ("\x03", 1),
            ("Qxé ", 0),
            ("\x1b[A\x1b[15;5~q", 1),
            ("\x1bOq", 0),
            ("\x1b[qq", 1),
            ("\x1b\x1b", 1),
            ("\x1bq", 1),
        ] {
            let mut keys = KeyParser::Between;
            let counted = typed.bytes().filter(|&byte| keys.stops_at(byte)).count();
            assert_eq!(counted, stops, "{typed:?}");
        }
    }
}
