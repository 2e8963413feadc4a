//! Replaces the variable parts of keys by placeholders, so that messages of one kind have the same key:
//! `session 17 of 10.0.0.1 took 24ms` becomes `session <num> of <ip> took <num>ms`.
//!
//! A *word* is a run of ASCII letters, digits and bytes that are not ASCII. `_` separates words. The kinds are, from the
//! one that takes precedence at the same place to the last:
//!
//! - `uuid`: a UUID, such as `01234567-89ab-cdef-0123-456789abcdef`.
//! - `time`: a time in any usual form, such as `2026-03-01 06:20:09,252`, and a time of day with seconds.
//! - `ip`: an IPv4 address, with its port if there is one, or an IPv6 address with at least one decimal digit. It does not
//!   follow a dot.
//! - `path`: an absolute path such as `/var/log` or `C:\Users`. It contains letters, digits and `_.-~+@%$`, does not end
//!   with a dot, and does not follow such a character or one of `<)]}*`. An address after a slash is not a path. With `all`, a field
//!   that is a path as a whole, or up to `?` or `#`, remains one: only parts of other kinds in it are replaced.
//! - `hex`: `0x` and hexadecimal digits, or at least 8 hexadecimal digits with at least one letter and one decimal digit.
//! - `num`: decimal digits with an optional sign, fractions (`1.5` and `1.2.3`) and an exponent. The digits begin a word,
//!   or follow letters in a word that begins with a digit, as in `1h30m`. A sign does not follow a word, `)` or `]`.
//!
//! UUIDs, times, addresses and hexadecimal numbers begin and end with a word. Digits after letters, as in `sha256`, are left
//! unchanged.

use std::fmt;

use thiserror::Error;

use crate::key::between_fields::SEPARATOR;
use crate::time::time_end;

/// Kinds of parts to replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Normalizer {
    uuid: bool,
    time: bool,
    ip: bool,
    path: bool,
    /// Whether fields that are paths as a whole remain so.
    keeps_whole_paths: bool,
    hex: bool,
    num: bool,
}

/// An unknown kind of parts.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown kind '{0}'; the kinds are num, hex, uuid, ip, path, time and all")]
pub struct UnknownKind(String);

/// Name of all kinds together.
const ALL: &str = "all";

/// Length of a drive and the first separator, as in `C:\Users`.
const DRIVE: usize = 3;

/// A class of bytes.
mod class {
    pub(super) const DIGIT: u8 = 1;
    /// Letters that are hexadecimal digits.
    pub(super) const HEX_LETTER: u8 = 2;
    /// Bytes of words.
    pub(super) const WORD: u8 = 4;
    /// Bytes of paths.
    pub(super) const PATH: u8 = 8;
    /// Bytes after which no path begins.
    pub(super) const BEFORE_NO_PATH: u8 = 16;
    /// Bytes with which a part may begin.
    pub(super) const START: u8 = 32;
    pub(super) const HEX: u8 = DIGIT | HEX_LETTER;
}

/// Classes of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let ascii = byte as u8;
        let mut bits = 0;
        if ascii.is_ascii_digit() {
            bits |= class::DIGIT;
        }
        if matches!(ascii, b'a'..=b'f' | b'A'..=b'F') {
            bits |= class::HEX_LETTER;
        }
        if ascii.is_ascii_alphanumeric() || !ascii.is_ascii() {
            bits |= class::WORD | class::PATH | class::BEFORE_NO_PATH | class::START;
        }
        if matches!(ascii, b'_' | b'.' | b'-' | b'~' | b'+' | b'@' | b'%' | b'$' | b'/') {
            bits |= class::PATH | class::BEFORE_NO_PATH;
        }
        if matches!(ascii, b'<' | b')' | b']' | b'}' | b'*') {
            bits |= class::BEFORE_NO_PATH;
        }
        if matches!(ascii, b'/' | b':') {
            bits |= class::START;
        }
        classes[byte] = bits;
        byte += 1;
    }
    classes
};

#[inline(always)]
fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Whether the byte at a position is of a class.
#[inline(always)]
fn is_at(key: &[u8], at: usize, class: u8) -> bool {
    key.get(at).is_some_and(|&byte| is(byte, class))
}

/// Whether the byte before a position is of a class.
#[inline(always)]
fn is_before(key: &[u8], at: usize, class: u8) -> bool {
    at > 0 && is(key[at - 1], class)
}

