//! Extraction: from a syntax tree to definitions.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::kind::Kind;
use crate::rules::{Rule, Rules, field};

/// Maximum number of scopes around a definition. Definitions in deeper scopes belong to the last of them, so that the time for a file
/// grows with its length only.
const MAX_SCOPES: usize = 64;

/// A definition as a rule finds it. Ranges are of the text that was parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) kind: Kind,
    pub(crate) name: Range<usize>,
    /// From the first token to the end of the body.
    pub(crate) extent: Range<usize>,
    /// The extent up to the body.
    pub(crate) head: Range<usize>,
    pub(crate) parameters: Option<Range<usize>>,
    /// Scope that is written before the name, as in `void Type::method()`.
    pub(crate) qualifier: Option<Range<usize>>,
    /// Index of the definition around this one.
    pub(crate) scope: Option<usize>,
}

impl Definition {
    /// A definition that is the whole of a node.
    pub(crate) fn new(kind: Kind, name: Range<usize>, node: Node<'_>) -> Self {
        let extent = node.byte_range();
        Self { kind, name, head: extent.clone(), extent, parameters: None, qualifier: None, scope: None }
    }

    /// The same, with a head that ends where the body begins.
    pub(crate) fn with_head(mut self, end: usize) -> Self {
        self.head.end = end.clamp(self.head.start, self.extent.end);
        self
    }
}

/// Definitions of a file so far, and the scopes around the current node.
pub(crate) struct Found<'t> {
    text: &'t [u8],
    definitions: Vec<Definition>,
    scopes: Vec<Scope>,
    /// Number of scopes that are functions.
    functions: usize,
    depth: usize,
}

struct Scope {
    depth: usize,
    /// The definition that it is; none for a scope that extends another definition, such as an `impl` of Rust.
    definition: Option<usize>,
    /// Name of a scope that is no definition.
    name: Option<Range<usize>>,
    is_function: bool,
}

impl<'t> Found<'t> {
    /// Bytes of the text that was parsed.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &'t [u8] {
        &self.text[range]
    }

    /// Returns `true` inside of a function.
    pub(crate) fn is_local(&self) -> bool {
        self.functions > 0
    }

    /// Adds a definition in the current scope.
    pub(crate) fn add(&mut self, mut definition: Definition) {
        if definition.name.is_empty() {
            return;
        }
        if let Some(scope) = self.scopes.last() {
            definition.scope = scope.definition;
            if definition.qualifier.is_none() {
                definition.qualifier.clone_from(&scope.name);
            }
        }
        let in_type = definition.scope.is_some_and(|scope| self.definitions[scope].kind.has_methods());
        if in_type || definition.qualifier.is_some() {
            definition.kind = definition.kind.in_type();
        }
        self.definitions.push(definition);
    }

    /// Adds a definition that is the scope of those in its node.
    pub(crate) fn scope(&mut self, definition: Definition) {
        let is_function = definition.kind.is_function();
        let before = self.definitions.len();
        self.add(definition);
        if self.definitions.len() > before && self.scopes.len() < MAX_SCOPES {
            self.functions += usize::from(is_function);
            self.scopes.push(Scope { depth: self.depth, definition: Some(before), name: None, is_function });
        }
    }

    /// Makes a node the scope of the definitions in it, without being a definition.
    pub(crate) fn extend(&mut self, name: Range<usize>) {
        let definition = self.scopes.last().and_then(|scope| scope.definition);
        if self.scopes.len() < MAX_SCOPES {
            self.scopes.push(Scope { depth: self.depth, definition, name: Some(name), is_function: false });
        }
    }

    /// Adds the definition that a node is, whose name is a field of it. Local variables are left out.
    pub(crate) fn define(&mut self, kind: Kind, name: &str, node: Node<'_>) {
        if matches!(kind, Kind::Variable | Kind::Constant) && self.is_local() {
            return;
        }
        if let Some(name) = field(node, name) {
            let body = field(node, "body").map_or(node.end_byte(), |body| body.start);
            let mut definition = Definition::new(kind, name, node).with_head(body);
            definition.parameters = field(node, "parameters");
            self.scope(definition);
        }
    }

    fn visit(&mut self, rule: Rule, node: Node<'_>) {
        match rule {
            Rule::Call(call) => call(self, node),
            Rule::Define(kind) => self.define(kind, "name", node),
        }
    }
}

/// Definitions of a syntax tree, in the order of their nodes.
pub(crate) fn definitions(tree: &Tree, text: &[u8], rules: &Rules) -> Vec<Definition> {
    let mut found = Found { text, definitions: Vec::new(), scopes: Vec::new(), functions: 0, depth: 0 };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if let Some(rule) = rules.of(node) {
            found.visit(rule, node);
        }
        if cursor.goto_first_child() {
            found.depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found.definitions;
            }
            found.depth -= 1;
        }
        let depth = found.depth;
        while let Some(scope) = found.scopes.pop_if(|scope| scope.depth >= depth) {
            found.functions -= usize::from(scope.is_function);
        }
    }
}
