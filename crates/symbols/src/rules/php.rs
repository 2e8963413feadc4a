//! PHP.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("namespace_definition", Rule::Call(namespace)),
    ("class_declaration", Rule::Define(Kind::Class)),
    ("anonymous_class", Rule::Open(Holds::Members)),
    ("interface_declaration", Rule::Define(Kind::Interface)),
    ("trait_declaration", Rule::Define(Kind::Trait)),
    ("enum_declaration", Rule::Define(Kind::Enum)),
    ("enum_case", Rule::Define(Kind::Enumerator)),
    ("function_definition", Rule::Define(Kind::Function)),
    ("method_declaration", Rule::Call(method)),
    ("anonymous_function", Rule::Open(Holds::Locals)),
    ("arrow_function", Rule::Open(Holds::Locals)),
    ("property_hook_list", Rule::Open(Holds::Locals)),
    ("property_element", Rule::Call(property)),
    ("const_element", Rule::Call(constant)),
    ("function_call_expression", Rule::Call(call)),
    ("assignment_expression", Rule::Call(assignment)),
];

/// A namespace without braces holds the rest of the file.
fn namespace(found: &mut Extraction<'_>, node: Node<'_>) {
    match field(node, "name") {
        Some(name) if node.child_by_field_name("body").is_none() => {
            found.scope_rest(Definition::new(Kind::Namespace, name, node));
        }
        _ => found.define(Kind::Namespace, "name", node),
    }
}

/// Name of a variable, without its `$`.
fn variable(node: Node<'_>, name: &str) -> Option<Range<usize>> {
    let name = node.child_by_field_name(name).filter(|name| name.kind() == "variable_name")?;
    Some(name.named_child(0)?.byte_range())
}

/// Methods. Parameters of a constructor that have a modifier are fields.
fn method(found: &mut Extraction<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    let parameters = node.child_by_field_name("parameters");
    for parameter in parameters
        .into_iter()
        .flat_map(|parameters| parameters.named_children(&mut cursor).collect::<Vec<_>>())
    {
        if let Some(name) =
            variable(parameter, "name").filter(|_| parameter.kind() == "property_promotion_parameter")
        {
            found.add(Definition::new(Kind::Field, name, parameter));
        }
    }
    found.define(Kind::Method, "name", node);
}

fn property(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = variable(node, "name") {
        found.add(Definition::new(Kind::Field, name, node));
    }
}

fn constant(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = node.named_child(0) {
        found.add(Definition::new(Kind::Constant, name.byte_range(), node));
    }
}

/// `define('NAME', value)`.
fn call(found: &mut Extraction<'_>, node: Node<'_>) {
    let is_define = field(node, "function").is_some_and(|function| found.bytes(function) == b"define");
    let argument =
        node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0)?.named_child(0));
    if let Some(name) =
        argument.filter(|name| is_define && matches!(name.kind(), "string" | "encapsed_string"))
    {
        found.add(Definition::new(Kind::Constant, name.byte_range(), node));
    }
}

/// Functions that are assigned to variables, and the first assignment to a variable outside of functions.
fn assignment(found: &mut Extraction<'_>, node: Node<'_>) {
    let is_statement = found.parent().is_some_and(|parent| parent.kind() == "expression_statement");
    let Some(name) = variable(node, "left").filter(|_| is_statement && !found.is_local()) else { return };
    let mut definition = Definition::new(Kind::Variable, name, node);
    match node.child_by_field_name("right") {
        Some(value) if matches!(value.kind(), "anonymous_function" | "arrow_function") => {
            definition.kind = Kind::Function;
            definition.parameters = field(value, "parameters");
            found.scope(definition);
        }
        _ => found.add_once(definition),
    }
}
