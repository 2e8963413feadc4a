//! Scala.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 14] = [
    ("package_object", Rule::Define(Kind::Module)),
    ("class_definition", Rule::Define(Kind::Class)),
    ("object_definition", Rule::Define(Kind::Class)),
    ("trait_definition", Rule::Define(Kind::Trait)),
    ("enum_definition", Rule::Define(Kind::Enum)),
    ("simple_enum_case", Rule::Define(Kind::Enumerator)),
    ("full_enum_case", Rule::Define(Kind::Enumerator)),
    ("function_definition", Rule::Define(Kind::Function)),
    ("function_declaration", Rule::Define(Kind::Function)),
    ("given_definition", Rule::Define(Kind::Variable)),
    ("type_definition", Rule::Define(Kind::Typedef)),
    ("val_definition", Rule::Call(|found, node| value(found, node, Kind::Constant))),
    ("var_definition", Rule::Call(|found, node| value(found, node, Kind::Variable))),
    ("val_declaration", Rule::Define(Kind::Constant)),
];

fn value(found: &mut Found<'_>, node: Node<'_>, kind: Kind) {
    let is_name = node.child_by_field_name("pattern").is_some_and(|pattern| pattern.kind() == "identifier");
    if let Some(name) = field(node, "pattern").filter(|_| is_name && !found.is_local()) {
        found.add(Definition::new(kind, name, node));
    }
}
