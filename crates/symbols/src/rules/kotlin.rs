//! Kotlin.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 7] = [
    ("class_declaration", Rule::Call(class)),
    ("object_declaration", Rule::Call(class)),
    ("companion_object", Rule::Call(class)),
    ("function_declaration", Rule::Call(function)),
    ("property_declaration", Rule::Call(property)),
    ("enum_entry", Rule::Call(entry)),
    ("type_alias", Rule::Call(alias)),
];

fn child<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| kinds.contains(&child.kind()))
}

fn class(found: &mut Found<'_>, node: Node<'_>) {
    let kind = match child(node, &["interface", "enum_class_body"]).map(|child| child.kind()) {
        Some("interface") => Kind::Interface,
        Some(_) => Kind::Enum,
        None => Kind::Class,
    };
    let body =
        child(node, &["class_body", "enum_class_body"]).map_or(node.end_byte(), |body| body.start_byte());
    if let Some(name) = field(node, "name") {
        found.scope(Definition::new(kind, name, node).with_head(body));
    }
}

fn function(found: &mut Found<'_>, node: Node<'_>) {
    let Some(name) = field(node, "name") else { return };
    let body = child(node, &["function_body"]).map_or(node.end_byte(), |body| body.start_byte());
    let mut definition = Definition::new(Kind::Function, name, node).with_head(body);
    definition.parameters =
        child(node, &["function_value_parameters"]).map(|parameters| parameters.byte_range());
    found.scope(definition);
}

fn property(found: &mut Found<'_>, node: Node<'_>) {
    let name = child(node, &["variable_declaration"]).and_then(|variable| child(variable, &["identifier"]));
    if let Some(name) = name.filter(|_| !found.is_local()) {
        found.add(Definition::new(Kind::Property, name.byte_range(), node));
    }
}

fn entry(found: &mut Found<'_>, node: Node<'_>) {
    if let Some(name) = child(node, &["identifier"]) {
        found.scope(Definition::new(Kind::Enumerator, name.byte_range(), node));
    }
}

fn alias(found: &mut Found<'_>, node: Node<'_>) {
    if let Some(name) =
        field(node, "type").or_else(|| child(node, &["identifier"]).map(|name| name.byte_range()))
    {
        found.add(Definition::new(Kind::Typedef, name, node));
    }
}
