#!/usr/bin/env python3
"""Fuzzing of the Python function finecomb.symbols, with `comb symbols --format json` as the oracle.

    fuzz/hunt_py_symbols.py [--runs N] [--per-run N] [--seed N] [--only N] DIRECTORY...

Needs a Python environment with the module, the command beside it, and pyarrow. Each run writes a tree of pieces of the source text in the
directories, cut and mixed at random, some of them hidden, damaged, linked, in archives or without a known extension. Then it lists the tree
with random flags, some of them invalid: the symbols of an iterator and of a stream of Arrow, the warnings and the errors must equal the
command's. Some lists use an index in which an earlier run has left what it parsed; some are left before their end.
"""

import argparse
import base64
import gzip
import io
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import finecomb
import pyarrow
from hunt_symbols import changed, sources

COMB = Path(sys.executable).with_name("comb")
EXTENSIONS = {
    "c", "h", "cc", "cpp", "go", "java", "js", "jsx", "ts", "tsx", "py", "rs", "sh", "cs", "d", "kt", "lua", "php", "rb", "scala", "swift", "zig",
}
MEMBERS = [
    "path", "language", "kind", "name", "scope", "scope_kind", "line", "column", "end_line", "start_byte", "end_byte", "signature", "parameters",
]
NAMES = ["main", "new", "get", "x", "^[a-m]", "^.$", "_", "(?i)id$", "(?-u)\\xFF", "", "no_such_name", "("]
LANGUAGES = ["c", "cpp", "python", "rust", "go", "java", "typescript", "bash", "ruby", "klingon"]
KINDS = ["function", "method", "class", "struct", "field", "variable", "enum,enumerator", "verb"]
FLAGS = {
    "definition": NAMES,
    "reference": NAMES,
    "kind": [*KINDS, KINDS[:3], KINDS[3:6]],
    "lang": [*LANGUAGES, LANGUAGES[:2], LANGUAGES[2:5], "c,rust"],
    "thorough": [True, False],
    "glob": ["*.py", "!*.c", ["*.rs", "*.go", "*.js"], "{", "/a/**"],
    "type": ["py", ["c", "rust"], "none-such"],
    "no_ignore": [True],
    "hidden": [True],
    "archives": [True],
    "follow": [True],
    "max_depth": [0, 1, 2, "deep"],
    "threads": [1, 2, 3, 8, 64, "auto", 0, -1],
    "none_such": [True],
}
WEIGHTS = {"threads": 0.7, "archives": 0.4, "none_such": 0.005}


def words_of(flags: dict) -> list[str]:
    """Flags as the command has them."""
    words = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        values = value if isinstance(value, list) else [value]
        words += [flag if value is True else f"{flag}={value}" for value in values if value is not False]
    return words


def make_flags(rng: random.Random) -> dict:
    return {name: rng.choice(values) for name, values in FLAGS.items() if rng.random() < WEIGHTS.get(name, 0.12)}


def lossy(text: str) -> str:
    """A path of Python as the objects of the command have it."""
    return os.fsencode(text).decode(errors="replace")


def as_tuple(symbol: finecomb.Symbol) -> tuple:
    return (lossy(symbol.path), *(getattr(symbol, member) for member in MEMBERS[1:]), symbol.name_bytes)


