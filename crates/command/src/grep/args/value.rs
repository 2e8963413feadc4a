//! Values of flags.

use bstr::ByteVec;
use grep_printer::{ColorError, HyperlinkFormat, UserColorSpec};

use crate::args::size;

/// A byte string to print as a separator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separator(pub(crate) Vec<u8>);

/// Parses a separator with the escapes `\t`, `\n`, `\r`, `\0`, `\\` and `\xFF`.
pub(crate) fn separator(text: &str) -> Result<Separator, String> {
    Ok(Separator(Vec::unescape_bytes(text)))
}

/// Parses a path separator: one byte, or none for the separator of the system.
pub(crate) fn path_separator(text: &str) -> Result<Separator, String> {
    let separator = Vec::unescape_bytes(text);
    match separator.len() {
        0 | 1 => Ok(Separator(separator)),
        bytes => Err(format!("expected one byte, found {bytes}")),
    }
}

/// Parses a 64-bit number.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a number of at least 0".to_owned())
}

/// Parses a number of lines or levels.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a number of at least 0".to_owned())
}

/// Maximum depth; `None` for no limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth(pub(crate) Option<usize>);

/// Parses a maximum depth as counted by ag; negative numbers mean no limit.
pub(crate) fn depth(text: &str) -> Result<Depth, String> {
    match text.parse::<i64>() {
        Ok(levels) => Ok(Depth(usize::try_from(levels).ok().map(|levels| levels.saturating_add(1)))),
        Err(_) => Err("expected a number, or -1 for no limit".to_owned()),
    }
}

/// Parses a size in bytes.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    size::parse(text, 0, usize::MAX)
}

/// Parses the colour or style of a part of the output.
pub(crate) fn color(text: &str) -> Result<UserColorSpec, String> {
    text.parse().map_err(|error| match error {
        ColorError::InvalidFormat(_) => {
            "expected TYPE:fg:COLOR, TYPE:bg:COLOR, TYPE:style:STYLE or TYPE:none, \
                                         where TYPE is path, line, column, match or highlight"
                .to_owned()
        }
        error => error.to_string(),
    })
}

/// Parses the format of hyperlinks.
pub(crate) fn hyperlink(text: &str) -> Result<HyperlinkFormat, String> {
    text.parse().map_err(|error: grep_printer::HyperlinkFormatError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Separator, color, number, path_separator, separator};

    #[test]
    fn separators_have_escapes() {
        assert_eq!(separator(r"a\tb\x00\xFF\\"), Ok(Separator(b"a\tb\0\xFF\\".to_vec())));
        assert_eq!(separator(r"\q"), Ok(Separator(br"\q".to_vec())));
        assert_eq!(separator(""), Ok(Separator(Vec::new())));
    }

    #[test]
    fn a_path_separator_is_one_byte() {
        assert_eq!(path_separator(r"\x5C"), Ok(Separator(b"\\".to_vec())));
        assert_eq!(path_separator(""), Ok(Separator(Vec::new())));
        assert_eq!(path_separator("//"), Err("expected one byte, found 2".to_owned()));
    }

    #[test]
    fn errors_name_the_invalid_part() {
        assert!(color("match:fg:redd").is_err_and(|reason| reason.contains("redd")));
        assert!(color("match").is_err_and(|reason| reason.contains("TYPE:fg:COLOR")));
        assert_eq!(number("-1"), Err("expected a number of at least 0".to_owned()));
    }
}
