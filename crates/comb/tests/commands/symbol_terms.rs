//! `comb symbols` for a name, with the terms of an index: the answers are those without an index.

use std::fs;

use crate::support::{Answer, run};
use crate::tree_index::Tree;

const NAMES: [&str; 6] = ["alpha", "beta", "gamma", "delta", "x1", "_y"];

/// Lines of C in which names are defined, used, or in comments and literals.
const C: [&str; 12] = [
    "int NAME(void) { return OTHER(1); }",
    "struct NAME { int OTHER; };",
    "#define NAME OTHER + 1",
    "/* NAME */ // OTHER",
    "/* NAME",
    "*/ int OTHER;",
    "char *NAME = \"OTHER\";",
    "enum NAME { OTHER };",
    "static DEFINE_MUTEX(NAME);",
    "void f(void) {",
    "}",
    "#if NAME",
];

const PYTHON: [&str; 6] = [
    "def NAME(): return OTHER()",
    "# NAME",
    "NAME = 'OTHER'",
    "class NAME(:",
    "NAME = \"\"\"\n# \"\"\" + OTHER",
    "f\"\"\"\n# {NAME} OTHER\"\"\"",
];

const RUST: [&str; 5] = [
    "fn NAME() { OTHER() }",
    "// NAME",
    "mod NAME { pub struct OTHER; }",
    "/*\n// */ static NAME: u8 = OTHER;",
    "fn f() { format!(\"\n// {}\", NAME); }",
];

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn of<'o>(&mut self, options: &[&'o str]) -> &'o str {
        options[self.below(options.len())]
    }

    fn text(&mut self, path: &str) -> String {
        let lines: &[&str] = match path.rsplit('.').next() {
            Some("py") => &PYTHON,
            Some("rs") => &RUST,
            _ => &C,
        };
        let count = self.below(12);
        let mut line =
            || self.of(lines).replace("NAME", self.of(&NAMES)).replace("OTHER", self.of(&NAMES)) + "\n";
        (0..count).map(|_| line()).collect()
    }
}

const PATHS: [&str; 9] =
    ["a.c", "b.h", "d/c.c", "d/d.py", "d/e/e.rs", "d/e/f.c", "g/g.h", "g/notes.txt", "include/plain"];

fn symbols(tree: &Tree, arguments: &[&str]) -> Answer {
    run(tree.comb(&["symbols"]).args(arguments))
}

/// Compares the lists for some names with and without the index.
fn compare(tree: &Tree, random: &mut Random) {
    for _ in 0..3 {
        let (name, other) = (random.of(&NAMES), random.of(&NAMES));
        for arguments in [
            &["-d", name][..],
            &["-r", name, "-j1"],
            &["-d", name, "-r", other, "--json"],
            &["-d", name, "--kind", "struct,function", "--outline"],
            &["-r", name, "d", "-j2"],
        ] {
            let without = symbols(tree, &[&["--index=never"], arguments].concat());
            assert_eq!(symbols(tree, arguments), without, "{arguments:?}");
        }
    }
}

#[test]
fn answers_are_those_without_an_index_however_a_tree_changes() {
    let mut random = Random(49);
    let texts: Vec<(&str, String)> = PATHS.iter().map(|&path| (path, random.text(path))).collect();
    let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, &text[..])).collect();
    let tree = Tree::indexed(&texts);
    assert_ne!(symbols(&tree, &["--index-update", "-q"]).2, Some(2));
    compare(&tree, &mut random);
    for step in 0..24 {
        let path = random.of(&PATHS);
        let is_there = tree.root().join(path).exists();
        match random.below(6) {
            0 if is_there => tree.remove(path),
            1 if is_there => {
                let text = fs::read_to_string(tree.root().join(path)).expect("success");
                tree.write(path, text + &random.text(path));
            }
            2 if is_there => {
                let other = random.of(&PATHS);
                fs::create_dir_all(tree.root().join(other).parent().expect("a directory")).expect("success");
                tree.rename(path, other);
            }
            3 if tree.root().join("d").exists() && !tree.root().join("moved").exists() => {
                tree.rename("d", "moved");
            }
            _ => tree.write(path, random.text(path)),
        }
        match step % 6 {
            2 => assert_eq!(tree.index("update").2, Some(0)),
            4 => assert_ne!(symbols(&tree, &["--index-update", "-q"]).2, Some(2)),
            5 => assert_ne!(symbols(&tree, &["--index-update", "-q", "g"]).2, Some(2)),
            _ => {}
        }
        compare(&tree, &mut random);
    }
    assert_eq!(tree.index("verify").2, Some(0));
}

#[test]
fn a_watch_knows_the_terms() {
    let files =
        [("a.c", "int alpha;\n"), ("b.c", "int beta(void) { return alpha; }\n"), ("d/c.c", "/* alpha */\n")];
    let Some(tree) = Tree::trusted(&files) else { return };
    assert_eq!(symbols(&tree, &["--index-update", "-q"]).2, Some(0));
    let _watch = tree.watch();
    let mut random = Random(1);
    for path in ["a.c", "b.c", "new.c", "d/c.c"] {
        compare(&tree, &mut random);
        tree.write(path, random.text(path));
    }
    compare(&tree, &mut random);
    assert_ne!(symbols(&tree, &["--index-update", "-q"]).2, Some(2));
    compare(&tree, &mut random);
}

#[test]
fn damaged_terms_are_reported_and_left_alone() {
    let files = [("a.c", "int one;\nint two(void) { return one; }\n"), ("b.c", "int three; /* one two */\n")];
    let Some(tree) = Tree::trusted(&files) else { return };
    assert_eq!(symbols(&tree, &["--index-update", "-q"]).2, Some(0));
    let terms = tree.files().into_iter().find(|path| path.extension().is_some_and(|end| end == "terms"));
    let terms = terms.expect("terms");
    let expected = symbols(&tree, &["-d", "one"]);
    assert_eq!((expected.0.lines().count(), expected.1.as_str(), expected.2), (1, "", Some(0)));
    let bytes = fs::read(&terms).expect("success");
    fs::write(&terms, &bytes[..bytes.len() - 1]).expect("success");
    let note = format!(
        "comb: {}: damaged; remove it; 'comb symbols --index-update' writes it again\n",
        terms.display()
    );
    assert_eq!(symbols(&tree, &["-d", "one"]), (expected.0.clone(), note, Some(0)));
    assert_eq!(tree.index("verify").2, Some(2));
    assert_eq!(symbols(&tree, &["--index-update", "-q"]).2, Some(0));
    assert_eq!(symbols(&tree, &["-d", "one"]), expected);
    assert_eq!(fs::read(&terms).expect("success"), bytes);
}
