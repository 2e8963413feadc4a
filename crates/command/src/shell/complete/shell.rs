//! Shells: the scripts that ask for candidates, and how they read them.

use clap_complete::engine::CompletionCandidate;

/// A shell with a script that asks this program for candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Fish,
    Zsh,
}

/// Stands for the name of the program in the scripts.
const NAME: &str = "NAME";

impl Shell {
    /// The shell with this name, or with this path.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.rsplit('/').next()? {
            "bash" => Some(Self::Bash),
            "fish" => Some(Self::Fish),
            "zsh" => Some(Self::Zsh),
            _ => None,
        }
    }

    /// The script for a program.
    pub(crate) fn script(self, program: &str) -> String {
        let script = match self {
            Self::Bash => include_str!("comb.bash"),
            Self::Fish => include_str!("comb.fish"),
            Self::Zsh => include_str!("comb.zsh"),
        };
        script.replace(NAME, program)
    }

    /// Whether the script passes the words before the cursor without their quotes.
    pub(crate) fn unquotes_words(self) -> bool {
        self == Self::Fish
    }

    /// Appends a line for a candidate, which the script of the shell reads.
    pub(crate) fn write(self, candidate: &CompletionCandidate, out: &mut Vec<u8>) {
        let value = candidate.get_value().as_encoded_bytes();
        if value.iter().any(u8::is_ascii_control) {
            // It would be several candidates, or a control sequence for the terminal.
            return;
        }
        out.extend_from_slice(value);
        let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        let help: String = help.lines().next().unwrap_or_default().replace('\t', " ");
        if self != Self::Bash && !help.is_empty() {
            out.push(b'\t');
            out.extend_from_slice(help.as_bytes());
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::Shell;

    #[test]
    fn shells_have_names_and_paths() {
        assert_eq!(Shell::named("bash"), Some(Shell::Bash));
        assert_eq!(Shell::named("/usr/bin/fish"), Some(Shell::Fish));
        for other in ["", "1", "elvish", "bash/x"] {
            assert_eq!(Shell::named(other), None, "{other}");
        }
    }
}
