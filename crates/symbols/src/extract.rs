//! Extraction: from a syntax tree to definitions.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::definition::Definition;
use crate::kind::Kind;
use crate::rules::{GrammarRules, Rule, field};

/// Maximum number of scopes around a definition. Definitions in deeper scopes belong to the last of them, so that the time for a file
/// grows with its length only.
pub(crate) const MAX_SCOPES: usize = 64;

/// Number of nodes between two looks at whether the job was asked to end: less than a millisecond.
const NODES_PER_CHECK: usize = 1 << 12;

/// Definitions of a file so far, and the nodes and scopes around the current node.
pub(crate) struct Extraction<'t> {
    text: &'t [u8],
    definitions: Vec<Definition>,
    scopes: Vec<OpenScope>,
    /// The nodes around the current one, from the outside in. A node does not know its parent: `Node::parent` searches from the root.
    ancestors: Vec<Node<'t>>,
    /// A scope was left out, since [`MAX_SCOPES`] are around it.
    too_deep: bool,
    /// Names that were added once, with their scope.
    once: HashSet<(Option<usize>, &'t [u8])>,
}

/// Meaning of the definitions in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Definitions of their own, as in a namespace.
    Names,
    /// Methods and fields of a type.
    Members,
    /// Definitions in code that runs: variables are local.
    Locals,
}

impl Holds {
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::Function | Kind::Method | Kind::Property => Self::Locals,
            Kind::Class
            | Kind::Enum
            | Kind::Enumerator
            | Kind::Interface
            | Kind::Struct
            | Kind::Trait
            | Kind::Union => Self::Members,
            _ => Self::Names,
        }
    }
}

struct OpenScope {
    depth: usize,
    /// The definition that it is; none for a scope that extends another definition, such as an `impl` of Rust.
    definition: Option<usize>,
    /// Name of a scope that is no definition.
    name: Option<Range<usize>>,
    holds: Holds,
}

// No language needs all of it.
#[cfg_attr(not(feature = "all-languages"), allow(dead_code))]
impl<'t> Extraction<'t> {
    /// Bytes of the text that was parsed.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &'t [u8] {
        &self.text[range]
    }

    /// The node around the current one.
    pub(crate) fn parent(&self) -> Option<Node<'t>> {
        self.around().next()
    }

    /// The nodes around the current one, from the inside out.
    pub(crate) fn around(&self) -> impl Iterator<Item = Node<'t>> + use<'_, 't> {
        self.ancestors.iter().rev().copied()
    }

    /// Returns `true` in code that runs: in functions, but not in the types within them.
    pub(crate) fn is_local(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.holds == Holds::Locals)
    }

    /// Kind of the innermost scope that is a definition.
    pub(crate) fn scope_kind(&self) -> Option<Kind> {
        self.scopes.last().and_then(|scope| scope.definition).map(|index| self.definitions[index].kind)
    }

    /// Name of the last definition, if its body is the one at an offset.
    pub(crate) fn name_of_body(&self, start: usize) -> Option<&'t [u8]> {
        let last = self.definitions.last().filter(|last| last.head.end == start);
        last.map(|last| self.bytes(last.name.clone()))
    }

    /// Adds the definition of a variable, unless the same scope has one of that name. For languages without declarations.
    pub(crate) fn add_once(&mut self, definition: Definition) {
        let scope = self.scopes.last().and_then(|scope| scope.definition);
        if self.once.insert((scope, &self.text[definition.name.clone()])) {
            self.add(definition);
        }
    }

    /// Adds a definition in the current scope.
    pub(crate) fn add(&mut self, mut definition: Definition) {
        // After a syntax error, a name may be missing or continue in the next line.
        if definition.name.is_empty() || self.text[definition.name.clone()].iter().any(u8::is_ascii_control) {
            return;
        }
        definition.name = unquoted(self.text, definition.name);
        definition.parameters = definition.parameters.filter(|parameters| !parameters.is_empty());
        let mut in_type = definition.qualifier.is_some();
        if let Some(scope) = self.scopes.last() {
            in_type |= scope.holds == Holds::Members;
            definition.scope = scope.definition;
            if definition.qualifier.is_none() {
                definition.qualifier.clone_from(&scope.name);
            }
        }
        if in_type {
            definition.kind = definition.kind.in_type();
        }
        self.definitions.push(definition);
    }

    /// Adds a definition that is the scope of the definitions in its node.
    pub(crate) fn scope(&mut self, definition: Definition) {
        let holds = Holds::of(definition.kind);
        let before = self.definitions.len();
        self.add(definition);
        if self.definitions.len() > before {
            self.push(OpenScope { depth: self.ancestors.len(), definition: Some(before), name: None, holds });
        }
    }

    fn push(&mut self, scope: OpenScope) {
        match self.scopes.len() < MAX_SCOPES {
            true => self.scopes.push(scope),
            false => self.too_deep = true,
        }
    }

    /// Adds a definition that is the scope of the rest of the file.
    pub(crate) fn scope_rest(&mut self, definition: Definition) {
        self.scopes.clear();
        self.scope(definition);
        for scope in &mut self.scopes {
            scope.depth = 0;
        }
    }

    /// Makes a node the scope of the definitions in it, without being a definition.
    pub(crate) fn extend(&mut self, name: Range<usize>) {
        let definition = self.scopes.last().and_then(|scope| scope.definition);
        self.push(OpenScope {
            depth: self.ancestors.len(),
            definition,
            name: Some(name),
            holds: Holds::Members,
        });
    }

    /// Makes a node a scope without a name: definitions in it belong to the scope around it.
    pub(crate) fn open(&mut self, holds: Holds) {
        let (definition, name) =
            self.scopes.last().map_or((None, None), |scope| (scope.definition, scope.name.clone()));
        self.push(OpenScope { depth: self.ancestors.len(), definition, name, holds });
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
            Rule::Open(holds) => self.open(holds),
        }
    }
}

/// Name without the quotes around it.
fn unquoted(text: &[u8], name: Range<usize>) -> Range<usize> {
    match text[name.clone()] {
        [b'\'' | b'"' | b'`', .., b'\'' | b'"' | b'`'] if name.len() > 2 => name.start + 1..name.end - 1,
        _ => name,
    }
}

/// Definitions of a syntax tree, in the order of their nodes, and whether scopes in them were left out. `None` if the job was asked to end.
pub(crate) fn definitions<'t>(
    tree: &'t Tree,
    text: &'t [u8],
    rules: &GrammarRules,
    is_stopped: impl Fn() -> bool,
) -> Option<(Vec<Definition>, bool)> {
    let mut found = Extraction {
        text,
        definitions: Vec::new(),
        scopes: Vec::new(),
        ancestors: Vec::new(),
        too_deep: false,
        once: HashSet::new(),
    };
    let mut cursor = tree.walk();
    for number in 0_usize.. {
        if number.is_multiple_of(NODES_PER_CHECK) && is_stopped() {
            break;
        }
        let node = cursor.node();
        if let Some(rule) = rules.of(node) {
            found.visit(rule, node);
        }
        if cursor.goto_first_child() {
            found.ancestors.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some((found.definitions, found.too_deep));
            }
            found.ancestors.pop();
        }
        let depth = found.ancestors.len();
        while found.scopes.pop_if(|scope| scope.depth >= depth).is_some() {}
    }
    None
}
