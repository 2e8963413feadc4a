//! The part of a declaration of C or C++ that was read.

use std::ops::Range;

use super::macros::is_macro;
use super::words::{Class, Place};

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

/// Meaning of a brace after the words of a declaration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Opens {
    /// A body or a value.
    #[default]
    Code,
    /// `struct`, `union`, `class`
    Type,
    Enum,
    Namespace,
    /// `extern "C"`
    Linkage,
}

/// The tokens of a declaration so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) enum Form {
    /// Words and one group in parentheses.
    #[default]
    Plain,
    /// Pointers and qualified names, too.
    Complex,
    /// Anything else.
    Odd,
}

/// Meaning of a group in parentheses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Groups {
    #[default]
    Parameters,
    /// The next group belongs to a word of the language, as in `decltype(…)`.
    OfWord,
    /// All groups are in a list of bases.
    InBases,
    /// All groups are in a value of C++, after `=`.
    InValue,
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
    pub(super) opens: Opens,
    /// First parentheses after a word.
    pub(super) parameters: Option<Range<usize>>,
    pub(super) form: Form,
    pub(super) groups: Groups,
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
}

impl Declaration {
    /// The declaration after a closing brace: a declarator may follow the members of a type.
    pub(super) fn after_members(is_type: bool) -> Self {
        match is_type {
            true => Self {
                last: Last::Word,
                words: 1,
                form: Form::Odd,
                place: Place::AfterType,
                ..Self::default()
            },
            false => Self::default(),
        }
    }

    /// Notes a token that not every declaration has.
    pub(super) fn make(&mut self, form: Form) {
        if self.form < form {
            self.form = form;
        }
    }

    /// Notes a word before the parameters, from its tilde if it has one.
    pub(super) fn add_word(&mut self, word: Range<usize>, text: &[u8]) {
        self.opens = match (text, self.opens) {
            (b"enum", _) => Opens::Enum,
            (b"namespace", _) => Opens::Namespace,
            (_, Opens::Code | Opens::Linkage) if Class::of(text) == Class::Scope => Opens::Type,
            (_, opens) => opens,
        };
        self.words += 1;
        if self.words == 1 {
            self.first.clone_from(&word);
        }
        self.word = self.tilde.unwrap_or(word.start)..word.end;
    }

    /// Meaning of the brace that is here, after the words.
    pub(super) fn opens(&self) -> Opens {
        match self.opens {
            Opens::Linkage if self.words != 1 => Opens::Code,
            Opens::Type | Opens::Enum | Opens::Namespace if self.parameters.is_some() => Opens::Code,
            opens => opens,
        }
    }

    /// Returns `true` if the words are those of a type or namespace with members.
    pub(super) fn has_members(&self) -> bool {
        matches!(self.opens, Opens::Type | Opens::Enum | Opens::Namespace)
    }

    /// Returns `true` for a number of words and a group in parentheses, and nothing else.
    pub(super) fn is_words_and_group(&self, words: usize) -> bool {
        self.words == words
            && self.parameters.is_some()
            && self.form == Form::Plain
            && self.last == Last::Group
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
