//! Files with a definition that is not finished: what stands before and after it is listed.

use std::fs;

use finecomb_symbols::{Language, SymbolsFormat};

use crate::languages::list;

/// A definition of a language by its number, and what someone has just begun to write.
struct Case {
    language: &'static str,
    /// Text before all definitions.
    opening: &'static str,
    definition: fn(usize) -> String,
    half_written: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        language: "bash",
        opening: "#!/bin/bash\n",
        definition: |number| format!("f{number}() {{\n    echo {number}\n}}\n"),
        half_written: &["f() {", "if [ x", "x=$(", "case $x in"],
    },
    Case {
        language: "c",
        opening: "#include <a.h>\n",
        definition: |number| format!("static int f{number}(int a)\n{{\n\treturn a;\n}}\n"),
        half_written: &["int f(int a", "struct x {", "if (x", "x = ", "int g(void) {", "enum {"],
    },
    Case {
        language: "cpp",
        opening: "namespace n {\n",
        definition: |number| format!("class f{number} {{\n public:\n  int a() {{ return 1; }}\n}};\n"),
        half_written: &["class X {", "template <", "void X::f(", "auto x = [&](", "namespace m {"],
    },
    Case {
        language: "csharp",
        opening: "using A;\n",
        definition: |number| format!("class f{number}\n{{\n    void A() {{ }}\n}}\n"),
        half_written: &["class X {", "if (x", "x = ", "var x = new X {"],
    },
    Case {
        language: "d",
        opening: "module a;\n",
        definition: |number| format!("void f{number}(int a)\n{{\n    a = 1;\n}}\n"),
        half_written: &["void f(int a", "struct X {", "template T("],
    },
    Case {
        language: "go",
        opening: "package a\n",
        definition: |number| format!("func f{number}(a int) int {{\n\treturn a\n}}\n"),
        half_written: &["func (", "func f(a int", "type X struct {", "x := ", "var ("],
    },
    Case {
        language: "java",
        opening: "package a;\n",
        definition: |number| format!("class f{number} {{\n    void a() {{ }}\n}}\n"),
        half_written: &["class X {", "void f(int a", "if (x", "@A("],
    },
    Case {
        language: "javascript",
        opening: "",
        definition: |number| format!("function f{number}(a) {{\n  return a\n}}\n"),
        half_written: &["function f(", "class X {", "if (x", "const x = {", "g(() => {"],
    },
    Case {
        language: "kotlin",
        opening: "package a\n",
        definition: |number| format!("fun f{number}(a: Int): Int {{\n    return a\n}}\n"),
        half_written: &["fun f(", "class X {", "if (x", "object X {"],
    },
    Case {
        language: "lua",
        opening: "",
        definition: |number| format!("function f{number}(a)\n  return a\nend\n"),
        half_written: &["function f(", "if x then", "local t = {"],
    },
    Case {
        language: "php",
        opening: "<?php\nnamespace A;\n",
        definition: |number| format!("function f{number}($a)\n{{\n    return $a;\n}}\n"),
        half_written: &["function f(", "class X {", "if ($x", "$x = ["],
    },
    Case {
        language: "python",
        opening: "import a\n",
        definition: |number| format!("def f{number}(a):\n    return a\n"),
        half_written: &["def foo(a,", "class X(", "if x", "x = [", "@a("],
    },
    Case {
        language: "ruby",
        opening: "",
        definition: |number| format!("def f{number}(a)\n  a\nend\n"),
        half_written: &["def f(", "class X", "if x", "foo do"],
    },
    Case {
        language: "rust",
        opening: "use a::b;\n",
        definition: |number| format!("pub fn f{number}(a: u8) -> u8 {{\n    a\n}}\n"),
        half_written: &["fn foo(", "struct X {", "impl X {", "m! {", "#[a("],
    },
    Case {
        language: "scala",
        opening: "package a\n",
        definition: |number| format!("class f{number} {{\n  def a = 1\n}}\n"),
        half_written: &["def f(", "class X {", "object X {"],
    },
    Case {
        language: "swift",
        opening: "import A\n",
        definition: |number| format!("func f{number}(a: Int) -> Int {{\n    return a\n}}\n"),
        half_written: &["func f(", "class X {", "extension X {"],
    },
    Case {
        language: "typescript",
        opening: "",
        definition: |number| format!("function f{number}(a: number) {{\n  return a\n}}\n"),
        half_written: &["function f(", "class X {", "interface X {", "const x = {"],
    },
    Case {
        language: "zig",
        opening: "",
        definition: |number| format!("fn f{number}(a: u8) u8 {{\n    return a;\n}}\n"),
        half_written: &["fn f(", "const X = struct {", "test \"a\" {"],
    },
];

