//! Output formats of answers.
//!
//! # Adding a format
//!
//! A type that implements [`Format`], mostly from `columns`, and a variant of the `Format` of `comb top` in `finecomb-command`, where the
//! compiler asks for the type. docs/formats.md and docs/commands/top.md describe the formats.

mod columns;
mod csv;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod text;
mod tsv;

pub use self::csv::Csv;
pub use crate::overview::print::OverviewFormat;
pub use columns::{Format, Layout};
pub use json::Json;
pub use markdown::Markdown;
pub use text::{Text, fitted, level};
pub use tsv::Tsv;

#[cfg(test)]
pub(crate) mod tests {
    use super::Format;
    use crate::count::answer::{Answer, KeyCount};

    /// Formats keys with their counts.
    pub(crate) fn written(format: &dyn Format, keys: &[(&[u8], u64)], partial: bool) -> String {
        let top: Vec<_> = keys.iter().map(|&(key, count)| KeyCount::new(key.to_vec(), count)).collect();
        let records = top.iter().map(|key| key.count).sum();
        let key_names = vec!["key".to_owned()];
        let distinct = top.len() as u64;
        let answer = Answer { distinct, records, top, partial, key_names, ..Answer::default() };
        shown(format, &answer)
    }

    /// Formats keys of two named fields.
    pub(crate) fn several(format: &dyn Format) -> String {
        let key = |count, fields: [&str; 2]| KeyCount {
            fields: fields.map(|field| field.as_bytes().to_vec()).to_vec(),
            ..KeyCount::new(fields.join(" ").into_bytes(), count)
        };
        let answer = Answer {
            top: vec![key(3, ["/a b", "x,|y"]), key(1, ["", "line\nfeed"])],
            distinct: 2,
            records: 4,
            key_names: vec!["path".to_owned(), "user agent".to_owned()],
            ..Answer::default()
        };
        shown(format, &answer)
    }

    /// Formats an answer.
    pub(crate) fn shown(format: &dyn Format, answer: &Answer) -> String {
        let mut out = Vec::new();
        format.write(answer, &mut out).expect("writing to memory");
        out.iter().map(|&byte| if byte.is_ascii() { byte as char } else { '?' }).collect()
    }
}
