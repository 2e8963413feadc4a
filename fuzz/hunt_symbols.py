#!/usr/bin/env python3
"""Hunts for faults of `comb symbols` in pieces of real source text, cut and mixed at random.

    fuzz/hunt_symbols.py [--comb PROGRAM] [--runs N] [--per-run N] [--seed N] [--only N] [--updates] DIRECTORY...

Each run writes some hundred files and checks: the exit status of every format, the same bytes at -j1 and -j7, every name at its line and
column, every extent within its file. For unchanged files, the quick list must equal the thorough one. For changed files, which
have syntax errors, and for C, C++ and Objective-C, which lack a preprocessor, the number of differences is printed. The files of a run with faults are
kept in a directory that is named.

With an index, in which an earlier run has left what it parsed, the list must be the same, and so must be lists for names, also when some files
have changed.

For some names of each run, the list of -d must be the part of the full list that has the name, types and functions first, the qualified name must
find it, and the list of -r must be the same at -j1 and -j7,
have the name at each place, and none of its definitions. With --updates, files are changed, added and deleted, and the tags file that --append
updates must be the one that is made anew; each round waits until the files are old enough.
"""

import argparse
import base64
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

TOKENS = [
    b"{", b"}", b"(", b")", b"[", b"]", b'"', b"'", b"`", b'"""', b"/*", b"*/", b"//", b"\n", b"\\\n", b"\\", b"#", b";", b"=", b",", b":", b"<", b">",
    b"#if 0\n", b"#else\n", b"#endif\n", b"#define X", b"struct ", b"DEFINE_X(y)", b"\0", b"\xff", b'R"(', b'r#"', b'"#', b'extern "C" {', b"fn ",
    b"new X() {", b"class ", b"enum ", b"func ", b"type ", b"interface {", b"impl ", b"const ", b"static ", b"!", b"#[", b"@A(", b"record A(", b"use ", b"import ",
    b"MACRO ", b"MACRO(x) ", b"template <", b"requires ", b"[[", b"]]", b"::", b"operator", b"~", b"using ", b"namespace ", b"module ", b"= delete", b"&&", b"TEST(a, b) {",
    b"mod ", b"union ", b"macro_rules! ", b"pub(", b"trait ", b"case ", b"=> ", b"-> ", b"\xef\xbb\xbf", b"\r\n", b"\xc3\xa9",
]
VALUES = {"constant", "enumerator", "field", "property", "variable"}
FORMATS = ["text", "ctags", "etags", "json"]
LONGEST = 60_000


def sources(directories: list[str], extensions: set[str], rng: random.Random) -> list[tuple[bytes, str]]:
    by_extension = defaultdict(list)
    for directory in directories:
        for path in sorted(Path(directory).rglob("*")):
            # Programs below `testdata` have syntax errors on purpose.
            if "testdata" not in path.parts and path.suffix[1:] in extensions and path.is_file() and path.stat().st_size < LONGEST:
                by_extension[path.suffix[1:]].append(path)
    chosen = []
    for extension, paths in sorted(by_extension.items()):
        chosen += [(path.read_bytes(), extension) for path in rng.sample(paths, min(len(paths), 300))]
    return chosen


def changed(rng: random.Random, text: bytes) -> bytes:
    text = bytearray(text)
    if rng.random() < 0.6:
        start = rng.randrange(len(text) + 1)
        text = text[start : start + rng.randrange(6000)]
    for _ in range(rng.randrange(8)):
        at = rng.randrange(len(text) + 1)
        chance = rng.random()
        if chance < 0.5:
            text[at:at] = rng.choice(TOKENS)
        elif chance < 0.8:
            del text[at : at + rng.randrange(40)]
        else:
            text[at:at] = text[max(0, at - 100) : at]
    return bytes(text)


