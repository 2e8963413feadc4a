use proptest::prelude::*;

use crate::language::Language;
use crate::parser::Parser;
use crate::query::{SymbolsOptions, SymbolsQuery};
use crate::skim::{Skimmed, skim};

/// The skimmed text, white space collapsed; `None` if all has to be parsed.
fn skimmed(language: Language, source: &str) -> Option<String> {
    let mut out = Skimmed::default();
    skim(language, source.as_bytes(), &mut out)
        .then(|| String::from_utf8_lossy(out.text()).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Compares skimmed texts. A case has two lines: a text, in which line feeds are escaped, and the rest of it after `=>`.
fn assert_skims(language: Language, cases: &str) {
    let lines: Vec<&str> = cases.trim_start_matches('\n').lines().collect();
    for case in lines.chunks_exact(2) {
        let source = case[0].replace("\\n", "\n");
        assert_eq!(skimmed(language, &source).as_deref(), Some(case[1][2..].trim_start()), "{source}");
    }
}

/// Definitions as they are listed, quick or thorough.
fn listed(language: Language, source: &str, thorough: bool) -> Vec<String> {
    let query =
        SymbolsQuery::new(&SymbolsOptions { thorough, ..SymbolsOptions::default() }).expect("no name");
    let parsed = Parser::default().parse(language, source.as_bytes(), &query);
    assert!(parsed.error.is_none(), "not in the grammar: {source}");
    crate::symbol::symbols(source.as_bytes(), language, &parsed.definitions, |_, _| true)
        .iter()
        .map(|symbol| format!("{} {symbol:?}", &source[symbol.name.clone()]))
        .collect()
}

fn assert_same(language: Language, source: &str) {
    assert!(skimmed(language, source).is_some(), "not skimmed: {source}");
    assert_eq!(listed(language, source, false), listed(language, source, true), "{source}");
}

#[test]
fn a_text_may_begin_with_a_brace() {
    for language in [Language::Go, Language::Java, Language::Rust] {
        let source = "{} class A { void f() {} }\n";
        let parsed = Parser::default().parse(language, source.as_bytes(), &SymbolsQuery::default());
        assert!(parsed.definitions.iter().all(|definition| definition.extent.end <= source.len()));
    }
    assert_eq!(skimmed(Language::Java, "{ f(); } class A { }").as_deref(), Some("{} class A { }"));
}

#[test]
fn bodies_types_and_imports_of_rust_are_left_out() {
    assert_skims(
        Language::Rust,
        r##"
fn f<T: A<B>>(a: &'a T) -> Vec<T> where T: C, { a('{', "}"); } mod m { fn g(); }
=> fn f() {} mod m { fn g() ; }
use a::{b, c}; #[derive(A)] pub(crate) struct S<T> { #[b] pub(in c) a: Vec<T>, b: [u8; { 3 }] }
=> pub(crate) struct S { pub(in c) a:T, b:T }
enum E { A(u8), B { b: fn(A) -> B, }, C = 3 } struct U(A); struct N;
=> enum E { A(), B { b:T, }, C = 3 } struct U (); struct N ;
const A: Vec<B = C> = { 1 }; static mut B: &str = r#"";"#; type T<A> = B<A>;
=>
m! { fn no() {} } a::b!(c); macro_rules! n { () => { } }
=> macro_rules! n {}
fn f() { if a { b } fn g() { c } if d { e } }
=> fn f() { if a {} fn g() {} if d {} }
fn f() { struct S { a: u8 } } fn g() { let type_ = r#struct; x.union(a) }
=> fn f() { struct S { a: u8 } } fn g() {}
extern "C" { fn a(b: c); static d: e; } const fn f() {} impl<T> A for B<T> where T: C { }
=> extern "C" { fn a() ; static d:T; } const fn f() {} impl<T> A for B<T> where T: C { }
/* a /* b */ c */ fn f(_: [u8; { 1 }]) -> A<{ 2 }> { 'a: loop { b"\"{" } }
=> fn f() {}
trait A<B>: C + D { type E: F; const G: H; fn i(self) { } }
=> trait A { type E=T; const G:T; fn i() {} }
"##,
    );
}

#[test]
fn constants_variables_and_aliases_outside_of_modules_are_known_without_a_parser() {
    let source = "#[a] pub const A: Vec<B = C> = { 1 }; static mut B: u8 = 1; type T<A> = B<A>; const _: u8 = 1; mod m { const C: u8 = 1; }";
    let mut out = Skimmed::default();
    assert!(skim(Language::Rust, source.as_bytes(), &mut out));
    let plain: Vec<_> = out.plain.iter().map(|plain| &source[plain.extent.clone()]).collect();
    assert_eq!(plain, ["pub const A: Vec<B = C> = { 1 };", "static mut B: u8 = 1;", "type T<A> = B<A>;"]);
    let names: Vec<_> = out.plain.iter().map(|plain| &source[plain.name.clone()]).collect();
    assert_eq!(names, ["A", "B", "T"]);
    assert_same(Language::Rust, &source.replace("C>", "u8>"));
}

#[test]
fn bodies_types_and_imports_of_go_are_left_out() {
    assert_skims(
        Language::Go,
        r#"
package p\nimport (\n"a"\n)\nimport "b"\nfunc (r *T) f(a, b int) (c interface{}, d error) { e('{', `}`) }\nvar x = 1
=> package p func (r *T) f() {} var x = 1
func f() struct{} { return }\nfunc g() func() interface{ A() } { return }
=> func f() {} func g() func() interface{ A() } {}
var a = []struct{ b int }{ { 1 }, { 2 } }\nvar c = func() { type D struct { e int }; f {} }
=> var a = []struct{ b int }{} var c = func() { type D struct { e int }; f {} }
func f(x int) int\nfunc g() { switch a := b.(type) { case interface{}: } }
=> func f() int func g() {}
type A struct { b int // c\n d struct { e string `f` } }
=> type A struct { b int d struct { e string `f` } }
"#,
    );
}

#[test]
fn bodies_values_and_imports_of_java_are_left_out() {
    assert_skims(
        Language::Java,
        r#"
import a.b; class A { @B(c = { 1 }) int d(E<F> g) throws H { i('{', "}", """\n " } """); } int j = k(1); }
=> class A { @B int d() throws H {} int j ; }
class A { static { b(); } A() { c(); } int[] d = { 1, 2 }, e; }
=> class A { static {} A() {} int[] d = {}, e; }
class A { B b = new B() { int c; }; void d() { if (e) { f(new G(() -> { h; }) { void i() { j; } }); } } }
=> class A { B b = new B() { int c; }; void d() { if (e) { f(new G(() -> {}) { void i() {} }); } } }
enum A { B(1) { int c() { d; } }, C; int e() { f; } } record G(int h) { G { i; } }
=> enum A { B() { int c() {} }, C; int e() {} } record G(int h) { G {} }
class A { void b() { class C { int d; } } void e() { f(G.class); new H[] { 1 }; } } @interface I { int j() default 1; }
=> class A { void b() { class C { int d; } } void e() {} } @interface I { int j() default 1; }
"#,
    );
}

#[test]
fn a_text_whose_brackets_or_literals_do_not_end_is_parsed_whole() {
    for source in
        ["fn f() {", "}", "fn f(a { }", "fn f() { \"}", "fn f() { r##\"}\"# }", "/* a", "fn f() { ( ] }"]
    {
        assert_eq!(skimmed(Language::Rust, source).is_none(), source != "fn f() { ( ] }", "{source}");
    }
    for source in
        ["func f() {", "}", "func f() { \"\n}", "func f() { `}", "func f() { 'a }", "var a = (", "/*"]
    {
        assert_eq!(skimmed(Language::Go, source), None, "{source}");
    }
    for source in [
        "class A {",
        "}",
        "class A { int b( { } }",
        "class A { void b() { \"\n\"; } }",
        "class A { \"\"\" }",
        "import a",
    ] {
        assert_eq!(skimmed(Language::Java, source), None, "{source}");
    }
}

#[test]
fn a_text_of_many_open_brackets_or_empty_lines_takes_time_in_proportion() {
    let deep = |text: &str| text.repeat(1 << 20);
    for start in ["enum A ", "mod a ", "fn f() ", "const A: T = "] {
        assert_eq!(skimmed(Language::Rust, &(start.to_owned() + &deep("{"))), None, "{start}");
    }
    for start in ["var a = \n", "func f() {}\n", "type A struct {", "/", "import"] {
        let lines = skimmed(Language::Go, &(start.to_owned() + &deep("\n")));
        assert_eq!(lines.is_none(), start.ends_with('{'), "{start}");
    }
    assert_eq!(skimmed(Language::Java, &deep("class A {")), None);
    assert_eq!(skimmed(Language::Java, &deep("new A() {")), None);
}

/// Programs of some pieces, in which `CODE` stands for pieces of code. Names get numbers.
fn programs(
    items: &'static [&'static str],
    code: &'static str,
    around: [&'static str; 2],
) -> impl Strategy<Value = String> {
    let pieces = code.trim().lines().flat_map(|line| line.split(" | "));
    let pieces: Vec<String> = pieces.map(|piece| piece.replace("\\n", "\n") + " ").collect();
    let code = prop::collection::vec(prop::sample::select(pieces), 0..5);
    let item = (prop::sample::select(items), prop::collection::vec(code, 3)).prop_map(|(item, codes)| {
        let mut codes = codes.iter().map(|code| code.concat());
        let parts: Vec<&str> = item.split("CODE").collect();
        let mut joined = parts[0].to_owned();
        for part in &parts[1..] {
            joined += &codes.next().unwrap_or_default();
            joined += part;
        }
        joined
    });
    prop::collection::vec(item, 0..8).prop_map(move |items| {
        let joined = items.concat();
        let mut numbered = String::new();
        for (index, part) in joined.split("NAME").enumerate() {
            if index > 0 {
                numbered += &format!("Name{index}");
            }
            numbered += part;
        }
        format!("{}{numbered}{}", around[0], around[1])
    })
}

const RUST_ITEMS: &[&str] = &[
    "pub(crate) fn NAME<'a, T: Fn(u8) -> u8>(a: &'a T, b: [u8; 3]) -> Vec<T> where T: Copy, { CODE }\n",
    "/// it's { a comment\n#[cfg(a = \"}\")]\nunsafe extern \"C\" fn NAME() { CODE { CODE } }\n",
    "const fn NAME() -> impl Iterator<Item = u8> { CODE }\n",
    "pub struct NAME<T> where T: Copy { /* { */ pub a: Vec<Vec<T>>, #[b] r#b: fn(u8) -> u8, c: [u8; 3] }\n",
    "struct NAME(pub u8, String);\nstruct NAME;\n",
    "enum NAME { A, B(u8, u8), C { d: u8, e: Vec<u8> }, F = 1 << 2 }\n",
    "union NAME { a: u8, b: u16 }\n",
    "trait NAME<T>: Copy where T: Copy { type A: Copy; const B: u8; fn c(&self) -> u8; fn d() { CODE } }\n",
    "impl<T> Iterator for crate::NAME<T> where T: Copy { type Item = Vec<T>; const B: u8 = 3; fn next(&mut self) -> u8 { CODE } }\n",
    "mod NAME { #![a]\n use a::{b, c}; fn NAME() { CODE } static NAME: &str = \"}\"; }\n",
    "const NAME: [u8; 2] = { CODE [1, 2] };\nstatic mut NAME: Vec<u8> = a::<u8, u8>();\nconst _: () = { CODE };\n",
    "type NAME<T> = Vec<T>;\npub use a::b;\nm! { fn no() {} }\n",
    "macro_rules! NAME { (a) => { fn no() {} }; }\nextern \"C\" { fn NAME(a: u8) -> u8; static NAME: u8; }\n",
];
/// Pieces with bars between them, in which line feeds are escaped.
const RUST_CODE: &str = r##"
let a = '{'; | let b = "} \" {"; | let c = r#"" } "#; | let d = b'\''; | let e: &'static str = f;
if a { b(); } else { c() } | /* } /* { */ */ | // } it's\n | fn NAME(a: u8) { if b { c } }
struct NAME { a: u8, b: Vec<u8> } | enum NAME { A { a: u8 }, B(u8) }
impl A { const NAME: u8 = 1; fn NAME() { a } } | mod NAME { pub fn NAME() {} } | type NAME = u8;
let f = |x: u8| { x + 1 }; | let g = S { a: 1, b: T { c } }; | match x { A { b } => {} _ => {} }
let h: fn(u8) -> u8 = a.union(b); | 'outer: loop { break 'outer; } | m! { };
"##;
const GO_ITEMS: &[&str] = &[
    "func NAME(a, b int, c ...string) (d int, err error) { CODE }\n",
    "func (r *T) NAME(a func(int) int) interface{} { CODE }\n",
    "func (T[A]) NAME() struct{ a int } { CODE }\n",
    "func NAME[A any, B interface{ ~int }](a A) map[string]struct{} { CODE }\n",
    "func NAME(a struct{ b int })\n",
    "func NAME(\n\ta int, // {\n\tb int,\n) (\n\tc int,\n) { CODE }\n",
    "type NAME struct {\n\tA int `json:\"}\"` // {\n\tB, C struct { d int }\n\t*E\n\tF map[string]interface{ G() }\n}\n",
    "type NAME interface {\n\tA(b int) int\n\tC\n}\ntype NAME = int\ntype ( NAME int\n NAME []struct{ a int } )\n",
    "var NAME, NAME = 1, \"{\"\nvar NAME = []struct{ a int; b string }{ {1, \"}\"}, {2, `\"`} }\n",
    "const (\n\tNAME = iota // '\n\tNAME\n)\n",
    "var (\n\tNAME = func() int { CODE }\n\tNAME interface{} = map[string]int{ \"a\": 1 }\n)\n",
    "/* { \n */ var NAME = a(func() { CODE }, b{c: d{1}})\n",
];
const GO_CODE: &str = r#"
a := '{'; | b := "} \" {"; | c := `" } \`; | d := '\''; | if a { b() } else { c() }; | /* } */ | // } it's\n
type NAME struct { a int; b struct { c int } }; | type NAME int; | e := []struct{ NAME int }{ {1}, {2} };
f := func(a int) { b{ c }; }; | g := T{ a: 1, b: U{ 2 } }; | switch x := y.(type) { case interface{}: a() };
var h interface { NAME() }; | i := map[string]struct{}{ "a": {} }; | var j int;
"#;
const JAVA_ITEMS: &[&str] = &[
    "/** it's { */ @A(b = { \"}\" }) public <T extends B<T>> T NAME(final int a, @C(\")\") D... b) throws E, F { CODE }\n",
    "static { CODE } { CODE } NAME_() { }\n",
    "private static final Map<String, List<X>> NAME = new HashMap<>(), NAME = a(1, 2);\n",
    "int NAME = 1; String NAME = \"{;\"; char NAME = '{', NAME = '\\''; String NAME = \"\"\"\n \" } \\\"\"\" \"\"\";\n",
    "A NAME = new A(1, () -> { CODE }) { int NAME; void NAME() { CODE } };\n",
    "int[] NAME = { 1, 2 }, NAME[] = new int[][] { { 1 } };\n",
    "B NAME = c -> { CODE };\n",
    "enum NAME { @A A1, B1(1, new X() { void NAME() { } }) { int NAME() { CODE } }, C1; int NAME; void NAME() { CODE } }\n",
    "interface NAME<T> extends A<T> { int NAME = 1; void NAME(int a); default int NAME() { CODE } }\n",
    "record NAME(int a, @A(1) List<String> b) implements A { NAME { CODE } static int NAME() { CODE } }\n",
    "@interface NAME { int a() default 1; String[] b() default { \"{\" }; }\n",
    "abstract int NAME(int a)[]; class NAME { class NAME { void NAME() { CODE } } }\n",
];
const JAVA_CODE: &str = r#"
char a = '{'; | String b = "} \" {"; | String c = """\n " } """; | if (a) { b(); } else { c(); } | /* } */
// } it's\n | class NAME { int NAME; void NAME(int a) { b(); } }
a(new NAME_(1) { int NAME; public void NAME() { if (a) { } } }); | a(new B(() -> { c(); }) { int NAME; });
enum NAME { A, B { void NAME() { } } } | record NAME(int a) { } | interface NAME { int NAME = 1; void NAME(); }
int[] d = new int[] { 1, 2 }; | e(A.class, b -> { return 1; }); | switch (a) { case 1: { b(); } }
f = new G(1); if (h) { } | try (A a = new A()) { b(); } catch (C c) { }
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn programs_of_rust_have_the_same_definitions_quick_and_thorough(
        source in programs(RUST_ITEMS, RUST_CODE, ["", ""]),
    ) {
        assert_same(Language::Rust, &source);
    }

    #[test]
    fn programs_of_go_have_the_same_definitions_quick_and_thorough(
        source in programs(GO_ITEMS, GO_CODE, ["package p\nimport \"a\"\n", ""]),
    ) {
        assert_same(Language::Go, &source);
    }

    #[test]
    fn programs_of_java_have_the_same_definitions_quick_and_thorough(
        source in programs(JAVA_ITEMS, JAVA_CODE, ["package p; import a.b; public class Outer<T> {", "}"]),
    ) {
        assert_same(Language::Java, &source);
    }
}
