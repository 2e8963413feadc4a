//! Numbers of records: decimal, exact to 18 decimal places, optionally with a unit of time.

use std::cmp::Ordering;
use std::fmt;

/// Maximum number of decimal places. Further digits are rounded half to even.
pub(crate) const MAX_PLACES: u8 = 18;

/// Numbers are less than 10 to this power.
const MAX_DIGITS: usize = 20;

/// Maximum number of digits of the units of a number.
const ALL_DIGITS: usize = MAX_DIGITS + MAX_PLACES as usize;

/// Powers of ten.
pub(crate) const POWERS: [i128; ALL_DIGITS + 1] = {
    let mut powers = [1; ALL_DIGITS + 1];
    let mut power = 1;
    while power <= ALL_DIGITS {
        powers[power] = 10 * powers[power - 1];
        power += 1;
    }
    powers
};

/// Returns the power of ten with an exponent of at most 18, which fits into 64 bits.
#[inline(always)]
pub(crate) fn small_power(exponent: u8) -> i64 {
    POWERS[usize::from(exponent)] as i64
}

/// A decimal number with at most 18 places. Numbers are equal if their values are: 1.50 is 1.5.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    /// The value is `units` / 10^`places`.
    pub(crate) units: i128,
    pub(crate) places: u8,
}

/// A text without a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoNumber {
    /// An empty text or a hyphen: there is no value.
    NoValue,
    /// Another text.
    Invalid,
    /// The number is 10^20 or more, or -10^20 or less.
    OutOfRange,
}

impl Decimal {
    pub(crate) const fn new(units: i128, places: u8) -> Self {
        Self { units, places }
    }

    /// Whether a record can have the number.
    pub(crate) fn is_in_range(self) -> bool {
        self.units.unsigned_abs() < POWERS[MAX_DIGITS + usize::from(self.places)].unsigned_abs()
    }

    /// The nearest number with at most this many places; of two, the one with an even last digit.
    pub(crate) fn rounded(self, places: u8) -> Self {
        let Some(less) = self.places.checked_sub(places) else { return self };
        let unit = POWERS[usize::from(less)];
        let (whole, rest) = (self.units.div_euclid(unit), self.units.rem_euclid(unit));
        let is_up = rest > unit - rest || rest == unit - rest && whole % 2 != 0;
        Self::new(whole + i128::from(is_up), places)
    }

    /// Number of places that show this many significant digits; 0 for zero.
    pub(crate) fn places_for(self, digits: u8) -> u8 {
        match self.units.unsigned_abs().checked_ilog10() {
            Some(log) => (self.places + digits).saturating_sub(log as u8 + 1),
            None => 0,
        }
    }

    /// Parses a number: an optional sign, digits with an optional point, an optional exponent, and optionally a unit of time
    /// without a blank (`ns`, `us`, `µs`, `ms`, `s`, `m`, `h`, `d`), for a number of seconds. `places` counts the decimal places of
    /// the text, including zeros, after the exponent and the unit are applied.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, NoNumber> {
        parse_span(text, 0, text.len())
    }

    /// Whole part, rounded down, and the rest in units of 10^-18.
    fn parts(self) -> (i128, i128) {
        let one = POWERS[usize::from(self.places)];
        let rest = self.units.rem_euclid(one) * POWERS[usize::from(MAX_PLACES - self.places)];
        (self.units.div_euclid(one), rest)
    }
}

impl Ord for Decimal {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        if self.places == other.places {
            return self.units.cmp(&other.units);
        }
        self.parts().cmp(&other.parts())
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

/// The digits without zeros at the end of the decimal places, such as `-0.5`, `1200` and `0`.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut units, mut places) = (self.units.unsigned_abs(), usize::from(self.places));
        while places > 0 && units.is_multiple_of(10) {
            units /= 10;
            places -= 1;
        }
        let is_nonnegative = self.units >= 0;
        if places == 0 {
            return f.pad_integral(is_nonnegative, "", &units.to_string());
        }
        let one = POWERS[places].unsigned_abs();
        f.pad_integral(is_nonnegative, "", &format!("{}.{:0places$}", units / one, units % one))
    }
}

/// Parses the number `text[start..end]`, as [`Decimal::parse`] does.
#[inline(always)]
pub(crate) fn parse_span(text: &[u8], start: usize, end: usize) -> Result<Decimal, NoNumber> {
    match parse_plain(text, start, end) {
        Some((units, places)) => Ok(Decimal::new(units.into(), places)),
        None => parse_other(text, start, end),
    }
}

