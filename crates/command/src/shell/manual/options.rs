//! The section OPTIONS: arguments in the groups and the order of the help.

use clap::{Arg, Command};
use roff::{Inline, Roff, bold, italic, roman};

use crate::shell::manual::help::Help;
use crate::shell::manual::page::prose;

/// Heading of the arguments without a flag.
const ARGUMENTS: &str = "Arguments";

/// Heading of flags without one.
const OPTIONS: &str = "Options";

/// Heading of the flags that all commands have, where the other flags have headings of their own.
const GENERAL: &str = "General";

/// Appends the section.
pub(super) fn section(roff: &mut Roff, command: &Command, rename: &dyn Fn(&str) -> String) {
    let groups = groups(command);
    if groups.is_empty() {
        return;
    }
    roff.control("SH", ["OPTIONS"]);
    let is_divided = groups.len() > 1;
    for (heading, arguments) in groups {
        if is_divided {
            roff.control("SS", [heading.as_str()]);
        }
        arguments.into_iter().for_each(|argument| item(roff, argument, rename));
    }
}

/// The arguments by heading, in the order of the help. Flags that all commands have come last if no other flag is without a heading.
fn groups(command: &Command) -> Vec<(String, Vec<&Arg>)> {
    let shown = || command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_hide_long_help_set());
    let is_general =
        |arg: &Arg| arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version" | "color");
    let has_own =
        shown().any(|arg| !arg.is_positional() && arg.get_help_heading().is_none() && !is_general(arg));
    let has_headings = shown().any(|arg| arg.get_help_heading().is_some());
    let mut groups: Vec<(String, Vec<&Arg>)> = Vec::new();
    let mut general = Vec::new();
    for arg in shown() {
        let heading = match arg.get_help_heading() {
            None if arg.is_positional() => ARGUMENTS,
            None if has_headings && !has_own => {
                general.push(arg);
                continue;
            }
            None => OPTIONS,
            Some(heading) => heading,
        };
        match groups.iter_mut().find(|(known, _)| known == heading) {
            Some((_, arguments)) => arguments.push(arg),
            None => groups.push((heading.to_owned(), vec![arg])),
        }
    }
    if !general.is_empty() {
        groups.push((GENERAL.to_owned(), general));
    }
    // As in the help.
    groups.sort_by_key(|(heading, _)| match heading.as_str() {
        ARGUMENTS => 0,
        OPTIONS => 1,
        _ => 2,
    });
    groups
}

fn item(roff: &mut Roff, arg: &Arg, rename: &dyn Fn(&str) -> String) {
    roff.control("TP", []);
    roff.text(names(arg));
    let mut paragraphs = Help::parse(arg.get_long_help().or(arg.get_help())).paragraphs;
    if paragraphs.is_empty() {
        paragraphs.push(String::new());
    }
    if let Some(default) = default(arg) {
        paragraphs[0].push_str(&default);
    }
    for (number, paragraph) in paragraphs.iter().enumerate() {
        if number > 0 {
            roff.control("IP", []);
        }
        roff.text(prose(&rename(paragraph)));
    }
    values(roff, arg);
}

/// The names of an argument and of its values.
fn names(arg: &Arg) -> Vec<Inline> {
    let values = value_names(arg);
    if arg.is_positional() {
        return values;
    }
    let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
    let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
    let names = shorts.into_iter().map(|short| format!("-{short}"));
    let names = names.chain(longs.into_iter().map(|long| format!("--{long}")));
    let mut line = Vec::new();
    for name in names {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.push(bold(name));
    }
    line.extend(values);
    line
}

/// The names of the values of an argument, with the blank or the equals sign before them.
fn value_names(arg: &Arg) -> Vec<Inline> {
    let Some(range) = arg.get_num_args().filter(|range| range.takes_values()) else { return Vec::new() };
    let id = arg.get_id().as_str().to_uppercase();
    let names: Vec<&str> = match arg.get_value_names() {
        Some(names) => names.iter().map(|name| name.as_str()).collect(),
        None => vec![id.as_str()],
    };
    let (open, close) = match (arg.is_positional(), range.min_values() == 0, arg.is_require_equals_set()) {
        (true, ..) => ("", ""),
        (false, true, true) => ("[=", "]"),
        (false, true, false) => (" [", "]"),
        (false, false, true) => ("=", ""),
        (false, false, false) => (" ", ""),
    };
    let mut line = vec![roman(open)];
    for (number, name) in names.iter().enumerate() {
        if number > 0 {
            line.push(roman(" "));
        }
        line.push(italic(*name));
    }
    if arg.is_positional() && range.max_values() > names.len() {
        line.push(roman(" ..."));
    }
    line.push(roman(close));
    line
}

/// The default value in brackets, if it is shown.
fn default(arg: &Arg) -> Option<String> {
    let takes_values = arg.get_num_args().is_some_and(|range| range.takes_values());
    let values: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let is_shown = takes_values && !values.is_empty() && !arg.is_hide_default_value_set();
    is_shown.then(|| format!(" [default: {}]", values.join(" ")))
}

/// Appends the values that an argument may have.
fn values(roff: &mut Roff, arg: &Arg) {
    let takes_values = arg.get_num_args().is_some_and(|range| range.takes_values());
    if !takes_values || arg.is_hide_possible_values_set() {
        return;
    }
    let values: Vec<_> = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect();
    if values.is_empty() {
        return;
    }
    if values.iter().all(|value| value.get_help().is_none()) {
        let names: Vec<_> = values.iter().map(|value| value.get_name()).collect();
        roff.control("IP", []);
        roff.text([roman(format!("Possible values: {}", names.join(", ")))]);
        return;
    }
    roff.control("RS", []);
    for value in values {
        roff.control("TP", ["10"]);
        roff.text([bold(value.get_name())]);
        roff.text(prose(&value.get_help().map(ToString::to_string).unwrap_or_default()));
    }
    roff.control("RE", []);
}
