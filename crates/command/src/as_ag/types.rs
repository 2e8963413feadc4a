//! File types of ag, which are flags of its command line.

/// A line for each type: its name, and the extensions of its files.
const TYPES: &str = include_str!("types.txt");

/// Names of types, each with its extensions.
fn types() -> impl Iterator<Item = (&'static str, &'static str)> {
    TYPES.lines().filter_map(|line| line.split_once(' '))
}

/// The type of this name.
pub(super) fn named(name: &str) -> Option<&'static str> {
    types().map(|(known, _)| known).find(|&known| known == name)
}

/// The extensions of the files of a type.
pub(super) fn extensions(name: &str) -> impl Iterator<Item = &'static str> {
    types().filter(move |(known, _)| *known == name).flat_map(|(_, extensions)| extensions.split(' '))
}

/// All types and their extensions, as ag prints them.
pub(super) fn list() -> String {
    let mut text = "The following file types are supported:\n".to_owned();
    for (name, extensions) in types() {
        text.push_str(&format!("  --{name}\n    "));
        text.extend(extensions.split(' ').map(|extension| format!("  .{extension}")));
        text.push_str("\n\n");
    }
    text
}
