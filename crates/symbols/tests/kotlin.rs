//! Kotlin that the grammar does not take: the lexer puts other bytes in its place.

use std::fs;

use finecomb_symbols::SymbolsFormat;

use crate::languages::list;

/// Kinds and qualified names of the definitions of a text without syntax errors, which the quick and the thorough list have in common.
fn listed(source: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a.kt");
    fs::write(&file, source).expect("a file");
    let [quick, thorough] = [false, true].map(|thorough| list(&file, SymbolsFormat::Text, thorough));
    assert_eq!(quick.1, thorough.1, "{source}");
    assert_eq!(quick.0.stats.total().files_with_errors, 0, "{source}");
    let columns = quick.1.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    columns.map(|columns| [columns[1], columns[2]].join(" ")).collect::<Vec<_>>().join(", ")
}

/// Lists each text with a function after it, which must not be lost.
fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        let expected = format!("{expected}, function after");
        assert_eq!(listed(&format!("{source}\nfun after() {{}}\n")), expected, "{source}");
    }
}

#[test]
fn bodies_on_one_line_end_where_they_end() {
    check(&[
        ("class A { val x = 1 }", "class A, property A.x"),
        ("class A { val x = 1; fun f() {} }", "class A, property A.x, method A.f"),
        ("class A { val x: Int get() = 1 }", "class A, property A.x"),
        ("class A { var x: Int = 1; private set }", "class A, property A.x"),
        ("class A { var x: Int = 1\n private set\n val y = 2 }", "class A, property A.x, property A.y"),
        ("class A { init { f() } }", "class A"),
        ("@A\nannotation class B\nclass C", "class B, class C"),
        ("@A(b)\n@C\ninternal open class B {}\n/** d */ @A\nenum class C", "class B, class C"),
        ("class A { val x = if (a) b else c }", "class A, property A.x"),
        ("class A { companion object B { val x = 1 } }", "class A, class A.B, property A.B.x"),
        ("class A { enum class B { C, D } }", "class A, enum A.B, enumerator A.B.C, enumerator A.B.D"),
        ("class A @B constructor(val x: Int) { val y = 1 }", "class A, property A.x, property A.y"),
        ("class A<in T : B> where T : C { val y = 1 }", "class A, property A.y"),
        ("interface A { val x: Int; fun f() }", "interface A, property A.x, method A.f"),
        ("fun interface A { fun run() }", "interface A, method A.run"),
        ("sealed interface A { object B : A }", "interface A, class A.B"),
        ("enum class E { A, B; val x = 1 }", "enum E, enumerator E.A, enumerator E.B, property E.x"),
        ("enum class E { A { override fun f() = 1 } }", "enum E, enumerator E.A, method E.A.f"),
        ("val x = object : A { override val y = 1 }", "property x, property x.y"),
        ("fun f() {} fun g() {}", "function f, function g"),
        (
            "class A { constructor(x: Int) : this() { } constructor() }",
            "class A, method A.constructor, method A.constructor",
        ),
    ]);
}

#[test]
fn context_parameters_are_no_part_of_a_declaration() {
    check(&[
        ("context(foo: Foo) fun bar() {}", "function bar"),
        ("context(Foo) fun bar() {}", "function bar"),
        ("context(foo: Foo, _: Bar<Baz>)\nprivate fun bar() {}", "function bar"),
        ("context(foo: Foo)\n@A val bar: Int get() = 1", "property bar"),
        ("class A {\n context(foo: Foo)\n val bar: Int get() = 1\n}", "class A, property A.bar"),
        ("context(Foo)\nclass A {\n fun x() {}\n}", "class A, method A.x"),
        ("typealias A<B> = C<B>\n\ncontext(foo: Foo)\ninline fun bar() {}", "typedef A, function bar"),
        ("fun f(a: B<() -> context(Foo) () -> Unit>) {}", "function f"),
        ("fun f(a: context(Foo) (Int) -> Unit) {}", "function f"),
        ("fun f() { context(foo) { bar() } }", "function f"),
        ("fun f() = context(foo)\nval context = 1", "function f, property context"),
    ]);
}

