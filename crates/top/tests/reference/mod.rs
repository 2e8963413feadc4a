//! Simple reference implementation: one record at a time, one thread, and a map.

mod oracle;

use std::collections::BTreeMap;

use finecomb_top::{QueryOptions, Separator};

use self::oracle::Oracle;

/// Result of the reference.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) top: Vec<(u64, Vec<u8>)>,
    pub(crate) distinct: u64,
    pub(crate) records: u64,
    pub(crate) skipped: u64,
    /// Number of the file and line, from 1, of the first skipped record.
    pub(crate) first_skipped: Option<(usize, u64)>,
}

/// Counts the keys of all lines of `files`. `fields` has the fields of `options` as ranges.
pub(crate) fn count(files: &[Vec<u8>], options: &QueryOptions, fields: &[(i32, i32)]) -> Expected {
    let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let mut expected = Expected::default();
    for (number, file) in files.iter().enumerate() {
        for (line, record) in (1..).zip(lines(file)) {
            if !is_taken(record, options) {
                continue;
            }
            match key(record, options, fields) {
                Some(key) => *counts.entry(edited(key, options)).or_default() += 1,
                None => {
                    expected.skipped += 1;
                    expected.first_skipped.get_or_insert((number, line));
                }
            }
        }
    }
    expected.records = counts.values().sum();
    expected.distinct = counts.len() as u64;
    let mut top: Vec<(u64, Vec<u8>)> = counts.into_iter().map(|(key, count)| (count, key)).collect();
    top.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    top.truncate(options.number);
    expected.top = top;
    expected
}

fn lines(file: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = file.split(|&byte| byte == b'\n').collect();
    if lines.last() == Some(&&b""[..]) {
        lines.pop();
    }
    lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}

fn is_taken(record: &[u8], options: &QueryOptions) -> bool {
    options.grep.iter().all(|pattern| Oracle::new(pattern).is_match(record))
        && !options.vgrep.iter().any(|pattern| Oracle::new(pattern).is_match(record))
}

fn key(record: &[u8], options: &QueryOptions, wanted: &[(i32, i32)]) -> Option<Vec<u8>> {
    if wanted.is_empty() {
        return Some(record.to_vec());
    }
    let fields = match &options.separator {
        Separator::Blanks => record
            .split(|&byte| is_blank(byte))
            .filter(|field| !field.is_empty())
            .map(<[u8]>::to_vec)
            .collect(),
        Separator::Quotes => {
            let (fields, is_open) = quoted_fields(record);
            let from_the_end = wanted.iter().any(|&(first, last)| first < 0 || last < 0);
            if is_open && from_the_end {
                return None;
            }
            fields
        }
        Separator::Regex(pattern) => Oracle::new(pattern).split(record),
    };
    let mut chosen = Vec::new();
    for &(first, last) in wanted {
        let number = |field: i32| if field > 0 { field } else { fields.len() as i32 + 1 + field };
        let (first, last) = (number(first), number(last));
        if first < 1 || first > last || last > fields.len() as i32 {
            return None;
        }
        chosen.extend_from_slice(&fields[first as usize - 1..last as usize]);
    }
    Some(chosen.join(&b' '))
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Splits a record by a state machine, byte by byte. Also returns whether a quote is never closed.
fn quoted_fields(record: &[u8]) -> (Vec<Vec<u8>>, bool) {
    enum Reading {
        Between,
        Plain,
        Quoted,
        Escaped,
    }
    let mut fields = Vec::new();
    let mut field = Vec::new();
    let mut state = Reading::Between;
    for &byte in record {
        match state {
            Reading::Between if is_blank(byte) => {}
            Reading::Between if byte == b'"' => state = Reading::Quoted,
            Reading::Between => {
                field.push(byte);
                state = Reading::Plain;
            }
            Reading::Plain if is_blank(byte) => {
                fields.push(std::mem::take(&mut field));
                state = Reading::Between;
            }
            Reading::Plain => field.push(byte),
            Reading::Quoted if byte == b'"' => {
                fields.push(std::mem::take(&mut field));
                state = Reading::Between;
            }
            Reading::Quoted | Reading::Escaped => {
                field.push(byte);
                let escapes = byte == b'\\' && matches!(state, Reading::Quoted);
                state = if escapes { Reading::Escaped } else { Reading::Quoted };
            }
        }
    }
    if matches!(state, Reading::Plain) {
        fields.push(field);
    }
    (fields, matches!(state, Reading::Quoted | Reading::Escaped))
}

fn edited(key: Vec<u8>, options: &QueryOptions) -> Vec<u8> {
    options
        .sed
        .iter()
        .fold(key, |key, (pattern, replacement)| Oracle::new(pattern).replace_all(&key, replacement))
}
