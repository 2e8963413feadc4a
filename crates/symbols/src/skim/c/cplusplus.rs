//! Templates, qualified names, constructors, modules and attributes of C++. The parts that a list does not show are left out, so that the
//! parser gets declarations in the form of C.

use std::ops::Range;

use memchr::memchr;

use super::annotations::{end_in_parameters, end_of_macro};
use super::declaration::{Declaration, Form, Groups, Last};
use super::lexer::{CLexer, SPACE, is};
use super::skimmer::CSkimmer;
use super::words::Place;

impl<'s> CSkimmer<'s, '_> {
    /// Leaves out a macro, an attribute, a list of template parameters or an import. Returns `false` for other words of C++.
    pub(super) fn cplusplus_word(&mut self, word: Range<usize>) -> bool {
        let source = self.lexer.source;
        let name = &source[word.clone()];
        let declaration = &self.declaration;
        let is_first = matches!(declaration.place, Place::Start | Place::AfterSpecifiers);
        let end = match name {
            b"template" if declaration.is_qualified => Some(word.end),
            _ if declaration.is_qualified => None,
            _ if self.open.last().is_some_and(|open| open.is_enum) => match declaration.place {
                // After the name of an enumerator.
                Place::AfterType => end_of_macro(source, word.clone(), Place::AfterParameters, None),
                _ => None,
            },
            b"template" => self.template_parameters(),
            b"requires" if declaration.place != Place::Elsewhere => {
                self.end(self.lexer.at, CLexer::constraint)
            }
            // Declarations are exported one by one, or in braces.
            b"export" if is_first => Some(word.end),
            b"module" if is_first && self.open.is_empty() => self.end(self.lexer.at, CLexer::module),
            b"import" if is_first && self.open.is_empty() => self.end(self.lexer.at, CLexer::import),
            // `using name DEPRECATED("…") = type`
            _ if declaration.words == 2 && &source[declaration.first.clone()] == b"using" => {
                end_of_macro(source, word.clone(), Place::AfterName, None)
            }
            _ => end_of_macro(source, word.clone(), declaration.place, self.class()),
        };
        if let Some(end) = end {
            let is_instantiation = name == b"template"
                && !self.declaration.is_qualified
                && self.lexer.next_significant() != Some(b'<');
            self.lexer.at = end;
            self.leave_out(word.start);
            // `extern` or `export` may be before it.
            if is_instantiation || matches!(name, b"module" | b"import") {
                self.drop_declaration();
            }
            let arguments = memchr(b'(', &source[word.end..end]);
            if let Some(arguments) = arguments.filter(|_| self.declaration.start.is_none()) {
                self.record(word.start..end, word.clone(), word.end + arguments..end);
            }
            return true;
        }
        let declaration = &mut self.declaration;
        if !declaration.is_qualified && declaration.parameters.is_none() {
            declaration.path = word.start;
            declaration.qualifier = None;
        }
        declaration.place = declaration.place.after(name, declaration.is_qualified);
        declaration.is_qualified = false;
        if declaration.place == Place::AfterScopeName {
            declaration.scope_name = word;
        }
        if matches!(name, b"decltype" | b"explicit" | b"throw")
            && self.lexer.next_significant() == Some(b'(')
            && declaration.groups == Groups::Parameters
        {
            declaration.groups = Groups::OfWord;
        }
        false
    }

    /// End of the list of parameters after the word `template`, or of an explicit instantiation, which defines nothing.
    fn template_parameters(&self) -> Option<usize> {
        let mut ahead = CLexer { source: self.lexer.source, at: self.lexer.at };
        ahead.space();
        match ahead.byte() {
            Some(b'<') => self.end(ahead.at, CLexer::angles),
            _ => self.end(ahead.at, |lexer| lexer.operand(b";")),
        }
    }

    /// Leaves out `= delete` after the parameters, if it is here.
    pub(super) fn deletion(&mut self) -> bool {
        if self.declaration.place != Place::AfterParameters {
            return false;
        }
        let start = self.lexer.at;
        let mut ahead = CLexer { source: self.lexer.source, at: start + 1 };
        ahead.space();
        let is_deletion = ahead.word() == b"delete";
        if is_deletion {
            self.lexer.at = ahead.at;
            self.leave_out(start);
        }
        is_deletion
    }

    /// Replaces the type after `using name =` with `int`, and the constraint after `concept name =` with `true`.
    pub(super) fn alias(&mut self) -> bool {
        if self.declaration.words != 2 {
            return false;
        }
        let value: &[u8] = match &self.lexer.source[self.declaration.first.clone()] {
            b"using" => b" int",
            b"concept" => b" true",
            _ => return false,
        };
        let start = self.lexer.at + 1;
        let Some(end) = self.end(start, |lexer| lexer.operand(b";")) else { return false };
        self.lexer.at = end;
        self.skip_to(start);
        self.out.insert(value);
        self.declaration.last = Last::Assign;
        self.declaration.make(Form::Odd);
        true
    }

    /// Handles punctuation whose meaning differs from C.
    pub(super) fn punctuation(&mut self, byte: u8) {
        let Declaration { place, last, .. } = self.declaration;
        let follows = self.lexer.source.get(self.lexer.at + 1).copied();
        let is_handled = match byte {
            b'[' if follows == Some(b'[') => self.skip(CLexer::attribute),
            b'[' => matches!(place, Place::AfterName | Place::AfterType) && self.array(),
            // Arguments of a template.
            b'<' if last == Last::Word && place != Place::Elsewhere => {
                self.declaration.make(Form::Complex);
                self.skip(CLexer::angles)
            }
            b':' if follows == Some(b':') => self.qualification(),
            b':' => self.colon(),
            b'-' => follows == Some(b'>') && place == Place::AfterParameters && self.result(),
            b'~' => self.tilde(),
            // `f() &&` is no pointer.
            b'&' if place == Place::AfterParameters => {
                self.lexer.at += 1;
                true
            }
            b'&' => {
                self.pointer();
                true
            }
            _ => false,
        };
        if !is_handled {
            self.other();
        }
    }

    /// Leaves out the range that a function skips from here, if it can.
    fn skip(&mut self, skip: fn(&mut CLexer<'s>) -> Option<()>) -> bool {
        let start = self.lexer.at;
        let Some(end) = self.end(start, skip) else { return false };
        self.lexer.at = end;
        self.leave_out(start);
        true
    }

    /// End of the range that a function skips from an offset.
    fn end(&self, start: usize, skip: fn(&mut CLexer<'s>) -> Option<()>) -> Option<usize> {
        let mut ahead = CLexer::ahead(self.lexer.source, start);
        skip(&mut ahead).map(|()| ahead.at)
    }

    /// Skips the bounds of an array. Attributes may follow its name.
    fn array(&mut self) -> bool {
        let end = self.end(self.lexer.at, |lexer| {
            lexer.at += 1;
            lexer.operand(b"]")
        });
        let Some(end) = end else { return false };
        let place = self.declaration.place;
        self.lexer.at = end;
        self.other();
        self.declaration.place = place;
        true
    }

    /// Handles `::`.
    fn qualification(&mut self) -> bool {
        self.begin();
        self.lexer.at += 2;
        let declaration = &mut self.declaration;
        declaration.is_qualified = declaration.last == Last::Word;
        if declaration.is_qualified {
            declaration.qualifier = Some(declaration.path..declaration.word.end);
        }
        declaration.last = Last::Other;
        declaration.make(if declaration.is_qualified { Form::Complex } else { Form::Odd });
        true
    }

    /// Handles a colon after parameters, the name of a class or an access specifier.
    fn colon(&mut self) -> bool {
        let start = self.lexer.at;
        match self.declaration.place {
            // Bases of a class, and the type of an enumeration.
            Place::AfterScopeName | Place::AfterKeyword => {
                let is_left_out = self.skip(|lexer| {
                    lexer.at += 1;
                    lexer.operand(b"{;=")
                });
                if !is_left_out {
                    self.declaration.groups = Groups::InBases;
                }
                is_left_out
            }
            // Initialisers of a constructor are no part of its signature.
            Place::AfterParameters => {
                let Some(end) = self.end(start, CLexer::initializers) else { return false };
                self.lexer.at = end;
                self.skip_to(start);
                self.declaration.initializers = Some(start);
                true
            }
            _ => {
                let first = &self.lexer.source[self.declaration.first.clone()];
                let is_access =
                    self.declaration.words == 1 && matches!(first, b"private" | b"protected" | b"public");
                if is_access {
                    self.lexer.at += 1;
                    self.declaration = Declaration::default();
                }
                is_access
            }
        }
    }

    /// Leaves out a trailing return type.
    fn result(&mut self) -> bool {
        let is_left_out = self.skip(|lexer| {
            lexer.at += 2;
            lexer.operand(b"{;=")
        });
        // A deduction guide has no type before it.
        if is_left_out && self.declaration.words == 1 && self.lexer.byte() == Some(b';') {
            self.drop_declaration();
        }
        is_left_out
    }

    /// Ends an enumerator.
    pub(super) fn enumerator(&mut self) -> bool {
        let is_enum = self.open.last().is_some_and(|open| open.is_enum);
        if is_enum {
            self.lexer.at += 1;
            self.declaration = Declaration::default();
        }
        is_enum
    }

    /// Begins the name of a destructor.
    fn tilde(&mut self) -> bool {
        let is_name = self.declaration.is_qualified
            || matches!(self.declaration.place, Place::Start | Place::AfterSpecifiers);
        if is_name {
            self.begin();
            self.declaration.tilde = Some(self.lexer.at);
            self.lexer.at += 1;
        }
        is_name
    }

    /// Handles a word in parentheses. `before` is the last word before it.
    pub(super) fn parameter_word(&mut self, word: Range<usize>, before: &mut Range<usize>) {
        let source = self.lexer.source;
        // Only a word directly before is the name of the parameter.
        let is_adjacent = source[before.end..word.start].iter().all(|&byte| is(byte, SPACE));
        let name = if is_adjacent { &source[before.clone()] } else { b"" };
        if let Some(left_out) = end_in_parameters(source, word.clone(), name) {
            self.lexer.at = left_out.end;
            self.leave_out(left_out.start);
        }
        *before = word;
    }

    /// Leaves out `= value` of a parameter, if it is here: the grammar knows it after some declarators only.
    pub(super) fn default_value(&mut self) -> bool {
        let (source, at) = (self.lexer.source, self.lexer.at);
        let is_assignment = !matches!(source[at - 1], b'=' | b'!' | b'<' | b'>')
            && source.get(at + 1).is_some_and(|&byte| byte != b'=');
        is_assignment
            && self.skip(|lexer| {
                lexer.at += 1;
                lexer.operand(b",)")
            })
    }
}
