//! JavaScript and TypeScript.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field, names};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

/// Nodes of both languages.
pub(super) const COMMON: &[NamedRule] = &[
    ("class_declaration", Rule::Define(Kind::Class)),
    ("function_declaration", Rule::Define(Kind::Function)),
    ("generator_function_declaration", Rule::Define(Kind::Function)),
    ("method_definition", Rule::Call(method)),
    ("variable_declarator", Rule::Call(variable)),
    ("assignment_expression", Rule::Call(assignment)),
    ("pair", Rule::Call(pair)),
    ("function_expression", Rule::Call(|found, node| named_value(found, node, Kind::Function))),
    ("generator_function", Rule::Call(|found, node| named_value(found, node, Kind::Function))),
    ("class", Rule::Call(|found, node| named_value(found, node, Kind::Class))),
    ("statement_block", Rule::Call(block)),
];

#[cfg(feature = "javascript")]
pub(super) const JAVASCRIPT: &[NamedRule] =
    &[("field_definition", Rule::Call(|found, node| class_field(found, node, "property")))];

#[cfg(feature = "typescript")]
pub(super) const TYPESCRIPT: &[NamedRule] = &[
    ("abstract_class_declaration", Rule::Define(Kind::Class)),
    ("function_signature", Rule::Call(|found, node| signature(found, node, Kind::Function))),
    ("method_signature", Rule::Call(|found, node| signature(found, node, Kind::Method))),
    ("abstract_method_signature", Rule::Call(|found, node| signature(found, node, Kind::Method))),
    ("public_field_definition", Rule::Call(|found, node| class_field(found, node, "name"))),
    ("property_signature", Rule::Call(property)),
    ("interface_declaration", Rule::Define(Kind::Interface)),
    ("type_alias_declaration", Rule::Define(Kind::Typedef)),
    ("enum_declaration", Rule::Define(Kind::Enum)),
    ("enum_body", Rule::Call(enumerators)),
    ("internal_module", Rule::Define(Kind::Namespace)),
    ("module", Rule::Define(Kind::Module)),
];

/// Kind of what a name is given by a value; `None` if the value defines nothing.
fn kind_of(value: Option<Node<'_>>) -> Option<Kind> {
    match value?.kind() {
        "arrow_function" | "function_expression" | "generator_function" => Some(Kind::Function),
        "class" => Some(Kind::Class),
        _ => None,
    }
}

/// The function in `function () {}.bind(this)`; any other value as it is.
fn unbound<'t>(found: &Extraction<'_>, value: Option<Node<'t>>) -> Option<Node<'t>> {
    let callee = value?.child_by_field_name("function");
    let is_bind = |callee: &Node<'_>| {
        field(*callee, "property").is_some_and(|property| found.bytes(property) == b"bind")
    };
    callee.filter(is_bind).and_then(|callee| callee.child_by_field_name("object")).or(value)
}

/// Functions and classes with a name of their own, such as `return function name() {}`. If what they are assigned to is listed, it is
/// the scope of their members.
fn named_value(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    let (Some(name), Some(body)) = (field(node, "name"), field(node, "body")) else { return };
    match found.name_of_body(body.start) {
        None => found.define(kind, "name", node),
        Some(assigned) if assigned == found.bytes(name.clone()) => {}
        Some(_) => found.add(Definition::new(kind, name, node).with_head(body.start)),
    }
}

/// Adds a definition by its value, whose parameters and body are its own.
fn by_value(
    found: &mut Extraction<'_>,
    node: Node<'_>,
    name: Node<'_>,
    qualifier: Option<Range<usize>>,
    value: Node<'_>,
    kind: Kind,
) {
    let body = field(value, "body").map_or(node.end_byte(), |body| body.start);
    let mut definition = Definition::new(kind, name.byte_range(), node).with_head(body);
    definition.parameters = field(value, "parameters");
    definition.qualifier = qualifier;
    found.scope(definition);
}

