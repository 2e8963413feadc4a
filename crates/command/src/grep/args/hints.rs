//! Hints for flags of ripgrep and ag that comb does not have.

use clap::Error;
use clap::error::ErrorKind;

use crate::args::tips::{unknown_flag, with_tip};
use crate::grep::args::files;

const HINTS: &[(&[&str], &str)] = &[
    (&["-D"], "--debug reports how indexes were used, --profile where the time goes"),
    (&["--print-all-files"], "--files prints the files to be searched"),
    (&["--color-line-number"], "use --colors line:fg:yellow"),
    (&["--color-match"], "use --colors match:fg:red"),
    (&["--color-path"], "use --colors path:fg:green"),
    (&["--filename-pattern"], "use --files -g GLOB to search for file names"),
    (&["--generate"], "use 'comb man grep' or 'comb completions SHELL'"),
    (&["--pcre2-version"], "use 'comb --version'"),
    (&["-R", "--recurse", "--recursive"], "directories are always searched recursively"),
    (&["--norecurse"], "use -d 1 to search only the files directly in a directory"),
    (&["-W"], "use -M BYTES --max-columns-preview to truncate long lines"),
];

/// Adds a suggestion to the error of an unknown flag.
pub(crate) fn add_hint(error: Error) -> Error {
    let hint = match error.kind() {
        ErrorKind::UnknownArgument => unknown_flag(&error).and_then(hint),
        ErrorKind::InvalidUtf8 => {
            Some("in a pattern, use escapes such as \\xFF for bytes that are not UTF-8".to_owned())
        }
        _ => None,
    };
    with_tip(error, hint)
}

fn hint(flag: &str) -> Option<String> {
    if let Some((_, hint)) = HINTS.iter().find(|(flags, _)| flags.contains(&flag)) {
        return Some((*hint).to_owned());
    }
    let name = flag.strip_prefix("--").map(type_alias)?;
    files::is_type(name).then(|| format!("use '-t {name}' to search files of a type"))
}

/// Name of a file type of ag in comb.
fn type_alias(name: &str) -> &str {
    match name {
        "cc" => "c",
        "javascript" => "js",
        "actionscript" | "as" => "as3",
        "shell" => "sh",
        "golang" => "go",
        "tt" => "tt2",
        name => name,
    }
}
