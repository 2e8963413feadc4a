//! The order of results by relevance, and the files that come first in it.
//!
//! Files come in this order, by what their lines hold and where they are:
//! 1. with a definition of the name that is searched for: first those of functions, types and macros, of more than four lines before others, and
//!    then those of fields and variables;
//! 2. with the name as a whole word;
//! 3. with the name in the same case;
//! 4. source files, tests, documents, and then generated files and copies ([`FileKind`]);
//! 5. by their paths.
//!
//! The lines of a file are in order, after those that define the name. If there are more than are listed of a file, whole words are listed before
//! others, and those in the same case.

mod kind;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use bstr::ByteSlice;
use finecomb_symbols::Language;

pub(super) use self::kind::FileKind;
use super::cursor::Cursor;
use super::roots::{PathKey, Roots};

/// A file with results.
pub(super) struct FoundFile {
    /// Path, as results show it.
    pub(super) path: Vec<u8>,
    /// Its results, and lines around them, in order.
    pub(super) lines: Vec<FoundLine>,
    /// Whether it had more results.
    pub(super) is_cut: bool,
}

/// A result, or a line around one.
pub(super) struct FoundLine {
    pub(super) number: u64,
    pub(super) is_context: bool,
    pub(super) text: String,
    pub(super) worth: Worth,
}

/// The worth of a line; what is worth more comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Worth {
    pub(super) defines: Defines,
    pub(super) is_word: bool,
    pub(super) is_same_case: bool,
}

/// Kind of a definition in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Defines {
    #[default]
    Nothing,
    /// A field or a variable.
    Value,
    /// Something else.
    Name,
    /// The same, in more lines than one that does nothing has, as headers define for builds without the real one.
    Body,
}

/// A definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    /// Its first and last line.
    lines: (u64, u64),
    defines: Defines,
}

/// Number of lines of a function that does nothing.
const STUB: u64 = 4;

impl Definition {
    /// A definition in these lines, of a field or a variable if it `is_value`.
    pub(super) fn new(lines: (u64, u64), is_value: bool) -> Self {
        let defines = match () {
            () if is_value => Defines::Value,
            () if lines.1.saturating_sub(lines.0) >= STUB => Defines::Body,
            () => Defines::Name,
        };
        Self { lines, defines }
    }
}

/// Words that most languages do not allow as names.
const RESERVED: [&str; 48] = [
    "and", "as", "async", "await", "bool", "break", "case", "catch", "char", "class", "const", "continue",
    "def", "default", "do", "double", "else", "enum", "extern", "false", "finally", "float", "fn", "for",
    "func", "if", "import", "in", "int", "long", "not", "null", "or", "pass", "private", "public", "return",
    "self", "short", "static", "struct", "switch", "this", "throw", "true", "unsigned", "void", "while",
];

/// Whether a name may be defined.
pub(super) fn may_be_defined(name: &str) -> bool {
    !RESERVED.contains(&name)
}

/// The name that a pattern is, if it is one.
pub(super) fn name_in(pattern: &str) -> Option<&str> {
    let is_name = pattern.len() > 1
        && pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !pattern.starts_with(|first: char| first.is_ascii_digit());
    is_name.then_some(pattern)
}

impl Worth {
    /// The worth of a line for a name, without knowledge of definitions.
    pub(super) fn of(line: &[u8], name: &[u8]) -> Self {
        let is_word = |at: usize| {
            !line[..at].last().is_some_and(is_part) && !line[at + name.len()..].first().is_some_and(is_part)
        };
        let in_any_case = || {
            let ends = 0..(line.len() + 1).saturating_sub(name.len());
            ends.into_iter().any(|at| line[at..at + name.len()].eq_ignore_ascii_case(name) && is_word(at))
        };
        Self {
            defines: Defines::Nothing,
            is_word: line.find_iter(name).any(is_word) || in_any_case(),
            is_same_case: line.contains_str(name),
        }
    }
}

/// Whether a line of C or C++ defines a macro with this name. So large headers of macros need not be parsed.
pub(super) fn defines_macro(path: &Path, line: &[u8], name: &[u8]) -> bool {
    let is_c = path.extension().is_some_and(|extension| {
        let extensions = [Language::C, Language::Cpp].into_iter().flat_map(Language::extensions);
        extensions.into_iter().any(|known| known.as_bytes() == extension.as_bytes())
    });
    let defined = || {
        let directive = line.trim_start().strip_prefix(b"#")?.trim_start().strip_prefix(b"define")?;
        let rest = directive.trim_start();
        (rest.len() < directive.len()).then(|| rest.strip_prefix(name)).flatten()
    };
    is_c && defined().is_some_and(|rest| !rest.first().is_some_and(is_part))
}

