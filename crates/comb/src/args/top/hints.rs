//! Hints for the flags by which other programs set the field separator.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags of cut, awk and sort.
const SEPARATORS: [&str; 6] = ["-d", "--delimiter", "-F", "--field-separator", "-t", "--separator"];

/// Adds to the error of an unknown flag the one that may be meant.
pub(crate) fn explain(mut error: Error) -> Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let flag = flag.split('=').next().unwrap_or(flag);
    if error.kind() == ErrorKind::UnknownArgument && SEPARATORS.contains(&flag) {
        let hint = StyledStr::from("'-p REGEX' says what separates fields");
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
    error
}
