//! SQL in all its dialects: what `CREATE` names, columns of tables, and labels of enumerated types.

use std::ops::Range;

use memchr::memmem::find;
use memchr::{memchr, memchr2};

use super::Lexed;
use crate::kind::Kind;

/// Words for the objects that are listed, with their kinds.
const OBJECTS: [(&[u8], Kind); 13] = [
    (b"DATABASE", Kind::Namespace),
    (b"DOMAIN", Kind::Typedef),
    (b"FUNCTION", Kind::Function),
    (b"INDEX", Kind::Index),
    (b"MACRO", Kind::Macro),
    (b"PACKAGE", Kind::Module),
    (b"PROC", Kind::Function),
    (b"PROCEDURE", Kind::Function),
    (b"SCHEMA", Kind::Namespace),
    (b"TABLE", Kind::Table),
    (b"TRIGGER", Kind::Trigger),
    (b"TYPE", Kind::Typedef),
    (b"VIEW", Kind::View),
];

/// Words between an object and its name.
const BEFORE_NAME: [&[u8]; 6] = [b"BODY", b"CONCURRENTLY", b"EXISTS", b"IF", b"NOT", b"ONLY"];

/// Words that begin an item of a table that is no column.
const CONSTRAINTS: [&[u8]; 10] = [
    b"CHECK",
    b"CONSTRAINT",
    b"EXCLUDE",
    b"FOREIGN",
    b"FULLTEXT",
    b"LIKE",
    b"PERIOD",
    b"PRIMARY",
    b"SPATIAL",
    b"UNIQUE",
];

/// Words between `CREATE` and an object, at most: `CREATE ALGORITHM = MERGE DEFINER = a @ b SQL SECURITY INVOKER VIEW` has eleven.
const MAX_WORDS: usize = 16;

/// Longest word that means something, in bytes.
const MAX_KEYWORD: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    Word,
    /// A name in quotes.
    Quoted,
    /// Text in single quotes or between dollars.
    Literal,
    Sign(u8),
}

#[derive(Clone, Debug)]
struct Token {
    kind: TokenKind,
    range: Range<usize>,
}

impl Token {
    fn is(&self, sign: u8) -> bool {
        self.kind == TokenKind::Sign(sign)
    }

    fn is_name(&self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Quoted)
    }
}

/// A definition whose statement continues.
struct Open {
    index: usize,
    /// It is a function or the like, whose body may have statements.
    is_routine: bool,
    /// Declarations stand before the body: a semicolon ends one of them.
    declares: bool,
    /// A `BEGIN` was found.
    has_body: bool,
    /// Nesting of `BEGIN` and `CASE`.
    depth: usize,
}

struct Sql<'t> {
    text: &'t [u8],
    at: usize,
    /// MySQL: a backslash escapes in literals, and `#` begins a comment.
    has_backticks: bool,
    /// A line `DELIMITER $$` was found: dollars are no quotes.
    has_delimiter: bool,
    lexed: Lexed,
    /// The token that is read next, if it was looked at.
    peeked: Option<Token>,
    /// End of the last token.
    end: usize,
    open: Option<Open>,
    /// The package around a routine.
    package: Option<usize>,
}

pub(crate) fn lex(text: &[u8]) -> Lexed {
    let mut sql = Sql {
        text,
        at: 0,
        has_backticks: memchr(b'`', text).is_some(),
        has_delimiter: false,
        lexed: Lexed::default(),
        peeked: None,
        end: 0,
        open: None,
        package: None,
    };
    while let Some(token) = sql.next() {
        sql.take(&token);
    }
    sql.end_all();
    sql.lexed
}