/// Parses a number of at most 16 bytes, and a minus, without exponent and unit. Returns its units and places; `None` if
/// it must be parsed by [`parse_other`].
#[inline(always)]
pub(crate) fn parse_plain(text: &[u8], start: usize, end: usize) -> Option<(i64, u8)> {
    if start == end {
        return None;
    }
    let is_negative = text[start] == b'-';
    let length = end - start - usize::from(is_negative);
    match length {
        1..=8 if end >= 8 => {
            let window = text[end - 8..end].try_into().ok()?;
            let (digits, places) = short_digits(u64::from_le_bytes(window), length)?;
            Some((signed(value_of_8(digits), is_negative), places))
        }
        1..=16 if end >= 16 => {
            let window = text[end - 16..end].try_into().ok()?;
            let (digits, places) = long_digits(u128::from_le_bytes(window), length)?;
            let value = value_of_8(digits as u64) * 100_000_000 + value_of_8((digits >> 64) as u64);
            Some((signed(value, is_negative), places))
        }
        1..=16 => parse_near_start(text, start, end),
        _ => None,
    }
}

/// Parses a number so near the start of a text that there are too few bytes before its end.
#[cold]
#[inline(never)]
fn parse_near_start(text: &[u8], start: usize, end: usize) -> Option<(i64, u8)> {
    let mut padded = [0; 33];
    padded[16..16 + end - start].copy_from_slice(&text[start..end]);
    parse_plain(&padded, 16, 16 + end - start)
}

#[inline(always)]
fn signed(value: u64, is_negative: bool) -> i64 {
    let sign = -i64::from(is_negative);
    (value as i64 ^ sign) - sign
}

/// Defines a function that finds the digits of a number that ends with a word, and takes the point out of them.
/// `length` is from 1 to the number of bytes of a word. The digits are returned as the values of the bytes, the last one
/// in the highest byte, with zeros before the first, and with the number of places.
macro_rules! define_digits {
    ($name:ident, $word:ty) => {
        #[inline(always)]
        fn $name(window: $word, length: usize) -> Option<($word, u8)> {
            const ONES: $word = <$word>::MAX / 0xFF;
            const POINT: $word = (b'.' ^ b'0') as $word;
            let before = <$word>::BITS - 8 * length as u32;
            let text = (window ^ (ONES * <$word>::from(b'0'))) >> before << before;
            // The highest bit of each byte that is not a digit. A byte that is not ASCII may change the bits of later bytes.
            let others = (text.wrapping_add(ONES * 0x76) | text) & (ONES << 7);
            if others == 0 {
                return Some((text, 0));
            }
            let one = (others & others.wrapping_neg()) >> 7;
            if others != one << 7 || text & (one * 0xFF) != one * POINT || length == 1 {
                return None;
            }
            // The bytes from the point on.
            let from_point = one.wrapping_neg();
            let digits = (text & !from_point) << 8 | (text ^ (one * POINT)) & from_point;
            Some((digits, (others.leading_zeros() / 8) as u8))
        }
    };
}

define_digits!(short_digits, u64);
define_digits!(long_digits, u128);

/// Returns the number of eight digits, the last one in the highest byte: combines pairs, then pairs of pairs.
#[inline(always)]
fn value_of_8(digits: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00FF_0000_00FF;
    let pairs = digits * 10 + (digits >> 8);
    let first = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let second = (pairs >> 16 & PAIRS).wrapping_mul(1 + (10_000 << 32));
    first.wrapping_add(second) >> 32
}

/// Parses a number of any length that may have an exponent and a unit.
#[inline(never)]
pub(crate) fn parse_other(text: &[u8], start: usize, end: usize) -> Result<Decimal, NoNumber> {
    parse_with_unit(text, start, end).map(|(number, _)| number)
}

/// Parses a number of any length. Returns, too, whether it has a unit.
#[inline(never)]
pub(crate) fn parse_with_unit(text: &[u8], start: usize, end: usize) -> Result<(Decimal, bool), NoNumber> {
    match &text[start..end] {
        b"" | b"-" => return Err(NoNumber::NoValue),
        _ => {}
    }
    let (unit, length) = unit_at_end(&text[start..end]);
    if length > 0
        && let Some((units, places)) = parse_plain(text, start, end - length)
        && places + unit.places <= MAX_PLACES
    {
        let units = i128::from(units) * i128::from(unit.seconds);
        return in_range(units, places + unit.places).map(|number| (number, true));
    }
    let parts = NumberParts::split(&text[start..end - length]).ok_or(NoNumber::Invalid)?;
    parts.value(unit).map(|(number, _)| (number, length > 0))
}

