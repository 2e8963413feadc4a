//! The loop over the tokens of C and C++: a declaration is read up to its end, and then copied, recorded or left out.

use std::ops::Range;

use super::super::{LexedDefinition, Skimmed};
use super::declaration::{Declaration, Form, Groups, Last, Opens};
use super::directives::OpenCondition;
use super::lexer::{CLexer, SPACE, WORD, is};
use super::macros::{defined, is_attribute, takes_arguments};
use super::words::{Place, begins_declaration, may_follow_parameters};

/// Bytes after which it is checked whether the job was asked to end. From each of them, the lexer may look some kilobytes ahead.
const CHECKED: usize = 1024;

/// Members that are open: of a class, a namespace or a block of linkage.
pub(super) struct Open {
    /// A declarator may follow the closing brace.
    pub(super) is_type: bool,
    pub(super) is_enum: bool,
    /// Members of a type that only a `typedef` names, after them.
    pub(super) is_named_later: bool,
    /// Braces around exported declarations, which no grammar knows.
    is_export: bool,
    pub(super) name: Range<usize>,
}

pub(super) struct CSkimmer<'s, 'o> {
    pub(super) lexer: CLexer<'s>,
    pub(super) is_cplusplus: bool,
    pub(super) out: &'o mut Skimmed,
    /// All before this offset has been copied or left out.
    pub(super) kept: usize,
    pub(super) declaration: Declaration,
    /// Braces open around the declaration.
    pub(super) open: Vec<Open>,
    pub(super) conditions: Vec<OpenCondition>,
}

impl<'s, 'o> CSkimmer<'s, 'o> {
    pub(super) fn new(source: &'s [u8], is_cplusplus: bool, out: &'o mut Skimmed) -> Self {
        Self {
            lexer: CLexer { source, at: 0 },
            is_cplusplus,
            out,
            kept: 0,
            declaration: Declaration::default(),
            open: Vec::new(),
            conditions: Vec::new(),
        }
    }

    /// Skims the text. `None` if its brackets do not balance.
    pub(super) fn run(mut self) -> Option<()> {
        let result = self.declarations();
        self.out.left_out.sort_unstable_by_key(|range| range.start);
        result
    }

    fn declarations(&mut self) -> Option<()> {
        let mut checked = 0;
        while let Some(byte) = self.lexer.byte() {
            if self.lexer.at >= checked {
                checked = self.lexer.at + CHECKED;
                if self.out.is_stopped() {
                    return None;
                }
            }
            match byte {
                _ if is(byte, SPACE) => self.lexer.at += 1,
                _ if is(byte, WORD) => self.word()?,
                b'/' => self.slash(),
                b'"' | b'\'' => {
                    if byte == b'"' && self.declaration.words == 1 && self.declaration.opens == Opens::Code {
                        self.declaration.opens = Opens::Linkage;
                    }
                    self.begin();
                    self.lexer.literal();
                    self.declaration.last = Last::Other;
                    self.declaration.make(Form::Odd);
                }
                b'#' if self.lexer.begins_line() => self.directive()?,
                b'(' => self.group()?,
                b'{' => self.brace()?,
                b'}' => {
                    let Open { is_type, is_export, .. } = self.open.pop()?;
                    let start = self.lexer.at;
                    self.lexer.at += 1;
                    self.declaration = Declaration::after_members(is_type);
                    if is_export {
                        self.leave_out(start);
                    }
                }
                b';' if self.begins_assembler() && self.is_assembler_comment() => self.assembler()?,
                b';' => self.semicolon(),
                b'=' => self.assignment(),
                b'*' => self.pointer(),
                b',' if self.enumerator() => {}
                b'.' | b'@' | b'|' if self.begins_assembler() => self.assembler()?,
                b'<' | b'[' | b':' | b'-' | b'~' | b'&' if self.is_cplusplus => self.punctuation(byte),
                _ => self.other(),
            }
        }
        self.skip_to(self.lexer.source.len());
        self.open.is_empty().then_some(())
    }

    pub(super) fn begin(&mut self) {
        self.declaration.start.get_or_insert(self.lexer.at);
    }

    /// Handles a token that no plain declaration has.
    pub(super) fn other(&mut self) {
        self.begin();
        self.token(Last::Other);
        self.declaration.make(Form::Odd);
        self.declaration.place = Place::Elsewhere;
    }

