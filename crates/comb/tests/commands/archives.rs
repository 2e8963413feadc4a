//! Tests of `--archives`: the members of archives are searched like files.

use tempfile::TempDir;

use crate::support::{Place, directory_with};

/// A directory with the archives `a.tar`, `a.tar.gz` and `a.zip` of the same files.
fn archives() -> TempDir {
    let files = [("d/a.rs", "fn main\nx\n"), ("d/b.c", "main x"), ("d/.hidden", "main\n"), ("d/empty", "")];
    let directory = directory_with(&files);
    let script = r#"tar --format=gnu --sort=name -cf a.tar d; gzip -k a.tar
        python3 -c 'import zipfile as z; a = z.ZipFile("a.zip", "w", z.ZIP_DEFLATED); [a.write("d/" + f) for f in ["a.rs", "b.c", ".hidden", "empty"]]'
        rm -r d"#;
    directory.prints(script, "");
    directory
}

#[test]
fn members_are_searched_like_files() {
    let directory = archives();
    for archive in ["a.tar", "a.tar.gz", "a.zip"] {
        let run = |flags: &str, out: &str| {
            let out = out.replace("A!", &format!("{archive}!"));
            directory.prints(&format!("comb grep --archives {flags} {archive}"), &out);
        };
        run("-n main", "A!d/a.rs:1:fn main\nA!d/b.c:1:main x\n");
        run("-t rust main", "A!d/a.rs:fn main\n");
        run("-g '!*.rs' main", "A!d/b.c:main x\n");
        run("-G 'zip!|tar!|gz!' -c main", "A!d/a.rs:1\nA!d/b.c:1\n");
        run("--files", "A!d/a.rs\nA!d/b.c\nA!d/empty\n");
        run("-IU 'main\nx'", "fn main\nx\n");
        let json = format!("comb grep --json --archives main {archive} | head -n 1");
        let first =
            format!("{{\"type\":\"begin\",\"data\":{{\"path\":{{\"text\":\"{archive}!d/a.rs\"}}}}}}\n");
        directory.prints(&json, &first);
        let top = format!("comb top -f 1 --glob '*.c' --archives {archive}");
        directory.prints(&top, "1 main\n");
        let symbols = format!("comb symbols --archives --outline {archive}");
        let note = format!("comb: {archive}!d/a.rs:1: syntax error; definitions may be missing\n");
        directory.answers(&symbols, &format!("{archive}!d/b.c\n1 variable x\n"), &note, 0);
    }
    directory.prints(
        "comb grep -c --archives -t rust main .",
        "./a.tar!d/a.rs:1\n./a.tar.gz!d/a.rs:1\n./a.zip!d/a.rs:1\n",
    );
    directory.prints("comb grep -l --archives --sortr path main . | head -n 1", "./a.zip!d/a.rs\n");
}

