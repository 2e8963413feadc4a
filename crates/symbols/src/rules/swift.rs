//! Swift.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 9] = [
    ("class_declaration", Rule::Call(class)),
    ("protocol_declaration", Rule::Define(Kind::Interface)),
    ("function_declaration", Rule::Define(Kind::Function)),
    ("protocol_function_declaration", Rule::Define(Kind::Function)),
    ("init_declaration", Rule::Define(Kind::Method)),
    ("property_declaration", Rule::Call(property)),
    ("protocol_property_declaration", Rule::Call(property)),
    ("enum_entry", Rule::Call(entries)),
    ("typealias_declaration", Rule::Define(Kind::Typedef)),
];

/// Classes, structures, enumerations, actors and extensions.
fn class(found: &mut Found<'_>, node: Node<'_>) {
    let Some(name) = field(node, "name") else { return };
    let kind = match node.child_by_field_name("declaration_kind").map(|kind| kind.kind()) {
        Some("extension") => return found.extend(name),
        Some("struct") => Kind::Struct,
        Some("enum") => Kind::Enum,
        _ => Kind::Class,
    };
    found.define(kind, "name", node);
}

fn property(found: &mut Found<'_>, node: Node<'_>) {
    let pattern = node.child_by_field_name("name");
    let name =
        pattern.and_then(|pattern| field(pattern, "bound_identifier").or_else(|| Some(pattern.byte_range())));
    if let Some(name) = name.filter(|_| !found.is_local()) {
        found.add(Definition::new(Kind::Variable, name, node));
    }
}

fn entries(found: &mut Found<'_>, node: Node<'_>) {
    super::each(found, node, "name", Kind::Enumerator);
}
