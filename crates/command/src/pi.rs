//! The flags of `comb pi`.

use std::path::PathBuf;

use clap::Args;

use crate::args::threads::Threads;
use crate::shell::facts;

const LONG_ABOUT: &str = "\
Compute digits of pi

Examples:
  First 50 decimal digits:
      comb pi 50
  Search the first million digits for a date:
      comb pi 1M -o pi.txt
      comb index build pi.txt -o pi.comb
      comb find pi.comb 140379

Prints the first N digits after the decimal point, truncated and not rounded, and a line feed. Uses Chudnovsky's series \
on all cores.";

/// Compute digits of pi
#[derive(Args)]
#[command(long_about = LONG_ABOUT, add = facts::PI)]
pub struct PiArguments {
    /// Number of digits, such as 1000, 20M or 1e6; suffixes K, M and G are powers of 1000
    #[arg(value_name = "N", value_parser = parse_count)]
    pub digits: u64,

    /// Write the digits to FILE, atomically
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace an existing file that does not contain digits of pi
    #[arg(long, requires = "output")]
    pub force: bool,

    /// Write two digits per byte, the first in the high half, without a line feed; an odd number is padded with a zero
    #[arg(long)]
    pub packed: bool,

    #[command(flatten)]
    pub threads: Threads,
}

fn parse_count(text: &str) -> Result<u64, String> {
    let digits_and_power = match text.split_once(['e', 'E']) {
        Some((digits, power)) => power.parse().ok().map(|power| (digits, power)),
        None => Some(match text.char_indices().last() {
            Some((at, 'k' | 'K')) => (&text[..at], 3),
            Some((at, 'm' | 'M')) => (&text[..at], 6),
            Some((at, 'g' | 'G')) => (&text[..at], 9),
            _ => (text, 0),
        }),
    };
    let number = digits_and_power.and_then(|(digits, power)| {
        let number: u64 = digits.replace('_', "").parse().ok()?;
        number.checked_mul(10_u64.checked_pow(power)?)
    });
    number.ok_or_else(|| "expected a number of digits, such as 1000, 20M or 1e6".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn counts_are_powers_of_a_thousand() {
        assert_eq!(parse_count("0"), Ok(0));
        assert_eq!(parse_count("20M"), Ok(20_000_000));
        assert_eq!(parse_count("1_000k"), Ok(1_000_000));
        assert_eq!(parse_count("1e6"), Ok(1_000_000));
        assert_eq!(parse_count("25E0"), Ok(25));
        for wrong in [
            "",
            "e6",
            "1e",
            "1e-1",
            "1e20",
            "1e6M",
            "M",
            "-1",
            "1.5M",
            "99999999999999999999",
            "20000000000G",
        ] {
            assert!(parse_count(wrong).is_err(), "{wrong}");
        }
    }
}
