//! Finds the times of many records.
//!
//! The time of a record is mostly at the same place as in the record before it, and in the same form. A [`Template`] is that time
//! with room for others of the same day, so that most times are found by two comparisons of 64 bytes.
//!
//! The first time in a line is found by its anchor: the first `-`, `/`, `:` or `T` between digits in it. No form has a digit on
//! both sides of such a byte before that. So times begin in the order of their anchors, and each anchor leaves few places for a
//! beginning. There are two digits before and after an anchor, and a year before all but `:`: most numbers of IPv6 addresses and of
//! names such as `host-10-1` have fewer digits.

use finecomb_sys::simd::{Kernel, Masks, dispatch, window_at};

use super::calendar::SECOND;
use super::form::TimeForm;
use super::kind::TimeKind;
use super::written::{self, FoundTime, MAX_GAP, Moment};
use super::zone::{Clock, ClockCache};
use crate::cells::{Cell, Cells, Span, bytes_of};

/// Finds the times of records, one after another. A finder is for one file, and for either lines or values.
#[derive(Debug, Default)]
pub(crate) struct TimeFinder {
    clock: ClockCache,
    template: Option<Template>,
}

impl TimeFinder {
    /// Begins with another file or kind of texts. What is known about the zone is kept.
    pub(crate) fn reset(&mut self) {
        self.template = None;
    }

    /// Appends the instant of the time of each line. A line is searched once if it follows itself.
    pub(crate) fn find_in_lines(
        &mut self,
        (form, kind): (&TimeForm, TimeKind),
        clock: &Clock,
        (text, lines): (&[u8], &[Span]),
        instants: &mut Vec<Option<i64>>,
    ) {
        match (form, kind) {
            (TimeForm::Usual, TimeKind::First) => {
                dispatch(InLines::<false> { finder: self, clock, text, lines, instants });
            }
            (TimeForm::Usual, TimeKind::WithYear) => {
                dispatch(InLines::<true> { finder: self, clock, text, lines, instants });
            }
            (TimeForm::Format(_), _) | (_, TimeKind::OfDay) => {
                let mut last: Option<(Span, Option<i64>)> = None;
                instants.extend(lines.iter().map(|&line| match last {
                    Some((known, instant)) if known == line => instant,
                    _ => {
                        let moment = form.find(kind, bytes_of(text, line));
                        let instant = moment.and_then(|moment| clock.instant(&mut self.clock, moment));
                        last = Some((line, instant));
                        instant
                    }
                }));
            }
        }
    }

    /// Appends the instant of each value of the only column.
    pub(crate) fn read_values(
        &mut self,
        (form, kind): (&TimeForm, TimeKind),
        clock: &Clock,
        (text, cells): (&[u8], &Cells),
        instants: &mut Vec<Option<i64>>,
    ) {
        match (form, kind) {
            (TimeForm::Usual, TimeKind::First | TimeKind::WithYear) => {
                dispatch(OfValues { finder: self, clock, text, cells, instants });
            }
            (TimeForm::Format(_), _) | (_, TimeKind::OfDay) => {
                instants.extend(cells.column(0).iter().map(|&cell| {
                    let moment = form.read_kind(kind, cells.bytes(text, cell)?)?;
                    clock.instant(&mut self.clock, moment)
                }));
            }
        }
    }

    /// The instant of the first time of a line. With `YEAR`, that of the first time with a year, if there is one.
    #[inline(always)]
    fn first<M: Masks, const YEAR: bool>(
        &mut self,
        masks: M,
        clock: &Clock,
        text: &[u8],
        line: Span,
    ) -> Option<i64> {
        let (mut at, end) = line;
        let mut without_year = None;
        let instant_of =
            |finder: &mut Self, moment: Option<Moment>| clock.instant(&mut finder.clock, moment?);
        loop {
            let mut spare = None;
            let window = window_at(text, at, &mut spare);
            let digits = masks.digits(window);
            if at == line.0 && may_be_epoch(digits) {
                let epoch = written::read_epoch(bytes_of(text, line));
                if epoch.is_some() {
                    return epoch;
                }
            }
            let two_before = digits << 1 & digits << 2;
            let after_year = masks.equal_either(window, b'-', b'/') | masks.equal(window, b'T');
            let separators =
                masks.equal(window, b':') & two_before | after_year & two_before & two_before << 2;
            let mut anchors = separators & digits >> 1 & digits >> 2;
            while anchors != 0 {
                let anchor = at + anchors.trailing_zeros() as usize;
                if anchor >= end {
                    return instant_of(self, without_year);
                }
                anchors &= anchors - 1;
                if let Some(template) = &self.template
                    && anchor - line.0 >= template.lead
                    && let Some(instant) = template.read(masks, text, line, anchor - template.lead)
                {
                    return Some(instant);
                }
                if let Some(found) = read_at_anchor(bytes_of(text, line), anchor - line.0) {
                    if YEAR && !found.moment.has_year() {
                        without_year = without_year.or(Some(found.moment));
                        continue;
                    }
                    return self.remember(clock, text, line, (anchor - line.0, found));
                }
            }
            // The first four bytes of a window and its last two cannot be seen to be anchors.
            at += 58;
            if at >= end {
                return instant_of(self, without_year);
            }
        }
    }

