//! Preparing Kotlin for its grammar, which lacks some of the language: positions stay, and the parser gets all of the text.
//!
//! | source | the parser gets |
//! | --- | --- |
//! | `{ val x = 1 }` | a line feed before the brace: the grammar wants one after each member |
//! | `context(a: A) fun f()` | no clause |
//! | `is A if b -> c` | no guard |
//! | `$$"a $b"` | an empty string |
//! | `class A` and `@B internal constructor()` in the next line | one line |
//! | `@A open class B` | no annotation: the grammar may take `open` for a name, which `class` follows |
//! | `set = 1`, `where?.f()`, `open = true` | another name: the grammar takes these for keywords |
//!
//! The lexer looks at most [`AHEAD`] bytes ahead, so that its time is linear.

mod literals;
mod words;

use std::ops::Range;

use memchr::memchr;

use self::words::{begins_declaration, is_modifier};
use super::Skimmed;
use super::bytes::{SPACE, WORD, classes};

/// Maximum length of a clause, a guard or parameters of an accessor, in bytes.
const AHEAD: usize = 400;

static CLASSES: [u8; 256] = classes(&[(WORD, b""), (SPACE, b" \t\n\r\x0c")]);

fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Records what the grammar does not take.
pub(super) fn prepare(source: &[u8], out: &mut Skimmed) {
    let start = Token { at: 0, is_word: false, byte: b'{' };
    KotlinLexer {
        source,
        at: 0,
        out,
        open: Vec::new(),
        last: start,
        line: 0,
        annotations: 0..0,
        opens: None,
    }
    .run();
}

/// Bracket that is open.
#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    /// Code in braces.
    Code,
    /// Members of a type.
    Members,
    /// Branches of a `when`; whether the arrow of the current one was on this line.
    Branches { has_arrow: bool },
    /// `(` or `[`.
    Group,
    /// `${` in a string.
    Template { is_raw: bool },
}

/// The last token: its offset, and its last byte.
#[derive(Clone, Copy)]
struct Token {
    at: usize,
    is_word: bool,
    byte: u8,
}

struct KotlinLexer<'s, 'o> {
    source: &'s [u8],
    at: usize,
    out: &'o mut Skimmed,
    open: Vec<Bracket>,
    last: Token,
    /// Offset of the current line.
    line: usize,
    /// The last annotations, one after the other.
    annotations: Range<usize>,
    /// Meaning of the next brace, if that many brackets are open.
    opens: Option<(usize, Bracket)>,
}