/// Whether the text is a number with digits that are lost, as they are beyond the maximum number of places.
#[cold]
pub(crate) fn is_rounded(text: &[u8]) -> bool {
    let (unit, length) = unit_at_end(text);
    let value = NumberParts::split(&text[..text.len() - length]).and_then(|parts| parts.value(unit).ok());
    value.is_some_and(|(_, is_rounded)| is_rounded)
}

/// A unit of time: a number of seconds / 10^places.
#[derive(Clone, Copy)]
struct TimeUnit {
    seconds: u32,
    places: u8,
}

/// Returns the unit of a number and the length of its name.
fn unit_at_end(text: &[u8]) -> (TimeUnit, usize) {
    let (seconds, places, length) = match text {
        [.., b'n', b's'] => (1, 9, 2),
        [.., b'u', b's'] => (1, 6, 2),
        // The micro sign and the Greek letter.
        [.., 0xC2, 0xB5, b's'] | [.., 0xCE, 0xBC, b's'] => (1, 6, 3),
        [.., b'm', b's'] => (1, 3, 2),
        [.., b's'] => (1, 0, 1),
        [.., b'm'] => (60, 0, 1),
        [.., b'h'] => (3_600, 0, 1),
        [.., b'd'] => (86_400, 0, 1),
        _ => (1, 0, 0),
    };
    (TimeUnit { seconds, places }, length)
}

fn in_range(units: i128, places: u8) -> Result<Decimal, NoNumber> {
    let limit = POWERS[MAX_DIGITS + usize::from(places)];
    if units.abs() < limit { Ok(Decimal::new(units, places)) } else { Err(NoNumber::OutOfRange) }
}

/// The parts of a number without its unit.
struct NumberParts<'t> {
    is_negative: bool,
    /// Digits before and after the point.
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
}

