//! The command line of this process.

use std::env;

use crate::program::Program;

/// The arguments of this process, quoted for a shell.
pub(crate) fn command_line() -> String {
    let arguments = env::args_os().enumerate().map(|(number, argument)| match number {
        0 => Program::current().name().to_owned(),
        _ => quoted(&argument.to_string_lossy()),
    });
    arguments.collect::<Vec<_>>().join(" ")
}

pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(char);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(quoted("access.log"), "access.log");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's $x"), "'it'\\''s $x'");
    }
}
