//! Definitions in a text.

use std::ops::Range;

use tree_sitter::Node;

use crate::kind::Kind;

/// Result for a file.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// Definitions, with ranges of the source.
    pub(crate) definitions: Vec<Definition>,
    /// Uses of the name that is asked for, in order.
    pub(crate) references: Vec<Range<usize>>,
    /// Offset of the first place at which the text does not follow the grammar.
    pub(crate) error: Option<usize>,
    /// Scopes are nested too deep.
    pub(crate) too_deep: bool,
    /// The parser took too many steps; there are no definitions then.
    pub(crate) gave_up: bool,
}

impl Parsed {
    /// Adds definitions whose scopes are among them.
    pub(crate) fn append(&mut self, definitions: impl IntoIterator<Item = Definition>) {
        let before = self.definitions.len();
        self.definitions.extend(definitions.into_iter().map(|mut definition| {
            definition.scope = definition.scope.map(|scope| before + scope);
            definition
        }));
    }
}

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

    /// Maps all ranges.
    pub(crate) fn map(&mut self, map: impl Fn(Range<usize>) -> Range<usize>) {
        self.name = map(self.name.clone());
        self.extent = map(self.extent.clone());
        self.head = map(self.head.clone());
        self.parameters = self.parameters.take().map(&map);
        self.qualifier = self.qualifier.take().map(&map);
    }
}
