//! Lines that begin with a time.

use super::written;

/// Names of levels before a time, in upper case.
const LEVELS: [&[u8]; 20] = [
    b"TRACE",
    b"DEBUG",
    b"INFO",
    b"NOTICE",
    b"WARN",
    b"WARNING",
    b"ERROR",
    b"ERR",
    b"FATAL",
    b"CRITICAL",
    b"CRIT",
    b"SEVERE",
    b"ALERT",
    b"EMERG",
    b"PANIC",
    b"CONFIG",
    b"FINE",
    b"FINER",
    b"FINEST",
    b"VERBOSE",
];

/// Whether a line begins with a time in a form that is found in logs, also after opening brackets or a level, as in
/// `[2026-03-01 06:20:09]` and `ERROR: 2026-03-01 06:20:09`. A time of day alone has seconds.
pub(crate) fn begins_with_time(line: &[u8]) -> bool {
    // Most other lines are indented.
    if !line.first().is_some_and(|first| first.is_ascii_alphanumeric() || is_opening(first)) {
        return false;
    }
    let first = line.iter().take_while(|byte| is_opening(byte)).count();
    if is_time_at(line, first) {
        return true;
    }
    let Some(after_level) = end_of_level(line, first) else { return false };
    let between = |byte: &&u8| {
        is_opening(byte) || matches!(byte, b']' | b')' | b'>' | b':' | b'|' | b',' | b' ' | b'\t')
    };
    let blank = line[after_level..].iter().take_while(between).count();
    blank > 0 && is_time_at(line, after_level + blank)
}

fn is_opening(byte: &u8) -> bool {
    matches!(byte, b'[' | b'(' | b'<')
}

/// The position after a level at `start`.
fn end_of_level(line: &[u8], start: usize) -> Option<usize> {
    let length = line[start..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let word = &line[start..start + length];
    LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word)).then_some(start + length)
}

fn is_time_at(line: &[u8], at: usize) -> bool {
    match line.get(at) {
        Some(b'0'..=b'9') => {
            is_plain_time(&line[at..]) && !written::is_inside_word(&line[..at])
                || written::read_at(line, at).is_some()
                || written::read_epoch(&line[at..]).is_some()
                || is_time_of_day(&line[at..])
        }
        Some(b'A'..=b'Z') => written::read_at(line, at).is_some(),
        _ => false,
    }
}

/// Whether a text begins with a time such as `2026-03-01 06:20:09,252`, which most logs have. Other times need to be read, which takes
/// three times as long.
fn is_plain_time(text: &[u8]) -> bool {
    let [a, b, c, d, b'-', m, n, b'-', e, f, b' ' | b'T', h, i, b':', j, k, b':', s, t, rest @ ..] = text
    else {
        return false;
    };
    let within = |tens: &u8, ones: &u8, min: u8, max: u8| {
        tens.is_ascii_digit() && ones.is_ascii_digit() && {
            let number = 10 * (tens - b'0') + (ones - b'0');
            (min..=max).contains(&number)
        }
    };
    let is_year = [a, b, c, d].iter().all(|digit| digit.is_ascii_digit());
    // Every month has this many days.
    let is_date = is_year && within(m, n, 1, 12) && within(e, f, 1, 28);
    is_date && within(h, i, 0, 23) && within(j, k, 0, 59) && within(s, t, 0, 59) && ends_time(rest)
}

/// Whether this may follow the seconds of a time.
fn ends_time(rest: &[u8]) -> bool {
    let rest = match rest {
        [b'.' | b',', fraction @ ..] if fraction.first().is_some_and(u8::is_ascii_digit) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            &fraction[digits..]
        }
        _ => rest,
    };
    let rest = rest.strip_prefix(b"Z").unwrap_or(rest);
    !rest.first().is_some_and(u8::is_ascii_alphanumeric)
}

/// Whether a text begins with a time such as `06:20:09`.
fn is_time_of_day(text: &[u8]) -> bool {
    let [h, i, b':', m, n, b':', s, t, rest @ ..] = text else { return false };
    [h, i, m, n, s, t].iter().all(|digit| digit.is_ascii_digit())
        && !rest.first().is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn plain_times_are_times(
            base in prop::sample::select(vec!["2026-03-01 06:20:09", "2024-02-28T23:59:59", "2026-12-30 19:00:00"]),
            changes in prop::collection::vec((0_usize..19, prop::sample::select(b"0123456789-:T a".as_slice())), 0..3),
            rest in "[0-9.,Zz+ aUTC:-]{0,8}",
            before in "(ERROR|\\[|INFO)?[ :\\]]{0,3}",
        ) {
            let mut text = base.as_bytes().to_vec();
            changes.iter().for_each(|&(at, byte)| text[at] = byte);
            text.extend_from_slice(rest.as_bytes());
            let line = [before.as_bytes(), &text].concat();
            let at = before.len();
            let is_in_word = written::is_inside_word(before.as_bytes());
            prop_assert!(!is_time_at(&line, at) || !is_in_word || is_time_of_day(&text) || written::read_epoch(&text).is_some());
            let is_time = written::read_at(&text, 0).is_some();
            prop_assert!(is_time || !is_plain_time(&text));
            // The other way round where the date and the time are of that form.
            let is_usual = changes.is_empty() && base != "2026-12-30 19:00:00" && !rest.contains('z');
            prop_assert!(!is_usual || is_plain_time(&text) == is_time, "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn lines_that_begin_with_a_time() {
        for line in [
            "2026-03-01 06:20:09,252 INFO a",
            "2026-03-01T06:20:09.252Z a",
            "2026/03/01 06:20:09 [error] a",
            "[2026-03-01 06:20:09] a",
            "[01/Mar/2026:06:20:09 +0100] a",
            "Mar  1 06:20:09 host a",
            "Sun Mar  1 06:20:09 2026 a",
            "[Sun Mar 01 06:20:09.252 2026] [error] a",
            "ERROR 2026-03-01 06:20:09 a",
            "[error] 2026-03-01 06:20:09 a",
            "WARN: [2026-03-01 06:20:09] a",
            "1772346009.252 a",
            "[1772346009] a",
            "06:20:09.252 [main] INFO a",
            "06:20:09",
            "2026-03-01",
        ] {
            assert!(begins_with_time(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn other_lines() {
        for line in [
            "",
            "[",
            " 2026-03-01 06:20:09 a",
            "\tat a.B.c(B.java:12)",
            "java.lang.IllegalStateException: 2026-03-01 06:20:09",
            "Caused by: a.B",
            "ERROR a 2026-03-01 06:20:09",
            "ERROR",
            "ERROR2026-03-01 06:20:09 a",
            "ERROR:2026-03-01 06:20:09 a",
            "ERROR:2026-03-31 06:20:09 a",
            "127.0.0.1 - - [01/Mar/2026:06:20:09 +0100]",
            "06:20 a",
            "06:20:091",
            "12 a",
            "1772346009a",
        ] {
            assert!(!begins_with_time(line.as_bytes()), "{line}");
        }
    }
}
