//! Protocol Buffers.

use tree_sitter::Node;

use super::{NamedRule, Rule, child};
use crate::definition::Definition;
use crate::extract::Extraction;
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("package", Rule::Call(package)),
    ("message", Rule::Call(|found, node| scope(found, node, Kind::Struct))),
    ("group", Rule::Call(|found, node| scope(found, node, Kind::Struct))),
    ("oneof", Rule::Call(|found, node| scope(found, node, Kind::Union))),
    ("enum", Rule::Call(|found, node| scope(found, node, Kind::Enum))),
    ("service", Rule::Call(|found, node| scope(found, node, Kind::Interface))),
    ("rpc", Rule::Call(|found, node| scope(found, node, Kind::Method))),
    ("extend", Rule::Call(extend)),
    ("field", Rule::Call(|found, node| member(found, node, Kind::Field))),
    ("map_field", Rule::Call(|found, node| member(found, node, Kind::Field))),
    ("oneof_field", Rule::Call(|found, node| member(found, node, Kind::Field))),
    ("enum_field", Rule::Call(|found, node| member(found, node, Kind::Enumerator))),
];

/// The package of all that follows.
fn package(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = child(node, &["full_ident"]) {
        found.scope_rest(Definition::new(Kind::Module, name.byte_range(), node));
    }
}

fn scope(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    const NAMES: [&str; 5] = ["message_name", "enum_name", "service_name", "rpc_name", "identifier"];
    let Some(name) = child(node, &NAMES) else { return };
    let body =
        child(node, &["message_body", "enum_body", "{"]).map_or(node.end_byte(), |body| body.start_byte());
    found.scope(Definition::new(kind, name.byte_range(), node).with_head(body));
}

/// Fields that are added to a message.
fn extend(found: &mut Extraction<'_>, node: Node<'_>) {
    if let Some(name) = child(node, &["full_ident"]) {
        found.extend(name.byte_range());
    }
}

fn member(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    if let Some(name) = child(node, &["identifier"]) {
        found.add(Definition::new(kind, name.byte_range(), node));
    }
}