    #[inline(always)]
    fn value<M: Masks>(&mut self, masks: M, clock: &Clock, text: &[u8], value: Span) -> Option<i64> {
        let known = self.template.as_ref().and_then(|template| template.read(masks, text, value, value.0));
        known.or_else(|| {
            let found = written::read_value(bytes_of(text, value))?;
            self.remember(clock, text, value, (found.start, found))
        })
    }

    /// The instant of a time in `span` of a text, which is the template for the next. `anchor` is the position of its
    /// anchor.
    #[inline(never)]
    fn remember(&mut self, clock: &Clock, text: &[u8], span: Span, time: (usize, FoundTime)) -> Option<i64> {
        self.template = Template::new(clock, &mut self.clock, text, span, time);
        clock.instant(&mut self.clock, time.1.moment)
    }
}

/// Whether a line with these digits may begin with a number of seconds or less since 1970, possibly after a bracket.
#[inline(always)]
fn may_be_epoch(digits: u64) -> bool {
    const TEN: u64 = (1 << 10) - 1;
    digits & TEN == TEN || digits & TEN << 1 == TEN << 1
}

/// Reads the time in a line whose anchor is at this position.
#[inline(never)]
fn read_at_anchor(line: &[u8], anchor: usize) -> Option<FoundTime> {
    let is_after_year = || line.get(anchor.wrapping_sub(3)).is_some_and(u8::is_ascii_digit);
    // Numbers of bytes before the anchor. A weekday before 01/Mar/2026 or 01 Mar 2026 changes nothing.
    let leads: &[usize] = match line.get(anchor)? {
        // 20260301-062009, 2026-03-01
        b'-' => &[8, 4],
        // 2026/03/01
        b'/' => &[4],
        // 01/Mar/2026T06:20, 20260301T062009
        b'T' => &[11, 8],
        // 01/Mar/2026:06:20
        _ if is_after_year() => &[11],
        // 01 Mar 2026 06:20, Mar  1 06:20 and Mar 1 06:20, also after a weekday with or without a comma
        _ => &[14, 13, 12, 9, 8],
    };
    let found = leads.iter().find_map(|lead| written::read_at(line, anchor.checked_sub(*lead)?));
    found.or_else(|| read_after_gap(line, anchor))
}

/// Reads a date and the time of day in the next field, whose first colon is at this position.
fn read_after_gap(line: &[u8], colon: usize) -> Option<FoundTime> {
    let before = line.get(..colon.checked_sub(2)?).filter(|_| line[colon] == b':')?;
    let is_gap = |byte: &&u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let gap = before.iter().rev().take(MAX_GAP + 1).take_while(is_gap).count();
    // 01/Mar/2026 and 20260301; the anchor of 2026-03-01 is in the date.
    [11, 8].iter().find_map(|date| written::read_at(line, before.len().checked_sub(gap + date)?))
}

struct InLines<'a, const YEAR: bool> {
    finder: &'a mut TimeFinder,
    clock: &'a Clock,
    text: &'a [u8],
    lines: &'a [Span],
    instants: &'a mut Vec<Option<i64>>,
}

impl<const YEAR: bool> Kernel for InLines<'_, YEAR> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { finder, clock, text, lines, instants } = self;
        instants.reserve(lines.len());
        let mut last: (Span, Option<i64>) = ((0, 0), None);
        for &line in lines {
            // An empty line has no time either.
            if line != last.0 {
                last = (line, finder.first::<M, YEAR>(masks, clock, text, line));
            }
            instants.push(last.1);
        }
    }
}

struct OfValues<'a> {
    finder: &'a mut TimeFinder,
    clock: &'a Clock,
    text: &'a [u8],
    cells: &'a Cells,
    instants: &'a mut Vec<Option<i64>>,
}

impl Kernel for OfValues<'_> {
    type Output = ();

    #[inline(always)]
    fn run<M: Masks>(self, masks: M) {
        let Self { finder, clock, text, cells, instants } = self;
        let column = cells.column(0);
        instants.reserve(column.len());
        for &cell in column {
            instants.push(match cell {
                Cell::Missing => None,
                Cell::Raw(start, end) => finder.value(masks, clock, text, (start as usize, end as usize)),
                Cell::Decoded(start, end) => {
                    finder.value(masks, clock, cells.decoded(), (start as usize, end as usize))
                }
            });
        }
    }
}

