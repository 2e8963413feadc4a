//! Zig.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_declaration", Rule::Call(function)),
    ("test_declaration", Rule::Call(test)),
    ("variable_declaration", Rule::Call(variable)),
    ("container_field", Rule::Call(member)),
    ("error_set_declaration", Rule::Call(errors)),
    ("struct_declaration", Rule::Open(Holds::Members)),
    ("union_declaration", Rule::Open(Holds::Members)),
    ("enum_declaration", Rule::Open(Holds::Members)),
    ("opaque_declaration", Rule::Open(Holds::Members)),
    ("block", Rule::Open(Holds::Locals)),
];

/// An identifier; the text of `@"any text"`.
fn name(identifier: Node<'_>) -> Range<usize> {
    child(identifier, &["string"]).unwrap_or(identifier).byte_range()
}

fn function(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(identifier) = node.child_by_field_name("name") else { return };
    let body = field(node, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(Kind::Function, name(identifier), node).with_head(body);
    definition.parameters = child(node, &["parameters"]).map(|parameters| parameters.byte_range());
    found.scope(definition);
}

/// Tests: `test "any text" {}`, or `test name {}` for the declaration that it tests.
fn test(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(name) = child(node, &["string", "identifier"]) else { return };
    let body = child(node, &["block"]).map_or(node.end_byte(), |body| body.start_byte());
    found.scope(Definition::new(Kind::Function, self::name(name), node).with_head(body));
}

/// Variables and constants. Types are constants whose value is a container. Assignments have the same kind of node.
fn variable(found: &mut Extraction<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    let mut children = node.named_children(&mut cursor);
    let Some(identifier) = children.find(|child| child.kind() == "identifier") else { return };
    let container = children.find(|child| child.kind().ends_with("_declaration"));
    let kind = match container.map(|container| container.kind()) {
        Some("struct_declaration" | "opaque_declaration") => Kind::Struct,
        Some("enum_declaration" | "error_set_declaration") => Kind::Enum,
        Some("union_declaration") => Kind::Union,
        _ if found.is_local() => return,
        _ if child(node, &["const"]).is_some() => Kind::Constant,
        _ if child(node, &["var"]).is_some() => Kind::Variable,
        _ => return,
    };
    let head = container.map_or(node.end_byte(), |container| container.start_byte());
    found.scope(Definition::new(kind, name(identifier), node).with_head(head));
}

/// Members of containers. The members of a tuple have no names, and `_` stands for further values of an enumeration.
fn member(found: &mut Extraction<'_>, node: Node<'_>) {
    let in_enum = found.parent().is_some_and(|parent| parent.kind() == "enum_declaration");
    let identifier = node.child_by_field_name("name").filter(|name| name.kind() == "identifier");
    if let Some(name) = identifier.map(name).filter(|name| found.bytes(name.clone()) != b"_") {
        found.add(Definition::new(if in_enum { Kind::Enumerator } else { Kind::Field }, name, node));
    }
}

fn errors(found: &mut Extraction<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    for identifier in node.named_children(&mut cursor).filter(|child| child.kind() == "identifier") {
        found.add(Definition::new(Kind::Enumerator, name(identifier), identifier));
    }
}
