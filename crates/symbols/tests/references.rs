//! Uses of names, in each language.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use finecomb_scan::{Inputs, OrderedOptions};
use finecomb_symbols::{Language, SymbolsFormat, SymbolsOptions, SymbolsQuery, symbols};

/// Kind, line and column of each definition and use of a name.
fn places(file: &Path, name: &str, thorough: bool) -> Vec<(String, u64, u64)> {
    let name = Some(name.to_owned());
    let options = SymbolsOptions::default()
        .reference(name.clone())
        .name(name)
        .thorough(thorough)
        .format(SymbolsFormat::Json);
    let mut out = Vec::new();
    let query = SymbolsQuery::new(&options).expect("a valid expression");
    let outcome = symbols(&Inputs::new([file]), &OrderedOptions::default(), &query, &mut out);
    assert!(outcome.problems.is_empty() && outcome.failures.is_empty());
    let place = |line: &str| {
        let object: serde_json::Value = serde_json::from_str(line).expect("an object");
        let number = |key: &str| object[key].as_u64().expect("a number");
        (object["kind"].as_str().expect("a kind").to_owned(), number("line"), number("column"))
    };
    String::from_utf8(out).expect("UTF-8").lines().map(place).collect()
}

/// The lines on which `it` is defined and used. `it` is in a comment and a string of each text, too.
fn check(language: Language, text: &str, defined: &[u64], used: &[u64]) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a").with_extension(language.extensions()[0]);
    fs::write(&file, text).expect("a file");
    for thorough in [false, true] {
        let places = places(&file, "it", thorough);
        let lines = |uses: bool| -> Vec<u64> {
            let places = places.iter().filter(|(kind, ..)| (kind == "reference") == uses);
            places.map(|&(_, line, _)| line).collect()
        };
        let name = language.name();
        assert_eq!(
            (lines(false), lines(true)),
            (defined.to_vec(), used.to_vec()),
            "{name}, {thorough}: {places:?}"
        );
    }
}

/// Names of languages, the lines on which `it` is defined and used in a text, and the text, in which line feeds are escaped.
const TEXTS: &str = r#"bash; 2; 3 5; # it\nit() { :; }\nit a\necho 'it' "it"\nx=$it\n
c cpp; 3; 2 4 5; #include <it.h>\n/* it */ int it(void);\nint it(void) { return 'i'; } // it\n#define X(a) it(a) + "it"\nvoid f(void) { puts("it"); it(); }\n
csharp; 2; 3 3; // it\nclass A { void it() {}\n void B() { it(); var s = "it" + $"it {it}"; } }\n
d; 2; 3; // it\nvoid it() {}\nvoid b() { it(); auto s = "it"; }\n
dockerfile; 2; 3 4; # it\nFROM a AS it\nCOPY --from=it a b\nRUN <<EOF echo $it\nit\nEOF\n
elixir; 2; 3 3; # it\ndef it, do: 1\nit(); s = "it" <> "a #{it()}" <> ~s(it)\n
go; 2; 3; package a // it\nfunc it() {}\nfunc b() { it(); s := "it" + `it`; _ = s }\n
java; 2; 3; // it\nclass A { void it() {}\n void b() { it(); String s = "it"; } }\n
javascript; 2; 3 3; // it\nfunction it() {}\nit(); const s = 'it' + `it ${it}` + /it/;\n
kotlin; 2; 3; // it\nfun it() {}\nfun b() { it(); val s = "it" }\n
lua; 2; 3; -- it\nfunction it() end\nit(); local s = 'it' .. [[it]]\n
make; 2; 3 4; # it\nit: a\nall: it # it\n\techo $(it)\n
markdown; 2; ; it\n# it\n`it`\n
objc objcpp; 3; 4 5; // it\n@implementation A\n- (void)it { }\n- (void)b { [self it]; NSString *s = @"it"; }\nint c(void) { return it; }\n@end\n
perl; 2; 3 3; # it\nsub it { 1 }\nit(); my $s = 'it' . "it" . $it . <<A;\nit\nA\n=pod\n\nit\n\n=cut\n
php; 2; 3; it <?php // it\nfunction it() {}\nit(); $s = 'it';\n
protobuf; 2; 3; // it\nmessage it {}\nmessage b { optional it c = 1 [default = "it"]; }\n
python; 2; 3 3; # it\ndef it(): pass\nit(); s = 'it' + f'it {it}'\n
ruby; 2; 3 3; # it\ndef it; end\nit(1); s = 'it' + "it #{it(2)}"\n
rust; 2; 3 3; // it\nfn it() {}\nfn b() { it(); let s = "it"; println!("{}", it()); }\n
scala; 2; 3; // it\nobject A { def it() = 1\n val s = it() + "it" }\n
sql; 2; 3; -- it\nCREATE TABLE it (a int);\nSELECT a, 'it', $$it$$ FROM it; /* it */\n
swift; 2; 3; // it\nfunc it() {}\nfunc b() { it(); let s = "it" }\n
tsx typescript; 2; 3 3; // it\nfunction it() {}\nit(); const s = 'it' + `it ${it}`;\n
vue; 4; 5 5; <template>it</template>\n<script setup lang="ts">\n// it\nfunction it() {}\nit(); const s = 'it' + `it ${it}`;\n</script>\n<style>it {}</style>\n
zig; 2; 3; // it\nfn it() void {}\nfn b() void { it(); const s = "it"; _ = s; }\n"#;

