//! The configuration file: arguments that precede the command line.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::Error;
use finecomb_sys::display::excerpt;
use finecomb_sys::io_reason;

use crate::message;

/// Inserts the arguments of the configuration file, which an environment variable names, after the first `commands` words of
/// `given`, and parses the result. Returns `None` without such arguments.
pub(crate) fn parse_with_file<T>(
    variable: &str,
    given: Vec<OsString>,
    commands: usize,
    parse: impl Fn(&[OsString]) -> Result<T, Error>,
) -> Option<Result<T, Error>> {
    let configured = arguments(variable);
    if configured.is_empty() {
        return None;
    }
    let with = |count: usize| {
        let mut all = given.clone();
        all.splice(commands..commands, configured[..count].iter().map(|(_, argument)| argument.clone()));
        parse(&all)
    };
    // The first argument from which on nothing can be parsed: the value of a flag may be on the next line.
    let invalid = || (1..=configured.len()).rev().take_while(|&count| with(count).is_err()).last();
    Some(with(configured.len()).inspect_err(|_| {
        if let Some(count) = invalid() {
            note_line(variable, &configured[count - 1]);
        }
    }))
}

/// The arguments of the configuration file that an environment variable names, if it can be read; nothing is reported.
pub(crate) fn readable_arguments(variable: &str) -> Vec<OsString> {
    let content = env::var_os(variable).and_then(|file| fs::read(file).ok());
    let arguments = content.map_or(Vec::new(), |content| parse(&content));
    arguments.into_iter().map(|(_, argument)| argument).collect()
}

/// Reads the arguments of the configuration file that an environment variable names; each with its line. Empty without one. An unreadable file is reported and
/// ignored.
fn arguments(variable: &str) -> Vec<(usize, OsString)> {
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

/// Notes which line of the configuration file has an argument that is invalid.
fn note_line(variable: &str, (line, argument): &(usize, OsString)) {
    let file = env::var_os(variable).unwrap_or_default();
    let argument = excerpt(argument.as_bytes());
    message::note(format_args!("{variable}: {}:{line}: {argument}", Path::new(&file).display()));
}

/// Parses one argument per line, without surrounding white space, each with its line. Empty lines and comments (`#`) are ignored.
fn parse(content: &[u8]) -> Vec<(usize, OsString)> {
    let lines = (1..).zip(content.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|(number, line)| (number, OsStr::from_bytes(line).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;

    fn parse(content: &[u8]) -> Vec<OsString> {
        super::parse(content).into_iter().map(|(_, argument)| argument).collect()
    }

    #[test]
    fn each_line_is_one_argument() {
        let arguments =
            parse(b"# comment\n--smart-case\n\n  --colors=match:fg:blue \r\n\t# another\n-g\n!*.min.js");
        assert_eq!(arguments, ["--smart-case", "--colors=match:fg:blue", "-g", "!*.min.js"]);
    }

    #[test]
    fn arguments_have_their_lines() {
        let lines: Vec<usize> =
            super::parse(b"# comment\n--smart-case\n\n-g\n!*.js").iter().map(|found| found.0).collect();
        assert_eq!(lines, [2, 4, 5]);
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
