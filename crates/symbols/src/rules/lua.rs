//! Lua.

use tree_sitter::Node;

use super::{NamedRule, Rule, field};
use crate::definition::Definition;
use crate::extract::Extraction;
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_declaration", Rule::Call(function)),
    ("variable_declaration", Rule::Call(variables)),
    ("assignment_statement", Rule::Call(assignment)),
    ("field", Rule::Call(member)),
];

/// A definition by `table.name` or `table:name`, split in scope and name.
fn definition(node: Node<'_>, function: Node<'_>, name: Node<'_>, kind: Kind) -> Definition {
    let member = name.child_by_field_name("field").or_else(|| name.child_by_field_name("method"));
    let body = field(function, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(kind, member.unwrap_or(name).byte_range(), node).with_head(body);
    definition.parameters = field(function, "parameters");
    definition.qualifier = member.and_then(|_| field(name, "table"));
    definition
}

fn function(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = node.child_by_field_name("name") {
        found.scope(definition(node, node, name, Kind::Function));
    }
}

fn is_chunk(node: Option<Node<'_>>) -> bool {
    node.is_some_and(|node| node.kind() == "chunk")
}

/// `local a, b`; with values, they are an assignment.
fn variables(found: &mut Extraction<'_>, node: Node<'_>) {
    let names = node.named_child(0).filter(|names| names.kind() == "variable_list");
    if let Some(names) = names.filter(|_| is_chunk(found.parent())) {
        super::each(found, names, "name", Kind::Variable);
    }
}

/// `name = function() end`, and the first assignment to a variable outside of functions and blocks.
fn assignment(found: &mut Extraction<'_>, node: Node<'_>) {
    let (Some(names), Some(values)) = (node.named_child(0), node.named_child(1)) else { return };
    let is_local = found.parent().is_some_and(|parent| parent.kind() == "variable_declaration");
    let in_chunk = is_chunk(found.around().nth(usize::from(is_local)));
    // In `a, b = function() end, function() end`, neither is the scope of the other.
    let is_alone = names.named_child_count() == 1;
    let (mut names_cursor, mut values_cursor) = (names.walk(), values.walk());
    let mut values = values.children_by_field_name("value", &mut values_cursor);
    for name in names.children_by_field_name("name", &mut names_cursor) {
        let variable = Definition::new(Kind::Variable, name.byte_range(), node);
        match values.next() {
            Some(value) if value.kind() == "function_definition" => {
                let function = definition(node, value, name, Kind::Function);
                if is_alone { found.scope(function) } else { found.add(function) }
            }
            _ if !in_chunk || name.kind() != "identifier" => {}
            Some(value) if value.kind() == "table_constructor" => found.scope(variable),
            _ => found.add_once(variable),
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
        found.scope(definition(node, value, name, Kind::Method));
    }
}
