//! Skimming Python: a file is reduced to a skeleton of classes, functions and assignments.
//!
//! The skeleton has an indentation of its own. It has no blocks such as `if` and `try`, whose definitions belong to the scope
//! around them. A `0` stands for omitted text, at the place of its last byte: for the value of a variable, and for the end of a
//! class or of a function. Bodies are lexed for classes and functions in them; all else there is local.

mod lexer;

pub(super) use self::lexer::PythonLexer;
use self::lexer::Token;
use super::Skimmed;

/// Skims a source text. Returns `false` if its brackets, strings or indentation are wrong, so that all of it has to be parsed.
pub(crate) fn skim(source: &[u8], out: &mut Skimmed) -> bool {
    let lexer = PythonLexer::new(source);
    PythonSkimmer { lexer, out, scopes: Vec::new(), end: 0, comments: Vec::new() }.run().is_some()
}

/// Class or function that is open.
struct OpenBlock {
    is_class: bool,
    /// Column of the line that begins it.
    column: usize,
    /// Column of its body, if that has begun.
    body: Option<usize>,
    /// No line of it is in the skeleton.
    is_empty: bool,
}

struct PythonSkimmer<'s, 'o> {
    lexer: PythonLexer<'s>,
    out: &'o mut Skimmed,
    scopes: Vec<OpenBlock>,
    /// End of the last logical line, with the comment in it.
    end: usize,
    /// Column and end of each comment on a line of its own since then.
    comments: Vec<(usize, usize)>,
}

impl PythonSkimmer<'_, '_> {
    fn run(mut self) -> Option<()> {
        loop {
            let column = self.indentation()?;
            let is_over = self.lexer.byte().is_none();
            self.close(if is_over { 0 } else { column })?;
            if is_over {
                return Some(());
            }
            self.comments.clear();
            self.line(column)?;
        }
    }

    /// Skips to the first token of the next logical line. Returns its column, as Python counts it.
    fn indentation(&mut self) -> Option<usize> {
        let mut column = 0;
        loop {
            match self.lexer.byte() {
                Some(b' ') => column += 1,
                Some(b'\t') => column = (column / 8 + 1) * 8,
                Some(b'\r' | b'\n' | b'\x0c') => column = 0,
                Some(b'#') => {
                    self.lexer.comment();
                    if !self.scopes.is_empty() {
                        self.comments.push((column, self.lexer.at));
                    }
                    continue;
                }
                Some(b'\\') => return None,
                _ => return Some(column),
            }
            self.lexer.at += 1;
        }
    }

    /// Ends the scopes to which a line in a column does not belong.
    fn close(&mut self, column: usize) -> Option<()> {
        while let Some(scope) = self.scopes.last_mut() {
            let is_in = column > scope.column;
            let body = match scope.body {
                Some(body) => body,
                None if is_in => column,
                None => return None,
            };
            scope.body = Some(body);
            if column >= body {
                return Some(());
            }
            if is_in {
                return None;
            }
            // Comments after the last line belong to the body, up to the first one with less indentation.
            let comments = self.comments.iter().take_while(|comment| comment.0 >= body);
            let end = comments.last().map_or(self.end, |comment| comment.1);
            self.end_scope(end);
        }
        Some(())
    }

    /// Ends the innermost scope at an offset.
    fn end_scope(&mut self, end: usize) {
        if self.scopes.last().is_some_and(|scope| !scope.is_empty) {
            self.new_line();
        }
        self.out.stand_in(b'0', end - 1);
        self.scopes.pop();
    }

