//! Skimming Rust: attributes, imports, invocations of macros, types and generic parameters are left out too.

use std::ops::Range;

use super::lexer::{BraceLexer, Dialect, Holds, SPACE, WORD, Word, is};
use super::{BraceSkimmer, Skimmed, Until};
use crate::kind::Kind;
use crate::skim::LexedDefinition;

/// Depth of nested braces within a type. Variants have depth one.
const MAX_FIELDS: usize = 8;

pub(super) static RUST: Dialect = Dialect {
    nested_comments: true,
    lifetimes: true,
    raw_strings: true,
    text_blocks: false,
    backticks: false,
    multiline_strings: true,
    lengths: 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 11,
    word,
};

/// Skims a source text. Returns `false` if its brackets do not balance, so that all of it has to be parsed.
pub(in super::super) fn skim(source: &[u8], out: &mut Skimmed) -> bool {
    RustSkimmer { skimmer: BraceSkimmer::new(&RUST, source, out), start: None, is_foreign: false, open: 0 }
        .run()
        .is_some()
}

fn word(lexer: &BraceLexer<'_>, text: &[u8]) -> Word {
    let meaning = match text {
        b"fn" | b"type" => Word::Defines(Holds::Code),
        b"struct" | b"enum" | b"union" => Word::Defines(Holds::Definitions),
        b"trait" | b"mod" | b"impl" => Word::Defines(Holds::Members),
        b"macro_rules" if lexer.next() == Some(b'!') => return Word::Defines(Holds::Code),
        _ => return Word::Plain,
    };
    let is_raw = lexer.source[..lexer.at - text.len()].ends_with(b"r#");
    let names = text == b"impl" || lexer.next().is_some_and(|byte| is(byte, WORD) || byte == b'/');
    if names && !is_raw { meaning } else { Word::Plain }
}

/// Items of a file and of the modules, traits and implementations in it.
struct RustSkimmer<'s, 'o> {
    skimmer: BraceSkimmer<'s, 'o>,
    /// Offset of the item that is under way.
    start: Option<usize>,
    /// It began with `extern`.
    is_foreign: bool,
    /// Number of braces around it.
    open: usize,
}

