//! Adds to JSON messages which pattern each match is of.

use grep_matcher::Match;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definitions::write_counted;
use crate::differential::bytes;
use crate::which::Which;

#[derive(Deserialize)]
struct Message {
    data: Lines,
}

#[derive(Deserialize)]
struct Lines {
    lines: Value,
    submatches: Vec<Submatch>,
}

#[derive(Deserialize)]
struct Submatch {
    start: usize,
    end: usize,
}

/// Returns JSON messages with the pattern of each match in lines.
pub(super) fn insert_patterns(printed: &[u8], which: &Which) -> Vec<u8> {
    let (mut out, mut inserted) = (Vec::with_capacity(printed.len()), 0);
    for message in printed.split_inclusive(|&byte| byte == b'\n') {
        let before = out.len();
        if insert(message, which, &mut out).is_none() {
            out.truncate(before);
            write_counted(message, inserted, &mut out);
        } else {
            inserted += (out.len() - before - message.len()) as u64;
        }
    }
    out
}

/// Writes a message with lines. Returns `None` if it has none.
fn insert(message: &[u8], which: &Which, out: &mut Vec<u8>) -> Option<()> {
    let Message { data: Lines { lines, submatches } } = serde_json::from_slice(message).ok()?;
    let text = bytes(&lines);
    let mut rest = message;
    for Submatch { start, end } in submatches {
        // Quotes within strings are escaped.
        let place = format!(r#","start":{start},"end":{end}}}"#);
        let at = memchr::memmem::find(rest, place.as_bytes())? + place.len() - 1;
        out.extend_from_slice(&rest[..at]);
        let pattern = which.of(&text, Match::new(start, end)).map(|pattern| json!({ "text": pattern }));
        out.extend_from_slice(format!(r#","pattern":{}"#, json!(pattern)).as_bytes());
        rest = &rest[at..];
    }
    out.extend_from_slice(rest);
    Some(())
}
