//! Zig.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static RULES: [(&str, Rule); 3] = [
    ("function_declaration", Rule::Define(Kind::Function)),
    ("variable_declaration", Rule::Call(variable)),
    ("container_field", Rule::Call(member)),
];

/// Types are constants whose value is a container.
fn variable(found: &mut Found<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    let mut children = node.named_children(&mut cursor);
    let Some(name) = children.find(|child| child.kind() == "identifier") else { return };
    let container = children.find(|child| child.kind().ends_with("_declaration"));
    let kind = match container.map(|container| container.kind()) {
        Some("struct_declaration" | "opaque_declaration") => Kind::Struct,
        Some("enum_declaration" | "error_set_declaration") => Kind::Enum,
        Some("union_declaration") => Kind::Union,
        _ if found.is_local() => return,
        _ if node.child(0).is_some_and(|first| first.kind() == "const") => Kind::Constant,
        _ => Kind::Variable,
    };
    let head = container.map_or(node.end_byte(), |container| container.start_byte());
    let definition = Definition::new(kind, name.byte_range(), node).with_head(head);
    if container.is_some() { found.scope(definition) } else { found.add(definition) }
}

fn member(found: &mut Found<'_>, node: Node<'_>) {
    let in_enum = node.parent().is_some_and(|parent| parent.kind() == "enum_declaration");
    let name = field(node, "name").or_else(|| node.named_child(0).map(|name| name.byte_range()));
    if let Some(name) = name {
        found.add(Definition::new(if in_enum { Kind::Enumerator } else { Kind::Field }, name, node));
    }
}