/// A time in a record, with room for other times of the same day that are written alike.
#[derive(Debug)]
struct Template {
    /// The text from the beginning of the time on.
    text: [u8; 64],
    /// The bytes that are the same in all times, including the byte after the time.
    same: u64,
    /// The bytes of the time of day that are digits.
    digits: u64,
    length: usize,
    /// The byte before the time, or [`NOTHING`].
    before: u16,
    /// Whether the record ends with the time.
    is_last: bool,
    /// The bytes that may continue the time after the byte that follows it: an offset after a blank, or a fraction.
    continuing: &'static [u8],
    /// Number of bytes before the anchor.
    lead: usize,
    /// Position of `06:20:09`.
    time_of_day: usize,
    /// Number of digits of the fraction of a second.
    fraction: usize,
    /// The instant at which the day begins.
    day: i64,
}

/// Stands for the byte before a record.
const NOTHING: u16 = 256;

impl Template {
    /// `None` if times that are written alike might mean something else.
    fn new(
        clock: &Clock,
        cache: &mut ClockCache,
        text: &[u8],
        (start, end): Span,
        (anchor, found): (usize, FoundTime),
    ) -> Option<Self> {
        let Moment::Civil(civil) = found.moment else { return None };
        let record = bytes_of(text, (start, end));
        let time_of_day = found.time_of_day?.checked_sub(found.start)?;
        let time = record.get(found.start..found.end)?;
        let fraction = length_of_fraction(time.get(time_of_day..)?)?;
        let before = found.start.checked_sub(1).and_then(|before| record.get(before).copied());
        // A dash may be inside of a word.
        if before.is_some_and(written::is_joint) {
            return None;
        }
        // There might be a weekday before the blank, and then a year after the time.
        if civil.year.is_none() && (before == Some(b' ') || time_of_day > b"Mar 01 ".len()) {
            return None;
        }
        let after = record.get(found.end).copied();
        let may_go_on = matches!(after, Some(b'Z' | b'z' | b'U' | b'G' | b'+' | b'-'));
        if may_go_on && civil.offset.is_none() || time.len() >= 64 {
            return None;
        }
        let continuing: &[u8] = match after {
            _ if civil.offset.is_some() => b"",
            Some(b' ') => b"UG+-",
            Some(b'.' | b',') if fraction == 0 => b"0123456789",
            _ => b"",
        };
        let mut digits = 0b1101_1011;
        if fraction > 0 {
            digits |= ((1 << fraction) - 1) << 9;
        }
        digits <<= time_of_day;
        let compared = time.len() + usize::from(after.is_some());
        Some(Self {
            text: *window_at(text, start + found.start, &mut None),
            same: (u64::MAX >> (64 - compared)) & !digits,
            digits,
            length: time.len(),
            before: before.map_or(NOTHING, u16::from),
            is_last: after.is_none(),
            continuing,
            lead: anchor.checked_sub(found.start)?,
            time_of_day,
            fraction,
            day: clock.start_of_day(cache, &civil)?,
        })
    }

    /// The instant of a time at a position of a record. `None` if the template does not match.
    #[inline(always)]
    fn read<M: Masks>(&self, masks: M, text: &[u8], (start, end): Span, at: usize) -> Option<i64> {
        let after = at + self.length;
        let before = if at > start { u16::from(text[at - 1]) } else { NOTHING };
        if before != self.before || after > end || (after == end) != self.is_last {
            return None;
        }
        let mut spare = None;
        let window = window_at(text, at, &mut spare);
        if masks.same(window, &self.text) & self.same != self.same
            || masks.digits(window) & self.digits != self.digits
        {
            return None;
        }
        if !self.continuing.is_empty() && after + 1 < end && self.continuing.contains(&text[after + 1]) {
            return None;
        }
        let (time_of_day, after) = window[self.time_of_day..].split_first_chunk()?;
        let [hours, minutes, seconds] = pairs(u64::from_le_bytes(*time_of_day));
        if hours > 23 || minutes > 59 || seconds > 59 {
            return None;
        }
        let mut instant = self.day + (3600 * hours + 60 * minutes + seconds) * SECOND;
        if self.fraction > 0 {
            let mut unit = SECOND;
            for digit in &after[1..=self.fraction] {
                unit /= 10;
                instant += unit * i64::from(digit - b'0');
            }
        }
        Some(instant)
    }
}

/// The numbers of `06:20:09`, as a little-endian word.
#[inline(always)]
fn pairs(time_of_day: u64) -> [i64; 3] {
    // A colon is 10 in its low bits, so no byte exceeds 255.
    let digits = time_of_day & 0x0F0F_0F0F_0F0F_0F0F;
    let numbers = digits * 10 + (digits >> 8);
    [0, 24, 48].map(|shift| (numbers >> shift & 0xFF) as i64)
}

/// Number of digits of the fraction of a time of day with seconds. `None` if that is written otherwise or has too many.
fn length_of_fraction(time: &[u8]) -> Option<usize> {
    let [_, _, b':', _, _, b':', _, _, rest @ ..] = time else { return None };
    let [b'.' | b',', rest @ ..] = rest else { return Some(0) };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=9).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests;