/// Returns the end of a run of bytes of a class.
#[inline(always)]
fn run_end(key: &[u8], mut at: usize, class: u8) -> usize {
    while is_at(key, at, class) {
        at += 1;
    }
    at
}

/// A copy of a key with placeholders.
struct NormalizedKey<'a> {
    key: &'a [u8],
    /// Bytes of the key before this position are written.
    copied: usize,
    out: &'a mut Vec<u8>,
}

impl NormalizedKey<'_> {
    fn replace(&mut self, start: usize, end: usize, placeholder: &[u8]) -> usize {
        self.out.extend_from_slice(&self.key[self.copied..start]);
        self.out.extend_from_slice(placeholder);
        self.copied = end;
        end
    }
}

/// The list of kinds that [`Normalizer::new`] parses.
impl fmt::Display for Normalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::all() {
            return f.write_str(ALL);
        }
        let names = self.kinds().into_iter().filter_map(|(name, is_replaced)| is_replaced.then_some(name));
        f.write_str(&names.collect::<Vec<_>>().join(","))
    }
}

impl Normalizer {
    /// Parses a list of kinds, separated by commas: `num`, `hex`, `uuid`, `ip`, `path`, `time`, or `all`.
    ///
    /// # Errors
    /// Returns an error if a kind is unknown.
    pub fn new(names: &str) -> Result<Self, UnknownKind> {
        let mut kinds = Self::default();
        for name in names.split(',').map(str::trim) {
            match name {
                "uuid" => kinds.uuid = true,
                "time" => kinds.time = true,
                "ip" => kinds.ip = true,
                "path" => kinds.path = true,
                "hex" => kinds.hex = true,
                "num" => kinds.num = true,
                ALL => kinds = Self::all(),
                _ => return Err(UnknownKind(name.to_owned())),
            }
        }
        Ok(kinds)
    }