/// Names of the definitions of a text that are in no function or class.
fn listed(language: Language, text: &str) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a").with_extension(language.extensions()[0]);
    fs::write(&file, text).expect("a file");
    let (_, out) = list(&file, SymbolsFormat::Text, false);
    let name = |line: &str| line.split('\t').nth(2).map(str::to_owned);
    out.lines().filter_map(name).collect()
}

fn name(case: &Case, number: usize) -> String {
    let scope = match case.language {
        "cpp" => "n::",
        "php" => "A\\",
        _ => "",
    };
    format!("{scope}f{number}")
}

fn text(case: &Case, parts: impl IntoIterator<Item = String>) -> String {
    let end = if case.language == "cpp" { "}\n" } else { "" };
    let parts: Vec<String> = parts.into_iter().collect();
    format!("{}\n{}\n{end}", case.opening, parts.join("\n"))
}

#[test]
fn definitions_around_a_half_written_one_are_listed() {
    let mut lost = String::new();
    for case in CASES {
        let Some(&language) = Language::ALL.iter().find(|language| language.name() == case.language) else {
            continue;
        };
        for half_written in case.half_written {
            let parts = (0..9).map(|number| match number {
                4 => format!("{half_written}\n"),
                number => (case.definition)(number),
            });
            let found = listed(language, &text(case, parts));
            // The next one may be taken for the rest of it.
            let missing: Vec<usize> = [0, 1, 2, 6, 7, 8]
                .into_iter()
                .filter(|&number| !found.contains(&name(case, number)))
                .collect();
            if !missing.is_empty() {
                lost += &format!("{}, {half_written:?}: {missing:?} of {found:?}\n", case.language);
            }
        }
    }
    assert!(lost.is_empty(), "{lost}");
}

#[test]
fn definitions_around_one_without_its_end_are_listed() {
    let mut lost = String::new();
    for case in CASES.iter().filter(|case| case.language != "python") {
        let Some(&language) = Language::ALL.iter().find(|language| language.name() == case.language) else {
            continue;
        };
        let parts = (0..9).map(|number| {
            let definition = (case.definition)(number);
            if number == 4 {
                definition.trim_end().trim_end_matches(['}', ';', 'e', 'n', 'd']).to_owned()
            } else {
                definition
            }
        });
        let found = listed(language, &text(case, parts));
        let missing: Vec<usize> = (0..9).filter(|&number| !found.contains(&name(case, number))).collect();
        if !missing.is_empty() {
            lost += &format!("{}: {missing:?} of {found:?}\n", case.language);
        }
    }
    assert!(lost.is_empty(), "{lost}");
}

#[test]
fn members_around_a_half_written_one_are_listed() {
    let texts = [
        ("java", "class A {\n", "    void m0(int a) {\n        a();\n    }\n", "    void x(int", "}\n"),
        ("kotlin", "class A {\n", "    fun m0(a: Int) {\n        a()\n    }\n", "    fun x(", "}\n"),
        ("python", "class A:\n", "    def m0(self):\n        pass\n", "    def x(self,", ""),
        ("ruby", "class A\n", "  def m0(a)\n    a\n  end\n", "  def x(", "end\n"),
        ("rust", "impl A {\n", "    fn m0(&self) {\n        a()\n    }\n", "    fn x(&self", "}\n"),
        ("typescript", "class A {\n", "  m0(a: number) {\n    return a\n  }\n", "  x(a: {", "}\n"),
    ];
    for (name, first, member, half_written, last) in texts {
        let Some(&language) = Language::ALL.iter().find(|language| language.name() == name) else { continue };
        let members: Vec<String> = (0..7)
            .map(|number| match number {
                3 => format!("{half_written}\n"),
                number => member.replace("m0", &format!("m{number}")),
            })
            .collect();
        let found = listed(language, &format!("{first}{}{last}", members.join("\n")));
        for number in [0, 1, 5, 6] {
            let expected = format!("A{}m{number}", language_separator(name));
            assert!(found.contains(&expected), "{name}: {expected} of {found:?}");
        }
    }
}

fn language_separator(name: &str) -> &'static str {
    match name {
        "ruby" | "rust" => "::",
        _ => ".",
    }
}