impl<'s> KotlinLexer<'s, '_> {
    fn run(&mut self) {
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.line = self.at;
                    if let Some(Bracket::Branches { has_arrow }) = self.open.last_mut() {
                        *has_arrow = false;
                    }
                }
                _ if is(byte, SPACE) => self.at += 1,
                b'/' if self.byte(1) == Some(b'/') => self.at = self.line_end(),
                b'/' if self.byte(1) == Some(b'*') => self.comment(),
                _ if is(byte, WORD) => self.word(),
                _ => self.punctuation(byte),
            }
        }
    }

    /// The byte that many bytes ahead.
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn line_end(&self) -> usize {
        let rest = &self.source[self.at..];
        self.at + memchr(b'\n', rest).unwrap_or(rest.len())
    }

    /// Offset of the next byte that is no white space.
    fn next(&self, from: usize) -> usize {
        from + self.source[from..].iter().take_while(|&&byte| is(byte, SPACE)).count()
    }

    fn word_at(&self, from: usize) -> &'s [u8] {
        let rest = &self.source[from..];
        &rest[..rest.iter().take_while(|&&byte| is(byte, WORD)).count()]
    }

    /// The last token, if it is a word.
    fn last_word(&self) -> &'s [u8] {
        if self.last.is_word { self.word_at(self.last.at) } else { b"" }
    }

    fn is_first_on_line(&self, at: usize) -> bool {
        self.last.at < self.line && self.line <= at || self.last.byte == b'{'
    }

    fn end_token(&mut self, at: usize, is_word: bool) {
        let byte = self.source[self.at.min(self.source.len()) - 1];
        self.last = Token { at, is_word, byte };
    }

    fn replace(&mut self, at: usize, by: &[u8]) {
        self.out.replaced.extend((at..).zip(by.iter().copied()));
    }

    fn word(&mut self) {
        let at = self.at;
        let word = self.word_at(at);
        self.at += word.len();
        let next = self.next(self.at);
        let after = self.source.get(next).copied().unwrap_or(b'\n');
        match word {
            b"class" | b"interface" | b"object" if self.last.byte != b':' => {
                self.opens = Some((self.open.len(), Bracket::Members));
                self.join_constructor();
            }
            b"when" => self.opens = Some((self.open.len(), Bracket::Branches { has_arrow: false })),
            b"fun" | b"val" | b"var" => {
                self.opens.take_if(|(depth, _)| *depth == self.open.len());
            }
            b"context" if after == b'(' => self.context(at, next),
            b"if" => self.guard(at),
            b"where" if !self.is_constraint(next) => self.replace(at, b"wher_"),
            b"get" | b"set" => self.accessor(at, next, after),
            b"field" if self.is_first_on_line(at) && matches!(after, b'=' | b':') => {
                // A backing field of its own.
                if matches!(self.open.last(), None | Some(Bracket::Members)) {
                    self.replace(at, b"get()");
                }
            }
            b"suspend" if after == b'{' => self.out.left_out.push(at..self.at),
            b"suspend" if after == b'=' || after == b'(' && !self.is_function_type(next) => {
                self.replace(at, b"suspen_");
            }
            _ if is_modifier(word) && matches!(after, b'=' | b'.' | b'(' | b'[' | b'?' | b'+' | b'-') => {
                self.replace(self.at - 1, b"_");
            }
            _ if is_modifier(word) && self.annotations.end > self.last.at && self.is_before_type(next) => {
                self.out.left_out.push(self.annotations.clone());
            }
            _ if self.is_label_of_lambda() => {
                self.out.left_out.push(at..self.at + 1);
                self.at += 1;
            }
            _ => {}
        }
        if self.last.byte == b'}' && !self.is_first_on_line(at) && begins_declaration(word) {
            self.break_before(at);
        }
        self.end_token(at, true);
    }

    /// Returns `true` if a type is declared at an offset, perhaps after more modifiers.
    fn is_before_type(&self, mut from: usize) -> bool {
        let end = from + AHEAD;
        while from < end && is_modifier(self.word_at(from)) {
            from = self.next(from + self.word_at(from).len());
        }
        matches!(self.word_at(from), b"class" | b"interface" | b"object")
    }

    /// Returns `true` between a word and `@ {`.
    fn is_label_of_lambda(&self) -> bool {
        self.byte(0) == Some(b'@')
            && self.byte(1).is_some_and(|byte| is(byte, SPACE))
            && self.source.get(self.next(self.at + 1)) == Some(&b'{')
    }

    /// Returns `true` for the sign of an operand that begins a line of code, after the sign.
    fn is_sign(&self, at: usize) -> bool {
        self.is_first_on_line(at)
            && self.open.last() != Some(&Bracket::Group)
            && !matches!(self.byte(0), Some(b'-' | b'+' | b'='))
    }

    /// Puts a line feed before an offset if there is room for one.
    fn break_before(&mut self, at: usize) {
        if matches!(self.source[at - 1], b' ' | b'\t') {
            self.replace(at - 1, b"\n");
        }
    }

    fn is_after_arrow(&self) -> bool {
        self.source[self.last.at..].starts_with(b"->")
    }

    /// Returns `true` for the parameters of a function type: an arrow follows, or a type is expected.
    fn is_function_type(&self, group: usize) -> bool {
        self.is_after_arrow()
            || matches!(self.last.byte, b':' | b'<')
            || self.group_end(group).is_some_and(|end| self.source[self.next(end)..].starts_with(b"->"))
    }

    /// Returns `true` if type parameters with a bound follow.
    fn is_constraint(&self, next: usize) -> bool {
        let word = self.word_at(next);
        let end = self.next(next + word.len());
        let is_parameter = !word.is_empty() && self.source.get(end) == Some(&b':');
        is_parameter
            || matches!(self.source.get(next), Some(b':' | b'@' | b'`'))
            || self.last_word() == b"fun"
    }

    /// Offset after the brackets that begin at an offset.
    fn group_end(&self, from: usize) -> Option<usize> {
        let mut depth = 0;
        for (at, byte) in (from..).zip(self.source[from..].iter().take(AHEAD)) {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' if depth == 1 => return Some(at + 1),
                b')' | b']' => depth -= 1,
                b'{' | b'}' | b';' | b'"' => return None,
                _ => {}
            }
        }
        None
    }

    /// Leaves out the context parameters of a declaration or a type.
    fn context(&mut self, at: usize, group: usize) {
        let Some(end) = self.group_end(group) else { return };
        let next = self.next(end);
        let word = self.word_at(next);
        let is_before_declaration =
            begins_declaration(word) || is_modifier(word) || self.source.get(next) == Some(&b'@');
        let is_operand = self.is_after_arrow() || matches!(self.last.byte, b':' | b'(' | b',' | b'<' | b'=');
        let is_of_declaration = is_before_declaration && !is_operand;
        let is_on_line = !self.source[end..next].contains(&b'\n');
        let is_of_type =
            is_operand && is_on_line && (self.source.get(next) == Some(&b'(') || !word.is_empty());
        if is_of_declaration || is_of_type {
            self.out.left_out.push(at..end);
            self.at = end;
        }
    }

    /// Leaves out the guard of a branch: `is A if b -> c`.
    fn guard(&mut self, at: usize) {
        if self.open.last() != Some(&Bracket::Branches { has_arrow: false }) || self.is_first_on_line(at) {
            return;
        }
        let (mut depth, mut before) = (0usize, b' ');
        for (end, byte) in (at..).zip(self.source[at..].iter().copied().take(AHEAD)) {
            match byte {
                b'-' if depth == 0 && self.source.get(end + 1) == Some(&b'>') => {
                    self.out.left_out.push(at..end);
                    self.at = end;
                    return;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => return,
                b')' | b']' | b'}' => depth -= 1,
                b'\n' if depth == 0 && !matches!(before, b'&' | b'|') => return,
                _ => {}
            }
            before = if is(byte, SPACE) { before } else { byte };
        }
    }

    /// An accessor, or another name that the grammar takes for one.
    fn accessor(&mut self, at: usize, next: usize, after: u8) {
        let is_on_line = !self.source[self.at..next].contains(&b'\n');
        let is_accessor = match after {
            _ if !is_on_line => true,
            b'(' => self.group_end(next).is_some_and(|end| {
                let has_parameter = end > next + 2;
                has_parameter == self.source[at..].starts_with(b"set")
                    && matches!(self.source.get(self.next(end)), Some(b'{' | b'=' | b':'))
            }),
            b'=' | b'.' | b'[' | b'{' | b'?' => false,
            _ => !is(after, WORD),
        };
        if is_accessor && self.annotations.end > self.last.at {
            self.out.left_out.push(self.annotations.clone());
        } else if !is_accessor && !matches!(self.last_word(), b"fun" | b"val" | b"var") {
            self.replace(at + 2, b"_");
        }
    }

    /// Returns `true` if the accessor of a property follows, perhaps after a modifier.
    fn is_before_accessor(&self) -> bool {
        let next = self.next(self.at);
        let first = self.word_at(next);
        let word = if is_modifier(first) { self.word_at(self.next(next + first.len())) } else { first };
        matches!(word, b"get" | b"set")
    }

    /// Returns `true` if arguments follow the brackets that begin here.
    fn is_called(&self) -> bool {
        self.group_end(self.at).is_some_and(|end| self.source.get(end) == Some(&b'('))
    }

    /// Joins the line of a class and that of its primary constructor.
    fn join_constructor(&mut self) {
        let mut ahead = self.next(self.at);
        ahead += self.word_at(ahead).len();
        let (mut depth, mut limit) = (0usize, ahead + 2 * AHEAD);
        let (mut feeds, mut comments) = (Vec::new(), Vec::new());
        while let Some(&byte) = self.source.get(ahead).filter(|_| ahead < limit) {
            match byte {
                b'\n' => feeds.push(ahead),
                b'/' => {
                    let end = self.comment_end(ahead);
                    let inner = (ahead..end).filter(|&at| self.source[at] == b'\n');
                    feeds.extend(inner);
                    comments.push(ahead..end);
                    limit += end - ahead;
                    ahead = end.max(ahead + 1);
                    continue;
                }
                b'(' | b'<' | b'[' => depth += 1,
                b')' | b'>' | b']' => depth = depth.saturating_sub(1),
                b'{' | b'}' | b';' | b'=' if depth == 0 => return,
                _ if is(byte, WORD) => {
                    let word = self.word_at(ahead);
                    let is_annotation = matches!(self.source[ahead - 1], b'@' | b'.' | b':');
                    if depth == 0 && word == b"constructor" {
                        break;
                    }
                    if depth == 0 && !is_annotation && !is_modifier(word) {
                        return;
                    }
                    ahead += word.len();
                    continue;
                }
                b':' if depth == 0 && !self.source[..ahead].ends_with(b"file") && !feeds.is_empty() => return,
                _ => {}
            }
            ahead += 1;
        }
        if self.source[ahead.min(self.source.len())..].starts_with(b"constructor") {
            self.out.left_out.append(&mut comments);
            feeds.into_iter().for_each(|feed| self.replace(feed, b" "));
        }
    }

    fn punctuation(&mut self, byte: u8) {
        let at = self.at;
        self.at += 1;
        match byte {
            b'{' => {
                let opens = self.opens.take_if(|(depth, _)| *depth == self.open.len());
                self.open.push(opens.map_or(Bracket::Code, |(_, bracket)| bracket));
            }
            b'(' | b'[' => {
                self.open.push(Bracket::Group);
                if self.source[at..].starts_with(b"[]") && matches!(self.last.byte, b'=' | b'(' | b',' | b':')
                {
                    self.replace(at, b"0 ");
                }
            }
            b')' | b']' => {
                self.open.pop_if(|last| *last == Bracket::Group);
            }
            b'}' => self.close_brace(at),
            b'"' => self.string(),
            b'\'' => self.character(),
            b'`' => {
                let end = self.line_end();
                self.at += memchr(b'`', &self.source[self.at..end]).map_or(0, |length| length + 1);
            }
            b'$' => self.dollars(at),
            b'@' => return self.annotation(at),
            b'-' if self.byte(0) == Some(b'>') => {
                self.at += 1;
                if let Some(Bracket::Branches { has_arrow }) = self.open.last_mut() {
                    *has_arrow = true;
                }
            }
            // The grammar takes it for an operator of the line before.
            b'-' | b'+' if self.is_sign(at) => self.out.left_out.push(at..self.at),
            b',' if self.source.get(self.next(self.at)) == Some(&b'>') => self.out.left_out.push(at..self.at),
            b';' if self.is_before_accessor() => self.out.left_out.push(at..self.at),
            // The call of a function with a receiver that is a value: `a.(b)()`.
            b'.' if self.byte(0) == Some(b'(') && self.is_called() => self.out.left_out.push(at..self.at),
            b'?' if self.source[self.at..].starts_with(b"::") => self.out.left_out.push(at..self.at),
            _ => {}
        }
        self.end_token(at, false);
    }

    /// Closes the innermost braces. In a string, continues with the string.
    fn close_brace(&mut self, at: usize) {
        while self.open.pop_if(|last| *last == Bracket::Group).is_some() {}
        match self.open.pop() {
            Some(Bracket::Template { is_raw }) => self.string_rest(is_raw),
            _ if !self.is_first_on_line(at) && !matches!(self.last.byte, b'{' | b';') => {
                self.break_before(at);
            }
            _ => {}
        }
    }

    /// Skips an annotation with its arguments.
    fn annotation(&mut self, at: usize) {
        if self.source[self.at..].starts_with(b"all:") {
            self.replace(self.at, b"get");
        }
        while self.byte(0).is_some_and(|byte| is(byte, WORD) || matches!(byte, b'.' | b':')) {
            self.at += 1;
        }
        if self.byte(0) == Some(b'(') {
            self.at = self.group_end(self.at).unwrap_or(self.at);
        }
        let is_next = self.annotations.end > self.last.at && self.next(self.annotations.end) == at;
        self.annotations = if is_next { self.annotations.start..self.at } else { at..self.at };
    }
}

#[cfg(test)]
mod tests;
