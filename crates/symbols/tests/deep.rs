//! Code that is nested deeply is listed in time that grows with its length: a search from the root for each node would take hours.

use std::fs;

use finecomb_scan::{Inputs, OrderedOptions};
use finecomb_symbols::{Language, SymbolsFormat, SymbolsOptions, SymbolsQuery, symbols};

const DEPTH: usize = 30_000;

/// Language, what begins and ends a level, and the number of definitions in it.
const NESTED: [(&str, &str, &str, usize); 22] = [
    ("bash", "f() {\n", "}\n", 1),
    ("csharp", "class A { int b, c; ", "}\n", 3),
    ("d", "class A { int x;\n", "}\n", 2),
    ("javascript", "function f() {\n", "}\n", 1),
    ("javascript", "const f = () => { for (let i = 0;;) { var local = 1;\n", "}};\n", 1),
    ("javascript", "a.b = { c: function() {\n", "}};\n", 1),
    ("javascript", "class A { m() {\n", "}}\n", 2),
    ("kotlin", "fun A.f() {\n", "}\n", 1),
    ("kotlin", "class A { val x = 1\n", "}\n", 2),
    ("lua", "function f()\n", "end\n", 1),
    ("lua", "local f = function() a, b = 1, 2\n", "end\n", 1),
    ("lua", "do local a = 1\n", "end\n", 0),
    ("php", "function f() {\n", "}\n", 1),
    ("ruby", "def f\n", "end\n", 1),
    ("rust", "mod a {\n", "}\n", 1),
    ("scala", "class A(val x: Int) {\n", "}\n", 2),
    ("swift", "func f() {\n", "}\n", 1),
    ("tsx", "function f() {\n", "}\n", 1),
    ("typescript", "namespace a { declare function f(): void; function f(): void {\n", "}}\n", 3),
    ("typescript", "class A { m(): void; m() { return class {} } n() {\n", "}}\n", 4),
    ("java", "class A { int x; \n", "}\n", 2),
    ("zig", "const A = struct { b: u8,\n", "};\n", 2),
];

#[test]
fn code_of_any_depth_is_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, open, close, definitions) in NESTED {
        let Ok(language) = name.parse::<Language>() else { continue };
        let file = directory.path().join("a").with_extension(language.extensions()[0]);
        let start = if name == "php" { "<?php\n" } else { "" };
        fs::write(&file, [start, &open.repeat(DEPTH), &close.repeat(DEPTH)].concat()).expect("a file");
        let options = SymbolsOptions::default().format(SymbolsFormat::Text);
        let query = SymbolsQuery::new(&options).expect("no name to compile");
        let (mut out, inputs) = (Vec::new(), Inputs::new([&file]));
        let outcome = symbols(&inputs, &OrderedOptions::default(), &query, &mut out);
        assert!(outcome.failures.iter().all(|(_, reason)| reason.contains("deep")), "{:?}", outcome.failures);
        let found = outcome.stats.total();
        assert_eq!(
            (found.symbols, found.files_with_errors),
            ((DEPTH * definitions) as u64, 0),
            "{name}: {open}"
        );
    }
}