class Run:
    def __init__(self, comb: str, directory: Path):
        self.comb, self.directory, self.faults = comb, directory, []

    def comb_symbols(self, *flags: str) -> subprocess.CompletedProcess:
        done = subprocess.run([self.comb, "symbols", *flags, "."], cwd=self.directory, capture_output=True, check=False)
        if done.returncode not in (0, 1, 2) or b"panicked" in done.stderr:
            self.faults.append(f"{' '.join(flags)}: exit status {done.returncode}: {done.stderr[-300:]!r}")
        return done

    def check(self, rng: random.Random) -> tuple[int, int]:
        """Number of definitions, and of files whose lists may differ and do."""
        quick, wide = self.comb_symbols("-j1", "--format", "json"), self.comb_symbols("-j7", "--format", "json")
        if quick.stdout != wide.stdout:
            self.faults.append("other bytes at -j1 than at -j7")
        for name in FORMATS:
            self.comb_symbols("--format", name)
        self.comb_symbols("--outline")
        thorough = self.comb_symbols("--thorough", "--format", "json")
        by_file = [self.places(output.stdout) for output in (quick, thorough)]
        differences = 0
        for name in sorted(by_file[0].keys() | by_file[1].keys()):
            same = by_file[0].get(name) == by_file[1].get(name)
            must_be = name.startswith("whole") and Path(name).suffix not in (".c", ".h", ".cc", ".cpp", ".m", ".mm")
            if not same and must_be:
                self.faults.append(f"{name}: the quick list is not the thorough one")
            differences += not same and not must_be
        self.check_names(rng, quick.stdout)
        self.check_index(rng, quick)
        return sum(len(found) for found in by_file[0].values()), differences

    def check_names(self, rng: random.Random, full: bytes) -> None:
        """Compares the lists of some names with the full list."""
        by_name = defaultdict(list)
        # Only what may define a name is parsed for it: an error elsewhere in the file is not seen.
        lines = lambda out: out.replace(b',"has_errors":true', b"").splitlines()
        for line in lines(full):
            one = json.loads(line)
            if "name_base64" not in one:
                by_name[one["name"]].append(line)
        for name in rng.sample(sorted(by_name), min(12, len(by_name))):
            pattern = f"^{re.sub(r'([^A-Za-z0-9_])', self.escaped, name)}$"
            expected = sorted(by_name[name], key=lambda line: json.loads(line)["kind"] in VALUES)
            if lines(self.comb_symbols("-d", pattern, "--json").stdout) != expected:
                self.faults.append(f"-d {pattern!r} is not the part of the full list")
            scope = json.loads(expected[0])["scope"]
            if re.fullmatch(r"\w+", name) and re.fullmatch(r"\w+((::|\.)\w+)*", scope or "A"):
                qualified = f"{scope}.{name}" if scope else name
                found = lines(self.comb_symbols("-d", qualified, "--json").stdout)
                if not set(found) >= {line for line in expected if json.loads(line)["scope"] == scope}:
                    self.faults.append(f"-d {qualified!r} does not find its definition")
            uses = [self.comb_symbols("-r", pattern, "--json", threads).stdout for threads in ("-j1", "-j7")]
            if uses[0] != uses[1]:
                self.faults.append(f"-r {pattern!r}: other bytes at -j1 than at -j7")
            self.places(uses[0])
            place = lambda line: tuple(json.loads(line)[key] for key in ("path", "line", "column"))
            if {place(line) for line in uses[0].splitlines()} & {place(line) for line in by_name[name]}:
                self.faults.append(f"-r {pattern!r}: a definition is a use")

    def check_index(self, rng: random.Random, quick: subprocess.CompletedProcess) -> None:
        """Compares lists of files that an earlier run has parsed, also when some of them have changed, with those without an index."""
        with tempfile.TemporaryDirectory() as home:
            # Files that have just changed are read in any case.
            time.sleep(2.1 if rng.random() < 0.5 else 0)
            subprocess.run([self.comb, "index", "build", "--index-dir", home, "."], cwd=self.directory, capture_output=True, check=True)

            def compare(expected: subprocess.CompletedProcess, *flags: str) -> None:
                done = self.comb_symbols("--index-dir", home, "--json", *flags)
                if (done.stdout, done.stderr, done.returncode) != (expected.stdout, expected.stderr, expected.returncode):
                    self.faults.append(f"{' '.join(flags)}: another list with an index")

            def compare_names() -> None:
                """Lists for names, which read only files that have them if the names of files are stored."""
                for name in self.some_names(rng, quick.stdout):
                    flags = rng.choice([["-d", name], ["-r", name], ["-d", name, "-r", name]])
                    compare(self.comb_symbols("--json", "--index=never", *flags), *flags)

            for flags in (["--index-update"], ["-j1"], ["-j7"]):
                compare(quick, *flags)
            compare_names()
            paths = sorted(self.directory.iterdir())
            for path in rng.sample(paths, min(20, len(paths))):
                path.write_bytes(changed(rng, path.read_bytes()))
            expected = self.comb_symbols("--json", "--index=never")
            compare(expected)
            compare_names()
            compare(expected, "--index-update", "-j2")
            compare(expected)
            compare_names()

    def some_names(self, rng: random.Random, full: bytes) -> list[str]:
        """Names of definitions, ends of qualified ones, and words of the files."""
        found = [json.loads(line) for line in rng.sample(full.splitlines(), min(4, full.count(b"\n")))]
        names = [one["name"] for one in found if "name_base64" not in one]
        names += [f"{one['scope']}::{one['name']}" for one in found if one.get("scope") and "name_base64" not in one]
        texts = [path.read_bytes() for path in rng.sample(sorted(self.directory.iterdir()), 4)]
        words = [word.decode() for text in texts for word in re.findall(rb"[A-Za-z_]\w*", text)]
        names += rng.sample(words, min(4, len(words)))
        return [name for name in names if re.fullmatch(r"[\w:.#$@~?!]+", name)]

    @staticmethod
    def escaped(match: re.Match) -> str:
        # `\<` and `\>` are boundaries of words.
        return match[0] if ord(match[0]) > 127 or match[0].isspace() or match[0] in "<>" else f"\\{match[0]}"

    def check_update(self, rng: random.Random, texts: list[bytes]) -> None:
        """Changes, adds and deletes files, and compares an updated tags file with a new one."""
        for path in rng.sample(sorted(self.directory.iterdir()), 30):
            if rng.random() < 0.3:
                path.unlink()
            else:
                path.write_bytes(changed(rng, rng.choice(texts)))
            if rng.random() < 0.3:
                path.with_name(f"new{path.name}").write_bytes(rng.choice(texts))
        tags = self.directory / "tags"
        self.comb_symbols("--format", "ctags", "-o", "tags", "--append")
        updated = tags.read_bytes()
        self.comb_symbols("--format", "ctags", "-o", "tags")
        if tags.read_bytes() != updated:
            self.faults.append("the updated tags file is not the one that is made anew")
            (self.directory / "updated").write_bytes(updated)

    def places(self, output: bytes) -> dict[str, list]:
        found = defaultdict(list)
        text, path = b"", None
        for line in output.splitlines():
            one = json.loads(line)
            if one["path"] != path:
                path = one["path"]
                # Places count from the text, after a byte order mark.
                text = (self.directory / path).read_bytes().removeprefix(b"\xef\xbb\xbf")
                lines = text.split(b"\n")
            exact = one.get("name_base64")
            name = base64.b64decode(exact) if exact else one["name"].encode()
            if not lines[one["line"] - 1][one["column"] - 1 :].startswith(name):
                self.faults.append(f"{path}: {one['name']!r} is not at {one['line']}:{one['column']}")
            if not 0 <= one["start_byte"] <= one["end_byte"] <= len(text) or one["end_line"] < one["line"]:
                self.faults.append(f"{path}: extent {one['start_byte']}-{one['end_byte']} of {one['name']!r}")
            found[Path(path).name].append(line)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--per-run", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--updates", action="store_true", help="check updates of tags files instead")
    parser.add_argument("directories", nargs="+", metavar="DIRECTORY")
    options = parser.parse_args()
    comb = shutil.which(options.comb) or sys.exit(f"{options.comb}: no such program")
    comb = str(Path(comb).resolve())
    extensions = {
        "c", "h", "cc", "cpp", "go", "java", "js", "jsx", "ts", "tsx", "py", "rs", "sh", "cs", "d", "kt", "lua", "php", "rb", "scala", "swift", "zig",
        "ex", "exs", "m", "mm", "md", "mk", "pl", "pm", "proto", "sql", "vue",
    }
    texts = sources(options.directories, extensions, random.Random(options.seed))
    by_extension = defaultdict(list)
    for text, extension in texts:
        by_extension[extension].append(text)
    if not texts:
        sys.exit("no source files in the directories")
    failed = definitions = differences = 0
    for number in [options.only] if options.only is not None else range(options.runs):
        rng = random.Random(f"{options.seed} {number}")
        directory = Path(tempfile.mkdtemp(prefix="hunt-symbols-"))
        for index in range(options.per_run):
            # Languages with few files count as much as others.
            extension = rng.choice(sorted(by_extension))
            text = rng.choice(by_extension[extension])
            whole = rng.random() < 0.25
            if not whole:
                text = changed(rng, text)
            (directory / f"{'whole' if whole else 'changed'}{index:05}.{extension}").write_bytes(text)
        run = Run(comb, directory)
        if options.updates:
            run.comb_symbols("--format", "ctags", "-o", "tags")
            # Tags are as old as the time at which their list began, and files must be two seconds older to be unchanged.
            time.sleep(2.2)
            run.comb_symbols("--format", "ctags", "-o", "tags")
            run.check_update(rng, [text for text, _ in texts])
        else:
            found, differ = run.check(rng)
            definitions, differences = definitions + found, differences + differ
        if run.faults:
            failed += 1
            print(f"run {number} of seed {options.seed}, {directory}:")
            print("\n".join(f"  {fault}" for fault in run.faults[:20]))
        else:
            shutil.rmtree(directory)
    files = (1 if options.only is not None else options.runs) * options.per_run
    print(f"{files} files, {definitions} definitions, {differences} files whose lists may differ and do, {failed} runs with faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