impl<'t> NumberParts<'t> {
    /// Returns `None` if the text is no number.
    fn split(text: &'t [u8]) -> Option<Self> {
        let (is_negative, rest) = split_sign(text);
        let (whole, rest) = split_digits(rest);
        let (fraction, rest) = match rest.split_first() {
            Some((b'.', rest)) => split_digits(rest),
            _ => (&b""[..], rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let exponent = match rest.split_first() {
            None => 0,
            Some((b'e' | b'E', rest)) => exponent(rest)?,
            Some(_) => return None,
        };
        Some(Self { is_negative, whole, fraction, exponent })
    }

    /// Returns the value of the number in this unit, and whether it was rounded.
    fn value(&self, unit: TimeUnit) -> Result<(Decimal, bool), NoNumber> {
        // The power of ten of the last digit.
        let last = self.exponent.saturating_sub_unsigned(self.fraction.len() as u64 + u64::from(unit.places));
        let places = last.saturating_neg().clamp(0, MAX_PLACES.into());
        let shift = last.saturating_add(places);
        let zeros = |digits: &[u8]| digits.iter().take_while(|&&digit| digit == b'0').count();
        let whole = &self.whole[zeros(self.whole)..];
        let fraction = if whole.is_empty() { &self.fraction[zeros(self.fraction)..] } else { self.fraction };
        let (units, is_rounded) = if whole.is_empty() && fraction.is_empty() {
            (0, false)
        } else {
            shifted(whole, fraction, shift, unit.seconds).ok_or(NoNumber::OutOfRange)?
        };
        let number = in_range(if self.is_negative { -units } else { units }, places as u8)?;
        Ok((number, is_rounded))
    }
}

/// Returns `digits * factor * 10^shift`, rounded half to even, and whether that is another number. `digits` is `head` followed by
/// `tail`, without zeros at the beginning. Returns `None` if it is certainly out of range.
fn shifted(head: &[u8], tail: &[u8], shift: i64, factor: u32) -> Option<(i128, bool)> {
    let length = head.len() + tail.len();
    let digits = head.iter().chain(tail).map(|digit| u32::from(digit - b'0'));
    // Number of digits below the units after the shift.
    let cut = usize::try_from(shift.min(0).unsigned_abs()).unwrap_or(usize::MAX);
    let kept = length.saturating_sub(cut);
    let zeros = usize::try_from(shift.max(0)).unwrap_or(usize::MAX);
    if kept.saturating_add(if kept > 0 { zeros } else { 0 }) > ALL_DIGITS {
        return None;
    }
    let units = digits.clone().take(kept).fold(0, |units, digit| 10 * units + i128::from(digit));
    let units = (units * POWERS[zeros]).checked_mul(factor.into())?;
    // Multiplies the digits below the units, from the last to the first. The carry becomes zero in zeros before them.
    let (mut carry, mut first, mut is_more) = (0, 0, false);
    let mut multiply = |digit: u32| {
        is_more |= first != 0;
        let product = digit * factor + carry;
        (first, carry) = (product % 10, product / 10);
    };
    digits.rev().take(length - kept).for_each(&mut multiply);
    let padding = cut.saturating_sub(length);
    (0..padding.min(ALL_DIGITS)).for_each(|_| multiply(0));
    let units = units.checked_add(carry.into())?;
    let is_up = first > 5 || first == 5 && (is_more || units % 2 != 0);
    Some((units.checked_add(is_up.into())?, is_more || first != 0))
}

/// Returns whether a number is negative, and the rest after its optional sign.
pub(crate) fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

/// Splits a text after its leading digits.
pub(crate) fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

/// Parses an exponent. Those beyond 64 bits are as good as the greatest.
fn exponent(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |value: i64, digit: &u8| value.saturating_mul(10).saturating_add((digit - b'0').into());
    let value = digits.iter().fold(0, digit);
    Some(if is_negative { -value } else { value })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::LazyLock;

    use num_bigint::BigInt;
    use num_bigint::Sign::Minus;
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    /// Divides, rounding half to even.
    pub(crate) fn rounded_quotient(number: &BigInt, divisor: &BigInt) -> BigInt {
        let magnitude = BigInt::from(number.magnitude().clone());
        let (quotient, rest): (BigInt, BigInt) = (&magnitude / divisor, &magnitude % divisor);
        let is_odd = &quotient % 2 != BigInt::ZERO;
        let twice: BigInt = rest * 2;
        let rounded = if &twice > divisor || &twice == divisor && is_odd { quotient + 1 } else { quotient };
        if number.sign() == Minus { -rounded } else { rounded }
    }

    pub(crate) fn power_of_ten(exponent: u32) -> BigInt {
        BigInt::from(10).pow(exponent)
    }

    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r"^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?(ns|us|\u{B5}s|\u{3BC}s|ms|s|m|h|d|)$";
        Regex::new(&pattern.replace(r"\d", "[0-9]")).expect("a valid pattern")
    });

    /// Reference implementation of the parser for exponents of at most four digits: the number of units of 10^-18, and
    /// the places.
    pub(crate) fn reference(text: &[u8]) -> Result<(BigInt, u8), NoNumber> {
        if matches!(text, b"" | b"-") {
            return Err(NoNumber::NoValue);
        }
        let text = str::from_utf8(text).map_err(|_| NoNumber::Invalid)?;
        let parts = NUMBER.captures(text).ok_or(NoNumber::Invalid)?;
        let part = |number| parts.get(number).map_or("", |part| part.as_str());
        let digits = [part(2), part(3)].concat();
        if digits.is_empty() {
            return Err(NoNumber::Invalid);
        }
        let (seconds, unit_places) = match part(5) {
            "ns" => (1, 9),
            "ms" => (1, 3),
            "" | "s" => (1, 0),
            "m" => (60, 0),
            "h" => (3_600, 0),
            "d" => (86_400, 0),
            _ => (1, 6),
        };
        let exponent = part(4).parse().unwrap_or(0) - part(3).len() as i32 - unit_places;
        let number = digits.parse::<BigInt>().expect("digits") * seconds;
        let shift = exponent + 18;
        let units = if shift >= 0 {
            number * power_of_ten(shift as u32)
        } else {
            rounded_quotient(&number, &power_of_ten(shift.unsigned_abs()))
        };
        if units >= power_of_ten(38) {
            return Err(NoNumber::OutOfRange);
        }
        Ok((if part(1) == "-" { -units } else { units }, (-exponent).clamp(0, 18) as u8))
    }