/// Statements.
impl Sql<'_> {
    fn take(&mut self, token: &Token) {
        if token.is(b';') {
            return self.semicolon();
        }
        if token.kind != TokenKind::Word {
            return;
        }
        let word = self.keyword(token);
        let is_outside = self.open.as_ref().is_none_or(|open| open.depth == 0 && !open.declares);
        let begins_line = token.range.start.checked_sub(1).is_none_or(|before| self.text[before] == b'\n');
        match word.as_slice() {
            b"CREATE" if is_outside || begins_line => self.create(token.range.start),
            b"GO" | b"DELIMITER" if begins_line => {
                self.end_all();
                if word == b"DELIMITER" {
                    self.has_delimiter = true;
                    self.skip_to(memchr(b'\n', &self.text[self.at..]).unwrap_or(self.text.len() - self.at));
                }
            }
            b"FUNCTION" | b"PROCEDURE" if self.package.is_some() && self.open.is_none() => {
                self.routine(Kind::Function, token.range.start);
            }
            b"STDIN" if self.peek().is_some_and(|next| next.is(b';')) => {
                // The rows of a copy follow.
                let rest = &self.text[self.at..];
                self.skip_to(find(rest, b"\n\\.").map_or(rest.len(), |end| end + b"\n\\.".len()));
            }
            b"AS" | b"IS" | b"DECLARE" => {
                let is_text = self.peek().is_some_and(|next| next.kind == TokenKind::Literal);
                let is_mysql = self.has_backticks || self.has_delimiter;
                if let Some(open) = self.open.as_mut().filter(|open| open.is_routine && !is_text && !is_mysql)
                {
                    open.declares |= !open.has_body;
                }
            }
            b"BEGIN" if self.peek_is(&[b"TRAN", b"TRANSACTION", b"WORK"]) => (),
            b"BEGIN" | b"CASE" => {
                if let Some(open) = &mut self.open {
                    open.depth += 1;
                    open.has_body |= word == b"BEGIN";
                    open.declares &= word != b"BEGIN";
                }
            }
            b"END" => self.end_of_block(),
            _ => (),
        }
    }

    fn semicolon(&mut self) {
        let is_end = |open: &mut Open| open.depth == 0 && !open.declares;
        if let Some(open) = self.open.take_if(is_end) {
            self.lexed.end([open.index], self.end);
        }
    }

    fn end_of_block(&mut self) {
        if self.peek_is(&[b"FOR", b"IF", b"LOOP", b"REPEAT", b"WHILE"]) {
            self.next();
            return;
        }
        if self.peek_is(&[b"CASE"]) {
            self.next();
        }
        match &mut self.open {
            Some(open) => {
                open.depth = open.depth.saturating_sub(1);
                if open.depth == 0 {
                    self.lexed.end([open.index], self.end);
                }
            }
            None => self.end_all(),
        }
    }

    /// Ends all that is open.
    fn end_all(&mut self) {
        let open = self.open.take().map(|open| open.index);
        self.lexed.end(open.into_iter().chain(self.package.take()), self.end);
    }

    fn create(&mut self, start: usize) {
        let before = self.text[..start].trim_ascii_end().len();
        if let Some(open) = self.open.take() {
            self.lexed.end([open.index], before);
        }
        self.lexed.end(self.package.take(), before);
        for _ in 0..MAX_WORDS {
            let Some(token) = self.next_if(|token| !token.is(b';') && !token.is(b'(')) else { return };
            let word = self.keyword(&token);
            if let Some(&(_, kind)) = OBJECTS.iter().find(|(object, _)| *object == word) {
                return self.object(kind, start);
            }
            if [&b"AS"[..], b"FOR", b"ON", b"TO", b"WITH"].contains(&word.as_slice()) {
                return;
            }
        }
    }

    fn object(&mut self, kind: Kind, start: usize) {
        match kind {
            Kind::Function | Kind::Trigger | Kind::Macro => self.routine(kind, start),
            Kind::Module => {
                self.package = self.named(kind, start);
            }
            Kind::Typedef => self.type_from(start),
            _ => {
                let Some(index) = self.named(kind, start) else { return };
                if kind == Kind::Table {
                    self.items(index, Kind::Field);
                }
                self.open =
                    Some(Open { index, is_routine: false, declares: false, has_body: false, depth: 0 });
            }
        }
    }

    /// A function or the like, after the word for it.
    fn routine(&mut self, kind: Kind, start: usize) {
        let Some(index) = self.named(kind, start) else { return };
        if let Some(open) = self.next_if(|next| next.is(b'(')) {
            self.skip_parentheses();
            self.lexed.definitions[index].parameters = Some(open.range.start..self.end);
            self.lexed.definitions[index].head.end = self.end;
        }
        self.lexed.end([index], self.end);
        self.open = Some(Open { index, is_routine: true, declares: false, has_body: false, depth: 0 });
    }

    /// `name AS ENUM ('label')`, `name AS (field int)` and others.
    fn type_from(&mut self, start: usize) {
        let Some(index) = self.named(Kind::Typedef, start) else { return };
        if self.next_word(&[b"AS", b"IS"]) {
            if self.next_word(&[b"ENUM"]) {
                self.lexed.definitions[index].kind = Kind::Enum;
                self.items(index, Kind::Enumerator);
            } else {
                self.next_word(&[b"OBJECT"]);
                let is_record = self.peek().is_some_and(|next| next.is(b'('));
                if is_record {
                    self.lexed.definitions[index].kind = Kind::Struct;
                    self.items(index, Kind::Field);
                }
            }
        }
        self.open = Some(Open { index, is_routine: false, declares: false, has_body: false, depth: 0 });
    }

    /// Adds the definition of the name that comes next, such as `schema.name`.
    fn named(&mut self, kind: Kind, start: usize) -> Option<usize> {
        while self.next_word(&BEFORE_NAME) {}
        let first = self.next_if(|next| next.is_name() || next.kind == TokenKind::Literal)?;
        if self.keyword(&first) == b"ON" && kind == Kind::Index {
            return None;
        }
        let mut name = self.name(&first);
        let mut qualifier = None;
        while self.next_if(|next| next.is(b'.')).is_some() {
            qualifier = Some(first.range.start..name.end);
            name = self.next_if(Token::is_name).map_or(self.end..self.end, |token| token.range);
        }
        let scope = if kind == Kind::Module { None } else { self.package };
        let index = self.lexed.add(self.text, (kind, name), start..self.end, scope)?;
        self.lexed.definitions[index].qualifier = qualifier;
        Some(index)
    }

    /// Columns of a table, fields of a type or labels of an enumeration, in parentheses.
    fn items(&mut self, scope: usize, kind: Kind) {
        if self.next_if(|next| next.is(b'(')).is_none() {
            return;
        }
        while let Some(first) = self.next_if(|next| !next.is(b')') && !next.is(b';')) {
            if first.is(b',') {
                continue;
            }
            let name = match kind {
                Kind::Enumerator => {
                    (first.kind == TokenKind::Literal).then(|| inner(self.text, &first.range))
                }
                _ if matches!(first.kind, TokenKind::Sign(_)) || self.is_constraint(&first) => None,
                _ => Some(self.name(&first)),
            };
            if first.is(b'(') {
                self.skip_parentheses();
            }
            while let Some(token) = self.next_if(|next| ![b',', b')', b';'].iter().any(|&sign| next.is(sign)))
            {
                if token.is(b'(') {
                    self.skip_parentheses();
                }
            }
            if let Some(name) = name {
                self.lexed.add(self.text, (kind, name), first.range.start..self.end, Some(scope));
            }
        }
        self.next_if(|next| next.is(b')'));
    }

    /// Range of a name. SQLite takes literals for names, too.
    fn name(&self, token: &Token) -> Range<usize> {
        let is_literal = token.kind == TokenKind::Literal && self.text[token.range.start] == b'\'';
        if is_literal { inner(self.text, &token.range) } else { token.range.clone() }
    }

    /// Returns `true` for the first token of an item that is no column.
    fn is_constraint(&mut self, first: &Token) -> bool {
        let word = self.keyword(first);
        let is_key = [&b"INDEX"[..], b"KEY"].contains(&word.as_slice());
        let begins_key = |next: &Token| next.is(b'(') || next.kind == TokenKind::Quoted;
        CONSTRAINTS.contains(&word.as_slice()) || is_key && self.peek().is_some_and(begins_key)
    }

    /// Skips to the end of parentheses that are open.
    fn skip_parentheses(&mut self) {
        let mut depth = 1_usize;
        while depth > 0 {
            let Some(token) = self.next_if(|next| !next.is(b';')) else { return };
            depth = depth + usize::from(token.is(b'(')) - usize::from(token.is(b')'));
        }
    }
}

