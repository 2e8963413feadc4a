//! Computes digits of pi and prints the last ten: `cargo run --release -p finecomb-pi --example digits -- 1000000 2`.

use std::num::NonZeroUsize;

use finecomb_pi::{Options, digits};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let threads: NonZeroUsize = arguments.next().map_or(Ok(NonZeroUsize::MIN), |threads| threads.parse())?;
    let digits = digits(count, &Options::new(threads))?;
    println!("{}", String::from_utf8_lossy(&digits[digits.len().saturating_sub(10)..]));
    Ok(())
}
