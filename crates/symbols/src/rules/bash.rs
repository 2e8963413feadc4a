//! Bash and other shells.

use tree_sitter::Node;

use super::{NamedRule, Rule, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_definition", Rule::Define(Kind::Function)),
    ("variable_assignment", Rule::Call(variable)),
    ("command", Rule::Call(command)),
    ("command_substitution", Rule::Open(Holds::Locals)),
    ("process_substitution", Rule::Open(Holds::Locals)),
    ("subshell", Rule::Open(Holds::Locals)),
];

/// The first assignment to a variable outside of functions.
fn variable(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(parent) = found.parent().filter(|_| !found.is_local()) else { return };
    if parent.kind() == "command" {
        return;
    }
    let kind = if is_readonly(found, parent) { Kind::Constant } else { Kind::Variable };
    assign(found, node, kind);
}

fn assign(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    if let Some(name) = node.child_by_field_name("name").filter(|name| name.kind() == "variable_name") {
        found.add_once(Definition::new(kind, name.byte_range(), node));
    }
}

/// A command: an alias, or one that the grammar takes the assignments in the lines before for a part of. An assignment in the same
/// line, as in `A=1 make`, is for the command alone.
fn command(found: &mut Extraction<'_>, node: Node<'_>) {
    if !found.is_local() {
        let mut cursor = node.walk();
        let mut before: Vec<_> =
            node.children(&mut cursor).take_while(|child| child.kind() == "variable_assignment").collect();
        let mut end = field(node, "name").map_or(node.end_byte(), |name| name.start);
        while let Some(last) = before.pop_if(|last| is_one_line(found.bytes(last.end_byte()..end))) {
            end = last.start_byte();
        }
        for assignment in before {
            assign(found, assignment, Kind::Variable);
        }
    }
    alias(found, node);
}

/// Returns `true` for white space that ends no line: each line feed is after a backslash.
fn is_one_line(gap: &[u8]) -> bool {
    gap.split(|&byte| byte == b'\n').rev().skip(1).all(|line| line.ends_with(b"\\"))
}

/// Returns `true` for `readonly` and `declare -r`. Flags are before the first name.
fn is_readonly(found: &Extraction<'_>, command: Node<'_>) -> bool {
    let mut cursor = command.walk();
    let mut words = command.children(&mut cursor).map_while(|child| {
        let is_before_names = matches!(child.kind(), "declare" | "readonly" | "typeset" | "word");
        is_before_names.then(|| (child.kind(), found.bytes(child.byte_range())))
    });
    command.kind() == "declaration_command"
        && words.any(|(kind, word)| kind == "readonly" || word.starts_with(b"-") && word.contains(&b'r'))
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