#[test]
fn forms_of_newer_versions_hide_nothing() {
    check(&[
        (
            "fun f(a: Any) = when (a) {\n is B if a.c > 1 || d &&\n e -> 1\n else if g -> 2\n else -> 3\n}",
            "function f",
        ),
        ("fun f() = when (a) {\n B -> if (c) d else if (e) g { h -> i } else j\n else -> 3\n}", "function f"),
        ("val x = $$\"a $b $$c ${ \"", "property x"),
        ("val x = $$\"\"\"a \"b\" ${\n$$c\"\"\"\"", "property x"),
        ("class A {\n val x: List<B>\n  field = c()\n val y = 1\n}", "class A, property A.x, property A.y"),
        ("class A {\n val x: B\n  field: C = c()\n}", "class A, property A.x"),
        ("@all:A val x = 1", "property x"),
        ("annotation class A(val x: Array<B> = [], val y: C = D([]))", "class A, property A.x, property A.y"),
    ]);
}

#[test]
fn names_that_the_grammar_takes_for_keywords_hide_nothing() {
    check(&[
        ("fun f() {\n val x = 1\n set = set or x\n get { x }\n set(i, x[i])\n}", "function f"),
        ("fun f() {\n val x = y\n get(x) {\n g()\n }\n}", "function f"),
        ("fun f() {\n where?.let { g() }\n where = a\n open = b\n data.c()\n}", "function f"),
        ("fun <R> suspend(noinline block: suspend () -> R): suspend () -> R = block", "function suspend"),
        ("val x = suspend { 1 }\nval y: suspend (A) -> B = c", "property x, property y"),
        ("fun f(suspend: (A) -> B) {\n if (suspend(a)) return\n}", "function f"),
        ("fun f() = g(\n suspend = { a },\n open = { b },\n)", "function f"),
        ("class A {\n var x = 1\n  @B set(value) {\n  field = value\n }\n}", "class A, property A.x"),
        (
            "enum class E { get(\"a\"), set(\"b\"); val x = 1 }",
            "enum E, enumerator E.get, enumerator E.set, property E.x",
        ),
        ("class A {\n val x\n  @B(C::class)\n  @D\n  get() = y.z\n}", "class A, property A.x"),
        ("fun <T> where(x: T) where T : A = where(x)", "function where"),
    ]);
}

#[test]
fn lines_are_joined_and_kept_apart_as_in_the_language() {
    check(&[
        (
            "value class A\n@B\ninternal constructor(val x: Int) {\n val y = 1\n}",
            "class A, property A.x, property A.y",
        ),
        ("actual class A<\n T : B,\n>\n// comment\nactual constructor(val x: T)", "class A, property A.x"),
        (
            "class A\n/** comment\n */\n@B\nactual constructor(val x: Int) {\n val y = 1\n}",
            "class A, property A.x, property A.y",
        ),
        ("class A\n@B class C\n@B fun f() {}", "class A, class C, function f"),
        ("fun f() = when (a) {\n -b ->\n  c\n -b + d ->\n  e\n else -> g(h\n - i)\n}", "function f"),
        ("fun f(g: A.(B) -> C) {\n a.(b)()\n}", "function f"),
        ("val x = A?::b\nval y = f sc@ { z }", "property x, property y"),
    ]);
}

#[test]
fn brackets_and_quotes_in_literals_and_comments_do_not_count() {
    check(&[
        (
            "val x = \"{ ${a(\"}\") { '}' }} $ \\\" {\"\nclass A { val y = 1 }",
            "property x, class A, property A.y",
        ),
        (
            "val x = \"\"\"\n{ \" ${\"\"\"}\"\"\"} \"\"\"\"\nclass A { val y = 1 }",
            "property x, class A, property A.y",
        ),
        ("/* { /* \" */ } */ // {\nclass A { /* } */ val y = 1 /* { */ }", "class A, property A.y"),
        ("fun `a { b`() {}\nclass `C D` { val y = 1 }", "function a { b, class C D, property C D.y"),
        (
            "val x = '\\u007b'\nval y = '\"'\nval z = '{'\nclass A { val y = 1 }",
            "property x, property y, property z, class A, property A.y",
        ),
    ]);
}
