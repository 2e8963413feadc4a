//! Ruby.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
    ("module", Rule::Call(|found, node| scoped(found, node, Kind::Module))),
    ("class", Rule::Call(|found, node| scoped(found, node, Kind::Class))),
    ("singleton_class", Rule::Open(Holds::Members)),
    ("method", Rule::Call(method)),
    ("singleton_method", Rule::Call(singleton)),
    ("alias", Rule::Call(alias)),
    ("call", Rule::Call(call)),
    ("assignment", Rule::Call(assignment)),
    ("operator_assignment", Rule::Call(assignment)),
];

/// A definition by a name that may have a scope before it: `Outer::Name`.
fn definition(kind: Kind, name: Node<'_>, node: Node<'_>) -> Definition {
    let body = field(node, "body").map_or(node.end_byte(), |body| body.start);
    let inner = field(name, "name").unwrap_or(name.byte_range());
    let mut definition = Definition::new(kind, inner, node).with_head(body);
    definition.qualifier = field(name, "scope");
    definition
}

fn scoped(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    if let Some(name) = node.child_by_field_name("name") {
        found.scope(definition(kind, name, node));
    }
}

/// A function in a class, in a module or in a method of one is a method.
fn method(found: &mut Extraction<'_>, node: Node<'_>) {
    let kind = if found.scope_kind().is_some() { Kind::Method } else { Kind::Function };
    found.define(kind, "name", node);
}

/// `def self.name` and `def Type.name`.
fn singleton(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let mut definition = definition(Kind::Method, name, node);
    definition.parameters = field(node, "parameters");
    let object = node.child_by_field_name("object").filter(|object| object.kind() != "self");
    definition.qualifier = object.map(|object| object.byte_range());
    found.scope(definition);
}

/// `alias new old` and `alias :new :old`, of methods or of global variables.
fn alias(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let kind = if name.kind() == "global_variable" { Kind::Variable } else { Kind::Method };
    if kind == Kind::Method || !found.is_local() {
        found.scope(Definition::new(kind, symbol(name), node));
    }
}

/// Name in a symbol, without its colon: `:name` and `:"name"`.
fn symbol(name: Node<'_>) -> Range<usize> {
    let colon = usize::from(matches!(name.kind(), "simple_symbol" | "delimited_symbol"));
    name.start_byte() + colon..name.end_byte()
}

/// Methods that are defined by a call: `attr_reader :name` and the like.
fn call(found: &mut Extraction<'_>, node: Node<'_>) {
    if node.child_by_field_name("receiver").is_some() || found.is_local() {
        return;
    }
    let (Some(method), Some(arguments)) = (field(node, "method"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    let (kind, count) = match found.bytes(method) {
        b"attr" | b"attr_reader" | b"attr_writer" | b"attr_accessor" => (Kind::Property, usize::MAX),
        b"define_method" | b"alias_method" => (Kind::Method, 1),
        _ => return,
    };
    let mut cursor = arguments.walk();
    for name in arguments.named_children(&mut cursor).take(count) {
        let is_name = matches!(name.kind(), "simple_symbol" | "delimited_symbol" | "string");
        if is_name && child(name, &["interpolation"]).is_none() {
            found.add(Definition::new(kind, symbol(name), node));
        }
    }
}

/// Constants, global variables, and variables of a class.
fn assignment(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(left) = node.child_by_field_name("left") else { return };
    if left.kind() == "left_assignment_list" {
        let mut cursor = left.walk();
        for name in left.named_children(&mut cursor) {
            assign(found, node, name);
        }
    } else if let Some(kind) = new_type(found, node) {
        found.scope(definition(kind, left, node));
    } else {
        assign(found, node, left);
    }
}

fn assign(found: &mut Extraction<'_>, node: Node<'_>, name: Node<'_>) {
    let kind = match name.kind() {
        "constant" | "scope_resolution" => Kind::Constant,
        "global_variable" => Kind::Variable,
        "class_variable" | "instance_variable" => Kind::Field,
        _ => return,
    };
    if !found.is_local() {
        found.add_once(definition(kind, name, node));
    }
}

/// Kind of the type that `Name = Struct.new(…)` and the like define.
fn new_type(found: &Extraction<'_>, node: Node<'_>) -> Option<Kind> {
    let value = node.child_by_field_name("right").filter(|value| value.kind() == "call")?;
    let is_new =
        field(value, "method").is_some_and(|method| matches!(found.bytes(method), b"new" | b"define"));
    child(node, &["constant", "scope_resolution"]).filter(|_| is_new)?;
    match found.bytes(field(value, "receiver")?) {
        b"Class" => Some(Kind::Class),
        b"Module" => Some(Kind::Module),
        b"Struct" | b"Data" => Some(Kind::Struct),
        _ => None,
    }
}
