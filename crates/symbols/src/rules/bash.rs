//! Bash and other shells.

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field};
use crate::extract::{Definition, Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_definition", Rule::Define(Kind::Function)),
    ("variable_assignment", Rule::Call(variable)),
    ("command", Rule::Call(alias)),
    ("command_substitution", Rule::Open(Holds::Locals)),
    ("process_substitution", Rule::Open(Holds::Locals)),
    ("subshell", Rule::Open(Holds::Locals)),
];

/// The first assignment to a variable outside of functions.
fn variable(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name").filter(|name| name.kind() == "variable_name") else {
        return;
    };
    let Some(parent) = node.parent().filter(|_| !found.is_local()) else { return };
    if parent.kind() == "command" && is_environment(found, node, parent) {
        return;
    }
    let kind = if is_readonly(found, parent) { Kind::Constant } else { Kind::Variable };
    found.add_once(Definition::new(kind, name.byte_range(), node));
}

/// Returns `true` for an assignment before a command, as in `A=1 make`. The grammar takes assignments in the lines before for the same.
fn is_environment(found: &Extraction<'_>, node: Node<'_>, command: Node<'_>) -> bool {
    let Some(name) = field(command, "name").filter(|name| name.start > node.end_byte()) else { return false };
    let mut lines = found.bytes(node.end_byte()..name.start).split(|&byte| byte == b'\n').rev().skip(1);
    lines.all(|line| line.ends_with(b"\\"))
}

/// Returns `true` for `readonly` and `declare -r`.
fn is_readonly(found: &Extraction<'_>, command: Node<'_>) -> bool {
    let flag = child(command, &["word"]).map(|flag| found.bytes(flag.byte_range()));
    command.child(0).is_some_and(|first| first.kind() == "readonly")
        || command.kind() == "declaration_command"
            && flag.is_some_and(|flag| flag.starts_with(b"-") && flag.contains(&b'r'))
}

/// `alias name=text`.
fn alias(found: &mut Extraction<'_>, node: Node<'_>) {
    let is_alias = field(node, "name").is_some_and(|name| found.bytes(name) == b"alias");
    let mut cursor = node.walk();
    for argument in node.children_by_field_name("argument", &mut cursor).filter(|_| is_alias) {
        let range = argument.byte_range();
        if let Some(length) = found.bytes(range.clone()).iter().position(|&byte| byte == b'=') {
            found.add(Definition::new(Kind::Macro, range.start..range.start + length, node));
        }
    }
}