#[test]
fn uses_are_identifiers_and_neither_text_nor_comments() {
    for &language in Language::ALL {
        let is_of = |line: &&str| {
            line.split(';').next().is_some_and(|names| names.split(' ').any(|name| name == language.name()))
        };
        let line = TEXTS.lines().find(is_of).unwrap_or_else(|| panic!("no sample for {}", language.name()));
        let [_, defined, used, text] = line.splitn(4, "; ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let [defined, used] = [defined, used].map(|lines| {
            lines.split_terminator(' ').map(|line| line.parse().expect("a number")).collect::<Vec<u64>>()
        });
        check(language, &text.replace("\\n", "\n"), &defined, &used);
    }
}

#[test]
#[cfg(feature = "c")]
fn every_word_of_a_text_that_an_expression_matches_is_looked_at() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a.c");
    fs::write(&file, "int x = kmem_x(kmem_cache_alloc(1));\n").expect("a file");
    for thorough in [false, true] {
        assert_eq!(places(&file, "kmem_.*_alloc", thorough), [("reference".to_owned(), 1, 16)]);
    }
    // A word that an expression matches at every letter takes time in proportion.
    fs::write(&file, format!("int x = {};\n", "a".repeat(1 << 20))).expect("a file");
    assert_eq!(places(&file, "a+?", false), [("reference".to_owned(), 1, 9)]);
}

#[test]
#[cfg(all(feature = "c", feature = "cpp"))]
fn the_lexer_and_the_parser_of_c_and_cpp_find_the_same_uses() {
    for file in ["tests/languages/c.c", "tests/languages/cpp.cc"] {
        let text = fs::read_to_string(file).expect("a sample");
        let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let words: BTreeSet<&str> = text
            .split(|char| !is_word(char))
            .filter(|word| word.starts_with(|char: char| char.is_ascii_alphabetic()))
            .collect();
        let mut uses = 0;
        for word in words {
            let is_use =
                |places: &Vec<(String, u64, u64)>| places.iter().any(|(kind, ..)| kind == "reference");
            let (quick, thorough) =
                (places(Path::new(file), word, false), places(Path::new(file), word, true));
            if is_use(&thorough) {
                assert_eq!(quick, thorough, "{file}: {word}");
                uses += 1;
            }
        }
        assert!(uses > 20, "{file}: {uses}");
        for keyword in
            ["do", "enum", "for", "if", "long", "return", "static", "struct", "typedef", "unsigned"]
        {
            let found = [false, true].map(|thorough| places(Path::new(file), keyword, thorough));
            assert_eq!(found, [vec![], vec![]], "{file}: {keyword}");
        }
    }
}

