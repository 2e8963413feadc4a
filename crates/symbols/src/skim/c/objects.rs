//! Enumerators, and fields, variables and type names of a plain form: they are recorded and left out.

use std::ops::Range;

use super::super::LexedDefinition;
use super::declaration::{Declaration, Form, Last};
use super::lexer::{CLexer, WORD, is};
use super::macros::is_macro;
use super::skimmer::CSkimmer;
use super::words::{Class, is_name};
use crate::kind::Kind;

/// A declaration of a plain form.
enum Object {
    Defined(Kind),
    /// It declares a name, which is defined elsewhere.
    Declared,
}

impl CSkimmer<'_, '_> {
    /// Records the enumerator whose name is here, with its value and the comma after it. Returns `false` for other forms.
    pub(super) fn plain_enumerator(&mut self, name: Range<usize>) -> bool {
        let is_enumerator = self.declaration.start.is_none()
            && self.open.last().is_some_and(|open| open.is_enum && !open.is_named_later);
        if !is_enumerator || !is_name(&self.lexer.source[name.clone()]) {
            return false;
        }
        let mut ahead = CLexer::ahead(self.lexer.source, name.end);
        ahead.space();
        let end = match ahead.byte() {
            Some(b',' | b'}') => Some(name.end),
            Some(b'=') => {
                ahead.at += 1;
                ahead.enumeration_value()
            }
            _ => None,
        };
        let Some(end) = end else { return false };
        self.lexer.at = ahead.at + usize::from(ahead.byte() == Some(b','));
        self.skip_to(name.start);
        self.record_object(Kind::Enumerator, name.clone(), name.start..end);
        true
    }

    /// Leaves out the declaration that ends with the semicolon here if it has a plain form, and records what it defines. Returns `false` for
    /// other forms.
    pub(super) fn plain_object(&mut self) -> bool {
        let Some(object) = self.object() else { return false };
        let name = self.declaration.word.clone();
        let Some(start) = self.take_back() else { return false };
        self.end_here();
        self.lexer.at += 1;
        self.kept = self.lexer.at;
        if let Object::Defined(kind) = object {
            self.record_object(kind, name, start..self.lexer.at);
        }
        true
    }

    /// The object of `type name;`, of `struct name;` and the like. `None` for other forms.
    fn object(&self) -> Option<Object> {
        let source = self.lexer.source;
        let Declaration { words, last, parameters, form, first, word, qualifier, scope_name, .. } =
            &self.declaration;
        if parameters.is_some() || *form == Form::Odd || *last != Last::Word || qualifier.is_some() {
            return None;
        }
        let (first, name) = (&source[first.clone()], &source[word.clone()]);
        let is_scope = Class::of(first) == Class::Scope && (*words == 2 || scope_name == word);
        if *words >= 2 && (is_scope || matches!(first, b"friend" | b"extern")) {
            return Some(Object::Declared);
        }
        let is_typedef = first == b"typedef";
        let kind = match self.open.last() {
            _ if is_typedef => Kind::Typedef,
            Some(open) if open.is_type => Kind::Field,
            // Parameters of a function of C may be declared between its head and its body.
            _ if !self.is_cplusplus && first != b"static" => return None,
            _ => Kind::Variable,
        };
        // Words of the type and the name.
        let of_type = words - usize::from(is_typedef) - usize::from(self.declaration.has_members());
        // A last word of another form may be a macro: `int name PACKED;`.
        let may_be_annotation = of_type > 2 && (is_macro(name) || name.starts_with(b"__"));
        let is_named_later = self.open.last().is_some_and(|open| open.is_named_later);
        let is_plain = of_type >= 2 && is_name(name) && !may_be_annotation && !is_named_later;
        (is_plain && !matches!(first, b"using" | b"namespace" | b"template" | b"concept" | b"export"))
            .then_some(Object::Defined(kind))
    }

    fn record_object(&mut self, kind: Kind, name: Range<usize>, extent: Range<usize>) {
        self.out.has_inner |= !self.open.is_empty();
        let head = extent.clone();
        self.out.plain.push(LexedDefinition { kind, name, head, extent, parameters: None, qualifier: None });
    }
}

impl CLexer<'_> {
    /// Skips the value of an enumerator. Returns its end, if a comma or a brace follows it.
    fn enumeration_value(&mut self) -> Option<usize> {
        let mut end = self.at;
        loop {
            self.space();
            match self.byte()? {
                b',' | b'}' => return Some(end),
                b'(' => self.group()?,
                b'"' => self.literal(),
                b'\'' => self.apostrophe(),
                b'<' if self.source.get(self.at + 1) == Some(&b'<') => self.at += 2,
                // It may begin arguments of a template.
                b'{' | b'#' | b';' | b')' | b'<' | b'[' => return None,
                byte if is(byte, WORD) => {
                    self.word();
                }
                _ => self.at += 1,
            }
            end = self.at;
        }
    }
}
