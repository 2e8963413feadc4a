//! Assembler in headers that sources of assembler include, too. Only macros of the preprocessor are kept of it.

use super::directives::Branch;
use super::lexer::{CLexer, WORD, is};
use super::skimmer::CSkimmer;

/// The branch of a condition that only assembler sees.
#[derive(PartialEq)]
pub(super) enum AssemblerBranch {
    First,
    Else,
}

/// The branch for assembler of `#ifdef __ASSEMBLY__`, `#if !defined(__ASSEMBLY__)` and the like, after their first word.
pub(super) fn assembler_branch(directive: &[u8], source: &[u8], at: usize) -> Option<AssemblerBranch> {
    let mut lexer = CLexer { source, at };
    let mut is_negated = directive == b"ifndef";
    if directive == b"if" {
        lexer.blanks();
        is_negated = lexer.byte() == Some(b'!');
        lexer.at += usize::from(is_negated);
        lexer.blanks();
        if lexer.word() != b"defined" {
            return None;
        }
        lexer.blanks();
        lexer.at += usize::from(lexer.byte() == Some(b'('));
    }
    lexer.blanks();
    let is_assembler = matches!(lexer.word(), b"__ASSEMBLY__" | b"__ASSEMBLER__");
    // A further condition may make `#else` one of C.
    lexer.at += usize::from(lexer.byte() == Some(b')'));
    match (is_assembler, is_negated) {
        (true, false) => Some(AssemblerBranch::First),
        (true, true) => lexer.ends_line().then_some(AssemblerBranch::Else),
        (false, _) => None,
    }
}

impl CSkimmer<'_, '_> {
    /// Skips lines of assembler up to the next branch or the end of the condition that begins at `start`, except the definitions of
    /// macros. `start` becomes the beginning of the last skipped part.
    pub(super) fn assembler_lines(&mut self, start: &mut usize) -> Option<Branch> {
        self.keep_to(*start);
        let mut depth = 1;
        loop {
            let line = self.next_line()?;
            if self.lexer.byte() != Some(b'#') {
                continue;
            }
            self.lexer.at += 1;
            self.lexer.blanks();
            match self.lexer.word() {
                b"if" | b"ifdef" | b"ifndef" => depth += 1,
                b"else" | b"elif" if depth == 1 => return Some(Branch::Else),
                b"endif" if depth == 1 => return Some(Branch::End),
                b"endif" => depth -= 1,
                b"define" => {
                    self.out.directives.push(*start..line);
                    self.define(line);
                    self.kept = self.lexer.at;
                    *start = self.lexer.at;
                }
                _ => {}
            }
        }
    }

    /// Moves to the first byte of the next line that is no blank. `None` at the end of the text. Quotes in comments need not end.
    fn next_line(&mut self) -> Option<usize> {
        self.lexer.directive_line();
        self.lexer.byte()?;
        self.lexer.at += 1;
        self.lexer.blanks();
        Some(self.lexer.at)
    }

    /// Returns `true` if a line that is no declaration may begin here.
    pub(super) fn begins_assembler(&self) -> bool {
        self.declaration.start.is_none() && self.open.is_empty() && self.lexer.begins_line()
    }

    /// Returns `true` if text follows the semicolon here.
    pub(super) fn is_assembler_comment(&self) -> bool {
        let mut rest = CLexer { source: self.lexer.source, at: self.lexer.at + 1 };
        rest.blanks();
        !self.is_cplusplus && rest.byte().is_some_and(|byte| is(byte, WORD) || byte == b'-')
    }

    /// Leaves out the line of assembler that is here: a comment, a directive, or the first one of a block.
    pub(super) fn assembler(&mut self) -> Option<()> {
        const BLOCKS: [(&[u8], &[u8]); 3] =
            [(b".macro", b".endm"), (b".irp", b".endr"), (b".rept", b".endr")];
        let mut start = self.lexer.at;
        let is_at = |lexer: &CLexer<'_>, word: &[u8]| lexer.source[lexer.at..].starts_with(word);
        if let Some((_, end)) = BLOCKS.iter().find(|(begin, _)| is_at(&self.lexer, begin)) {
            while self.next_line().is_some() && !is_at(&self.lexer, end) {
                if self.lexer.byte() == Some(b'#') {
                    self.leave_out(start);
                    self.directive()?;
                    start = self.lexer.at;
                }
            }
        }
        self.lexer.directive_line();
        self.leave_out(start);
        Some(())
    }
}