#[test]
fn a_tar_is_read_from_a_pipe_and_a_zip_is_not() {
    let directory = archives();
    for archive in ["a.tar", "a.tar.gz"] {
        let script = format!("cat {archive} | comb grep -c --archives main -");
        directory.prints(&script, "<stdin>!d/a.rs:1\n<stdin>!d/b.c:1\n");
    }
    directory.prints("comb grep -c --archives -t c main - < a.zip", "<stdin>!d/b.c:1\n");
    let reason = "a zip archive cannot be read from a pipe, as its directory is at its end; skipped";
    let message = format!("comb: standard input: {reason}\n");
    directory.answers("cat a.zip | comb grep --archives main -", "", &message, 2);
    directory.prints("echo main | comb grep --archives main -", "<stdin>:main\n");
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_is_searched() {
    let directory = archives();
    let encrypt = r#"python3 -c 'b = bytearray(open("a.zip", "rb").read()); i = b.find(b"PK\1\2"); b[i + 8] |= 1; i = b.find(b"PK\1\2", i + 1); b[i + 8] |= 1; open("b.zip", "wb").write(b)'"#;
    directory.answers(
        &format!("{encrypt}; comb grep --archives --hidden main b.zip"),
        "b.zip!d/.hidden:main\n",
        "comb: b.zip!d/a.rs: encrypted; skipped (and 1 more such member)\n",
        2,
    );
    let script = "head -c 3075 a.tar > b.tar; comb grep --archives -c main b.tar";
    let message = "comb: b.tar!d/b.c: cannot decode: tar: archive truncated; the data before that was read\n";
    directory.answers(script, "b.tar!d/a.rs:1\n", message, 2);
    let script = "head -c 100 a.zip > c.zip; comb grep --archives -c main c.zip";
    let message = "comb: c.zip: cannot decode: zip: no directory at the end; the archive is damaged or truncated; the data before that was read\n";
    directory.answers(script, "", message, 2);
    let damage = r#"python3 -c 'b = bytearray(open("a.zip", "rb").read()); i = b.rfind(b"PK\1\2"); b[i:i + 4] = b"XXXX"; open("d.zip", "wb").write(b)'"#;
    let script = format!("{damage}; comb grep --archives -c main d.zip");
    let message = "comb: d.zip: cannot decode: zip: damaged directory after 3 members: Invalid signature: expected 0x02014b50, got 0x58585858; the data before that was read\n";
    directory.answers(&script, "d.zip!d/a.rs:1\nd.zip!d/b.c:1\n", message, 2);
}

#[test]
fn an_archive_has_one_problem_at_any_width() {
    let directory = archives();
    // The second member claims to be larger than the archive, and the directory after it is damaged.
    let damage = r#"python3 -c '
b = bytearray(open("a.zip", "rb").read())
second = b.find(b"PK\1\2", b.find(b"PK\1\2") + 4)
b[second + 20:second + 24] = b"\xff\xff\xff\x7f"
last = b.rfind(b"PK\1\2")
b[last:last + 4] = b"XXXX"
open("d.zip", "wb").write(b)'"#;
    let script = format!(
        "{damage}; for width in 1 2 3 8 64 1 2 3 8 64; do comb top --archives -n 0 -j $width d.zip 2>&1 || true; done | sort -u"
    );
    let message = "comb: d.zip: cannot decode: zip: members overlap, possibly a zip bomb; the data before that was read\n";
    directory.prints(&script, message);
}

#[test]
fn names_are_shown_as_they_are_and_nothing_is_written() {
    let directory = directory_with(&[("w/d/a", "x\n")]);
    let script = "cd w/d; tar -P --transform 's,^a,../../up,' -cf ../../t.tar a; tar -P --transform 's,^a,/abs,' -rf ../../t.tar a; cd ../..; \
                  comb grep --archives x t.tar; ls";
    directory.prints(script, "t.tar!../../up:x\nt.tar!/abs:x\nt.tar\nw\n");
}

#[test]
fn archives_within_archives_and_links_are_not_opened() {
    let directory = archives();
    let script = "ln -s a.zip link; tar -cf outer.tar a.zip link; comb grep --archives --files outer.tar; comb grep --archives -c main outer.tar";
    directory.answers(script, "outer.tar!a.zip\n", "", 1);
}

#[test]
fn compressed_members_are_decompressed_with_z() {
    let directory = directory_with(&[("a", "x\n")]);
    let script =
        "gzip a; tar -cf t.tar a.gz; comb grep --archives -c x t.tar; comb grep --archives -zc x t.tar";
    directory.prints(script, "t.tar!a.gz:1\n");
}

#[test]
fn a_bomb_is_read_in_little_memory() {
    let directory = directory_with(&[]);
    let make = "head -c 256M /dev/zero > zeros; tar -czf z.tar.gz zeros; python3 -m zipfile -c z.zip zeros; rm zeros";
    directory.prints(make, "");
    for flags in ["-c x", "-ac x", "-aU -c x"] {
        let script = format!(
            "ulimit -v 500000; comb grep --archives -j 2 {flags} z.zip z.tar.gz 2>/dev/null; test $? -lt 3"
        );
        directory.prints(&script, "");
    }
}

#[test]
fn an_index_omits_no_archive() {
    let directory = archives();
    let script = "export COMB_INDEX_DIR=$PWD/.index; comb index build . -q 2>/dev/null; comb grep --archives -c main . > one; \
                  comb grep --index=never --archives -c main . > other; cmp one other; wc -l < one";
    directory.prints(script, "6\n");
}
