//! Lua.

use tree_sitter::Node;

use super::{NamedRule, Rule, field};
use crate::extract::{Definition, Extraction};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_declaration", Rule::Call(function)),
    ("variable_declaration", Rule::Call(variables)),
    ("assignment_statement", Rule::Call(assignment)),
    ("field", Rule::Call(member)),
];

/// Splits `table.name` and `table:name` in scope and name.
fn add(found: &mut Extraction<'_>, node: Node<'_>, function: Node<'_>, name: Node<'_>, kind: Kind) {
    let member = name.child_by_field_name("field").or_else(|| name.child_by_field_name("method"));
    let body = field(function, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(kind, member.unwrap_or(name).byte_range(), node).with_head(body);
    definition.parameters = field(function, "parameters");
    definition.qualifier = member.and_then(|_| field(name, "table"));
    // In `a, b = function() end, function() end`, neither is the scope of the other.
    if name
        .next_named_sibling()
        .or(name.prev_named_sibling())
        .is_some_and(|other| other.kind() == name.kind())
    {
        found.add(definition);
    } else {
        found.scope(definition);
    }
}

fn function(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = node.child_by_field_name("name") {
        add(found, node, node, name, Kind::Function);
    }
}

fn is_in_chunk(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == "chunk")
}

/// `local a, b`; with values, they are an assignment.
fn variables(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(names) =
        node.named_child(0).filter(|names| names.kind() == "variable_list" && is_in_chunk(node))
    {
        super::each(found, names, "name", Kind::Variable);
    }
}

/// `name = function() end`, and the first assignment to a variable outside of functions and blocks.
fn assignment(found: &mut Extraction<'_>, node: Node<'_>) {
    let (Some(names), Some(values)) = (node.named_child(0), node.named_child(1)) else { return };
    let in_chunk = is_in_chunk(node)
        || node.parent().is_some_and(|parent| parent.kind() == "variable_declaration" && is_in_chunk(parent));
    let (mut names_cursor, mut values_cursor) = (names.walk(), values.walk());
    let mut values = values.children_by_field_name("value", &mut values_cursor);
    for name in names.children_by_field_name("name", &mut names_cursor) {
        let definition = Definition::new(Kind::Variable, name.byte_range(), node);
        match values.next() {
            Some(value) if value.kind() == "function_definition" => {
                add(found, node, value, name, Kind::Function)
            }
            _ if !in_chunk || name.kind() != "identifier" => {}
            Some(value) if value.kind() == "table_constructor" => found.scope(definition),
            _ => found.add_once(definition),
        }
    }
}

/// `{ name = function() end }`.
fn member(found: &mut Extraction<'_>, node: Node<'_>) {
    let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
    else {
        return;
    };
    if value.kind() == "function_definition" && matches!(name.kind(), "identifier" | "string") {
        add(found, node, value, name, Kind::Method);
    }
}
