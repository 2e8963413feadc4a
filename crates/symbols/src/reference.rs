//! Uses of a name: words of the code that are not the name of a definition.
//!
//! Literals and comments are not code. In C and C++ a lexer recognises them; elsewhere, and with `thorough`, the syntax tree does. The
//! tree is the reference implementation.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::extract::Definition;
use crate::query::Name;

/// Places of a text that may be uses of a name: words that it may match, in order. None of them is the name of a definition.
pub(crate) struct PossibleUses<'t> {
    text: &'t [u8],
    name: &'t Name,
    defined: HashSet<usize>,
}

impl<'t> PossibleUses<'t> {
    pub(crate) fn new(text: &'t [u8], name: &'t Name, definitions: &[Definition]) -> Self {
        Self { text, name, defined: definitions.iter().map(|definition| definition.name.start).collect() }
    }

    /// Words that a lexer finds to be code; with `has_dollar`, `$` is part of a word. `is_code` is asked for offsets in order.
    pub(crate) fn in_code(
        &self,
        has_dollar: bool,
        mut is_code: impl FnMut(usize) -> bool,
    ) -> Vec<Range<usize>> {
        let is_whole = |word: &Range<usize>| {
            let around = [word.start.checked_sub(1), Some(word.end)];
            !has_dollar || !around.into_iter().flatten().any(|place| self.text.get(place) == Some(&b'$'))
        };
        let words =
            self.words().filter(|word| is_whole(word) && self.name.is_match(&self.text[word.clone()]));
        words.filter(|word| is_code(word.start) && !self.defined.contains(&word.start)).collect()
    }

    /// Identifiers of a syntax tree, whose lexer decides where they end. `is_code` is asked for offsets in lines of the preprocessor,
    /// which are not parsed.
    pub(crate) fn in_tree(&self, tree: &Tree, mut is_code: impl FnMut(usize) -> bool) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for word in self.words() {
            let Some(leaf) = tree.root_node().descendant_for_byte_range(word.start, word.start + 1) else {
                continue;
            };
            let range = match leaf.kind() {
                "preproc_arg" if is_code(word.start) => word,
                _ if is_identifier(leaf) => leaf.byte_range(),
                _ => continue,
            };
            let is_new = found.last().is_none_or(|last| last.end <= range.start);
            let is_match = self.text.get(range.clone()).is_some_and(|word| self.name.is_match(word));
            if is_new && is_match && !self.defined.contains(&range.start) {
                found.push(range);
            }
        }
        found
    }

    /// Words that overlap the places at which the name may be.
    fn words(&self) -> impl Iterator<Item = Range<usize>> {
        let (text, mut end) = (self.text, 0);
        self.name.places(text).flat_map(move |place| {
            let mut words = Vec::new();
            let mut at = place.start.max(end);
            at -= text[end..at].iter().rev().take_while(|byte| is_word(byte)).count();
            while at < place.end.max(place.start + 1).min(text.len()) {
                let length = text[at..].iter().take_while(|byte| is_word(byte)).count();
                if length > 0 {
                    words.push(at..at + length);
                }
                at += length.max(1);
            }
            end = end.max(at);
            words
        })
    }
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 128..)
}

/// Returns `true` for a name in the code. Grammars give literals and comments kinds of their own.
fn is_identifier(node: Node<'_>) -> bool {
    const TEXTS: [&str; 10] =
        ["comment", "string", "char", "content", "text", "literal", "fragment", "escape", "heredoc", "regex"];
    let kind = node.kind();
    node.is_named() && node.child_count() == 0 && !TEXTS.iter().any(|text| kind.contains(text))
}
