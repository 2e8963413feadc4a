//! Numbers of conditions: decimal, with units of time and size, compared exactly at any number of digits.

use std::cmp::Ordering;

use crate::measure::number::{split_digits, split_sign};

/// Names of all units, for messages.
pub(super) const UNITS: &str = "ns us µs ms s m h d B k kB KB M MB G GB TB KiB MiB GiB TiB";

/// Maximum number of digits of an exponent, except zeros at its start. A text with a longer one is not a number.
const MAX_EXPONENT: usize = 17;

/// Maximum number of digits that fit into 64 bits.
const SMALL_DIGITS: usize = 19;

/// A decimal number.
#[derive(Clone, Debug)]
pub(super) struct Number {
    is_negative: bool,
    magnitude: Magnitude,
}

/// A number without its sign.
#[derive(Clone, Debug)]
enum Magnitude {
    /// `units` * 10^`exponent`.
    Small {
        units: u128,
        exponent: i64,
    },
    Large(Digits),
}

/// A number without its sign: 0.`digits` * 10^`point`. There are no zeros at either end, so the order is that of the
/// members.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Digits {
    point: i64,
    /// The values of the digits, from 0 to 9.
    digits: Vec<u8>,
}

impl Number {
    /// Parses an optional sign, digits with an optional point, an optional exponent of up to 17 digits, and an optional
    /// unit, without spaces. Times are in seconds, sizes in bytes.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (is_negative, rest) = split_sign(text);
        let (whole, rest) = split_digits(rest);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => split_digits(rest),
            _ => (&[][..], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (exponent, rest) = split_exponent(rest)?;
        let (factor, power) = unit(rest)?;
        let magnitude = Magnitude::new(whole, fraction, exponent + power, factor);
        Some(Self { is_negative: is_negative && !magnitude.is_zero(), magnitude })
    }

    /// The number `units` / 10^`places`.
    #[inline]
    pub(super) fn small(units: i64, places: u8) -> Self {
        let magnitude = Magnitude::Small { units: units.unsigned_abs().into(), exponent: -i64::from(places) };
        Self { is_negative: units < 0, magnitude }
    }

    /// Returns the order of two numbers.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, false) => self.magnitude.compare(&other.magnitude),
            (true, true) => other.magnitude.compare(&self.magnitude),
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
        }
    }
}

impl Magnitude {
    /// The number `whole`.`fraction` * `factor` * 10^`exponent`.
    fn new(whole: &[u8], fraction: &[u8], exponent: i64, factor: u64) -> Self {
        let exponent = exponent - fraction.len() as i64;
        let whole = without_zeros(whole);
        let fraction = if whole.is_empty() { without_zeros(fraction) } else { fraction };
        let digits = whole.iter().chain(fraction).map(|digit| u64::from(digit - b'0'));
        if whole.len() + fraction.len() <= SMALL_DIGITS {
            let units = digits.fold(0, |units, digit| 10 * units + digit);
            return Self::Small { units: u128::from(units) * u128::from(factor), exponent };
        }
        // Multiplies from the last digit to the first.
        let mut carry = 0;
        let mut product = Vec::with_capacity(whole.len() + fraction.len());
        for digit in digits.rev() {
            carry += digit * factor;
            product.push((carry % 10) as u8);
            carry /= 10;
        }
        while carry > 0 {
            product.push((carry % 10) as u8);
            carry /= 10;
        }
        product.reverse();
        Self::Large(Digits::new(product, exponent))
    }

    fn is_zero(&self) -> bool {
        match self {
            Self::Small { units, .. } => *units == 0,
            Self::Large(digits) => digits.digits.is_empty(),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        if let (
            &Self::Small { units, exponent },
            &Self::Small { units: other_units, exponent: other_exponent },
        ) = (self, other)
            && let Some((units, other_units)) = aligned(units, exponent, other_units, other_exponent)
        {
            return units.cmp(&other_units);
        }
        self.digits().cmp(&other.digits())
    }

    fn digits(&self) -> Digits {
        match self {
            Self::Small { units, exponent } => {
                Digits::new(units.to_string().bytes().map(|digit| digit - b'0').collect(), *exponent)
            }
            Self::Large(digits) => digits.clone(),
        }
    }
}

/// Converts two numbers to the lower of their exponents; `None` if one of them does not fit.
fn aligned(units: u128, exponent: i64, other_units: u128, other_exponent: i64) -> Option<(u128, u128)> {
    let scaled = |units: u128, by: i64| units.checked_mul(10_u128.checked_pow(u32::try_from(by).ok()?)?);
    match exponent - other_exponent {
        0 => Some((units, other_units)),
        by if by > 0 => Some((scaled(units, by)?, other_units)),
        by => Some((units, scaled(other_units, -by)?)),
    }
}

impl Digits {
    /// The number `digits` * 10^`exponent`.
    fn new(mut digits: Vec<u8>, exponent: i64) -> Self {
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..zeros);
        let point = exponent + digits.len() as i64;
        let end = digits.iter().rposition(|&digit| digit != 0).map_or(0, |last| last + 1);
        digits.truncate(end);
        // Zero is less than all others.
        Self { point: if digits.is_empty() { i64::MIN } else { point }, digits }
    }
}

