//! Recovery: definitions of a text with syntax errors, from a parse without its broken parts and a parse of each of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter::once;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::definition::Definition;
use crate::extract::Holds;
use crate::language::Language;
use crate::mend::{BrokenPart, broken_parts, without};
use crate::parser::{Grammar, ended, max_steps};

/// Largest column of a definition that counts.
const MAX_COLUMN: usize = 256;

/// Fewest steps that are counted for a parse: its callback counts hundreds of them.
const LEAST_STEPS: usize = 100;

/// Steps that the parser may still take for a text and all its pieces.
pub(crate) struct Budget(usize);

impl Budget {
    pub(crate) fn new(text: &[u8]) -> Self {
        Self(2 * max_steps(text))
    }
}

impl Grammar {
    /// Definitions of a text with syntax errors, and the offset of the first one. Those that were `found` in all of it are returned if
    /// mending it finds no more.
    pub(crate) fn recover(
        &mut self,
        text: &[u8],
        error: usize,
        tree: &Tree,
        found: Mended,
        budget: &mut Budget,
    ) -> Mended {
        let mended = self.mended(text, tree, budget);
        let error = mended.as_ref().and_then(|mended| mended.error).or(Some(error));
        match mended {
            Some(mended) if is_better(text, &mended.definitions, &found.definitions) => {
                Mended { error, ..mended }
            }
            _ => Mended { error, ..found },
        }
    }

    fn mended(&mut self, text: &[u8], tree: &Tree, budget: &mut Budget) -> Option<Mended> {
        let suspects = suspects(tree);
        let is_suspect = |part: &Range<usize>| {
            let next = suspects.partition_point(|suspect| suspect.end <= part.start);
            suspects.get(next).is_some_and(|suspect| suspect.start < part.end)
        };
        let language = self.language;
        let is_sound = |text: &[u8]| {
            let tree = self.tree(&with_opening(language, text), budget)?;
            Some(!tree.root_node().has_error())
        };
        let broken = broken_parts(text, is_suspect, is_sound)?;
        if broken.is_empty() {
            return None;
        }
        let whole = without(text, &broken);
        let tree = self.tree(&whole, budget)?;
        let (definitions, too_deep) = self.definitions(&tree, &whole)?;
        let mut mended = Mended { definitions, error: first_error(&tree), too_deep };
        self.add_parts(text, &broken, &mut mended, budget)?;
        Some(mended)
    }

    /// The syntax tree of a text.
    fn tree(&mut self, text: &[u8], budget: &mut Budget) -> Option<Tree> {
        let (tree, steps) = self.parse_in(&ended(text), budget.0);
        budget.0 = budget.0.checked_sub(steps.max(LEAST_STEPS))?;
        tree
    }

    /// A broken part as a text of its own, and its syntax tree. What is missing at its end is added, if that is all that is missing.
    fn completed(&mut self, part: &BrokenPart, text: &[u8], budget: &mut Budget) -> Option<(Vec<u8>, Tree)> {
        let end: &[u8] = match self.language.name() {
            "lua" | "ruby" => b"\nend\n",
            "c" | "cpp" => b"\n};\n",
            "python" => b"",
            _ => b"\n}\n",
        };
        let mut parsed = |end: &[u8]| {
            let text = with_opening(self.language, &part.wrapped(text, end)).into_owned();
            let tree = self.tree(&text, budget)?;
            Some((text, tree))
        };
        match parsed(end)? {
            complete if !complete.1.root_node().has_error() => Some(complete),
            _ => parsed(b""),
        }
    }

    /// Adds the definitions of broken parts of a text to those of the rest.
    pub(crate) fn add_parts(
        &mut self,
        text: &[u8],
        parts: &[BrokenPart],
        mended: &mut Mended,
        budget: &mut Budget,
    ) -> Option<()> {
        let Mended { definitions: found, error, too_deep } = mended;
        let by_name: HashMap<usize, usize> =
            found.iter().enumerate().map(|(index, definition)| (definition.name.start, index)).collect();
        let mut scopes = Scopes::new(found);
        for part in parts {
            let (wrapped, tree) = self.completed(part, text, budget)?;
            let end = part.range.start + text[part.range.clone()].trim_ascii_end().len();
            let shift = opening(self.language, &part.wrapped(text, b"")).len();
            let (inner, is_deep) = self.definitions(&tree, &wrapped)?;
            *too_deep |= is_deep;
            // A missing token counts as missing at the end of the part.
            let at =
                first_error(&tree).map_or(end, |offset| part.source(offset.saturating_sub(shift)).min(end));
            *error = Some(error.map_or(at, |error| error.min(at)));
            let around = scopes.at(found, part.range.start);
            // Indices of the definitions of the part; those of the types around it are there already.
            let mut indices: Vec<Option<usize>> = Vec::with_capacity(inner.len());
            for mut definition in inner {
                let source = |offset: usize| part.source(offset.saturating_sub(shift));
                definition.map(|range| source(range.start)..source(range.end).max(source(range.start)));
                let is_inner = part.range.contains(&definition.name.start) && !definition.name.is_empty();
                if !is_inner {
                    indices.push(by_name.get(&definition.name.start).copied());
                    continue;
                }
                definition.scope = definition.scope.map_or(around, |scope| indices[scope].or(around));
                definition.extent.start = definition.extent.start.max(part.range.start);
                definition.head.start = definition.head.start.max(part.range.start);
                indices.push(Some(found.len()));
                found.push(definition);
            }
        }
        Some(())
    }
}

