//! Times as they are written in logs. With jiff's `strptime`, which reads other formats, `--every` takes eight times as long for an
//! access log.
//!
//! | form | example |
//! | --- | --- |
//! | access logs | `01/Mar/2026:06:20:09 +0100` |
//! | RFC 3339, ISO 8601 | `2026-03-01T06:20:09.252Z`, `2026-03-01 06:20:09,252`, `2026/03/01 06:20:09`, `20260301T062009Z` |
//! | date and time in neighbouring fields | `2026-03-01<TAB>06:20:09`, `01/Mar/2026 | 06:20:09`, `20260301,06:20:09` |
//! | syslog, Redis | `Mar  1 06:20:09`, `01 Mar 06:20:09`, without a year |
//! | klog | `I0301 06:20:09.252123`, without a year |
//! | ctime, RFC 2822 | `Sun Mar  1 06:20:09.252 2026`, `Sun, 01 Mar 2026 06:20:09 +0100` |
//! | 12 hours | `Mar 1, 2026 6:20:09 PM`, as a value of a field |
//! | seconds since 1970 | `1772346009`, `1772346009.252`, and 13, 16 or 19 digits for ms, µs and ns |
//! | time of day alone | `06:20:09.252`, in files without other times |

use memchr::memchr_iter;

use super::calendar::{DAY, END, SECOND, days_from_epoch, days_in_month};
use crate::cells::Span;

/// Maximum number of bytes between a date and a time of day in neighbouring fields, such as `" | "` in quotes.
pub(super) const MAX_GAP: usize = 8;

/// A time as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Nanoseconds since 1970.
    Instant(i64),
    Civil(Civil),
    /// A time of day without a date: nanoseconds since midnight.
    OfDay(i64),
}

impl Moment {
    /// Whether the year is known.
    pub(super) fn has_year(&self) -> bool {
        match self {
            Self::Instant(_) => true,
            Self::Civil(civil) => civil.year.is_some(),
            Self::OfDay(_) => false,
        }
    }
}

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    /// `None` if it is not written.
    pub(super) year: Option<i64>,
    month: u8,
    day: u8,
    /// Nanoseconds since midnight.
    time: i64,
    /// Seconds east of UTC; `None` if the zone is not written.
    pub(super) offset: Option<i32>,
}

impl Civil {
    /// Whether both are on the same day of a year.
    pub(super) fn is_same_day(&self, other: &Self) -> bool {
        (self.month, self.day) == (other.month, other.day)
    }

    /// The same day at another time, in nanoseconds since midnight.
    pub(super) fn at(&self, time: i64) -> Self {
        Self { time, ..*self }
    }

    /// Seconds since 1970-01-01T00:00:00 of the same zone, and nanoseconds, in a year. `None` if it has no such day.
    pub(super) fn in_year(&self, year: i64) -> Option<(i64, i64)> {
        if self.day > days_in_month(year, self.month) {
            return None;
        }
        let days = days_from_epoch(year, self.month, self.day);
        Some((days * DAY + self.time / SECOND, self.time % SECOND))
    }
}

/// A time in a text, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundTime {
    pub(super) moment: Moment,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Start of the time of day, if that is written as `06:20` or `06:20:09`.
    pub(super) time_of_day: Option<usize>,
}

/// Reads a value that is a time and nothing else, except for brackets around it.
pub(super) fn read_value(text: &[u8]) -> Option<FoundTime> {
    let start = usize::from(text.first() == Some(&b'['));
    let end = text.len() - usize::from(text.len() > start && text.ends_with(b"]"));
    let within = &text[start..end];
    let mut reader = TimeReader::new(within);
    let civil = reader.civil().or_else(|| {
        reader = TimeReader::new(within);
        reader.without_separators().or_else(|| {
            reader = TimeReader::new(within);
            reader.twelve_hours()
        })
    });
    let moment = match civil {
        Some(civil) => Moment::Civil(civil),
        None => {
            reader = TimeReader::new(within);
            Moment::Instant(reader.epoch()?)
        }
    };
    reader.rest.is_empty().then(|| reader.found(moment, end, start))
}

