//! `comb index` of a directory, and `comb grep` with it.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Answer, COMB, Place, answer, directory_with, program, run, write};

/// A tree of files, and indexes beside it.
pub(crate) struct Tree {
    /// Holds the directories `tree` and `home`.
    directory: TempDir,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { directory: directory_with(&[]) };
        fs::create_dir(tree.root()).expect("success");
        files.iter().for_each(|(name, text)| tree.write(name, text));
        tree
    }

    /// A tree with an index.
    pub(crate) fn indexed(files: &[(&str, &str)]) -> Self {
        let tree = Self::new(files);
        tree.build();
        tree
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.at("tree")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.at("home")
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        write(&self.directory, &format!("tree/{name}"), text);
    }

    pub(crate) fn comb(&self, arguments: &[&str]) -> Command {
        let mut command = program(COMB, &self.root());
        command.args(arguments).env("COMB_INDEX_DIR", self.home());
        command.env_remove("COMB_INDEX").env_remove("XDG_CACHE_HOME");
        // So a watch has its socket in the folder of the index.
        command.env_remove("XDG_RUNTIME_DIR");
        command
    }

    pub(crate) fn build(&self) {
        let (out, err, code) = self.index("build");
        assert_eq!((out.as_str(), code), ("", Some(0)), "{err}");
    }

    fn grep(&self, arguments: &[&str]) -> Answer {
        run(self.comb(&["grep"]).args(arguments))
    }

    /// The answer of a search, which must be the same with the index and without, except for times in JSON.
    fn same(&self, arguments: &[&str]) -> Answer {
        let untimed = |(out, err, code): Answer| match arguments.contains(&"--json") {
            true => (out.lines().filter(|line| !line.contains("elapsed")).collect(), err, code),
            false => (out, err, code),
        };
        let with = untimed(self.grep(arguments));
        assert_eq!(with, untimed(self.grep(&[&["--index=never"], arguments].concat())), "{arguments:?}");
        with
    }

    /// A number of the statistics of a search; `None` if the index was not used.
    fn statistic(&self, pattern: &str, name: &str) -> Option<u64> {
        let (out, ..) = self.grep(&["--stats", pattern]);
        out.lines().find_map(|line| line.strip_suffix(name)?.trim().parse().ok())
    }

    /// Runs `comb index` with an action for the tree.
    pub(crate) fn index(&self, action: &str) -> Answer {
        run(&mut self.comb(&["index", action, "."]))
    }

    /// Whether the file system of the tests is one that indexes trust; elsewhere they are of no use, and only the
    /// answers can be tested.
    pub(crate) fn is_trusted(&self) -> bool {
        !self.index("info").0.contains("not trusted")
    }

    /// A tree with an index, where indexes are of use.
    pub(crate) fn trusted(files: &[(&str, &str)]) -> Option<Self> {
        Some(Self::indexed(files)).filter(Self::is_trusted)
    }

    /// The description of the index.
    fn info(&self) -> Value {
        serde_json::from_str(&run(&mut self.comb(&["index", "info", "--json", "."])).0).unwrap_or_default()
    }

    /// The files of the index.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let entries =
            |folder| fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("success").path());
        let mut files: Vec<_> = entries(entries(self.home()).next().expect("a folder")).collect();
        files.retain(|path| path.metadata().expect("success").len() > 0);
        files.sort();
        files
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.root().join(name)).expect("success");
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root().join(from), self.root().join(to)).expect("success");
    }
}

const FILES: [(&str, &str); 4] = [
    ("one.c", "a needle\nhay\n"),
    ("two.c", "hay\n"),
    ("below/three.h", "needless\n"),
    ("below/four.txt", "no such word\n"),
];

#[test]
fn files_that_cannot_match_are_not_read() {
    let tree = Tree::indexed(&FILES);
    let (out, ..) = tree.same(&["-n", "needle"]);
    assert_eq!(out, "below/three.h:1:needless\none.c:1:a needle\n");
    if tree.is_trusted() {
        assert_eq!(tree.statistic("needle", " files checked against the index"), Some(2));
        assert_eq!(tree.statistic("needle", " candidates by the index"), Some(2));
        assert_eq!(tree.statistic("needle", " files read"), Some(2));
        assert_eq!(tree.statistic("needle", " files searched"), Some(4));
        assert_eq!(tree.statistic(".", " candidates by the index"), Some(4));
    }
    assert_eq!(tree.statistic("needle", " bytes searched"), Some(39));
}

