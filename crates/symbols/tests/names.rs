//! Names that are asked for: words, ends of qualified names and regular expressions.

use std::fs;
use std::path::Path;

use finecomb_scan::{Inputs, ScanOptions, Width};
use finecomb_symbols::{Kind, Language, SymbolsFormat, SymbolsOptions, SymbolsQuery, symbols};

/// The list of a file.
fn list(file: &Path, options: &SymbolsOptions) -> String {
    list_with(file, options, Width::Auto)
}

fn list_with(path: &Path, options: &SymbolsOptions, width: Width) -> String {
    let query = SymbolsQuery::new(options).expect("a valid name");
    let mut out = Vec::new();
    let scan = ScanOptions::default().width(width).into();
    let outcome = symbols(&Inputs::new([path]), &scan, &query, &mut out);
    assert!(outcome.problems.is_empty() && outcome.failures.is_empty());
    String::from_utf8(out).expect("UTF-8")
}

fn defined(file: &Path, name: &str) -> String {
    list(file, &SymbolsOptions::default().name(Some(name.to_owned())))
}

#[test]
fn every_definition_is_found_by_its_qualified_name_with_any_separator() {
    for &language in Language::ALL {
        let name = format!("{}.{}", language.name(), language.extensions()[0]);
        let file = Path::new("tests/languages").join(&name);
        for line in list(&file, &SymbolsOptions::default()).lines() {
            let name = line.split('\t').nth(2).expect("a name");
            // Operators after '.' are those of expressions, and names in quotes may have any character.
            let is_word = |char: char| char.is_alphanumeric() || "_$@~?!=".contains(char);
            let is_part = |part: &str| {
                part.chars().all(is_word) && !part.starts_with(['!', '=']) && !part.ends_with('$')
            };
            if name.split([':', '.', '\\']).all(is_part) || name.contains("::operator") {
                for asked in [name, &name.replace("::", ".").replace('\\', "."), &name.replace('.', "::")] {
                    let found = defined(&file, asked);
                    assert!(found.lines().any(|found| found == line), "{asked}: {line}\n{found}");
                }
            }
        }
    }
}

#[test]
#[cfg(all(feature = "cpp", feature = "go", feature = "python", feature = "rust"))]
fn the_end_of_a_qualified_name_is_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    for (file, text, names, lines) in [
        ("a.rs", "impl A { fn new() {} }\nimpl B { fn new() {} }\n", "B::new B.new B#new B/new", "2"),
        ("a.cc", "int f(void) {\n#define M1 1\n  return M1;\n}\n", "M1 f::M1", "2"),
        ("a.cc", "};\nfriend class A;\n", "A", ""),
        ("a.cc", "TEST_CASE(\"a b\") { f(); }\n", "^a.b$ ^a|x$", "1"),
        ("a.py", "def f():\n    \"\"\"\n    pass\n\ndef g():\n    \"\"\"h\"\"\"\n    pass\n", "g", "5"),
        ("a.rs", "mod m {\n impl<T> A<T> { fn f() {} }\n}\n", "m::A::f A::f f ::m::A::f", "2"),
        ("a.rs", "mod m {\n impl<T> A<T> { fn f() {} }\n}\n", "::f m::f T::f ::A::f", ""),
        ("a.py", "class My:\n  class App:\n    pass\nclass App: pass\n", "My.App My::App", "2"),
        ("a.py", "class My:\n  class App:\n    pass\nclass App: pass\n", "App", "2 4"),
        ("a.py", "class My:\n  class App:\n    pass\nclass App: pass\n", "::App ^App$|^$", "4|2 4"),
        ("a.go", "package a\nfunc (t *T) F() {}\nfunc F() {}\n", "T.F", "2"),
        ("a.cc", "struct A { ~A() {} };\nvoid A::f() {}\nint f() { return 1; }\n", "A::f", "2"),
        ("a.cc", "struct A {\n ~A() {}\n bool operator==(A) { return 1; }\n};\n", "~A A::~A", "2"),
        ("a.cc", "struct A {\n bool operator ==(A) { return 1; }\n};\n", "operator== A::operator==", "2"),
        ("a.cc", "template<class T>\nvoid N::A<T>::f() {}\n", "A::f N::A::f", "2"),
        ("a.cc", "namespace a::b {\nint c() { return 1; }\n}\n", "a::b::c b::c b.c", "2"),
        ("a.cc", "namespace a::b {\nint c() { return 1; }\n}\n", "b a::b", "1"),
    ] {
        let path = directory.path().join(file);
        fs::write(&path, text).expect("a file");
        let expected: Vec<&str> = lines.split('|').collect();
        for (index, name) in names.split(' ').enumerate() {
            let expected = expected.get(index).unwrap_or(&expected[0]);
            let found = defined(&path, name);
            let lines: Vec<&str> = found.lines().filter_map(|line| line.split(':').nth(1)).collect();
            assert_eq!(lines.join(" "), *expected, "{name} in {text}");
        }
    }
}