/// Whether a byte is a part of a name.
fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

impl FoundFile {
    /// Its results, without lines around them.
    pub(super) fn results(&self) -> impl Iterator<Item = &FoundLine> {
        self.lines.iter().filter(|line| !line.is_context)
    }

    /// The worth of its best result.
    pub(super) fn worth(&self) -> Worth {
        self.results().map(|line| line.worth).max().unwrap_or_default()
    }

    /// Marks the lines that define the name.
    pub(super) fn mark(&mut self, definitions: &[Definition]) {
        for &Definition { lines: (first, last), defines } in definitions {
            let is_in = |line: &&mut FoundLine| {
                !line.is_context && line.worth.is_word && (first..=last).contains(&line.number)
            };
            if let Some(line) = self.lines.iter_mut().find(is_in) {
                line.worth.defines = line.worth.defines.max(defines);
            }
        }
    }

    /// Moves definitions before other results.
    pub(super) fn sort(&mut self) {
        self.lines.sort_by_key(|line| Reverse(line.worth.defines));
    }

    /// Keeps this number of results, and the lines up to `around` lines from them.
    pub(super) fn keep_best(&mut self, most: usize, around: u64) {
        let mut best: Vec<(Reverse<Worth>, u64)> =
            self.results().map(|line| (Reverse(line.worth), line.number)).collect();
        self.is_cut = best.len() > most;
        if !self.is_cut {
            return;
        }
        best.sort_unstable();
        let mut kept: Vec<u64> = best[..most].iter().map(|&(_, number)| number).collect();
        kept.sort_unstable();
        self.lines.retain_mut(|line| {
            let next = kept.partition_point(|&number| number < line.number);
            let is_kept = kept.get(next) == Some(&line.number);
            // A result that is not listed may be near one that is.
            line.is_context = !is_kept;
            let near = [kept.get(next), next.checked_sub(1).and_then(|before| kept.get(before))];
            is_kept || near.into_iter().flatten().any(|number| number.abs_diff(line.number) <= around)
        });
    }
}

/// Sorts files by relevance.
pub(super) fn sort(files: &mut [FoundFile], roots: &Roots) {
    files.sort_by_cached_key(|file| key(file, roots));
}

fn key(file: &FoundFile, roots: &Roots) -> (Reverse<Worth>, FileKind, PathKey) {
    let path = as_path(&file.path);
    (Reverse(file.worth()), FileKind::of_file(path), roots.key(path))
}

/// Removes what a page before has listed: files before that of the cursor, and its lines up to that of the cursor. If the file is gone, it is
/// taken to have been the last one that is worth as much as those after it, by its kind and path.
pub(super) fn after(mut files: Vec<FoundFile>, cursor: &Cursor, roots: &Roots) -> Vec<FoundFile> {
    let place = roots.key(&cursor.path);
    let found = files.iter().position(|file| roots.key(as_path(&file.path)) == place);
    match found {
        Some(at) => {
            let mut rest = files.split_off(at);
            let lines = &mut rest[0].lines;
            match lines.iter().position(|line| line.number == cursor.line) {
                Some(last) => drop(lines.drain(..=last)),
                None => lines.retain(|line| line.number > cursor.line),
            }
            rest
        }
        None => {
            let kind = FileKind::of_file(&cursor.path);
            files.retain(|file| {
                let path = as_path(&file.path);
                (FileKind::of_file(path), roots.key(path)) > (kind, place.clone())
            });
            files
        }
    }
}

/// Definitions by the files that hold them.
pub(super) type Definitions = BTreeMap<PathKey, Vec<Definition>>;

pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: &[&str]) -> FoundFile {
        let line = |(number, text): (u64, &&str)| {
            let worth = Worth::of(text.as_bytes(), b"add");
            FoundLine { number, is_context: text.is_empty(), text: (*text).to_owned(), worth }
        };
        FoundFile { path: path.into(), lines: (1..).zip(lines).map(line).collect(), is_cut: false }
    }

    #[test]
    fn a_line_is_worth_more_with_a_word_in_the_same_case() {
        let worth = |line: &str| {
            let Worth { is_word, is_same_case, .. } = Worth::of(line.as_bytes(), b"add");
            (is_word, is_same_case)
        };
        for (line, expected) in [
            ("add", (true, true)),
            ("x.add(1)", (true, true)),
            ("addend add", (true, true)),
            ("an ADD", (true, false)),
            ("adder", (false, true)),
            ("_add", (false, true)),
            ("ADD2", (false, false)),
            ("Add adder", (true, true)),
            ("", (false, false)),
        ] {
            assert_eq!(worth(line), expected, "{line}");
        }
    }

    #[test]
    fn names_are_what_most_languages_allow() {
        assert_eq!(name_in("ext4_map_blocks"), Some("ext4_map_blocks"));
        for pattern in ["a", "a.b", "a b", "", "4a", "é1", "^add"] {
            assert_eq!(name_in(pattern), None, "{pattern}");
        }
        assert!(may_be_defined("needle") && !may_be_defined("return"));
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn macros_are_defined_in_files_of_c() {
        let defines = |path: &str, line: &str| defines_macro(path.as_ref(), line.as_bytes(), b"ADD");
        for line in ["#define ADD", "# define\tADD(a, b) a + b", "  #define ADD 1"] {
            assert!(defines("a.h", line) && defines("b.cpp", line) && !defines("c.md", line), "{line}");
        }
        for line in ["#define ADDED", "#undef ADD", "#defineADD", "// #define ADD", "#define X ADD"] {
            assert!(!defines("a.h", line), "{line}");
        }
    }

    #[test]
    fn files_that_define_the_name_come_first_and_then_words_and_sources() {
        let directory = tempfile::tempdir().expect("a directory");
        let roots = Roots::of(directory.path());
        let mut files = vec![
            file("a.md", &["add"]),
            file("b.rs", &["added"]),
            file("c.rs", &["x.add = 1"]),
            file("d.rs", &["", "fn add() {", "add"]),
            file("tests/e.rs", &["add"]),
            file("f.rs", &["ADD"]),
            file("g.rs", &["add"]),
        ];
        files[2].mark(&[Definition::new((1, 1), true)]);
        files[3].mark(&[Definition::new((1, 3), false)]);
        files[6].mark(&[Definition::new((1, 9), false)]);
        // A line around a result decides nothing.
        files[1].lines.push(FoundLine { is_context: true, ..file("b.rs", &["add"]).lines.remove(0) });
        sort(&mut files, &roots);
        let paths: Vec<&str> =
            files.iter().map(|file| std::str::from_utf8(&file.path).expect("text")).collect();
        assert_eq!(paths, ["g.rs", "d.rs", "c.rs", "tests/e.rs", "a.md", "f.rs", "b.rs"]);
        let definitions = files[1].lines.iter().map(|line| line.worth.defines);
        assert!(
            definitions.eq([Defines::Nothing, Defines::Name, Defines::Nothing]),
            "the first line is context"
        );
    }

    #[test]
    fn the_best_lines_of_a_file_are_kept_with_those_around_them() {
        let mut found = file("a", &["adder", "", "add", "", "", "added", "ADD", "add"]);
        found.mark(&[Definition::new((7, 8), false)]);
        found.keep_best(5, 1);
        assert!(!found.is_cut);
        found.keep_best(2, 1);
        assert!(found.is_cut);
        let lines: Vec<(u64, bool)> = found.lines.iter().map(|line| (line.number, line.is_context)).collect();
        assert_eq!(lines, [(2, true), (3, false), (4, true), (6, true), (7, false), (8, true)]);
    }

    #[test]
    fn a_page_goes_on_after_the_last_result_also_if_its_file_is_gone() {
        let directory = tempfile::tempdir().expect("a directory");
        let roots = Roots::of(directory.path());
        let files =
            || vec![file("b.rs", &["add", "add", "add"]), file("d.rs", &["add"]), file("a.md", &["add"])];
        let rest = |path: &str, line| {
            let rest = after(files(), &Cursor::new(path.into(), line, 1, 0), &roots);
            let lines =
                |file: &FoundFile| (String::from_utf8_lossy(&file.path).into_owned(), file.lines.len());
            rest.iter().map(lines).collect::<Vec<_>>()
        };
        let [b, d, a] = ["b.rs", "d.rs", "a.md"].map(str::to_owned);
        assert_eq!(rest("b.rs", 1), [(b.clone(), 2), (d.clone(), 1), (a.clone(), 1)]);
        assert_eq!(rest("b.rs", 9), [(b.clone(), 0), (d.clone(), 1), (a.clone(), 1)]);
        assert_eq!(rest("c.rs", 9), [(d, 1), (a.clone(), 1)]);
        assert_eq!(rest("d.rs", 1).last(), Some(&(a, 1)));
    }
}
