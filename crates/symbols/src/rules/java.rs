//! Java.

use tree_sitter::Node;

use super::{NamedRule, Rule, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;

pub(super) const RULES: &[NamedRule] = &[
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
    ("module_declaration", Rule::Define(Kind::Module)),
    ("formal_parameter", Rule::Call(component)),
    ("object_creation_expression", Rule::Open(Holds::Members)),
    ("field_declaration", Rule::Call(|found, node| declarators(found, node, Kind::Field))),
    ("constant_declaration", Rule::Call(|found, node| declarators(found, node, Kind::Constant))),
];

fn declarators(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    let mut cursor = node.walk();
    let names: Vec<_> = node
        .children_by_field_name("declarator", &mut cursor)
        .filter_map(|child| field(child, "name"))
        .collect();
    // Members of an anonymous class belong to the field that gets the object.
    let is_single = names.len() == 1;
    for name in names {
        let definition = Definition::new(kind, name, node);
        if is_single { found.scope(definition) } else { found.add(definition) }
    }
}

/// Parameters of a record are fields.
fn component(found: &mut Extraction<'_>, node: Node<'_>) {
    let of_record = found.around().nth(1).is_some_and(|outer| outer.kind() == "record_declaration");
    if let Some(name) = field(node, "name").filter(|_| of_record) {
        found.add(Definition::new(Kind::Field, name, node));
    }
}
