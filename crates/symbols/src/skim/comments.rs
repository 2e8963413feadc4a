//! Comments of languages without a lexer: those that begin a line, which need no knowledge of the code before it.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::language::Language;

/// The comments of a language.
struct Rules {
    /// They begin comments to the end of the line.
    line: &'static [&'static str],
    /// `/*` begins a comment up to `*/`.
    has_blocks: bool,
    /// Texts without which no literal continues in the next line. `None` if there is no such list: only comments before all code count.
    openers: Option<&'static [&'static str]>,
}

const fn rules(
    line: &'static [&'static str],
    has_blocks: bool,
    openers: Option<&'static [&'static str]>,
) -> Rules {
    Rules { line, has_blocks, openers }
}

static BASH: Rules = rules(&["#"], false, None);
static C_SHARP: Rules = rules(&["//"], true, Some(&["@\"", "@$\"", "\"\"\""]));
static D: Rules = rules(&["//"], true, None);
static ELIXIR: Rules = rules(&["#"], false, None);
/// Text in elements may begin with `//`, and a backslash at the end of a line continues a string.
static JAVASCRIPT: Rules = rules(&["//"], true, Some(&["`", "</", "/>", "\\\n", "\\\r\n"]));
static KOTLIN: Rules = rules(&["//"], true, Some(&["\"\"\""]));
static LUA: Rules = rules(&["-- "], false, None);
static PHP: Rules = rules(&["<?php\n", "// ", "# "], true, None);
static PROTOBUF: Rules = rules(&["//"], true, Some(&[]));
static RUBY: Rules = rules(&["#"], false, None);
static SCALA: Rules = rules(&["//"], true, Some(&["\"\"\"", "</", "/>"]));
static SWIFT: Rules = rules(&["//"], true, Some(&["\"\"\"", "#/"]));
static ZIG: Rules = rules(&["//"], false, Some(&[]));

/// Comments of a text, for offsets that do not go back. Others than those that begin a line count as code.
pub(super) struct Comments<'s> {
    source: &'s [u8],
    rules: &'static Rules,
    /// Beginning of the next line to look at.
    at: usize,
    last: Range<usize>,
    /// Literals may continue in the next line, so that code hides where comments begin.
    is_only_head: bool,
}

impl<'s> Comments<'s> {
    /// `None` for other languages.
    pub(super) fn new(language: Language, source: &'s [u8]) -> Option<Self> {
        let rules = match language.name() {
            "bash" => &BASH,
            "csharp" => &C_SHARP,
            "d" => &D,
            "elixir" => &ELIXIR,
            "javascript" | "tsx" | "typescript" => &JAVASCRIPT,
            "kotlin" => &KOTLIN,
            "lua" => &LUA,
            "php" => &PHP,
            "protobuf" => &PROTOBUF,
            "ruby" => &RUBY,
            "scala" => &SCALA,
            "swift" => &SWIFT,
            "zig" => &ZIG,
            _ => return None,
        };
        let is_there = |opener: &&str| memmem::find(source, opener.as_bytes()).is_some();
        let is_only_head = rules.openers.is_none_or(|openers| openers.iter().any(is_there));
        // Text before the first block of PHP is no code, and has no comments.
        let is_code = language.name() != "php" || source.starts_with(b"<?php");
        let at = if is_code { 0 } else { source.len() };
        Some(Self { source, rules, at, last: 0..0, is_only_head })
    }

    /// Returns `true` if an offset is in a comment.
    pub(super) fn contains(&mut self, offset: usize) -> bool {
        while self.at <= offset && self.at < self.source.len() {
            self.line();
        }
        self.last.contains(&offset)
    }

