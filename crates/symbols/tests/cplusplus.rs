//! Macros, attributes and newer forms of C++ that are outside of the grammar, or that it takes for something else.

use std::fs;

use finecomb_symbols::SymbolsFormat;

use crate::languages::list;

/// Kinds and qualified names of the definitions of a text, for which the quick and the thorough list are the same.
fn listed(source: &str) -> Vec<String> {
    let [quick, thorough] = lists("a.cc", source);
    assert_eq!(quick, thorough, "{source}");
    names(&quick)
}

/// The quick and the thorough list of a file.
pub(crate) fn lists(name: &str, source: &str) -> [String; 2] {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join(name);
    fs::write(&file, source).expect("a file");
    [false, true].map(|thorough| list(&file, SymbolsFormat::Json, thorough).1)
}

/// Kinds and qualified names of the definitions of a list.
pub(crate) fn names(list: &str) -> Vec<String> {
    let name = |line: &str| {
        let symbol: serde_json::Value = serde_json::from_str(line).expect("an object");
        let scope = symbol["scope"].as_str().map_or(String::new(), |scope| format!("{scope}::"));
        format!(
            "{} {scope}{}",
            symbol["kind"].as_str().expect("a kind"),
            symbol["name"].as_str().expect("a name")
        )
    };
    list.lines().map(name).collect()
}

#[test]
fn macros_around_declarations_are_no_part_of_them() {
    for (source, expected) in [
        ("namespace lib VIS(default) {\nint f() { }\n}", "namespace lib, function lib::f"),
        ("BEGIN_ALL\nnamespace n { int f() { } }", "namespace n, function n::f"),
        ("BEGIN_ALL\nenum class color { red };", "enum color, enumerator color::red"),
        ("BEGIN_ALL\ntemplate <typename T> class C { int m() { } };", "class C, method C::m"),
        ("BEGIN_ALL\nclass C { };\nint v;", "class C, variable v"),
        ("BEGIN_ALL\nEND_ALL\nmodule foo;\nint v;", "variable v"),
        ("int h() NOEXCEPT { }", "function h"),
        ("void S::lock() ACQUIRE(mu_) { }", "method S::lock"),
        ("int k() const NOEXCEPT_IF(true) { }", "function k"),
        ("EXPORT void Foo::bar() { }", "method Foo::bar"),
        ("EXPORT Foo::Foo(int a) : b(a) { }", "method Foo::Foo"),
        ("EXPORT CONSTEXPR auto f(int a) -> decltype(g(a)) { }", "function f"),
        ("class Q { Q_DISABLE_COPY(Q) int f; };", "class Q, field Q::f"),
        (
            "class Q { Q_DISABLE_COPY(Q); Q_SIGNALS: void s(); public Q_SLOTS: void t() { } };",
            "class Q, method Q::t",
        ),
        ("class EXPORT Q : public B<(1 > 2)> { int f; };", "class Q, field Q::f"),
        (
            "enum E { A, B OLD, C OLD(\"x\") = 3 };",
            "enum E, enumerator E::A, enumerator E::B, enumerator E::C",
        ),
        ("void f(int a UNUSED, const T &b LIFETIME, FWD(T) c, int (K::*d)()) { }", "function f"),
        ("int COUNT GUARDED_BY(mu);\nVOID\nFOO(VOID)\n{ }", "variable COUNT, function FOO"),
        ("REG(OPEN, '(')\nint f() { }\nREG(CLOSE, ')') /* ) */\nint v;", "function f, variable v"),
        (
            "define_hash(int)\nstruct A { int f; };\nset_up(b)\ntemplate <class T> class B { };",
            "struct A, field A::f, class B",
        ),
        ("int a GUARDED_BY(mu) = 3; T *b[] ALIGNED;", "variable a, variable b"),
        ("LRESULT CALLBACK\nWND_PROC(HWND h, UINT m)\n{ }\nint v;", "function WND_PROC, variable v"),
        (
            "enum E { F1(A), F2(B) = A < 3 ? f(1, 2) : 4, C, G(a, 3) G(b, 4) D OLD(x) = 4, G(x) };",
            "enum E, enumerator E::C, enumerator E::D",
        ),
    ] {
        assert_eq!(listed(source).join(", "), expected, "{source}");
    }
}