    /// Handles a `*` or `&`, which does not end a type.
    pub(super) fn pointer(&mut self) {
        self.begin();
        self.token(Last::Other);
        self.declaration.make(Form::Complex);
    }

    fn assignment(&mut self) {
        if self.is_cplusplus && (self.deletion() || self.alias()) {
            return;
        }
        // In a class, it is a constructor: `Name() = default`.
        let is_member = self.class().is_some();
        let declaration = &mut self.declaration;
        declaration.is_assigned_invocation = !is_member && declaration.may_be_macro(self.lexer.source);
        if self.is_cplusplus {
            declaration.groups = Groups::InValue;
        }
        declaration.make(Form::Odd);
        declaration.place = Place::Elsewhere;
        self.token(Last::Assign);
    }

    fn token(&mut self, last: Last) {
        self.lexer.at += 1;
        self.declaration.last = last;
    }

    /// Copies all up to an offset.
    pub(super) fn keep_to(&mut self, end: usize) {
        self.out.keep(self.lexer.source, self.kept..end);
        self.kept = end;
    }

    /// Copies all text up to `end` that was not left out, and leaves out the text from there up to here.
    pub(super) fn skip_to(&mut self, end: usize) {
        self.keep_to(end.min(self.lexer.source.len()));
        self.kept = self.lexer.at.min(self.lexer.source.len());
    }

    /// Ends the piece after a top-level declaration, if it is large enough.
    pub(super) fn cut(&mut self) {
        if self.open.is_empty() && self.out.is_piece(self.lexer.at - self.kept) {
            self.keep_to(self.lexer.at);
            self.out.cut();
        }
    }

    /// Handles a word. `None` if the group of an attribute does not end.
    fn word(&mut self) -> Option<()> {
        let start = self.lexer.at;
        let mut word = self.lexer.word();
        if is_attribute(word) {
            self.skip_to(start);
            return Some(());
        }
        if word == b"operator" && self.is_cplusplus && self.lexer.operator() {
            word = &self.lexer.source[start..self.lexer.at];
        }
        if takes_arguments(word) {
            if self.lexer.next_significant() == Some(b'(') {
                self.lexer.space();
                self.lexer.group()?;
            }
            self.skip_to(start);
            return Some(());
        }
        if self.plain_enumerator(start..self.lexer.at) {
            return Some(());
        }
        // `invocation(…) static int a;`
        if self.declaration.is_invocation() {
            let begins_line = CLexer { source: self.lexer.source, at: start }.begins_line();
            if begins_declaration(word, self.is_cplusplus, begins_line) {
                self.lexer.at = start;
                self.invocation();
                return Some(());
            }
        }
        if self.is_cplusplus && self.cplusplus_word(start..self.lexer.at) {
            return Some(());
        }
        let declaration = &mut self.declaration;
        declaration.start.get_or_insert(start);
        if declaration.parameters.is_none() {
            declaration.add_word(start..self.lexer.at, word);
        }
        if word == b"operator" {
            declaration.make(Form::Odd);
        }
        if declaration.place != Place::AfterParameters || !may_follow_parameters(word) {
            declaration.last = Last::Word;
        }
        Some(())
    }

    pub(super) fn slash(&mut self) {
        let start = self.lexer.at;
        if self.lexer.comment() {
            self.skip_to(start);
            self.out.insert(b" ");
        } else {
            self.token(Last::Other);
        }
    }

    fn semicolon(&mut self) {
        if self.plain_object() {
            return self.cut();
        }
        if self.is_prototype() {
            self.take_back();
            self.end_here();
            self.lexer.at += 1;
            self.kept = self.lexer.at;
            return;
        }
        let start = self.lexer.at;
        self.lexer.at += 1;
        let declaration = &self.declaration;
        // The grammar takes `int f() { };` for a variable with a value in braces.
        if self.is_cplusplus && declaration.start.is_none() && declaration.words == 0 {
            return self.leave_out(start);
        }
        // `using outer::name;` defines nothing.
        if self.is_cplusplus
            && declaration.last != Last::Assign
            && declaration.groups != Groups::InValue
            && &self.lexer.source[declaration.first.clone()] == b"using"
        {
            return self.drop_declaration();
        }
        if declaration.is_assigned_invocation || declaration.may_be_macro(self.lexer.source) {
            self.invocation();
        }
        self.declaration = Declaration::default();
        // A declaration after another token may belong to the parameters of an old-style function, between its head and its body.
        if matches!(self.lexer.source[..self.lexer.at], [.., b')' | b'}', b';']) {
            self.cut();
        }
    }

