//! Texts of C and C++, and their skimmed text.

use super::*;
use crate::kind::Kind;

fn skimmed(source: &str) -> Option<String> {
    let mut out = Skimmed::default();
    skim(source.as_bytes(), true, &mut out)
        .then(|| String::from_utf8_lossy(out.text()).split_whitespace().collect::<Vec<_>>().join(" "))
}

fn by_macros(source: &str) -> Vec<(Kind, &str)> {
    let mut out = Skimmed::default();
    assert!(skim(source.as_bytes(), true, &mut out));
    out.by_macros.iter().map(|definition| (definition.kind, &source[definition.name.clone()])).collect()
}

#[test]
fn bodies_initialisers_and_comments_are_left_out() {
    for (source, expected) in [
        ("int f(x) { if (a) { b(); } }; int g[];", "int g[];"),
        (
            "int a[] = { 1, { 2 } }, b; /* int c[]; */ int d[]; // int e[];\nint h[];",
            "int a[] = {}, b; int d[]; int h[];",
        ),
        ("struct s { int a, b; } x; enum e { A, B = '{' };", "struct s { int a, b; } x; enum e { };"),
        ("char *s = \"{\"; void f() { '}'; \"}\"; /* } */ }", "char *s = \"{\";"),
        ("namespace n { class c { int f() { return 1; } }; }", "namespace n { class c { }; }"),
        ("extern \"C\" { int f(void) { } }", "extern \"C\" { }"),
        ("static int __init (*f)(void) { }", "static int (*f)(void) {}"),
        ("static __realloc_size(2) void *f(int a) try { }", "static void *f(int a) try {}"),
        ("auto s = R\"x({)\")x\"; int a[];", "auto s = R\"x({)\")x\"; int a[];"),
    ] {
        assert_eq!(skimmed(source).as_deref(), Some(expected), "{source}");
    }
    assert_eq!([skimmed("int f(void) {"), skimmed("}")], [None, None]);
}

/// Text and extents of the macros that are recorded.
fn macros(source: &str) -> (String, Vec<&str>) {
    let mut out = Skimmed::default();
    assert!(skim(source.as_bytes(), true, &mut out), "{source}");
    let text = String::from_utf8_lossy(out.text()).split_whitespace().collect::<Vec<_>>().join(" ");
    let macros = out.plain.iter().filter(|plain| plain.kind == Kind::Macro);
    (text, macros.map(|plain| &source[plain.extent.clone()]).collect())
}

#[test]
fn macros_are_recorded_wherever_they_are_defined() {
    for (source, text, expected) in [
        ("#define A(x, \\\n y) { \\\n x }\nint b[];", "int b[];", &["#define A(x, \\\n y) { \\\n x }"][..]),
        ("#define A 1 /* \n int no[]; */\nint b[];", "int b[];", &["#define A 1 /* \n int no[]; */"]),
        ("void f(void) {\n# define A (1)\n}", "", &["# define A (1)"]),
        ("struct s { int a[];\n#define A\n};", "struct s { int a[]; };", &["#define A"]),
        ("enum e { A,\n#define A A\n};", "enum e { };", &["#define A A"]),
        ("#define\n#define 1\nint f(\n#define A\nint a);", "int f( int a);", &[]),
        // The parser knows the name of the type, which follows.
        ("typedef struct { int a[];\n#define A 1\n} s;", "typedef struct { int a[]; #define A } s;", &[]),
    ] {
        assert_eq!(macros(source), (text.to_owned(), expected.to_vec()), "{source}");
    }
}

#[test]
fn a_comment_begins_in_the_code_of_a_macro_only() {
    let source = "#define GLOB \"/proc/*\"\nint a[];\n#define B // /* no\nint b[];\n#define C /* c\n*/ 1\nint c[]; /* */";
    let expected = ["#define GLOB \"/proc/*\"", "#define B // /* no", "#define C /* c\n*/ 1"];
    assert_eq!(macros(source), ("int a[]; int b[]; int c[];".to_owned(), expected.to_vec()));
    let open = "#define A /*\n".repeat(100_000);
    assert_eq!(macros(&open), (String::new(), vec![open.as_str()]));
}

#[test]
fn of_a_declaration_that_a_condition_cuts_the_first_branch_counts() {
    let cut = "#ifdef A\nint f(int a)\n#else\nint f(long a)\n#endif\n{ }\nint b[];";
    let mut out = Skimmed::default();
    assert!(skim(cut.as_bytes(), true, &mut out));
    let heads: Vec<_> =
        out.plain.iter().map(|plain| plain.parameters.clone().map(|range| &cut[range])).collect();
    assert_eq!((skimmed(cut).as_deref(), heads), (Some("int b[];"), vec![Some("(int a)")]));
    let whole = "#ifdef A\nint a[];\n#else\nint b[];\n#endif";
    assert_eq!(skimmed(whole).as_deref(), Some("int a[]; int b[];"));
    assert_eq!(
        skimmed("#if 0\nint a[];\n#else\nint b[];\n#endif\nint c[];").as_deref(),
        Some("int b[]; int c[];")
    );
    let body = "void f(void) {\n#ifdef A\nif (a) {\n#else\nif (b) {\n#endif\n}\n}\nint b[];";
    assert_eq!(skimmed(body).as_deref(), Some("int b[];"));
}

