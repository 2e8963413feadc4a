//! Requests of a service as JSON Lines: nested objects, members in varying order, strings with escapes.

use std::io::{self, Write};

use super::request::{Request, Requests};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::words::word;

const NOTES: [&str; 4] = [r#"said \"no\""#, r"caf\u00e9", r"C:\\temp", r"first line\nsecond line"];

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let requests = Requests::new();
    let mut clock = Clock::new(lines);
    for _ in 0..lines {
        clock.tick(&mut chance);
        let request = requests.draw(&mut chance);
        let mut members = members(&request, &clock, &mut chance);
        // The first member stays in its place, as in most logs.
        for last in (2..members.len()).rev() {
            members.swap(last, 1 + chance.below(last as u64) as usize);
        }
        writeln!(out, "{{{}}}", members.join(","))?;
    }
    Ok(())
}

fn members(request: &Request, clock: &Clock, chance: &mut Chance) -> Vec<String> {
    let Request { address, user, method, host, path, status, bytes, micros, agent } = request;
    let level = if *status >= 500 { "error" } else { "info" };
    let number = chance.below(u64::MAX);
    let mut members = vec![
        format!(r#""time":"{}""#, clock.rfc3339()),
        format!(r#""level":"{level}""#),
        format!(
            r#""request":{{"method":"{method}","path":"{path}","headers":{{"host":"{host}","user-agent":"{agent}","accept":"*/*"}},"remote":"{address}"}}"#
        ),
        format!(r#""response":{{"status":{status},"bytes":{bytes}}}"#),
        format!(r#""duration_ms":{}.{:03}"#, micros / 1000, micros % 1000),
        format!(r#""tags":["{}","{}"]"#, word(number, 0), word(number, 1)),
        format!(r#""trace":"{number:016x}""#),
    ];
    match user {
        Some(user) => members.push(format!(r#""user":"{user}""#)),
        None if number.is_multiple_of(2) => members.push(r#""user":null"#.to_owned()),
        None => {}
    }
    if chance.in_1000(60) {
        members.push(format!(r#""note":"{}""#, chance.pick(&NOTES)));
    }
    members
}
