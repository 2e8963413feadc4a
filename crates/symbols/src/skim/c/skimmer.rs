//! The loop over the tokens of C and C++: a declaration is read up to its end, and then copied, recorded or left out.

use std::ops::Range;

use super::super::{Hidden, Skimmed};
use super::declaration::{Declaration, Last};
use super::directives::{OpenCondition, body_follows_branches};
use super::lexer::{CLexer, SPACE, WORD, is};
use super::macros::{
    always_defines_function, defined, function_name, is_attribute, is_macro, takes_arguments,
};
use super::sprinkled::{
    Place, begins_declaration, has_parameters, is_name, may_begin_function, may_follow_parameters,
};
use crate::kind::Kind;

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
        while let Some(byte) = self.lexer.byte() {
            match byte {
                _ if is(byte, SPACE) => self.lexer.at += 1,
                _ if is(byte, WORD) => self.word(),
                b'/' => self.slash(),
                b'"' | b'\'' => {
                    self.declaration.is_linkage |= byte == b'"' && self.declaration.words == 1;
                    self.begin();
                    self.lexer.literal();
                    self.declaration.last = Last::Other;
                    self.declaration.set_odd();
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
        self.declaration.set_odd();
        self.declaration.place = Place::Elsewhere;
    }

    /// Handles a `*` or `&`, which does not end a type.
    pub(super) fn pointer(&mut self) {
        self.begin();
        self.token(Last::Other);
        self.declaration.is_complex = true;
    }

    fn assignment(&mut self) {
        if self.is_cplusplus && (self.deletion() || self.alias()) {
            return;
        }
        // In a class, it is a constructor: `Name() = default`.
        let is_member = self.class().is_some();
        let declaration = &mut self.declaration;
        declaration.is_assigned_invocation = !is_member && declaration.may_be_macro(self.lexer.source);
        declaration.has_value = self.is_cplusplus;
        declaration.set_odd();
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

    fn word(&mut self) {
        let start = self.lexer.at;
        let mut word = self.lexer.word();
        if is_attribute(word) {
            self.skip_to(start);
            return;
        }
        if word == b"operator" && self.is_cplusplus && self.lexer.operator() {
            word = &self.lexer.source[start..self.lexer.at];
        }
        if takes_arguments(word) {
            self.declaration.attribute = self.lexer.next_significant() == Some(b'(');
            if self.declaration.attribute {
                self.keep_to(start);
            } else {
                self.skip_to(start);
            }
            return;
        }
        // `invocation(…) static int a;`
        if self.declaration.is_invocation() {
            let begins_line = CLexer { source: self.lexer.source, at: start }.begins_line();
            if begins_declaration(word, self.is_cplusplus, begins_line) {
                self.lexer.at = start;
                self.invocation();
                return;
            }
        }
        if self.is_cplusplus && self.cplusplus_word(start..self.lexer.at) {
            return;
        }
        let declaration = &mut self.declaration;
        declaration.start.get_or_insert(start);
        if matches!(word, b"struct" | b"union" | b"enum" | b"class" | b"namespace")
            && declaration.parameters.is_none()
        {
            declaration.has_members = true;
            declaration.is_namespace |= word == b"namespace";
            declaration.is_enum |= word == b"enum";
        }
        if declaration.parameters.is_none() {
            declaration.words += 1;
            declaration.word = declaration.tilde.unwrap_or(start)..self.lexer.at;
            if declaration.words == 1 {
                declaration.first = start..self.lexer.at;
            }
        }
        if word == b"operator" {
            declaration.set_odd();
        }
        if declaration.place != Place::AfterParameters || !may_follow_parameters(word) {
            declaration.last = Last::Word;
        }
    }

    fn slash(&mut self) {
        let start = self.lexer.at;
        if self.lexer.comment() {
            self.skip_to(start);
            self.out.insert(b" ");
        } else {
            self.token(Last::Other);
        }
    }

    /// Copies the contents of parentheses, without comments, attributes and bodies.
    fn group(&mut self) -> Option<()> {
        if std::mem::take(&mut self.declaration.attribute) {
            self.lexer.group()?;
            self.kept = self.lexer.at;
            return Some(());
        }
        self.begin();
        let start = self.lexer.at;
        let mut open = 0usize;
        let mut before = start..start;
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
                        break;
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
        if open > 0 {
            return None;
        }
        let declaration = &mut self.declaration;
        if declaration.words == 1
            && declaration.last == Last::Word
            && self.open.last().is_some_and(|open| open.is_enum)
        {
            self.enumerator_of_macro();
            return Some(());
        }
        let is_operand = std::mem::take(&mut declaration.is_operand);
        if declaration.has_bases || is_operand || declaration.has_value {
            declaration.set_odd();
            declaration.last = Last::Word;
            return Some(());
        }
        match declaration.last {
            Last::Word if declaration.parameters.is_none() => {
                declaration.parameters = Some(start..self.lexer.at)
            }
            _ => declaration.set_odd(),
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

    /// Returns `true` if what follows may belong to the declaration.
    fn is_continued(&self) -> bool {
        match self.lexer.next_significant() {
            Some(b'#') => body_follows_branches(self.lexer.source, self.lexer.at),
            next => matches!(next, Some(b'{' | b';' | b'=' | b',' | b'[' | b'(' | b':' | b'_' | b'/')),
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

    fn semicolon(&mut self) {
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
            && !declaration.has_value
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
    fn invocation(&mut self) {
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
            self.out.hidden.push(Hidden {
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
        let is_initializer = declaration.last == Last::Assign
            || declaration.has_value
            || is_braced && !declaration.has_members;
        let is_export = self.is_cplusplus && declaration.start.is_none() && declaration.words == 0;
        let has_members = declaration.has_members && declaration.parameters.is_none()
            || declaration.is_linkage && declaration.words == 1;
        if has_members && !is_initializer || is_export {
            let source = self.lexer.source;
            let is_unnamed =
                matches!(&source[declaration.word.clone()], b"struct" | b"union" | b"enum" | b"class");
            self.open.push(Open {
                is_type: declaration.has_members && !declaration.is_namespace,
                is_enum: declaration.is_enum,
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
            return Some(());
        }
        let open = self.lexer.at;
        let start = declaration.start.unwrap_or(open);
        let is_plain = self.is_plain_function();
        // In a class, it is a constructor.
        let is_invocation = declaration.may_be_macro(self.lexer.source) && self.class().is_none();
        if is_invocation && self.hidden_function(open)? {
            return Some(());
        }
        self.keep_to(open + 1);
        self.body()?;
        self.kept = self.lexer.at - 1;
        if is_initializer {
            self.declaration.last = Last::Other;
            self.declaration.set_odd();
            return Some(());
        }
        let function = std::mem::take(&mut self.declaration);
        if is_plain {
            self.out.take_back(start);
            if self.is_cplusplus {
                self.end_here()
            } else {
                self.out.insert_mark()
            }
            self.kept = self.lexer.at;
            let end = function.initializers.unwrap_or(open);
            let name = function.word.clone();
            let plain = self.function(function, name, start..end);
            self.out.plain.push(plain);
        }
        self.cut();
        Some(())
    }

    /// Records a function that is defined by a macro, such as `SYSCALL_DEFINE2(name, …) { … }`, whose brace is here, and leaves it out.
    /// Returns `false` if there is none.
    fn hidden_function(&mut self, open: usize) -> Option<bool> {
        let Declaration { start: Some(start), parameters: Some(parameters), word, .. } = &self.declaration
        else {
            return Some(false);
        };
        let name = function_name(self.lexer.source, word.clone(), parameters.clone());
        let (start, Some(name)) = (*start, name) else { return Some(false) };
        let function = self.declaration.clone();
        self.take_back();
        self.body()?;
        self.kept = self.lexer.at;
        let is_function = self.lexer.next_significant() != Some(b';')
            || always_defines_function(&self.lexer.source[function.word.clone()]);
        self.out.left_out.push(start..if is_function { open } else { self.kept });
        if is_function {
            let hidden = self.function(function, name, start..open);
            self.out.hidden.push(hidden);
        }
        self.cut();
        Some(true)
    }

    /// The definition of a function whose body ends here. White space at the end of its head is no part of it.
    fn function(&mut self, function: Declaration, name: Range<usize>, head: Range<usize>) -> Hidden {
        self.out.has_inner |= !self.open.is_empty();
        let extent = head.start..self.lexer.at;
        let head = head.start..self.lexer.source[..head.end].trim_ascii_end().len().max(head.start);
        let Declaration { parameters, qualifier, .. } = function;
        Hidden { kind: Kind::Function, name, head, extent, parameters, qualifier }
    }

    /// Name of the class around the declaration.
    pub(super) fn class(&self) -> Option<&[u8]> {
        let open = self.open.last().filter(|open| open.is_type)?;
        Some(&self.lexer.source[open.name.clone()])
    }

    /// Takes back the declaration so far. Returns where it began.
    fn take_back(&mut self) -> Option<usize> {
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

    /// Returns `true` for `type name(…)`, which is all that a list shows of a function, for constructors and destructors, and in C for
    /// `name()`.
    fn is_plain_function(&self) -> bool {
        let source = self.lexer.source;
        let Declaration { words, last, parameters, is_odd, tilde, word, first, qualifier, .. } =
            &self.declaration;
        let name = &source[word.clone()];
        let is_untyped =
            !self.is_cplusplus && *words == 1 && parameters.as_ref().is_some_and(|group| group.len() == 2);
        let (is_member, is_structor) = match self.open.last() {
            // What only a typedef names, or nothing, is no scope that is known here.
            Some(open) if open.is_type && (open.name.is_empty() || open.is_enum) => return false,
            Some(open) if open.is_type => (true, tilde.is_some() || source[open.name.clone()] == *name),
            _ => (false, false),
        };
        parameters.is_some()
            && *last == Last::Group
            && !is_odd
            && (*words > 1 && (tilde.is_none() || qualifier.is_some()) || is_structor || is_untyped)
            && (self.is_cplusplus || !is_member)
            && (is_structor || !is_macro(name))
            && is_name(name)
            && may_begin_function(&source[first.clone()])
    }

    /// Returns `true` for a prototype, which defines nothing. Outside of a class, a variable with its value in parentheses has its form.
    fn is_prototype(&self) -> bool {
        let Some(parameters) = &self.declaration.parameters else { return false };
        self.is_plain_function()
            && (!self.is_cplusplus
                || self.class().is_some()
                || has_parameters(&self.lexer.source[parameters.start + 1..parameters.end - 1]))
    }
}