#[test]
fn capitals_that_are_types_and_names_stay() {
    for (source, expected) in [
        ("FILE *f() { }", "function f"),
        ("static BOOL WINAPI f(int x) { }", "function f"),
        ("HRESULT Foo::get() { }", "method Foo::get"),
        ("HANDLE h; std::FILE *g; DIR *d = 0;", "variable h, variable g, variable d"),
        ("struct URL { URL(A) { } URL(); PATH p; };", "struct URL, method URL::URL, field URL::p"),
        ("unsigned int FLAGS = 3; std::vector<int> LIST;", "variable FLAGS, variable LIST"),
        ("typedef struct foo FOO; typedef void (APIENTRY *PFN)(int);", "typedef FOO, typedef PFN"),
        ("TYPE operator+(TYPE a) { }", "function operator+"),
        ("struct C { operator QT_TYPE() const { } };", "struct C, method C::operator QT_TYPE"),
        ("HRESULT\nWINAPI\nFOO(INT a)\n{ }\nint v;", "function FOO, variable v"),
        ("DWORD const x = 1;\nstruct C { enum KIND kind : 8; };", "variable x, struct C, field C::kind"),
        ("enum E { A, B };\nclass C_C { };", "enum E, enumerator E::A, enumerator E::B, class C_C"),
    ] {
        assert_eq!(listed(source).join(", "), expected, "{source}");
    }
}

#[test]
fn forms_of_newer_standards_hide_nothing() {
    for (source, expected) in [
        ("class [[gnu::visibility(\"default\")]] A { int m; };", "class A, field A::m"),
        ("module;\nexport module a.b:c;\nimport std;\nimport <vector>;\nint v;", "variable v"),
        ("inline namespace v1 { int f() { } }\nint g;", "namespace v1, function v1::f, variable g"),
        ("template <class T> concept Big = sizeof(T) > 3;\nint v;", "typedef Big, variable v"),
        ("template <class T> requires Big<T> && (sizeof(T) < 5) int f(T t) requires true { }", "function f"),
        (
            "struct P { virtual void pure() = 0; P() = default; void gone() = delete; };",
            "struct P, method P::pure, method P::P",
        ),
        (
            "void f(std::map<int, int> a = {}, T * = nullptr) { }\nX(int) -> X<int>;\nint v;",
            "function f, variable v",
        ),
        (
            "#define A\nint f(int);\nint g() { }\nclass C { void m() { } };",
            "macro A, function g, class C, method C::m",
        ),
        ("static int\n#define A\nf(int);\nint v;", "macro A, variable v"),
        ("export module m;\nexport {\nint f() { }\nclass C { };\n}", "function f, class C"),
        (
            "auto l = [p = g(q)](int a) { return a; };\nint v;\nauto x = f(1) + Foo{2};\nint w;",
            "variable l, variable v, variable x, variable w",
        ),
        (
            "template <class T> concept Small = N <= 16 && M > 1;\nvoid f(bool a = N <= 4 && M > 2) { }",
            "typedef Small, function f",
        ),
        ("std::unique_ptr<Foo> p(new Foo);\nT v(sizeof x), w(int(3));", "variable p, variable v, variable w"),
        ("extern template class A<int>;\ntemplate void f<int>();\nint v;", "variable v"),
        (
            "uint128::operator int() const { }\nbool operator<(A a, B b) { }",
            "method uint128::operator int, function operator<",
        ),
        (
            "template <> struct hash<Foo<1 << 2>> { size_t operator()(Foo f) const { } };",
            "struct hash, method hash::operator()",
        ),
    ] {
        assert_eq!(listed(source).join(", "), expected, "{source}");
    }
}

