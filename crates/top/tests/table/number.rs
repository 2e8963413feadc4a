//! Numbers as fractions of 10^18.

use num_bigint::BigInt;

/// A number in units of 10^-18, and the number of its decimal places as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExactNumber {
    pub(crate) units: BigInt,
    pub(crate) places: u32,
    /// Whether it has a unit of time.
    pub(crate) has_unit: bool,
}

/// A text without a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// There is no value.
    NoValue,
    Invalid,
    OutOfRange,
}

/// Units of time: seconds, and decimal places.
const UNITS: [(&str, u32, i64); 8] = [
    ("ns", 1, 9),
    ("us", 1, 6),
    ("µs", 1, 6),
    ("ms", 1, 3),
    ("s", 1, 0),
    ("m", 60, 0),
    ("h", 3600, 0),
    ("d", 86400, 0),
];

pub(crate) fn one() -> BigInt {
    BigInt::from(10).pow(18)
}

/// Parses a number of at most 18 places and 20 digits before the point, as measures do.
pub(crate) fn parse(text: &str) -> Result<ExactNumber, NoNumber> {
    let number = parse_any(text)?;
    let is_in_range = BigInt::from(number.units.magnitude().clone()) < BigInt::from(10).pow(38);
    if is_in_range { Ok(number) } else { Err(NoNumber::OutOfRange) }
}

/// Parses a number of at most 18 places, as conditions do.
pub(crate) fn parse_any(text: &str) -> Result<ExactNumber, NoNumber> {
    if matches!(text, "" | "-") {
        return Err(NoNumber::NoValue);
    }
    let unit =
        UNITS.iter().find_map(|&(name, seconds, places)| Some((text.strip_suffix(name)?, seconds, places)));
    let (rest, seconds, places) = unit.unwrap_or((text, 1, 0));
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], parse_exponent(&rest[at + 1..])?),
        None => (rest, 0),
    };
    let (sign, digits) = match mantissa.as_bytes() {
        [b'-', ..] => (-1, &mantissa[1..]),
        [b'+', ..] => (1, &mantissa[1..]),
        _ => (1, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NoNumber::Invalid);
    }
    let last = exponent - fraction.len() as i64 - places;
    let units: BigInt =
        all.parse::<BigInt>().expect("digits") * BigInt::from(10).pow((18 + last) as u32) * seconds * sign;
    Ok(ExactNumber { units, places: (-last).max(0) as u32, has_unit: unit.is_some() })
}

fn parse_exponent(text: &str) -> Result<i64, NoNumber> {
    let digits = text.trim_start_matches(['+', '-']);
    match !digits.is_empty() && digits.len() + 1 >= text.len() {
        true => text.parse().map_err(|_| NoNumber::Invalid),
        false => Err(NoNumber::Invalid),
    }
}

/// A number as text, without zeros at the end.
pub(crate) fn shown(units: &BigInt) -> String {
    let magnitude = units.magnitude().to_string();
    let digits = format!("{magnitude:0>19}");
    let (whole, fraction) = digits.split_at(digits.len() - 18);
    let fraction = fraction.trim_end_matches('0');
    let sign = if *units < BigInt::ZERO { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// A fraction of 10^18, rounded half to even to a number of places.
pub(crate) fn rounded(numerator: &BigInt, denominator: &BigInt, places: u32) -> BigInt {
    let step = BigInt::from(10).pow(18 - places);
    let divisor = denominator * &step;
    // The quotient, rounded down.
    let shift = BigInt::from(numerator.magnitude().clone()) + 1;
    let positive = numerator + &divisor * &shift;
    let quotient = &positive / &divisor - shift;
    let rest = numerator - &quotient * &divisor;
    let twice: BigInt = &rest * 2;
    let is_odd = &quotient % 2 != BigInt::ZERO;
    let is_up = twice > divisor || twice == divisor && is_odd;
    (quotient + i32::from(is_up)) * step
}
