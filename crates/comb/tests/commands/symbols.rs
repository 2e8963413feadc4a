//! `comb symbols`: definitions in source code.

use serde_json::{Value, json};

use crate::support::{Place, directory_with, write};

const LIST: &str = "\
#define SIZE 8
struct list {
	int length;
	struct item *first;
};

static DEFINE_MUTEX(lock);

/* int not_this(void) { } */
int list_length(const struct list *list)
{
	struct local { int x; };
	return list->length;
}
";

#[test]
fn definitions_are_listed_with_place_kind_scope_and_signature() {
    let directory = directory_with(&[("list.c", LIST)]);
    let expected = "\
list.c:1:9\tmacro\tSIZE\t#define SIZE
list.c:2:8\tstruct\tlist\tstruct list
list.c:3:6\tfield\tlist::length\tint length;
list.c:4:15\tfield\tlist::first\tstruct item *first;
list.c:7:21\tvariable\tlock\tstatic DEFINE_MUTEX(lock);
list.c:10:5\tfunction\tlist_length\tint list_length(const struct list *list)
";
    directory.prints("comb symbols", expected);
    directory.prints("comb symbols list.c", expected);
    // An outline shows scopes by indentation.
    let expected = "\
list.c
1 macro SIZE
2-5 struct list
 3 field length
 4 field first
7 variable lock
10-14 function list_length(const struct list *list)
";
    directory.prints("comb symbols --outline", expected);
    // On a terminal, it is aligned.
    let expected = "\
list.c
 1  macro SIZE
 2  struct list
 3    field length
 4    field first
 7  variable lock
10  function list_length(const struct list *list)
";
    let script = "export -f comb; SHELL=/bin/bash script -qec 'NO_COLOR=1 comb symbols --outline' /dev/null < /dev/null | tr -d '\\r'";
    directory.prints(script, expected);
}

#[test]
fn kinds_languages_and_names_select_definitions() {
    let directory = directory_with(&[
        ("list.c", LIST),
        ("a.py", "class A:\n    def list_all(self): pass\n"),
        ("notes", "int x;\n"),
    ]);
    for (flags, names) in [
        ("--kind struct,macro", "SIZE\nlist\n"),
        ("--lang python", "A\nA.list_all\n"),
        ("-d list", "list\n"),
        ("-d '^list_'", "A.list_all\nlist_length\n"),
        ("-d 'l.ck$'", "lock\n"),
        ("-d A.list_all", "A.list_all\n"),
        ("-d A::list_all", "A.list_all\n"),
        ("-d list#length", "list::length\n"),
        ("-d 'list|length'", "A.list_all\nlist\nlist_length\nlist::length\n"),
        ("--outline -d 'list|length' | grep -c .", "6\n"),
        ("-g '*.py' --kind class", "A\n"),
    ] {
        directory.prints(&format!("comb symbols {flags} | cut -f3"), names);
    }
    directory.answers("comb symbols -d nowhere", "", "", 1);
    directory.answers("comb symbols -d l.ck", "", "", 1);
    directory.refuses("comb symbols --lang phyton", "unknown language 'phyton'; did you mean python?");
    directory.refuses("comb symbols --kind funktion", "unknown kind 'funktion'; kinds are class, ");
    directory.refuses("comb symbols -d '('", "invalid expression '('");
    let unknown = "comb: notes: unknown language; use --lang to name it\n";
    directory.answers("comb symbols notes", "", unknown, 2);
    directory.prints("comb symbols --lang c notes", "notes:1:5\tvariable\tx\tint x;\n");
}

#[test]
fn files_without_an_extension_are_selected_by_their_names_and_first_lines() {
    let directory = directory_with(&[
        ("Makefile", "all: a\n"),
        ("Makefiles", "no: a\n"),
        ("docs/a.md", "# A title\n"),
        ("image/Dockerfile.test", "FROM a AS b\n"),
    ]);
    let expected = "\
Makefile:1:1\ttarget\tall\tall: a
docs/a.md:1:3\theading\tA title\t# A title
image/Dockerfile.test:1:11\ttarget\tb\tFROM a AS b
";
    directory.prints("comb symbols", expected);
    directory.prints("comb symbols --lang make", "Makefile:1:1\ttarget\tall\tall: a\n");

    let directory = directory_with(&[
        ("bin/run", "#!/usr/bin/env python3\ndef f(): pass\n"),
        ("include/Dense", "namespace n { class Dense { }; }\n"),
        ("std/vector", "// <vector> -*- C++ -*-\nclass vector { };\n"),
        ("LICENSE", "using class a::b {\n"),
        ("z.tcc", "int z;\n"),
    ]);
    let expected = "\
bin/run:2:5\tfunction\tf
include/Dense:1:11\tnamespace\tn
include/Dense:1:21\tclass\tn::Dense
std/vector:2:7\tclass\tvector
z.tcc:1:5\tvariable\tz
";
    directory.prints("comb symbols | cut -f1-3", expected);
    directory.prints(
        "comb symbols --lang cpp | cut -f1-3",
        &expected[expected.find("include").expect("a line")..],
    );
    directory.prints("comb symbols --lang python | cut -f1-3", "bin/run:2:5\tfunction\tf\n");
    directory.answers("comb symbols --type rust", "", "", 1);
    directory.prints("comb symbols bin/run | cut -f1-3", "bin/run:2:5\tfunction\tf\n");
    let unknown = "comb: LICENSE: unknown language; use --lang to name it\n";
    directory.answers("comb symbols LICENSE", "", unknown, 2);
}

