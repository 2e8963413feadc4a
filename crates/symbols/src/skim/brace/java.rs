//! Skimming Java: imports, arguments of annotations and types of parameters are left out too.

use super::lexer::{BraceLexer, Dialect, Holds, SPACE, WORD, Word, is};
use super::{BraceSkimmer, Skimmed, Until};

pub(super) static JAVA: Dialect = Dialect {
    nested_comments: false,
    lifetimes: false,
    raw_strings: false,
    text_blocks: true,
    backticks: false,
    multiline_strings: false,
    lengths: 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 9,
    word,
};

/// Skims a source text. Returns `false` if its brackets do not balance, so that all of it has to be parsed.
pub(in super::super) fn skim(source: &[u8], out: &mut Skimmed) -> bool {
    JavaSkimmer {
        skimmer: BraceSkimmer::new(&JAVA, source, out),
        open: Vec::new(),
        start: None,
        keyword: Keyword::None,
    }
    .run()
    .is_some()
}

fn word(lexer: &BraceLexer<'_>, text: &[u8]) -> Word {
    let start = lexer.at - text.len();
    match text {
        b"new" => Word::Creates,
        b"class" if !lexer.source[..start].ends_with(b".") => Word::Defines(Holds::Members),
        b"interface" => Word::Defines(Holds::Members),
        b"enum" => Word::Defines(Holds::Definitions),
        b"record" if is_record(lexer) => Word::Defines(Holds::Members),
        _ => Word::Plain,
    }
}

/// Returns `true` if a name and parameters follow.
fn is_record(lexer: &BraceLexer<'_>) -> bool {
    let mut ahead = lexer.clone();
    ahead.spaces();
    !ahead.word().is_empty() && matches!(ahead.next(), Some(b'(' | b'<'))
}

/// Word that says what the braces of a declaration hold.
#[derive(Clone, Copy, PartialEq)]
enum Keyword {
    None,
    Type,
    Enum,
    Record,
}

/// Declarations of a file and of the types in it.
struct JavaSkimmer<'s, 'o> {
    skimmer: BraceSkimmer<'s, 'o>,
    /// Types around this place: whether constants of an enumeration may follow.
    open: Vec<bool>,
    /// Offset of the declaration that is under way.
    start: Option<usize>,
    keyword: Keyword,
}

impl<'s> JavaSkimmer<'s, '_> {
    fn run(&mut self) -> Option<()> {
        while let Some(byte) = self.lexer().byte() {
            match byte {
                _ if is(byte, SPACE) => self.lexer().at += 1,
                _ if is(byte, WORD) => self.word()?,
                b'/' if self.skimmer.comment()? => {}
                b'@' => self.annotation()?,
                b'(' if self.keyword == Keyword::Record => self.skimmer.keep_group()?,
                b'(' => self.skimmer.group()?,
                b'{' => self.brace()?,
                b'}' => {
                    self.open.pop()?;
                    self.end();
                }
                b';' => {
                    if let Some(constants) = self.open.last_mut() {
                        *constants = false;
                    }
                    self.end();
                }
                b'=' => self.value()?,
                b'"' | b'\'' => self.lexer().literal()?,
                _ => self.lexer().at += 1,
            }
        }
        self.skimmer.finish();
        self.open.is_empty().then_some(())
    }

    fn lexer(&mut self) -> &mut BraceLexer<'s> {
        &mut self.skimmer.lexer
    }

    /// Skips the byte that ends a declaration.
    fn end(&mut self) {
        self.skimmer.lexer.at += 1;
        self.start = None;
        self.keyword = Keyword::None;
        if self.open.is_empty() {
            self.skimmer.cut();
        }
    }

    fn word(&mut self) -> Option<()> {
        let at = self.lexer().at;
        let is_first = self.start.is_none();
        self.start.get_or_insert(at);
        match self.lexer().word() {
            b"class" | b"interface" => self.keyword = Keyword::Type,
            b"module" if self.open.is_empty() => self.keyword = Keyword::Type,
            b"enum" => self.keyword = Keyword::Enum,
            b"record" if is_record(&self.skimmer.lexer) => self.keyword = Keyword::Record,
            b"import" if is_first && self.open.is_empty() => {
                self.skimmer.scan(Until::Semicolon)?;
                self.lexer().at += 1;
                self.lexer().spaces();
                self.skimmer.leave_out(at);
                self.start = None;
            }
            _ => {}
        }
        Some(())
    }

    /// Leaves out the arguments of the annotation that begins here.
    fn annotation(&mut self) -> Option<()> {
        let at = self.lexer().at;
        self.start.get_or_insert(at);
        self.lexer().at += 1;
        self.skimmer.trivia()?;
        if self.lexer().source[self.lexer().at..].starts_with(b"interface") {
            return Some(());
        }
        while self.lexer().byte().is_some_and(|byte| is(byte, WORD) || byte == b'.') {
            self.lexer().at += 1;
        }
        let end = self.lexer().at;
        self.lexer().spaces();
        if self.lexer().byte() == Some(b'(') {
            self.skimmer.scan(Until::Bracket)?;
            self.skimmer.leave_out(end);
            self.skimmer.out.insert(b" ");
        }
        Some(())
    }

    /// Handles a `{`: members are kept, code is not.
    fn brace(&mut self) -> Option<()> {
        // A comment before it is no part of the head. A text that begins with a brace has none.
        let at = self.lexer().at;
        if at > 0 && self.skimmer.kept == at {
            self.skimmer.end_head();
        }
        let has_constants = self.open.last().copied().unwrap_or_default();
        if self.keyword != Keyword::None || has_constants {
            self.open.push(self.keyword == Keyword::Enum);
            self.lexer().at += 1;
            self.start = None;
            self.keyword = Keyword::None;
            return Some(());
        }
        self.skimmer.body()?;
        self.start = None;
        Some(())
    }

    /// Leaves out the value of a field, unless definitions are in it or another field follows.
    fn value(&mut self) -> Option<()> {
        let start = self.lexer().at;
        if self.skimmer.scan(Until::Semicolon)? || self.skimmer.holes.has_comma {
            self.skimmer.leave_out_holes();
        } else {
            self.skimmer.leave_out(start);
        }
        Some(())
    }
}
