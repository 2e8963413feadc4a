//! D. Its grammar has hardly any fields: a name is the first identifier in a node.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, child};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("function_declaration", Rule::Call(|found, node| named(found, node, Kind::Function))),
    ("constructor", Rule::Call(|found, node| constructor(found, node, "this"))),
    ("postblit", Rule::Call(|found, node| constructor(found, node, "this"))),
    ("destructor", Rule::Call(|found, node| constructor(found, node, "~"))),
    ("class_declaration", Rule::Call(|found, node| named(found, node, Kind::Class))),
    ("struct_declaration", Rule::Call(|found, node| named(found, node, Kind::Struct))),
    ("union_declaration", Rule::Call(|found, node| named(found, node, Kind::Union))),
    ("interface_declaration", Rule::Call(|found, node| named(found, node, Kind::Interface))),
    ("enum_declaration", Rule::Call(|found, node| named(found, node, Kind::Enum))),
    ("enum_member", Rule::Call(|found, node| named(found, node, Kind::Enumerator))),
    ("template_declaration", Rule::Call(template)),
    ("manifest_declarator", Rule::Call(|found, node| variable(found, node, Kind::Constant))),
    ("declarator", Rule::Call(|found, node| variable(found, node, Kind::Variable))),
    ("auto_declaration", Rule::Call(|found, node| super::each(found, node, "variable", Kind::Variable))),
    ("alias_declaration", Rule::Call(aliases)),
    ("alias_initializer", Rule::Call(|found, node| named(found, node, Kind::Typedef))),
    ("unittest_declaration", Rule::Open(Holds::Locals)),
    ("invariant_declaration", Rule::Open(Holds::Locals)),
    ("block_statement", Rule::Open(Holds::Locals)),
    ("function_literal", Rule::Open(Holds::Locals)),
];

fn named(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    if let Some(name) = child(node, &["identifier"]) {
        define(found, node, kind, name.byte_range());
    }
}

fn define(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind, name: Range<usize>) {
    let body = child(node, &["aggregate_body", "function_body", "block_statement", "enum_body", "{"]);
    let end = body.map_or(node.end_byte(), |body| body.start_byte());
    let mut definition = Definition::new(kind, name, node).with_head(end);
    definition.parameters = child(node, &["parameters"]).map(|parameters| parameters.byte_range());
    found.scope(definition);
}

/// `alias int A, B;`. In `alias A = int;`, the name is in a node of its own.
fn aliases(found: &mut Extraction<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    for name in node.named_children(&mut cursor).filter(|child| child.kind() == "identifier") {
        found.add(Definition::new(Kind::Typedef, name.byte_range(), node));
    }
}

/// `this(…)` and `~this()`.
fn constructor(found: &mut Extraction<'_>, node: Node<'_>, first: &str) {
    if let (Some(first), Some(this)) = (child(node, &[first]), child(node, &["this"])) {
        define(found, node, Kind::Method, first.start_byte()..this.end_byte());
    }
}

/// A template is a namespace with parameters; what is mixed in becomes members of a type.
fn template(found: &mut Extraction<'_>, node: Node<'_>) {
    let is_mixin = found.parent().is_some_and(|parent| parent.kind() == "mixin_template_declaration");
    named(found, node, if is_mixin { Kind::Trait } else { Kind::Namespace });
}

fn variable(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    if let Some(name) = child(node, &["identifier"]).filter(|_| !found.is_local()) {
        found.add(Definition::new(kind, name.byte_range(), node));
    }
}
