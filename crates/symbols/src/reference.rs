//! Uses of a name: words of the code that are not the name of a definition.
//!
//! Literals and comments are not code. In C, C++, Objective-C and languages of lines a lexer recognises them; elsewhere, and with `thorough`,
//! the syntax tree does. The tree is the reference implementation.

use std::ops::Range;

use tree_sitter::{Node, Tree, TreeCursor};

use crate::definition::Definition;
use crate::language::Language;
use crate::name::Name;
use crate::skim;

/// Places of a text that may be uses of a name, or names of definitions.
pub(crate) struct PossibleUses<'t> {
    text: &'t [u8],
    language: Language,
    name: &'t Name,
}

impl<'t> PossibleUses<'t> {
    pub(crate) fn new(text: &'t [u8], language: Language, name: &'t Name) -> Self {
        Self { text, language, name }
    }

    /// Words that the lexer finds to be code, in order. `None` for languages whose lexer does not decide that.
    pub(crate) fn in_code(&self) -> Option<Vec<Range<usize>>> {
        let mut code = skim::code(self.language, self.text)?;
        Some(self.words_of_code(true, |offset| code.contains(offset)))
    }

    /// Words that are code, in order; with `has_dollar`, `$` is part of a word. `is_code` is asked for offsets in order.
    pub(crate) fn words_of_code(
        &self,
        has_dollar: bool,
        mut is_code: impl FnMut(usize) -> bool,
    ) -> Vec<Range<usize>> {
        let words = self.words(has_dollar).filter(|word| !self.is_keyword(word) && self.is_use(word));
        words.filter(|word| is_code(word.start)).collect()
    }

    fn is_keyword(&self, word: &Range<usize>) -> bool {
        skim::is_keyword(self.language, &self.text[word.clone()])
    }

    /// Identifiers of a syntax tree, whose lexer decides where they end. Lines of the preprocessor are not parsed.
    pub(crate) fn in_tree(&self, tree: &Tree) -> Vec<Range<usize>> {
        let mut code = skim::code(self.language, self.text);
        let mut is_code = |offset| code.as_mut().is_some_and(|code| code.contains(offset));
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut leaves = Leaves::new(tree);
        for word in self.words(false) {
            let Some(leaf) = leaves.at(word.start) else { continue };
            let range = match leaf.kind() {
                "preproc_arg" if is_code(word.start) => word,
                _ if is_identifier(leaf) => leaf.byte_range(),
                _ => continue,
            };
            let is_new = found.last().is_none_or(|last| last.end <= range.start);
            // After an error, the parser may take a keyword for a name.
            if is_new && !self.is_keyword(&range) && self.is_use(&range) {
                found.push(range);
            }
        }
        found
    }

    /// Returns `true` if a definition around one of the uses may decide whether it is asked for. Without words, they are not known yet.
    pub(crate) fn need_scopes(&self, words: Option<&[Range<usize>]>) -> bool {
        let is_decided =
            |word: &Range<usize>| self.name.is_use(self.text, word.start, self.language, Some(b""));
        match words {
            Some(words) => !words.iter().all(is_decided),
            None => self.name.is_qualified(),
        }
    }

    fn is_use(&self, word: &Range<usize>) -> bool {
        let is_match = self.text.get(word.clone()).is_some_and(|word| self.name.is_match(word));
        is_match && self.name.is_use(self.text, word.start, self.language, None)
    }

    /// Leaves out the names of definitions: a definition is no use of its name.
    pub(crate) fn leave_out_names(&self, places: &mut Vec<Range<usize>>, definitions: &[Definition]) {
        let names = definitions.iter().map(|definition| definition.name.clone());
        let mut names: Vec<Range<usize>> =
            names.filter(|name| self.name.is_match(&self.text[name.clone()])).collect();
        names.sort_by_key(|name| name.start);
        let mut names = names.into_iter().peekable();
        places.retain(|place| {
            while names.next_if(|name| name.end <= place.start).is_some() {}
            names.peek().is_none_or(|name| place.end <= name.start)
        });
    }

    /// Words that overlap the places at which the name may be; with `has_dollar`, `$` is part of a word.
    fn words(&self, has_dollar: bool) -> impl Iterator<Item = Range<usize>> {
        let is_word = move |byte: &&u8| is_word(byte) || has_dollar && **byte == b'$';
        let (text, mut end) = (self.text, 0);
        self.name.places(text).flat_map(move |place| {
            let mut words = Vec::new();
            let mut at = place.start.max(end);
            at -= text[end..at].iter().rev().take_while(is_word).count();
            while at < place.end.max(place.start + 1).min(text.len()) {
                let length = text[at..].iter().take_while(is_word).count();
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

/// The leaves of a tree, in order. A search from the root for each word would take time for the depth of the tree.
struct Leaves<'t> {
    cursor: TreeCursor<'t>,
}

impl<'t> Leaves<'t> {
    fn new(tree: &'t Tree) -> Self {
        let mut cursor = tree.walk();
        while cursor.goto_first_child() {}
        Self { cursor }
    }

    /// The leaf that a byte is in. Offsets do not go back.
    fn at(&mut self, offset: usize) -> Option<Node<'t>> {
        while self.cursor.node().end_byte() <= offset {
            while !self.cursor.goto_next_sibling() {
                self.cursor.goto_parent().then_some(())?;
            }
            while self.cursor.goto_first_child() {}
        }
        Some(self.cursor.node()).filter(|leaf| leaf.start_byte() <= offset)
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
