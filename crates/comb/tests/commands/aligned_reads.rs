//! Large reads of all commands go to addresses at which the kernel copies fast: strace shows them.
//!
//! See `sys::ReadBuffer` for what is slow. A path that reads into other memory fails here, as the C library places large
//! allocations 16 bytes past the beginning of a page.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{COMB, Place, answer, directory_with, run, shell};

/// Size of a page, in bytes.
const PAGE: u64 = 4096;

/// Alignment that is enough where a page makes no sense, in bytes.
const LINE: u64 = 64;

/// Size from which on a read counts, in bytes: the libraries and `/proc` are read in smaller pieces.
const LARGE: u64 = 16 << 10;

/// Scripts by the path that they read on.
const SCRIPTS: [(&str, &str); 24] = [
    ("chunks", "$comb grep -j2 -c 7 big"),
    ("chunks merged", "$comb top -j2 -f 1 big"),
    ("chunks behind a byte order mark", "$comb top -f 1 marked"),
    ("keys that are read again", "$comb top -j1 twice"),
    ("tables that were written to files", "$comb top -j1 --memory 32M big"),
    (
        "follow",
        "(sleep 0.5; cat big >> grows) & timeout -s INT 1 $comb top --tail -f 1 grows || test $? = 124",
    ),
    ("small files", "$comb grep -c 7 tree"),
    ("small files merged", "$comb top -f 1 tree"),
    ("whole files", "$comb grep -c -U '7\\n1' big"),
    ("pipe", "cat big | $comb grep -c 7"),
    ("pipe merged", "cat big | $comb top -f 1"),
    ("standard input", "$comb top -f 1 < big"),
    ("preprocessor", "$comb grep --pre cat -c 7 big"),
    ("gzip", "$comb grep -c 7 big.gz"),
    ("members", "$comb top -f 1 several.gz"),
    ("bzip2", "$comb top -f 1 big.bz2"),
    ("xz", "$comb top -f 1 big.xz"),
    ("other encoding", "$comb grep -c 7 utf16"),
    ("tar", "$comb grep -c --archives 7 tree.tar"),
    ("tar in a pipe", "cat tree.tar | $comb grep -c --archives 7 -"),
    ("zip", "$comb grep -c --archives 7 stored.zip packed.zip"),
    ("symbols", "$comb symbols source.c"),
    ("index of a directory", "$comb index build tree && $comb grep -c 7 tree"),
    ("index of a text", "$comb index build big -o big.comb"),
];

/// A directory with everything that the scripts read.
fn inputs() -> TempDir {
    let lines = |count: usize| (0..count).map(|at| format!("{} {at}\n", at % 97)).collect::<String>();
    let source: String =
        (0..2000).map(|at| format!("int function_{at}(int argument) {{ return {at}; }}\n")).collect();
    let small = lines(4_000);
    let files = [("tree/a", &*small), ("tree/b", &small), ("big", &lines(400_000)), ("source.c", &source)];
    let directory = directory_with(&files);
    let made = directory.run(
        r#"set -e
        { printf '\357\273\277'; cat big; } > marked
        seq 200000 299999 > once; cp once grows; cat once once > twice
        gzip -k big; cat big.gz big.gz > several.gz; bzip2 -k big; xz -k big
        python3 - <<'EOF'
import zipfile
text = open("big").read()
open("utf16", "w", encoding="utf-16").write(text)
for name, method in [("stored.zip", zipfile.ZIP_STORED), ("packed.zip", zipfile.ZIP_DEFLATED)]:
    zipfile.ZipFile(name, "w", method).writestr("member", text)
EOF
        tar -cf tree.tar tree"#,
    );
    assert_eq!(made, answer("", "", 0));
    directory
}

/// Number in hexadecimal or decimal notation.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
}

/// A large read, as strace prints it.
struct Read {
    file: u64,
    address: u64,
    got: u64,
    /// Only of a read at an offset.
    offset: Option<u64>,
}

impl Read {
    fn parse(line: &str) -> Option<Self> {
        let (call, result) = line.rsplit_once(" = ")?;
        let arguments = call.split_once('(')?.1.trim_end().trim_end_matches(')');
        let numbers: Vec<u64> = arguments.split(',').map(number).collect::<Option<_>>()?;
        let (&[file, address, _], offset) = numbers.split_first_chunk::<3>()?;
        Some(Self { file, address, got: number(result.split(' ').next()?)?, offset: offset.first().copied() })
    }

    /// Whether it goes to where the kernel copies fast, or continues the read before.
    fn is_aligned(&self, before: Option<&Self>) -> bool {
        let continues = before
            .is_some_and(|before| before.file == self.file && before.address + before.got == self.address);
        let is_congruent = self.offset.is_some_and(|offset| self.address % PAGE == offset % PAGE);
        is_congruent || self.address.is_multiple_of(LINE) || continues
    }
}

/// The large reads of a thread that are not aligned, and the number of all large reads.
fn check(trace: &Path) -> (Vec<String>, usize) {
    let text = fs::read_to_string(trace).expect("a trace");
    let (mut wrong, mut large, mut before) = (Vec::new(), 0, None);
    for line in text.lines() {
        let Some(read) = Read::parse(line) else { continue };
        if read.got >= LARGE {
            large += 1;
            if !read.is_aligned(before.as_ref()) {
                wrong.push(line.to_owned());
            }
        }
        before = Some(read);
    }
    (wrong, large)
}

#[test]
fn large_reads_are_aligned_on_every_path() {
    let directory = inputs();
    let mut faults = Vec::new();
    for (path, script) in SCRIPTS {
        let traces = directory.at("traces");
        fs::create_dir(&traces).expect("a folder");
        let traced = format!("strace -ff -o traces/of -e trace=read,pread64 -e raw=read,pread64 '{COMB}'");
        let mut command = shell(&directory, &script.replace("$comb", &traced));
        // The folder of indexes.
        command.env("XDG_CACHE_HOME", directory.path());
        let (_, err, code) = run(&mut command);
        assert_eq!(code, Some(0), "{path}: {script}: {err}");
        let mut large = 0;
        for entry in fs::read_dir(&traces).expect("traces") {
            let (wrong, some) = check(&entry.expect("a trace").path());
            large += some;
            faults.extend(wrong.into_iter().map(|line| format!("{path}: {line}")));
        }
        if large == 0 {
            faults.push(format!("{path}: no large read"));
        }
        fs::remove_dir_all(&traces).expect("a folder");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn reads_are_parsed() {
    let read = Read::parse("pread64(0x3, 0x7f0010, 0x20000, 0x1000) = 0x20000").expect("a read");
    assert_eq!((read.file, read.address, read.got, read.offset), (3, 0x7f_0010, 0x2_0000, Some(0x1000)));
    assert!(!read.is_aligned(None));
    let next = Read::parse("read(0x3, 0x810010, 0x20000) = 65536").expect("a read");
    assert!(next.got == 65536 && next.is_aligned(Some(&read)) && !next.is_aligned(None));
    assert!(Read::parse("+++ exited with 0 +++").is_none());
}
