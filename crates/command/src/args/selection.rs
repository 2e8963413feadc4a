//! File selection and encoding: values of flags common to all scanning commands.

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use finecomb_scan::Encoding;
use finecomb_sys::io_reason;
use finecomb_sys::units::ByteLimit;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use regex_automata::meta::Regex;

/// An error in a combination or value of arguments that clap cannot detect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError(pub(crate) String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<UsageError> for String {
    fn from(UsageError(text): UsageError) -> Self {
        text
    }
}

/// The time, in nanoseconds since 1970.
pub(crate) fn nanoseconds_now() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX)
}

/// Parses an encoding.
pub(crate) fn encoding(text: &str) -> Result<Encoding, String> {
    Encoding::parse(text).ok_or_else(|| {
        "expected auto, none, or a label of the Encoding Standard, such as utf-16le or latin1".to_owned()
    })
}

/// Globs given by one flag.
pub struct Globs<'a> {
    /// The flag, as typed.
    pub flag: &'static str,
    pub globs: &'a [String],
    pub ignore_case: bool,
}

/// Builds the globs of several flags. Later ones take precedence.
pub fn globs(flags: &[Globs<'_>]) -> Result<Override, UsageError> {
    if flags.iter().all(|flag| flag.globs.is_empty()) {
        return Ok(Override::empty());
    }
    let directory = env::current_dir()
        .map_err(|error| UsageError(format!("globs need a current directory: {}", io_reason(&error))))?;
    let mut builder = OverrideBuilder::new(directory);
    for flag in flags {
        add(&mut builder, flag)?;
    }
    builder.build().map_err(|error| UsageError(format!("cannot compile the globs: {error}")))
}

fn add(
    builder: &mut OverrideBuilder,
    Globs { flag, globs, ignore_case }: &Globs<'_>,
) -> Result<(), UsageError> {
    let invalid = |glob: &str, error| {
        let reason = match error {
            ignore::Error::Glob { err, .. } => err,
            error => error.to_string(),
        };
        UsageError(format!("{flag} '{glob}': {reason}"))
    };
    builder.case_insensitive(*ignore_case).map_err(|error| invalid("", error))?;
    for glob in *globs {
        builder.add(glob).map_err(|error| invalid(glob, error))?;
    }
    Ok(())
}

/// Compiles a regular expression for paths.
pub fn path_regex(text: &str) -> Result<Regex, String> {
    let config = Regex::config().utf8_empty(false);
    let syntax = regex_automata::util::syntax::Config::new().utf8(false);
    let built = Regex::builder().configure(config).syntax(syntax).build(text);
    built.map_err(|error| match (error.size_limit(), error.syntax_error()) {
        (Some(limit), _) => format!("compiled regex exceeds the size limit of {}", ByteLimit(limit as u64)),
        (None, Some(error)) => error.to_string(),
        (None, None) => error.to_string(),
    })
}

/// Selects file types by name; without names, all files.
pub fn named_types(names: &[String]) -> Result<Types, UsageError> {
    let mut builder = TypesBuilder::new();
    if !names.is_empty() {
        builder.add_defaults();
    }
    for name in names {
        builder.select(name);
    }
    types(&builder)
}

/// Builds the selected file types.
pub(crate) fn types(builder: &TypesBuilder) -> Result<Types, UsageError> {
    builder.build().map_err(|error| match error {
        ignore::Error::UnrecognizedFileType(name) => {
            UsageError(format!("unknown file type '{name}'; 'comb grep --type-list' lists all types"))
        }
        error => UsageError(format!("invalid glob of a file type: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_have_the_labels_of_the_standard() {
        assert_eq!(encoding("auto"), Ok(Encoding::Auto));
        assert_eq!(encoding("none"), Ok(Encoding::None));
        assert_eq!(encoding("latin1"), Ok(Encoding::Label(encoding_rs::WINDOWS_1252)));
        assert_eq!(encoding("UTF-16"), Ok(Encoding::Label(encoding_rs::UTF_16LE)));
        assert!(encoding("utf-9").is_err_and(|reason| reason.contains("latin1")));
    }

    #[test]
    fn errors_of_a_regex_for_paths_name_the_reason() {
        assert!(path_regex("(").is_err_and(|reason| reason.contains("unclosed group")));
    }
}