    /// Looks at the next line, and at all of the comment that it begins with.
    fn line(&mut self) {
        let rest = &self.source[self.at..];
        let start = self.at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let line = &self.source[start..self.line_end(start)];
        let end = match line.trim_ascii() {
            b"" => start,
            _ if self.rules.has_blocks && line.starts_with(b"/*") => {
                let close = memmem::find(&self.source[start + 2..], b"*/");
                // The parser looks for code in a comment that does not end.
                close.map_or(start, |close| start + 2 + close + 2)
            }
            _ if self.begins_comment(line) => start + line.trim_ascii_end().len(),
            _ => start,
        };
        self.last = start..end;
        self.at = self.line_end(end);
        let is_code = !self.source[end..self.at].trim_ascii().is_empty();
        if is_code && self.is_only_head {
            self.at = self.source.len();
        }
    }

    /// Returns `true` for a line that is a comment, and does not end another comment or a block of PHP. A carriage return may end a line.
    fn begins_comment(&self, line: &[u8]) -> bool {
        let ends_other = |text: &[u8]| memmem::find(line, text).is_some();
        self.rules.line.iter().any(|begin| line.starts_with(begin.as_bytes()))
            && !ends_other(b"*/")
            && !ends_other(b"?>")
            && memchr(b'\r', line.trim_ascii_end()).is_none()
    }

    /// End of the line at an offset, with its line feed.
    fn line_end(&self, offset: usize) -> usize {
        memchr(b'\n', &self.source[offset..]).map_or(self.source.len(), |end| offset + end + 1)
    }
}

#[cfg(all(test, feature = "all-languages"))]
mod tests {
    use super::*;

    #[test]
    fn comments_that_begin_a_line_are_known_where_nothing_can_hide_them() {
        for (language, source, codes) in [
            (
                Language::Zig,
                "//! it\n// it\nconst s = \"// it\"; // it\n  // it\nit",
                [false, false, true, true, false, true].to_vec(),
            ),
            (
                Language::Kotlin,
                "/* it\n * it */ it\n/** it */\n  // it",
                vec![false, false, true, false, false],
            ),
            (Language::Kotlin, "// it\nval s = \"\"\"\n// $it\n\"\"\"", vec![false, true]),
            (Language::Kotlin, "f() /* it\n// it */ it\n", vec![true, true, true]),
            (Language::TypeScript, "// it\nf();\n// it\n", vec![false, false]),
            (Language::TypeScript, "// it\nf(`\n// ${it}`);\n", vec![false, true]),
            (Language::Tsx, "const a = <p>\n// {it}\n</p>;\n", vec![true]),
            (Language::Php, "<?php\n// it\n# it\n#[it]\n// it\n", vec![false, false, true, true]),
            (Language::Php, "<?php\n// it ?> <?php it();\n", vec![true, true]),
            (Language::Bash, "#!/bin/it\n# it\nx='\n# '$it\n", vec![false, false, true]),
            (Language::Php, "# Text <?php it();\n", vec![true]),
            (Language::Php, "/* <?= it() ?> */", vec![true]),
            (Language::JavaScript, "// it\nx = 'a\\\n// ' + it;\n", vec![false, true]),
            (Language::TypeScript, "// it\r\nx = 'a\\\r\n// ' + it;\r\n", vec![false, true]),
            (Language::TypeScript, "// it\rit();\r", vec![true, true]),
            (Language::CSharp, "x = @$\"a\n// {it}\";\n", vec![true]),
            (Language::CSharp, "x = $@\"a\n// {it}\";\n", vec![true]),
            (Language::Swift, "x = #\"\"\"\n// \\#(it)\n\"\"\"#\n", vec![true]),
            (Language::Scala, "x = s\"\"\"\n// $it\n\"\"\"\n", vec![true]),
            (Language::D, "x = q{\n// it\n};\n/* it */ it", vec![true, true, true]),
            (Language::Zig, "x =\n    \\\\ it\n    // it\n;", vec![true, false]),
            (Language::Lua, "-- it\n--[[ it\n]] it\n", vec![false, true, true]),
            (Language::Swift, "/* it", vec![true]),
        ] {
            let mut comments = Comments::new(language, source.as_bytes()).expect("rules");
            let found: Vec<bool> = source.match_indices("it").map(|(at, _)| !comments.contains(at)).collect();
            assert_eq!(found, codes, "{source}");
        }
    }
}