    /// Names of all kinds, each with whether it is replaced.
    fn kinds(&self) -> [(&'static str, bool); 6] {
        let Self { uuid, time, ip, path, hex, num, .. } = *self;
        [("uuid", uuid), ("time", time), ("ip", ip), ("path", path), ("hex", hex), ("num", num)]
    }

    /// Replaces parts of all kinds.
    pub(crate) fn all() -> Self {
        let keeps_whole_paths = true;
        Self { uuid: true, time: true, ip: true, path: true, keeps_whole_paths, hex: true, num: true }
    }

    /// Appends a key with placeholders to `out`.
    pub(crate) fn apply(&self, key: &[u8], out: &mut Vec<u8>) {
        let mut output = NormalizedKey { key, copied: 0, out };
        let mut at = 0;
        while let Some(&byte) = key.get(at) {
            at = match byte {
                _ if !is(byte, class::START) => at + 1,
                b'/' => self.slash(&mut output, at),
                b':' => self.colon(&mut output, at),
                _ => self.word(&mut output, at),
            };
        }
        output.out.extend_from_slice(&key[output.copied..]);
    }

    /// Handles a slash. This and the other handlers return the position at which the scan continues.
    fn slash(&self, output: &mut NormalizedKey<'_>, at: usize) -> usize {
        let key = output.key;
        if !self.path || is_before(key, at, class::BEFORE_NO_PATH) || is_at_slash(key, at + 1) {
            return at + 1;
        }
        if self.ip && (ipv4_with_port(key, at + 1).is_some() || ipv6(key, at + 1).is_some()) {
            return at + 1;
        }
        match path_end(key, at + 1, false) {
            Some(end) if self.keeps_whole_paths && is_whole_field(key, at, end) => at + 1,
            Some(end) => output.replace(at, end, b"<path>"),
            None => run_end(key, at + 1, class::PATH),
        }
    }

    /// Handles a colon: the first of an IPv6 address such as `::1`.
    fn colon(&self, output: &mut NormalizedKey<'_>, at: usize) -> usize {
        let key = output.key;
        let may_begin = self.ip
            && key.get(at + 1) == Some(&b':')
            && !is_before(key, at, class::WORD)
            && !matches!(key[..at], [.., b':' | b'.']);
        match ipv6(key, at).filter(|_| may_begin) {
            Some(end) => output.replace(at, end, b"<ip>"),
            None => at + 1,
        }
    }

    /// Handles the beginning of a word.
    #[inline]
    fn word(&self, output: &mut NormalizedKey<'_>, at: usize) -> usize {
        let key = output.key;
        if self.time
            && may_begin_time(key, at)
            && let Some(end) = time_end(key, at).filter(|&end| !is_at(key, end, class::WORD))
        {
            return output.replace(at, end, b"<time>");
        }
        if is(key[at], class::HEX) {
            let hex_end = run_end(key, at, class::HEX);
            if self.uuid && hex_end == at + 8 && is_uuid(key, at) {
                return output.replace(at, at + 36, b"<uuid>");
            }
            if self.ip
                && let Some(end) = address(key, at, hex_end)
            {
                return output.replace(at, end, b"<ip>");
            }
            if self.hex
                && let Some(end) = hexadecimal(key, at, hex_end)
            {
                return output.replace(at, end, b"<hex>");
            }
            if is(key[at], class::DIGIT) {
                return self.number_word(output, at);
            }
        }
        if self.path
            && let Some(end) = drive_path(key, at)
        {
            if self.keeps_whole_paths && is_whole_field(key, at, end) {
                return at + DRIVE;
            }
            return output.replace(at, end, b"<path>");
        }
        run_end(key, at + 1, class::WORD)
    }

    /// Handles a word that begins with a digit.
    fn number_word(&self, output: &mut NormalizedKey<'_>, mut at: usize) -> usize {
        let key = output.key;
        if !self.num {
            return run_end(key, at, class::WORD);
        }
        let mut start = at;
        let has_sign = at > output.copied && matches!(key[at - 1], b'+' | b'-');
        if has_sign && !is_before(key, at - 1, class::WORD) && !matches!(key[..at - 1], [.., b')' | b']']) {
            start -= 1;
        }
        loop {
            at = number_end(key, at);
            output.replace(start, at, b"<num>");
            while is_at(key, at, class::WORD) && !is(key[at], class::DIGIT) {
                at += 1;
            }
            if !is_at(key, at, class::DIGIT) {
                return at;
            }
            start = at;
        }
    }
}

/// Whether the word at a position may begin a time: two digits, or a name that is followed by a blank or a comma.
#[inline(always)]
fn may_begin_time(key: &[u8], at: usize) -> bool {
    match &key[at..] {
        // 06:20, 01/Mar, 2026-03, 20260301, 1772346009
        [first, second, third, fourth, ..] if is(*first, class::DIGIT) => {
            is(*second, class::DIGIT)
                && (matches!(third, b':' | b'/' | b'-' | b' ')
                    || is(*third, class::DIGIT) && is(*fourth, class::DIGIT))
        }
        // I0301
        [b'D' | b'E' | b'F' | b'I' | b'W', second, ..] if is(*second, class::DIGIT) => true,
        // Mar, Sun
        [b'A'..=b'Z', b'a'..=b'z', b'a'..=b'z', b' ' | b',', ..] => true,
        _ => false,
    }
}

/// Whether a path is a field of a key, up to a query or a fragment.
fn is_whole_field(key: &[u8], start: usize, end: usize) -> bool {
    let begins = start == 0 || key[start - 1] == SEPARATOR;
    begins && key.get(end).is_none_or(|next| matches!(*next, SEPARATOR | b'?' | b'#'))
}

fn is_at_slash(key: &[u8], at: usize) -> bool {
    key.get(at) == Some(&b'/')
}

/// Returns the end of a number that begins with a digit.
fn number_end(key: &[u8], at: usize) -> usize {
    let mut end = run_end(key, at, class::DIGIT);
    while key.get(end) == Some(&b'.') && is_at(key, end + 1, class::DIGIT) {
        end = run_end(key, end + 1, class::DIGIT);
    }
    if matches!(key.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(key.get(end + 1), Some(b'+' | b'-')));
        let exponent = run_end(key, end + 1 + sign, class::DIGIT);
        if exponent > end + 1 + sign && !is_at(key, exponent, class::WORD) {
            return exponent;
        }
    }
    end
}

/// Whether a UUID is at a position.
fn is_uuid(key: &[u8], at: usize) -> bool {
    let Some(uuid) = key.get(at..at + 36) else { return false };
    let is_part = |(index, &byte): (usize, &u8)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => is(byte, class::HEX),
    };
    uuid.iter().enumerate().all(is_part) && !is_at(key, at + 36, class::WORD)
}

