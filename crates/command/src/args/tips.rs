//! Tips in messages about arguments that a command does not know.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Beginning of the tip that a flag is a value, which it never is: flags with values that begin with hyphens allow them.
const AS_VALUE: &str = "to pass '";

/// Commands by other names.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("top", &["count", "topfew", "uniq", "histogram", "stats"]),
    ("grep", &["search", "rg", "ag", "egrep", "fgrep"]),
    ("symbols", &["ctags", "etags", "tags", "outline", "definitions"]),
    ("find", &["lookup", "locate"]),
    ("serve", &["server", "http", "web"]),
    ("completions", &["complete", "completion"]),
    ("man", &["manual"]),
];

/// The error with a tip in place of those that clap has. Without one, the tip that a flag is a value is dropped.
pub(crate) fn with_tip(mut error: Error, tip: Option<String>) -> Error {
    match tip {
        Some(tip) => {
            if error.remove(ContextKind::SuggestedArg).is_some() {
                // It has the similar flag.
                error.remove(ContextKind::Usage);
            }
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
        }
        None if is_as_value(&error) => _ = error.remove(ContextKind::Suggested),
        None => {}
    }
    error
}

fn is_as_value(error: &Error) -> bool {
    let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested) else { return false };
    tips.iter().all(|tip| tip.to_string().starts_with(AS_VALUE))
}

/// The flag that a command does not know, without its value.
pub(crate) fn unknown_flag(error: &Error) -> Option<&str> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = flag.split('=').next().unwrap_or(flag);
    (error.kind() == ErrorKind::UnknownArgument).then_some(flag)
}

/// Adds the command that may be meant to the error of an unknown one.
pub(crate) fn with_command(mut error: Error, names: &[&str]) -> Error {
    let Some(ContextValue::String(wanted)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let other = COMMANDS.iter().find(|(_, others)| others.contains(&wanted.as_str())).map(|(name, _)| *name);
    if let Some(name) = other.or_else(|| nearest(wanted, names.iter().copied())) {
        error.remove(ContextKind::SuggestedSubcommand);
        let tip = StyledStr::from(format!("did you mean 'comb {name}'?"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// The name that is most like the wanted one, if it is like it: at most a third of its letters differ.
pub fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let distance = |name: &str| strsim::damerau_levenshtein(wanted, name);
    let is_near = |name: &&str| 3 * distance(name) <= wanted.chars().count().max(name.chars().count());
    names.min_by_key(|name| distance(name)).filter(is_near)
}
