//! `comb symbols`: definitions in source code.

use std::fs;

use crate::support::{answer, directory_with, run, shell, write};

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
    assert_eq!(run(&mut shell(&directory, "comb symbols")), answer(expected, "", 0));
    assert_eq!(run(&mut shell(&directory, "comb symbols list.c")), answer(expected, "", 0));
}

#[test]
fn kinds_languages_and_names_select_definitions() {
    let directory = directory_with(&[("list.c", LIST), ("a.py", "class A:\n    def list_all(self): pass\n")]);
    let names = |flags: &str| run(&mut shell(&directory, &format!("comb symbols {flags} | cut -f3"))).0;
    assert_eq!(names("--kind struct,macro"), "SIZE\nlist\n");
    assert_eq!(names("--lang python"), "A\nA.list_all\n");
    assert_eq!(names("-d list"), "list\n");
    assert_eq!(names("-d '^list_'"), "A.list_all\nlist_length\n");
    assert_eq!(names("-d 'l.ck$'"), "lock\n");
    assert_eq!(names("-g '*.py' --kind class"), "A\n");
    assert_eq!(run(&mut shell(&directory, "comb symbols -d nowhere")), answer("", "", 1));
}

#[test]
fn wrong_names_are_refused_with_the_nearest() {
    let directory = directory_with(&[("list.c", LIST), ("notes", "int x;\n")]);
    let comb = |flags: &str| run(&mut shell(&directory, &format!("comb symbols {flags}")));
    let (_, message, code) = comb("--lang phyton");
    assert!(message.contains("unknown language 'phyton'; did you mean python?"), "{message}");
    assert_eq!(code, Some(2));
    let (_, message, code) = comb("--kind funktion");
    assert!(message.contains("unknown kind 'funktion'; kinds are class, "), "{message}");
    assert_eq!(code, Some(2));
    let (_, message, code) = comb("-d '('");
    assert!(message.contains("invalid expression '('"), "{message}");
    assert_eq!(code, Some(2));
    assert_eq!(comb("notes"), answer("", "comb: notes: unknown language; use --lang to name it\n", 2));
    assert_eq!(comb("--lang c notes"), answer("notes:1:5\tvariable\tx\tint x;\n", "", 0));
}

#[test]
fn an_outline_shows_scopes_by_indentation() {
    let directory = directory_with(&[("list.c", LIST)]);
    let expected = "\
list.c
1 macro SIZE
2-5 struct list
 3 field length
 4 field first
7 variable lock
10-14 function list_length(const struct list *list)
";
    assert_eq!(run(&mut shell(&directory, "comb symbols --outline")), answer(expected, "", 0));
}

#[test]
fn an_outline_on_a_terminal_is_aligned() {
    let directory = directory_with(&[("list.c", LIST)]);
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
    assert_eq!(run(&mut shell(&directory, script)), answer(expected, "", 0));
}

