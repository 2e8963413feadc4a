//! The order of flags on the command line: flags that override earlier ones, and flags whose position matters.

use std::collections::HashMap;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

/// A flag that overrides others given before it, and is overridden by those given after it.
struct Negation {
    name: &'static str,
    aliases: &'static [&'static str],
    overridden: &'static [&'static str],
}

const fn no(name: &'static str, overridden: &'static [&'static str]) -> Negation {
    no_with_aliases(name, &[], overridden)
}

const fn no_with_aliases(
    name: &'static str,
    aliases: &'static [&'static str],
    overridden: &'static [&'static str],
) -> Negation {
    Negation { name, aliases, overridden }
}

/// Negations, hidden from the help. They override flags set in a configuration file or an alias.
const NEGATIONS: &[Negation] = &[
    no("no-fixed-strings", &["fixed_strings"]),
    no_with_aliases("no-multiline", &["nomultiline"], &["multiline"]),
    no("no-multiline-dotall", &["multiline_dotall"]),
    no_with_aliases("no-pcre2", &["no-auto-hybrid-regex"], &["pcre2", "engine", "auto_hybrid_regex"]),
    no_with_aliases("unicode", &["pcre2-unicode"], &["no_unicode"]),
    no("no-encoding", &["encoding"]),
    no("no-crlf", &["crlf"]),
    no_with_aliases("no-binary", &["no-text"], &["binary", "text"]),
    no("no-invert-match", &["invert_match"]),
    no("no-hidden", &["hidden"]),
    no_with_aliases("no-follow", &["nofollow"], &["follow"]),
    no("no-one-file-system", &["one_file_system"]),
    no("no-glob-case-insensitive", &["glob_case_insensitive"]),
    no("no-ignore-file-case-insensitive", &["ignore_file_case_insensitive"]),
    no("ignore-dot", &["no_ignore_dot"]),
    no("ignore-exclude", &["no_ignore_exclude"]),
    no("ignore-files", &["no_ignore_files"]),
    no("ignore-global", &["no_ignore_global"]),
    no("ignore-parent", &["no_ignore_parent"]),
    no("ignore-vcs", &["no_ignore_vcs"]),
    no("require-git", &["no_require_git"]),
    no("no-sort-files", &["sort", "sortr", "sort_files"]),
    no("no-json", &["json", "format"]),
    no("no-include-zero", &["include_zero"]),
    no("no-stats", &["stats", "stats_only"]),
    no("messages", &["no_messages"]),
    no("no-column", &["column"]),
    no("no-byte-offset", &["byte_offset"]),
    no_with_aliases("no-heading", &["noheading", "nogroup"], &["heading"]),
    no("no-context-separator", &["context_separator"]),
    no("print-long-lines", &["max_columns"]),
    no("no-max-columns-preview", &["max_columns_preview"]),
    no("no-trim", &["trim"]),
    no_with_aliases("no-enclosing", &["no-show-function"], &["enclosing"]),
    no("nocolor", &["color"]),
    no("nopager", &["pager"]),
];

/// Flags of ripgrep and ag that override nothing. Most are accepted without effect: comb decides when output is
/// written, and lacks the features that the others turn off.
const ACCEPTED: &[&str] = &[
    "mmap",
    "no-mmap",
    "line-buffered",
    "no-line-buffered",
    "block-buffered",
    "no-block-buffered",
    "no-search-zip",
    "no-pre",
    "no-ignore-messages",
    "ignore-messages",
    "break",
    "nobreak",
    "parallel",
    "affinity",
    "noaffinity",
];

/// Positions of the flags on the command line. Flattened into a command, it adds [`NEGATIONS`] and [`ACCEPTED`].
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
        // `ArgAction::SetTrue` would give each flag a default value, which takes time at every start.
        let hidden = |name: &'static str| {
            Arg::new(name)
                .long(name)
                .hide(true)
                .action(ArgAction::Append)
                .num_args(0)
                .default_missing_value("true")
        };
        let negations = NEGATIONS.iter().map(|negation| {
            hidden(negation.name).aliases(negation.aliases).overrides_with_all(negation.overridden)
        });
        command.args(negations).args(ACCEPTED.iter().copied().map(hidden))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
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
