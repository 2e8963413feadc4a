//! The name by which this program was started. A link or copy named after another program makes it that program.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

/// A program that comb can act as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// `comb`, with its commands.
    Comb,
    /// ripgrep: `comb grep` with its own flags and messages.
    Rg,
    /// The Silver Searcher: its flags, translated to flags of `comb grep`.
    Ag,
    /// Topfew, under its short name: `comb top`.
    Tf,
    /// Topfew, under its long name.
    Topfew,
}

impl Program {
    /// All programs but `comb` itself.
    pub(crate) const OTHERS: [Self; 4] = [Self::Rg, Self::Ag, Self::Tf, Self::Topfew];

    /// The program of this process.
    pub(crate) fn current() -> Self {
        static CURRENT: OnceLock<Program> = OnceLock::new();
        *CURRENT.get_or_init(|| {
            let started = env::args_os().next().unwrap_or_default();
            Path::new(&started).file_name().map_or(Self::Comb, Self::named)
        })
    }

    fn named(name: &OsStr) -> Self {
        Self::OTHERS.into_iter().find(|program| name == program.name()).unwrap_or(Self::Comb)
    }

    /// A message of `comb grep` with the name of this program.
    pub(crate) fn renamed(self, message: String) -> String {
        match self {
            Self::Rg => message.replace("comb grep", self.name()),
            _ => message,
        }
    }

    /// The name of the command.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Comb => "comb",
            Self::Rg => "rg",
            Self::Ag => "ag",
            Self::Tf => "tf",
            Self::Topfew => "topfew",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::Program;

    #[test]
    fn an_unknown_name_is_comb() {
        let named = |name: &str| Program::named(OsStr::new(name));
        assert_eq!(named("rg"), Program::Rg);
        assert_eq!(named("topfew"), Program::Topfew);
        for name in ["comb", "comb-0.1", "rg.old", ""] {
            assert_eq!(named(name), Program::Comb, "{name}");
        }
    }
}
