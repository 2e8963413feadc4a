//! Python.

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field, names};
use crate::definition::Definition;
use crate::extract::Extraction;
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("class_definition", Rule::Call(class)),
    ("function_definition", Rule::Call(function)),
    ("type_alias_statement", Rule::Call(alias)),
    ("assignment", Rule::Call(assignment)),
];

fn class(found: &mut Extraction<'_>, node: Node<'_>) {
    define(found, node, Kind::Class);
}

/// Functions and properties.
fn function(found: &mut Extraction<'_>, node: Node<'_>) {
    let decorated = found.parent().filter(|parent| parent.kind() == "decorated_definition");
    let mut cursor = node.walk();
    let is_property = decorated.is_some_and(|decorated| {
        let mut decorators =
            decorated.named_children(&mut cursor).filter(|child| child.kind() == "decorator");
        decorators.any(|decorator| {
            let expression = decorator.named_child(0);
            expression.is_some_and(|expression| is_property(found.bytes(expression.byte_range())))
        })
    });
    define(found, node, if is_property { Kind::Property } else { Kind::Function });
}

/// Adds a class or a function. Its head ends with the colon: comments may be between that and the body.
fn define(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    let Some(name) = field(node, "name") else { return };
    let colon = child(node, &[":"]).map_or(node.end_byte(), |colon| colon.end_byte());
    let mut definition = Definition::new(kind, name, node).with_head(colon);
    definition.parameters = field(node, "parameters");
    found.scope(definition);
}

/// Returns `true` for a decorator such as `property`, `cached_property` or `name.setter`.
fn is_property(decorator: &[u8]) -> bool {
    let last = decorator.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    matches!(last.trim_ascii(), b"property" | b"cached_property" | b"setter" | b"getter" | b"deleter")
}

/// `type Name[T] = …`.
fn alias(found: &mut Extraction<'_>, node: Node<'_>) {
    let mut name = node.child_by_field_name("left");
    while let Some(inner) = name.filter(|name| name.kind() != "identifier") {
        name = inner.named_child(0);
    }
    if let Some(name) = name.filter(|_| !found.is_local()) {
        found.add(Definition::new(Kind::Typedef, name.byte_range(), node));
    }
}

/// The first assignment to a name outside of functions.
fn assignment(found: &mut Extraction<'_>, node: Node<'_>) {
    let is_statement =
        found.parent().is_some_and(|parent| matches!(parent.kind(), "expression_statement" | "assignment"));
    let Some(pattern) = node.child_by_field_name("left").filter(|_| is_statement && !found.is_local()) else {
        return;
    };
    let value = node
        .child_by_field_name("right")
        .filter(|value| value.kind() == "lambda" && pattern.kind() == "identifier");
    if let Some(value) = value {
        let mut definition = Definition::new(Kind::Function, pattern.byte_range(), node);
        definition.head.end = field(value, "body").map_or(node.end_byte(), |body| body.start);
        return found.scope(definition);
    }
    let mut variables = Vec::new();
    names(pattern, &mut variables);
    for name in variables {
        found.add_once(Definition::new(Kind::Variable, name.byte_range(), node));
    }
}
