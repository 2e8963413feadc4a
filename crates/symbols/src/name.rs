//! Name that is asked for: a word, the end of a qualified name, or a regular expression.

mod qualified;
mod qualifier;

use std::borrow::Cow;
use std::ops::Range;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_syntax::hir::{Capture, Dot, Hir, HirKind, Look, Repetition};

use self::qualified::QualifiedName;
use self::qualifier::{Agreement, Qualifier};
use crate::language::Language;
use crate::skim::is_word;

/// Invalid name to search for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(String);

/// Name that is asked for.
#[derive(Clone, Debug)]
pub(crate) enum Name {
    /// Compared with the end of qualified names.
    Qualified(Box<QualifiedName>),
    Expression(Expression),
}

/// A regular expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    /// Matches names.
    name: Regex,
    /// Matches every text in which a name may match.
    text: Regex,
    /// The same before it was compiled.
    hir: Hir,
}

/// The last part of a name.
pub(crate) fn last_part(name: &[u8]) -> Cow<'_, [u8]> {
    QualifiedName::last_of(name)
}

impl Name {
    /// Compiles a name.
    ///
    /// # Errors
    /// If it is neither a name nor a valid regular expression.
    pub(crate) fn new(name: &str) -> Result<Self, InvalidName> {
        match QualifiedName::new(name) {
            Some(name) => Ok(Self::Qualified(Box::new(name))),
            None => Expression::new(name).map(Self::Expression),
        }
    }

    /// Returns `true` if a name without its scope is the last part of what is asked for.
    pub(crate) fn is_match(&self, name: &[u8]) -> bool {
        match self {
            Self::Qualified(wanted) => wanted.ends(name),
            Self::Expression(wanted) => wanted.name.is_match(name),
        }
    }

    /// The last part of what is asked for, if it is a word of ASCII. A name matches if its [`last_part`] is this word.
    pub(crate) fn word(&self) -> Option<&[u8]> {
        match self {
            Self::Qualified(wanted) => {
                Some(wanted.last()).filter(|last| !last.is_empty() && last.iter().all(is_word))
            }
            Self::Expression(_) => None,
        }
    }

    /// Returns `true` if a matching name in this scope is asked for.
    pub(crate) fn is_match_in(&self, scope: &[u8], name: &[u8], language: Language) -> bool {
        match self {
            Self::Qualified(wanted) => wanted.ends_in(scope, name) && wanted.has_sigil(name, language),
            Self::Expression(_) => true,
        }
    }

    /// Returns `true` if a word at a place is a use of what is asked for: unless another qualifier is written before it. Without a
    /// scope, it may be one.
    pub(crate) fn is_use(&self, text: &[u8], place: usize, language: Language, scope: Option<&[u8]>) -> bool {
        let Self::Qualified(wanted) = self else { return true };
        if !wanted.has_sigil(&text[place..], language) {
            return false;
        }
        match Qualifier::before(text, place, wanted.qualifier().len()).agreement(wanted.qualifier(), language)
        {
            Agreement::Agrees => true,
            Agreement::Differs => false,
            Agreement::OfScope => scope.is_none_or(|scope| wanted.is_in_scope(scope)),
        }
    }

    /// Places in a text at which such a name may be, or a part of one, in order.
    pub(crate) fn places<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Range<usize>> + 't {
        let (qualified, expression) = match self {
            Self::Qualified(name) => (Some(name.places(text)), None),
            Self::Expression(expression) => (None, Some(expression.text.find_iter(text))),
        };
        let expression = expression.into_iter().flatten().map(|found| found.range());
        qualified.into_iter().flatten().chain(expression)
    }

    /// Returns `false` if a text neither defines nor uses the name.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        self.places(text).next().is_some()
    }

    /// Returns `true` if a text has the parts before the last one, as those with a definition have.
    pub(crate) fn has_qualifier(&self, text: &[u8]) -> bool {
        match self {
            Self::Qualified(name) => name.has_qualifier(text),
            Self::Expression(_) => true,
        }
    }

    /// Expression that matches in every text with a use of the name.
    pub(crate) fn in_text(&self) -> Hir {
        match self {
            Self::Qualified(name) => name.in_text(),
            Self::Expression(expression) => expression.hir.clone(),
        }
    }

    /// Expression that matches in every text with a definition of the name: it has the qualifier as well.
    pub(crate) fn in_definition(&self) -> Hir {
        let name = self.in_text();
        let any = || {
            let sub = Box::new(Hir::dot(Dot::AnyByte));
            Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub })
        };
        match self.qualifier() {
            [.., outer] => {
                let outer = || Hir::literal(&outer[..]);
                let before = Hir::concat(vec![outer(), any(), name.clone()]);
                Hir::alternation(vec![before, Hir::concat(vec![name, any(), outer()])])
            }
            [] => name,
        }
    }

    /// Returns `true` if a match of [`in_definition`](Self::in_definition) may span lines.
    pub(crate) fn may_span_lines(&self) -> bool {
        match self {
            Self::Qualified(name) => self.is_qualified() || name.last().contains(&b'\n'),
            Self::Expression(_) => true,
        }
    }

    /// Returns `true` if more than the last part of a qualified name is asked for.
    pub(crate) fn is_qualified(&self) -> bool {
        !self.qualifier().is_empty()
    }

    /// The parts before the last one.
    fn qualifier(&self) -> &[Vec<u8>] {
        match self {
            Self::Qualified(name) => name.qualifier(),
            Self::Expression(_) => &[],
        }
    }
}

impl Expression {
    fn new(name: &str) -> Result<Self, InvalidName> {
        let failed = |error: String| InvalidName(format!("invalid expression '{name}': {error}"));
        let config = syntax::Config::new().utf8(false);
        let hir = syntax::parse_with(name, &config).map_err(|error| failed(error.to_string()))?;
        let build =
            |hir: &Hir| Regex::builder().build_from_hir(hir).map_err(|error| failed(error.to_string()));
        let text = in_text(&hir);
        Ok(Self { name: build(&hir)?, text: build(&text)?, hir: text })
    }
}

/// The expression for a text in which it is somewhere: a name neither begins nor ends between two characters of a word.
fn in_text(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(Look::Start | Look::End) => boundary(),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(in_text(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => {
            Hir::capture(Capture { sub: Box::new(in_text(&capture.sub)), ..capture.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(in_text).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(in_text).collect()),
        _ => hir.clone(),
    }
}

fn boundary() -> Hir {
    Hir::alternation(vec![Hir::look(Look::WordStartHalfAscii), Hir::look(Look::WordEndHalfAscii)])
}
