//! Text of system errors.

use std::io;

/// Returns the description of an error for a message, in lower case and without its number: `no such file or directory`.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let reason = text.split_once(" (os error ").map_or(&*text, |(reason, _)| reason);
    let mut rest = reason.chars();
    match (rest.next(), rest.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(rest).collect(),
        // An abbreviation, such as `RPC struct is bad`, stays in upper case.
        _ => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_in_lower_case_without_error_numbers() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(io_reason(&error), "no such file or directory");
        for reason in ["odd", "RPC struct is bad", "", "x"] {
            assert_eq!(io_reason(&io::Error::other(reason)), reason);
        }
    }
}