#[test]
fn macros_that_define_are_recorded() {
    assert_eq!(
        by_macros("static DEFINE_MUTEX(lock);\nLIST_HEAD(list);\nMODULE_LICENSE(\"x\");"),
        [(Kind::Variable, "lock"), (Kind::Variable, "list")]
    );
    assert_eq!(by_macros("SYSCALL_DEFINE2(open, int, a) { return 0; }"), [(Kind::Function, "open")]);
    assert_eq!(by_macros("DEFINE_PER_CPU(struct x, name) = { 1 };"), [(Kind::Variable, "name")]);
    assert_eq!(by_macros("int DEFINED(int a);"), []);
}

#[test]
fn the_last_argument_names_a_test_and_a_constructor_is_no_macro() {
    assert_eq!(by_macros("TEST(Suite, name) { }"), [(Kind::Function, "name")]);
    assert_eq!(by_macros("TEST(name) { }"), [(Kind::Function, "name")]);
    assert_eq!(by_macros("BOOST_FIXTURE_TEST_CASE(name, Fixture) { }"), [(Kind::Function, "name")]);
    assert_eq!(by_macros("struct URL { URL(A, B) { } };"), []);
    assert_eq!(by_macros("MAIN(void) { }"), []);
}

#[test]
fn words_in_comments_do_not_make_a_header_one_of_cpp() {
    assert!(is_cplusplus(b"/* a */ int b;\nusing a = b;\n"));
    assert!(is_cplusplus(b"/*\n * a\n */\nnamespace a {\n}\n"));
    assert!(!is_cplusplus(b"/* Set\nusing the\n  class of it\n*/\nint a; /* this\nnamespace is */ int b;\n"));
}

/// Names of the functions that are recorded without the parser.
fn plain(source: &str, is_cplusplus: bool) -> Vec<&str> {
    let mut out = Skimmed::default();
    assert!(skim(source.as_bytes(), is_cplusplus, &mut out), "{source}");
    let functions = out.plain.iter().filter(|plain| plain.kind == Kind::Function);
    functions.map(|plain| &source[plain.name.clone()]).collect()
}

#[test]
fn functions_of_a_plain_form_are_recorded_and_prototypes_left_out() {
    let c = "static inline int f(int a) { }\nstruct s *g(void) { }\nint h(int);\nint (*i(void))(int) { }\ntypedef int j(int);\nstruct k { int l; };";
    assert_eq!(plain(c, false), ["f", "g"]);
    let mut out = Skimmed::default();
    skim(c.as_bytes(), false, &mut out);
    let text = String::from_utf8_lossy(out.text());
    assert!(
        !text.contains("h(int)") && text.contains("(*i(void))(int) {}") && text.contains("j(int)"),
        "{text}"
    );
    assert_eq!(plain("main() { }", false), ["main"]);
    let cplusplus = "class A { A(int a) : b(a), c{a} { } ~A() { } bool operator==(const A &) const { } operator int() { } void f() && noexcept { } };\n\
                     std::vector<int> N::B<C>::g(int) const { }\nint h(5), i(int);";
    assert_eq!(plain(cplusplus, true), ["A", "~A", "operator==", "f", "g"]);
    assert!(skimmed(cplusplus).unwrap().ends_with("int h(5), i(int);"));
}

#[test]
fn objects_of_a_plain_form_are_recorded_and_declarations_left_out() {
    let source = "struct s; extern int a; typedef int t; static s u; int b, c; struct d { int e; s *f; } g; enum h { I = (1, 2), J };";
    let mut out = Skimmed::default();
    assert!(skim(source.as_bytes(), false, &mut out));
    let found = out.plain.iter().map(|plain| (plain.kind, &source[plain.extent.clone()])).collect::<Vec<_>>();
    let expected = [
        (Kind::Typedef, "typedef int t;"),
        (Kind::Variable, "static s u;"),
        (Kind::Field, "int e;"),
        (Kind::Field, "s *f;"),
        (Kind::Enumerator, "I = (1, 2)"),
        (Kind::Enumerator, "J"),
    ];
    assert_eq!(found, expected);
    let text = String::from_utf8_lossy(out.text()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text, "int b, c; struct d { } g; enum h { };");
}

#[test]
fn texts_in_which_nothing_ends_are_skimmed_to_the_end() {
    let parts = "a<|template<|A<B |f(a = |[[|class A : |f() -> |f() : a(|requires |W W |static W |a::W a::b<|using a = |AB(|AB('(');|,a={}|f(a);|enum {|enum {A,|enum {A=(|enum {A=b |A b;";
    for part in parts.split('|') {
        for end in ["", ";"] {
            let source = format!("{part}{end}\n").repeat(5_000);
            let mut out = Skimmed::default();
            let is_complete = skim(source.as_bytes(), true, &mut out);
            assert!(out.text().len() <= 2 * source.len(), "{part}");
            assert!(!is_complete || out.source_range(0..out.text().len()).end <= source.len(), "{part}");
        }
    }
}
