//! Stored definitions of a root: `comb symbols` parses its files and stores what it finds in the index, once calls have parsed for long.
//!
//! It is a process of its own, so its memory is free again afterwards, and what is stored is that of `comb`, which uses it at the prompt.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use finecomb_command::door;
use finecomb_sys::io_reason;
use finecomb_sys::locks::lock;
use finecomb_sys::units::Clock;

/// Time of parsing in calls, together, from which on the definitions are stored.
const LONG: Duration = Duration::from_millis(200);

/// They are stored again once calls have parsed for this multiple of the time that it took: files that have changed are parsed at each call.
const SHARE: u32 = 4;

/// The stored definitions of a root.
#[derive(Debug, Default)]
pub(super) struct StoredDefinitions(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Time in which calls have parsed since definitions were stored.
    spent: Duration,
    /// Set while they are being stored.
    is_running: bool,
    /// How long it took to store them, or why that failed.
    last: Option<Result<Duration, String>>,
}

impl StoredDefinitions {
    /// Takes note of the time in which a call parsed. Returns whether definitions are to be stored, which the caller does.
    pub(super) fn note_parsing(&self, took: Duration) -> bool {
        let State { spent, is_running, last } = &mut *lock(&self.0);
        let limit = match last {
            Some(Ok(took)) => (*took * SHARE).max(LONG),
            Some(Err(_)) => return false,
            None => LONG,
        };
        *spent += took;
        let starts = !*is_running && *spent >= limit;
        *is_running |= starts;
        starts
    }

    /// Takes note of how long it took to store them, or why that failed.
    pub(super) fn note_end(&self, done: Result<Duration, String>) {
        *lock(&self.0) = State { spent: Duration::ZERO, is_running: false, last: Some(done) };
    }

    /// Says how they are, after a comma.
    pub(super) fn in_words(&self) -> String {
        match &*lock(&self.0) {
            State { is_running: true, .. } => ", definitions being stored".to_owned(),
            State { last: Some(Ok(_)), .. } => ", definitions stored".to_owned(),
            State { last: Some(failed), .. } => format!(", {}", in_words(failed)),
            State { last: None, .. } => String::new(),
        }
    }
}

/// Stores the definitions of a root. Returns how long it took.
///
/// # Errors
/// If that fails, with the reason.
pub(super) fn store(home: &Path, root: &Path, threads: usize) -> Result<Duration, String> {
    let start = Instant::now();
    let program = door::find("comb").ok_or("comb is not installed")?;
    let mut command = Command::new(program);
    command.args(["symbols", "--index-update", "--quiet", "--index-dir"]).arg(home);
    command.arg(format!("--threads={threads}")).arg("--").arg(root);
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match output.map_err(|error| io_reason(&error))?.code() {
        // 1: there are no definitions; 2: some files could not be read.
        Some(0..=2) => Ok(start.elapsed()),
        _ => Err("comb symbols failed".to_owned()),
    }
}

/// Says that definitions were stored, or why not.
pub(super) fn in_words(done: &Result<Duration, String>) -> String {
    match done {
        Ok(took) => format!("definitions stored after {}", Clock(*took)),
        Err(reason) => format!("definitions not stored: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_stored_once_calls_have_parsed_for_long() {
        let definitions = StoredDefinitions::default();
        assert!(!definitions.note_parsing(LONG / 2));
        assert_eq!(definitions.in_words(), "");
        assert!(definitions.note_parsing(LONG / 2));
        assert!(!definitions.note_parsing(LONG), "they are being stored");
        assert_eq!(definitions.in_words(), ", definitions being stored");
        let took = LONG;
        definitions.note_end(Ok(took));
        assert_eq!(definitions.in_words(), ", definitions stored");
        assert!(!definitions.note_parsing(took * SHARE - Duration::from_millis(1)));
        assert!(definitions.note_parsing(Duration::from_millis(1)));
        definitions.note_end(Err("no room".to_owned()));
        assert!(!definitions.note_parsing(100 * LONG));
        assert_eq!(definitions.in_words(), ", definitions not stored: no room");
    }
}
