//! Python.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 3] = [
    ("class_definition", Rule::Define(Kind::Class)),
    ("function_definition", Rule::Define(Kind::Function)),
    ("assignment", Rule::Call(assignment)),
];

/// The first assignment to a name outside of functions defines it; later ones are listed as well, as they are in ctags.
fn assignment(found: &mut Found<'_>, node: Node<'_>) {
    let is_name = node.child_by_field_name("left").is_some_and(|left| left.kind() == "identifier");
    let is_statement = node.parent().is_some_and(|parent| parent.kind() == "expression_statement");
    if let Some(name) = field(node, "left").filter(|_| is_name && is_statement && !found.is_local()) {
        found.add(Definition::new(Kind::Variable, name, node));
    }
}