/// Reads a value that is a time of day and nothing else, except for brackets around it.
pub(super) fn read_time_of_day(text: &[u8]) -> Option<Moment> {
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let mut reader = TimeReader::new(text.strip_suffix(b"]").unwrap_or(text));
    let time = reader.time_of_day()?;
    reader.rest.is_empty().then_some(Moment::OfDay(time))
}

/// Finds the first time of day with seconds in a line.
pub(super) fn find_time_of_day(line: &[u8]) -> Option<(Moment, Span)> {
    memchr_iter(b':', line).find_map(|colon| {
        let start = colon.checked_sub(2)?;
        let (moment, end) = time_of_day_at(line, start).filter(|_| !is_inside_word(&line[..start]))?;
        Some((moment, (start, end)))
    })
}

/// Reads the time of day with seconds at a position of a line, and returns its end. It is a word by itself, not part of an address or a
/// duration.
fn time_of_day_at(line: &[u8], at: usize) -> Option<(Moment, usize)> {
    if !matches!(line[at..], [_, _, b':', _, _, b':', b'0'..=b'9', ..]) {
        return None;
    }
    let mut reader = TimeReader::new(&line[at..]);
    let time = reader.time_of_day()?;
    let goes_on = matches!(reader.rest, [b':', next, ..] if next.is_ascii_alphanumeric());
    let is_word = reader.is_at_end_of_word() && !goes_on;
    is_word.then(|| (Moment::OfDay(time), line.len() - reader.rest.len()))
}

/// Finds the first time in a line, byte by byte: for `--sample`, and the reference implementation of [`TimeFinder`](super::TimeFinder).
/// Numbers are times only at its beginning, and only of years from 2001 to 2286.
pub(super) fn find(line: &[u8]) -> Option<Moment> {
    all_times(line).next()
}

/// Finds the first time with a year in a line, or else the first.
pub(super) fn find_with_year(line: &[u8]) -> Option<Moment> {
    all_times(line).find(Moment::has_year).or_else(|| find(line))
}

/// The times at all places of a line.
pub(super) fn all_times(line: &[u8]) -> impl Iterator<Item = Moment> {
    let mut is_inside = false;
    (0..line.len()).filter_map(move |at| {
        let is_word = line[at].is_ascii_alphanumeric();
        let begins = is_word && !is_inside;
        is_inside = is_word || is_inside && is_joint(line[at]);
        if begins { time_at(line, at).map(|(moment, _)| moment) } else { None }
    })
}

/// Reads the time that begins with the word at this position of a line, and returns its end.
fn time_at(line: &[u8], at: usize) -> Option<(Moment, usize)> {
    let mut reader = TimeReader::new(&line[at..]);
    if let Some(civil) = reader.civil_after(&line[..at]) {
        return Some((Moment::Civil(civil), line.len() - reader.rest.len()));
    }
    let may_be_epoch = at == 0 || at == 1 && line[0] == b'[';
    reader = TimeReader::new(&line[at..]);
    let epoch = may_be_epoch.then(|| reader.long_epoch()).flatten();
    let end = line.len() - reader.rest.len();
    epoch.filter(|_| reader.is_at_end_of_word()).map(|instant| (Moment::Instant(instant), end))
}

/// The end of the time that begins with the word at this position of a text, with or without a date. A number that is the whole text is
/// none.
pub(crate) fn time_end(text: &[u8], at: usize) -> Option<usize> {
    if is_inside_word(&text[..at]) {
        return None;
    }
    let (moment, end) = time_at(text, at).or_else(|| time_of_day_at(text, at))?;
    let is_number = matches!(moment, Moment::Instant(_)) && end == text.len();
    (!is_number).then_some(end)
}

/// Whether a byte after a word is still inside of it, such as the second dash of `12--2026-03-01`.
pub(super) fn is_joint(byte: u8) -> bool {
    matches!(byte, b'-' | b'/' | b'.' | b':')
}

