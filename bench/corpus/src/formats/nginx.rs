//! Access log of nginx: `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer"
//! "$http_user_agent" $request_time $host`.

use std::io::{self, Write};

use super::request::{Request, Requests};
use crate::chance::Chance;
use crate::words::word;

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let mut requests = Requests::new(lines);
    for _ in 0..lines {
        let Request { address, user, method, host, path, search, status, bytes, micros, agent, .. } =
            requests.draw(&mut chance);
        // Few of the users log in by the protocol itself.
        let user = user.filter(|user| user.ends_with('7')).unwrap_or_else(|| "-".to_owned());
        write!(out, "{address} - {user} [{}] \"{method} {path}", requests.clock)?;
        if let Some(search) = search {
            write!(out, "?q={}", search.replace('"', "%22").replace(' ', "+"))?;
        }
        write!(out, " HTTP/{}\" {status} {bytes} \"", chance.pick(&["1.1", "2.0", "2.0"]))?;
        write_referrer(out, method, &mut chance)?;
        let millis = (micros / 1000).max(1);
        writeln!(out, "\" \"{agent}\" {}.{:03} {host}", millis / 1000, millis % 1000)?;
    }
    Ok(())
}

fn write_referrer(out: &mut impl Write, method: &str, chance: &mut Chance) -> io::Result<()> {
    if method != "GET" {
        return out.write_all(b"https://shop.example.org/cart");
    }
    let number = chance.bits();
    match number % 10 {
        0..4 => out.write_all(b"-"),
        4..7 => out.write_all(b"https://www.example.com/"),
        7..9 => write!(out, "https://search.example.net/?q={}+{}", word(number, 1), word(number, 2)),
        _ => write!(out, "https://news.example.org/item?id={}", 1000 + (number >> 20) % 400),
    }
}
