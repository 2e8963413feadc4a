//! D. Its grammar has no fields: a name is the first identifier in a node.

use tree_sitter::Node;

use super::Rule;
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 10] = [
    ("function_declaration", Rule::Call(|found, node| named(found, node, Kind::Function))),
    ("class_declaration", Rule::Call(|found, node| named(found, node, Kind::Class))),
    ("struct_declaration", Rule::Call(|found, node| named(found, node, Kind::Struct))),
    ("union_declaration", Rule::Call(|found, node| named(found, node, Kind::Union))),
    ("interface_declaration", Rule::Call(|found, node| named(found, node, Kind::Interface))),
    ("enum_declaration", Rule::Call(|found, node| named(found, node, Kind::Enum))),
    ("enum_member", Rule::Call(|found, node| named(found, node, Kind::Enumerator))),
    ("template_declaration", Rule::Call(|found, node| named(found, node, Kind::Module))),
    ("declarator", Rule::Call(variable)),
    ("alias_initializer", Rule::Call(|found, node| named(found, node, Kind::Typedef))),
];

fn child<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| kinds.contains(&child.kind()))
}

fn named(found: &mut Found<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = child(node, &["identifier"]) else { return };
    let body = child(node, &["aggregate_body", "function_body", "block_statement", "enum_body"]);
    let end = body.map_or(node.end_byte(), |body| body.start_byte());
    let mut definition = Definition::new(kind, name.byte_range(), node).with_head(end);
    definition.parameters = child(node, &["parameters"]).map(|parameters| parameters.byte_range());
    found.scope(definition);
}

fn variable(found: &mut Found<'_>, node: Node<'_>) {
    if let Some(name) = child(node, &["identifier"]).filter(|_| !found.is_local()) {
        found.add(Definition::new(Kind::Variable, name.byte_range(), node));
    }
}
