//! Options by name, such as the keyword arguments of another language.
//!
//! The structs of options have the flags and serde. Flags fill them by clap, and names by serde; names, aliases and conflicts are those of
//! the flags.

use clap::{Arg, Args, Command};
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::{Error, Value};

use crate::args::value;

/// Options by name, in the order given. A name may have underscores for hyphens, and be an alias.
pub type Named = Vec<(String, Value)>;

/// Reads options `O` of a command with the arguments `C`. A value that is null or `false` counts as not given.
///
/// # Errors
/// If a name or a value is invalid, options conflict, or the name is a flag that only the command has. The message is that of the command.
pub(crate) fn options<C: Args, O: Args + DeserializeOwned>(named: Named) -> Result<O, String> {
    let (command, known) = (definition::<C>(), O::augment_args(Command::new("comb")));
    let mut values = Named::new();
    for (name, value) in named {
        let flag = option(&command, &name, |_| find(&known, &name).is_some())?;
        if !matches!(value, Value::Null | Value::Bool(false)) {
            check(&command, flag, &values)?;
            values.retain(|(id, _)| flag.get_id() != id.as_str());
            values.push((flag.get_id().to_string(), value));
        }
    }
    // Measures keep the order in which the caller gives them.
    let read =
        |values: &[(String, Value)]| O::deserialize(MapDeserializer::<_, Error>::new(values.iter().cloned()));
    read(&values).map_err(|error| {
        let invalid = values.iter().find(|value| read(std::slice::from_ref(value)).is_err());
        let reason = invalid.and_then(|(id, value)| {
            let flag = command.get_arguments().find(|flag| flag.get_id() == id.as_str())?;
            refused::<C>(flag, value).or_else(|| Some(format!("--{}: {error}", flag.get_long()?)))
        });
        reason.unwrap_or_else(|| error.to_string())
    })
}

/// Parses options as flags of a command, where the last of conflicting ones takes precedence, after other `words`.
///
/// The flags of `grep` are not read by serde as those of other commands: clap does not report which flags override each other, and many depend
/// on their positions. Serde would need an attribute at each value and a second table of overrides, which is several times this function.
///
/// # Errors
/// If a name or a value is invalid, or `is_option` is false for the flag. The message is that of the command.
pub(crate) fn parse<C: Args>(
    mut words: Vec<String>,
    named: &Named,
    is_option: impl Fn(&Arg) -> bool,
) -> Result<C, String> {
    let command = definition::<C>().no_binary_name(true);
    for (name, value) in named {
        option(&command, name, &is_option)?;
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => words.push(flag),
            value => {
                let texts = value::texts(value).map_err(|reason| format!("{flag}: {reason}"))?;
                words.extend(texts.iter().map(|text| format!("{flag}={text}")));
            }
        }
    }
    let parsed = command.try_get_matches_from(words).and_then(|matches| C::from_arg_matches(&matches));
    parsed.map_err(|error| reason(&error))
}

/// The flag of an option. Other flags are only for the command line.
fn option<'c>(command: &'c Command, name: &str, is_option: impl Fn(&Arg) -> bool) -> Result<&'c Arg, String> {
    let flag = find(command, name)
        .ok_or_else(|| format!("unexpected argument '--{}' found", name.replace('_', "-")))?;
    let refused = || format!("--{}: only the command has this flag", flag.get_long().unwrap_or(name));
    if is_option(flag) { Ok(flag) } else { Err(refused()) }
}

/// Checks that no other option given conflicts with a flag.
fn check(command: &Command, flag: &Arg, given: &Named) -> Result<(), String> {
    let conflicts = |one, other: &Arg| command.get_arg_conflicts_with(one).contains(&other);
    let mut others =
        command.get_arguments().filter(|other| given.iter().any(|(id, _)| other.get_id() == id.as_str()));
    match others.find(|other| conflicts(flag, other) || conflicts(other, flag)) {
        Some(other) => Err(format!("the argument '{other}' cannot be used with '{flag}'")),
        None => Ok(()),
    }
}

/// The reason for which the command refuses a value; `None` if it does not.
fn refused<C: Args>(flag: &Arg, value: &Value) -> Option<String> {
    let long = flag.get_long()?;
    let refused = |text: &String| {
        let words = [format!("--{long}={text}")];
        definition::<C>().no_binary_name(true).try_get_matches_from(words).err()
    };
    // A flag with two values is not given by one word.
    let has_one = flag.get_num_args().is_none_or(|count| count.max_values() < 2);
    value::texts(value).ok().filter(|_| has_one)?.iter().find_map(refused).as_ref().map(reason)
}

/// The first paragraph of a message. The others are for people at a terminal.
pub(crate) fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default().trim_end();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

/// The long name of the flag of an option. `None` if the command does not know it.
pub(crate) fn long_name<C: Args>(name: &str) -> Option<String> {
    find(&definition::<C>(), name)?.get_long().map(str::to_owned)
}

/// The flag of an option.
pub(crate) fn find<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    let name = &*name.replace('_', "-");
    let is_alias = |flag: &Arg| flag.get_all_aliases().is_some_and(|aliases| aliases.contains(&name));
    command.get_arguments().find(|flag| flag.get_long() == Some(name) || is_alias(flag))
}

/// A command with these flags, and `--help`.
pub(crate) fn definition<A: Args>() -> Command {
    let mut command = A::augment_args(Command::new("comb"));
    command.build();
    command
}