/// Whether a text ends inside of a word.
pub(super) fn is_inside_word(mut text: &[u8]) -> bool {
    while let Some((_, rest)) = text.split_last().filter(|&(&last, _)| is_joint(last)) {
        text = rest;
    }
    text.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// Reads the time that begins at a position of a line, unless that is inside of a word.
pub(super) fn read_at(line: &[u8], at: usize) -> Option<FoundTime> {
    if is_inside_word(line.get(..at)?) {
        return None;
    }
    let mut reader = TimeReader::new(&line[at..]);
    let civil = reader.civil_after(&line[..at])?;
    Some(reader.found(Moment::Civil(civil), line.len(), at))
}

/// Reads the number at the beginning of a line, possibly in brackets, if that is a time.
pub(super) fn read_epoch(line: &[u8]) -> Option<i64> {
    let mut reader = TimeReader::new(line.strip_prefix(b"[").unwrap_or(line));
    reader.long_epoch().filter(|_| reader.is_at_end_of_word())
}

const WEEKDAYS: [&[u8; 3]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];

/// Whether the last word is a weekday, followed by a blank or a comma and a blank.
fn ends_with_weekday(text: &[u8]) -> bool {
    let Some(text) = text.strip_suffix(b" ") else { return false };
    let Some((before, name)) = text.strip_suffix(b",").unwrap_or(text).split_last_chunk::<3>() else {
        return false;
    };
    WEEKDAYS.contains(&name) && !before.last().is_some_and(u8::is_ascii_alphanumeric)
}

/// Reads a text from its beginning.
struct TimeReader<'t> {
    rest: &'t [u8],
    /// Length of the text from the last time of day on.
    from_time_of_day: Option<usize>,
}

