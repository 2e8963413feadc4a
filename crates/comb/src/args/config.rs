//! The configuration file: arguments that come before those of the command line.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use finecomb_sys::io_reason;

use crate::message;

/// The environment variable that names the file.
const VARIABLE: &str = "COMB_CONFIG";

/// The arguments in the configuration file; none if there is no such file. That it cannot be read is said, and the
/// command goes on without it.
pub(crate) fn arguments() -> Vec<OsString> {
    let Some(file) = env::var_os(VARIABLE).filter(|file| !file.is_empty()) else { return Vec::new() };
    match fs::read(&file) {
        Ok(content) => parse(&content),
        Err(error) => {
            let file = Path::new(&file).display();
            message::error(format_args!("{VARIABLE}: {file}: {}", io_reason(&error)));
            Vec::new()
        }
    }
}

/// Says that what is wrong may be in the configuration file.
pub(crate) fn explain() {
    let file = env::var_os(VARIABLE).unwrap_or_default();
    message::note(format_args!(
        "{VARIABLE} names {}, whose arguments come first",
        Path::new(&file).display()
    ));
}

/// One argument a line, without the blanks around it. Empty lines and those that begin with # are for readers.
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
    fn there_is_one_argument_a_line() {
        let arguments =
            parse(b"# comment\n--smart-case\n\n  --colors=match:fg:blue \r\n\t# another\n-g\n!*.min.js");
        assert_eq!(arguments, ["--smart-case", "--colors=match:fg:blue", "-g", "!*.min.js"]);
    }

    #[test]
    fn nothing_is_quoted_or_split() {
        assert_eq!(parse(b"-e 'a b'\n\"\n"), ["-e 'a b'", "\""]);
    }

    #[test]
    fn arguments_are_bytes() {
        assert_eq!(parse(b"--ignore-file=\xFF\n"), [OsStr::from_bytes(b"--ignore-file=\xFF")]);
    }

    #[test]
    fn an_empty_file_has_no_arguments() {
        assert!(parse(b"").is_empty());
        assert!(parse(b"\n \n# x").is_empty());
    }
}
