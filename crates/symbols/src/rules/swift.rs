//! Swift.

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field, names};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("class_declaration", Rule::Call(class)),
    ("protocol_declaration", Rule::Define(Kind::Interface)),
    ("function_declaration", Rule::Call(|found, node| function(found, node, Kind::Function))),
    ("protocol_function_declaration", Rule::Call(|found, node| function(found, node, Kind::Method))),
    ("init_declaration", Rule::Call(|found, node| function(found, node, Kind::Method))),
    ("deinit_declaration", Rule::Call(|found, node| function(found, node, Kind::Method))),
    ("subscript_declaration", Rule::Call(|found, node| function(found, node, Kind::Property))),
    ("property_declaration", Rule::Call(property)),
    ("protocol_property_declaration", Rule::Call(property)),
    ("enum_entry", Rule::Call(|found, node| super::each(found, node, "name", Kind::Enumerator))),
    ("typealias_declaration", Rule::Define(Kind::Typedef)),
    ("associatedtype_declaration", Rule::Define(Kind::Typedef)),
    ("macro_declaration", Rule::Call(macro_definition)),
    ("lambda_literal", Rule::Open(Holds::Locals)),
    ("willset_didset_block", Rule::Open(Holds::Locals)),
    ("statements", Rule::Open(Holds::Locals)),
];

/// Classes, structures, enumerations, actors and extensions.
fn class(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(mut name) = node.child_by_field_name("name") else { return };
    let kind = match node.child_by_field_name("declaration_kind").map(|kind| kind.kind()) {
        Some("extension") => {
            // `extension Array<Int>` extends `Array`.
            while let Some(inner) = name.named_child(0) {
                name = inner;
            }
            return found.extend(name.byte_range());
        }
        Some("struct") => Kind::Struct,
        Some("enum") => Kind::Enum,
        _ => Kind::Class,
    };
    found.define(kind, "name", node);
}

/// Functions, and what has a keyword for a name. Parameters are all from the first parenthesis to its counterpart.
fn function(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    let keyword = || child(node, &["init", "deinit", "subscript"]).map(|name| name.byte_range());
    let Some(name) = field(node, "name").filter(|_| kind != Kind::Property).or_else(keyword) else { return };
    let body = child(node, &["function_body", "computed_property"])
        .map_or(node.end_byte(), |body| body.start_byte());
    let mut definition = Definition::new(kind, name, node).with_head(body);
    if let (Some(open), Some(close)) = (child(node, &["("]), child(node, &[")"])) {
        definition.parameters = Some(open.start_byte()..close.end_byte());
    }
    found.scope(definition);
}

/// Variables, and properties that have accessors.
fn property(found: &mut Extraction<'_>, node: Node<'_>) {
    if found.is_local() {
        return;
    }
    let accessors = child(node, &["computed_property", "protocol_property_requirements"]);
    let kind = if accessors.is_some() { Kind::Property } else { Kind::Variable };
    let mut variables = Vec::new();
    let mut cursor = node.walk();
    for pattern in node.children_by_field_name("name", &mut cursor) {
        names(pattern, &mut variables);
    }
    for name in variables {
        let end = accessors.map_or(node.end_byte(), |accessors| accessors.start_byte());
        let definition = Definition::new(kind, name.byte_range(), node).with_head(end);
        if accessors.is_some() { found.scope(definition) } else { found.add(definition) }
    }
}

fn macro_definition(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = child(node, &["simple_identifier"]) {
        found.add(Definition::new(Kind::Macro, name.byte_range(), node));
    }
}
