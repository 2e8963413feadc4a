//! The part of a declaration of C or C++ that was read.

use std::ops::Range;

use super::macros::is_macro;
use super::sprinkled::Place;

/// Kind of the last token of a declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Last {
    #[default]
    Start,
    Word,
    Group,
    Assign,
    Other,
}

/// The declaration being read.
#[derive(Clone, Debug, Default)]
pub(super) struct Declaration {
    pub(super) last: Last,
    /// Offset of its first token.
    pub(super) start: Option<usize>,
    /// Number of words before its first parenthesis, without attributes.
    pub(super) words: usize,
    /// First and last of them.
    pub(super) first: Range<usize>,
    pub(super) word: Range<usize>,
    /// A word for a type with members: `struct`, `union`, `enum`, `class`, `namespace`.
    pub(super) has_members: bool,
    /// `extern "C"`.
    pub(super) is_linkage: bool,
    /// First parentheses after a word.
    pub(super) parameters: Option<Range<usize>>,
    /// Anything but words and one group in parentheses.
    pub(super) is_complex: bool,
    /// Anything but words, pointers and one group in parentheses.
    pub(super) is_odd: bool,
    /// The next group belongs to an attribute.
    pub(super) attribute: bool,
    /// An initialiser follows the invocation of a macro.
    pub(super) is_assigned_invocation: bool,
    /// Beginning of the qualified name that the next `::` continues.
    pub(super) path: usize,
    /// The part of the name before the last `::`.
    pub(super) qualifier: Option<Range<usize>>,
    /// Where the tilde before the name of a destructor is.
    pub(super) tilde: Option<usize>,
    /// Where the initialisers of a constructor begin.
    pub(super) initializers: Option<usize>,
    /// Where the next word stands.
    pub(super) place: Place,
    /// The next word continues a name: `::` is before it.
    pub(super) is_qualified: bool,
    /// The name of the class or namespace that it declares.
    pub(super) scope_name: Range<usize>,
    pub(super) is_namespace: bool,
    pub(super) is_enum: bool,
    /// An `=` of C++ was read: what follows is a value.
    pub(super) has_value: bool,
    /// A list of bases has begun, in which parentheses are no parameters.
    pub(super) has_bases: bool,
    /// The next group belongs to a word of the language, as in `decltype(…)`.
    pub(super) is_operand: bool,
}

impl Declaration {
    /// The declaration after a closing brace: a declarator may follow the members of a type.
    pub(super) fn after_members(is_type: bool) -> Self {
        let place = Place::AfterType;
        match is_type {
            true => {
                Self { last: Last::Word, words: 1, is_complex: true, is_odd: true, place, ..Self::default() }
            }
            false => Self::default(),
        }
    }

    pub(super) fn set_odd(&mut self) {
        self.is_complex = true;
        self.is_odd = true;
    }

    /// Returns `true` for a number of words and a group in parentheses, and nothing else.
    pub(super) fn is_words_and_group(&self, words: usize) -> bool {
        self.words == words && self.parameters.is_some() && !self.is_complex && self.last == Last::Group
    }

    /// Returns `true` for `name(…)`.
    pub(super) fn is_invocation(&self) -> bool {
        self.is_words_and_group(1)
    }

    /// Returns `true` for `name(…)` and for `static NAME(…)`, where the name is that of a macro.
    pub(super) fn may_be_macro(&self, source: &[u8]) -> bool {
        self.is_invocation()
            || self.is_words_and_group(2)
                && is_macro(&source[self.word.clone()])
                && &source[self.first.clone()] == b"static"
    }
}