/// Returns the end of a hexadecimal number. `hex_end` is the end of its first hexadecimal digits.
fn hexadecimal(key: &[u8], at: usize, hex_end: usize) -> Option<usize> {
    let is_prefix = hex_end == at + 1 && key[at] == b'0' && matches!(key.get(hex_end), Some(b'x' | b'X'));
    let end = if is_prefix { run_end(key, at + 2, class::HEX) } else { hex_end };
    let digits = &key[at..end];
    let is_mixed = || {
        digits.iter().any(|&digit| is(digit, class::DIGIT))
            && digits.iter().any(|&digit| is(digit, class::HEX_LETTER))
    };
    let is_number = if is_prefix { digits.len() > 2 } else { digits.len() >= 8 && is_mixed() };
    (is_number && !is_at(key, end, class::WORD)).then_some(end)
}

/// Returns the end of an IP address. `hex_end` is the end of its first hexadecimal digits.
#[inline]
fn address(key: &[u8], at: usize, hex_end: usize) -> Option<usize> {
    if hex_end > at + 4 || (at > 0 && key[at - 1] == b'.') {
        return None;
    }
    match key.get(hex_end)? {
        b'.' => ipv4_with_port(key, at),
        b':' => ipv6(key, at),
        _ => None,
    }
}

/// Whether an address may end at a position: neither a word, nor a number after a dot, nor more of an address follows.
fn ends_address(key: &[u8], end: usize) -> bool {
    match key.get(end) {
        Some(b'.') => !is_at(key, end + 1, class::DIGIT),
        Some(b':') => !is_at(key, end + 1, class::WORD) && key.get(end + 1) != Some(&b':'),
        Some(&byte) => !is(byte, class::WORD),
        None => true,
    }
}

/// Returns the end of an IPv4 address and its port, if it has one.
fn ipv4_with_port(key: &[u8], at: usize) -> Option<usize> {
    let end = ipv4(key, at)?;
    if key.get(end) == Some(&b':') {
        let port = run_end(&key[..key.len().min(end + 7)], end + 1, class::DIGIT);
        if port > end + 1 && port <= end + 6 && ends_address(key, port) {
            return Some(port);
        }
        return Some(end);
    }
    ends_address(key, end).then_some(end)
}

/// Returns the end of four numbers below 256, joined by dots.
fn ipv4(key: &[u8], at: usize) -> Option<usize> {
    let mut end = octet(key, at)?;
    for _ in 0..3 {
        end = octet(key, end + 1).filter(|_| key.get(end) == Some(&b'.'))?;
    }
    Some(end)
}

/// Returns the end of a number below 256 without leading zeros.
fn octet(key: &[u8], at: usize) -> Option<usize> {
    let digits = key.get(at..)?.iter().take(4).take_while(|byte| byte.is_ascii_digit());
    let (count, value) =
        digits.fold((0, 0), |(count, value), &digit| (count + 1, 10 * value + u32::from(digit - b'0')));
    let has_leading_zero = count > 1 && key[at] == b'0';
    (count > 0 && value < 256 && !has_leading_zero).then_some(at + count)
}

/// Returns the end of an IPv6 address.
fn ipv6(key: &[u8], at: usize) -> Option<usize> {
    let is_double_colon = |at| key.get(at..at + 2) == Some(b"::");
    let mut has_gap = is_double_colon(at);
    let mut end = at + if has_gap { 2 } else { 0 };
    let mut groups = 0;
    while is_at(key, end, class::HEX) && groups <= 8 {
        let group = run_end(&key[..key.len().min(end + 5)], end, class::HEX);
        if key.get(group) == Some(&b'.')
            && let Some(last) = ipv4(key, end)
        {
            (groups, end) = (groups + 2, last);
            break;
        }
        if group > end + 4 {
            return None;
        }
        (groups, end) = (groups + 1, group);
        if is_double_colon(end) && !has_gap {
            (has_gap, end) = (true, end + 2);
        } else if key.get(end) == Some(&b':') && is_at(key, end + 1, class::HEX) {
            end += 1;
        } else {
            break;
        }
    }
    let is_whole = if has_gap { (1..=7).contains(&groups) } else { groups == 8 };
    let has_digit = || key[at..end].iter().any(u8::is_ascii_digit);
    (is_whole && ends_address(key, end) && has_digit()).then_some(end)
}

