//! The flags of `comb pi`.

use std::path::PathBuf;

use clap::Args;

use super::threads::Threads;

const EXAMPLES: &str = "\
Examples:
  Fifty digits:
      comb pi 50

  A million of them, to be searched:
      comb pi 1000000 -o pi.txt
      comb index build pi.txt -o pi.comb
      comb find pi.comb 140379";

/// Compute digits of pi
///
/// Prints the first N decimal digits after the point (without the 3. before it), cut off and not rounded, and a line end. By
/// Chudnovsky's series, on all cores.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How many digits; K, M and G behind the number stand for thousands, millions and thousands of millions
    #[arg(value_name = "N", value_parser = parse_count)]
    pub(crate) digits: u64,

    /// Write them to this file, which is there with all of them or not at all
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace a file that does not begin with digits of pi
    #[arg(long, requires = "output")]
    pub(crate) force: bool,

    /// Write two digits a byte, the first in the high half, and no line end; behind an odd number there is a zero
    #[arg(long)]
    pub(crate) packed: bool,

    #[command(flatten)]
    pub(crate) threads: Threads,
}

fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1),
    };
    let number: Option<u64> = digits.replace('_', "").parse().ok();
    number
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| "it is a number of digits, such as 1000 or 20M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn counts_are_powers_of_a_thousand() {
        assert_eq!(parse_count("0"), Ok(0));
        assert_eq!(parse_count("20M"), Ok(20_000_000));
        assert_eq!(parse_count("1_000k"), Ok(1_000_000));
        for wrong in ["", "M", "-1", "1.5M", "99999999999999999999", "20000000000G"] {
            assert!(parse_count(wrong).is_err(), "{wrong}");
        }
    }
}
