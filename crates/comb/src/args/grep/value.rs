//! The values of flags.

use bstr::ByteVec;
use finecomb_sys::units::ByteLimit;
use grep_printer::{ColorError, HyperlinkFormat, UserColorSpec};
use regex_automata::meta::{BuildError, Regex};

use crate::args::size;

/// A string of bytes to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separator(pub(crate) Vec<u8>);

/// Parses what to print: `\t`, `\n`, `\r`, `\0`, `\\` and `\xFF` stand for bytes.
pub(crate) fn separator(text: &str) -> Result<Separator, String> {
    Ok(Separator(Vec::unescape_bytes(text)))
}

/// Parses a separator of one byte, or of none for that of the system.
pub(crate) fn path_separator(text: &str) -> Result<Separator, String> {
    let separator = Vec::unescape_bytes(text);
    match separator.len() {
        0 | 1 => Ok(Separator(separator)),
        bytes => Err(format!("it must be one byte, and is {bytes}")),
    }
}

/// Parses a number.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it must be a number of at least 0".to_owned())
}

/// Parses a number of lines or levels.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "it must be a number of at least 0".to_owned())
}

/// How many levels to go down, if there is a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depth(pub(crate) Option<usize>);

/// Parses a number of levels as ag counts them; there is no limit if it is below 0.
pub(crate) fn depth(text: &str) -> Result<Depth, String> {
    match text.parse::<i64>() {
        Ok(levels) => Ok(Depth(usize::try_from(levels).ok().map(|levels| levels.saturating_add(1)))),
        Err(_) => Err("it must be a number, or -1 for no limit".to_owned()),
    }
}

/// Parses a number of bytes.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    size::parse(text, 0, usize::MAX)
}

/// Parses what to print in which colour.
pub(crate) fn color(text: &str) -> Result<UserColorSpec, String> {
    text.parse().map_err(|error| match error {
        ColorError::InvalidFormat(_) => "write TYPE:fg:COLOR, TYPE:bg:COLOR, TYPE:style:STYLE or TYPE:none, \
                                         where TYPE is path, line, column, match or highlight"
            .to_owned(),
        error => error.to_string(),
    })
}

/// Parses how to link to a place in a file.
pub(crate) fn hyperlink(text: &str) -> Result<HyperlinkFormat, String> {
    text.parse().map_err(|error: grep_printer::HyperlinkFormatError| error.to_string())
}

/// Compiles a regular expression for paths.
pub(crate) fn path_regex(text: &str) -> Result<Regex, String> {
    let config = Regex::config().utf8_empty(false);
    let syntax = regex_automata::util::syntax::Config::new().utf8(false);
    let built = Regex::builder().configure(config).syntax(syntax).build(text);
    built.map_err(|error| regex_reason(&error))
}

fn regex_reason(error: &BuildError) -> String {
    match (error.size_limit(), error.syntax_error()) {
        (Some(limit), _) => format!("compiled, it takes more than {}", ByteLimit(limit as u64)),
        (None, Some(error)) => error.to_string(),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Separator, color, number, path_regex, path_separator, separator};

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
        assert_eq!(path_separator("//"), Err("it must be one byte, and is 2".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(color("match:fg:redd").is_err_and(|reason| reason.contains("redd")));
        assert!(color("match").is_err_and(|reason| reason.contains("TYPE:fg:COLOR")));
        assert!(path_regex("(").is_err_and(|reason| reason.contains("unclosed group")));
        assert_eq!(number("-1"), Err("it must be a number of at least 0".to_owned()));
    }
}
