//! Enclosing definitions: functions, types and modules, with their extents.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use finecomb_scan::Stop;

use crate::kind::Kind;
use crate::language::Language;
use crate::parser::{MAX_STEPS_PER_BYTE, Parser};
use crate::query::SymbolsQuery;
use crate::symbol::{Symbol, symbols};
use crate::visit::SIZE_LIMIT;

/// Definition that is a scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnclosingScope {
    /// Kind of the definition.
    pub kind: Kind,
    /// Bytes of the name in the text.
    pub name: Range<usize>,
    /// Names of the scopes around it, joined by the separator of the language. Empty if there are none.
    pub scope: Vec<u8>,
    /// From the first token to the end of the body, in bytes of the text.
    pub extent: Range<usize>,
    /// Offset in the line that shows the definition: that of its name or, for a type that is named at its end, of its start.
    pub line: usize,
}

/// Reason why a text was not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotParsed {
    /// The text exceeds [`ScopeParser::SIZE_LIMIT`].
    #[error("larger than {} MiB", SIZE_LIMIT >> 20)]
    TooLarge,
    /// The parser took too many steps.
    #[error("took more than {MAX_STEPS_PER_BYTE} parser steps per byte")]
    TooComplex,
    /// The stop was raised.
    #[error("not parsed in time")]
    Stopped,
}

/// Parser that finds the scopes of source texts.
#[derive(Default)]
pub struct ScopeParser {
    parser: Parser,
    query: SymbolsQuery,
}

impl ScopeParser {
    /// Largest text that is parsed, in bytes.
    pub const SIZE_LIMIT: usize = SIZE_LIMIT;

    /// A parser that gives a text up once the stop is raised.
    pub fn until(stop: Arc<Stop>) -> Self {
        Self { parser: Parser::until(Some(stop)), query: SymbolsQuery::default() }
    }

    /// Finds the scopes of a text, in the order of their names. A text in no known language has none.
    ///
    /// # Errors
    /// If the text is too large, takes too many steps to parse, or the stop is raised.
    pub fn scopes(&mut self, path: &Path, text: &[u8]) -> Result<Vec<EnclosingScope>, NotParsed> {
        let Some(language) = Language::of(path, text) else { return Ok(Vec::new()) };
        if text.len() > SIZE_LIMIT {
            return Err(NotParsed::TooLarge);
        }
        let parsed = self.parser.parse(language, text, &self.query);
        // What was found before a stop may be a part of all.
        if self.parser.is_stopped() {
            return Err(NotParsed::Stopped);
        }
        if parsed.gave_up {
            return Err(NotParsed::TooComplex);
        }
        let found = symbols(text, language, &parsed.definitions, |kind, _| kind.is_scope());
        Ok(found.into_iter().filter_map(EnclosingScope::new).collect())
    }
}

impl EnclosingScope {
    fn new(Symbol { kind, name, scope, extent, .. }: Symbol) -> Option<Self> {
        let kind = kind?;
        let line = if kind == Kind::Typedef { extent.start } else { name.start };
        Some(Self { kind, name, scope, extent, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind, name, names around it, and first and last line of each scope; the line that shows it, if that is another.
    #[cfg(any(feature = "c", all(feature = "python", feature = "rust")))]
    fn scopes(path: &str, text: &str) -> Vec<String> {
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let found = ScopeParser::default().scopes(Path::new(path), text.as_bytes()).expect("parsed");
        let shown = |found: EnclosingScope| {
            let (first, last) = (line(found.extent.start), line(found.extent.end - 1));
            let (name, around) = (&text[found.name], String::from_utf8_lossy(&found.scope).into_owned());
            let shown = line(found.line);
            let place = if shown == first { String::new() } else { format!(" at {shown}") };
            format!("{} {name} [{around}] {first}-{last}{place}", found.kind)
        };
        found.into_iter().map(shown).collect()
    }

    #[test]
    #[cfg(feature = "c")]
    fn functions_types_and_macros_are_scopes_of_c() {
        let text = "\
#define LOOP(list) \\
\tfor (;;) \\
\t\tstep(list)
#define ONE 1
#define TWO \\
\t2
#define NOTHING \\

int variable = 1;
static int
first(int a)
{
\treturn a;
}
struct list {
\tint length;
};
typedef struct {
\tint x;
} point_t;
SYSCALL_DEFINE1(close, int, fd)
{
\treturn fd;
}
";
        assert_eq!(
            scopes("a.c", text),
            [
                "macro LOOP [] 1-3",
                "macro ONE [] 4-4",
                "macro TWO [] 5-6",
                "macro NOTHING [] 7-7",
                "function first [] 10-14 at 11",
                "struct list [] 15-17",
                "typedef point_t [] 18-20",
                "function close [] 21-24",
            ]
        );
    }

    #[test]
    #[cfg(all(feature = "python", feature = "rust"))]
    fn nested_scopes_name_those_around_them() {
        let text =
            "class A:\n    x = 1\n    @property\n    def f(self):\n        def g():\n            pass\n";
        assert_eq!(scopes("a.py", text), ["class A [] 1-6", "property f [A] 4-6", "function g [A.f] 5-6"]);
        let text = "mod m {\n    impl T {\n        fn f() {\n        }\n    }\n    enum E { A }\n}\n";
        assert_eq!(scopes("a.rs", text), ["module m [] 1-7", "method f [m::T] 3-4", "enum E [m] 6-6"]);
    }

    #[test]
    #[cfg(feature = "c")]
    fn a_text_has_no_scopes_once_the_stop_is_raised() {
        let stop = Arc::new(Stop::new().expect("a stop"));
        let mut parser = ScopeParser::until(Arc::clone(&stop));
        let mut scopes = || parser.scopes(Path::new("a.c"), b"int f(void) {}").map(|found| found.len());
        assert_eq!(scopes(), Ok(1));
        stop.raise();
        assert_eq!(scopes(), Err(NotParsed::Stopped));
    }

    #[test]
    fn a_text_in_no_known_language_has_no_scopes() {
        assert!(!Language::knows(Path::new("notes.txt")) && !Language::knows(Path::new("LICENSE")));
        assert_eq!(ScopeParser::default().scopes(Path::new("a.txt"), b"int f(void) {}"), Ok(Vec::new()));
    }

    #[test]
    #[cfg(feature = "c")]
    fn a_text_over_the_limit_is_not_parsed() {
        let text = vec![b'\n'; SIZE_LIMIT + 1];
        let refused = ScopeParser::default().scopes(Path::new("a.c"), &text);
        assert_eq!(refused.expect_err("too large").to_string(), "larger than 64 MiB");
    }
}
