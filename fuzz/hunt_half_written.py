#!/usr/bin/env python3
"""Hunts for definitions that `comb symbols` loses beside a syntax error, in real files with one change each.

    fuzz/hunt_half_written.py [--comb PROGRAM] [--runs N] [--seed N] [--only LANGUAGE] [--floor SHARE] [--keep] DIRECTORY...

Each run drops a line of a file, doubles it, or puts a half-written definition or a macro before it. Lines that begin or end a comment, a
literal of several lines or a condition stay as they are: without them, the text says something else. What is checked:

- every top-level definition before and after the change, except the nearest one on each side, is listed with its name, kind and scope;
- the program neither fails nor takes more than a few times the time for the files without changes;
- lists are the same at -j1 and -j7, with and without --thorough a list is made.

For each language, the share of the definitions that are kept is printed, the share of changes that cost none, and the share of the members of
types that are kept. Below the floor for definitions, the hunt fails. With --keep, changed files that lost some are kept in a directory that is named.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# Half-written definitions, and macros or calls, of each language.
C = ["int f(int a", "static int f(", "struct x {", "if (x", "x = ", "int g(void) {", "MACRO(x)", "MACRO", "enum {"]
HALF_WRITTEN = {
    "bash": ["f() {", "function f {", "if [ x", "x=$(", "case $x in", "for i in a b; do"],
    "c": C,
    "cpp": [*C, "class X {", "template <", "void X::f(", "namespace n {", "auto x = [&](", "MACRO(x) {"],
    "csharp": ["class X {", "void F(int a", "public int P {", "if (x", "x = ", "[Attribute(", "namespace N {", "var x = new X {"],
    "d": ["void f(int a", "struct X {", "class X {", "if (x", "x = ", "template T(", "enum E {"],
    "go": ["func (", "func f(a int", "type X struct {", "if x", "x := ", "func f() {", "var (", "import ("],
    "java": ["class X {", "void f(int a", "if (x", "x = ", "@A(", "public int f() {", "new X() {"],
    "javascript": ["function f(", "class X {", "if (x", "x = ", "const f = (", "const x = {", "f(() => {"],
    "kotlin": ["fun f(", "class X {", "val x = ", "if (x", "fun f() {", "object X {", "@A("],
    "lua": ["function f(", "local function f()", "if x then", "x = ", "local t = {", "f(function()"],
    "php": ["function f(", "class X {", "if ($x", "$x = ", "function f() {", "$x = ["],
    "python": ["def foo(a,", "class X(", "def f():", "if x", "x = ", "x = [", "foo(", "@a("],
    "ruby": ["def f(", "class X", "if x", "x = ", "def f", "foo do", "x = ["],
    "rust": ["fn foo(", "fn f() {", "struct X {", "impl X {", "if x", "let x = ", "m! {", "#[a(", "pub enum E {"],
    "scala": ["def f(", "class X {", "val x = ", "if (x", "object X {", "def f = {"],
    "swift": ["func f(", "class X {", "let x = ", "if x", "func f() {", "@A(", "extension X {"],
    "typescript": ["function f(", "class X {", "interface X {", "if (x", "const x = ", "const f = (", "type X = {"],
    "zig": ["fn f(", "pub fn f() void {", "const x = ", "const X = struct {", "if (x", 'test "a" {'],
}
EXTENSIONS = "bash c cc cpp h hpp cs d go java js kt lua php py rb rs scala sh swift ts tsx zig".split()
# Without one of these in its line, a change leaves comments, literals and conditions as they are.
DELIMITERS = [b"/*", b"*/", b"/+", b"+/", b'"""', b"'''", b"`", b"#if", b"#el", b"#endif", b"=begin", b"=end", b"<<", b"EOF", b"[[", b"]]", b'"#', b"<?", b"?>", b"\\\n", b"--[", b'q{']
# Kinds of scopes whose members need not stay. Their share is printed, too.
MEMBERS = ("class", "enum", "interface", "struct", "trait", "union")
LONGEST = 60_000
PER_BATCH = 250


class Files:
    """Files of a language without syntax errors, and their definitions."""

    def __init__(self):
        self.texts: list[bytes] = []
        self.suffixes: list[str] = []
        self.definitions: list[list[dict]] = []


def lists(comb: str, directory: Path, *flags: str) -> tuple[dict[str, list[dict]], float, bytes]:
    """The definitions of each file, the CPU time, and the output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([comb, "symbols", "--json", "--index=never", *flags], cwd=directory, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or b"panicked" in done.stderr:
        sys.exit(f"{directory}: exit status {done.returncode}: {done.stderr[-300:]!r}")
    found = defaultdict(list)
    for line in done.stdout.splitlines():
        one = json.loads(line)
        found[one["path"]].append(one)
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def is_top_level(text: bytes, one: dict) -> bool:
    """Whether a definition begins its line, in no other definition or in a namespace."""
    return one["scope_kind"] in (None, "namespace", "module") and text[: one["start_byte"]][-1:] in (b"", b"\n")


def gather(comb: str, directories: list[str], only: str | None) -> dict[str, Files]:
    languages = defaultdict(Files)
    paths = [path for directory in directories for path in sorted(Path(directory).rglob("*")) if path.suffix[1:] in EXTENSIONS and path.is_file()]
    with tempfile.TemporaryDirectory(prefix="hunt-half-written-") as home:
        for index, path in enumerate(path for path in paths if path.stat().st_size < LONGEST):
            text = path.read_bytes()
            if b"\r" not in text and not text.startswith(b"\xef\xbb\xbf"):
                (Path(home) / f"{index:06}{path.suffix}").write_bytes(text)
        found, _, _ = lists(comb, Path(home))
        for name, definitions in found.items():
            language = definitions[0]["language"]
            if only in (None, language):
                text = (Path(home) / name).read_bytes()
                stats = subprocess.run([comb, "symbols", "--stats", "-q", "--json", "--index=never", name], cwd=home, capture_output=True, check=True).stdout
                if json.loads(stats)["stats"][0]["files_with_errors"] == 0:
                    files = languages[language]
                    files.texts.append(text)
                    files.suffixes.append(Path(name).suffix)
                    files.definitions.append(definitions)
    return languages


def change(rng: random.Random, language: str, text: bytes) -> tuple[str, bytes, int, int] | None:
    """A change: what it is, the changed text, the offset of the change, and the number of lines added."""
    lines = text.splitlines(keepends=True)
    number = rng.randrange(len(lines))
    line = lines[number]
    at = sum(map(len, lines[:number]))
    kind = rng.choice(["dropped", "doubled", "half-written", "half-written"])
    if kind == "half-written":
        indentation = line[: len(line) - len(line.lstrip())]
        added = indentation.rstrip(b"\n") + rng.choice(HALF_WRITTEN[language]).encode() + b"\n"
        return f"{kind} {added.decode().strip()!r}", text[:at] + added + text[at:], at, 1
    if not line.strip() or any(delimiter in line for delimiter in DELIMITERS):
        return None
    if kind == "dropped":
        return f"dropped {line.decode(errors='replace').strip()!r}", text[:at] + text[at + len(line) :], at, -1
    return f"doubled {line.decode(errors='replace').strip()!r}", text[:at] + line + text[at:], at, 1


def key(one: dict, added: int = 0) -> tuple:
    return one["name"], one["kind"], one["scope"], one["line"] + added


def expected(definitions: list[dict], at: int, added: int) -> set[tuple]:
    """The definitions that must be listed after a change, with their new lines."""
    before = sorted((one for one in definitions if one["end_byte"] <= at), key=lambda one: one["end_byte"])
    after = sorted((one for one in definitions if one["start_byte"] >= at), key=lambda one: one["start_byte"])
    # The next one begins at the change, or is the one after it.
    return {key(one) for one in before[:-1]} | {key(one, added) for one in after[1:]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=500, help="changes in each language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(HALF_WRITTEN))
    parser.add_argument("--floor", type=float, default=0.0, help="least share of the definitions of a language that are kept")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("directories", nargs="+", metavar="DIRECTORY")
    options = parser.parse_args()
    comb = str(Path(shutil.which(options.comb) or sys.exit(f"{options.comb}: no such program")).resolve())
    failed = False
    print(f"{'language':<12}{'changes':>9}{'definitions':>13}{'kept':>9}{'unharmed':>10}{'members':>10}{'kept':>9}{'time':>7}")
    for language, files in sorted(gather(comb, options.directories, options.only).items()):
        rng = random.Random(f"{options.seed} {language}")
        changes = total = kept = unharmed = members = kept_members = 0
        changed_time = plain_time = 0.0
        while changes < options.runs:
            home = Path(tempfile.mkdtemp(prefix="hunt-half-written-"))
            (home / "changed").mkdir()
            (home / "plain").mkdir()
            wanted = {}
            for index in range(min(PER_BATCH, options.runs - changes)):
                made = None
                while made is None:
                    number = rng.randrange(len(files.texts))
                    made = change(rng, language, files.texts[number])
                what, text, at, added = made
                name = f"{index:04}{files.suffixes[number]}"
                (home / "changed" / name).write_bytes(text)
                (home / "plain" / name).write_bytes(files.texts[number])
                top = [one for one in files.definitions[number] if is_top_level(files.texts[number], one)]
                inner = [one for one in files.definitions[number] if one["scope_kind"] in MEMBERS]
                wanted[name] = what, expected(top, at, added), expected(inner, at, added)
            found, seconds, output = lists(comb, home / "changed", "-j1")
            if lists(comb, home / "changed", "-j7")[2] != output:
                print(f"{home}: other bytes at -j7 than at -j1")
                failed = True
            changed_time += seconds
            plain_time += lists(comb, home / "plain", "-j1")[1]
            lists(comb, home / "changed", "--thorough")
            for name, (what, must, inner) in sorted(wanted.items()):
                listed = {key(one) for one in found[name]}
                lost = must - listed
                members, kept_members = members + len(inner), kept_members + len(inner & listed)
                changes, total, kept, unharmed = changes + 1, total + len(must), kept + len(must) - len(lost), unharmed + (not lost)
                if lost and options.keep:
                    first = min(lost, key=lambda one: one[3])
                    print(f"  {home / 'changed' / name}: {what}: lost {len(lost)} of {len(must)}, the first is {first}")
            if not options.keep:
                shutil.rmtree(home)
        share = kept / max(total, 1)
        failed |= share < options.floor or changed_time > 8 * plain_time + 1
        times = changed_time / max(plain_time, 0.01)
        print(f"{language:<12}{changes:>9}{total:>13}{share:>9.2%}{unharmed / changes:>10.2%}{members:>10}{kept_members / max(members, 1):>9.2%}{times:>6.1f}x", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
