//! The quick and the thorough list of Python are the same, record for record.

use std::fs;
use std::path::Path;

use finecomb_scan::{Inputs, OrderedOptions};
use finecomb_symbols::{SymbolsFormat, SymbolsOptions, SymbolsQuery, symbols};
use proptest::collection::vec;
use proptest::prelude::*;

/// JSON records of the definitions in a text, and whether it has syntax errors.
fn records(text: &str, thorough: bool) -> (String, bool) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("module.py");
    fs::write(&file, text).expect("a file");
    let options = SymbolsOptions::default().format(SymbolsFormat::Json).thorough(thorough);
    let query = SymbolsQuery::new(&options).expect("no name to compile");
    let mut out = Vec::new();
    let outcome = symbols(&Inputs::new([file]), &OrderedOptions::default(), &query, &mut out);
    assert!(outcome.problems.is_empty() && outcome.failures.is_empty());
    let out = String::from_utf8(out).expect("a module in UTF-8");
    (out.replace(&directory.path().display().to_string(), ""), outcome.stats.total().files_with_errors > 0)
}

fn same(text: &str) {
    let ((quick, _), (thorough, has_errors)) = (records(text, false), records(text, true));
    assert!(!has_errors, "the thorough parse has errors:\n{text}");
    assert_eq!(quick, thorough, "{text}");
}

#[test]
fn all_of_the_sample_is_the_same() {
    same(&fs::read_to_string(Path::new("tests/languages/python.py")).expect("a sample"));
}

#[test]
fn a_body_ends_with_its_last_line_and_the_comments_that_are_indented_as_it_is() {
    for behind in [
        "",
        "  # on the line",
        "\n    # in the body\n  # not\n    # not either",
        "\n# not in the body\n    # not in the body",
        "\n        # deeper\n    # in the body\n\n\n",
        "\n    # in the body\nx = 1",
        "\n\n\nx = 1",
        ";\n",
    ] {
        for body in [
            "def f(): return 1",
            "def f():\n    return 1",
            "def f():\n    if x:\n        return '''\n'''",
            "class A:\n    def f(self):\n        pass",
            "class A: x = 1",
            "class A:\n    def f(self): pass",
            "async  def f ( a ) -> int : # comment\n    # comment\n    return 1",
        ] {
            same(&format!("{body}{behind}"));
            same(&format!("{body}{behind}\n").replace("    ", "\t"));
            same(&format!("{body}{behind}\n").replace('\n', "\r\n"));
        }
    }
}

#[test]
fn names_that_are_words_of_the_grammar_elsewhere_are_variables() {
    for statement in concat!(
        "match = 1  |  match.x = 1  |  match, case = 1, 2  |  match: int = 1  |  match(a)[b] = c  |  ",
        "case = {}  |  type = 3  |  type(x).y = 3  |  print = 1  |  x = y if z else lambda a=1: a  |  ",
        "x = lambda a=1, *, b: a  |  x: Callable = lambda: {1: 2}; y = 3  |  ",
        "x = f\"{a!r:{b}}\" 'c' == 1  |  x = [y := 3]; z = 1;  |  (x) = 1  |  (x, y), *z = [a, b] = c  |  ",
        "x = \\\n    1  |  x = (\n1, # comment\n)  # comment  |  x = y = yield z  |  del x, y  |  ",
        "x += 1  |  x: int  |  x.y: int = 1  |  print >>x, 'y = 1'"
    )
    .split("  |  ")
    {
        same(&format!("{statement}\n"));
        same(&format!("if a: {statement}\nelse: b = 2\n"));
        same(&format!("class A:\n  for i in b:\n    {statement}\n"));
    }
}

#[test]
fn texts_that_are_not_understood_are_parsed_in_full() {
    for text in [
        "x = 1\ndef f(:\n    pass\ny = 2\n",
        "def f():\n    def g():\n            pass\n      x = 1\n",
        "class A:\n    def f(self):\n    x = 1\n",
        "x = 'a\ny = 2\n",
        "x =\ny = 2\n",
        "def f:\n    pass\n",
    ] {
        assert_eq!(records(text, false), records(text, true), "{text}");
    }
}

/// Part of a module.
#[derive(Clone, Debug)]
enum ModulePart {
    Line(String),
    /// Comment, and how many columns more than a line here it is indented, or fewer.
    Comment(isize),
    Blank,
    Block(String, Vec<ModulePart>),
}

