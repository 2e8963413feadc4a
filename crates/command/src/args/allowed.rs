//! Flags that callers in other languages may give: they decide what is found, not how it is printed.

use std::ffi::OsString;

use clap::{Arg, Args, Command};

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
        let mut flags = words.iter().filter_map(|word| find(&command, name_in(word)?));
        match flags.find_map(|flag| self.refused(flag)) {
            Some(flag) => Err(format!("--{flag}: only the command has this flag")),
            None => Ok(()),
        }
    }

    /// The name of a flag that programs may not give.
    fn refused<'c>(&self, flag: &'c Arg) -> Option<&'c str> {
        let long = flag.get_long()?;
        let is_in_group = flag.get_help_heading().is_some_and(|heading| self.groups.contains(&heading));
        let is_allowed = (is_in_group || self.others.contains(&long)) && !self.excluded.contains(&long);
        (!is_allowed).then_some(long)
    }
}

/// The first flag among words such as `--reverse` that is one of these, which are long names.
pub(crate) fn first_of<A: Args>(flags: &[&str], words: &[OsString]) -> Option<String> {
    let command = command::<A>();
    let mut longs = words.iter().filter_map(|word| find(&command, name_in(word)?)?.get_long());
    longs.find(|long| flags.contains(long)).map(str::to_owned)
}

/// The name in a word such as `--context=2`.
fn name_in(word: &OsString) -> Option<&str> {
    word.to_str()?.strip_prefix("--")?.split('=').next()
}

/// The flag with this long name or alias.
fn find<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let is_alias = |flag: &Arg| flag.get_all_aliases().is_some_and(|aliases| aliases.contains(&name));
    command.get_arguments().find(|flag| flag.get_long() == Some(name) || is_alias(flag))
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
        let has = |is: &dyn Fn(&Arg) -> bool| command.get_arguments().any(is);
        for group in self.groups {
            assert!(has(&|argument| argument.get_help_heading() == Some(group)), "{group}");
        }
        for flag in self.others.iter().chain(self.excluded) {
            assert!(has(&|argument| argument.get_long() == Some(flag)), "{flag}");
        }
    }
}