impl<'t> TimeReader<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { rest: text, from_time_of_day: None }
    }

    /// The time that was read from `start` on of a text that ends at `end`.
    fn found(&self, moment: Moment, end: usize, start: usize) -> FoundTime {
        let time_of_day = self.from_time_of_day.map(|length| end - length);
        FoundTime { moment, start, end: end - self.rest.len(), time_of_day }
    }

    fn is_at_end_of_word(&self) -> bool {
        !self.rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.rest.first() == Some(&byte);
        self.rest = &self.rest[usize::from(is_next)..];
        is_next
    }

    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        bytes.contains(&first).then(|| {
            self.rest = rest;
            first
        })
    }

    /// A number with exactly this many digits.
    #[inline(always)]
    fn digits<const N: usize>(&mut self) -> Option<i64> {
        let (digits, rest) = self.rest.split_first_chunk::<N>()?;
        let mut value = 0;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = 10 * value + i64::from(digit - b'0');
        }
        self.rest = rest;
        Some(value)
    }

    #[inline(always)]
    fn limited<const N: usize>(&mut self, max: i64) -> Option<i64> {
        self.digits::<N>().filter(|&value| value <= max)
    }

    /// A time in a line, after the text `before`. A time without a year is refused after a weekday: it is the rest of a time that
    /// no year has, such as `Tue Feb 29 06:20:09 2026`.
    fn civil_after(&mut self, before: &[u8]) -> Option<Civil> {
        let civil = self.civil()?;
        let is_whole = civil.year.is_some() || !ends_with_weekday(before);
        (is_whole && self.is_at_end_of_word()).then_some(civil)
    }

    fn civil(&mut self) -> Option<Civil> {
        match self.rest {
            [_, _, b'/' | b'-' | b' ', b'A'..=b'Z' | b'a'..=b'z', ..] => self.day_first(),
            [b'0'..=b'9', _, _, _, b'-' | b'/', ..] => self.year_first(),
            [b'0'..=b'9', ..] => self.compact(),
            [b'D' | b'E' | b'F' | b'I' | b'W', b'0'..=b'9', ..] => self.klog(),
            [b'A'..=b'Z', ..] => self.month_first(),
            _ => None,
        }
    }

    /// `01/Mar/2026:06:20:09 +0100`, `01 Mar 2026 06:20:09`, `01-Mar-2026 06:20:09`, `01 Mar 06:20:09`.
    fn day_first(&mut self) -> Option<Civil> {
        let day = self.limited::<2>(31)?;
        let separator = self.one_of(b"/- ")?;
        let month = self.month()?;
        if !self.eat(separator) {
            return None;
        }
        if separator == b' ' && matches!(self.rest, [_, _, b':', _, _, b':', b'0'..=b'9', ..]) {
            return civil(None, month, day, self.time_of_day()?, None);
        }
        let year = self.digits::<4>()?;
        let time = self.time_after_date(b": T")?;
        let offset = self.offset();
        civil(Some(year), month, day, time, offset)
    }

    /// The time of day after a date: after one of these separators, or in the next field.
    #[inline(always)]
    fn time_after_date(&mut self, separators: &[u8]) -> Option<i64> {
        let after_date = self.rest;
        let time = self.one_of(separators).and_then(|_| self.time_of_day());
        time.or_else(|| {
            self.rest = after_date;
            self.time_in_next_field()
        })
    }

    /// A time of day with seconds, after a few bytes that are neither letters nor digits.
    #[inline(never)]
    fn time_in_next_field(&mut self) -> Option<i64> {
        let is_gap = |byte: &&u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
        let gap = self.rest.iter().take(MAX_GAP + 1).take_while(is_gap).count();
        let is_time = |text: &[u8]| matches!(text, [_, _, b':', _, _, b':', b'0'..=b'9', ..]);
        if gap == 0 || gap > MAX_GAP || !is_time(&self.rest[gap..]) {
            return None;
        }
        self.rest = &self.rest[gap..];
        self.time_of_day().filter(|_| self.is_at_end_of_word())
    }

    /// `2026-03-01T06:20:09.252Z`, `2026/03/01 06:20:09,252`, or only a date.
    fn year_first(&mut self) -> Option<Civil> {
        let year = self.digits::<4>()?;
        let separator = self.one_of(b"-/")?;
        let month = self.limited::<2>(12)?;
        let day = (self.eat(separator).then(|| self.limited::<2>(31))?)?;
        let date_only = self.rest;
        let Some(time) = self.time_after_date(b"T t_") else {
            self.rest = date_only;
            return civil(Some(year), month as u8, day, 0, None);
        };
        let offset = self.offset();
        civil(Some(year), month as u8, day, time, offset)
    }

    /// `20260301T062009Z`, `20260301,06:20:09`.
    fn compact(&mut self) -> Option<Civil> {
        let [year, month] = [self.digits::<4>()?, self.limited::<2>(12)?];
        let day = self.limited::<2>(31)?;
        let after_date = self.rest;
        // Many other numbers have eight digits.
        let is_usual = (1900..2100).contains(&year);
        let time = is_usual.then(|| self.time_in_next_field()).flatten().or_else(|| {
            self.rest = after_date;
            self.compact_time()
        })?;
        let offset = self.offset();
        civil(Some(year), month as u8, day, time, offset)
    }

    /// `T062009`, `-062009.252`.
    fn compact_time(&mut self) -> Option<i64> {
        self.one_of(b"T-")?;
        let [hours, minutes, seconds] =
            [self.limited::<2>(23)?, self.limited::<2>(59)?, self.limited::<2>(60)?];
        Some((3600 * hours + 60 * minutes + seconds.min(59)) * SECOND + self.fraction())
    }

    /// `I0301 06:20:09.252123`: the level, and a time without separators in the date.
    fn klog(&mut self) -> Option<Civil> {
        self.one_of(b"DEFIW")?;
        self.without_separators()
    }

    /// `0301 06:20:09.252123`.
    fn without_separators(&mut self) -> Option<Civil> {
        let [month, day] = [self.limited::<2>(12)?, self.limited::<2>(31)?];
        self.one_of(b" ")?;
        let has_fraction = matches!(self.rest, [_, _, b':', _, _, b':', _, _, b'.', b'0'..=b'9', ..]);
        let time = (has_fraction.then(|| self.time_of_day())?)?;
        civil(None, month as u8, day, time, None)
    }

    /// `Mar 1, 2026 6:20:09 PM`, as Java writes the time in the United States. Newer versions have a narrow space before `PM`.
    fn twelve_hours(&mut self) -> Option<Civil> {
        let month = self.month()?;
        let day = self.one_of(b" ").and_then(|_| self.short(31))?;
        self.one_of(b",").and_then(|_| self.one_of(b" "))?;
        let year = self.digits::<4>()?;
        self.eat(b',');
        let hours = self.one_of(b" ").and_then(|_| self.short(12))?;
        let minutes = self.one_of(b":").and_then(|_| self.limited::<2>(59))?;
        let seconds = self.one_of(b":").and_then(|_| self.limited::<2>(60))?.min(59);
        self.rest = self.rest.strip_prefix(b" ").or_else(|| self.rest.strip_prefix("\u{202f}".as_bytes()))?;
        let half = self.one_of(b"AP").filter(|_| self.eat(b'M') && hours > 0)?;
        let hours = hours % 12 + if half == b'P' { 12 } else { 0 };
        // No time of day as other forms have it.
        self.from_time_of_day = None;
        civil(Some(year), month, day, (3600 * hours + 60 * minutes + seconds) * SECOND, None)
    }

    /// A number of one or two digits.
    fn short(&mut self, max: i64) -> Option<i64> {
        let has_two = self.rest.get(1).is_some_and(u8::is_ascii_digit);
        if has_two { self.limited::<2>(max) } else { self.limited::<1>(max) }
    }

    /// `Mar  1 06:20:09`, `Sun Mar  1 06:20:09 2026`, `Sun, 01 Mar 2026 06:20:09 +0100`.
    fn month_first(&mut self) -> Option<Civil> {
        let has_weekday = self.weekday();
        if has_weekday && self.rest.first().is_some_and(u8::is_ascii_digit) {
            return self.day_first();
        }
        let month = self.month()?;
        self.one_of(b" ")?;
        let day = if self.eat(b' ') || self.rest.get(1) == Some(&b' ') {
            self.digits::<1>()?
        } else {
            self.limited::<2>(31)?
        };
        self.one_of(b" ")?;
        let time = self.time_of_day()?;
        let after_time = self.rest;
        let year = if has_weekday && self.eat(b' ') { self.digits::<4>() } else { None };
        let year = year.filter(|_| self.is_at_end_of_word());
        if year.is_none() {
            self.rest = after_time;
        }
        civil(year, month, day, time, None)
    }

    /// Reads the name of a weekday with the blank after it.
    fn weekday(&mut self) -> bool {
        let Some((name, mut rest)) = self.rest.split_first_chunk::<3>() else { return false };
        if !WEEKDAYS.contains(&name) {
            return false;
        }
        rest = rest.strip_prefix(b",").unwrap_or(rest);
        let Some(rest) = rest.strip_prefix(b" ") else { return false };
        self.rest = rest;
        true
    }

    /// The number of a month with an English name of three letters.
    #[inline(always)]
    fn month(&mut self) -> Option<u8> {
        let (name, rest) = self.rest.split_first_chunk::<3>()?;
        let month = match [name[0] | 0x20, name[1] | 0x20, name[2] | 0x20] {
            [b'j', b'a', b'n'] => 1,
            [b'f', b'e', b'b'] => 2,
            [b'm', b'a', b'r'] => 3,
            [b'a', b'p', b'r'] => 4,
            [b'm', b'a', b'y'] => 5,
            [b'j', b'u', b'n'] => 6,
            [b'j', b'u', b'l'] => 7,
            [b'a', b'u', b'g'] => 8,
            [b's', b'e', b'p'] => 9,
            [b'o', b'c', b't'] => 10,
            [b'n', b'o', b'v'] => 11,
            [b'd', b'e', b'c'] => 12,
            _ => return None,
        };
        self.rest = rest;
        Some(month)
    }

    /// `06:20:09.252` or `06:20` in nanoseconds since midnight. A leap second counts as the second before it.
    #[inline(always)]
    fn time_of_day(&mut self) -> Option<i64> {
        self.from_time_of_day = Some(self.rest.len());
        let hours = self.limited::<2>(23)?;
        let minutes = (self.eat(b':').then(|| self.limited::<2>(59))?)?;
        if !matches!(self.rest, [b':', b'0'..=b'9', ..]) {
            return Some((3600 * hours + 60 * minutes) * SECOND);
        }
        self.rest = &self.rest[1..];
        let seconds = self.limited::<2>(60)?.min(59);
        Some((3600 * hours + 60 * minutes + seconds) * SECOND + self.fraction())
    }

    /// The digits after a point or a comma, as nanoseconds. Digits beyond nanoseconds are dropped.
    #[inline(always)]
    fn fraction(&mut self) -> i64 {
        if !matches!(self.rest, [b'.' | b',', b'0'..=b'9', ..]) {
            return 0;
        }
        let digits = self.rest[1..].iter().take_while(|byte| byte.is_ascii_digit());
        let (mut nanoseconds, mut unit, mut length) = (0, SECOND, 0);
        for digit in digits {
            unit /= 10;
            nanoseconds += unit * i64::from(digit - b'0');
            length += 1;
        }
        self.rest = &self.rest[1 + length..];
        nanoseconds
    }

    /// `Z`, `+01:00`, ` +0100`, ` UTC`: seconds east of UTC. Reads nothing if it is something else.
    #[inline(always)]
    fn offset(&mut self) -> Option<i32> {
        let before = self.rest;
        let offset = self.written_offset();
        if offset.is_none() {
            self.rest = before;
        }
        offset
    }

    #[inline(always)]
    fn written_offset(&mut self) -> Option<i32> {
        if matches!(self.rest, [b'Z' | b'z', ..]) {
            self.rest = &self.rest[1..];
            return self.is_at_end_of_word().then_some(0);
        }
        self.eat(b' ');
        if let Some(rest) = self.rest.strip_prefix(b"UTC").or_else(|| self.rest.strip_prefix(b"GMT")) {
            self.rest = rest;
            return self.is_at_end_of_word().then_some(0);
        }
        let sign = if self.one_of(b"+-")? == b'-' { -1 } else { 1 };
        let hours = self.limited::<2>(23)?;
        self.eat(b':');
        let minutes = self.limited::<2>(59).unwrap_or(0);
        self.is_at_end_of_word().then_some(sign * (3600 * hours + 60 * minutes) as i32)
    }

    /// A number of seconds since 1970, possibly with a fraction, or of ms, µs or ns, by the number of digits.
    fn epoch(&mut self) -> Option<i64> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let unit = match length {
            1..=11 => SECOND,
            12..=14 => 1_000_000,
            15..=17 => 1_000,
            18..=19 => 1,
            _ => return None,
        };
        let (digits, rest) = self.rest.split_at(length);
        let mut value = 0_i64;
        for digit in digits {
            value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
        }
        self.rest = rest;
        // 0.1 of a second has as many nanoseconds as 0.1 of a millisecond has picoseconds.
        let fraction = self.fraction() / (SECOND / unit);
        value.checked_mul(unit)?.checked_add(fraction).filter(|&instant| instant < END)
    }

    /// The same with as many digits as times since 2001 have.
    fn long_epoch(&mut self) -> Option<i64> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        matches!(length, 10 | 13 | 16 | 19).then(|| self.epoch())?
    }
}

/// A date and a time, unless there is no such day in any year, or in this one.
#[inline(always)]
pub(super) fn civil(year: Option<i64>, month: u8, day: i64, time: i64, offset: Option<i32>) -> Option<Civil> {
    let civil = Civil { year, month, day: day as u8, time, offset };
    let is_date =
        (1..=12).contains(&month) && day >= 1 && civil.day <= days_in_month(year.unwrap_or(2000), month);
    is_date.then_some(civil)
}