/// One of several texts with bars between them.
fn one_of(choices: &'static str) -> impl Strategy<Value = String> {
    prop::sample::select(choices.split("  |  ").collect::<Vec<_>>()).prop_map(str::to_owned)
}

fn statement() -> impl Strategy<Value = String> {
    one_of(concat!(
        "a = 1  |  a = b = {'x': [1, 2],\n  'y': \"#\"}  |  ",
        "a, (b, *c) = f(x=1), '''\n  def no(): pass\n'''  |  a: int = 3  |  b: 'list[int]'  |  ",
        "c = lambda x=1: x  |  c = (lambda: 0)  |  self.a = 1  |  a['x'] = b = 2  |  a += 1; b = 2  |  ",
        "f(a=1)  |  \"\"\"class No:\n    pass\n\"\"\"  |  import a, b  |  ",
        "d = f'{x[\"y\"]:>{w}}' rb'\\'' u\"it's\"  |  d = a == b  |  d = a if b else \\\n   c  |  ",
        "type T[K] = list[K]  |  global a; pass  |  @property\ndef p(self): return 1  |  ",
        "@a.setter  # comment\ndef p(self, value): self.x = value  |  ",
        "@f(a=1)\n@b\ndef q(a, b=[1, 2], *c, **d) -> 'x': pass  |  class E(Exception): pass  |  ",
        "class F(A, b=c): x = 1; y = 2  |  if a: e = 1  |  try: e = 1\nexcept: e = 2"
    ))
}

fn header() -> impl Strategy<Value = String> {
    one_of(concat!(
        "def f(self):  |  async def g[T: int](\n  a,  # comment\n  b=')'\n) -> dict[str, int]:  |  ",
        "class A:  |  class B[T](C, metaclass=D):  |  if a and (b or c):  |  while lambda: x:  |  ",
        "for i, j in x:  |  with f(a) as b, c:  |  async with f(a):  |  for i in {1: 2}:  # comment"
    ))
}

fn parts() -> impl Strategy<Value = Vec<ModulePart>> {
    let comment =
        prop_oneof![Just("".to_owned()), Just("".to_owned()), Just("  # comment: x = 1".to_owned())];
    let leaf = prop_oneof![
        6 => (statement(), comment.clone()).prop_map(|(statement, comment)| ModulePart::Line(statement + &comment)),
        2 => (-9isize..9).prop_map(ModulePart::Comment),
        1 => Just(ModulePart::Blank),
    ];
    let part = leaf.prop_recursive(4, 40, 6, move |part| {
        (header(), comment.clone(), vec(part, 1..6))
            .prop_map(|(header, comment, parts)| ModulePart::Block(header + &comment, parts))
    });
    vec(part, 1..8)
}

/// Writes parts in a column.
fn write(parts: &[ModulePart], column: usize, step: usize, out: &mut String) {
    let indentation = " ".repeat(column);
    for part in parts {
        match part {
            ModulePart::Line(line) => {
                // Lines within a statement may have any indentation; lines of its block may not.
                let is_block = line.starts_with(['@', 't']);
                let line =
                    if is_block { line.replace('\n', &format!("\n{indentation}")) } else { line.clone() };
                *out += &format!("{indentation}{line}\n");
            }
            ModulePart::Comment(columns) => {
                *out += &format!("{}# def no(): '\n", " ".repeat(column.saturating_add_signed(*columns)));
            }
            ModulePart::Blank => *out += " \n\n",
            ModulePart::Block(header, parts) => {
                *out += &format!("{indentation}{header}\n");
                write(parts, column + step, step, out);
                // A block has a statement.
                *out += &format!("{}pass\n", " ".repeat(column + step));
                if header.starts_with("if") {
                    *out += &format!("{indentation}elif b:\n");
                    write(parts, column + step, step, out);
                    *out += &format!("{}a = 2\n", " ".repeat(column + step));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn modules_of_all_kinds_of_statements_and_blocks_are_the_same(
        parts in parts(),
        step in 1usize..5,
        is_crlf in any::<bool>(),
        ends_in_line in any::<bool>(),
    ) {
        let mut text = String::new();
        write(&parts, 0, step, &mut text);
        if ends_in_line {
            text.pop();
        }
        if is_crlf {
            text = text.replace('\n', "\r\n");
        }
        let (thorough, has_errors) = records(&text, true);
        prop_assert!(!has_errors, "the thorough parse has errors:\n{}", text);
        prop_assert_eq!(records(&text, false).0, thorough, "{}", text);
    }
}