/// The object literal that a value is, or is cast to a type.
fn object(value: Node<'_>) -> Option<Node<'_>> {
    let mut value = value;
    while matches!(value.kind(), "as_expression" | "satisfies_expression") {
        value = value.named_child(0)?;
    }
    (value.kind() == "object").then_some(value)
}

/// Functions and classes that are assigned to variables, and variables outside of functions.
fn variable(found: &mut Extraction<'_>, node: Node<'_>) {
    let (Some(pattern), Some(parent)) = (node.child_by_field_name("name"), found.parent()) else { return };
    let value = unbound(found, node.child_by_field_name("value"));
    if let (Some(kind), Some(value), "identifier") = (kind_of(value), value, pattern.kind()) {
        return by_value(found, node, pattern, None, value, kind);
    }
    let in_loop = found.around().nth(1).is_some_and(|outer| outer.kind() == "for_statement");
    if in_loop || found.is_local() {
        return;
    }
    let kind = if parent.child(0).is_some_and(|first| first.kind() == "const") {
        Kind::Constant
    } else {
        Kind::Variable
    };
    let mut variables = Vec::new();
    names(pattern, &mut variables);
    for name in variables {
        let definition = Definition::new(kind, name.byte_range(), node);
        // Functions in an object literal belong to the variable that gets it.
        if pattern == name { found.scope(definition) } else { found.add(definition) }
    }
}

/// Scope of what is assigned to a member of an object: `Type` for `Type.prototype` too, none for what a module exports.
fn qualifier(found: &Extraction<'_>, object: Node<'_>) -> Option<Range<usize>> {
    let is_prototype =
        field(object, "property").is_some_and(|property| found.bytes(property) == b"prototype");
    let range = if is_prototype { field(object, "object")? } else { object.byte_range() };
    (!matches!(found.bytes(range.clone()), b"this" | b"exports" | b"module.exports")).then_some(range)
}

/// `Type.prototype.method = function () {}`, `object["name"] = function () {}`, `name = function () {}` and the like.
fn assignment(found: &mut Extraction<'_>, node: Node<'_>) {
    let right = unbound(found, node.child_by_field_name("right"));
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), right) else { return };
    let kind = kind_of(Some(right));
    let index = left.child_by_field_name("index").filter(|index| index.kind() == "string");
    let name = left.child_by_field_name("property").or(index);
    match (name, left.child_by_field_name("object"), kind) {
        (Some(_), Some(_), Some(kind)) if found.bytes(left.byte_range()) == b"module.exports" => {
            let name = right.child_by_field_name("name").or(name).unwrap_or(left);
            by_value(found, node, name, None, right, kind);
        }
        (Some(name), Some(holder), Some(kind)) => {
            let kind = if holder.kind() == "this" { kind.in_type() } else { kind };
            by_value(found, node, name, qualifier(found, holder), right, kind);
        }
        (Some(_), Some(_), None) => {
            if let Some(qualifier) = object(right).and_then(|_| qualifier(found, left)) {
                found.extend(qualifier);
            }
        }
        (None, None, Some(kind)) if left.kind() == "identifier" => {
            by_value(found, node, left, None, right, kind);
        }
        _ => {}
    }
}

/// Functions in object literals.
fn pair(found: &mut Extraction<'_>, node: Node<'_>) {
    let value = unbound(found, node.child_by_field_name("value"));
    let (Some(key), Some(value)) = (node.child_by_field_name("key"), value) else { return };
    if let Some(kind) = kind_of(Some(value)) {
        by_value(found, node, key, None, value, kind.in_type());
    }
}

/// Methods and accessors. Parameters of a constructor that have a modifier are fields.
fn method(found: &mut Extraction<'_>, node: Node<'_>) {
    let parameters = node.child_by_field_name("parameters");
    let mut cursor = node.walk();
    for parameter in parameters
        .into_iter()
        .flat_map(|parameters| parameters.named_children(&mut cursor).collect::<Vec<_>>())
    {
        let is_field =
            child(parameter, &["accessibility_modifier", "readonly", "override_modifier"]).is_some();
        if let Some(name) = field(parameter, "pattern").filter(|_| is_field) {
            found.add(Definition::new(Kind::Field, name, parameter));
        }
    }
    let is_accessor = child(node, &["get", "set"]).is_some();
    found.define(if is_accessor { Kind::Property } else { Kind::Method }, "name", node);
}

/// Fields of a class, whose name is a field of the node. Those whose value is a function are methods.
fn class_field(found: &mut Extraction<'_>, node: Node<'_>, name: &str) {
    let value = node.child_by_field_name("value");
    match (node.child_by_field_name(name), value, kind_of(value)) {
        (Some(name), Some(value), Some(kind)) => by_value(found, node, name, None, value, kind.in_type()),
        _ => found.define(Kind::Field, name, node),
    }
}

/// Variables in a block are local, but that of a namespace holds its members.
fn block(found: &mut Extraction<'_>, _: Node<'_>) {
    let parent = found.parent().map_or("", |parent| parent.kind());
    if !matches!(parent, "internal_module" | "module" | "ambient_declaration") {
        found.open(Holds::Locals);
    }
}

/// Members of interfaces and type aliases. Members in the types of parameters and variables are not listed.
#[cfg(feature = "typescript")]
fn property(found: &mut Extraction<'_>, node: Node<'_>) {
    if matches!(found.scope_kind(), Some(Kind::Interface | Kind::Typedef)) {
        found.define(Kind::Field, "name", node);
    }
}

/// Functions without a body: each signature of an overloaded function, and declarations.
#[cfg(feature = "typescript")]
fn signature(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    let is_listed = kind == Kind::Function
        || matches!(found.scope_kind(), Some(Kind::Class | Kind::Interface | Kind::Typedef));
    let is_accessor = child(node, &["get", "set"]).is_some();
    if is_listed {
        found.define(if is_accessor { Kind::Property } else { kind }, "name", node);
    }
}

#[cfg(feature = "typescript")]
fn enumerators(found: &mut Extraction<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        let name =
            if child.kind() == "enum_assignment" { child.child_by_field_name("name") } else { Some(child) };
        if let Some(name) = name.filter(|name| matches!(name.kind(), "property_identifier" | "string")) {
            found.add(Definition::new(Kind::Enumerator, name.byte_range(), child));
        }
    }
}
