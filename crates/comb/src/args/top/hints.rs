//! What to say of flags that other programs have for what separates fields.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Those of cut, awk and sort.
const SEPARATORS: [&str; 6] = ["-d", "--delimiter", "-F", "--field-separator", "-t", "--separator"];

/// Adds to an error what could have been meant by a flag that there is not.
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
