//! Which candidates the values of each argument have.

use std::ffi::OsStr;
use std::sync::Arc;

use clap::Command;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use crate::program::Program;
use crate::shell::complete::line::Line;
use crate::shell::complete::names;

/// The candidates for a value that begins with a text.
type Candidates = fn(&Line, &str) -> Vec<CompletionCandidate>;

/// Arguments by the command that they belong to, and the candidates for their values. All other values are paths, if they are any, or
/// one of a list that the definition of the argument has.
const TABLE: &[(&str, &[(&str, Candidates)])] = &[
    (
        "top",
        &[
            ("fields", names::fields),
            ("where", names::condition),
            ("time", names::field),
            ("sum", names::field),
            ("mean", names::field),
            ("min", names::field),
            ("max", names::field),
            ("p50", names::field),
            ("p95", names::field),
            ("p99", names::field),
            ("distinct", names::field),
            ("percentile", names::percentile),
            ("sort", names::order),
            ("input", names::input),
            ("normalize", names::placeholders),
            ("type", names::types),
        ],
    ),
    ("grep", &[("type", names::types), ("type_not", names::types), ("type_clear", names::types)]),
    #[cfg(feature = "symbols")]
    ("symbols", &[("kind", names::kinds), ("lang", names::languages), ("types", names::types)]),
    ("find", &[("index", names::index_files)]),
    ("serve", &[("indexes", names::named_index_files)]),
    ("cgi", &[("indexes", names::named_index_files)]),
    ("bench serve", &[("index", names::index_files)]),
    ("index info", &[("index", names::indexes)]),
    ("index verify", &[("index", names::indexes)]),
    ("index export", &[("index", names::index_files)]),
    ("index update", &[("directory", names::indexed_trees)]),
    ("index watch", &[("directory", names::indexed_trees)]),
    ("index drop", &[("directory", names::indexed_trees)]),
    ("man", &[("command", names::commands)]),
];

/// Gives the arguments of a program their candidates.
pub(super) fn complete_values(program: Command, line: &Arc<Line>) -> Command {
    let of = match Program::current() {
        Program::Comb | Program::Ag => "",
        Program::Rg => "grep",
        Program::Tf | Program::Topfew => "top",
    };
    with_values(program, of, line)
}

/// Does so for the command with this name, and for those below it.
fn with_values(command: Command, name: &str, line: &Arc<Line>) -> Command {
    // All arguments stay where they are: positional ones are numbered by their order.
    let mut command = command.mut_args(|argument| {
        // A word with a dash there, after a flag without its value, is a panic in the engine.
        let is_positional = argument.is_positional();
        let argument = if is_positional { argument.allow_hyphen_values(false) } else { argument };
        let entries = TABLE.iter().filter(|(of, _)| *of == name).flat_map(|(_, arguments)| *arguments);
        let Some(&(_, candidates)) = entries.into_iter().find(|(id, _)| argument.get_id() == id) else {
            return argument;
        };
        let line = Arc::clone(line);
        let complete = move |text: &OsStr| text.to_str().map_or(Vec::new(), |text| candidates(&line, text));
        argument.add(ArgValueCompleter::new(complete))
    });
    let below: Vec<String> = command.get_subcommands().map(|child| child.get_name().to_owned()).collect();
    for child in below {
        let path = format!("{name} {child}");
        command = command.mut_subcommand(child, |child| with_values(child, path.trim_start(), line));
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn all_arguments_exist() {
        for (name, arguments) in TABLE {
            let mut command = Arguments::command();
            for word in name.split(' ') {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("{name}")).clone();
            }
            for (id, _) in *arguments {
                assert!(command.get_arguments().any(|argument| argument.get_id() == id), "{name}: {id}");
            }
        }
    }
}
