//! Macros, assembler and conditions in C.

use crate::cplusplus::{lists, names};

/// Kinds and qualified names of the definitions of a text, which the quick and the thorough list have in common.
fn listed(source: &str) -> String {
    let [quick, thorough] = lists("a.h", source).map(|list| names(&list));
    assert_eq!(quick, thorough, "{source}");
    quick.join(", ")
}

#[test]
fn macros_define_only_what_they_name() {
    for (source, expected) in [
        ("static DEFINE_MUTEX(a); DEFINE_PER_CPU(int, b);", "variable a, variable b"),
        ("DEFINE_STATIC_KEY_FALSE(a); static DEFINE_XARRAY_FLAGS(b, 1);", "variable a, variable b"),
        ("struct s { DEFINE_DMA_UNMAP_ADDR(a); };", "struct s, field s::a"),
        ("DEFINE_EVENT(class, name,\n  TP_PROTO(int a));\nint v;", "variable v"),
        ("DEFINE_TEST_ALLOC(kmalloc, kfree, 0, 1, 0);\nTRACE_DEFINE_ENUM(A);\nint v;", "variable v"),
        ("DEFINE_SHOW_ATTRIBUTE(a);\nDEFINE_GUEST_HANDLE(char);\nint v;", "variable v"),
        ("define_machine(a) { .name = \"x\", };\nint v;", "variable v"),
        ("FIXTURE(a) { int b; };\nFIXTURE_SETUP(a) { }\nint v;", "function a, variable v"),
        ("TEST_F_FORK(a, b) { }\nTEST_F_TIMEOUT(a, c, 60) { }", "function b, function c"),
        ("TEST_SIGNAL(a, SIGSYS) { };\nTEST(b) { }", "function a, function b"),
        ("DECLARE_EWMA(a, 10, 8)\n/* b */\nstruct s { int c; };", "struct s, field s::c"),
        ("DEFINE_IDTENTRY(a)\n/* b */\n{ }", "function a"),
        ("static FILL_STATS(a) { }\nint v;", "function a, variable v"),
        ("BTF_SET_START(a)\nBTF_ID(func, b)\nBTF_ID(func, c)\nBTF_SET_END(a)\nint f(void) { }", "function f"),
        (
            "enum e { F1(A), F2(B), C, IRQ(3) = 4, D = BIT(2), E, F3(x),\n#ifdef X\nF4(y)\n#endif\n};",
            "enum e, enumerator e::C, enumerator e::D, enumerator e::E",
        ),
    ] {
        assert_eq!(listed(source), expected, "{source}");
    }
}

#[test]
fn assembler_in_headers_defines_macros_alone() {
    for (source, expected) in [
        (
            "#ifdef __ASSEMBLY__\n; it's a comment\n.macro LD e, o\n PUSH r0\n#define A(a) \\\n a\n.endm\n\
             #ifdef B\n or x, y\n#else\n and x\n#endif\n#define C 3\n#else\nint f(void) { }\n#endif\nint v;",
            "macro A, macro C, function f, variable v",
        ),
        (
            "#ifndef __ASSEMBLER__\nstruct s { int a; };\n#else\n PUSH r0\n#define A 3\nx: ld r2, r3\n#endif\nint v;",
            "struct s, field s::a, macro A, variable v",
        ),
        (
            "#if !defined(__ASSEMBLY__) && defined(X)\nint a;\n#else\nint b;\n#endif\nint v;",
            "variable a, variable b, variable v",
        ),
        ("#if defined(__ASSEMBLY__)\n PUSH r0\n#elif X\nint f(void) { }\n#endif", "function f"),
        (
            "; SP is back to start\n;  - U mode: it's\n@ comment's\n| Offset of\n\t.text\nint a\n; int b;\n; ;\nint v;",
            "variable a, variable b, variable v",
        ),
        (
            ".macro A b, c\n#ifdef X\n foo \\b\n#else\n bar \\c\n#endif\n#define M 1\n.endm\nint v;",
            "macro M, variable v",
        ),
    ] {
        assert_eq!(listed(source), expected, "{source}");
    }
}

#[test]
fn objects_of_every_form_are_listed() {
    for (source, expected) in [
        (
            "struct s { char *namespace; struct a *b; struct c; unsigned long d; int e, *f; u8 g[2]; int h:3; };",
            "struct s, field s::namespace, field s::b, field s::d, field s::e, field s::f, field s::g, field s::h",
        ),
        (
            "struct s; enum e f; extern int a; struct s *b; typedef struct s c; typedef struct s *d; int (*g)(void);",
            "variable f, variable b, typedef c, typedef d, variable g",
        ),
        ("int f(a, b, c) int a; struct s *b; double c; { }\nstatic int d;", "function f, variable d"),
    ] {
        assert_eq!(listed(source), expected, "{source}");
    }
}

#[test]
fn macros_belong_to_the_scope_around_them() {
    for (source, expected) in [
        (
            "struct s {\n#define A\nint a; struct {\n#define B\nint b; } c; };",
            "struct s, macro s::A, field s::a, macro s::B, field s::b, field s::c",
        ),
        ("typedef struct {\n#define A\nint a; } s;", "macro s::A, field s::a, typedef s"),
        (
            "int f(void) {\n#define A\n}\n#define B\nint (*g(void))(int) {\n#define C\n}",
            "function f, macro f::A, macro B, function g, macro g::C",
        ),
    ] {
        assert_eq!(listed(source), expected, "{source}");
    }
    // The grammar has no macros in enumerations.
    let [quick, _] = lists("a.c", "enum e { A,\n#define B\nC };");
    assert_eq!(names(&quick).join(", "), "enum e, enumerator e::A, macro e::B, enumerator e::C");
}

#[test]
fn of_the_heads_of_a_function_by_a_macro_the_first_counts() {
    let source = "#ifdef A\nSYSCALL_DEFINE2(clone, int, a)\n#elif B\nSYSCALL_DEFINE2(clone, int, b)\n#else\n\
                  SYSCALL_DEFINE2(clone, int, c)\n#endif\n{\n}\nint v;";
    assert_eq!(listed(source), "function clone, variable v");
    let apart = "#ifdef A\nDEFINE_MUTEX(a)\n#else\nDEFINE_MUTEX(b)\n#endif\nint v;";
    assert_eq!(listed(apart), "variable a, variable b, variable v");
}
