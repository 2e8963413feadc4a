//! Access log of nginx: `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer"
//! "$http_user_agent" $request_time $host`.

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
        let Request { address, user, method, host, path, status, bytes, micros, agent } =
            requests.draw(&mut chance);
        let user = user.unwrap_or("-");
        let millis = micros / 1000;
        writeln!(
            out,
            "{address} - {user} [{clock}] \"{method} {path} HTTP/1.1\" {status} {bytes} \"-\" \"{agent}\" {}.{:03} {host}",
            millis / 1000,
            millis % 1000
        )?;
    }
    Ok(())
}