/// Definitions of a text with syntax errors.
pub(crate) struct Mended {
    pub(crate) definitions: Vec<Definition>,
    /// Offset of the first error.
    pub(crate) error: Option<usize>,
    /// Scopes are nested too deep.
    pub(crate) too_deep: bool,
}

/// Scopes around places that do not go back.
pub(crate) struct Scopes {
    /// Indices of definitions, the first one last.
    next: Vec<usize>,
    /// Those around the last place, the innermost one last.
    open: Vec<usize>,
    /// Scopes of the rest of the file.
    rest: Vec<bool>,
}

impl Scopes {
    /// The scopes among definitions, without those of code that runs.
    pub(crate) fn new(found: &[Definition]) -> Self {
        let mut next: Vec<usize> =
            (0..found.len()).filter(|&index| Holds::of(found[index].kind) != Holds::Locals).collect();
        next.sort_by_key(|&index| found[index].extent.start);
        next.reverse();
        let mut rest = vec![false; found.len()];
        for definition in found {
            if let Some(scope) = definition.scope {
                rest[scope] |= found[scope].extent.end <= definition.extent.start;
            }
        }
        Self { next, open: Vec::new(), rest }
    }

    /// The innermost scope at an offset.
    pub(crate) fn at(&mut self, found: &[Definition], at: usize) -> Option<usize> {
        while let Some(scope) = self.next.pop_if(|index| found[*index].extent.start <= at) {
            self.open.push(scope);
        }
        while self.open.pop_if(|index| !self.rest[*index] && found[*index].extent.end <= at).is_some() {}
        self.open.last().copied()
    }
}

/// Returns `true` if more definitions of a text are where indentation says, or as many and more in all.
pub(crate) fn is_better(text: &[u8], mended: &[Definition], found: &[Definition]) -> bool {
    let score = |definitions: &[Definition]| {
        let in_place = definitions.iter().filter(|definition| is_in_place(text, definitions, definition));
        (in_place.count(), definitions.len())
    };
    score(mended) > score(found)
}

/// Returns `true` for a definition outside of functions that is indented if it is in a type. After a brace that is missing, others
/// seem to be in what it should close.
fn is_in_place(text: &[u8], definitions: &[Definition], definition: &Definition) -> bool {
    let column = |definition: &Definition| {
        let line = &text[definition.extent.start.saturating_sub(MAX_COLUMN)..definition.extent.start];
        line.len() - memchr::memrchr(b'\n', line).map_or(0, |end| end + 1)
    };
    // The name of a type that it extends is before it.
    let is_member = definition.qualifier.as_ref().is_some_and(|name| name.end <= definition.extent.start);
    match definition.scope {
        None => !is_member || column(definition) > 0,
        Some(scope) => match Holds::of(definitions[scope].kind) {
            Holds::Names => true,
            Holds::Members => column(definition) > column(&definitions[scope]),
            Holds::Locals => false,
        },
    }
}

/// Text before a part of a file that makes it code.
fn opening(language: Language, text: &[u8]) -> &'static [u8] {
    let is_code = language.name() != "php" || memchr::memmem::find(text, b"<?").is_some();
    if is_code { b"" } else { b"<?php\n" }
}

/// A part of a file as a text of its own.
fn with_opening(language: Language, text: &[u8]) -> Cow<'_, [u8]> {
    match opening(language, text) {
        b"" => Cow::Borrowed(text),
        opening => Cow::Owned([opening, text].concat()),
    }
}

/// Ranges of the top-level nodes of a tree that have errors, in order: all of the text if nothing fits together.
fn suspects(tree: &Tree) -> Vec<Range<usize>> {
    let root = tree.root_node();
    if root.is_error() {
        return once(0..usize::MAX).collect();
    }
    let mut cursor = root.walk();
    root.children(&mut cursor).filter(|child| child.has_error()).map(|child| child.byte_range()).collect()
}

/// Offset of the first error in a tree.
pub(crate) fn first_error(tree: &Tree) -> Option<usize> {
    let mut node = tree.root_node();
    let is_broken = |node: &Node<'_>| node.has_error() || node.is_missing();
    if !is_broken(&node) {
        return None;
    }
    loop {
        let mut cursor = node.walk();
        let inner = node.children(&mut cursor).find(is_broken);
        match inner {
            Some(inner) => node = inner,
            None => return Some(node.start_byte()),
        }
    }
}
