//! C#.

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("namespace_declaration", Rule::Define(Kind::Namespace)),
    ("file_scoped_namespace_declaration", Rule::Call(file_namespace)),
    ("class_declaration", Rule::Define(Kind::Class)),
    ("record_declaration", Rule::Call(record)),
    ("struct_declaration", Rule::Define(Kind::Struct)),
    ("interface_declaration", Rule::Define(Kind::Interface)),
    ("enum_declaration", Rule::Define(Kind::Enum)),
    ("enum_member_declaration", Rule::Define(Kind::Enumerator)),
    ("delegate_declaration", Rule::Define(Kind::Typedef)),
    ("method_declaration", Rule::Define(Kind::Method)),
    ("constructor_declaration", Rule::Define(Kind::Method)),
    ("destructor_declaration", Rule::Call(|found, node| named(found, node, "~", "name"))),
    ("operator_declaration", Rule::Call(|found, node| named(found, node, "operator", "operator"))),
    ("conversion_operator_declaration", Rule::Call(|found, node| named(found, node, "operator", "type"))),
    ("indexer_declaration", Rule::Call(indexer)),
    ("parameter", Rule::Call(parameter)),
    ("lambda_expression", Rule::Open(Holds::Locals)),
    ("anonymous_method_expression", Rule::Open(Holds::Locals)),
    ("local_function_statement", Rule::Call(local_function)),
    ("property_declaration", Rule::Define(Kind::Property)),
    ("event_declaration", Rule::Define(Kind::Property)),
    ("variable_declarator", Rule::Call(declarator)),
];

/// A function in a function. After a directive, the grammar takes `else if (condition) { … }` for one.
fn local_function(found: &mut Extraction<'_>, node: Node<'_>) {
    if field(node, "name").is_some_and(|name| found.bytes(name) != b"if") {
        found.define(Kind::Function, "name", node);
    }
}

/// A namespace without braces holds the rest of the file.
fn file_namespace(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = field(node, "name") {
        found.scope_rest(Definition::new(Kind::Namespace, name, node));
    }
}

/// Fields and events; variables of methods are local.
fn declarator(found: &mut Extraction<'_>, node: Node<'_>) {
    let declaration = found.around().nth(1);
    let kind = match declaration.map(|declaration| declaration.kind()) {
        Some("field_declaration") if declaration.is_some_and(|node| is_constant(found, node)) => {
            Kind::Constant
        }
        Some("field_declaration") => Kind::Field,
        Some("event_field_declaration") => Kind::Property,
        _ => return,
    };
    if let (Some(name), Some(declaration)) = (field(node, "name"), declaration) {
        found.add(Definition::new(kind, name, declaration));
    }
}

fn is_constant(found: &Extraction<'_>, declaration: Node<'_>) -> bool {
    let mut cursor = declaration.walk();
    declaration
        .children(&mut cursor)
        .any(|child| child.kind() == "modifier" && found.bytes(child.byte_range()) == b"const")
}

fn record(found: &mut Extraction<'_>, node: Node<'_>) {
    let is_struct = child(node, &["struct"]).is_some();
    found.define(if is_struct { Kind::Struct } else { Kind::Class }, "name", node);
}

/// Parameters of a record are properties.
fn parameter(found: &mut Extraction<'_>, node: Node<'_>) {
    let of_record = found.around().nth(1).is_some_and(|outer| outer.kind() == "record_declaration");
    if let Some(name) = field(node, "name").filter(|_| of_record) {
        found.add(Definition::new(Kind::Property, name, node));
    }
}

/// Operators and destructors, whose name begins with a token.
fn named(found: &mut Extraction<'_>, node: Node<'_>, first: &str, last: &str) {
    let (Some(first), Some(last)) = (child(node, &[first]), field(node, last)) else { return };
    let body = field(node, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(Kind::Method, first.start_byte()..last.end, node).with_head(body);
    definition.parameters = field(node, "parameters");
    found.scope(definition);
}

/// `this[int index]`.
fn indexer(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(name) = child(node, &["this"]) else { return };
    let mut definition = Definition::new(Kind::Property, name.byte_range(), node);
    definition.parameters = field(node, "parameters");
    found.scope(definition);
}
