//! C#.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 16] = [
    ("namespace_declaration", Rule::Define(Kind::Namespace)),
    ("file_scoped_namespace_declaration", Rule::Call(file_namespace)),
    ("class_declaration", Rule::Define(Kind::Class)),
    ("record_declaration", Rule::Define(Kind::Class)),
    ("struct_declaration", Rule::Define(Kind::Struct)),
    ("interface_declaration", Rule::Define(Kind::Interface)),
    ("enum_declaration", Rule::Define(Kind::Enum)),
    ("enum_member_declaration", Rule::Define(Kind::Enumerator)),
    ("delegate_declaration", Rule::Define(Kind::Typedef)),
    ("method_declaration", Rule::Define(Kind::Method)),
    ("constructor_declaration", Rule::Define(Kind::Method)),
    ("destructor_declaration", Rule::Define(Kind::Method)),
    ("local_function_statement", Rule::Define(Kind::Function)),
    ("property_declaration", Rule::Define(Kind::Property)),
    ("event_declaration", Rule::Define(Kind::Property)),
    ("variable_declarator", Rule::Call(declarator)),
];

/// A namespace without braces holds the rest of the file.
fn file_namespace(found: &mut Found<'_>, node: Node<'_>) {
    if let Some(name) = field(node, "name") {
        found.add(Definition::new(Kind::Namespace, name, node));
    }
}

/// Fields and events; variables of methods are local.
fn declarator(found: &mut Found<'_>, node: Node<'_>) {
    let declaration = node.parent().and_then(|parent| parent.parent());
    let kind = match declaration.map(|declaration| declaration.kind()) {
        Some("field_declaration") => Kind::Field,
        Some("event_field_declaration") => Kind::Property,
        _ => return,
    };
    if let (Some(name), Some(declaration)) = (field(node, "name"), declaration) {
        found.add(Definition::new(kind, name, declaration));
    }
}