/// The text between quotes. The closing one is missing at the end of the text.
fn inner(text: &[u8], literal: &Range<usize>) -> Range<usize> {
    let begin = literal.start + 1;
    let is_closed = literal.end > begin && text[literal.end - 1] == text[literal.start];
    begin..literal.end - usize::from(is_closed)
}

/// Tokens.
impl<'t> Sql<'t> {
    /// A short word in capitals; empty for others.
    fn keyword(&self, token: &Token) -> Vec<u8> {
        let is_short = token.kind == TokenKind::Word && token.range.len() <= MAX_KEYWORD;
        if is_short { self.text[token.range.clone()].to_ascii_uppercase() } else { Vec::new() }
    }

    fn peek(&mut self) -> Option<&Token> {
        if self.peeked.is_none() {
            self.peeked = self.read();
        }
        self.peeked.as_ref()
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.peeked.take().or_else(|| self.read())?;
        let quote = usize::from(token.kind == TokenKind::Quoted);
        self.end = (token.range.end + quote).min(self.text.len());
        Some(token)
    }

    fn next_if(&mut self, is_wanted: impl Fn(&Token) -> bool) -> Option<Token> {
        if self.peek().is_some_and(is_wanted) { self.next() } else { None }
    }

    fn peek_is(&mut self, words: &[&[u8]]) -> bool {
        let Some(token) = self.peek().cloned() else { return false };
        words.contains(&self.keyword(&token).as_slice())
    }

