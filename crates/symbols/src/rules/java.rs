//! Java.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 12] = [
    ("class_declaration", Rule::Define(Kind::Class)),
    ("record_declaration", Rule::Define(Kind::Class)),
    ("interface_declaration", Rule::Define(Kind::Interface)),
    ("annotation_type_declaration", Rule::Define(Kind::Interface)),
    ("enum_declaration", Rule::Define(Kind::Enum)),
    ("enum_constant", Rule::Define(Kind::Enumerator)),
    ("method_declaration", Rule::Define(Kind::Method)),
    ("constructor_declaration", Rule::Define(Kind::Method)),
    ("compact_constructor_declaration", Rule::Define(Kind::Method)),
    ("annotation_type_element_declaration", Rule::Define(Kind::Method)),
    ("field_declaration", Rule::Call(|found, node| declarators(found, node, Kind::Field))),
    ("constant_declaration", Rule::Call(|found, node| declarators(found, node, Kind::Constant))),
];

fn declarators(found: &mut Found<'_>, node: Node<'_>, kind: Kind) {
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        if let Some(name) = field(declarator, "name") {
            found.add(Definition::new(kind, name, node));
        }
    }
}
