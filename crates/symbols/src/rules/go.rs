//! Go.

use tree_sitter::Node;

use super::{Rule, each, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 8] = [
    ("function_declaration", Rule::Define(Kind::Function)),
    ("method_declaration", Rule::Call(method)),
    ("method_elem", Rule::Define(Kind::Method)),
    ("type_spec", Rule::Call(type_definition)),
    ("type_alias", Rule::Define(Kind::Typedef)),
    ("const_spec", Rule::Call(|found, node| each(found, node, "name", Kind::Constant))),
    ("var_spec", Rule::Call(|found, node| each(found, node, "name", Kind::Variable))),
    ("field_declaration", Rule::Call(|found, node| each(found, node, "name", Kind::Field))),
];

/// A method belongs to the type of its receiver.
fn method(found: &mut Found<'_>, node: Node<'_>) {
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

fn type_definition(found: &mut Found<'_>, node: Node<'_>) {
    let kind = match node.child_by_field_name("type").map(|node| node.kind()) {
        Some("struct_type") => Kind::Struct,
        Some("interface_type") => Kind::Interface,
        _ => Kind::Typedef,
    };
    found.define(kind, "name", node);
}