#[test]
fn hidden_files_are_listed_on_request_only() {
    let source = "int a;\n";
    let directory =
        directory_with(&[(".a.c", source), (".b/b.c", source), (".Makefile", "a:\n"), ("c.c", source)]);
    directory.prints("comb symbols | cut -f1", "c.c:1:5\n");
    directory.prints("comb symbols --lang c | cut -f1", "c.c:1:5\n");
    directory.prints("comb symbols --hidden | cut -f1", ".a.c:1:5\n.b/b.c:1:5\nc.c:1:5\n");
    // A named type selects hidden files, as in a search.
    directory.prints("comb symbols --type c | cut -f1", ".a.c:1:5\nc.c:1:5\n");
}

#[test]
fn headers_are_listed_for_the_language_of_their_text() {
    let directory = directory_with(&[("a.h", "struct a { int b; };\n"), ("c.h", "class c { };\n")]);
    directory.prints("comb symbols --lang cpp | cut -f1-3", "c.h:1:7\tclass\tc\n");
    directory.prints("comb symbols --lang c --kind struct | cut -f1-3", "a.h:1:8\tstruct\ta\n");
}

fn object(json: &str) -> Value {
    serde_json::from_str(json).expect("one object")
}

#[test]
fn uses_are_listed_with_the_line_and_their_scope() {
    let text =
        "int f(void);\nint f(void) { return 1; }\n/* f */\nint g(void)\n{\n\treturn f() + h(\"f\");\n}\n";
    let directory = directory_with(&[("a.c", text), ("b.c", "int h = 1;\n")]);
    let uses = "a.c:1:5\treference\tf\tint f(void);\na.c:6:9\treference\tf\treturn f() + h(\"f\");\n";
    directory.prints("comb symbols -r f", uses);
    let both = "a.c:1:5\treference\na.c:2:5\tfunction\na.c:6:9\treference\n";
    directory.prints("comb symbols -r f -d f | cut -f1,2", both);
    directory.prints("comb symbols -r '^[gh]$' | cut -f1,3", "a.c:6:15\th\n");
    let use_of_h = object(&directory.run("comb symbols --json -r h").0);
    assert_eq!((&use_of_h["kind"], &use_of_h["scope"]), (&"reference".into(), &"g".into()));
    directory.refuses("comb symbols -r f --format ctags", "tags files have no references");
    directory.answers("comb symbols -r nowhere", "", "", 1);
}

#[test]
fn sums_are_printed_for_each_language() {
    let directory =
        directory_with(&[("a.c", "int a, b;\n"), ("b.c", "int (((;\n"), ("c.py", "def c(): pass\n")]);
    let expected = "
language        files     bytes  definitions  with errors
c                   2      19 B            2            1
python              1      14 B            1            0
total               3      33 B            3            1
";
    let all = directory.run("comb symbols --stats").0;
    assert!(all.ends_with(&format!("int a, b;\nc.py:1:5\tfunction\tc\tdef c():\n{expected}")));
    directory.prints("comb symbols --stats -q", &expected[1..]);
    directory.prints("comb symbols -q", "");
    directory.answers("comb symbols -q -d nowhere", "", "", 1);
    let sums = object(&directory.run("comb symbols -q --stats --json -d c").0);
    let c = json!({"language": "c", "files": 2, "bytes": 19, "symbols": 0, "files_with_errors": 0});
    assert_eq!(sums["stats"][0], c);
    directory.refuses("comb symbols --stats --format ctags", "use -o");
}

