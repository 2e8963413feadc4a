//! Lua.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 3] = [
    ("function_declaration", Rule::Call(function)),
    ("assignment_statement", Rule::Call(assignment)),
    ("field", Rule::Call(member)),
];

/// Splits `table.name` and `table:name` in scope and name.
fn add(found: &mut Found<'_>, node: Node<'_>, function: Node<'_>, name: Node<'_>) {
    let member = name.child_by_field_name("field").or_else(|| name.child_by_field_name("method"));
    let body = field(function, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition =
        Definition::new(Kind::Function, member.unwrap_or(name).byte_range(), node).with_head(body);
    definition.parameters = field(function, "parameters");
    definition.qualifier = member.and_then(|_| field(name, "table"));
    found.scope(definition);
}

fn function(found: &mut Found<'_>, node: Node<'_>) {
    if let Some(name) = node.child_by_field_name("name") {
        add(found, node, node, name);
    }
}

/// `name = function() end`.
fn assignment(found: &mut Found<'_>, node: Node<'_>) {
    let (Some(names), Some(values)) = (node.named_child(0), node.named_child(1)) else { return };
    let (Some(name), Some(value)) = (names.named_child(0), values.named_child(0)) else { return };
    if value.kind() == "function_definition" {
        add(found, node, value, name);
    }
}

/// `{ name = function() end }`.
fn member(found: &mut Found<'_>, node: Node<'_>) {
    let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
    else {
        return;
    };
    if value.kind() == "function_definition" && name.kind() == "identifier" {
        add(found, node, value, name);
    }
}
