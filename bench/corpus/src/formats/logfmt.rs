//! Messages of a service as pairs of keys and values.

use std::io::{self, Write};

use super::request::{Request, Requests};
use crate::chance::Chance;
use crate::clock::Clock;

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let requests = Requests::new();
    let mut clock = Clock::new(lines);
    for _ in 0..lines {
        clock.tick(&mut chance);
        let Request { user, method, path, status, bytes, micros, .. } = requests.draw(&mut chance);
        let trace = chance.below(u64::MAX);
        let (level, message) = match status {
            500.. => ("error", r#""upstream said \"no\"""#),
            400.. => ("warn", r#""request refused""#),
            _ => ("info", r#""request served""#),
        };
        write!(out, "ts={} level={level} msg={message} method={method} path={path}", clock.rfc3339())?;
        write!(out, " status={status} bytes={bytes} dur={}.{:03}ms", micros / 1000, micros % 1000)?;
        if let Some(user) = user {
            write!(out, " user={user}")?;
        }
        writeln!(out, " trace={trace:016x}")?;
    }
    Ok(())
}
