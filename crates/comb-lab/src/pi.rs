//! `comb pi`: digits of pi.

use std::io::{IsTerminal, Write, stderr, stdout};

use finecomb_command::exit::{Exit, Failure, check_output, fits_memory};
use finecomb_command::output::{FileKind, OutputFile, write};
use finecomb_command::pi::PiArguments;
use finecomb_command::progress;
use finecomb_pi::{Options, digits, memory};
use finecomb_sys::units::Count;
use indicatif::ProgressBar;

/// Steps of the progress bar.
const STEPS: u64 = 1000;

const TEMPLATE: &str = "{bar:40} {percent} %, {elapsed}, {eta} left";

/// Runs the command.
pub(crate) fn run(arguments: &PiArguments) -> Result<Exit, Failure> {
    if arguments.output.is_none() {
        check_output()?;
    }
    check_file(arguments)?;
    fits_memory(format_args!("{} digits take", Count(arguments.digits)), memory(arguments.digits))?;
    let mut computed = compute(arguments)?;
    match arguments.packed {
        true => computed = packed(&computed),
        false => computed.push(b'\n'),
    }
    if let Some(path) = &arguments.output {
        write(path, &computed)?;
    } else {
        let mut out = stdout().lock();
        out.write_all(&computed)?;
        out.flush()?;
    }
    Ok(Exit::Found)
}

fn compute(arguments: &PiArguments) -> Result<Vec<u8>, String> {
    let bar = if stderr().is_terminal() { ProgressBar::new(STEPS) } else { ProgressBar::hidden() };
    bar.set_style(progress::style(TEMPLATE));
    progress::keep_moving(&bar);
    let on_progress = |done: f64| bar.set_position((done * STEPS as f64) as u64);
    let options = Options { progress: Some(&on_progress), ..Options::new(arguments.threads.count()) };
    let computed = digits(arguments.digits, &options).map_err(|error| error.to_string());
    bar.finish_and_clear();
    computed
}

fn packed(digits: &[u8]) -> Vec<u8> {
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).map_or(0, |digit| digit & 15)).collect()
}

/// First digits of pi after the decimal point.
const DIGITS: &[u8] = b"14159265358979323846264338327950";

/// Kind of file that `comb pi` may replace.
const PI: FileKind = FileKind { name: "digits of pi", is_this: is_pi };

/// Whether a file begins with digits of pi, as text or packed.
fn is_pi(head: &[u8]) -> bool {
    let text = head.strip_suffix(b"\n").unwrap_or(head);
    let begins = |head: &[u8], digits: &[u8]| head.iter().zip(digits).all(|(one, other)| one == other);
    // An odd number of packed digits is padded with a zero.
    let [one, other] =
        [head.len() * 2, (head.len() * 2).saturating_sub(1)].map(|count| &DIGITS[..count.min(DIGITS.len())]);
    begins(text, DIGITS) || begins(head, &packed(one)) || begins(head, &packed(other))
}

/// Checks that the output file may be written.
fn check_file(arguments: &PiArguments) -> Result<(), String> {
    let Some(path) = &arguments.output else { return Ok(()) };
    OutputFile { path, sources: &[], force: arguments.force }.check(Some(&PI))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        assert!(indicatif::ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn a_file_of_digits_of_pi_is_recognised() {
        for count in [0, 1, 2, 3, 31, 32] {
            let text = [&DIGITS[..count], b"\n"].concat();
            assert!(is_pi(&text), "{count} digits");
            let packed = packed(&DIGITS[..count]);
            assert!(packed.is_empty() || is_pi(&packed), "{count} packed digits");
        }
        for other in [&b"notes\n"[..], b"3.14159", b"15\n", b"1415\n7", &[0x14, 0x16], &[0x14, 0x00]] {
            assert!(!is_pi(other), "{other:?}");
        }
    }
}
