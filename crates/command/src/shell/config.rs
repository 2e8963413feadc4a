//! The configuration file: arguments that precede the command line.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::Error;
use finecomb_sys::io_reason;

use crate::message;

/// Inserts the arguments of the configuration file, which an environment variable names, after the first `commands` words of
/// `given`, and parses the result. Returns `None` without such arguments.
pub(crate) fn parse_with_file<T>(
    variable: &str,
    mut given: Vec<OsString>,
    commands: usize,
    parse: impl Fn(&[OsString]) -> Result<T, Error>,
) -> Option<Result<T, Error>> {
    let configured = arguments(variable);
    if configured.is_empty() {
        return None;
    }
    given.splice(commands..commands, configured);
    Some(parse(&given).inspect_err(|_| note_file(variable)))
}

/// The arguments of the configuration file that an environment variable names, if it can be read; nothing is reported.
pub(crate) fn readable_arguments(variable: &str) -> Vec<OsString> {
    let content = env::var_os(variable).and_then(|file| fs::read(file).ok());
    content.map_or(Vec::new(), |content| parse(&content))
}

/// Reads the arguments of the configuration file that an environment variable names; empty without one. An unreadable file is reported and ignored.
fn arguments(variable: &str) -> Vec<OsString> {
    let Some(file) = env::var_os(variable).filter(|file| !file.is_empty()) else { return Vec::new() };
    match fs::read(&file) {
        Ok(content) => parse(&content),
        Err(error) => {
            let file = Path::new(&file).display();
            message::error(format_args!("{variable}: {file}: {}", io_reason(&error)));
            Vec::new()
        }
    }
}

/// Notes that invalid arguments may come from the configuration file.
fn note_file(variable: &str) {
    let file = env::var_os(variable).unwrap_or_default();
    message::note(format_args!("{variable}: arguments from {} come first", Path::new(&file).display()));
}

/// Parses one argument per line, without surrounding white space. Empty lines and comments (`#`) are ignored.
fn parse(content: &[u8]) -> Vec<OsString> {
    let lines = content.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|line| OsStr::from_bytes(line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::parse;

    #[test]
    fn each_line_is_one_argument() {
        let arguments =
            parse(b"# comment\n--smart-case\n\n  --colors=match:fg:blue \r\n\t# another\n-g\n!*.min.js");
        assert_eq!(arguments, ["--smart-case", "--colors=match:fg:blue", "-g", "!*.min.js"]);
    }

    #[test]
    fn quotes_and_spaces_are_literal() {
        assert_eq!(parse(b"-e 'a b'\n\"\n"), ["-e 'a b'", "\""]);
    }

    #[test]
    fn arguments_need_not_be_utf8() {
        assert_eq!(parse(b"--ignore-file=\xFF\n"), [OsStr::from_bytes(b"--ignore-file=\xFF")]);
    }

    #[test]
    fn an_empty_file_has_no_arguments() {
        assert!(parse(b"").is_empty());
        assert!(parse(b"\n \n# x").is_empty());
    }
}
