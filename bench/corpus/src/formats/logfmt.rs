//! Messages of a service as pairs of keys and values.

use std::io::{self, Write};

use super::request::{Request, Requests};
use crate::chance::Chance;

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let mut requests = Requests::new(lines);
    for _ in 0..lines {
        let Request { user, method, host, path, search, status, bytes, micros, .. } =
            requests.draw(&mut chance);
        let (level, message) = message(status);
        write!(out, "ts={} level={level} msg={message}", requests.clock.rfc3339())?;
        write!(out, " method={method} host={host} path={path}")?;
        if let Some(search) = search {
            write_search(out, &search)?;
        }
        write!(out, " status={status} bytes={bytes} dur={}.{}ms", micros / 1000, micros / 100 % 10)?;
        if let Some(user) = user {
            write!(out, " user={user}")?;
        }
        writeln!(out, " trace={:016x}", chance.bits())?;
    }
    Ok(())
}

/// Level and message for a status. The message is in quotes, which are escaped inside of it.
fn message(status: u64) -> (&'static str, &'static str) {
    match status {
        500 => ("error", r#""answer of \"stock\" is no JSON""#),
        502 | 504 => ("error", r#""upstream \"orders\" failed""#),
        503 => ("error", r#""queue is full""#),
        429 => ("warn", "throttled"),
        400.. => ("warn", r#""request refused""#),
        _ => ("info", r#""request served""#),
    }
}

/// Writes the text searched for, in quotes if it has a space or a quote.
fn write_search(out: &mut impl Write, search: &str) -> io::Result<()> {
    if search.contains([' ', '"']) {
        write!(out, " q=\"{}\"", search.replace('"', r#"\""#))
    } else {
        write!(out, " q={search}")
    }
}
