//! Errors of the libraries with the flags and commands that help. The libraries know no command line.

use std::borrow::Cow;

use finecomb_grep::Error as PatternError;
use finecomb_scan::{Problem, ProblemKind};
use finecomb_text_index::{Damage, Error as TextIndexError};
use finecomb_top::{Field, FormatError, InputFormat, QueryError, StoredError};
use finecomb_tree_index::Error as TreeIndexError;

/// An error to which the command may have something to add.
pub trait Advised {
    /// The error in words, with what to type about it.
    fn advised(&self) -> String;
}

/// A text, followed by an advice if there is one.
fn with(text: String, advice: Option<&str>) -> String {
    match advice {
        Some(advice) => format!("{text}; {advice}"),
        None => text,
    }
}

impl Advised for Problem {
    fn advised(&self) -> String {
        let advice = match &self.kind {
            ProblemKind::LineTooLong { .. } => Some("use --max-line to raise the limit".into()),
            ProblemKind::Contradiction(_) => Some("omit --sorted or raise its slack".into()),
            ProblemKind::Unusable(reason) => reason.downcast_ref().and_then(on_format),
            _ => None,
        };
        with(self.to_string(), advice.as_deref())
    }
}

/// Advice on a file whose format cannot be used.
fn on_format(error: &FormatError) -> Option<Cow<'static, str>> {
    match error {
        FormatError::Unknown(_) => {
            Some(format!("--input names one of {}", InputFormat::NAMES.join(", ")).into())
        }
        FormatError::OwnRecords(_) => Some("omit --record, or choose another --input".into()),
        FormatError::NoTime => Some("--time names the field".into()),
        FormatError::NoNames(name) => Some(Field::input_meant(name).map_or_else(
            || {
                "write numbers, as in -f 7 and --where '$9 == 404', or --input auto for a format with names"
                    .into()
            },
            Cow::from,
        )),
        _ => None,
    }
}

impl Advised for QueryError {
    fn advised(&self) -> String {
        match self {
            Self::Pattern { option, error } => format!("{}: {error}", flag_of_pattern(option)),
            Self::Condition(error) => format!("--where: {error}"),
            Self::Input { format, error } => {
                with(format!("--input {format}: {error}"), on_format(error).as_deref())
            }
            Self::Fields { fields, reason } => format!("-f {fields}: {reason}"),
            Self::Compare(reason) => format!("--diff: {reason}"),
            Self::ComparedWithoutBeginning => {
                "--diff: a window of time needs a beginning; add --since TIME or --last DURATION".to_owned()
            }
            Self::Columns(reason) => format!("--columns: {reason}"),
            Self::NotInRecord { .. } => format!("--{self}"),
            Self::UnusedTime => "--time: needs --since, --until, --last or --every".to_owned(),
            Self::UnusedUnit(field) => format!("--unit {field}: the field is not measured"),
            Self::SortedWithoutWindow => "--sorted: needs --since or --until".to_owned(),
            Self::SortedByGroup => {
                "--sorted: with --each, the time must be in a field, not in a group of -e".to_owned()
            }
            _ => self.to_string(),
        }
    }
}

/// The flags that set an option with regular expressions.
fn flag_of_pattern(option: &'static str) -> &'static str {
    match option {
        "extract" => "-e/--extract",
        "grep" => "-g/--grep",
        "record" => "--record",
        "sed" => "-s/--sed",
        "separator" => "-p/--fieldseparator",
        "vgrep" => "-v/--vgrep",
        option => option,
    }
}

impl Advised for StoredError {
    fn advised(&self) -> String {
        let advice = matches!(self, Self::NotCounts).then_some("'comb top --save-counts FILE' writes one");
        with(self.to_string(), advice)
    }
}

impl Advised for PatternError {
    fn advised(&self) -> String {
        let text = self.to_string();
        match self {
            Self::Condition { option, error } => {
                format!("--{}: {}", option.replace('_', "-"), on_pattern(error))
            }
            Self::NoPcre2 => format!("{text}, or omit -P"),
            _ => on_pattern(&text),
        }
    }
}

/// The message of an engine, followed by a line with the flag that may help.
fn on_pattern(error: &str) -> String {
    let advice = if error.contains("look-around") || error.contains("backreferences") {
        "use -P (--pcre2) for look-around and back-references"
    } else if error.contains("the literal") && error.contains("not allowed") {
        "use -U (--multiline) to search across lines"
    } else if error.contains("\\0") {
        "use -a (--text) to treat binary files as text and to match NUL"
    } else if error.contains("size limit") || error.contains("too big") {
        "use --regex-size-limit to raise the limit"
    } else {
        return error.to_owned();
    };
    format!("{error}\n{advice}")
}

impl Advised for TextIndexError {
    fn advised(&self) -> String {
        let advice = match self {
            Self::InvalidText { .. } => Some("use --alphabet bytes for any text"),
            Self::Damaged { damage: Damage::NotAnIndex, .. } => Some("build one with 'comb index build'"),
            _ => None,
        };
        with(self.to_string(), advice)
    }
}

impl Advised for TreeIndexError {
    fn advised(&self) -> String {
        let advice = match self {
            Self::Missing(root) => Some(format!("build one with 'comb index build {}'", root.display())),
            Self::Values(_) | Self::Terms(_) => {
                Some("'comb symbols --index-update' writes it again".to_owned())
            }
            _ => None,
        };
        with(self.to_string(), advice.as_deref())
    }
}

/// The reason why a count in bounded memory failed, with the flags that help.
pub(crate) fn on_temporary_file(reason: &str) -> String {
    format!("{reason}; use --temporary-directory for another directory, or raise --memory")
}

/// A file that was not processed as a whole, and the reason, with the flag that may help.
pub fn on_failure((path, reason): &(String, String)) -> String {
    let text = format!("{path}: {reason}");
    #[cfg(feature = "symbols")]
    if reason == finecomb_symbols::UNKNOWN_LANGUAGE {
        return with(text, Some("use --lang to name it"));
    }
    text
}
