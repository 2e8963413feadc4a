//! Lines of the preprocessor, and bodies. Only macros that are defined in a body are kept.

use memchr::memchr;

use super::super::LexedDefinition;
use super::assembler::{AssemblerBranch, assembler_branch};
use super::lexer::{CLexer, STOP, WORD, is};
use super::skimmer::CSkimmer;
use crate::kind::Kind;

/// Preprocessor condition that is open.
pub(super) struct OpenCondition {
    pub(super) between_declarations: bool,
    pub(super) depth: usize,
    /// Only assembler sees the lines after `#else`.
    else_is_assembler: bool,
}

impl CSkimmer<'_, '_> {
    /// Handles a preprocessor line.
    pub(super) fn directive(&mut self) -> Option<()> {
        let mut start = self.lexer.at;
        self.lexer.at += 1;
        self.lexer.blanks();
        let between_declarations = self.declaration.start.is_none();
        let word = self.lexer.word();
        match word {
            b"define" => {
                self.keep_to(start);
                self.define(start);
                self.kept = self.lexer.at;
                // The parser recovers from errors here.
                if between_declarations && self.open.is_empty() {
                    self.end_here();
                }
                self.out.insert(b" ");
                return Some(());
            }
            // The branch of `#if 0` is left out; what follows `#else` is open.
            b"if" if self.is_zero() && skip_branch(&mut self.lexer, true)? == Branch::End => {}
            b"if" | b"ifdef" | b"ifndef" => {
                let branch = assembler_branch(word, self.lexer.source, self.lexer.at);
                let is_first = branch == Some(AssemblerBranch::First);
                if !is_first || self.assembler_lines(&mut start)? != Branch::End {
                    let else_is_assembler = branch == Some(AssemblerBranch::Else);
                    let depth = self.open.len();
                    self.conditions.push(OpenCondition { between_declarations, depth, else_is_assembler });
                }
            }
            b"else" if self.conditions.last().is_some_and(|condition| condition.else_is_assembler) => {
                self.assembler_lines(&mut start)?;
                self.conditions.pop();
            }
            b"else" | b"elif" => {
                let cut = self.conditions.last().is_some_and(|condition| {
                    !(condition.between_declarations && between_declarations)
                        || condition.depth != self.open.len()
                });
                if cut {
                    skip_branch(&mut self.lexer, false)?;
                    self.conditions.pop();
                }
            }
            b"endif" => {
                self.conditions.pop();
            }
            _ => {}
        }
        self.lexer.directive_line();
        self.skip_to(start);
        self.out.insert(b" ");
        self.out.directives.push(start..self.kept);
        Some(())
    }

    /// Returns `true` if the condition is just `0`.
    fn is_zero(&self) -> bool {
        let mut rest = CLexer { source: self.lexer.source, at: self.lexer.at };
        rest.blanks();
        rest.word() == b"0" && rest.ends_line()
    }