#[test]
#[cfg(all(feature = "c", feature = "cpp"))]
fn keywords_of_cpp_are_names_in_c() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "int class;\nint f(void) { return class + virtual; }\n";
    for (file, expected) in [("a.c", vec![1, 1]), ("a.cc", vec![0, 0])] {
        let path = directory.path().join(file);
        fs::write(&path, text).expect("a file");
        for (keyword, expected) in ["class", "virtual"].into_iter().zip(&expected) {
            for thorough in [false, true] {
                let found = places(&path, keyword, thorough);
                let uses = found.iter().filter(|(kind, line, _)| kind == "reference" && *line == 2).count();
                assert_eq!(uses, *expected, "{file}: {keyword}");
            }
        }
    }
}

/// Number of files with syntax errors: it is 0 if a file is not parsed. Nothing is found in it.
fn errors(language: Language, text: &str, options: &SymbolsOptions) -> u64 {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("a").with_extension(language.extensions()[0]);
    fs::write(&file, text).expect("a file");
    let query = SymbolsQuery::new(&options.clone().stats(true)).expect("a name");
    let mut out = Vec::new();
    let outcome = symbols(&Inputs::new([&file]), &OrderedOptions::default(), &query, &mut out);
    assert_eq!((outcome.stats.total().files, outcome.stats.total().symbols, out.len()), (1, 0, 0), "{text}");
    outcome.stats.total().files_with_errors
}

#[test]
fn files_in_which_a_name_is_only_text_are_not_parsed() {
    let name = Some("it".to_owned());
    let (uses, definitions) =
        (SymbolsOptions::default().reference(name.clone()), SymbolsOptions::default().name(name));
    for &language in Language::ALL {
        let (comment, has_lexer) = match language.name() {
            // Nothing of these is parsed, or C++ or TypeScript in them is, or their comments are not known.
            "dockerfile" | "make" | "markdown" | "objc" | "objcpp" | "perl" | "sql" | "vue" => continue,
            "bash" | "elixir" | "ruby" => ("# it", false),
            "lua" => ("-- it", false),
            "php" => ("<?php\n// it", false),
            "python" => ("# it", true),
            "c" | "cpp" | "go" | "java" | "rust" => ("/*\n it */ // it", true),
            _ => ("// it", false),
        };
        let mut texts = vec![format!("{comment}\n) ((\n")];
        if has_lexer {
            texts.push("x = \"it\"\n) ((\n".to_owned());
        }
        // Where a comment does not end, the parser decides what is defined.
        if comment.starts_with('/') {
            assert_eq!(errors(language, "{\n/* it\n) ((\n", &definitions), 1, "{}", language.name());
        }
        for text in texts {
            let name = language.name();
            assert_eq!(errors(language, &text, &uses), 0, "{name}: {text}");
            assert_eq!(errors(language, &text, &definitions), 0, "{name}: {text}");
            assert_eq!(errors(language, &text, &uses.clone().thorough(true)), 1, "{name}: {text}");
        }
    }
}

#[test]
#[cfg(all(feature = "cpp", feature = "elixir", feature = "objc"))]
fn only_definitions_of_the_name_itself_are_no_uses_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    for (file, text, name, uses) in [
        ("a.cc", "bool operator==(A a, B b) { return true; }\n", "operator", "1:6"),
        ("a.cc", "int $x; int g(void) { return $x; }\n", "$x", "1:30"),
        ("a.cc", "int $x; int g(void) { return $x; }\n", "x", ""),
        ("a.ex", "defmodule A do\n  defstruct [:size]\n  def f(a), do: a.size\nend\n", "size", "3:19"),
        ("a.m", "@implementation A\n- (void)draw { [self draw]; }\n@end\n", "draw", "2:22"),
    ] {
        let file = directory.path().join(file);
        fs::write(&file, text).expect("a file");
        let found = places(&file, name, false).into_iter().filter(|(kind, ..)| kind == "reference");
        let found: Vec<String> = found.map(|(_, line, column)| format!("{line}:{column}")).collect();
        assert_eq!(found.join(" "), uses, "{name}: {text}");
    }
}
