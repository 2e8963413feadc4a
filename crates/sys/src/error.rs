//! Text of system errors.

use std::io;

/// Returns the system's description of an error without its number: `No such file or directory`.
pub fn io_reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_no_error_number() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(io_reason(&error), "No such file or directory");
        assert_eq!(io_reason(&io::Error::other("odd")), "odd");
    }
}
