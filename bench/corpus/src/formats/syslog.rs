//! Messages of hosts in the format of RFC 3164, as in the files of `/var/log`.

use std::io::{self, Write};

use super::request::address;
use crate::chance::{Chance, Weighted};
use crate::clock::Clock;
use crate::words::word;

/// Names that intruders try, the most frequent first, and whether there is an account.
const GUESSES: [(&str, bool); 12] = [
    ("root", true),
    ("admin", false),
    ("test", false),
    ("ubuntu", false),
    ("postgres", true),
    ("oracle", false),
    ("user", false),
    ("guest", false),
    ("git", true),
    ("deploy", false),
    ("ftp", false),
    ("pi", false),
];

/// Addresses of intruders, the most frequent first.
const INTRUDERS: [&str; 5] =
    ["203.0.113.7", "203.0.113.201", "198.51.100.23", "2001:db8:bad:cafe::5", "192.0.2.166"];

/// State of a log.
struct Messages {
    clock: Clock,
    guesses: Weighted,
    intruders: Weighted,
    kinds: Weighted,
    attack: Option<Attack>,
}

/// Logins that one intruder tries on one host, one right after the other.
struct Attack {
    host: u64,
    from: &'static str,
    pid: u64,
    left: u64,
}

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let mut messages = Messages {
        // Attacks take hardly any time, and are more than half of the lines.
        clock: Clock::new(lines / 2),
        guesses: Weighted::zipf(GUESSES.len() as u64, 0),
        intruders: Weighted::zipf(INTRUDERS.len() as u64, 0),
        kinds: Weighted::new([25, 30, 20, 15, 10]),
        attack: None,
    };
    for _ in 0..lines {
        messages.write_next(out, &mut chance)?;
    }
    Ok(())
}

impl Messages {
    fn write_next(&mut self, out: &mut impl Write, chance: &mut Chance) -> io::Result<()> {
        if let Some(mut attack) = self.attack.take() {
            self.clock.tick_within(chance, 4_000_000);
            self.write_attempt(out, &attack, chance)?;
            attack.left -= 1;
            attack.pid += chance.below(3);
            self.attack = (attack.left > 0).then_some(attack);
            return Ok(());
        }
        if chance.in_1000(40) {
            let from = INTRUDERS[self.intruders.draw(chance)];
            let (host, pid, left) = (host(chance), 1000 + chance.below(30_000), 5 + chance.below(60));
            self.attack = Some(Attack { host, from, pid, left });
        }
        self.clock.tick(chance);
        write!(out, "{} web{} ", self.clock.syslog(), host(chance))?;
        match self.kinds.draw(chance) {
            0 => write_login(out, chance),
            1 => write_cron(out, chance),
            2 => write_systemd(out, chance),
            3 => write_kernel(out, self.clock.microseconds(), chance),
            _ => write_sudo(out, chance),
        }
    }

    /// Writes a login that fails.
    fn write_attempt(&self, out: &mut impl Write, attack: &Attack, chance: &mut Chance) -> io::Result<()> {
        let Attack { host, from, pid, .. } = attack;
        let (name, exists) = GUESSES[self.guesses.draw(chance)];
        let (invalid, closed) =
            if exists { ("", "authenticating user") } else { ("invalid user ", "invalid user") };
        let port = 30_000 + chance.below(30_000);
        write!(out, "{} web{host} sshd[{pid}]: ", self.clock.syslog())?;
        match chance.below(10) {
            0 if !exists => writeln!(out, "Invalid user {name} from {from} port {port}"),
            0..2 => writeln!(out, "Connection closed by {closed} {name} {from} port {port} [preauth]"),
            2 => writeln!(
                out,
                "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost={from}  user={name}"
            ),
            _ => writeln!(out, "Failed password for {invalid}{name} from {from} port {port} ssh2"),
        }
    }
}

/// Number of a host: the first has half of the messages.
fn host(chance: &mut Chance) -> u64 {
    *chance.pick(&[1, 1, 2, 3])
}

/// Name of one of twelve accounts.
fn account(chance: &mut Chance) -> &'static str {
    word(chance.below(12), 0)
}

