//! JavaScript and TypeScript.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

#[cfg(feature = "javascript")]
pub(super) static JAVASCRIPT: [(&str, Rule); 8] = [
    ("class_declaration", Rule::Define(Kind::Class)),
    ("function_declaration", Rule::Define(Kind::Function)),
    ("generator_function_declaration", Rule::Define(Kind::Function)),
    ("method_definition", Rule::Define(Kind::Method)),
    ("variable_declarator", Rule::Call(variable)),
    ("field_definition", Rule::Call(|found, node| found.define(Kind::Field, "property", node))),
    ("assignment_expression", Rule::Call(assignment)),
    ("pair", Rule::Call(pair)),
];

#[cfg(feature = "typescript")]
pub(super) static TYPESCRIPT: [(&str, Rule); 18] = [
    ("class_declaration", Rule::Define(Kind::Class)),
    ("abstract_class_declaration", Rule::Define(Kind::Class)),
    ("function_declaration", Rule::Define(Kind::Function)),
    ("generator_function_declaration", Rule::Define(Kind::Function)),
    ("function_signature", Rule::Define(Kind::Function)),
    ("method_definition", Rule::Define(Kind::Method)),
    ("method_signature", Rule::Define(Kind::Method)),
    ("abstract_method_signature", Rule::Define(Kind::Method)),
    ("variable_declarator", Rule::Call(variable)),
    ("public_field_definition", Rule::Define(Kind::Field)),
    ("property_signature", Rule::Define(Kind::Field)),
    ("interface_declaration", Rule::Define(Kind::Interface)),
    ("type_alias_declaration", Rule::Define(Kind::Typedef)),
    ("enum_declaration", Rule::Define(Kind::Enum)),
    ("enum_body", Rule::Call(enumerators)),
    ("internal_module", Rule::Define(Kind::Namespace)),
    ("assignment_expression", Rule::Call(assignment)),
    ("pair", Rule::Call(pair)),
];

/// Kind of what a name is given by a value; `None` if the value defines nothing.
fn kind_of(value: Option<Node<'_>>) -> Option<Kind> {
    match value?.kind() {
        "arrow_function" | "function_expression" | "generator_function" => Some(Kind::Function),
        "class" => Some(Kind::Class),
        _ => None,
    }
}

/// Adds a definition by its value, whose parameters and body are its own.
fn by_value(
    found: &mut Found<'_>,
    node: Node<'_>,
    name: Node<'_>,
    qualifier: Option<Node<'_>>,
    value: Node<'_>,
    kind: Kind,
) {
    let body = field(value, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(kind, name.byte_range(), node).with_head(body);
    definition.parameters = field(value, "parameters").or_else(|| field(value, "parameter"));
    definition.qualifier = qualifier.map(|qualifier| qualifier.byte_range());
    found.scope(definition);
}

/// Functions and classes that are assigned to variables, and variables outside of functions.
fn variable(found: &mut Found<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name").filter(|name| name.kind() == "identifier") else {
        return;
    };
    let value = node.child_by_field_name("value");
    if let (Some(kind), Some(value)) = (kind_of(value), value) {
        by_value(found, node, name, None, value, kind);
    } else if !found.is_local() {
        let is_constant =
            node.parent().and_then(|parent| parent.child(0)).is_some_and(|first| first.kind() == "const");
        let kind = if is_constant { Kind::Constant } else { Kind::Variable };
        found.add(Definition::new(kind, name.byte_range(), node));
    }
}

/// `Type.prototype.method = function () {}` and the like.
fn assignment(found: &mut Found<'_>, node: Node<'_>) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    let (Some(kind), "member_expression") = (kind_of(Some(right)), left.kind()) else { return };
    if let Some(name) = left.child_by_field_name("property") {
        by_value(found, node, name, left.child_by_field_name("object"), right, kind);
    }
}

/// Functions in object literals.
fn pair(found: &mut Found<'_>, node: Node<'_>) {
    let (Some(key), Some(value)) = (node.child_by_field_name("key"), node.child_by_field_name("value"))
    else {
        return;
    };
    if let (Some(Kind::Function), "property_identifier") = (kind_of(Some(value)), key.kind()) {
        by_value(found, node, key, None, value, Kind::Method);
    }
}

#[cfg(feature = "typescript")]
fn enumerators(found: &mut Found<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        let name =
            if child.kind() == "enum_assignment" { child.child_by_field_name("name") } else { Some(child) };
        if let Some(name) = name.filter(|name| matches!(name.kind(), "property_identifier" | "string")) {
            found.add(Definition::new(Kind::Enumerator, name.byte_range(), child));
        }
    }
}
