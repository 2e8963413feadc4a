//! Measurements of hosts as tab-separated values.

use std::io::{self, Write};

use crate::chance::Chance;
use crate::clock::Clock;

const METRICS: [(&str, u64, &str); 4] =
    [("load", 1600, ""), ("memory", 6_400_000, "MB"), ("disk", 98_000, "%"), ("temperature", 81_000, "°C")];

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let mut clock = Clock::new(lines);
    writeln!(out, "time\thost\tmetric\tvalue\tunit")?;
    for _ in 0..lines {
        clock.tick(&mut chance);
        let &(metric, most, unit) = chance.pick(&METRICS);
        let value = most / 5 + chance.below(most);
        let host = 1 + chance.below(6);
        writeln!(
            out,
            "{}\tdb{host}\t{metric}\t{}.{:02}\t{unit}",
            clock.rfc3339(),
            value / 1000,
            value % 1000 / 10
        )?;
    }
    Ok(())
}
