//! Groups in parentheses: parameters, and the arguments of macros.

use super::declaration::{Form, Groups, Last};
use super::directives::body_follows_branches;
use super::lexer::{CLexer, WORD, is};
use super::macros::{is_attribute, is_macro};
use super::skimmer::CSkimmer;
use super::words::Place;

impl CSkimmer<'_, '_> {
    /// Handles a group in parentheses: parameters, or the arguments of a macro.
    pub(super) fn group(&mut self) -> Option<()> {
        self.begin();
        let start = self.lexer.at;
        self.contents()?;
        let is_enumerator = self.open.last().is_some_and(|open| open.is_enum);
        let declaration = &mut self.declaration;
        if is_enumerator && declaration.words == 1 && declaration.last == Last::Word {
            self.enumerator_of_macro();
            return Some(());
        }
        if declaration.groups != Groups::Parameters {
            if declaration.groups == Groups::OfWord {
                declaration.groups = Groups::Parameters;
            }
            declaration.make(Form::Odd);
            declaration.last = Last::Word;
            return Some(());
        }
        match declaration.last {
            Last::Word if declaration.parameters.is_none() => {
                declaration.parameters = Some(start..self.lexer.at)
            }
            _ => declaration.make(Form::Odd),
        }
        declaration.last = Last::Group;
        declaration.place = Place::AfterParameters;
        // An invocation on a line of its own ends without a semicolon.
        if declaration.is_invocation()
            && is_macro(&self.lexer.source[declaration.word.clone()])
            && self.lexer.ends_line()
            && !self.is_continued()
        {
            self.invocation();
        }
        Some(())
    }

    /// Copies the contents of parentheses, without comments, attributes and bodies. `None` if they do not end.
    fn contents(&mut self) -> Option<()> {
        let mut open = 0usize;
        let mut before = self.lexer.at..self.lexer.at;
        while let Some(byte) = self.lexer.byte() {
            match byte {
                b'(' => {
                    open += 1;
                    self.lexer.at += 1;
                }
                b')' => {
                    open -= 1;
                    self.lexer.at += 1;
                    if open == 0 {
                        return Some(());
                    }
                }
                b'"' => self.lexer.literal(),
                b'\'' => self.lexer.apostrophe(),
                b'/' => self.slash(),
                b'=' if self.is_cplusplus && open == 1 && self.default_value() => {}
                b'{' => {
                    self.keep_to(self.lexer.at + 1);
                    self.body()?;
                    self.kept = self.lexer.at - 1;
                }
                b'#' if self.lexer.begins_line() => {
                    let at = self.lexer.at;
                    self.lexer.line();
                    self.skip_to(at);
                }
                _ if is(byte, WORD) => {
                    let at = self.lexer.at;
                    if is_attribute(self.lexer.word()) {
                        self.skip_to(at);
                    } else if self.is_cplusplus {
                        self.parameter_word(at..self.lexer.at, &mut before);
                    }
                }
                _ => self.lexer.at += 1,
            }
        }
        None
    }

    /// Returns `true` if what follows may belong to the declaration.
    fn is_continued(&self) -> bool {
        let mut ahead = CLexer::ahead(self.lexer.source, self.lexer.at);
        ahead.space();
        match ahead.byte() {
            Some(b'#') => body_follows_branches(self.lexer.source, ahead.at),
            next => matches!(next, Some(b'{' | b';' | b'=' | b',' | b'[' | b'(' | b':' | b'_')),
        }
    }

    /// Leaves out the invocation of a macro among enumerators, whose group ends here, with its value and the comma after it. The names
    /// that it defines are not known.
    fn enumerator_of_macro(&mut self) {
        let source = self.lexer.source;
        let mut ahead = CLexer::ahead(source, self.lexer.at);
        ahead.space();
        let is_complete = match ahead.byte() {
            Some(b'=') => ahead.operand(b",}").is_some(),
            next => next == Some(b','),
        };
        if is_complete {
            self.lexer.at = ahead.at + usize::from(ahead.byte() == Some(b','));
        }
        let start = std::mem::take(&mut self.declaration).start;
        self.leave_out(start.unwrap_or(self.lexer.at).max(self.kept));
    }
}
