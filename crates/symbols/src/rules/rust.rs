//! Rust.

use tree_sitter::Node;

use super::{NamedRule, Rule, field};
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_item", Rule::Define(Kind::Function)),
    ("function_signature_item", Rule::Define(Kind::Function)),
    ("struct_item", Rule::Define(Kind::Struct)),
    ("union_item", Rule::Define(Kind::Union)),
    ("enum_item", Rule::Define(Kind::Enum)),
    ("enum_variant", Rule::Define(Kind::Enumerator)),
    ("trait_item", Rule::Define(Kind::Trait)),
    ("mod_item", Rule::Call(module)),
    ("type_item", Rule::Define(Kind::Typedef)),
    ("associated_type", Rule::Define(Kind::Typedef)),
    ("const_item", Rule::Call(constant)),
    ("static_item", Rule::Define(Kind::Variable)),
    ("macro_definition", Rule::Define(Kind::Macro)),
    ("field_declaration", Rule::Define(Kind::Field)),
    ("block", Rule::Open(Holds::Locals)),
    ("impl_item", Rule::Call(implementation)),
];

/// `const _` has no name.
fn constant(found: &mut Extraction<'_>, node: Node<'_>) {
    if field(node, "name").is_some_and(|name| found.bytes(name) != b"_") {
        found.define(Kind::Constant, "name", node);
    }
}

/// `mod name;` declares a module whose definition is another file.
fn module(found: &mut Extraction<'_>, node: Node<'_>) {
    if node.child_by_field_name("body").is_some() {
        found.define(Kind::Module, "name", node);
    }
}

fn implementation(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(mut name) = node.child_by_field_name("type") else { return };
    // `impl path::Type<T>` extends `Type`.
    while let Some(inner) = name.child_by_field_name("type").or_else(|| name.child_by_field_name("name")) {
        name = inner;
    }
    found.extend(name.byte_range());
}