impl<'s> RustSkimmer<'s, '_> {
    fn run(&mut self) -> Option<()> {
        while let Some(byte) = self.skimmer.lexer.byte() {
            let at = self.skimmer.lexer.at;
            match byte {
                _ if is(byte, SPACE) => self.skimmer.lexer.at += 1,
                _ if is(byte, WORD) => self.word()?,
                b'/' if self.skimmer.comment()? => {}
                b'#' => self.attribute()?,
                b'"' | b'\'' => self.skimmer.lexer.literal()?,
                b'(' | b'[' => self.skimmer.keep_group()?,
                b'{' if self.is_foreign => self.enter(),
                b'{' => {
                    self.skimmer.body()?;
                    self.end();
                }
                b'}' => {
                    self.open = self.open.checked_sub(1)?;
                    self.skimmer.lexer.at += 1;
                    self.end();
                }
                b';' => {
                    self.skimmer.lexer.at += 1;
                    self.end();
                }
                _ => {
                    self.start.get_or_insert(at);
                    self.skimmer.lexer.at += 1;
                }
            }
        }
        self.skimmer.finish();
        (self.open == 0).then_some(())
    }

    fn lexer(&mut self) -> &mut BraceLexer<'s> {
        &mut self.skimmer.lexer
    }

    fn end(&mut self) {
        self.start = None;
        self.is_foreign = false;
        if self.open == 0 {
            self.skimmer.cut();
        }
    }

    fn enter(&mut self) {
        self.open += 1;
        self.start = None;
        self.is_foreign = false;
        self.skimmer.lexer.at += 1;
    }

    /// Leaves out the attribute that begins here.
    fn attribute(&mut self) -> Option<()> {
        let start = self.lexer().at;
        self.lexer().at += if self.lexer().source[start..].starts_with(b"#!") { 2 } else { 1 };
        if self.lexer().byte() == Some(b'[') {
            self.skimmer.scan(Until::Bracket)?;
            self.lexer().spaces();
            self.skimmer.leave_out(start);
            self.skimmer.out.insert(b" ");
        } else if start == 0 {
            // `#!/usr/bin/env …`
            self.lexer().line();
            self.skimmer.leave_out(start);
        }
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let at = self.lexer().at;
        let start = *self.start.get_or_insert(at);
        match self.lexer().word() {
            b"fn" => self.function(),
            b"struct" | b"enum" => self.data(),
            b"union" if self.lexer().next().is_some_and(|byte| is(byte, WORD)) => self.data(),
            b"trait" => self.container(true),
            b"impl" | b"mod" => self.container(false),
            b"const" => self.value(Kind::Constant),
            b"static" => self.value(Kind::Variable),
            b"type" => self.alias(),
            b"extern" => {
                self.is_foreign = true;
                Some(())
            }
            b"use" => {
                self.up_to(b";")?;
                self.lexer().at += 1;
                self.skimmer.leave_out(start);
                self.end();
                Some(())
            }
            b"macro_rules" if self.lexer().next() == Some(b'!') => {
                self.up_to(b"({[")?;
                let is_block = self.lexer().byte() == Some(b'{');
                let open = self.lexer().at;
                self.skimmer.scan(Until::Bracket)?;
                self.skimmer.keep_to(open + 1);
                self.skimmer.kept = self.lexer().at - 1;
                if is_block {
                    self.end();
                }
                Some(())
            }
            _ if self.lexer().byte() == Some(b'!') => self.invocation(start),
            _ => Some(()),
        }
    }

    /// Leaves out the invocation of a macro.
    fn invocation(&mut self, start: usize) -> Option<()> {
        self.up_to(b"({[;}")?;
        let is_block = match self.lexer().byte()? {
            b';' | b'}' => return Some(()),
            byte => byte == b'{',
        };
        self.skimmer.scan(Until::Bracket)?;
        if !is_block && self.lexer().next() == Some(b';') {
            self.up_to(b";")?;
            self.lexer().at += 1;
        }
        self.skimmer.leave_out(start);
        self.end();
        Some(())
    }

    /// Skips tokens up to one of some bytes outside of brackets. Returns the end of the last token, and whether definitions were passed.
    fn up_to(&mut self, ends: &[u8]) -> Option<(usize, bool)> {
        let (mut angles, mut last, mut defines) = (0usize, self.lexer().at, false);
        while let Some(byte) = self.lexer().byte() {
            if angles == 0 && ends.contains(&byte) {
                return Some((last, defines));
            }
            match byte {
                _ if is(byte, SPACE) => {
                    self.lexer().at += 1;
                    continue;
                }
                _ if is(byte, WORD) => {
                    self.lexer().word();
                }
                b'/' if self.lexer().comment()? => continue,
                b'"' | b'\'' => self.lexer().literal()?,
                b'(' | b'[' | b'{' => {
                    defines |= self.skimmer.scan(Until::Bracket)?;
                }
                b'}' | b';' => return None,
                _ => {
                    let at = self.lexer().at;
                    let is_arrow = matches!(self.lexer().source[at - 1], b'-' | b'=');
                    match byte {
                        b'<' => angles += 1,
                        b'>' if !is_arrow => angles = angles.checked_sub(1)?,
                        _ => {}
                    }
                    self.lexer().at += 1;
                }
            }
            last = self.lexer().at;
        }
        None
    }

    /// Skips the name that is next. Returns its end; `None` if there is none.
    fn name(&mut self) -> Option<Option<usize>> {
        self.skimmer.trivia()?;
        if self.lexer().source[self.lexer().at..].starts_with(b"r#") {
            self.lexer().at += 2;
        }
        let is_name = !self.lexer().word().is_empty();
        Some(is_name.then_some(self.lexer().at))
    }

    /// Keeps name, parentheses and braces of a function.
    fn function(&mut self) -> Option<()> {
        let Some(name) = self.name()? else { return Some(()) };
        let (_, in_generics) = self.up_to(b"(;{")?;
        let open = self.lexer().at;
        if self.lexer().byte() != Some(b'(') {
            return Some(());
        }
        let in_parameters = self.skimmer.scan(Until::Bracket)?;
        let close = self.lexer().at;
        let (_, in_result) = self.up_to(b";{")?;
        if !(in_generics || in_parameters || in_result) {
            self.skimmer.keep_to(name);
            self.skimmer.kept = open;
            self.skimmer.keep_to(open + 1);
            self.skimmer.kept = close - 1;
            self.skimmer.keep_to(close);
            self.skimmer.end_head();
        }
        Some(())
    }

    /// Keeps names of a type and of its fields or variants.
    fn data(&mut self) -> Option<()> {
        let Some(name) = self.name()? else { return Some(()) };
        // A word after the generic parameters is `where`: parentheses in its clause are no fields.
        self.up_to(b"({;w")?;
        if self.lexer().byte() == Some(b'w') {
            self.up_to(b"{;")?;
        }
        self.skimmer.keep_to(name);
        self.skimmer.end_head();
        match self.lexer().byte()? {
            b'{' => {
                self.fields(MAX_FIELDS)?;
                self.end();
            }
            b'(' => {
                self.skimmer.group()?;
                self.up_to(b";")?;
            }
            _ => {}
        }
        Some(())
    }

    /// Keeps names of fields or variants, which are in the braces that begin here, with `room` for braces in them.
    fn fields(&mut self, room: usize) -> Option<()> {
        self.lexer().at += 1;
        let mut follows_pub = false;
        while let Some(byte) = self.lexer().byte() {
            match byte {
                _ if is(byte, SPACE) => {
                    self.lexer().at += 1;
                    continue;
                }
                b'/' if self.skimmer.comment()? => continue,
                _ if is(byte, WORD) => {
                    follows_pub = self.lexer().word() == b"pub";
                    continue;
                }
                b'#' if self.lexer().source[self.lexer().at + 1..].starts_with(b"[") => self.attribute()?,
                b'(' if follows_pub => self.skimmer.keep_group()?,
                b'(' => self.skimmer.group()?,
                b'{' => self.fields(room.checked_sub(1)?)?,
                b'}' => {
                    self.lexer().at += 1;
                    return Some(());
                }
                b':' => {
                    self.lexer().at += 1;
                    let start = self.lexer().at;
                    let (end, defines) = self.up_to(b",}")?;
                    if !defines && end > start {
                        self.skimmer.keep_to(start);
                        self.skimmer.out.stand_in(b'T', end - 1);
                        self.skimmer.kept = end;
                    }
                }
                b'=' => {
                    self.lexer().at += 1;
                    while !matches!(self.lexer().byte()?, b',' | b'}') {
                        self.value_token()?;
                    }
                }
                _ => self.lexer().at += 1,
            }
            follows_pub = false;
        }
        None
    }

    /// Skips a token of the value of a variant.
    fn value_token(&mut self) -> Option<()> {
        match self.lexer().byte()? {
            b'(' | b'[' | b'{' => self.skimmer.keep_group(),
            b'"' | b'\'' => self.lexer().literal(),
            b'/' if self.skimmer.comment()? => Some(()),
            _ => {
                self.lexer().at += 1;
                Some(())
            }
        }
    }

    /// Enters the braces of a module, a trait or an implementation.
    fn container(&mut self, is_trait: bool) -> Option<()> {
        let start = self.lexer().at;
        let name = if is_trait { self.name()? } else { None };
        if is_trait && name.is_none() || self.lexer().next() == Some(b'!') {
            self.lexer().at = start;
            return Some(());
        }
        self.up_to(b"{;")?;
        if self.lexer().byte() == Some(b'{') {
            if let Some(name) = name {
                self.skimmer.keep_to(name);
                self.skimmer.end_head();
            }
            self.enter();
        }
        Some(())
    }

    /// Leaves out type and value of a constant or static variable, unless definitions are in the value.
    fn value(&mut self, kind: Kind) -> Option<()> {
        let start = self.lexer().at;
        self.skimmer.trivia()?;
        let mut ahead = self.lexer().clone();
        if matches!(ahead.word(), b"fn" | b"unsafe" | b"async" | b"extern" | b"trait" | b"impl") {
            return Some(());
        }
        if !self.lexer().byte().is_some_and(|byte| is(byte, WORD)) {
            self.lexer().at = start;
            return Some(());
        }
        if self.lexer().source[self.lexer().at..].starts_with(b"mut ") {
            self.lexer().at += 4;
            self.skimmer.trivia()?;
        }
        let name_start = self.lexer().at;
        self.lexer().word();
        let name = name_start..self.lexer().at;
        self.up_to(b":;={")?;
        if self.lexer().byte() != Some(b':') {
            return Some(());
        }
        self.lexer().at += 1;
        let colon = self.lexer().at;
        let (end, in_type) = self.up_to(b"=;")?;
        let equals = self.lexer().at;
        let in_value = self.skimmer.scan(Until::Semicolon)?;
        if in_type || end == colon {
            return Some(());
        }
        // Names such as `r#type` are left to the parser.
        if !in_value && self.open == 0 && name.end + 1 == colon {
            self.lexer().at += 1;
            self.plain(kind, name);
            return Some(());
        }
        self.skimmer.keep_to(colon);
        self.skimmer.out.stand_in(b'T', end - 1);
        if in_value {
            self.skimmer.kept = equals;
            self.skimmer.leave_out_holes();
        } else {
            self.skimmer.kept = self.lexer().at;
        }
        Some(())
    }

    /// Records the item that ends here, which is in no other, and leaves it out.
    fn plain(&mut self, kind: Kind, name: Range<usize>) {
        let item = self.start.unwrap_or(name.start)..self.lexer().at;
        self.skimmer.leave_out(item.start);
        if self.lexer().source[name.clone()] != *b"_" {
            self.skimmer.out.plain.push(LexedDefinition {
                kind,
                name,
                head: item.clone(),
                extent: item,
                parameters: None,
                qualifier: None,
            });
        }
        self.end();
    }

    /// Leaves out the type that another name is given to.
    fn alias(&mut self) -> Option<()> {
        let start = self.lexer().at;
        let Some(name) = self.name()? else { return Some(()) };
        self.up_to(b"=;")?;
        let is_alias = self.lexer().byte() == Some(b'=');
        let defines = self.skimmer.scan(Until::Semicolon)?;
        let is_plain = self.lexer().source[start..name].iter().all(|&byte| is(byte, WORD | SPACE));
        if is_alias && is_plain && !defines && self.open == 0 {
            self.lexer().at += 1;
            let word = self.lexer().source[start..name].trim_ascii_start().len();
            self.plain(Kind::Typedef, name - word..name);
        } else if !defines {
            let at = self.lexer().at;
            self.skimmer.keep_to(name);
            // A foreign type has no value, which the grammar does not know.
            self.skimmer.out.insert(b"=T");
            self.skimmer.kept = at;
        }
        Some(())
    }
}