    /// Leaves out the invocation of a macro that ends here, and records its definition.
    pub(super) fn invocation(&mut self) {
        let end = self.lexer.at;
        let declaration = std::mem::take(&mut self.declaration);
        let (Some(start), Some(parameters)) = (declaration.start, declaration.parameters) else { return };
        self.record(start..end, declaration.word, parameters);
        if self.kept <= start {
            self.skip_to(start);
            self.out.left_out.push(start..end);
        }
    }

    /// Records what the invocation of a macro defines, if its name says that it defines something.
    pub(super) fn record(&mut self, extent: Range<usize>, name: Range<usize>, parameters: Range<usize>) {
        if let Some((kind, name)) = defined(self.lexer.source, name, parameters) {
            self.out.has_inner |= !self.open.is_empty();
            self.out.by_macros.push(LexedDefinition {
                kind,
                name,
                head: extent.clone(),
                extent,
                parameters: None,
                qualifier: None,
            });
        }
    }

    /// Handles a `{`: members are kept, bodies and initialisers are not.
    fn brace(&mut self) -> Option<()> {
        let declaration = &self.declaration;
        // `int a{0};` of C++
        let is_braced = self.is_cplusplus && declaration.parameters.is_none() && declaration.words > 1;
        let is_value = declaration.last == Last::Assign
            || declaration.groups == Groups::InValue
            || is_braced && !declaration.has_members();
        let is_export = self.is_cplusplus && declaration.start.is_none() && declaration.words == 0;
        if is_export || !is_value && declaration.opens() != Opens::Code {
            self.open_members(is_export);
            Some(())
        } else if is_value {
            self.keep_braces()?;
            self.declaration.last = Last::Other;
            self.declaration.make(Form::Odd);
            Some(())
        } else {
            self.function_body()
        }
    }

    /// Opens the members of a type, a namespace or a block.
    fn open_members(&mut self, is_export: bool) {
        let (source, declaration) = (self.lexer.source, &self.declaration);
        let opens = declaration.opens();
        let is_unnamed =
            matches!(&source[declaration.word.clone()], b"struct" | b"union" | b"enum" | b"class");
        self.open.push(Open {
            is_type: matches!(opens, Opens::Type | Opens::Enum),
            is_enum: opens == Opens::Enum,
            is_named_later: is_unnamed && &source[declaration.first.clone()] == b"typedef"
                || self.open.last().is_some_and(|open| open.is_named_later),
            is_export,
            name: declaration.scope_name.clone(),
        });
        let start = self.lexer.at;
        self.lexer.at += 1;
        self.declaration = Declaration::default();
        if is_export {
            self.leave_out(start);
        }
    }

    /// Copies the braces that begin here without their contents.
    pub(super) fn keep_braces(&mut self) -> Option<()> {
        self.keep_to(self.lexer.at + 1);
        self.body()?;
        self.kept = self.lexer.at - 1;
        Some(())
    }

    /// Name of the class around the declaration.
    pub(super) fn class(&self) -> Option<&[u8]> {
        let open = self.open.last().filter(|open| open.is_type)?;
        Some(&self.lexer.source[open.name.clone()])
    }

    /// Takes back the declaration so far. Returns where it began.
    pub(super) fn take_back(&mut self) -> Option<usize> {
        let start = std::mem::take(&mut self.declaration).start?;
        self.skip_to(start.max(self.kept));
        self.out.take_back(start);
        Some(start)
    }

    /// Ends what is before this place for the parser.
    pub(super) fn end_here(&mut self) {
        if !self.out.is_complete() {
            self.out.insert(b";");
        }
    }

    /// Leaves out the declaration so far, also for a thorough parse.
    pub(super) fn drop_declaration(&mut self) {
        if let Some(start) = self.take_back() {
            self.out.left_out.push(start..self.kept);
        }
    }

    /// Leaves out what begins at an offset and ends here.
    pub(super) fn leave_out(&mut self, start: usize) {
        self.skip_to(start);
        self.out.insert(b" ");
        self.out.left_out.push(start..self.kept);
    }
}
