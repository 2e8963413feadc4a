//! The order of flags on the command line: flags that override earlier ones, and flags whose position matters.

use std::collections::{BTreeMap, HashMap};

use clap::builder::ArgExt;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

/// Names of the flag that turns off the flag with this mark, which may be set in a configuration file or an alias: the name, and its aliases. It is
/// hidden from the help.
#[derive(Clone, Copy, Debug)]
pub(super) struct Off(pub(super) &'static [&'static str]);

impl ArgExt for Off {}

/// Flags of ripgrep and ag that override nothing. Most are accepted without effect: comb decides when output is
/// written, and lacks the features that the others turn off.
const ACCEPTED: &str = "mmap no-mmap line-buffered no-line-buffered block-buffered no-block-buffered no-search-zip no-pre \
    no-ignore-messages ignore-messages break nobreak parallel affinity noaffinity";

/// Positions of the flags on the command line. Flattened into a command, it adds those that turn off [`others`](Off) and those [`ACCEPTED`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Order(HashMap<String, Vec<usize>>);

impl Order {
    /// The positions of a flag; empty if the flag was not given, or overridden.
    fn positions(&self, flag: &str) -> &[usize] {
        self.0.get(flag).map_or(&[], Vec::as_slice)
    }

    /// The position of the `n`th occurrence of a flag, counted from 0.
    pub(crate) fn nth(&self, flag: &str, n: usize) -> Option<usize> {
        self.positions(flag).get(n).copied()
    }

    /// The last position of a flag.
    pub(crate) fn last(&self, flag: &str) -> Option<usize> {
        self.positions(flag).last().copied()
    }

    /// Whether a flag was given and not overridden.
    pub(crate) fn has(&self, flag: &str) -> bool {
        !self.positions(flag).is_empty()
    }

    /// The values of several flags with the flag of each, in the order of the command line.
    pub(crate) fn merge<'a, T>(&self, flags: &[(&'static str, &'a [T])]) -> Vec<(&'static str, &'a T)> {
        let mut found: Vec<_> = flags
            .iter()
            .flat_map(|&(flag, values)| {
                self.positions(flag).iter().zip(values).map(move |(&at, value)| (at, flag, value))
            })
            .collect();
        found.sort_by_key(|&(at, ..)| at);
        found.into_iter().map(|(_, flag, value)| (flag, value)).collect()
    }
}

impl Args for Order {
    fn augment_args(command: Command) -> Command {
        // The marks of the other flags are known only then.
        command.defer(with_hidden)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Adds the flags that turn off others, and those that are accepted.
fn with_hidden(command: Command) -> Command {
    // `ArgAction::SetTrue` would give each flag a default value, which takes time at every start.
    let new = |name: &'static str| {
        Arg::new(name)
            .long(name)
            .hide(true)
            .action(ArgAction::Append)
            .num_args(0)
            .default_missing_value("true")
    };
    let mut hidden: BTreeMap<&str, Arg> = ACCEPTED.split(' ').map(|name| (name, new(name))).collect();
    for flag in command.get_arguments() {
        let Some(Off([name, aliases @ ..])) = flag.get() else { continue };
        let off = hidden.remove(name).unwrap_or_else(|| new(name).aliases(aliases.iter().copied()));
        hidden.insert(name, off.overrides_with(flag.get_id()));
    }
    command.args(hidden.into_values())
}

impl FromArgMatches for Order {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = matches.ids().map(clap::Id::as_str);
        let given = given.filter(|flag| matches.value_source(flag) == Some(ValueSource::CommandLine));
        let positions = given.map(|flag| (flag.to_owned(), matches.indices_of(flag)));
        let positions = positions.map(|(flag, indices)| (flag, indices.into_iter().flatten().collect()));
        Ok(Self(positions.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
