//! Temperatures of stations in the form of the one-billion-row challenge: `Name;12.3`.

use std::io::{self, Write};

use super::cities::CLIMATES;
use crate::chance::Chance;
use crate::words::scramble;

/// Lowest and highest temperature in tenths of a degree.
const LIMIT: i16 = 999;

struct Station {
    /// Name and semicolon.
    start: String,
    /// Mean temperature in tenths of a degree.
    mean: i16,
}

/// Writes `lines` temperatures. Numbers are formatted once, not for each line: logs of a billion lines are made of this.
pub(super) fn write(out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
    let mut chance = Chance::new(seed);
    let stations = stations();
    let temperatures: Vec<String> = (-LIMIT..=LIMIT).map(temperature).collect();
    for _ in 0..lines {
        let Station { start, mean } = chance.pick(&stations);
        let tenths = (mean + deviation(chance.bits())).clamp(-LIMIT, LIMIT);
        out.write_all(start.as_bytes())?;
        out.write_all(temperatures[(tenths + LIMIT) as usize].as_bytes())?;
    }
    Ok(())
}

fn stations() -> Vec<Station> {
    let mut stations = Vec::new();
    for climate in &CLIMATES {
        let (low, high) = climate.means;
        for city in climate.cities {
            let above = scramble(stations.len() as u64) % (high - low + 1) as u64;
            stations.push(Station { start: format!("{city};"), mean: low + above as i16 });
        }
    }
    stations
}

/// A line's end: a temperature in degrees and a line feed.
fn temperature(tenths: i16) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    format!("{sign}{}.{}\n", tenths.abs() / 10, tenths.abs() % 10)
}

/// A deviation in tenths of a degree from 64 random bits: the sum of six uniform numbers, which is nearly normally distributed, with
/// a standard deviation of 10 degrees.
fn deviation(bits: u64) -> i16 {
    let sum: u64 = (0..6).map(|part| bits >> (10 * part) & 0x3FF).sum();
    ((sum * 100 + 362) / 724) as i16 - 424
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_413_stations_of_different_names() {
        let names: BTreeSet<String> = stations().into_iter().map(|station| station.start).collect();
        assert_eq!(names.len(), 413);
        assert!(names.iter().any(|name| !name.is_ascii()));
    }

    #[test]
    fn temperatures_have_a_decimal_and_a_sign_if_below_zero() {
        let texts = [-999, -3, 0, 7, 123].map(temperature);
        assert_eq!(texts, ["-99.9\n", "-0.3\n", "0.0\n", "0.7\n", "12.3\n"]);
    }

    #[test]
    fn deviations_are_normally_distributed() {
        let mut chance = Chance::new(11);
        let deviations: Vec<i64> = (0..100_000).map(|_| i64::from(deviation(chance.bits()))).collect();
        let mean = deviations.iter().sum::<i64>() / 100_000;
        assert!(mean.abs() <= 1, "mean {mean}");
        for (sigmas, expected) in [(1, 68_270), (2, 95_450), (3, 99_730)] {
            let within = deviations.iter().filter(|deviation| deviation.abs() <= 100 * sigmas).count();
            assert!(
                within.abs_diff(expected) < 700,
                "{within} of 100,000 within {sigmas} standard deviations"
            );
        }
    }
}