#[test]
fn debug_tells_which_index_was_used_or_why_none_was() {
    let tree = Tree::indexed(&FILES);
    let (out, err, code) = tree.grep(&["--debug", "-c", "needle"]);
    assert_eq!((out.lines().count(), code), (2, Some(0)));
    let root = tree.root().canonicalize().expect("success");
    assert!(err.starts_with(&format!("comb: debug: index of {}\n", root.display())), "{err}");
    assert!(
        !tree.is_trusted()
            || err.contains("2 files checked, 0 changed, 2 candidates, 0 not in it; 2 not read"),
        "{err}"
    );
    let (.., err, _) = tree.grep(&["--debug", "--files"]);
    assert!(err.contains("debug: index of"), "{err}");
    tree.index("drop");
    let (_, err, code) = tree.grep(&["--debug", "needle"]);
    assert!(err.starts_with("comb: debug: index not used: ") && code == Some(0), "{err}");
}

/// Rules in hidden files, at three levels of a tree with a file that they leave out, and a directory that they leave out.
const RULES: [(&str, &str); 8] = [
    (".ignore", "build\n"),
    ("build/out.c", "needle\n"),
    ("a/.ignore", "*.log\n"),
    ("a/one.log", "needle\n"),
    ("a/b/.ignore", "two.c\n"),
    ("a/b/two.c", "needle\n"),
    ("a/b/c/two.c", "needle\n"),
    ("a/b/c/three.c", "hay\n"),
];

/// Changes rules everywhere, and checks what a search selects after each change.
fn change_rules(tree: &Tree) {
    let same = |out: &str| {
        assert_eq!(tree.same(&["-l", "needle"]).0, out);
        tree.same(&["--files"]);
        tree.same(&["-l", "--hidden", "needle|log"]);
        tree.same(&["-lu", "needle"]);
        tree.same(&["-l", "needle", "a/b"]);
    };
    same("");
    // The new rules have the size of the old ones.
    tree.write("a/b/.ignore", "tw0.c\n");
    same("a/b/c/two.c\na/b/two.c\n");
    tree.write("a/.ignore", "two.c\n");
    same("a/one.log\n");
    tree.remove("a/.ignore");
    same("a/b/c/two.c\na/b/two.c\na/one.log\n");
    tree.write("a/b/c/.ignore", "*\n");
    same("a/b/two.c\na/one.log\n");
    tree.write(".ignore", "a\n");
    same("build/out.c\n");
    tree.write(".ignore", "");
    same("a/b/two.c\na/one.log\nbuild/out.c\n");
    write(&tree.directory, ".ignore", "*.log\n");
    same("a/b/two.c\nbuild/out.c\n");
    tree.write("a/b/.ignore", "[\n{\n");
    assert!(tree.same(&["-l", "needle"]).1.contains("a/b/.ignore"));
}

#[test]
fn rules_that_change_are_noticed_wherever_they_are() {
    let tree = Tree::indexed(&RULES);
    change_rules(&tree);
    tree.index("update");
    // Rules that are wrong are reported whether the directory is of interest or not.
    assert!(tree.same(&["-l", "no such word"]).1.contains("a/b/.ignore"));
}

#[test]
fn the_answer_is_that_of_the_files_as_they_are() {
    let tree = Tree::indexed(&FILES);
    let expect = |out: &str| assert_eq!(tree.same(&["-l", "needle"]).0, out);
    tree.write("new.c", "needle\n");
    expect("below/three.h\nnew.c\none.c\n");
    tree.write("two.c", "needle\n");
    expect("below/three.h\nnew.c\none.c\ntwo.c\n");
    tree.remove("one.c");
    tree.rename("below", "renamed");
    expect("new.c\nrenamed/three.h\ntwo.c\n");
    tree.write(".ignore", "new.c\n");
    expect("renamed/three.h\ntwo.c\n");
    tree.write("renamed/.ignore", "!*.c\n*.h\n");
    expect("two.c\n");
    tree.build();
    expect("two.c\n");
    tree.remove(".ignore");
    expect("new.c\ntwo.c\n");
}

#[test]
fn an_edit_that_keeps_size_and_modification_time_is_noticed() {
    let tree = Tree::indexed(&FILES);
    let path = tree.root().join("two.c");
    let before = path.metadata().expect("success");
    let file = File::options().write(true).open(&path).expect("success");
    std::os::unix::fs::FileExt::write_all_at(&file, b"dle", 0).expect("success");
    file.set_modified(before.modified().expect("success")).expect("success");
    drop(file);
    let after = path.metadata().expect("success");
    assert_eq!(
        (before.mtime_nsec(), before.size(), before.ino()),
        (after.mtime_nsec(), after.size(), after.ino())
    );
    assert_eq!(tree.same(&["^dle$"]).0, "two.c:dle\n");
}

