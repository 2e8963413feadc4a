//! C and C++.

use tree_sitter::Node;

use super::{Rule, field};
use crate::extract::{Definition, Found};
use crate::kind::Kind;

pub(super) static C: [(&str, Rule); 10] = [
    ("function_definition", Rule::Call(function)),
    ("declaration", Rule::Call(declaration)),
    ("type_definition", Rule::Call(type_definition)),
    ("struct_specifier", Rule::Call(record)),
    ("union_specifier", Rule::Call(record)),
    ("enum_specifier", Rule::Call(record)),
    ("enumerator", Rule::Define(Kind::Enumerator)),
    ("field_declaration", Rule::Call(members)),
    ("preproc_def", Rule::Define(Kind::Macro)),
    ("preproc_function_def", Rule::Define(Kind::Macro)),
];

pub(super) static CPP: [(&str, Rule); 14] = [
    ("function_definition", Rule::Call(function)),
    ("declaration", Rule::Call(declaration)),
    ("type_definition", Rule::Call(type_definition)),
    ("struct_specifier", Rule::Call(record)),
    ("union_specifier", Rule::Call(record)),
    ("enum_specifier", Rule::Call(record)),
    ("class_specifier", Rule::Call(record)),
    ("enumerator", Rule::Define(Kind::Enumerator)),
    ("field_declaration", Rule::Call(members)),
    ("preproc_def", Rule::Define(Kind::Macro)),
    ("preproc_function_def", Rule::Define(Kind::Macro)),
    ("namespace_definition", Rule::Define(Kind::Namespace)),
    ("alias_declaration", Rule::Define(Kind::Typedef)),
    ("concept_definition", Rule::Define(Kind::Typedef)),
];

/// Name of a declarator, and the innermost function declarator around it.
struct Declared<'t> {
    name: Node<'t>,
    qualifier: Option<Node<'t>>,
    function: Option<Node<'t>>,
    /// A pointer or an array of functions is a variable.
    is_function: bool,
}

/// Follows a declarator to the name that it declares. `None` if there is none, as in abstract declarators and after errors.
fn declared(declarator: Node<'_>) -> Option<Declared<'_>> {
    let (mut node, mut qualifier, mut function, mut is_function) = (declarator, None, None, false);
    loop {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name" | "operator_name"
            | "primitive_type" | "operator_cast" | "template_function" => {
                return Some(Declared { name: node, qualifier, function, is_function });
            }
            "qualified_identifier" => {
                qualifier = match (qualifier, node.child_by_field_name("scope")) {
                    (None, scope) => scope,
                    (outer, _) => outer,
                };
                node = node.child_by_field_name("name")?;
                continue;
            }
            "function_declarator" => {
                function = Some(node);
                is_function = true;
            }
            "pointer_declarator" | "array_declarator" if is_function => is_function = false,
            _ => {}
        }
        let inner = node.child_by_field_name("declarator");
        node = inner.or_else(|| node.named_child(0).filter(|child| child.kind() != "ERROR"))?;
    }
}

fn function(found: &mut Found<'_>, node: Node<'_>) {
    let Some(declared) = node.child_by_field_name("declarator").and_then(declared) else { return };
    let body = field(node, "body").map_or(node.end_byte(), |body| body.start);
    let parameters = declared.function.and_then(|function| field(function, "parameters"));
    let mut definition = Definition::new(Kind::Function, declared.name.byte_range(), node).with_head(body);
    definition.parameters = parameters;
    definition.qualifier = declared.qualifier.map(|qualifier| qualifier.byte_range());
    found.scope(definition);
}

/// Variables; prototypes and external variables are declarations only.
fn declaration(found: &mut Found<'_>, node: Node<'_>) {
    if !found.is_local() && !is_external(found, node) {
        declarators(found, node, Kind::Variable);
    }
}

fn is_external(found: &Found<'_>, node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let storage = node.children(&mut cursor).find(|child| child.kind() == "storage_class_specifier");
    let mut initialised = node.walk();
    storage.is_some_and(|storage| found.bytes(storage.byte_range()) == b"extern")
        && !node.children(&mut initialised).any(|child| child.kind() == "init_declarator")
}

fn members(found: &mut Found<'_>, node: Node<'_>) {
    declarators(found, node, Kind::Field);
}

fn declarators(found: &mut Found<'_>, node: Node<'_>, kind: Kind) {
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        let Some(declared) = declared(declarator).filter(|declared| !declared.is_function) else { continue };
        let mut definition = Definition::new(kind, declared.name.byte_range(), node);
        definition.qualifier = declared.qualifier.map(|qualifier| qualifier.byte_range());
        found.add(definition);
    }
}

fn type_definition(found: &mut Found<'_>, node: Node<'_>) {
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        if let Some(declared) = declared(declarator) {
            found.add(Definition::new(Kind::Typedef, declared.name.byte_range(), node));
        }
    }
}

fn record(found: &mut Found<'_>, node: Node<'_>) {
    let (Some(name), Some(body)) = (node.child_by_field_name("name"), field(node, "body")) else { return };
    let kind = match node.kind() {
        "struct_specifier" => Kind::Struct,
        "union_specifier" => Kind::Union,
        "class_specifier" => Kind::Class,
        _ => Kind::Enum,
    };
    found.scope(Definition::new(kind, name.byte_range(), node).with_head(body.start));
}