    fn next_word(&mut self, words: &[&[u8]]) -> bool {
        let is_next = self.peek_is(words);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Skips a part of the text, which is no code.
    fn skip_to(&mut self, length: usize) {
        self.peeked = None;
        self.lexed.no_code.push(self.at..self.at + length);
        self.at += length;
    }

    fn read(&mut self) -> Option<Token> {
        loop {
            let rest = &self.text[self.at..];
            let start = self.at;
            let token = |kind, range| Some(Token { kind, range });
            match *rest.first()? {
                byte if byte.is_ascii_whitespace() => self.at += 1,
                b'-' if rest.starts_with(b"--") => self.comment(b"\n", 2),
                b'#' if self.has_backticks => self.comment(b"\n", 1),
                b'/' if rest.starts_with(b"/*") => self.comment(b"*/", 2),
                b'\'' => {
                    self.literal(b'\'');
                    self.lexed.no_code.push(start..self.at);
                    return token(TokenKind::Literal, start..self.at);
                }
                quote @ (b'"' | b'`') => {
                    self.literal(quote);
                    return token(TokenKind::Quoted, inner(self.text, &(start..self.at)));
                }
                b'[' if !self.has_backticks => {
                    let length =
                        rest.iter().take(MAX_BRACKETED).position(|&byte| matches!(byte, b']' | b'\n'));
                    let Some(length) = length.filter(|&length| length > 1 && rest[length] == b']') else {
                        self.at += 1;
                        return token(TokenKind::Sign(b'['), start..self.at);
                    };
                    self.at += length + 1;
                    return token(TokenKind::Quoted, start + 1..start + length);
                }
                b'$' if let Some(length) = self.dollar_quote() => {
                    self.at += length;
                    self.lexed.no_code.push(start..self.at);
                    return token(TokenKind::Literal, start..self.at);
                }
                byte if is_word(byte) => {
                    self.at += rest.iter().take_while(|&&byte| is_word(byte)).count();
                    return token(TokenKind::Word, start..self.at);
                }
                sign => {
                    self.at += 1;
                    return token(TokenKind::Sign(sign), start..self.at);
                }
            }
        }
    }

    fn comment(&mut self, end: &[u8], begin: usize) {
        let start = self.at;
        let found = find(&self.text[start + begin..], end).map(|at| start + begin + at + end.len());
        if found.is_none() && end != b"\n" {
            self.lexed.fail(start);
        }
        self.at = found.unwrap_or(self.text.len());
        self.lexed.no_code.push(start..self.at);
    }

    /// Reads a text in quotes. Two quotes in it are the end of one text and the beginning of another.
    fn literal(&mut self, quote: u8) {
        let is_escaping =
            self.at.checked_sub(1).is_some_and(|before| matches!(self.text[before], b'e' | b'E'));
        let start = self.at;
        self.at += 1;
        while let Some(found) = memchr2(quote, b'\\', &self.text[self.at..]) {
            self.at += found + 1;
            if self.text[self.at - 1] == quote {
                return;
            }
            if (self.has_backticks || is_escaping) && quote != b'`' {
                self.at = (self.at + 1).min(self.text.len());
            }
        }
        self.at = self.text.len();
        self.lexed.fail(start);
    }

    /// Length of a text such as `$$text$$` and `$tag$text$tag$`.
    fn dollar_quote(&mut self) -> Option<usize> {
        let rest = &self.text[self.at..];
        let tag = rest[1..].iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        let is_tag = rest.get(1 + tag) == Some(&b'$') && !rest[1].is_ascii_digit();
        if !is_tag || self.has_delimiter {
            return None;
        }
        let tag = &rest[..tag + 2];
        let end = find(&rest[tag.len()..], tag);
        if end.is_none() {
            self.lexed.fail(self.at);
        }
        Some(end.map_or(rest.len(), |end| end + 2 * tag.len()))
    }
}

/// Longest name in brackets, with these, in bytes: SQL Server has 128.
const MAX_BRACKETED: usize = 130;

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'@' | 128..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes_may_end_with_the_text() {
        for (text, names) in [
            ("CREATE TABLE a (b \"", &["a", "b"][..]),
            ("CREATE FUNCTION f(`", &["f"]),
            ("CREATE TABLE \"", &[]),
            ("CREATE TABLE \"abc", &["abc"]),
            ("CREATE TABLE \"abc\"", &["abc"]),
        ] {
            let lexed = lex(text.as_bytes());
            let found = lexed.definitions.iter().map(|definition| &text[definition.name.clone()]);
            assert_eq!(found.collect::<Vec<_>>(), names, "{text}");
            assert!(lexed.definitions.iter().all(|definition| definition.extent.end <= text.len()), "{text}");
        }
    }
}
