//! Hints for the field separator flags of other programs.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Field separator flags of cut, awk, sort and others.
const SEPARATORS: [&str; 6] = ["-d", "--delimiter", "-F", "--field-separator", "-t", "--separator"];

/// Adds a suggestion to the error of an unknown flag.
pub(crate) fn add_hint(mut error: Error) -> Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let flag = flag.split('=').next().unwrap_or(flag);
    if error.kind() == ErrorKind::UnknownArgument && SEPARATORS.contains(&flag) {
        let hint = StyledStr::from("'-p REGEX' sets the field separator");
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
    error
}
