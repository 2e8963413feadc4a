//! Flags that callers in other languages may give: those that decide what is found, and not how it is printed.

use std::ffi::OsString;

use clap::{Args, Command};

/// Flags of a command that programs may give, by their long names.
pub(crate) struct Allowed {
    /// Groups of flags, by their headings.
    pub(crate) groups: &'static [&'static str],
    /// Other flags.
    pub(crate) others: &'static [&'static str],
    /// Flags of the groups that only a command line has.
    pub(crate) excluded: &'static [&'static str],
}

impl Allowed {
    /// Checks words such as `--ignore-case`. Flags that the command does not know are left to it.
    ///
    /// # Errors
    /// If only the command has one of the flags.
    pub(crate) fn check<A: Args>(&self, words: &[OsString]) -> Result<(), String> {
        let command = command::<A>();
        match words.iter().find_map(|word| self.refused(&command, word)) {
            Some(flag) => Err(format!("--{flag}: only the command has this flag")),
            None => Ok(()),
        }
    }

    /// The name of a flag of the command that programs may not give.
    fn refused<'c>(&self, command: &'c Command, word: &OsString) -> Option<&'c str> {
        let word = word.to_str()?.strip_prefix("--")?;
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        let is = |argument: &&clap::Arg| {
            argument.get_long() == Some(name)
                || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        };
        let argument = command.get_arguments().find(is)?;
        let long = argument.get_long()?;
        let is_in_group = argument.get_help_heading().is_some_and(|heading| self.groups.contains(&heading));
        let is_allowed = (is_in_group || self.others.contains(&long)) && !self.excluded.contains(&long);
        (!is_allowed).then_some(long)
    }
}

/// The command with its flags, and `--help`.
fn command<A: Args>() -> Command {
    let mut command = A::augment_args(Command::new("comb"));
    command.build();
    command
}

#[cfg(test)]
impl Allowed {
    /// Checks that the command has these groups and flags.
    pub(crate) fn check_names<A: Args>(&self) {
        let command = command::<A>();
        let has = |is: &dyn Fn(&clap::Arg) -> bool| command.get_arguments().any(is);
        for group in self.groups {
            assert!(has(&|argument| argument.get_help_heading() == Some(group)), "{group}");
        }
        for flag in self.others.iter().chain(self.excluded) {
            assert!(has(&|argument| argument.get_long() == Some(flag)), "{flag}");
        }
    }
}
