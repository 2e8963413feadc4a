//! Bash and other shells.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 2] =
    [("function_definition", Rule::Define(Kind::Function)), ("variable_assignment", Rule::Call(variable))];

/// Assignments outside of functions. One before a command, as in `A=1 make`, is for that command only.
fn variable(found: &mut Found<'_>, node: Node<'_>) {
    let parent = node.parent().map(|parent| parent.kind());
    let is_statement = matches!(parent, Some("program" | "declaration_command" | "variable_assignments"));
    let is_name = node.child_by_field_name("name").is_some_and(|name| name.kind() == "variable_name");
    if let Some(name) = field(node, "name").filter(|_| is_name && is_statement && !found.is_local()) {
        found.add(Definition::new(Kind::Variable, name, node));
    }
}
