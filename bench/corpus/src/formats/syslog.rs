//! Messages of a host in the format of RFC 3164, as in the files of `/var/log`.

use std::io::{self, Write};

use super::request::address;
use crate::chance::{Chance, Weighted};
use crate::clock::Clock;
use crate::words::word;

/// Names that intruders try.
const GUESSES: [&str; 6] = ["root", "admin", "test", "oracle", "postgres", "ubuntu"];

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let intruders = Weighted::zipf(30, 0);
    let mut clock = Clock::new(lines);
    for _ in 0..lines {
        clock.tick(&mut chance);
        write!(out, "{} web{} ", clock.syslog(), 1 + chance.below(3))?;
        let pid = 900 + chance.below(30_000);
        let number = chance.below(u64::MAX);
        match chance.below(100) {
            0..60 => write_intrusion(out, &mut chance, &intruders, pid)?,
            60..72 => {
                let (user, from) = (word(number % 20, 0), address(number % 40));
                let port = 20_000 + number % 40_000;
                writeln!(out, "sshd[{pid}]: Accepted publickey for {user} from {from} port {port} ssh2")?;
            }
            72..82 => {
                writeln!(out, "CRON[{pid}]: (root) CMD (/usr/local/bin/backup-{} --daily)", number % 4)?
            }
            82..88 => {
                let user = word(number % 20, 0);
                writeln!(
                    out,
                    "sudo: {user} : TTY=pts/{} ; PWD=/home/{user} ; COMMAND=/usr/bin/apt",
                    number % 4
                )?;
            }
            88..94 => writeln!(
                out,
                "systemd[1]: run-{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}.scope: Deactivated successfully.",
                number >> 32,
                number >> 16 & 0xFFFF,
                number & 0xFFF,
                number >> 12 & 0xFFF,
                number >> 16
            )?,
            _ => writeln!(
                out,
                "kernel: [{:6}.{:06}] Out of memory: Killed process {pid} (worker) total-vm:{}kB",
                number % 900_000,
                number % 1_000_000,
                number % 9_000_000
            )?,
        }
    }
    Ok(())
}

/// A login that fails.
fn write_intrusion(
    out: &mut impl Write,
    chance: &mut Chance,
    intruders: &Weighted,
    pid: u64,
) -> io::Result<()> {
    let from = format!("203.0.113.{}", 7 + 8 * intruders.draw(chance));
    let (user, port) = (*chance.pick(&GUESSES), 30_000 + chance.below(30_000));
    match (user, chance.below(3)) {
        (_, 0) => writeln!(
            out,
            "sshd[{pid}]: pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost={from}  user={user}"
        ),
        ("root", _) => writeln!(out, "sshd[{pid}]: Failed password for root from {from} port {port} ssh2"),
        _ => {
            writeln!(out, "sshd[{pid}]: Failed password for invalid user {user} from {from} port {port} ssh2")
        }
    }
}
