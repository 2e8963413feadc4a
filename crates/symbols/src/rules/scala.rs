//! Scala.

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field, names};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("package_object", Rule::Define(Kind::Module)),
    ("class_definition", Rule::Define(Kind::Class)),
    ("object_definition", Rule::Define(Kind::Class)),
    ("trait_definition", Rule::Define(Kind::Trait)),
    ("enum_definition", Rule::Define(Kind::Enum)),
    ("simple_enum_case", Rule::Define(Kind::Enumerator)),
    ("full_enum_case", Rule::Define(Kind::Enumerator)),
    ("class_parameter", Rule::Call(parameter)),
    ("function_definition", Rule::Call(function)),
    ("function_declaration", Rule::Call(function)),
    ("extension_definition", Rule::Call(extension)),
    ("given_definition", Rule::Call(given)),
    ("type_definition", Rule::Define(Kind::Typedef)),
    ("val_definition", Rule::Call(variable)),
    ("var_definition", Rule::Call(variable)),
    ("val_declaration", Rule::Define(Kind::Variable)),
    ("var_declaration", Rule::Define(Kind::Variable)),
    ("instance_expression", Rule::Open(Holds::Members)),
    ("block", Rule::Open(Holds::Locals)),
    ("indented_block", Rule::Open(Holds::Locals)),
    ("lambda_expression", Rule::Open(Holds::Locals)),
];

/// Values, variables and the names in their patterns.
fn variable(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(pattern) = node.child_by_field_name("pattern").filter(|_| !found.is_local()) else { return };
    let mut variables = Vec::new();
    names(pattern, &mut variables);
    for name in variables {
        found.add(Definition::new(Kind::Variable, name.byte_range(), node));
    }
}

/// `val` and `var` parameters of a class are fields, and so are all of a case class.
fn parameter(found: &mut Extraction<'_>, node: Node<'_>) {
    let class = found.around().nth(1);
    let is_case = class.is_some_and(|class| class.kind() == "full_enum_case" || is_case_class(class));
    let is_field = is_case || child(node, &["val", "var"]).is_some();
    if let Some(name) = field(node, "name").filter(|_| is_field) {
        found.add(Definition::new(Kind::Field, name, node));
    }
}

/// Returns `true` if `case` is before the name. There may be many lists of parameters after it.
fn is_case_class(class: Node<'_>) -> bool {
    let mut cursor = class.walk();
    let mut before = class.children(&mut cursor).take_while(|child| child.kind() != "identifier");
    before.any(|child| child.kind() == "case")
}

/// A function may have several lists of parameters.
fn function(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(name) = field(node, "name") else { return };
    let body = field(node, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(Kind::Function, name, node).with_head(body);
    let mut cursor = node.walk();
    for list in node.children(&mut cursor).filter(|child| child.kind() == "parameters") {
        let start = definition.parameters.map_or(list.start_byte(), |lists| lists.start);
        definition.parameters = Some(start..list.end_byte());
    }
    found.scope(definition);
}

/// `extension (s: Type)` extends `Type`.
fn extension(found: &mut Extraction<'_>, node: Node<'_>) {
    let parameter = child(node, &["parameters"]).and_then(|parameters| child(parameters, &["parameter"]));
    let mut name = parameter.and_then(|parameter| parameter.child_by_field_name("type"));
    while let Some(inner) = name.and_then(|name| name.child_by_field_name("type")) {
        name = Some(inner);
    }
    if let Some(name) = name {
        found.extend(name.byte_range());
    }
}

/// An instance with members is an object, else it is a value.
fn given(found: &mut Extraction<'_>, node: Node<'_>) {
    let has_members =
        node.child_by_field_name("body").is_some_and(|body| body.kind().ends_with("template_body"));
    match field(node, "name") {
        Some(_) => found.define(if has_members { Kind::Class } else { Kind::Variable }, "name", node),
        None => found.open(Holds::Members),
    }
}
