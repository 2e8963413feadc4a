//! Go.

use tree_sitter::Node;

use super::{NamedRule, Rule, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_declaration", Rule::Define(Kind::Function)),
    ("method_declaration", Rule::Call(method)),
    ("method_elem", Rule::Define(Kind::Method)),
    ("type_spec", Rule::Call(type_definition)),
    ("type_alias", Rule::Define(Kind::Typedef)),
    ("const_spec", Rule::Call(|found, node| names(found, node, Kind::Constant))),
    ("var_spec", Rule::Call(|found, node| names(found, node, Kind::Variable))),
    ("field_declaration", Rule::Call(member)),
    ("func_literal", Rule::Open(Holds::Locals)),
];

/// The names of `var a, b int`. `_` is none.
fn names(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    if found.is_local() {
        return;
    }
    let mut cursor = node.walk();
    let names: Vec<_> = node.children_by_field_name("name", &mut cursor).filter(Node::is_named).collect();
    for name in &names {
        let definition = Definition::new(kind, name.byte_range(), node);
        match names.len() {
            _ if found.bytes(name.byte_range()) == b"_" => {}
            // Members of a structure without a name belong to the field or variable that has its type.
            1 => found.scope(definition),
            _ => found.add(definition),
        }
    }
}

/// Fields of a structure. An embedded type is a field that has its name.
fn member(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(mut embedded) = node.child_by_field_name("type") else { return };
    if node.child_by_field_name("name").is_some() {
        return names(found, node, Kind::Field);
    }
    while let Some(inner) =
        embedded.child_by_field_name("name").or_else(|| embedded.child_by_field_name("type"))
    {
        embedded = inner;
    }
    found.add(Definition::new(Kind::Field, embedded.byte_range(), node));
}

/// A method belongs to the type of its receiver.
fn method(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(name) = field(node, "name") else { return };
    let body = field(node, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(Kind::Method, name, node).with_head(body);
    definition.parameters = field(node, "parameters");
    definition.qualifier =
        node.child_by_field_name("receiver").and_then(receiver).map(|receiver| receiver.byte_range());
    found.scope(definition);
}

/// Name of the type in a receiver such as `(r *Type[T])`.
fn receiver(parameters: Node<'_>) -> Option<Node<'_>> {
    let mut node = parameters.named_child(0)?.child_by_field_name("type")?;
    while node.kind() != "type_identifier" {
        node = node.child_by_field_name("type").or_else(|| node.named_child(0))?;
    }
    Some(node)
}

fn type_definition(found: &mut Extraction<'_>, node: Node<'_>) {
    let kind = match node.child_by_field_name("type").map(|node| node.kind()) {
        Some("struct_type") => Kind::Struct,
        Some("interface_type") => Kind::Interface,
        _ => Kind::Typedef,
    };
    found.define(kind, "name", node);
}
