//! Skimming languages whose bodies are in braces: bodies of functions, values, types of parameters and comments are left out.
//!
//! The lexer and the search for definitions in code are the same for all of them; a [`Dialect`] says which literals and comments a
//! language has and which words begin a definition. How declarations are written is the subject of a module for each language. Where
//! brackets do not balance or a literal does not end, all of the text is parsed.

mod lexer;
mod scan;

#[cfg(feature = "go")]
pub(super) mod go;
#[cfg(feature = "java")]
pub(super) mod java;
#[cfg(feature = "rust")]
pub(super) mod rust;

pub(super) use self::lexer::BraceLexer;
use self::lexer::{Dialect, SPACE, is};
use self::scan::{Holes, Until};
use super::Skimmed;
use crate::language::Language;

/// The lexer of a language, at the beginning of a text. `None` for other languages.
pub(super) fn lexer(language: Language, source: &[u8]) -> Option<BraceLexer<'_>> {
    let dialect = match language {
        #[cfg(feature = "go")]
        Language::Go => &go::GO,
        #[cfg(feature = "java")]
        Language::Java => &java::JAVA,
        #[cfg(feature = "rust")]
        Language::Rust => &rust::RUST,
        _ => return None,
    };
    Some(BraceLexer { source, at: 0, dialect })
}

/// State of skimming a text in any of the languages.
struct BraceSkimmer<'s, 'o> {
    lexer: BraceLexer<'s>,
    out: &'o mut Skimmed,
    /// All before this offset has been copied or left out.
    kept: usize,
    holes: Holes,
}

impl<'s, 'o> BraceSkimmer<'s, 'o> {
    fn new(dialect: &'static Dialect, source: &'s [u8], out: &'o mut Skimmed) -> Self {
        Self { lexer: BraceLexer { source, at: 0, dialect }, out, kept: 0, holes: Holes::default() }
    }

    /// Copies all up to an offset that was not left out.
    fn keep_to(&mut self, end: usize) {
        self.out.keep(self.lexer.source, self.kept..end.max(self.kept));
        self.kept = end.max(self.kept);
    }

    /// Leaves out the text from `start` up to here.
    fn leave_out(&mut self, start: usize) {
        self.keep_to(start);
        self.kept = self.lexer.at;
    }

    /// Leaves out the rest of a head that ends here.
    fn end_head(&mut self) {
        self.out.stand_in(b' ', self.lexer.at - 1);
        self.kept = self.lexer.at;
    }

    /// Leaves out the comment that begins here and the space after it. Returns `false` if no comment begins here.
    fn comment(&mut self) -> Option<bool> {
        let start = self.lexer.at;
        if !self.lexer.comment()? {
            return Some(false);
        }
        self.lexer.spaces();
        let has_line_feed = self.lexer.source[start..self.lexer.at].contains(&b'\n');
        self.leave_out(start);
        self.out.insert(if has_line_feed { b"\n" } else { b" " });
        Some(true)
    }

    /// Skips white space and comments.
    fn trivia(&mut self) -> Option<()> {
        while let Some(byte) = self.lexer.byte() {
            match byte {
                _ if is(byte, SPACE) => self.lexer.at += 1,
                b'/' if self.comment()? => {}
                _ => break,
            }
        }
        Some(())
    }

    /// Skips code, and records the holes in it. Returns `true` if definitions are in it.
    fn scan(&mut self, until: Until) -> Option<bool> {
        self.lexer.scan(until, &mut self.holes)
    }

    /// Leaves out the body that begins here, except definitions.
    fn body(&mut self) -> Option<()> {
        self.scan(Until::Brace)?;
        self.leave_out_holes();
        Some(())
    }

    /// Leaves out the contents of the brackets that begin here, unless definitions are in them.
    fn group(&mut self) -> Option<()> {
        let open = self.lexer.at;
        if self.scan(Until::Bracket)? {
            self.leave_out_holes();
        } else {
            self.keep_to(open + 1);
            self.kept = self.lexer.at - 1;
        }
        Some(())
    }

    /// Copies the contents of the brackets that begin here, without comments.
    fn keep_group(&mut self) -> Option<()> {
        self.scan(Until::Bracket)?;
        self.leave_out_holes();
        Some(())
    }

    /// Leaves out the holes that the last scan found.
    fn leave_out_holes(&mut self) {
        let source = self.lexer.source;
        for hole in std::mem::take(&mut self.holes.found) {
            self.keep_to(hole.start);
            if source[hole.start - 1] != b'{' {
                self.out.insert(if source[hole.clone()].contains(&b'\n') { b"\n" } else { b" " });
            }
            self.kept = hole.end;
        }
    }

    /// Ends a declaration outside of all others: the text may be cut here.
    fn cut(&mut self) {
        if self.out.is_piece(self.lexer.at - self.kept) {
            self.keep_to(self.lexer.at);
            self.out.cut();
        }
    }

    fn finish(&mut self) {
        self.keep_to(self.lexer.source.len());
    }
}

#[cfg(all(test, feature = "go", feature = "java", feature = "rust"))]
mod tests;
