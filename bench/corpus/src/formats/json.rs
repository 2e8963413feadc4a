//! Requests of a service as JSON Lines: nested objects, members in varying order, strings with escapes.

use std::io::{self, Write};

use super::request::{Request, Requests};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::words::word;

const REGIONS: [&str; 5] = ["eu-west", "eu-west", "eu-north", "us-east", "ap-south"];

/// Notes in JSON's form, without the quotes around them: quotes, backslashes, line feeds and letters are escaped.
const NOTES: [&str; 5] = [
    r#"customer said \"never again\""#,
    r"delivered to Caf\u00e9 Nord",
    r"imported from C:\\orders\\spool",
    r"first line\nsecond line\tand a tab",
    r"paid 12 \u20ac \ud83d\ude00",
];

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let mut requests = Requests::new(lines);
    for _ in 0..lines {
        let request = requests.draw(&mut chance);
        let mut members = members(&request, &requests.clock, &mut chance);
        // The time stays in its place, as in most logs.
        chance.shuffle(&mut members[1..]);
        writeln!(out, "{{{}}}", members.join(","))?;
    }
    Ok(())
}

fn members(request: &Request, clock: &Clock, chance: &mut Chance) -> Vec<String> {
    let Request { user, status, bytes, micros, version, .. } = request;
    let (level, message) = message(*status);
    let mut members = vec![
        format!(r#""time":"{}""#, clock.rfc3339()),
        format!(r#""level":"{level}""#),
        format!(r#""message":"{message}""#),
        format!(r#""service":{{"name":"shop","version":"{version}","region":"{}"}}"#, chance.pick(&REGIONS)),
        request_object(request, chance),
        format!(r#""response":{{"status":{status},"bytes":{bytes}}}"#),
        format!(r#""duration_ms":{}.{:03}"#, micros / 1000, micros % 1000),
        tags(chance),
        format!(r#""trace":"{:016x}""#, chance.bits()),
    ];
    match user {
        Some(user) => members.push(format!(r#""user":"{user}""#)),
        None if chance.in_1000(500) => members.push(r#""user":null"#.to_owned()),
        None => {}
    }
    if chance.in_1000(60) {
        members.push(format!(r#""note":"{}""#, chance.pick(&NOTES)));
    }
    members
}

/// Level and message for a status.
fn message(status: u64) -> (&'static str, &'static str) {
    match status {
        500 => ("error", r#"unexpected token '\"' in answer of \"stock\""#),
        502 => ("error", r#"upstream \"orders\" closed the connection"#),
        503 => ("error", "too many orders in the queue"),
        504 => ("error", r#"upstream \"orders\" timed out"#),
        400.. => ("warn", "request refused"),
        _ => ("info", "request served"),
    }
}

fn request_object(request: &Request, chance: &mut Chance) -> String {
    let Request { address, method, host, path, search, agent, .. } = request;
    let mut headers = [
        format!(r#""host":"{host}""#),
        format!(r#""user-agent":"{agent}""#),
        format!(r#""accept":"{}""#, chance.pick(&["*/*", "application/json", "text/html"])),
    ];
    chance.shuffle(&mut headers);
    let mut members = vec![
        format!(r#""method":"{method}""#),
        format!(r#""path":"{path}""#),
        format!(r#""headers":{{{}}}"#, headers.join(",")),
        format!(r#""remote":"{address}""#),
    ];
    if let Some(search) = search {
        members.push(format!(r#""query":{{"q":"{}"}}"#, search.replace('"', r#"\""#)));
    }
    chance.shuffle(&mut members);
    format!(r#""request":{{{}}}"#, members.join(","))
}

/// None to three tags.
fn tags(chance: &mut Chance) -> String {
    let tags: Vec<String> =
        (0..chance.below(4)).map(|_| format!(r#""{}""#, word(chance.below(20), 0))).collect();
    format!(r#""tags":[{}]"#, tags.join(","))
}