#[test]
fn a_file_with_a_writer_is_read_until_it_is_indexed_without() {
    let tree = Tree::new(&FILES);
    let writer = File::options().write(true).open(tree.root().join("two.c")).expect("success");
    tree.build();
    let read = |tree: &Tree| tree.statistic("xyzzy", " files read");
    if tree.is_trusted() {
        assert_eq!(read(&tree), Some(1));
        drop(writer);
        tree.build();
        assert_eq!(read(&tree), Some(0));
    }
}

#[test]
fn every_kind_of_search_has_the_same_answer() {
    let long = "hay\n".repeat(50_000);
    let tree = Tree::new(&FILES);
    tree.write("long.txt", format!("{long}needle\nhay\nfirst\nsecond\n{long}"));
    tree.write("nul.bin", b"text\n\0needle\nbelow\n");
    tree.write("early.bin", b"needle\n\0text\n");
    tree.write("utf16", "\u{feff}needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    tree.write("bom", "\u{feff}needle\nhay\n");
    tree.write("cr.txt", "needle\r\nhay\r\n");
    tree.write("empty", "");
    tree.write("last", "pm");
    tree.write("case", "NEEDLE \u{17f}tack \u{212a}\n");
    tree.write(".hidden", "needle\n");
    tree.write("ignored.log", "needle\n");
    tree.write(".ignore", "*.log\n");
    let gz = Command::new("gzip").arg("-k").arg("one.c").current_dir(tree.root()).status().expect("success");
    assert!(gz.success());
    let name = std::ffi::OsStr::from_bytes(b"not utf-8 \xff");
    fs::write(tree.root().join(name), "needle\n").expect("success");
    tree.build();
    let flags = "-n -c -l --files-without-match --include-zero -i -w -x -v -F -o -q -m1 -C1 -a --binary -z -U --null-data \
                 --crlf -u -uu -uuu --passthru --sort=modified --sortr=path -Eutf-16le -Enone --max-line=20 \
                 --max-filesize=9 --max-depth=1 -L -tc -g*.h --no-unicode -j1 --one-file-system --count-matches \
                 --heading --json";
    let patterns =
        ["needle", "need.*dle", "pm", "hay", "first\\nsecond", "stack|k", "xyzzy", "e", "", "(?i:NEEDLE)"];
    for flag in flags.split_whitespace() {
        patterns.iter().for_each(|pattern| drop(tree.same(&[flag, "-e", pattern])));
        tree.same(&[flag, "--files"]);
    }
    tree.same(&["needle", "below", "one.c", "."]);
    assert_eq!(tree.same(&["-l", "needle", "below"]).0, "below/three.h\n");
}

#[test]
fn the_literals_of_pcre2_patterns_narrow_a_search() {
    let tree = Tree::indexed(&FILES);
    let (out, ..) = tree.same(&["-P", "-l", "need(?=less)le"]);
    assert_eq!(out, "below/three.h\n");
    let pattern = r"\bneedle(?!\n)(s|$)";
    tree.same(&["-P", "-l", pattern]);
    let (out, ..) = tree.grep(&["-P", "-l", "--stats", pattern]);
    assert!(out.starts_with("below/three.h\none.c\n"), "{out}");
    assert!(!tree.is_trusted() || out.contains("2 candidates by the index"), "{out}");
}

#[test]
fn symbols_are_listed_from_files_that_hold_the_name() {
    let tree = Tree::new(&FILES);
    tree.write("code.c", "int needle(void) { return hay(); }\nint hay(void) { return 0; }\n");
    tree.write("below/code.h", "struct needle { int a; };\n");
    tree.build();
    let symbols = |arguments: &[&str]| {
        let with = run(tree.comb(&["symbols"]).args(arguments));
        assert_eq!(with, run(tree.comb(&["symbols", "--index=never"]).args(arguments)), "{arguments:?}");
        with.0
    };
    let places = |out: &str| {
        out.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(places(&symbols(&["-d", "needle"])), ["below/code.h:1:8", "code.c:1:5"]);
    assert_eq!(places(&symbols(&["-r", "hay"])), ["code.c:1:27", "one.c:2:1", "two.c:1:1"]);
    assert_eq!(places(&symbols(&["-d", "n.*", "below"])), ["below/code.h:1:8"]);
    assert_eq!(symbols(&["-d", "nowhere"]), "");
    symbols(&[]);
    symbols(&["--stats", "-d", "hay"]);
    tree.write("new.c", "int needle;\n");
    tree.write("below/code.h", "int other;\n");
    assert_eq!(places(&symbols(&["-d", "needle"])), ["code.c:1:5", "new.c:1:5"]);
    let (_, err, code) = run(&mut tree.comb(&["symbols", "-d", "needle", "--index-update"]));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    if tree.is_trusted() {
        assert_eq!(tree.statistic("needle", " files not in the index"), Some(0));
    }
    let parsed = || tree.info()["texts_parsed"].take();
    assert_eq!(parsed(), 0);
    assert_eq!(run(&mut tree.comb(&["symbols", "--index-update", "--stats"])).2, Some(0));
    assert_eq!(parsed(), 6);
    tree.write("moved.c", "int needle(void) { return hay(); }\nint hay(void) { return 0; }\n");
    tree.write("new.c", "int other;\n");
    for arguments in
        [&["--json"][..], &["--outline"], &["--kind", "function"], &["--lang", "c"], &["--stats"], &["below"]]
    {
        symbols(arguments);
    }
    assert_eq!(tree.index("verify").2, Some(0));
    tree.index("drop");
    let (out, err, code) = run(&mut tree.comb(&["symbols", "-d", "needle", "--index=require"]));
    assert!(places(&out).len() == 2 && err.contains("comb index build") && code == Some(2), "{err}");
}

#[test]
fn a_match_across_lines_is_found_where_a_file_is_divided() {
    // 64 KiB from the beginning, and the rest of the line.
    let before = "x".repeat(1023) + "\n";
    let tree = Tree::indexed(&[("long", &format!("{}ab\ncd\n{}", before.repeat(64), before.repeat(99)))]);
    assert_eq!(tree.same(&["-cU", r"ab\ncd"]).0, "long:1\n");
    assert_eq!(tree.same(&["-cU", r"b\nc"]).0, "long:1\n");
    assert_eq!(tree.same(&["-cU", r"ab\n.*\nx{9}"]).0, "long:1\n");
    assert_eq!(tree.same(&["-cU", r"ab\nce"]).0, "");
}

/// A text of about 64 KiB, of lines that are not all equal.
fn filler() -> String {
    (0..4096).map(|number| format!("hay {number:011}\n")).collect()
}

#[test]
fn of_a_large_file_only_the_parts_that_may_match_are_read() {
    let filler = filler();
    let text = [&filler, "a needle and needles\n", &filler, &filler, &filler, "no needle", &filler, &filler]
        .concat();
    let tree =
        Tree::indexed(&[("large", &text), ("small", "a needle\n"), ("end", &(filler.repeat(3) + "needle"))]);
    let forms = "-n|-c|-l|--files-without-match|-nob|--json|--vimgrep|-nm1|-nC2|-nv -m3|--passthru|-na|--binary -n|\
                 --count-matches|--null-data -o|--crlf -n|-nr pin";
    for form in forms.split('|') {
        for threads in ["-j1", "-j3"] {
            tree.same(&form.split(' ').chain([threads, "-e", "needle"]).collect::<Vec<_>>());
        }
    }
    let (out, ..) = tree.same(&["-n", "needle"]);
    let found: Vec<&str> = out.lines().filter_map(|line| line.split("hay").next()).collect();
    assert_eq!(
        found,
        ["end:12289:needle", "large:4097:a needle and needles", "large:16386:no needle", "small:1:a needle"]
    );
    let (_, profile, _) = tree.grep(&["--profile=json", "needle"]);
    let profile: Value = serde_json::from_str(&profile).expect("JSON");
    let read = profile["sum"]["bytes"].as_u64().expect("a number");
    assert!(!tree.is_trusted() || read < 4 * 70_000, "{read} bytes");
    assert_eq!(
        tree.statistic("needle", " bytes searched"),
        Some((text.len() + 9 + 3 * filler.len() + 6) as u64)
    );
}

#[test]
fn a_damaged_index_means_a_scan() {
    let tree = Tree::indexed(&FILES);
    let expected = tree.grep(&["--index=never", "needle"]);
    for path in tree.files() {
        let bytes = fs::read(&path).expect("success");
        let changed = |at: usize| [&bytes[..at], &[bytes[at] ^ 0x41], &bytes[at + 1..]].concat();
        let mut changes: Vec<_> = (0..bytes.len()).step_by(bytes.len() / 40 + 1).map(changed).collect();
        changes.extend([Vec::new(), bytes[..bytes.len() / 2].to_vec(), [&bytes[..], b"x"].concat()]);
        for changed in changes {
            fs::write(&path, changed).expect("success");
            assert_eq!(tree.grep(&["needle"]), expected);
        }
        fs::remove_file(&path).expect("success");
        assert_eq!(tree.grep(&["needle"]), expected);
        fs::write(&path, bytes).expect("success");
    }
    let catalog = tree.files().pop().expect("success");
    fs::write(&catalog, "x".repeat(100)).expect("success");
    let message = format!("comb: {}: damaged end of the file; build the index again\n", catalog.display());
    let (out, err, code) = tree.grep(&["--index=require", "needle"]);
    assert_eq!((out, err.as_str(), code), (expected.0, message.as_str(), Some(2)));
    assert!(tree.grep(&["--stats", "needle"]).0.ends_with(&message.replace("comb: ", "index not used: ")));
    tree.build();
    assert_eq!(tree.grep(&["--index=require", "needle"]).2, Some(0));
}

#[test]
fn an_index_is_described_listed_verified_and_dropped() {
    let tree = Tree::indexed(&FILES);
    let root = tree.root().canonicalize().expect("success");
    let index = |arguments: &[&str]| run(tree.comb(&["index"]).args(arguments));
    let (info, ..) = index(&["info", "."]);
    assert!(info.contains(&format!("root                         {}\n", root.display())), "{info}");
    assert!(info.contains("files                        4\n"), "{info}");
    assert_eq!(tree.info()["directories"], 2);
    let (list, ..) = index(&["list"]);
    assert!(list.ends_with(&format!("  {}\n", root.display())), "{list}");
    let verified = format!("comb: {}: checksums match\n", root.display());
    assert_eq!(tree.index("verify"), answer("", &verified, 0));
    // Only its owner may read it.
    let folder = tree.files()[0].parent().expect("a folder").metadata().expect("success");
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    assert_eq!(tree.index("drop"), answer("", "", 0));
    let missing = format!("comb: {0}: no index; build one with 'comb index build {0}'\n", root.display());
    for action in ["info", "verify", "drop"] {
        assert_eq!(tree.index(action), answer("", &missing, 2), "{action}");
    }
    let (_, err, code) = tree.grep(&["--index=require", "needle"]);
    assert_eq!((err.replace("/.'", "'"), code), (missing, Some(2)));
    assert_eq!(index(&["list"]), answer("", "", 0));
}

#[test]
fn the_nearest_index_is_used_and_that_of_a_removed_tree_can_be_dropped() {
    let tree = Tree::indexed(&FILES);
    assert_eq!(run(&mut tree.comb(&["index", "build", "below"])).2, Some(0));
    if tree.is_trusted() {
        let (out, ..) = tree.grep(&["--stats", "needle", "below"]);
        assert!(out.contains("\n1 files checked against the index\n"), "{out}");
    }
    let below = tree.root().join("below").canonicalize().expect("success");
    fs::remove_dir_all(&below).expect("success");
    assert_eq!(tree.same(&["-l", "needle"]).0, "one.c\n");
    assert_eq!(run(tree.comb(&["index", "drop"]).arg(&below)).2, Some(0));
    assert_eq!(run(tree.comb(&["index", "list"]).arg("--json")).0.lines().count(), 1);
}

#[test]
fn the_variable_has_the_words_of_the_flag() {
    let tree = Tree::new(&FILES);
    let with = |value: &str| run(tree.comb(&["grep", "-q", "needle"]).env("COMB_INDEX", value));
    assert_eq!(with("never"), answer("", "", 0));
    assert!(with("require").1.contains("no index"));
    assert_eq!(with("maybe").1, "comb: COMB_INDEX=maybe: expected auto, never or require\n");
    let (_, err, _) = run(tree.comb(&["grep", "-q", "needle", "--index=never"]).env("COMB_INDEX", "require"));
    assert_eq!(err, "");
}

#[test]
fn an_index_that_cannot_be_written_is_an_error_and_leaves_the_one_before() {
    // The index of files that are not trusted is small.
    let Some(tree) = Tree::trusted(&FILES) else { return };
    let expected = tree.same(&["needle"]);
    let build = |tree: &Tree, limit: &str| {
        let script = format!("ulimit -f {limit}; '{COMB}' index build .");
        run(program("bash", &tree.root()).arg("-c").arg(script).env("COMB_INDEX_DIR", tree.home()))
    };
    let many = (0..9999).map(|number| format!("{number} {}\n", number * 7919)).collect::<String>();
    tree.write("many", many);
    let (out, err, code) = build(&tree, "8");
    assert_eq!((out.as_str(), code), ("", Some(2)), "{err}");
    assert!(err.contains("File too large") || err.contains("file too large"), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert_eq!(tree.same(&["needle"]).0, expected.0);
    let home = tree.directory.at("file");
    fs::write(&home, "").expect("success");
    let (_, err, code) = run(tree.comb(&["index", "build", "."]).env("COMB_INDEX_DIR", &home));
    assert_eq!((err.lines().count(), code), (1, Some(2)), "{err}");
}

#[test]
fn two_builds_at_once_leave_one_index() {
    let tree = Tree::new(&FILES);
    let start = |_| tree.comb(&["index", "build", "."]).stderr(Stdio::null()).spawn().expect("success");
    let mut running: Vec<_> = (0..4).map(start).collect();
    let codes: Vec<_> = running.iter_mut().map(|build| build.wait().expect("success").code()).collect();
    assert!(
        codes.contains(&Some(0)) && codes.iter().all(|code| [Some(0), Some(2)].contains(code)),
        "{codes:?}"
    );
    assert_eq!(tree.index("verify").2, Some(0));
    // The catalog and, if it has documents, a segment.
    assert_eq!(tree.files().len(), if tree.is_trusted() { 2 } else { 1 });
}

#[test]
fn a_tree_that_cannot_be_listed_has_no_index() {
    let tree = Tree::new(&[]);
    let missing = tree.root().join("missing");
    let (_, err, code) = run(tree.comb(&["index", "info"]).arg(&missing));
    assert!(err.contains("missing") && code == Some(2), "{err}");
    tree.build();
    assert_eq!(tree.same(&["needle"]).2, Some(2));
}

/// A path that is longer than the system takes at once.
#[test]
fn long_paths_are_indexed() {
    let tree = Tree::new(&FILES);
    let script = format!(
        "for i in {{1..45}}; do mkdir {0}; cd {0}; done; echo needle > deep; echo hay > other",
        "d".repeat(240)
    );
    assert!(program("bash", &tree.root()).arg("-c").arg(script).status().expect("success").success());
    tree.build();
    let (out, ..) = tree.same(&["-c", "needle"]);
    assert!(out.lines().any(|line| line.len() > 10_000 && line.ends_with("/deep:1")));
    if tree.is_trusted() {
        assert_eq!(tree.statistic("xyzzy", " files read"), Some(0));
    }
}

/// The path of a test's own directory may be a link.
#[test]
fn a_tree_is_found_through_a_link_to_it() {
    let tree = Tree::indexed(&FILES);
    let link = tree.directory.at("link");
    std::os::unix::fs::symlink(tree.root(), &link).expect("success");
    let (out, ..) = tree.grep(&["--stats", "needle", link.to_str().expect("success")]);
    assert_eq!(out.contains("checked against the index"), !out.contains("index not used"), "{out}");
    assert!(Path::new(&link).join("one.c").exists() && out.contains(&format!("{}/one.c:", link.display())));
}

#[test]
fn an_update_reads_what_has_changed() {
    let tree = Tree::new(&FILES);
    // Otherwise the rest of the only segment is so small that it is read again.
    (0..6).for_each(|number| tree.write(&format!("more/{number}"), "hay\n"));
    let update = || tree.index("update").1;
    assert!(update().contains("no index; build one with"));
    tree.build();
    if !tree.is_trusted() {
        return;
    }
    assert!(update().contains(": 0 of 10 files read, nothing has changed; took "));
    tree.write("two.c", "needle\n");
    tree.write("below/new.c", "new\n");
    tree.remove("below/four.txt");
    assert_eq!(tree.statistic("needle", " files changed since it was built"), Some(1));
    assert!(update().contains(": 2 of 10 files read; took "));
    assert_eq!(tree.same(&["-l", "needle"]).0, "below/three.h\none.c\ntwo.c\n");
    assert_eq!(tree.statistic("needle", " files changed since it was built"), Some(0));
    assert_eq!(tree.statistic("needle", " files read"), Some(3));
    assert_eq!(tree.same(&["--files", "-g", "!more"]).0, "below/new.c\nbelow/three.h\none.c\ntwo.c\n");
}

#[test]
fn many_updates_leave_few_segments() {
    let Some(tree) = Tree::trusted(&FILES) else { return };
    for number in 0..40 {
        tree.write(&format!("new/{number}.c"), format!("word{number}\nneedle\n"));
        tree.write("below/three.h", format!("{number}\n"));
        let (_, err, code) = tree.index("update");
        assert_eq!(code, Some(0), "{err}");
        let segments = tree.files().iter().filter(|path| path.extension().is_some()).count();
        assert!(segments <= 4, "{segments}");
    }
    assert_eq!(tree.statistic("word39", " files read"), Some(1));
    assert_eq!(tree.same(&["-c", "needle"]).0.lines().count(), 41);
    assert_eq!(tree.same(&["word7"]).0, "new/7.c:word7\n");
}

#[test]
fn a_search_updates_an_index_if_it_is_asked_to() {
    let tree = Tree::indexed(&FILES);
    tree.write("two.c", "needle\n");
    assert_eq!(tree.grep(&["--index-update", "-l", "needle"]).0, "below/three.h\none.c\ntwo.c\n");
    if tree.is_trusted() {
        assert_eq!(tree.statistic("needle", " files changed since it was built"), Some(0));
    }
    let damaged = tree.files().pop().expect("a file of the index");
    fs::write(damaged, "damaged").expect("success");
    tree.grep(&["--index-update", "needle"]);
    let (_, err, code) = tree.grep(&["--index=require", "-q", "needle"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    tree.index("drop");
    assert_eq!(tree.grep(&["--index-update", "-l", "needle"]).2, Some(0));
    assert!(fs::read_dir(tree.home()).expect("success").next().is_none());
}

/// A process that watches a tree, until it is dropped.
pub(crate) struct Watch(std::process::Child);

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Tree {
    fn start_watch(&self) -> Watch {
        let mut command = self.comb(&["index", "watch", "."]);
        let messages = fs::File::create(self.messages()).expect("a file");
        Watch(command.stderr(messages).spawn().expect("success"))
    }

    /// Starts a watch, and waits until everything is proven.
    pub(crate) fn watch(&self) -> Watch {
        let watch = self.start_watch();
        self.await_watch(|state| state["compared"] == 0);
        watch
    }

    /// File with the messages of the watch.
    fn messages(&self) -> PathBuf {
        self.directory.at("messages")
    }

    /// The state of the watch.
    fn state(&self) -> Value {
        self.info()["watch"].take()
    }

    fn await_watch(&self, is_reached: impl Fn(&Value) -> bool) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let state = self.state();
            if state.is_object() && is_reached(&state) {
                return;
            }
            assert!(std::time::Instant::now() < end, "{state}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

#[test]
fn a_watch_answers_with_all_that_happened_before() {
    let Some(tree) = Tree::trusted(&FILES) else { return };
    let _watch = tree.watch();
    let same = |out: &str| assert_eq!(tree.same(&["-l", "needle"]).0, out);
    for round in 0..20 {
        tree.write("two.c", "needle\n");
        same("below/three.h\none.c\ntwo.c\n");
        tree.write("two.c", "hay\n");
        same("below/three.h\none.c\n");
        tree.write("below/new.c", "needle\n");
        same("below/new.c\nbelow/three.h\none.c\n");
        tree.rename("below", "c");
        same("c/new.c\nc/three.h\none.c\n");
        tree.rename("c", "below");
        tree.remove("below/new.c");
        tree.write(".ignore", "*.h\n");
        same("one.c\n");
        tree.remove(".ignore");
        if round % 10 == 0 {
            tree.await_watch(|state| state["compared"] == 0);
        }
    }
    assert_eq!(tree.grep(&["--files-without-match", "needle"]).0, "below/four.txt\ntwo.c\n");
    assert_eq!(tree.grep(&["no such"]), answer("below/four.txt:no such word\n", "", 0));
    assert_eq!(tree.same(&["nothing to be found"]), answer("", "", 1));
    let (_, err, code) = tree.same(&["-g", "*.none", "needle"]);
    assert!(err.contains("no files were searched") && code == Some(2), "{err}");
    assert!(tree.state()["answers"].as_u64() >= Some(100));
    let messages = fs::read_to_string(tree.messages()).expect("the messages");
    let lines: Vec<&str> = messages.lines().collect();
    assert!(
        lines[0].ends_with(": comparing all files with the index; until then, searches do so themselves"),
        "{messages}"
    );
    assert!(lines[1].contains(": ready after ") && lines[1].contains(", watching "), "{messages}");
}

#[test]
fn a_watch_makes_proofs_while_it_is_asked_all_the_time() {
    let Some(tree) = Tree::trusted(&FILES) else { return };
    let _watch = tree.start_watch();
    // A search that reads no file: its proof would end.
    tree.await_watch(|state| {
        (0..5).for_each(|_| assert_eq!(tree.grep(&["nothing to be found"]).2, Some(1)));
        state["compared"] == 0 && state["answers"].as_u64() >= Some(5)
    });
}

#[test]
#[allow(unsafe_code, reason = "a map of a file has no safe interface")]
fn a_watch_knows_of_links_from_outside_and_of_maps() {
    use std::os::fd::AsRawFd;

    let Some(tree) = Tree::trusted(&FILES) else { return };
    let _watch = tree.watch();
    let outside = tree.directory.at("outside");
    fs::hard_link(tree.root().join("two.c"), &outside).expect("success");
    tree.await_watch(|state| state["compared"] == 0);
    fs::write(&outside, "needle\n").expect("success");
    assert_eq!(tree.same(&["-l", "needle"]).0, "below/three.h\none.c\ntwo.c\n");
    fs::write(&outside, "hay hay\n").expect("success");
    tree.await_watch(|state| state["compared"] == 0);
    // A store to a map raises no event.
    let file = File::options().read(true).write(true).open(&outside).expect("success");
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
    // SAFETY: a new map of 8 bytes of a file that has as many.
    let map = unsafe { libc::mmap(std::ptr::null_mut(), 8, protection, flags, file.as_raw_fd(), 0) };
    assert_ne!(map, libc::MAP_FAILED);
    drop(file);
    for (text, found) in [(b"needle \n", true), (b"nothing\n", false), (b"needles\n", true)] {
        // SAFETY: the map has 8 bytes, and no reference to them exists.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), map.cast(), text.len()) };
        assert_eq!(tree.same(&["-l", "needle"]).0.contains("two.c"), found);
    }
    // SAFETY: it was mapped above.
    assert_eq!(unsafe { libc::munmap(map, 8) }, 0);
}

#[test]
fn a_watch_leaves_out_what_only_rules_could_change() {
    let Some(tree) = Tree::trusted(&RULES) else { return };
    let _watch = tree.watch();
    change_rules(&tree);
    assert!(tree.state()["answers"].as_u64() >= Some(9));
    tree.await_watch(|state| state["updates"].as_u64() >= Some(1) && state["compared"] == 0);
    assert!(tree.same(&["-l", "no such word"]).1.contains("a/b/.ignore"));
    tree.write("a/b/.ignore", "two.c\n");
    assert_eq!(tree.same(&["-l", "needle"]).0, "build/out.c\n");
}

#[test]
fn a_watch_updates_the_index_and_ends_with_it() {
    let Some(tree) = Tree::trusted(&FILES) else { return };
    let mut watch = tree.watch();
    let (_, err, code) = tree.index("watch");
    assert!(err.contains("another process is watching this tree") && code == Some(2), "{err}");
    tree.write("new/five.c", "needle\n");
    tree.await_watch(|state| state["updates"].as_u64() >= Some(1) && state["compared"] == 0);
    assert_eq!(tree.statistic("needle", " files not in the index"), Some(0));
    assert_eq!(tree.same(&["-l", "needle"]).0, "below/three.h\nnew/five.c\none.c\n");
    tree.index("drop");
    tree.write("two.c", "needle\n");
    assert_eq!(watch.0.wait().expect("success").code(), Some(0));
    assert_eq!(tree.grep(&["-l", "needle"]).0, "below/three.h\nnew/five.c\none.c\ntwo.c\n");
}

#[test]
fn a_watch_needs_linux() {
    let tree = Tree::indexed(&FILES);
    if finecomb_sys::IS_LINUX {
        return;
    }
    let (out, err, code) = tree.index("watch");
    assert!(err.contains("a watch needs Linux") && err.lines().count() == 1, "{err}");
    assert_eq!((out.as_str(), code), ("", Some(2)));
    let (_, err, _) = tree.index("build");
    assert!(err.contains("use an index only on Linux"), "{err}");
}
