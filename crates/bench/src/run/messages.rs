//! Messages of a job on its standard error.

use std::io::Read;
use std::process::ChildStderr;
use std::thread::{self, JoinHandle};

/// Bytes of the end that are kept.
const KEPT: usize = 4096;
/// Lines of these that are shown.
const LINES: usize = 3;

/// Reads a standard error, so that a job with many messages is not held up.
pub(super) struct Messages(Option<JoinHandle<Vec<u8>>>);

impl Messages {
    pub(super) fn listen(source: Option<ChildStderr>) -> Self {
        Self(source.map(|source| thread::spawn(move || end_of(source))))
    }

    /// The last lines, or those from the first message of comb on, joined to one that is safe for a terminal. Waits until the
    /// job's standard error is closed.
    pub(super) fn last_lines(self) -> String {
        let said = self.0.and_then(|listener| listener.join().ok()).unwrap_or_default();
        last_lines(&String::from_utf8_lossy(&said))
    }
}

/// The last bytes of a source.
fn end_of(mut source: impl Read) -> Vec<u8> {
    let (mut end, mut buffer) = (Vec::new(), [0; KEPT]);
    while let Ok(read @ 1..) = source.read(&mut buffer) {
        end.extend_from_slice(&buffer[..read]);
        end.drain(..end.len().saturating_sub(KEPT));
    }
    end
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // A message of comb goes before its hints.
    let first = lines.iter().position(|line| line.starts_with("comb: "));
    let first = first.unwrap_or(lines.len().saturating_sub(LINES));
    let shown: Vec<&str> = lines.into_iter().skip(first).take(LINES).collect();
    shown.join("; ").replace(|char: char| char.is_control(), "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let mut text = "x".repeat(3 * KEPT).into_bytes();
        text.extend_from_slice(b"\none\n\n two\x1b[31m \nthree\nfour\n");
        let end = end_of(&text[..]);
        assert_eq!(end.len(), KEPT);
        assert_eq!(last_lines(&String::from_utf8_lossy(&end)), "two\u{FFFD}[31m; three; four");
        assert_eq!(last_lines(""), "");
        let usage = "comb: unexpected argument '-x' found\n\n  tip: a\n\nUsage: b\n\nFor more information\n";
        assert_eq!(last_lines(usage), "comb: unexpected argument '-x' found; tip: a; Usage: b");
    }
}