#[test]
fn uses_are_listed_with_the_line_and_their_scope() {
    let text =
        "int f(void);\nint f(void) { return 1; }\n/* f */\nint g(void)\n{\n\treturn f() + h(\"f\");\n}\n";
    let directory = directory_with(&[("a.c", text), ("b.c", "int h = 1;\n")]);
    let uses = "a.c:1:5\treference\tf\tint f(void);\na.c:6:9\treference\tf\treturn f() + h(\"f\");\n";
    assert_eq!(run(&mut shell(&directory, "comb symbols -r f")), answer(uses, "", 0));
    let both = run(&mut shell(&directory, "comb symbols -r f -d f | cut -f1,2"));
    assert_eq!(both.0, "a.c:1:5\treference\na.c:2:5\tfunction\na.c:6:9\treference\n");
    assert_eq!(run(&mut shell(&directory, "comb symbols -r '^[gh]$' | cut -f1,3")).0, "a.c:6:15\th\n");
    let (json, ..) = run(&mut shell(&directory, "comb symbols --json -r h"));
    let object: serde_json::Value = serde_json::from_str(&json).expect("one object");
    assert_eq!((&object["kind"], &object["scope"]), (&"reference".into(), &"g".into()));
    let (_, message, code) = run(&mut shell(&directory, "comb symbols -r f --format ctags"));
    assert_eq!(code, Some(2));
    assert!(message.contains("tags files have no references"), "{message}");
    assert_eq!(run(&mut shell(&directory, "comb symbols -r nowhere")), answer("", "", 1));
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
    let comb = |flags: &str| run(&mut shell(&directory, &format!("comb symbols {flags}")));
    assert!(comb("--stats").0.ends_with(&format!("int a, b;\nc.py:1:5\tfunction\tc\tdef c():\n{expected}")));
    assert_eq!(comb("--stats -q"), answer(&expected[1..], "", 0));
    assert_eq!(comb("-q"), answer("", "", 0));
    assert_eq!(comb("-q -d nowhere"), answer("", "", 1));
    let (json, ..) = comb("-q --stats --json -d c");
    let object: serde_json::Value = serde_json::from_str(&json).expect("one object");
    let c = serde_json::json!({
        "language": "c", "files": 2, "bytes": 19, "symbols": 0, "files_with_errors": 0
    });
    assert_eq!(object["stats"][0], c);
    let (_, message, code) = comb("--stats --format ctags");
    assert_eq!(code, Some(2));
    assert!(message.contains("use -o"), "{message}");
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
    let lines = |script: &str| {
        let script = format!("{script} && grep -v '^!' tags | sed 's/\t.*line:/ /; s/\t.*//'");
        run(&mut shell(&directory, &script))
    };
    let update = "rm src/gone.c && echo 'int new;' > src/new.c";
    assert_eq!(
        lines(&format!("{prepare} && {update} && {comb} --append src")),
        answer("new 1\nold 9\nother 9\n", "", 0)
    );
    assert_eq!(lines(&format!("touch -d '1 hour' tags && {comb} --update")).0, "new 1\nold 9\nother 9\n");
    assert_eq!(
        lines(&format!("touch -d '1 hour ago' tags && {comb} --append lib")).0,
        "new 1\nold 9\nother 1\n"
    );
    assert_eq!(lines(&format!("rm tags && {comb} --append")).0, "new 1\nold 1\nother 1\n");
    let (_, message, code) = run(&mut shell(&directory, "comb symbols -o list --append"));
    assert_eq!(code, Some(2));
    assert!(message.contains("--format ctags"), "{message}");
}

#[test]
fn a_change_while_tags_are_made_is_later_than_the_tags() {
    let directory = directory_with(&[]);
    let script = "mkfifo a.c; (sleep 0.1; touch later; echo 'int a;' > a.c) & \
        comb symbols --format ctags -o tags a.c && test tags -ot later";
    assert_eq!(run(&mut shell(&directory, script)), answer("", "", 0));
}

