//! Rules: which nodes of a syntax tree define what.

#[cfg(feature = "bash")]
mod bash;
#[cfg(any(feature = "c", feature = "cpp"))]
mod c;
#[cfg(feature = "c-sharp")]
mod c_sharp;
#[cfg(feature = "d")]
mod d;
#[cfg(feature = "elixir")]
mod elixir;
#[cfg(feature = "go")]
mod go;
#[cfg(feature = "java")]
mod java;
#[cfg(any(feature = "javascript", feature = "typescript"))]
mod javascript;
#[cfg(feature = "kotlin")]
mod kotlin;
#[cfg(feature = "lua")]
mod lua;
#[cfg(feature = "php")]
mod php;
#[cfg(feature = "protobuf")]
mod protobuf;
#[cfg(feature = "python")]
mod python;
#[cfg(feature = "ruby")]
mod ruby;
#[cfg(feature = "rust")]
mod rust;
#[cfg(feature = "scala")]
mod scala;
#[cfg(feature = "swift")]
mod swift;
#[cfg(feature = "zig")]
mod zig;

use std::ops::Range;

use tree_sitter::{Language as Grammar, Node};

use crate::definition::Definition;
use crate::extract::{Extraction, Holds};
use crate::kind::Kind;
use crate::language::Language;

/// Meaning of a kind of node.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// A definition whose name is the field `name`, unless it is a local variable.
    Define(Kind),
    /// A scope without a name, such as the body of a lambda or of an anonymous class.
    Open(Holds),
    /// Anything else: adds definitions itself.
    Call(fn(&mut Extraction<'_>, Node<'_>)),
}

/// Kind of a node, by name, and its rule.
type NamedRule = (&'static str, Rule);

/// Rules for the nodes of a language, by the number of the node's kind.
pub(crate) struct GrammarRules {
    by_kind: Vec<Option<Rule>>,
}

impl GrammarRules {
    /// The rules of a language. Names of nodes that the grammar does not have are a mistake that the tests find.
    pub(crate) fn new(language: Language, grammar: &Grammar) -> Self {
        let mut by_kind = vec![None; grammar.node_kind_count()];
        for &(name, rule) in tables(language).iter().copied().flatten() {
            // A grammar may have several kinds of one name, such as aliases.
            for kind in 0..grammar.node_kind_count() as u16 {
                if grammar.node_kind_for_id(kind) == Some(name) && grammar.node_kind_is_named(kind) {
                    by_kind[usize::from(kind)] = Some(rule);
                }
            }
        }
        Self { by_kind }
    }

    pub(crate) fn of(&self, node: Node<'_>) -> Option<Rule> {
        self.by_kind.get(usize::from(node.kind_id())).copied().flatten()
    }
}

/// Tables of a language. Related languages share one.
fn tables(language: Language) -> &'static [&'static [NamedRule]] {
    match language {
        #[cfg(feature = "c")]
        Language::C => &[c::C],
        #[cfg(feature = "cpp")]
        Language::Cpp => &[c::C, c::CPP],
        #[cfg(feature = "go")]
        Language::Go => &[go::RULES],
        #[cfg(feature = "java")]
        Language::Java => &[java::RULES],
        #[cfg(feature = "javascript")]
        Language::JavaScript => &[javascript::COMMON, javascript::JAVASCRIPT],
        #[cfg(feature = "python")]
        Language::Python => &[python::RULES],
        #[cfg(feature = "rust")]
        Language::Rust => &[rust::RULES],
        #[cfg(feature = "bash")]
        Language::Bash => &[bash::RULES],
        #[cfg(feature = "c-sharp")]
        Language::CSharp => &[c_sharp::RULES],
        #[cfg(feature = "d")]
        Language::D => &[d::RULES],
        #[cfg(feature = "elixir")]
        Language::Elixir => &[elixir::RULES],
        #[cfg(feature = "kotlin")]
        Language::Kotlin => &[kotlin::RULES],
        #[cfg(feature = "dockerfile")]
        Language::Dockerfile => &[],
        #[cfg(feature = "make")]
        Language::Make => &[],
        #[cfg(feature = "markdown")]
        Language::Markdown => &[],
        #[cfg(feature = "lua")]
        Language::Lua => &[lua::RULES],
        #[cfg(feature = "protobuf")]
        Language::Protobuf => &[protobuf::RULES],
        #[cfg(feature = "objc")]
        Language::ObjC | Language::ObjCpp => &[],
        #[cfg(feature = "perl")]
        Language::Perl => &[],
        #[cfg(feature = "php")]
        Language::Php => &[php::RULES],
        #[cfg(feature = "ruby")]
        Language::Ruby => &[ruby::RULES],
        #[cfg(feature = "scala")]
        Language::Scala => &[scala::RULES],
        #[cfg(feature = "sql")]
        Language::Sql => &[],
        #[cfg(feature = "swift")]
        Language::Swift => &[swift::RULES],
        #[cfg(feature = "zig")]
        Language::Zig => &[zig::RULES],
        #[cfg(feature = "typescript")]
        Language::Tsx | Language::TypeScript => &[javascript::COMMON, javascript::TYPESCRIPT],
        #[cfg(feature = "vue")]
        Language::Vue => &[],
    }
}

/// Range of a child, by field.
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
pub(crate) fn field(node: Node<'_>, name: &str) -> Option<Range<usize>> {
    node.child_by_field_name(name).map(|child| child.byte_range())
}

/// Adds a definition for each child in a field, such as the names of `var a, b int`.
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
pub(crate) fn each(found: &mut Extraction<'_>, node: Node<'_>, name: &str, kind: Kind) {
    if matches!(kind, Kind::Variable | Kind::Constant) && found.is_local() {
        return;
    }
    let mut cursor = node.walk();
    for child in node.children_by_field_name(name, &mut cursor).filter(Node::is_named) {
        found.add(Definition::new(kind, child.byte_range(), node));
    }
}

/// The first child of one of some kinds.
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
pub(crate) fn child<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| kinds.contains(&child.kind()))
}

/// Collects the names in a pattern such as `(a, [b, *c])`. Default values are not part of it.
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
pub(crate) fn names<'t>(pattern: Node<'t>, names_found: &mut Vec<Node<'t>>) {
    let is_pattern = |kind: &str| {
        kind.contains("pattern")
            || matches!(kind, "identifiers" | "multi_variable_declaration" | "variable_declaration")
    };
    let mut cursor = pattern.walk();
    loop {
        let node = cursor.node();
        match node.kind() {
            _ if !node.is_named() || cursor.field_name() == Some("right") => {}
            "identifier" | "simple_identifier" | "shorthand_property_identifier_pattern" => {
                names_found.push(node);
            }
            kind if is_pattern(kind) && cursor.goto_first_child() => continue,
            _ => {}
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodes_of_all_rules_are_in_the_grammars() {
        for &language in Language::ALL {
            let Some(grammar) = language.grammar() else { continue };
            for (name, _) in tables(language).iter().copied().flatten() {
                assert_ne!(grammar.id_for_node_kind(name, true), 0, "{}: {name}", language.name());
            }
        }
    }
}
