//! Measurements of hosts as tab-separated values.

use std::io::{self, Write};

use crate::chance::Chance;

/// Names, typical values in hundredths, and units. The load has no unit.
const METRICS: [(&str, u64, &str); 7] = [
    ("cpu", 3_400, "%"),
    ("load", 180, ""),
    ("memory", 640_000, "MiB"),
    ("disk", 5_600, "%"),
    ("network", 42_000, "kB/s"),
    ("temperature", 5_100, "°C"),
    ("requests", 18_000, "1/s"),
];

const HOSTS: [&str; 9] = [
    "web1.example.com",
    "web2.example.com",
    "web3.example.com",
    "api1.example.com",
    "api2.example.com",
    "db1.example.net",
    "db2.example.net",
    "cache1.example.net",
    "mail.example.org",
];

/// The host with too much to do: its values are twice as high.
const BUSY: &str = "web3.example.com";

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    writeln!(out, "host\tmetric\tvalue\tunit")?;
    for _ in 0..lines {
        let host = *chance.pick(&HOSTS);
        let &(metric, typical, unit) = chance.pick(&METRICS);
        let value = (typical / 2 + chance.below(typical)) * if host == BUSY { 2 } else { 1 };
        write!(out, "{host}\t{metric}\t")?;
        // Now and then a measurement fails.
        if !chance.in_1000(15) {
            write!(out, "{}.{:02}", value / 100, value % 100)?;
        }
        writeln!(out, "\t{unit}")?;
    }
    Ok(())
}