#[test]
fn objects_of_every_form_are_listed() {
    for (source, expected) in [
        (
            "struct S { int a, b; unsigned c; const int d; C<int> e; A *f; B &g; int h[3]; int i : 3; int j = 3; D::E k; };",
            "struct S, field S::a, field S::b, field S::c, field S::d, field S::e, field S::f, field S::g, field S::h, field S::i, \
             field S::j, field S::k",
        ),
        (
            "struct S { friend class A; friend bool operator==(S, S); enum class B; enum C : int; struct D; struct E f; };",
            "struct S, field S::f",
        ),
        (
            "struct S { typedef A<int, B> c; typedef int d[3]; typedef struct E e; union { int f; }; struct { int g; } h; };",
            "struct S, typedef S::c, typedef S::d, typedef S::e, field S::f, field S::g, field S::h",
        ),
        (
            "extern int a; extern \"C\" int b; extern int c = 3; static A d; int A::e;",
            "variable c, variable d, field A::e",
        ),
        ("namespace n { typedef int a; A b; struct C; }", "namespace n, typedef n::a, variable n::b"),
        (
            "enum E { A, B = 3 /* C */, D = (1 << 2) | E(3, 4), F = G<1, 2>::h, I = ',', J };",
            "enum E, enumerator E::A, enumerator E::B, enumerator E::D, enumerator E::F, enumerator E::I, enumerator E::J",
        ),
        (
            "typedef enum { A, B = 2 } E; typedef struct { int c; } S; enum { D };",
            "enumerator E::A, enumerator E::B, typedef E, field S::c, typedef S, enumerator D",
        ),
    ] {
        assert_eq!(listed(source).join(", "), expected, "{source}");
    }
}

#[test]
fn tests_are_listed_by_their_names() {
    for (source, expected) in [
        ("TEST(Suite, Name) { }\nint v;", "function Name, variable v"),
        ("TEST_CASE(\"adds two\", \"[tag]\") { }\nint v;", "function adds two, variable v"),
        ("TEST_CASE_TEMPLATE(\"S\", T, float, double) { int x; }\nint v;", "function S, variable v"),
        ("namespace n { TEST_F(Fixture, works) { } }", "namespace n, function n::works"),
    ] {
        assert_eq!(listed(source).join(", "), expected, "{source}");
    }
}

#[test]
fn of_a_body_that_begins_in_each_branch_the_first_counts() {
    let source = "#if A\nint f(int a) {\n#else\nint f(long a) {\n#endif\n  g();\n}\nint v;";
    assert_eq!(listed(source).join(", "), "function f, variable v");
    assert_eq!(listed("#if 0\nint f() { }\n#endif\nint v;").join(", "), "variable v");
    let bases = "class A\n#if X\n : public B\n#else\n : public C\n#endif\n{ int f; void g() { } };\nint v;";
    assert_eq!(listed(bases).join(", "), "class A, field A::f, method A::g, variable v");
    let heads = "\n#if X\nclass A : public B {\n#else\nclass A : public C {\n#endif\nint f;\n};\nint v;";
    assert_eq!(listed(heads).join(", "), "class A, field A::f, variable v");
    let initializers = "A::A(int a)\n  : b(a)\n#if X\n  , c(a)\n#else\n  , d(a)\n#endif\n{ }\nvoid f()\n#if X\nnoexcept\n#endif\n{ }";
    assert_eq!(listed(initializers).join(", "), "method A::A, function f");
}

#[test]
fn headers_and_scripts_without_an_extension_have_a_language() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    };
    write("include/vector", "namespace std {\nclass vector { };\n}\n");
    write("include/README", "Headers.\n");
    write("other/vector", "namespace std {\nclass vector { };\n}\n");
    write("bin/tool", "#!/usr/bin/env python3\ndef main():\n    pass\n");
    let (outcome, found) = list(directory.path(), SymbolsFormat::Text, false);
    let names: Vec<_> = found.lines().filter_map(|line| line.split('\t').nth(2)).collect();
    assert_eq!(names, ["main", "std", "std::vector"]);
    assert_eq!(outcome.stats.total().files, 2);
}