    fn assert_as_reference(text: &[u8]) {
        let parsed = Decimal::parse(text).map(|Decimal { units, places }| {
            (BigInt::from(units) * power_of_ten(u32::from(MAX_PLACES - places)), places)
        });
        assert_eq!(parsed, reference(text), "{:?}", String::from_utf8_lossy(text));
    }

    /// Texts that are numbers or nearly so.
    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            2 => "[+-]?[0-9]{0,9}(\\.[0-9]{0,9})?",
            2 => "[+-]?[0-9]{0,42}(\\.[0-9]{0,42})?([eE][+-]?[0-9]{1,2})?(ns|us|µs|μs|ms|s|m|h|d)?",
            1 => "[+-]?0{0,30}[0-9]{0,3}(\\.0{0,40}[0-9]{0,3}50{0,9})?([eE][+-]?[0-9]{1,2})?[mhd]?",
            1 => "[-+.0-9:/eEnusmhdµ ]{0,20}",
        ]
    }

    #[test]
    fn numbers_are_rounded_if_a_digit_beyond_the_places_is_lost() {
        for (text, expected) in [
            ("1e-18", false),
            ("1e-19", true),
            ("-6e-19", true),
            ("0.1234567890123456789", true),
            ("0.1234567890123456780", false),
            ("0e-30", false),
            ("1e-400", true),
            ("1e-9223372036854775808", true),
            ("1e-9ns", false),
            ("1e-10ns", true),
            ("5e-19m", false),
            ("1e-21h", true),
            ("25e-20h", false),
            ("x", false),
            ("", false),
        ] {
            assert_eq!(is_rounded(text.as_bytes()), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn numbers_are_those_of_the_reference(text in texts()) {
            assert_as_reference(text.as_bytes());
        }

        #[test]
        fn a_number_does_not_depend_on_its_place(
            text in texts(),
            before in prop::collection::vec(any::<u8>(), 0..20),
            after in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let whole = [&before[..], text.as_bytes(), &after].concat();
            let end = before.len() + text.len();
            prop_assert_eq!(parse_span(&whole, before.len(), end), Decimal::parse(text.as_bytes()));
        }

        #[test]
        fn any_bytes_are_no_number_if_the_reference_says_so(text in prop::collection::vec(any::<u8>(), 0..20)) {
            assert_as_reference(&text);
        }

        #[test]
        fn the_shown_number_is_the_same_number(units in -POWERS[38] + 1..POWERS[38], places in 0..=MAX_PLACES) {
            let number = Decimal::new(units / POWERS[usize::from(MAX_PLACES - places)], places);
            let shown = number.to_string();
            prop_assert_eq!(Decimal::parse(shown.as_bytes()), Ok(number));
            prop_assert!(!shown.contains('.') || !shown.ends_with(['0', '.']), "{}", shown);
        }

        #[test]
        fn numbers_are_ordered_by_value(
            one in (-2_000..2_000_i128, 0..4_u8),
            other in (-2_000..2_000_i128, 0..4_u8),
        ) {
            let finest = |(units, places): (i128, u8)| units * POWERS[usize::from(4 - places)];
            let number = |(units, places)| Decimal::new(units, places);
            prop_assert_eq!(number(one).cmp(&number(other)), finest(one).cmp(&finest(other)));
        }
    }

    /// A byte in the place of each digit, and each place of a point.
    #[test]
    fn short_texts_with_any_byte_are_those_of_the_reference() {
        for length in 1..=17 {
            let digits = &b"98765432101234567"[..length];
            assert_as_reference(digits);
            for place in 0..length {
                // Exponents are short in the reference.
                for byte in
                    (0..=255).filter(|byte: &u8| !byte.eq_ignore_ascii_case(&b'e') || length - place < 5)
                {
                    let mut text = digits.to_vec();
                    text[place] = byte;
                    assert_as_reference(&text);
                    if byte == b'.' || byte == b'-' {
                        text[0] = b'-';
                        assert_as_reference(&text);
                    }
                }
            }
        }
    }

    fn shown(text: &str) -> String {
        Decimal::parse(text.as_bytes()).map_or_else(|error| format!("{error:?}"), |number| number.to_string())
    }

    #[test]
    fn a_number_is_rounded_to_the_nearest_and_a_half_to_the_even_one() {
        for (units, places, expected) in [
            (12_345, 1, "123.4"),
            (12_355, 1, "123.6"),
            (12_350, 1, "123.5"),
            (-12_345, 1, "-123.4"),
            (-12_346, 1, "-123.5"),
            (-4, 0, "0"),
            (99_999, 0, "1000"),
            (12_345, 5, "123.45"),
        ] {
            assert_eq!(Decimal::new(units, 2).rounded(places).to_string(), expected);
        }
        assert_eq!(Decimal::new(i128::MAX, 18).rounded(0).places, 0);
        assert_eq!(Decimal::new(i128::MIN, 18).rounded(17).places, 17);
    }

    #[test]
    fn the_places_of_some_digits_are_counted_from_the_first_that_is_not_zero() {
        let places = |units, places| Decimal::new(units, places).places_for(4);
        assert_eq!([places(0, 9), places(1, 9), places(-1234, 9), places(123_456, 0)], [0, 12, 9, 0]);
    }

    #[test]
    fn numbers_are_shown_without_zeros_at_the_end() {
        for (text, expected) in [
            ("0", "0"),
            ("-0.00", "0"),
            ("007", "7"),
            ("1200", "1200"),
            ("+1.50", "1.5"),
            ("-.5", "-0.5"),
            ("5.", "5"),
            ("1.25e3", "1250"),
            ("1E-3", "0.001"),
            ("99999999999999999999", "99999999999999999999"),
            ("-99999999999999999999.999999999999999999", "-99999999999999999999.999999999999999999"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert_eq!(format!("{:>7}|{:<5}|", Decimal::new(-125, 2), Decimal::new(7, 0)), "  -1.25|7    |");
    }

    #[test]
    fn units_of_time_are_seconds() {
        for (text, expected) in [
            ("12ms", "0.012"),
            ("250us", "0.00025"),
            ("250µs", "0.00025"),
            ("250\u{3BC}s", "0.00025"),
            ("17ns", "0.000000017"),
            ("1.5s", "1.5"),
            ("-2m", "-120"),
            ("1.5h", "5400"),
            ("1e-1d", "8640"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in [
            "a", ".", "-.", "--1", "1-", "1..2", "1.2.3", "1,5", " 1", "1 ", "e5", "1e", "1e+", "1e1.5",
            "ms", "-s", "1 ms", "1mss", "1m30s", "0x10", "inf", "nan", "1_000", "+", "５", "1\0",
        ] {
            assert_eq!(shown(text), "Invalid", "{text}");
        }
        assert_eq!(shown(""), "NoValue");
        assert_eq!(shown("-"), "NoValue");
    }

    #[test]
    fn numbers_of_10_to_the_20_are_out_of_range() {
        for text in [
            "100000000000000000000",
            "-1e20",
            "99999999999999999999.9999999999999999995",
            "1e16d",
            "1e99999999999999999999999",
            "0.0001e9223372036854775807",
        ] {
            assert_eq!(shown(text), "OutOfRange", "{text}");
        }
        assert_eq!(
            shown("99999999999999999999.9999999999999999994"),
            "99999999999999999999.999999999999999999"
        );
        assert_eq!(shown("100000000000000000000ns"), "100000000000");
        assert_eq!(shown("0e99999999999999999999999"), "0");
        assert_eq!(shown("1e-99999999999999999999999"), "0");
    }

    #[test]
    fn the_nineteenth_place_is_rounded_half_to_even() {
        for (text, expected) in [
            ("0.1234567890123456785", "0.123456789012345678"),
            ("0.1234567890123456775", "0.123456789012345678"),
            ("-0.12345678901234567850000000001", "-0.123456789012345679"),
            ("0.0000000000000000005", "0"),
            ("0.0000000000000000015", "0.000000000000000002"),
            ("5e-19", "0"),
            ("500000000.1e-27", "0.000000000000000001"),
            // 1.5 and 2.5 units.
            ("0.000000000000000000025m", "0.000000000000000002"),
            ("0.0000000000000000000416666666666666667m", "0.000000000000000003"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_may_have_a_million_digits() {
        let zeros = "0".repeat(1_000_000);
        assert_eq!(shown(&format!("{zeros}1.5{zeros}")), "1.5");
        assert_eq!(shown(&format!("1{zeros}e-1000000")), "1");
        assert_eq!(shown(&format!("0.{zeros}25e1000000ms")), "0.00025");
        assert_eq!(shown(&format!("1{zeros}")), "OutOfRange");
    }
}