fn without_zeros(digits: &[u8]) -> &[u8] {
    &digits[digits.iter().take_while(|&&digit| digit == b'0').count()..]
}

/// Returns the exponent at the start of a text, 0 without one, and the rest; `None` if it is invalid or too long.
fn split_exponent(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'e' | b'E', rest @ ..] = text else { return Some((0, text)) };
    let (is_negative, rest) = split_sign(rest);
    let (digits, rest) = split_digits(rest);
    let significant = without_zeros(digits);
    if digits.is_empty() || significant.len() > MAX_EXPONENT {
        return None;
    }
    let exponent = significant.iter().fold(0, |value, digit| 10 * value + i64::from(digit - b'0'));
    Some((if is_negative { -exponent } else { exponent }, rest))
}

/// Returns the factor and the power of ten of a unit.
fn unit(name: &[u8]) -> Option<(u64, i64)> {
    Some(match name {
        b"" | b"s" | b"B" => (1, 0),
        b"ns" => (1, -9),
        // The micro sign and the Greek letter.
        b"us" | b"\xC2\xB5s" | b"\xCE\xBCs" => (1, -6),
        b"ms" => (1, -3),
        b"m" => (60, 0),
        b"h" => (3_600, 0),
        b"d" => (86_400, 0),
        b"k" | b"kB" | b"KB" => (1, 3),
        b"M" | b"MB" => (1, 6),
        b"G" | b"GB" => (1, 9),
        b"TB" => (1, 12),
        b"KiB" => (1 << 10, 0),
        b"MiB" => (1 << 20, 0),
        b"GiB" => (1 << 30, 0),
        b"TiB" => (1 << 40, 0),
        _ => return None,
    })
}

/// The integers from 0 to 99,999,999 that a comparison with a number accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallRange {
    start: u32,
    length: u32,
    is_inverted: bool,
}

impl SmallRange {
    /// Limit of the integers.
    const END: u32 = 100_000_000;

    /// The integers for which `accepts` their order relative to `number`.
    pub(super) fn new(number: &Number, accepts: impl Fn(Ordering) -> bool) -> Self {
        let [less, equal, greater] = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(accepts);
        // Only "not equal" accepts two separate ranges: all but the equal numbers.
        let is_inverted = less && !equal && greater;
        let [less, equal, greater] = if is_inverted { [false, true, false] } else { [less, equal, greater] };
        let [first_equal, first_greater] =
            [Ordering::Equal, Ordering::Greater].map(|order| first(number, order));
        let start = if less {
            0
        } else if equal {
            first_equal
        } else {
            first_greater
        };
        let end = if greater {
            Self::END
        } else if equal {
            first_greater
        } else {
            first_equal
        };
        Self { start, length: end - start, is_inverted }
    }

    #[inline(always)]
    pub(super) fn contains(self, number: u32) -> bool {
        (number.wrapping_sub(self.start) < self.length) != self.is_inverted
    }
}

/// Returns the first small integer whose order relative to `number` is `order` or beyond.
fn first(number: &Number, order: Ordering) -> u32 {
    let (mut start, mut end) = (0, SmallRange::END);
    while start < end {
        let middle = start.midpoint(end);
        if Number::small(middle.into(), 0).compare(number) < order {
            start = middle + 1
        } else {
            end = middle
        }
    }
    start
}

/// The digit zero in each byte.
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

/// Returns the integer `text[start..end]` of one to eight digits without a sign; `None` if the value is something else,
/// or if the text ends less than eight bytes after its start.
#[inline(always)]
pub(super) fn small_integer(text: &[u8], start: u32, end: u32) -> Option<u32> {
    let length = end.wrapping_sub(start);
    let window = text.get(start as usize..)?.first_chunk()?;
    if length.wrapping_sub(1) >= 8 {
        return None;
    }
    // The digits are the last bytes, after zeros.
    let word = u64::from_le_bytes(*window) << (64 - 8 * length) | ZEROS >> 8 >> (8 * (length - 1));
    let digits = word ^ ZEROS;
    let above_nine = digits | digits.wrapping_add(u64::from_ne_bytes([6; 8]));
    if above_nine & u64::from_ne_bytes([0xF0; 8]) != 0 {
        return None;
    }
    // Combines digits into pairs, pairs into fours, and fours into eight.
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000 << 32 | 1) >> 32) as u32)
}
