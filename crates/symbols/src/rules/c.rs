//! C and C++. In the bodies of functions, only macros are listed: the lexer leaves out the rest.

use std::ops::Range;

use tree_sitter::Node;

use super::{NamedRule, Rule, child, field};
use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;
use crate::skim::MARK_NAME;
use crate::skim::c::is_macro;

pub(super) const C: &[NamedRule] = &[
    ("function_definition", Rule::Call(function)),
    ("declaration", Rule::Call(declaration)),
    ("type_definition", Rule::Call(type_definition)),
    ("struct_specifier", Rule::Call(record)),
    ("union_specifier", Rule::Call(record)),
    ("enum_specifier", Rule::Call(record)),
    ("enumerator", Rule::Call(enumerator)),
    ("field_declaration", Rule::Call(members)),
    ("compound_statement", Rule::Call(block)),
    ("preproc_def", Rule::Define(Kind::Macro)),
    ("preproc_function_def", Rule::Define(Kind::Macro)),
];

/// Nodes that only C++ has.
#[cfg(feature = "cpp")]
pub(super) const CPP: &[NamedRule] = &[
    ("class_specifier", Rule::Call(record)),
    ("namespace_definition", Rule::Define(Kind::Namespace)),
    ("alias_declaration", Rule::Call(alias)),
    ("concept_definition", Rule::Define(Kind::Typedef)),
];

/// Name of a declarator, and the innermost function declarator around it.
struct Declared<'t> {
    name: Range<usize>,
    qualifier: Option<Range<usize>>,
    function: Option<Node<'t>>,
    /// A pointer or an array of functions is a variable.
    is_function: bool,
}

