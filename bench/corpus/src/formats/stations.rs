//! Temperatures of stations in the form of the one-billion-row challenge: `Name;12.3`.

use std::io::{self, Write};

use crate::chance::Chance;
use crate::words::{scramble, word};

/// Number of stations, as in the challenge.
const STATIONS: u64 = 413;

/// Endings of names, some of them not ASCII.
const ENDINGS: [&str; 8] = ["ville", "burg", "", " Bay", "ås", "é", " City", "-sur-Mer"];

pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let stations: Vec<(String, i64)> = (0..STATIONS).map(station).collect();
    for _ in 0..lines {
        let (name, mean) = chance.pick(&stations);
        // The sum of three uniform numbers is nearly normally distributed.
        let deviation: i64 = (0..3).map(|_| chance.below(200) as i64 - 100).sum();
        let tenths = (mean + deviation).clamp(-999, 999);
        let sign = if tenths < 0 { "-" } else { "" };
        let tenths = tenths.unsigned_abs();
        writeln!(out, "{name};{sign}{}.{}", tenths / 10, tenths % 10)?;
    }
    Ok(())
}

/// Name of a station and its mean temperature in tenths of a degree.
fn station(number: u64) -> (String, i64) {
    let mixed = scramble(number);
    let stem = word(mixed, 0);
    let (first, rest) = stem.split_at(1);
    let ending = ENDINGS[(mixed >> 20) as usize % ENDINGS.len()];
    let name = format!("{}{rest}{}{ending}", first.to_uppercase(), word(number, 1));
    (name, (mixed >> 40) as i64 % 400 - 80)
}