class Fuzzer:
    def __init__(self, root: Path, texts: list[tuple[bytes, str]]) -> None:
        self.root, self.counts, self.faults = root, Counter(), []
        self.by_extension: dict[str, list[bytes]] = {}
        for text, extension in texts:
            self.by_extension.setdefault(extension, []).append(text)

    def piece(self, rng: random.Random) -> tuple[bytes, str]:
        """A text and an extension, most often its own."""
        # Languages with few files count as much as others.
        extension = rng.choice(sorted(self.by_extension))
        text = rng.choice(self.by_extension[extension])
        if rng.random() < 0.8:
            text = changed(rng, text)
        if rng.random() < 0.05:
            extension = rng.choice([*sorted(EXTENSIONS), "txt", "gz"])
        return text, extension

    def name(self, rng: random.Random, number: int, extension: str) -> bytes:
        stem = rng.choice([b"a", b"A", b".b", b"c d", b"\xc3\xa9", b"\xff", b"e\n"] if rng.random() < 0.2 else [b"f"])
        return b"%s%d.%s" % (stem, number, extension.encode())

    def make_tree(self, rng: random.Random, files: int) -> None:
        root = os.fsencode(self.root)
        folders = [root, *(os.path.join(root, name) for name in (b"a", b"a/b", b".h", b"i", b"\xfe"))]
        for folder in folders:
            os.makedirs(folder, exist_ok=True)
        (self.root / ".ignore").write_text("i/\n*3.rs\n")
        for number in range(files):
            text, extension = self.piece(rng)
            path = os.path.join(rng.choice(folders), self.name(rng, number, extension))
            kind = rng.random()
            if kind < 0.02:
                os.symlink(rng.choice([b"none", b"..", b"/dev/null"]), path)
            elif kind < 0.05:
                with tarfile.open(path + b".tar", "w") as archive:
                    for member in range(rng.randrange(4)):
                        text, extension = self.piece(rng)
                        entry = tarfile.TarInfo(f"m/{member}.{extension}")
                        entry.size = len(text)
                        archive.addfile(entry, io.BytesIO(text))
            else:
                if kind < 0.08:
                    text = gzip.compress(text)
                    text = text[: rng.randrange(len(text) + 1)] if rng.random() < 0.3 else text
                with open(path, "wb") as file:
                    file.write(text)

    def make_paths(self, rng: random.Random) -> list[Path | str]:
        paths = [self.root]
        if rng.random() < 0.3:
            paths += rng.choices(sorted(self.root.rglob("*")), k=rng.randrange(1, 5))
        if rng.random() < 0.1:
            paths.append(self.root / "missing.py")
        return paths

    def by_command(self, paths: list, flags: dict) -> tuple[list[tuple], list[str], int]:
        words = [COMB, "symbols", "--format", "json", *words_of(flags), "--", *paths]
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
        if done.returncode not in (0, 1, 2) or b"panicked" in done.stderr:
            self.faults.append(f"comb {words_of(flags)}: exit status {done.returncode}: {done.stderr[-300:]!r}")
        found = []
        for line in done.stdout.splitlines():
            one = json.loads(line)
            exact = one.get("name_base64")
            found.append((*(one[member] for member in MEMBERS), base64.b64decode(exact) if exact else one["name"].encode()))
        return found, done.stderr.decode(errors="replace"), done.returncode

    def compare(self, what: str, found: object, expected: object) -> None:
        if found != expected:
            differ = next((pair for pair in itertools.zip_longest(found, expected) if pair[0] != pair[1]), "the lengths")
            self.faults.append(f"{what}: {len(found)} instead of {len(expected)}: {str(differ)[:600]}")

    def check(self, paths: list, flags: dict) -> None:
        """Compares all results with the command's."""
        expected, stderr, status = self.by_command(paths, flags)
        what = f"{flags} {[str(path) for path in paths[1:]]}"
        try:
            symbols = finecomb.symbols(paths, **flags)
        except finecomb.Error as error:
            self.counts["errors"] += 1
            if status != 2 or expected or str(error).splitlines()[0] not in stderr:
                self.faults.append(f"{what}: {error} instead of {stderr}")
            return
        messages = stderr.replace("\ncomb: ", "\0").removeprefix("comb: ").removesuffix("\n").split("\0") if stderr else []
        self.compare(what, [as_tuple(symbol) for symbol in symbols], expected)
        self.compare(f"messages of {what}", [lossy(message) for message in symbols.messages], messages)
        table = pyarrow.table(symbols)
        table.validate(full=True)
        rows = table.to_pylist()
        self.compare(f"Arrow of {what}", [(*(row[member] for member in MEMBERS), row["name_bytes"]) for row in rows], expected)
        self.compare(f"messages of Arrow of {what}", [lossy(message) for message in symbols.messages], messages)
        self.counts.update({"lists": 1, "symbols": len(expected), "messages": len(messages)})

    def check_left(self, rng: random.Random, paths: list) -> None:
        """Leaves a list before its end: what was read is its beginning."""
        expected, _, _ = self.by_command(paths, {})
        count = rng.randrange(200)
        found = [as_tuple(symbol) for symbol in itertools.islice(finecomb.symbols(paths), count)]
        self.compare(f"the first {count}", found, expected[:count])
        reader = pyarrow.RecordBatchReader.from_stream(finecomb.symbols(paths))
        rows = next(iter(reader), None)
        names = rows["name_bytes"].to_pylist() if rows is not None else []
        self.compare("the first batch", names, [symbol[-1] for symbol in expected[: len(names)]])
        self.counts["lists that were left"] += 1

    def check_memory(self, rng: random.Random) -> None:
        """Compares data in memory with a file."""
        text, _ = self.piece(rng)
        path = self.root / "memory.data"
        path.write_bytes(text)
        flags = {"lang": rng.choice(LANGUAGES[:-1])}
        expected, _, _ = self.by_command([path], flags)
        for data in [text, bytearray(text), io.BytesIO(text)]:
            found = [as_tuple(symbol)[1:] for symbol in finecomb.symbols(data, **flags)]
            self.compare(f"data with {flags}", found, [symbol[1:] for symbol in expected])
        path.unlink()

    def run(self, rng: random.Random, files: int) -> None:
        self.make_tree(rng, files)
        for _ in range(6):
            self.check(self.make_paths(rng), make_flags(rng))
        self.check([self.root], {})
        self.check_left(rng, self.make_paths(rng))
        self.check_memory(rng)
        with tempfile.TemporaryDirectory() as home:
            subprocess.run([COMB, "index", "build", "--index-dir", home, self.root], check=True, capture_output=True)
            subprocess.run([COMB, "symbols", "--index-dir", home, "--index-update", "-q", self.root], capture_output=True)
            for _ in range(3):
                self.check(self.make_paths(rng), {**make_flags(rng), "index_dir": home, "index": rng.choice(["auto", "require", "never"])})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--per-run", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("directories", nargs="+", metavar="DIRECTORY")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", finecomb.Warning)
    texts = sources(arguments.directories, EXTENSIONS, random.Random(arguments.seed))
    if not texts:
        sys.exit("no source files in the directories")
    print(f"seed {arguments.seed}, {len(texts)} texts", flush=True)
    counts, faults, runs = Counter(), 0, [arguments.only] if arguments.only is not None else range(arguments.runs)
    for number in runs:
        root = Path(tempfile.mkdtemp(prefix="hunt-py-symbols-"))
        fuzzer = Fuzzer(root, texts)
        fuzzer.run(random.Random(f"{arguments.seed} {number}"), arguments.per_run)
        for fault in fuzzer.faults[:10]:
            print(f"run {number}, {root}: {fault}", flush=True)
        if not fuzzer.faults:
            shutil.rmtree(root)
        counts, faults = counts + fuzzer.counts, faults + len(fuzzer.faults)
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    print(f"{len(runs) * arguments.per_run} files, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