#[test]
fn a_file_with_a_syntax_error_says_so() {
    let directory = directory_with(&[
        ("a.py", "def f(): pass\n\nx = [\n\ndef g(): pass\n\ndef h(): pass\n"),
        ("b.c", "int f(void)\n{\n\treturn 0;\n\nint g;\n"),
        ("fine.rs", "extern \"C\" { pub type A; }\nfn f() {}\n"),
        // The parser knows no macros, which are no errors.
        ("macros.c", "static int f(void)\n{\n}\nmodule_init(f)\nMODULE_LICENSE(\"GPL\");\n"),
    ]);
    let notes = "comb: a.py:3: syntax error; definitions may be missing\ncomb: b.c:3: syntax error; definitions may be missing\n";
    let script = "comb symbols -d '^[fgh]$' | cut -f1,3";
    let expected =
        "a.py:1:5\tf\na.py:5:5\tg\na.py:7:5\th\nb.c:1:5\tf\nfine.rs:2:4\tf\nmacros.c:1:12\tf\nb.c:5:5\tg\n";
    directory.answers(script, expected, notes, 0);
    directory.answers("comb symbols -q", "", "", 0);
    for flags in ["--outline", "--json", "--format ctags", "--stats"] {
        assert_eq!(directory.run(&format!("comb symbols {flags}")).1, notes, "{flags}");
    }
    let objects = directory.run("comb symbols --json").0;
    for object in objects.lines().map(object) {
        let has_errors = matches!(object["path"].as_str(), Some("a.py" | "b.c"));
        assert_eq!(object.get("has_errors"), has_errors.then_some(&true.into()), "{object}");
    }
    let stored =
        "comb index build --index-dir home . 2>/dev/null; comb symbols --index-dir home --index-update -q";
    directory.answers(stored, "", "", 0);
    assert_eq!(directory.run("comb symbols --index-dir home").1, notes);
}

#[test]
fn notes_on_syntax_errors_are_bounded() {
    let directory = directory_with(&[]);
    for number in 0..40 {
        write(&directory, &format!("d{}/f{number:02}.py", number / 4), "def f(\n");
    }
    let notes = |threads: u32| directory.run(&format!("comb symbols -j {threads} -d f"));
    let (out, one, code) = notes(1);
    let lines: Vec<&str> = one.lines().collect();
    assert_eq!((out.as_str(), code, lines.len()), ("", Some(1), 11));
    assert_eq!(lines[9], "comb: d2/f09.py:1: syntax error; definitions may be missing");
    assert_eq!(lines[10], "comb: syntax errors in 30 more files; definitions may be missing");
    for threads in [2, 8] {
        assert_eq!(notes(threads).1, one);
    }
}

#[test]
fn an_update_lists_changed_files_only() {
    let directory = directory_with(&[
        ("src/old.c", "int old;\n"),
        ("src/gone.c", "int gone;\n"),
        ("lib/other.c", "int other;\n"),
    ]);
    let comb = "comb symbols --format ctags -o tags";
    // The mark shows which lines are kept. A time in the future makes all files older than the tags.
    let prepare = format!("{comb} && sed -i 's/line:1/line:9/' tags && touch -d '1 hour' tags");
    let update = "rm src/gone.c && echo 'int new;' > src/new.c";
    for (script, lines) in [
        (format!("{prepare} && {update} && {comb} --append src"), "new 1\nold 9\nother 9\n"),
        (format!("touch -d '1 hour' tags && {comb} --update"), "new 1\nold 9\nother 9\n"),
        (format!("touch -d '1 hour ago' tags && {comb} --append lib"), "new 1\nold 9\nother 1\n"),
        (format!("rm tags && {comb} --append"), "new 1\nold 1\nother 1\n"),
    ] {
        let script = format!("{script} && grep -v '^!' tags | sed 's/\t.*line:/ /; s/\t.*//'");
        directory.prints(&script, lines);
    }
    directory.refuses("comb symbols -o list --append", "--format ctags");
}

#[test]
fn a_change_while_tags_are_made_is_later_than_the_tags() {
    let directory = directory_with(&[]);
    let script = "mkfifo a.c; (sleep 0.1; touch later; echo 'int a;' > a.c) & \
        comb symbols --format ctags -o tags a.c && test tags -ot later";
    directory.prints(script, "");
}

#[test]
fn every_json_object_follows_the_schema() {
    let directory = directory_with(&[("list.c", LIST), ("a.rs", "impl A { fn b(self) {} }\n")]);
    directory.run("printf 'int odd(void) { } // caf\\xe9' > $'caf\\xe9.c'");
    let schema = object(include_str!("../../../../docs/symbols.schema.json"));
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let (out, message, code) = directory.run("comb symbols --json --stats && comb symbols --json -r item");
    assert_eq!((message.as_str(), code), ("", Some(0)));
    let objects: Vec<Value> = out.lines().map(object).collect();
    assert_eq!(objects.iter().find(|object| !validator.is_valid(object)), None);
    for (name, members) in [
        ("b", json!({"scope": "A"})),
        ("length", json!({"scope": "list", "scope_kind": "struct"})),
        ("list_length", json!({"line": 10, "end_line": 14})),
        ("odd", json!({"path": "caf\u{FFFD}.c", "path_base64": "Y2Fm6S5j"})),
    ] {
        let found = objects.iter().find(|object| object["name"] == name).expect(name);
        for (member, value) in members.as_object().expect("members") {
            assert_eq!(&found[member], value, "{name}: {member}");
        }
    }
}