    /// Begins a line of the skeleton.
    fn new_line(&mut self) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.is_empty = false;
        }
        self.out.insert(b"\n");
        for _ in &self.scopes {
            self.out.insert(b" ");
        }
    }

    /// Handles a logical line.
    fn line(&mut self, column: usize) -> Option<()> {
        let start = self.lexer.at;
        if self.lexer.byte() == Some(b'@') {
            return self.decorator();
        }
        let is_local = self.scopes.last().is_some_and(|scope| !scope.is_class);
        let mut word = self.lexer.word();
        if word == b"async" {
            let before = self.lexer;
            self.lexer.blanks()?;
            word = self.lexer.word();
            if !matches!(word, b"def" | b"for" | b"with") {
                (self.lexer, word) = (before, b"async");
            }
        }
        match word {
            b"def" | b"class" => return self.definition(start, column, word == b"class"),
            _ if is_local => {
                let end = self.lexer.line()?;
                self.end_line(end);
                return Some(());
            }
            b"if" | b"elif" | b"else" | b"for" | b"while" | b"try" | b"except" | b"finally" | b"with" => {
                self.lexer.head()?;
            }
            b"match" | b"case" if is_match(self.lexer) => self.lexer.head()?,
            _ => self.lexer.at = start,
        }
        self.statements()
    }

    /// Ends a logical line whose last token ends at an offset. The lexer is at the comment, if there is one.
    fn end_line(&mut self, end: usize) {
        self.end = end;
        if self.lexer.byte() == Some(b'#') {
            self.lexer.comment();
            self.end = self.lexer.at;
        }
    }

    /// Keeps a decorator, unless it is a call: that of a property is none.
    fn decorator(&mut self) -> Option<()> {
        let start = self.lexer.at;
        let end = self.lexer.line()?;
        if !self.lexer.source[..end].ends_with(b")") {
            self.new_line();
            self.out.keep(self.lexer.source, start..end);
        }
        self.end_line(end);
        Some(())
    }

    /// Handles a class or a function. Keeps the name in its head, and the places of the parentheses and the colon.
    fn definition(&mut self, start: usize, column: usize, is_class: bool) -> Option<()> {
        self.lexer.blanks()?;
        if self.lexer.word().is_empty() {
            return None;
        }
        self.new_line();
        self.out.keep(self.lexer.source, start..self.lexer.at);
        if !is_class {
            self.lexer.blanks()?;
            if self.lexer.byte() == Some(b'[') {
                self.lexer.group()?;
                self.lexer.blanks()?;
            }
            let open = self.lexer.at;
            if self.lexer.byte() != Some(b'(') {
                return None;
            }
            self.lexer.group()?;
            self.out.stand_in(b'(', open);
            self.out.stand_in(b')', self.lexer.at - 1);
        }
        self.lexer.head()?;
        self.out.stand_in(b':', self.lexer.at - 1);
        self.scopes.push(OpenBlock { is_class, column, body: None, is_empty: true });
        self.lexer.blanks()?;
        if self.lexer.ends_line() {
            self.end_line(self.lexer.at);
            return Some(());
        }
        if is_class {
            self.statements()?;
        } else {
            let end = self.lexer.line()?;
            self.end_line(end);
        }
        self.end_scope(self.end);
        Some(())
    }

    /// Handles simple statements up to the end of the logical line.
    fn statements(&mut self) -> Option<()> {
        self.lexer.blanks()?;
        let mut end = self.lexer.at;
        loop {
            self.lexer.blanks()?;
            if self.lexer.ends_line() {
                self.end_line(end);
                return Some(());
            }
            end = self.statement()?;
        }
    }

    /// Skips a simple statement and the semicolon after it, and keeps the targets of its assignments. Returns its end.
    fn statement(&mut self) -> Option<usize> {
        let start = self.lexer.at;
        let (mut end, mut lambdas, mut is_annotated) = (start, 0usize, false);
        // Start of the value, and whether that is a lambda.
        let mut value = None;
        let mut is_lambda = false;
        let end_of_line = loop {
            match self.lexer.token()? {
                Token::Assign if lambdas == 0 => value = Some(self.lexer.at),
                Token::Lambda => {
                    is_lambda |= value == Some(end);
                    lambdas += 1;
                }
                Token::Colon if lambdas == 0 => is_annotated = true,
                Token::Colon => lambdas -= 1,
                Token::Semicolon => break self.lexer.at,
                Token::End => break end,
                Token::Assign | Token::Other => {}
            }
            end = self.lexer.at;
        };
        let source = self.lexer.source;
        match value {
            Some(value) if value == end => return None,
            Some(value) if !is_lambda => {
                self.new_line();
                self.out.keep(source, start..value);
                self.out.stand_in(b'0', end - 1);
            }
            None if !is_annotated => {}
            _ => {
                self.new_line();
                self.out.keep(source, start..end);
            }
        }
        Some(end_of_line)
    }
}

/// Returns `true` if a line that begins with `match` or `case` is such a block, and no use of that name.
fn is_match(mut lexer: PythonLexer<'_>) -> bool {
    let is_operand =
        lexer.blanks().is_some() && !matches!(lexer.byte(), Some(b'.' | b',' | b'=' | b':' | b';'));
    is_operand && lexer.head().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skimmed(source: &str) -> Option<String> {
        let mut out = Skimmed::default();
        skim(source.as_bytes(), &mut out).then(|| String::from_utf8_lossy(out.text()).trim_start().to_owned())
    }

    #[test]
    fn classes_functions_and_assignments_are_left() {
        for (source, expected) in [
            ("import a\n'''x = 1'''\nf(x=1)  # x = 1\n", ""),
            ("x = {1: 2,\n 3: 4}\ny: int = [5]; del z\n", "x =0\ny: int =0"),
            ("x = y = f(1)\nz += 1\n", "x = y =0"),
            ("x = lambda a=1: a\n", "x = lambda a=1: a"),
            ("if a:\n    x = 1\nelse: y = 2\n", "x =0\ny =0"),
            ("def f(a, b=(1, 2)) -> c: return 1\n", "def f():0"),
            ("def f(a):\n    '''Text.'''\n    x = 1\n    if a:\n        return 1\n", "def f():0"),
            (
                "def f(a):\n    if a:\n        def g(): pass\n    class A: x = 1\n",
                "def f():\n def g():0\n class A:\n  x =0\n  0\n 0",
            ),
            (
                "@a.b\n@c(1)\nclass A(B):\n    x = 1\n    @property\n    async def f(self):\n        pass\n",
                "@a.b\nclass A:\n x =0\n @property\n async def f():0\n 0",
            ),
        ] {
            assert_eq!(skimmed(source).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn a_wrong_indentation_is_not_understood() {
        for source in [
            "def f():\npass",
            "def f():",
            "class A:\n    def f(self):\n            x\n        y",
            "\\\nx = 1",
        ] {
            assert_eq!(skimmed(source), None, "{source}");
        }
    }

    #[test]
    fn what_stands_for_a_body_ends_where_the_body_ends() {
        let source = "def f():\n    return 1\n    # end\n\nx = 2\n";
        let mut out = Skimmed::default();
        assert!(skim(source.as_bytes(), &mut out));
        let end = out.text().iter().position(|&byte| byte == b'0').expect("a body") + 1;
        assert_eq!(&source[out.source_range(1..end)], "def f():\n    return 1\n    # end");
    }
}
