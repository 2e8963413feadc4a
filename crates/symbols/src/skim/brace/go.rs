//! Skimming Go: imports and types of parameters and results are left out too.

use super::lexer::{BraceLexer, Dialect, Holds, SPACE, WORD, Word, is};
use super::{BraceSkimmer, Skimmed, Until};

pub(super) static GO: Dialect = Dialect {
    nested_comments: false,
    lifetimes: false,
    raw_strings: false,
    text_blocks: false,
    backticks: true,
    multiline_strings: false,
    lengths: 1 << 4 | 1 << 6 | 1 << 9,
    word,
};

/// Skims a source text. Returns `false` if its brackets do not balance, so that all of it has to be parsed.
pub(in super::super) fn skim(source: &[u8], out: &mut Skimmed) -> bool {
    GoSkimmer {
        skimmer: BraceSkimmer::new(&GO, source, out),
        braces: 0,
        parentheses: 0,
        is_start: true,
        last: b';',
        has_members: false,
    }
    .run()
    .is_some()
}

/// A type is a definition if it has a name, or members.
fn word(lexer: &BraceLexer<'_>, text: &[u8]) -> Word {
    match text {
        b"type" if lexer.next() != Some(b')') => Word::Defines(Holds::Code),
        b"struct" | b"interface" if has_members(lexer) => Word::Defines(Holds::Definitions),
        _ => Word::Plain,
    }
}

/// Returns `true` before braces that are not empty.
fn has_members(lexer: &BraceLexer<'_>) -> bool {
    let mut ahead = lexer.clone();
    ahead.spaces();
    let opens = ahead.byte() == Some(b'{');
    ahead.at += 1;
    opens && ahead.next() != Some(b'}')
}

/// Declarations of a file.
struct GoSkimmer<'s, 'o> {
    skimmer: BraceSkimmer<'s, 'o>,
    /// Braces and parentheses around this place.
    braces: usize,
    parentheses: usize,
    /// A declaration may begin here.
    is_start: bool,
    /// Last byte of a token, a letter for all words.
    last: u8,
    /// The next braces have members of a type.
    has_members: bool,
}

impl<'s> GoSkimmer<'s, '_> {
    fn run(&mut self) -> Option<()> {
        while let Some(byte) = self.lexer().byte() {
            match byte {
                b'\n' | b';' => self.end(),
                _ if is(byte, SPACE) => self.lexer().at += 1,
                b'/' if self.skimmer.comment()? => {}
                _ if is(byte, WORD) => self.word()?,
                b'{' if self.has_members => {
                    self.braces += 1;
                    self.token();
                }
                b'{' => {
                    self.skimmer.body()?;
                    self.last = b'}';
                }
                b'}' => {
                    self.braces = self.braces.checked_sub(1)?;
                    self.token();
                }
                b'(' => {
                    self.parentheses += 1;
                    self.token();
                }
                b')' => {
                    self.parentheses = self.parentheses.checked_sub(1)?;
                    self.token();
                }
                b'"' | b'\'' | b'`' => {
                    self.lexer().literal()?;
                    self.is_start = false;
                    self.last = byte;
                }
                _ => self.token(),
            }
        }
        self.skimmer.finish();
        (self.braces == 0 && self.parentheses == 0).then_some(())
    }

    fn lexer(&mut self) -> &mut BraceLexer<'s> {
        &mut self.skimmer.lexer
    }

    fn token(&mut self) {
        self.last = self.skimmer.lexer.source[self.skimmer.lexer.at];
        self.skimmer.lexer.at += 1;
        self.is_start = false;
        self.has_members = false;
    }

    /// Handles the end of a line, which may be that of a declaration.
    fn end(&mut self) {
        self.skimmer.lexer.at += 1;
        if self.braces == 0 && self.parentheses == 0 {
            // A line that ends with an operator continues in the next one.
            self.is_start = !b"=+-*/|&^,.<>:!%".contains(&self.last);
            if self.is_start {
                self.skimmer.cut();
            }
        }
    }

    fn word(&mut self) -> Option<()> {
        let start = self.lexer().at;
        let is_start = std::mem::take(&mut self.is_start);
        self.has_members = false;
        self.last = b'a';
        match self.lexer().word() {
            b"func" if is_start => self.function()?,
            b"import" if is_start => {
                if self.lexer().next() == Some(b'(') {
                    self.lexer().spaces();
                    self.skimmer.scan(Until::Bracket)?;
                } else {
                    self.lexer().line();
                }
                self.skimmer.leave_out(start);
            }
            b"struct" | b"interface" => self.has_members = true,
            _ => {}
        }
        Some(())
    }

    /// Skips the group that is next. Returns its range, and whether definitions are in it.
    fn parameters(&mut self) -> Option<(std::ops::Range<usize>, bool)> {
        let start = self.lexer().at;
        let defines = self.skimmer.scan(Until::Bracket)?;
        Some((start..self.lexer().at, defines))
    }

    /// Keeps receiver, name, parentheses and braces of a function.
    fn function(&mut self) -> Option<()> {
        self.skimmer.trivia()?;
        if self.lexer().byte() == Some(b'(') {
            self.skimmer.keep_group()?;
            self.skimmer.trivia()?;
        }
        self.lexer().word();
        let name = self.lexer().at;
        let mut defines = false;
        self.lexer().spaces();
        if self.lexer().byte() == Some(b'[') {
            defines |= self.parameters()?.1;
            self.lexer().spaces();
        }
        if self.lexer().byte() != Some(b'(') {
            return Some(());
        }
        let (parameters, in_parameters) = self.parameters()?;
        let (has_body, in_result) = self.result()?;
        if !(defines || in_parameters || in_result) {
            self.skimmer.keep_to(name);
            self.skimmer.kept = parameters.start;
            self.skimmer.keep_to(parameters.start + 1);
            self.skimmer.kept = parameters.end - 1;
            self.skimmer.keep_to(parameters.end);
        }
        if !has_body {
            return Some(());
        }
        if !(defines || in_parameters || in_result) {
            self.skimmer.end_head();
        }
        self.skimmer.body()
    }

    /// Skips the types of results. Returns whether a body follows, and whether definitions were passed.
    fn result(&mut self) -> Option<(bool, bool)> {
        let (mut defines, mut is_type) = (false, false);
        while let Some(byte) = self.lexer().byte() {
            match byte {
                b'\n' | b';' => return Some((false, defines)),
                b'{' if !is_type => return Some((true, defines)),
                b'{' | b'(' | b'[' => {
                    is_type = false;
                    defines |= self.parameters()?.1;
                }
                _ if is(byte, WORD) => {
                    is_type = matches!(self.lexer().word(), b"struct" | b"interface");
                    defines |= is_type && has_members(&self.skimmer.lexer);
                }
                b'/' if self.lexer().comment()? => {}
                _ => self.lexer().at += 1,
            }
        }
        Some((false, defines))
    }
}