    /// Skips a body, from its `{` to the end of its `}`. Definitions of macros in it are kept.
    pub(super) fn body(&mut self) -> Option<()> {
        let mut depth = 0usize;
        let mut conditions = Vec::new();
        while let Some(byte) = self.lexer.byte() {
            if !is(byte, STOP) {
                self.lexer.at += 1;
                continue;
            }
            match byte {
                b'{' => {
                    depth += 1;
                    self.lexer.at += 1;
                }
                b'}' => {
                    depth -= 1;
                    self.lexer.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
                b'#' if self.lexer.begins_line() => self.directive_in_body(&mut depth, &mut conditions)?,
                _ if self.lexer.text() => {}
                _ => self.lexer.at += 1,
            }
        }
        None
    }

    /// Braces are counted in the first branch of a condition, and from there again in each further one.
    fn directive_in_body(&mut self, depth: &mut usize, conditions: &mut Vec<InBody>) -> Option<()> {
        let mut start = self.lexer.at;
        self.lexer.at += 1;
        self.lexer.blanks();
        match self.lexer.word() {
            b"define" => {
                // The function around it is its scope.
                self.out.has_inner = true;
                self.define(start);
                return Some(());
            }
            b"if" | b"ifdef" | b"ifndef" => conditions.push(InBody { depth: *depth, end: None }),
            b"else" | b"elif" => match conditions.last_mut() {
                Some(condition) => {
                    *depth = condition.depth;
                    condition.end.get_or_insert(start);
                }
                // The body began in the first branch.
                None => {
                    skip_branch(&mut self.lexer, false)?;
                    self.conditions.pop();
                }
            },
            b"endif" => match conditions.pop() {
                Some(condition) => start = condition.end.unwrap_or(start),
                None => drop(self.conditions.pop()),
            },
            _ => {}
        }
        self.lexer.directive_line();
        if self.is_cplusplus {
            self.out.directives.push(start..self.lexer.at.min(self.lexer.source.len()));
        }
        Some(())
    }

    /// Records the macro whose definition began at `start`.
    pub(super) fn define(&mut self, start: usize) {
        let lexer = &mut self.lexer;
        lexer.blanks();
        let name = lexer.at;
        lexer.word();
        let name = name..lexer.at;
        let parameters = (lexer.byte() == Some(b'(')).then(|| {
            // Parameters may be on several lines.
            let mut line = CLexer { source: lexer.source, at: lexer.at };
            line.line();
            let rest = &lexer.source[lexer.at..line.at];
            let parameters = lexer.at;
            lexer.at += memchr(b')', rest).map_or(rest.len(), |end| end + 1);
            parameters..lexer.at
        });
        let head = start..lexer.at;
        lexer.directive_line();
        let extent = start..lexer.at;
        if self.is_cplusplus {
            self.out.replacements.push(head.end..lexer.at);
        }
        if self.open.last().is_some_and(|open| open.is_named_later) {
            self.out.insert(b"\n");
            self.out.keep(self.lexer.source, head);
            self.out.insert(b"\n");
        } else if self
            .lexer
            .source
            .get(name.start)
            .is_some_and(|&byte| is(byte, WORD) && !byte.is_ascii_digit())
        {
            self.out.has_inner |= !self.open.is_empty();
            self.out.plain.push(LexedDefinition {
                kind: Kind::Macro,
                name,
                head,
                extent,
                parameters,
                qualifier: None,
            });
        }
    }
}

/// Preprocessor condition that is open in a body.
struct InBody {
    /// Number of braces that are open where it begins.
    depth: usize,
    /// Where its first branch ends.
    end: Option<usize>,
}

/// End of a branch of a condition.
#[derive(PartialEq)]
pub(super) enum Branch {
    Else,
    End,
}

/// Returns `true` if a further branch of a condition is here, and a body follows its `#endif`: the branches are heads of one function.
pub(super) fn body_follows_branches(source: &[u8], at: usize) -> bool {
    let mut lexer = CLexer::ahead(source, at);
    lexer.space();
    lexer.at += 1;
    lexer.blanks();
    if !matches!(lexer.word(), b"else" | b"elif") || skip_branch(&mut lexer, false).is_none() {
        return false;
    }
    lexer.directive_line();
    lexer.next_significant() == Some(b'{')
}

/// Skips from a branch of a condition to the line of its `#endif`, or, if `to_else`, of a further branch.
fn skip_branch(lexer: &mut CLexer<'_>, to_else: bool) -> Option<Branch> {
    let mut depth = 1;
    lexer.line();
    while let Some(byte) = lexer.byte() {
        match byte {
            b'#' if lexer.begins_line() => {
                lexer.at += 1;
                lexer.blanks();
                match lexer.word() {
                    b"if" | b"ifdef" | b"ifndef" => depth += 1,
                    b"else" | b"elif" if depth == 1 && to_else => return Some(Branch::Else),
                    b"endif" => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(Branch::End);
                        }
                    }
                    _ => {}
                }
                lexer.line();
            }
            _ if lexer.text() => {}
            _ => lexer.at += 1,
        }
    }
    None
}