fn write_login(out: &mut impl Write, chance: &mut Chance) -> io::Result<()> {
    let (pid, name, from) = (1000 + chance.below(30_000), account(chance), address(chance.below(40)));
    let port = 40_000 + chance.below(20_000);
    write!(out, "sshd[{pid}]: ")?;
    match chance.below(10) {
        0 => writeln!(out, "Failed password for {name} from {from} port {port} ssh2"),
        1..5 => writeln!(out, "Accepted password for {name} from {from} port {port} ssh2"),
        5..8 => writeln!(
            out,
            "Accepted publickey for {name} from {from} port {port} ssh2: ED25519 SHA256:{:016x}{:016x}",
            chance.bits(),
            chance.bits()
        ),
        _ => writeln!(out, "Received disconnect from {from} port {port}:11: disconnected by user"),
    }
}

fn write_cron(out: &mut impl Write, chance: &mut Chance) -> io::Result<()> {
    let pid = 1000 + chance.below(30_000);
    match chance.below(10) {
        0..5 => writeln!(out, "CRON[{pid}]: (root) CMD (/usr/local/bin/backup-{} --daily)", chance.below(4)),
        5..8 => {
            writeln!(
                out,
                "CRON[{pid}]: ({}) CMD (/home/shop/bin/report.sh > /dev/null 2>&1)",
                account(chance)
            )
        }
        _ => writeln!(
            out,
            "CRON[{pid}]: pam_unix(cron:session): session opened for user root(uid=0) by (uid={})",
            chance.below(3)
        ),
    }
}

fn write_systemd(out: &mut impl Write, chance: &mut Chance) -> io::Result<()> {
    let number = chance.bits();
    match chance.below(4) {
        0 => writeln!(out, "systemd[1]: Started Session {} of User {}.", number % 20_000, account(chance)),
        1 => writeln!(out, "systemd[1]: Starting logrotate.service - Rotate log files..."),
        2 => writeln!(
            out,
            "systemd[1]: var-lib-containers-overlay-{number:016x}-merged.mount: Deactivated successfully."
        ),
        _ => {
            write!(out, "systemd[1]: run-")?;
            write_uuid(out, number, chance.bits())?;
            writeln!(out, ".scope: Consumed {}.{:03}s CPU time.", number % 90, number >> 8 & 511)
        }
    }
}

/// Writes a random UUID, of version 4.
fn write_uuid(out: &mut impl Write, high: u64, low: u64) -> io::Result<()> {
    let (first, second, third) = (high >> 32, high >> 16 & 0xFFFF, high & 0xFFF);
    write!(out, "{first:08x}-{second:04x}-4{third:03x}-a{:03x}-{:012x}", low >> 52, low & 0xFFFF_FFFF_FFFF)
}

fn write_kernel(out: &mut impl Write, now: u64, chance: &mut Chance) -> io::Result<()> {
    let (number, uptime) = (chance.bits(), now % 10_000_000_000_000);
    write!(out, "kernel: [{:5}.{:06}] ", uptime / 1_000_000, uptime % 1_000_000)?;
    match chance.below(10) {
        0..6 => writeln!(
            out,
            "[UFW BLOCK] IN=eth0 OUT= SRC={} DST=192.0.2.10 LEN=60 TTL={} ID={} PROTO=TCP SPT={} DPT={} SYN",
            address(8 * (number % 10) + (number >> 4) % 6),
            40 + (number >> 8 & 15),
            number >> 16 & 0xFFFF,
            1024 + (number >> 32 & 0x7FFF),
            chance.pick(&[22, 23, 23, 445, 3389])
        ),
        6..8 => writeln!(
            out,
            "Out of memory: Killed process {} (worker) total-vm:{}kB, anon-rss:{}kB",
            1000 + number % 30_000,
            4_000_000 + (number >> 16 & 0xF_FFFF),
            2_000_000 + (number >> 40 & 0xF_FFFF)
        ),
        _ => writeln!(
            out,
            "EXT4-fs (sda{}): error count since last fsck: {}",
            1 + number % 3,
            1 + (number >> 8 & 7)
        ),
    }
}

fn write_sudo(out: &mut impl Write, chance: &mut Chance) -> io::Result<()> {
    let (name, terminal) = (account(chance), chance.below(5));
    let command = *chance.pick(&[
        "/usr/bin/apt update",
        "/usr/bin/systemctl restart nginx",
        "/usr/bin/tail -n 100 /var/log/auth.log",
        "/bin/chmod 640 /srv/shop/config.toml",
    ]);
    writeln!(out, "sudo: {name} : TTY=pts/{terminal} ; PWD=/home/{name} ; USER=root ; COMMAND={command}")
}