#[test]
#[cfg(feature = "c")]
fn a_definition_after_an_operand_is_found_where_the_parser_finds_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a.c");
    for text in ["struct s { int a = foo;\nint after;\n", "return foo(int a) { return a; }\n"] {
        fs::write(&file, text).expect("a file");
        let all = list(&file, &SymbolsOptions::default());
        let line = all.lines().find(|line| line.contains("\tfoo\t")).expect("a definition after an error");
        assert_eq!(defined(&file, "foo"), format!("{line}\n"));
    }
}

/// Lines of the uses of a name in a text.
fn used(text: &str, extension: &str, name: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a").with_extension(extension);
    fs::write(&file, text).expect("a file");
    let options = SymbolsOptions::default().reference(Some(name.to_owned()));
    let json = list(&file, &options.clone().format(SymbolsFormat::Json));
    let text = list(&file, &options.clone());
    let lines: Vec<&str> = text.lines().filter_map(|line| line.split(':').nth(1)).collect();
    // Scopes are printed in JSON only.
    assert_eq!(json.lines().count(), lines.len(), "{json}");
    assert_eq!(list(&file, &options.thorough(true)), text);
    lines.join(" ")
}

#[test]
#[cfg(all(feature = "cpp", feature = "java", feature = "python", feature = "rust"))]
fn uses_that_are_written_with_another_qualifier_are_left_out() {
    let rust = "\
struct A; struct B;
impl A {
    fn new() {}
    fn a() { Self::new(); }
}
impl B {
    fn new() {}
    fn a() { Self::new(); }
}
fn f(a: A) {
    A::new();
    B::new();
    m::A::new();
    n::A::<u8>::new();
    a.new();
    new();
}
";
    for (name, lines) in [
        ("new", "4 8 11 12 13 14 15 16"),
        ("A::new", "4 11 13 14 15 16"),
        ("m::A::new", "4 11 13 15 16"),
        ("B.new", "8 12 15 16"),
        ("C::new", "15 16"),
    ] {
        assert_eq!(used(rust, "rs", name), lines, "{name}");
    }
    let cpp = "\
struct A { void f() { g(); this->g(); } };
void B::f(A *a) {
    a->g();
    a->b.g();
    A::g();
    n::A<int>::g();
    C::g();
    // A::g();
}
";
    for (name, lines) in [("A::g", "1 1 3 4 5 6"), ("n::A::g", "1 1 3 4 5 6"), ("C::g", "1 1 3 4 7")] {
        assert_eq!(used(cpp, "cc", name), lines, "{name}");
    }
    let python = "\
class A:
    def f(self):
        self.g()
        A.g()
        B.g()
        b.a.g()
        f().g()
        g()
json.g()
";
    for (name, lines) in [("A.g", "3 4 6 7 8 9"), ("B.g", "3 5 6 7 8 9"), ("json.g", "3 7 8 9")] {
        assert_eq!(used(python, "py", name), lines, "{name}");
    }
}

