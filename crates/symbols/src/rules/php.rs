//! PHP.

use super::Rule;
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 10] = [
    ("namespace_definition", Rule::Define(Kind::Namespace)),
    ("class_declaration", Rule::Define(Kind::Class)),
    ("interface_declaration", Rule::Define(Kind::Interface)),
    ("trait_declaration", Rule::Define(Kind::Trait)),
    ("enum_declaration", Rule::Define(Kind::Enum)),
    ("enum_case", Rule::Define(Kind::Enumerator)),
    ("function_definition", Rule::Define(Kind::Function)),
    ("method_declaration", Rule::Define(Kind::Method)),
    ("property_element", Rule::Define(Kind::Field)),
    (
        "const_element",
        Rule::Call(|found, node| {
            if let Some(name) = node.named_child(0) {
                found.add(crate::extract::Definition::new(Kind::Constant, name.byte_range(), node));
            }
        }),
    ),
];