/// Returns the end of a path whose first separator is before `at`.
fn path_end(key: &[u8], at: usize, has_backslashes: bool) -> Option<usize> {
    let is_part = |&byte: &u8| is(byte, class::PATH) || (has_backslashes && byte == b'\\');
    let path = &key[at..];
    let path = &path[..path.iter().position(|byte| !is_part(byte)).unwrap_or(path.len())];
    let dots = path.iter().rev().take_while(|&&byte| byte == b'.').count();
    let path = &path[..path.len() - dots];
    path.iter().any(|&byte| is(byte, class::WORD)).then_some(at + path.len())
}

/// Returns the end of a path with a drive, such as `C:\Users`.
fn drive_path(key: &[u8], at: usize) -> Option<usize> {
    let separators = [key.get(at + 2), key.get(at + 3)];
    let is_drive = key[at].is_ascii_alphabetic()
        && key.get(at + 1) == Some(&b':')
        && matches!(separators[0], Some(b'\\' | b'/'))
        && separators != [Some(&b'/'); 2];
    if is_drive { path_end(key, at + DRIVE, true) } else { None }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;
    use regex::bytes::Regex;

    use super::*;

    fn normalized(kinds: &str, key: &[u8]) -> Vec<u8> {
        let mut out = b"before ".to_vec();
        Normalizer::new(kinds).expect("known kinds").apply(key, &mut out);
        out.split_off(b"before ".len())
    }

    #[track_caller]
    fn check(kinds: &str, cases: &[(&str, &str)]) {
        for (key, expected) in cases {
            let found = normalized(kinds, key.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), *expected, "{key}");
        }
    }

    #[test]
    fn numbers_begin_words_or_follow_units() {
        check(
            "num,hex,uuid,ip,path",
            &[
                ("sshd[24200]: took 24ms", "sshd[<num>]: took <num>ms"),
                ("blk_-1608999687919862906", "blk_<num>"),
                ("attempt_1445144423722_0020_m_000001", "attempt_<num>_<num>_m_<num>"),
                ("x=-5 y=+1.5 z=1.2.3.4.5", "x=<num> y=<num> z=<num>"),
                ("1e10 1.5E-7 2e 3e5x 1e+", "<num> <num> <num>e <num>e<num>x <num>e+"),
                ("1h30m0.5s", "<num>h<num>m<num>s"),
                ("2015-10-18 18:01:47,978", "<num>-<num>-<num> <num>:<num>:<num>,<num>"),
                ("a-5 (1)-5 [1]+5 -5 --5", "a-<num> (<num>)-<num> [<num>]+<num> <num> -<num>"),
                ("x86 sha256 é5 v1.2", "x86 sha256 é5 v1.<num>"),
                ("5é6", "<num>é<num>"),
                ("", ""),
                ("7", "<num>"),
            ],
        );
    }

    #[test]
    fn times_are_those_of_logs() {
        check(
            "all",
            &[
                ("2018/12/02 06:33:08 started", "<time> started"),
                ("2015-10-18 18:01:47,978 INFO 7", "<time> INFO <num>"),
                ("[01/Mar/2026:06:20:09 +0100] x", "[<time>] x"),
                ("Mar  1 06:20:09 host sshd[7]: at 06:20:09.5", "<time> host sshd[<num>]: at <time>"),
                ("Sun Mar 01 06:20:09.123 2026 Sun, 01 Mar 2026 06:20:09 +0100", "<time> <time>"),
                ("I0301 06:20:09.252123    7 x.go:12] E0301 a", "<time>    <num> x.go:<num>] E0301 a"),
                ("2026-03-01\t06:20:09\tFRA2 20260301T062009Z", "<time>\tFRA2 <time>"),
                ("2026-03-01 2026-03-01x a-2026-03-01", "<time> <num>-<num>-<num>x a-<num>-<num>-<num>"),
                ("1772346009 x 1772346009", "<time> x <num>"),
                ("[1772346009] x", "[<time>] x"),
                ("1772346009", "<num>"),
                (
                    "06:20 06:20:09 1:06:20:09 06:20:09:1",
                    "<num>:<num> <time> <num>:<num>:<num>:<num> <num>:<num>:<num>:<num>",
                ),
                ("2026-13-01 32/Mar/2026:06:20:09", "<num>-<num>-<num> <num>/Mar/<num>:<num>:<num>:<num>"),
                ("x=2026-03-01T06:20:09.25Z, -2026-03-01", "x=<time>, -<time>"),
                ("Mar of Sun, I0 D", "Mar of Sun, I0 D"),
            ],
        );
        check("time", &[("7 at 2026-03-01 06:20:09 10.0.0.1", "7 at <time> 10.0.0.1")]);
        check("num", &[("2026-03-01 7", "<num>-<num>-<num> <num>")]);
    }

    #[test]
    fn hexadecimal_numbers_have_a_prefix_or_eight_digits() {
        check(
            "all",
            &[
                ("0x1F 0X0 0x 0xg", "<hex> <hex> <num>x <num>xg"),
                ("deadbee1 deadbeef 12345678 abcdef1", "<hex> deadbeef <num> abcdef1"),
                ("f0000000g xf0000000 _f0000000_", "f0000000g xf0000000 _<hex>_"),
            ],
        );
    }

    #[test]
    fn uuids_are_whole_words() {
        let uuid = "01234567-89ab-CDEF-0123-456789abcdef";
        for (key, expected) in [
            (uuid.to_owned(), "<uuid>"),
            (format!("id={uuid}."), "id=<uuid>."),
            (format!("_{uuid}_"), "_<uuid>_"),
            (format!("-{uuid}-1"), "-<uuid>-<num>"),
            (format!("{uuid}0"), "<num>-<num>ab-CDEF-<num>-<num>abcdef<num>"),
        ] {
            check("uuid,num", &[(&key, expected)]);
        }
    }

    #[test]
    fn addresses_have_ports_and_ends() {
        check(
            "num,hex,uuid,ip,path",
            &[
                ("from 10.0.0.1 port 22", "from <ip> port <num>"),
                ("10.0.0.1:80, 10.0.0.1: 10.0.0.1.", "<ip>, <ip>: <ip>."),
                ("10.0.0.1:123456 10.0.0.1:x", "<ip>:<num> <ip>:x"),
                ("10.0.0.256 10.0.0.1.2 10.0.0.1a 01.2.3.4", "<num> <num> <num>a <num>"),
                ("ip-10.0.0.1/8 /10.0.0.1:80 h/10.0.0.1", "ip-<ip>/<num> /<ip> h/<ip>"),
                ("::1 fe80::1%eth0 [2001:db8::2]:443", "<ip> <ip>%eth0 [<ip>]:<num>"),
                ("1:2:3:4:5:6:7:8 ::ffff:10.0.0.1 fe80::", "<ip> <ip> <ip>"),
                ("std::vector a::b dead::beef Foo::1", "std::vector a::b dead::beef Foo::<num>"),
                ("18:01:47 1::2::3 :::1", "<num>:<num>:<num> <num>::<ip> :::<num>"),
            ],
        );
    }

    #[test]
    fn absolute_paths_are_replaced() {
        check(
            "all",
            &[
                ("open /etc/passwd: denied", "open <path>: denied"),
                ("in /tmp/x-1.log. (/a/b/)", "in <path>. (<path>)"),
                ("/articles/2008/03/a-b", "/articles/<num>/<num>/a-b"),
                ("/a/7?x=/b/7#y", "/a/<num>?x=<path>#y"),
                ("GET\x1f/api/items/7\x1f/", "GET\x1f/api/items/<num>\x1f/"),
                ("C:/x/7", "C:/x/<num>"),
                ("/a/7.", "<path>."),
                ("/tmp PATH=/bin:/usr/bin \"/x/é\"", "<path> PATH=<path>:<path> \"<path>\""),
                ("GET /a?b=/c&d=1 HTTP/1.1", "GET <path>?b=<path>&d=<num> HTTP/<num>"),
                ("http://host:80/a/1 a/b ./c ~/d", "http://host:<num>/a/<num> a/b ./c ~/d"),
                ("and/or </b> / // /. /.. +/- */5", "and/or </b> / // /. /.. +/- */<num>"),
                (r"C:\Users\x y:/z e:\ c://x", r"<path> <path> e:\ c://x"),
                (r"C:\\Users\\x AC:\b", r"<path> AC:\b"),
            ],
        );
        check("path,num", &[("/articles/2008", "<path>")]);
    }

    #[test]
    fn only_the_given_kinds_are_replaced() {
        let key = "7 0x1f 10.0.0.1 /tmp/7 deadbee1";
        check("num", &[(key, "<num> <num>x<num>f <num> /tmp/<num> deadbee1")]);
        check("hex", &[(key, "7 <hex> 10.0.0.1 /tmp/7 <hex>")]);
        check("ip,path", &[(key, "7 0x1f <ip> <path> deadbee1")]);
        let error = Normalizer::new("num,uri").expect_err("an unknown kind").to_string();
        assert_eq!(error, "unknown kind 'uri'; the kinds are num, hex, uuid, ip, path, time and all");
    }

    /// Patterns of the kinds that no parser ends. Group 1 is the part; the rest of the text follows it.
    struct PartPatterns {
        uuid: Regex,
        path: Regex,
        drive: Regex,
        hex: Regex,
        exponent: Regex,
        num: Regex,
    }

    impl PartPatterns {
        fn new() -> Self {
            let regex = |pattern: &str| {
                let end = r"(?:$|[^0-9A-Za-z\x80-\xFF])";
                Regex::new(&format!("(?s-u)^(?:{})", pattern.replace("END", end))).expect("a valid pattern")
            };
            Self {
                uuid: regex("([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})END"),
                path: regex(r"/((?:[^/\x00-\x7F]|[0-9A-Za-z_.~+@%$-])[0-9A-Za-z\x80-\xFF_.~+@%$/-]*)"),
                drive: regex(r"[A-Za-z]:(?:\\|/(?:$|[^/]))"),
                hex: regex("(0[xX][0-9A-Fa-f]+|[0-9A-Fa-f]{8,})END"),
                exponent: regex(r"([0-9]+(?:\.[0-9]+)*[eE][+-]?[0-9]+)END"),
                num: regex(r"([0-9]+(?:\.[0-9]+)*)"),
            }
        }

        fn group(regex: &Regex, text: &[u8]) -> Option<usize> {
            regex.captures(text)?.get(1).map(|group| group.end())
        }

        fn address(key: &[u8], at: usize) -> Option<usize> {
            let ends = |end: usize| {
                let next = |offset: usize| key.get(end + offset).copied().unwrap_or(b' ');
                let is_word = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
                match next(0) {
                    b'.' => !next(1).is_ascii_digit(),
                    b':' => next(1) != b':' && !is_word(next(1)),
                    byte => !is_word(byte),
                }
            };
            let parses = |end: usize| {
                let text = str::from_utf8(&key[at..end]).unwrap_or("");
                let (host, port) = text.rsplit_once(':').unwrap_or((text, "0"));
                let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
                let is_v6 =
                    text.parse::<Ipv6Addr>().is_ok() && text.bytes().any(|byte| byte.is_ascii_digit());
                (host.parse::<Ipv4Addr>().is_ok() && is_port && ends(end))
                    || (text.parse::<Ipv4Addr>().is_ok() && (ends(end) || key[end] == b':'))
                    || (is_v6 && ends(end))
            };
            (at..=key.len().min(at + 50)).rev().find(|&end| parses(end))
        }

        /// Returns the length of the part at a position, and its placeholder.
        fn part(&self, kinds: Normalizer, key: &[u8], at: usize) -> Option<(usize, &'static str)> {
            let rest = &key[at..];
            let before = |offset: usize| at.checked_sub(offset).map_or(b' ', |at| key[at]);
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
            let begins = !is_word(before(1));
            let may_be_address = before(1) != b'.' && !(rest[0] == b':' && before(1) == b':');
            let address = |at| Self::address(key, at).filter(|_| kinds.ip);
            if let Some(end) = Self::group(&self.uuid, rest).filter(|_| kinds.uuid && begins) {
                return Some((end, "<uuid>"));
            }
            let ends_word = |&end: &usize| !key.get(end).is_some_and(|&byte| is_word(byte));
            let time = || time_end(key, at).filter(|_| kinds.time && begins && is_word(rest[0]));
            if let Some(end) = time().filter(ends_word) {
                return Some((end - at, "<time>"));
            }
            if let Some(end) = address(at).filter(|_| begins && may_be_address) {
                return Some((end - at, "<ip>"));
            }
            let begins_path = !is_word(before(1)) && !b"_.-~+@%$/<)]}*".contains(&before(1));
            let trimmed =
                |end: usize| rest[..end].iter().rposition(|&byte| byte != b'.').map_or(0, |at| at + 1);
            if let Some(end) = Self::group(&self.path, rest).map(trimmed)
                && kinds.path
                && begins_path
                && rest[1..end].iter().any(|&byte| is_word(byte))
                && address(at + 1).is_none()
            {
                return Some((end, "<path>"));
            }
            let has_both = |digits: &[u8]| {
                digits.get(1).is_some_and(|byte| b"xX".contains(byte))
                    || digits.iter().any(u8::is_ascii_digit) && digits.iter().any(u8::is_ascii_alphabetic)
            };
            if let Some(end) = Self::group(&self.hex, rest).filter(|&end| has_both(&rest[..end]))
                && kinds.hex
                && begins
            {
                return Some((end, "<hex>"));
            }
            if self.drive.is_match(rest) && kinds.path && begins {
                let is_part = |&byte: &u8| is_word(byte) || b"_.-~+@%$/\\".contains(&byte);
                let end = 3 + rest[3..].iter().take_while(|byte| is_part(byte)).count();
                let end = trimmed(end);
                return (end > 3 && rest[3..end].iter().any(|&byte| is_word(byte)))
                    .then_some((end, "<path>"));
            }
            let signed = b"+-".contains(&rest[0]) && begins && !b")]".contains(&before(1));
            if signed && rest.get(1).is_some_and(u8::is_ascii_digit) {
                let (length, placeholder) = self.part(kinds, key, at + 1)?;
                return (placeholder == "<num>").then_some((length + 1, "<num>"));
            }
            let word = key[..at].iter().rposition(|&byte| !is_word(byte)).map_or(0, |at| at + 1);
            let end = Self::group(&self.exponent, rest).or_else(|| Self::group(&self.num, rest))?;
            (kinds.num && key[word].is_ascii_digit()).then_some((end, "<num>"))
        }

        /// Reference implementation of [`Normalizer::apply`].
        fn normalized(&self, kinds: Normalizer, key: &[u8]) -> Vec<u8> {
            let (mut out, mut at) = (Vec::new(), 0);
            while at < key.len() {
                let is_kept = |length: usize| {
                    let rest = &key[at + length..];
                    (at == 0 || key[at - 1] == 0x1F) && (rest.is_empty() || b"\x1F?#".contains(&rest[0]))
                };
                match self.part(kinds, key, at) {
                    Some((length, "<path>")) if kinds.keeps_whole_paths && is_kept(length) => {
                        // The slash of the root cannot begin another path.
                        let root = if key[at] == b'/' { 1 } else { 3 };
                        out.extend_from_slice(&key[at..at + root]);
                        at += root;
                    }
                    Some((length, placeholder)) => {
                        out.extend_from_slice(placeholder.as_bytes());
                        at += length;
                    }
                    None => {
                        out.push(key[at]);
                        at += 1;
                    }
                }
            }
            out
        }
    }

    fn keys() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            4 => "[0-9a-fxg]{1,4}",
            2 => "[:./_+-]",
            2 => prop::sample::select(
                &["::", "10.0.0.1", "0x", "1234567", "abcdef01", "/tmp", "C:\\", "\\", "e5", "é", " ", "]", "1.5", "fe80::1",
                  "01234567-89ab-cdef-0123-456789abcdef", ":8080", "25", "255.", "a:", "$", "?", "\x1f", "/a/"][..]).prop_map(String::from),
        ];
        prop_oneof![
            2 => prop::collection::vec(prop_oneof![
                2 => "[0-9:/. TZ,-]{1,3}",
                1 => prop::sample::select(
                    &["2026-03-01", "01/Mar/2026", "20260301", "Mar  1", "06:20:09", "06:20", "Sun ", "Sun, ", ".25", "+0100", " +0100",
                      "T", "Z", " ", "\t", "I0301 ", "1772346009", "[", "x", "é"][..]).prop_map(String::from),
            ], 0..8).prop_map(|pieces| pieces.concat().into_bytes()),
            6 => prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat().into_bytes()),
            2 => "[0-9a-f:. ]{0,40}".prop_map(String::into_bytes),
            1 => prop::collection::vec(any::<u8>(), 0..40),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64 * ProptestConfig::default().cases))]

        #[test]
        fn keys_are_normalized_as_by_the_reference_implementation(
            kinds in prop_oneof![
                Just(Normalizer::new("all").expect("a kind")),
                any::<[bool; 7]>().prop_map(|[uuid, time, ip, path, keeps_whole_paths, hex, num]| Normalizer { uuid, time, ip, path, keeps_whole_paths, hex, num }),
            ],
            key in keys(),
        ) {
            thread_local!(static PATTERNS: PartPatterns = PartPatterns::new());
            let expected = PATTERNS.with(|patterns| patterns.normalized(kinds, &key));
            let mut found = Vec::new();
            kinds.apply(&key, &mut found);
            prop_assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected));
        }
    }
}
