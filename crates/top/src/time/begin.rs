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
            written::read_at(line, at).is_some()
                || written::read_epoch(&line[at..]).is_some()
                || is_time_of_day(&line[at..])
        }
        Some(b'A'..=b'Z') => written::read_at(line, at).is_some(),
        _ => false,
    }
}

/// Whether a text begins with a time such as `06:20:09`.
fn is_time_of_day(text: &[u8]) -> bool {
    let [h, i, b':', m, n, b':', s, t, rest @ ..] = text else { return false };
    [h, i, m, n, s, t].iter().all(|digit| digit.is_ascii_digit())
        && !rest.first().is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

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