#[test]
fn the_list_is_the_same_at_any_number_of_threads() {
    let directory = directory_with(&[]);
    for number in 0..200 {
        let text = format!("int f{number}(void)\n{{\n\treturn {number};\n}}\n{LIST}");
        write(&directory, &format!("d{}/f{number}.c", number % 7), text);
    }
    for format in ["text", "json", "ctags", "etags"] {
        let list = |threads: u32| directory.run(&format!("comb symbols -j {threads} --format {format}"));
        let one = list(1);
        assert_eq!(one.2, Some(0));
        for threads in [2, 3, 8, 64] {
            assert_eq!(list(threads), one, "{format} with {threads} threads");
        }
    }
}

#[test]
fn vim_finds_a_tag_at_its_line() {
    let directory = directory_with(&[("src/list.c", LIST)]);
    directory.prints("comb symbols --format ctags -o tags", "");
    let tags = directory.read("tags");
    assert!(tags.starts_with("!_TAG_FILE_ENCODING\tutf-8\t//\n!_TAG_FILE_FORMAT\t2\t"), "{tags}");
    let line = "list_length\tsrc/list.c\t/^int list_length(const struct list *list)$/;\"\tkind:function\tline:10\tlanguage:C";
    assert!(tags.lines().any(|tag| tag.starts_with(line)), "{tags}");
    let mut sorted: Vec<&str> = tags.lines().collect();
    sorted.sort_unstable();
    assert_eq!(sorted, tags.lines().collect::<Vec<_>>());
    for (name, line) in [("list_length", "10"), ("lock", "7"), ("first", "4")] {
        let script = format!(
            "vim -u NONE -es -t {name} -c 'call writefile([line(\".\")], \"line\")' -c 'qa!' && cat line"
        );
        assert_eq!(directory.run(&script).0, format!("{line}\n"), "{name}");
    }
}

#[test]
fn only_a_tags_file_is_replaced_unasked() {
    let directory = directory_with(&[("list.c", LIST), ("tags", "notes\n")]);
    let comb = "comb symbols --format ctags -o tags";
    directory.refuses(comb, "--force");
    directory.prints(&format!("{comb} --force"), "");
    directory.prints(comb, "");
    let reason = "is not a TAGS file of Emacs; use --force";
    directory.refuses("comb symbols --format etags -o tags", reason);
    assert_eq!(directory.run(&format!("{comb} -q")).2, Some(2));
}

#[test]
fn files_and_pipes_beyond_the_limit_are_not_read_to_their_end() {
    let directory = directory_with(&[("small.c", "int x;\n")]);
    let script = "truncate -s 65M large.c; mkfifo pipe.c; yes > pipe.c 2> /dev/null & comb symbols large.c pipe.c small.c";
    let expected = "comb: large.c: larger than 64 MiB; skipped\ncomb: pipe.c: larger than 64 MiB; skipped\n";
    directory.answers(script, "small.c:1:5\tvariable\tx\tint x;\n", expected, 2);
}

#[test]
fn hostile_files_take_neither_long_nor_much() {
    let directory = directory_with(&[]);
    for (name, text) in [
        ("brackets.c", format!("int x = {}{};\nint after;\n", "(".repeat(100_000), ")".repeat(100_000))),
        ("braces.c", format!("{}{}\nint after;\n", "{".repeat(100_000), "}".repeat(100_000))),
        ("scopes.cpp", format!("{} int after; {}", "namespace a {".repeat(2000), "}".repeat(2000))),
        ("line.c", "DEFINE_X(x);".repeat(50_000) + "int after;"),
        ("open.c", "int before;\nint f(void) { /* \"\n".to_owned()),
        ("raw.cpp", "R\"(".repeat(100_000)),
        ("arguments.dockerfile", format!("ARG {}after\n", "a ".repeat(100_000))),
        ("documents.pl", "print <<A;\n".repeat(100_000) + "our $after;\n"),
        ("names.pl", format!("our ({}$after);\n", "$a,".repeat(100_000))),
        ("references.mk", format!("{}\nafter = 1\n", "$(".repeat(100_000))),
    ] {
        write(&directory, name, text);
    }
    directory.answers(
        "comb symbols --kind variable | grep -E 'after|before' | cut -f1 | cut -d: -f1",
        "arguments.dockerfile\nbraces.c\nbrackets.c\ndocuments.pl\nline.c\nnames.pl\nopen.c\nreferences.mk\nscopes.cpp\n",
        "comb: scopes.cpp: scopes nested more than 64 deep; those within are listed in the last\ncomb: open.c:2: syntax error; definitions may be missing\n",
        2,
    );
}
