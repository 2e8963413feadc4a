//! What to say of flags that ripgrep or ag has and comb does not.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::files;

const HINTS: &[(&[&str], &str)] = &[
    (
        &["--pre", "--pre-glob"],
        "no program is run on files; -z reads compressed ones, and a pipe does the rest",
    ),
    (&["--debug", "--trace", "-D"], "--profile says where the time goes, --files which files are searched"),
    (&["--pager"], "write 'comb grep --pretty … | less -R'"),
    (&["--ackmate"], "--vimgrep and --json are for programs to read"),
    (&["--print-all-files"], "--files prints which files are searched"),
    (&["--color-line-number"], "write --colors line:fg:yellow"),
    (&["--color-match"], "write --colors match:fg:red"),
    (&["--color-path"], "write --colors path:fg:green"),
    (&["--filename-pattern"], "--files -g GLOB prints the names of files that match"),
    (&["--generate"], "'comb man grep' and 'comb completions SHELL' print these"),
    (&["--version", "--pcre2-version", "-V"], "'comb --version' prints the version"),
    (&["-R", "--recurse", "--recursive"], "directories are searched with all that is below them"),
    (&["--norecurse"], "-d 1 goes no deeper than the files in a directory"),
    (&["-W"], "-M BYTES --max-columns-preview shortens long lines"),
];

/// Adds to an error what could have been meant by a flag that there is not.
pub(crate) fn explain(mut error: Error) -> Error {
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => flag.as_str(),
        _ => "",
    };
    let hint = match error.kind() {
        ErrorKind::UnknownArgument => hint(flag),
        ErrorKind::InvalidUtf8 => Some("in a pattern, write such bytes as \\xFF".to_owned()),
        _ => None,
    };
    let Some(hint) = hint else { return error };
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(hint)]));
    error
}

fn hint(flag: &str) -> Option<String> {
    let flag = flag.split('=').next().unwrap_or(flag);
    if let Some((_, hint)) = HINTS.iter().find(|(flags, _)| flags.contains(&flag)) {
        return Some((*hint).to_owned());
    }
    let name = flag.strip_prefix("--").map(same_type)?;
    files::is_type(name).then(|| format!("for files of a type, write '-t {name}'"))
}

/// The name that a file type of ag has here.
fn same_type(name: &str) -> &str {
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