#[test]
#[cfg(all(feature = "markdown", feature = "perl", feature = "ruby"))]
fn sigils_and_white_space_between_words_are_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let perl = "our $sc = 1;\nour @list = (1);\nour %hash = ();\n";
    let ruby = "class A\n  @@made = 0\n  attr_reader :made\n  $made = @made\n  def made; @made; end\nend\n";
    let markdown = "# Foo Bar\n\nFooBar\n\n# FooBar\n";
    for (file, text, name, lines) in [
        ("a.pm", perl, "$sc", "1"),
        ("a.pm", perl, "@list", "2"),
        ("a.pm", perl, "%hash", "3"),
        ("a.rb", ruby, "@@made", "2"),
        ("a.rb", ruby, "@made", ""),
        ("a.md", markdown, "FooBar", "5"),
    ] {
        let path = directory.path().join(file);
        fs::write(&path, text).expect("a file");
        let found = defined(&path, name);
        let found: Vec<&str> = found.lines().filter_map(|line| line.split(':').nth(1)).collect();
        assert_eq!(found.join(" "), lines, "{name}");
    }
    for (text, extension, name, lines) in [
        (perl, "pm", "@list", ""),
        ("my @list = (1);\nprint $list[0], @list;\n", "pm", "@list", "1 2 2"),
        (ruby, "rb", "@made", "4 5"),
        (ruby, "rb", "@@made", ""),
    ] {
        assert_eq!(used(text, extension, name), lines, "{name} in {text}");
    }
}

#[test]
#[cfg(feature = "c")]
fn types_and_functions_of_a_name_are_listed_before_values() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut types, mut values) = (String::new(), String::new());
    for number in 10..60 {
        let file = directory.path().join(format!("{number}.c"));
        fs::write(&file, "struct a { int it; };\nstruct it { int b; };\nenum { it };\n").expect("a file");
        values += &format!("{}:1:16\tfield\n{0}:3:8\tenumerator\n", file.display());
        types += &format!("{}:2:8\tstruct\n", file.display());
    }
    let kinds = |options: &SymbolsOptions, width: usize| {
        let out = list_with(directory.path(), options, Width::Fixed(width));
        let line = |line: &str| line.splitn(3, '\t').take(2).collect::<Vec<_>>().join("\t") + "\n";
        out.lines().map(line).collect::<String>()
    };
    let named = SymbolsOptions::default().name(Some("it".to_owned()));
    for width in [1, 2, 7] {
        assert_eq!(kinds(&named, width), format!("{types}{values}"), "{width} threads");
        let field = named.clone().kinds(vec![Kind::Field]);
        assert_eq!(kinds(&field, width).lines().count(), 50, "{width} threads");
    }
    // Other lists are in path order.
    let uses = named.clone().reference(Some("it".to_owned()));
    let outline = named.format(SymbolsFormat::Compact);
    assert!(kinds(&uses, 2).lines().nth(1).is_some_and(|line| line.ends_with("10.c:2:8\tstruct")));
    assert!(kinds(&outline, 2).lines().nth(1).is_some_and(|line| line.ends_with("1 field it")));
}

#[test]
#[cfg(feature = "c")]
fn mentioned_types_and_keywords_are_no_definitions_but_macros_may_have_any_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a.c");
    let text = "\
#define if(x) while (x)
# define int long
struct a *f(struct a *, union b);
struct a { struct b *c; };
struct b /* */ { int d; };
enum e *a, **b;
#define MORE struct a *
";
    fs::write(&file, text).expect("a file");
    for (name, lines) in [("a", "4 6"), ("b", "5 6"), ("e", ""), ("if", "1"), ("int", "2"), ("struct", "")] {
        let found = defined(&file, name);
        let lines_of = |found: &str| -> Vec<String> {
            found.lines().filter_map(|line| line.split(':').nth(1)).map(str::to_owned).collect()
        };
        assert_eq!(lines_of(&found).join(" "), lines, "{name}");
    }
}