#[test]
fn every_json_object_follows_the_schema() {
    let directory = directory_with(&[("list.c", LIST), ("a.rs", "impl A { fn b(self) {} }\n")]);
    run(&mut shell(&directory, "printf 'int odd(void) { } // caf\\xe9' > $'caf\\xe9.c'"));
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/symbols.schema.json");
    let schema = serde_json::from_str(&fs::read_to_string(schema).expect("a schema")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let script = "comb symbols --json --stats && comb symbols --json -r item";
    let (out, message, code) = run(&mut shell(&directory, script));
    assert_eq!((message.as_str(), code), ("", Some(0)));
    let objects: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    for object in &objects {
        assert!(validator.is_valid(object), "{object}");
    }
    let found = |name: &str| objects.iter().find(|object| object["name"] == name).expect(name);
    assert_eq!(found("b")["scope"], "A");
    assert_eq!(
        (&found("length")["scope"], &found("length")["scope_kind"]),
        (&"list".into(), &"struct".into())
    );
    assert_eq!((&found("list_length")["line"], &found("list_length")["end_line"]), (&10.into(), &14.into()));
    assert_eq!(
        (&found("odd")["path"], &found("odd")["path_base64"]),
        (&"caf\u{FFFD}.c".into(), &"Y2Fm6S5j".into())
    );
}

#[test]
fn the_list_is_the_same_at_any_number_of_threads() {
    let directory = directory_with(&[]);
    for number in 0..200 {
        let text = format!("int f{number}(void)\n{{\n\treturn {number};\n}}\n{LIST}");
        write(&directory, &format!("d{}/f{number}.c", number % 7), text);
    }
    for format in ["text", "json", "ctags", "etags"] {
        let list = |threads: u32| {
            run(&mut shell(&directory, &format!("comb symbols -j {threads} --format {format}")))
        };
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
    let made = run(&mut shell(&directory, "comb symbols --format ctags -o tags"));
    assert_eq!(made, answer("", "", 0));
    let tags = fs::read_to_string(directory.path().join("tags")).expect("tags");
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
        assert_eq!(run(&mut shell(&directory, &script)).0, format!("{line}\n"), "{name}");
    }
}

#[test]
fn only_a_tags_file_is_replaced_unasked() {
    let directory = directory_with(&[("list.c", LIST), ("tags", "notes\n")]);
    let comb =
        |flags: &str| run(&mut shell(&directory, &format!("comb symbols --format ctags -o tags {flags}")));
    let (_, message, code) = comb("");
    assert!(message.contains("--force"), "{message}");
    assert_eq!(code, Some(2));
    assert_eq!(comb("--force"), answer("", "", 0));
    assert_eq!(comb(""), answer("", "", 0));
    let (_, message, code) = run(&mut shell(&directory, "comb symbols --format etags -o tags"));
    assert!(message.contains("is not a TAGS file of Emacs; use --force"), "{message}");
    assert_eq!(code, Some(2));
    assert_eq!(comb("-q").2, Some(2));
}

#[test]
fn files_and_pipes_beyond_the_limit_are_not_read_to_their_end() {
    let directory = directory_with(&[("small.c", "int x;\n")]);
    let script = "truncate -s 65M large.c; mkfifo pipe.c; yes > pipe.c 2> /dev/null & comb symbols large.c pipe.c small.c";
    let expected = "comb: large.c: larger than 64 MiB; skipped\ncomb: pipe.c: larger than 64 MiB; skipped\n";
    assert_eq!(
        run(&mut shell(&directory, script)),
        answer("small.c:1:5\tvariable\tx\tint x;\n", expected, 2)
    );
}

#[test]
fn hostile_files_take_neither_long_nor_much() {
    let directory = directory_with(&[]);
    let nested =
        |open: &str, close: &str, count: usize| format!("{}{}", open.repeat(count), close.repeat(count));
    write(&directory, "brackets.c", format!("int x = {};\nint after;\n", nested("(", ")", 100_000)));
    write(&directory, "braces.c", format!("{}\nint after;\n", nested("{", "}", 100_000)));
    write(
        &directory,
        "scopes.cpp",
        format!("{} int after; {}", "namespace a {".repeat(2000), "}".repeat(2000)),
    );
    write(&directory, "line.c", "DEFINE_X(x);".repeat(50_000) + "int after;");
    write(&directory, "open.c", "int before;\nint f(void) { /* \"\n");
    write(&directory, "raw.cpp", "R\"(".repeat(100_000));
    let (out, message, code) = run(&mut shell(
        &directory,
        "comb symbols --kind variable | grep -E 'after|before' | cut -f1 | cut -d: -f1",
    ));
    assert_eq!(
        (out.as_str(), message.as_str(), code),
        (
            "braces.c\nbrackets.c\nline.c\nopen.c\nscopes.cpp\n",
            "comb: scopes.cpp: scopes nested more than 64 deep; those within are listed in the last\n",
            Some(2)
        )
    );
}