/// Follows a declarator to the name that it declares. `None` if there is none, as in abstract declarators and after errors.
fn declared(declarator: Node<'_>) -> Option<Declared<'_>> {
    let (mut node, mut qualifier, mut function, mut is_function) = (declarator, None, None, false);
    loop {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "destructor_name" | "operator_name" => {
                return Some(Declared { name: node.byte_range(), qualifier, function, is_function });
            }
            "template_function" => {
                return Some(Declared { name: field(node, "name")?, qualifier, function, is_function });
            }
            "operator_cast" => {
                // The name of `operator type *()` extends up to the parameters.
                let outer = node.child_by_field_name("declarator")?;
                let mut function = outer;
                while let Some(inner) = function.child_by_field_name("declarator") {
                    function = inner;
                }
                let is_plain = function == outer;
                let name = node.start_byte()..if is_plain {
                    field(node, "type")?.end
                } else {
                    function.start_byte()
                };
                return Some(Declared { name, qualifier, function: Some(function), is_function: true });
            }
            "qualified_identifier" => {
                if let Some(scope) = node.child_by_field_name("scope") {
                    // `Type<T>` is a member of the scope `Type`.
                    let scope = field(scope, "name").unwrap_or(scope.byte_range());
                    qualifier =
                        Some(qualifier.map_or(scope.start, |outer: Range<usize>| outer.start)..scope.end);
                }
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

/// Code in a lambda or in an expression; that of a function is in its scope.
fn block(found: &mut Extraction<'_>, _: Node<'_>) {
    if found.parent().is_none_or(|parent| parent.kind() != "function_definition") {
        found.open(Holds::Locals);
    }
}

/// Functions with a body, `= default` or `= 0`, but not `= delete`.
fn function(found: &mut Extraction<'_>, node: Node<'_>) {
    let body = node.child_by_field_name("body");
    let body =
        body.or_else(|| child(node, &["try_statement", "default_method_clause", "pure_virtual_clause"]));
    let Some(body) = body.filter(|_| !found.is_local()) else { return };
    let Some(declared) = node.child_by_field_name("declarator").and_then(declared) else { return };
    let name = found.bytes(declared.name.clone());
    if name == MARK_NAME || is_keyword(name) || is_invocation(found, node, &declared) {
        return;
    }
    // The parser takes `class MACRO Name { … }` for a function without parameters.
    let kind = match node.child_by_field_name("type").filter(|_| declared.function.is_none()) {
        Some(record) if record.kind() == "class_specifier" => Kind::Class,
        Some(record) if record.kind() == "struct_specifier" => Kind::Struct,
        // `MACRO(name) { … };` defines a value or a type.
        _ if declared.function.is_none() => return,
        _ => Kind::Function,
    };
    // The initialisers of a constructor are no part of its signature.
    let body = child(node, &["field_initializer_list"]).unwrap_or(body);
    let mut definition = Definition::new(kind, declared.name, node).with_head(body.start_byte());
    definition.parameters = declared.function.and_then(|function| field(function, "parameters"));
    definition.qualifier = declared.qualifier;
    found.scope(definition);
}

/// Returns `true` for `TEST(suite, name) { … }` outside of a class: the lexer records the function that such a macro defines.
fn is_invocation(found: &Extraction<'_>, node: Node<'_>, declared: &Declared<'_>) -> bool {
    let parameters = declared.function.and_then(|function| function.child_by_field_name("parameters"));
    let first = parameters.and_then(|parameters| parameters.named_child(0));
    let is_name = first
        .and_then(|first| first.child_by_field_name("type").filter(|_| first.named_child_count() == 1))
        .is_some_and(|kind| kind.kind() == "type_identifier");
    is_name
        && is_macro(found.bytes(declared.name.clone()))
        && node.child_by_field_name("type").is_none()
        && declared.qualifier.is_none()
        && matches!(found.scope_kind(), None | Some(Kind::Namespace))
}

/// `using name = type`.
#[cfg(feature = "cpp")]
fn alias(found: &mut Extraction<'_>, node: Node<'_>) {
    if !found.is_local() {
        found.define(Kind::Typedef, "name", node);
    }
}

/// A constant of an enumeration, which may have no name of its own.
fn enumerator(found: &mut Extraction<'_>, node: Node<'_>) {
    if !found.is_local() {
        found.define(Kind::Enumerator, "name", node);
    }
}

/// Variables; prototypes and external variables are declarations only.
fn declaration(found: &mut Extraction<'_>, node: Node<'_>) {
    if !found.is_local() && !is_external(found, node) {
        declarators(found, node, Kind::Variable);
    }
}

fn is_external(found: &Extraction<'_>, node: Node<'_>) -> bool {
    let storage = child(node, &["storage_class_specifier"]);
    let is_extern = storage.is_some_and(|storage| found.bytes(storage.byte_range()) == b"extern")
        || found.parent().is_some_and(|parent| parent.kind() == "linkage_specification");
    is_extern && child(node, &["init_declarator"]).is_none()
}

fn members(found: &mut Extraction<'_>, node: Node<'_>) {
    if found.is_local() {
        return;
    }
    declarators(found, node, Kind::Field);
    // `virtual int f() = 0` has no body in this class.
    let value = field(node, "default_value").filter(|value| found.bytes(value.clone()) == b"0");
    let declarator = value.and_then(|_| node.child_by_field_name("declarator")).and_then(declared);
    if let Some(Declared { name, function: Some(function), is_function: true, .. }) = declarator {
        let mut definition = Definition::new(Kind::Function, name, node).with_head(function.end_byte());
        definition.parameters = field(function, "parameters");
        found.add(definition);
    }
}

fn declarators(found: &mut Extraction<'_>, node: Node<'_>, kind: Kind) {
    // Outside of a class, as after an error, the grammar takes `friend` for a type.
    if found.bytes(node.byte_range()).starts_with(b"friend ") {
        return;
    }
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        if let Some(names) = bindings(declarator) {
            names.into_iter().for_each(|name| found.add(Definition::new(kind, name.byte_range(), node)));
            continue;
        }
        let Some(declared) = declared(declarator).filter(|declared| !declared.is_function) else { continue };
        if is_keyword(found.bytes(declared.name.clone())) {
            continue;
        }
        let mut definition = Definition::new(kind, declared.name, node);
        definition.qualifier = declared.qualifier;
        found.add(definition);
    }
}

/// The names of `auto [a, b] = pair`.
fn bindings(declarator: Node<'_>) -> Option<Vec<Node<'_>>> {
    let inner = declarator.child_by_field_name("declarator").unwrap_or(declarator);
    let mut cursor = inner.walk();
    let is_binding = inner.kind() == "structured_binding_declarator";
    is_binding
        .then(|| inner.named_children(&mut cursor).filter(|child| child.kind() == "identifier").collect())
}

/// Returns `true` for words that the parser mistakes for a name after an unknown macro, as in `EXPORT int function()`.
fn is_keyword(name: &[u8]) -> bool {
    const KEYWORDS: [&[u8]; 21] = [
        b"bool",
        b"char",
        b"class",
        b"const",
        b"double",
        b"enum",
        b"extern",
        b"float",
        b"inline",
        b"int",
        b"long",
        b"register",
        b"short",
        b"signed",
        b"static",
        b"struct",
        b"typedef",
        b"union",
        b"unsigned",
        b"void",
        b"volatile",
    ];
    KEYWORDS.binary_search(&name).is_ok()
}

fn type_definition(found: &mut Extraction<'_>, node: Node<'_>) {
    if found.is_local() {
        return;
    }
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        // The grammar knows names such as `uint8_t` as types of its own.
        let name = match declarator.kind() {
            "primitive_type" => Some(declarator.byte_range()),
            _ => declared(declarator).map(|declared| declared.name),
        };
        if let Some(name) = name {
            found.add(Definition::new(Kind::Typedef, name, node));
        }
    }
}

fn record(found: &mut Extraction<'_>, node: Node<'_>) {
    let Some(body) = field(node, "body").filter(|_| !found.is_local()) else { return };
    let Some(name) = node.child_by_field_name("name") else { return unnamed(found) };
    // `Type<int>` specializes `Type`, `outer::Type` is a member of `outer`.
    let name = field(name, "name").unwrap_or(name.byte_range());
    let kind = match node.kind() {
        "struct_specifier" => Kind::Struct,
        "union_specifier" => Kind::Union,
        "class_specifier" => Kind::Class,
        _ => Kind::Enum,
    };
    found.scope(Definition::new(kind, name, node).with_head(body.start));
}

/// Members of a type that only a `typedef` names belong to that name.
fn unnamed(found: &mut Extraction<'_>) {
    let parent = found.parent().filter(|parent| parent.kind() == "type_definition");
    let name = parent.and_then(|parent| parent.child_by_field_name("declarator")).and_then(declared);
    if let Some(name) = name {
        found.extend(name.name);
    }
}
