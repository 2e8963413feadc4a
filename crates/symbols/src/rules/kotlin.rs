//! Kotlin.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field, names};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("class_declaration", Rule::Call(class)),
    ("object_declaration", Rule::Call(class)),
    ("companion_object", Rule::Call(class)),
    ("object_literal", Rule::Open(Holds::Members)),
    ("class_parameter", Rule::Call(parameter)),
    ("function_declaration", Rule::Call(function)),
    ("secondary_constructor", Rule::Call(function)),
    ("property_declaration", Rule::Call(property)),
    ("enum_entry", Rule::Call(entry)),
    ("type_alias", Rule::Call(alias)),
    ("anonymous_initializer", Rule::Open(Holds::Locals)),
    ("anonymous_function", Rule::Open(Holds::Locals)),
    ("lambda_literal", Rule::Open(Holds::Locals)),
];

fn class(found: &mut Extraction<'_>, node: Node<'_>) {
    let kind = match child(node, &["interface", "enum_class_body"]).map(|child| child.kind()) {
        Some("interface") => Kind::Interface,
        Some(_) => Kind::Enum,
        None => Kind::Class,
    };
    let body =
        child(node, &["class_body", "enum_class_body"]).map_or(node.end_byte(), |body| body.start_byte());
    match field(node, "name") {
        Some(name) => found.scope(Definition::new(kind, name, node).with_head(body)),
        // A companion object without a name: its members belong to the class.
        None => found.open(Holds::Members),
    }
}

/// `val` and `var` parameters of a class are properties.
fn parameter(found: &mut Extraction<'_>, node: Node<'_>) {
    if let (Some(_), Some(name)) = (child(node, &["val", "var"]), child(node, &["identifier"])) {
        found.add(Definition::new(Kind::Property, name.byte_range(), node));
    }
}

/// The type that an extension such as `fun List<T>.second()` extends.
fn receiver(node: Node<'_>) -> Option<Range<usize>> {
    let mut cursor = node.walk();
    let mut before = None;
    for child in node.children(&mut cursor) {
        if child.kind() == "." {
            return super::child(before?, &["identifier"]).map(|receiver| receiver.byte_range());
        }
        before = Some(child);
    }
    None
}

fn function(found: &mut Extraction<'_>, node: Node<'_>) {
    let constructor = || child(node, &["constructor"]).map(|name| name.byte_range());
    let Some(name) = field(node, "name").or_else(constructor) else { return };
    let body = child(node, &["function_body", "block"]).map_or(node.end_byte(), |body| body.start_byte());
    let mut definition = Definition::new(Kind::Function, name, node).with_head(body);
    definition.parameters =
        child(node, &["function_value_parameters"]).map(|parameters| parameters.byte_range());
    definition.qualifier = receiver(node);
    found.scope(definition);
}

fn property(found: &mut Extraction<'_>, node: Node<'_>) {
    let pattern = child(node, &["variable_declaration", "multi_variable_declaration"]);
    let Some(pattern) = pattern.filter(|_| !found.is_local()) else { return };
    let mut variables = Vec::new();
    names(pattern, &mut variables);
    let Some((last, others)) = variables.split_last() else { return };
    let define = |name: &Node<'_>| {
        let end =
            child(node, &["getter", "setter"]).map_or(node.end_byte(), |accessor| accessor.start_byte());
        let mut definition = Definition::new(Kind::Property, name.byte_range(), node).with_head(end);
        definition.qualifier = receiver(node);
        definition
    };
    for name in others {
        found.add(define(name));
    }
    found.scope(define(last));
}

fn entry(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = child(node, &["identifier"]) {
        found.scope(Definition::new(Kind::Enumerator, name.byte_range(), node));
    }
}

fn alias(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) =
        field(node, "type").or_else(|| child(node, &["identifier"]).map(|name| name.byte_range()))
    {
        found.add(Definition::new(Kind::Typedef, name, node));
    }
}
