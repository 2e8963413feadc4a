//! Ruby.

use tree_sitter::Node;

use super::Rule;
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 5] = [
    ("module", Rule::Define(Kind::Module)),
    ("class", Rule::Define(Kind::Class)),
    ("method", Rule::Define(Kind::Function)),
    ("singleton_method", Rule::Define(Kind::Method)),
    ("assignment", Rule::Call(constant)),
];

/// `NAME = value`. Other variables are not defined by an assignment.
fn constant(found: &mut Found<'_>, node: Node<'_>) {
    if let Some(name) = node.child_by_field_name("left").filter(|left| left.kind() == "constant") {
        found.add(Definition::new(Kind::Constant, name.byte_range(), node));
    }
}
