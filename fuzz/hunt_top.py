#!/usr/bin/env python3
"""Fuzzing of `comb top` on random logs and command lines, with a simple oracle.

    fuzz/hunt_top.py [--comb PROGRAM] [--runs N] [--seed N] [--only N]

The oracle is a loop over records in Python, with Python's `re` on characters: an invalid UTF-8 byte is a character, as in Go. Each query
runs at two random widths and block sizes, as text and as JSON, on files, a directory or standard input.
"""

import argparse
import base64
import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

WIDTHS = ["1", "2", "3", "8", "64", "auto"]
BLOCKS = ["1", "7", "100", "4K", "128K"]
# Patterns with the same meaning in Go and in Python, with ASCII classes.
PATTERNS = [
    "a", "b+", "^a", "b$", ".", "[^a]", r"\d+", r"\w+", r"\s", r"\S+", "x*", "", "(a)(b)?", "a|b", "é", "[äé]", "..", r"\W", "GET|POST", r"\?.*$", "^",
    "$", ".*b", r"\bfoo\b", "(f)(o+)", "[0-9a-f]{2}", "a{2,}", r"\.", "/[^/]*$",
]
SEPARATORS = [",", "[ ,]+", "[][ ]+", ";+", r"\t", "=|:", "[^a-z]+", r"\s+", "é", "ab?"]
REPLACEMENTS = ["", "x", "$0", "<$1>", "${1}y", "$1y", "$$", "$2$1", "é", "$"]
WORDS = [b"a", b"b", b"ab", b"foo", b"foo1", b"GET", b"/x?q=caf\xe9", b"/a/b/c", b"404", b"caf\xc3\xa9", b"\xff", b"\xe2\x82", b"-", b'"q r"', b'"', b"a\\", b"x,y;z",
         b"k=v", b"k:v", b"[1]", b"", b"\r", b"\0", b"zzzzzz", b"0f", b"\xf0\x9f\x98\x80"]  # fmt: skip


def runes(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def compiled(pattern: str) -> re.Pattern:
    # In Go, '$' matches only at the end of the text, and '\s' does not match vertical tabs and U+001C to U+001F.
    pattern = re.sub(r"\$(?=$|\|)", r"\\Z", pattern).replace(r"[^\s", r"[^\t\n\f\r ").replace(r"\s", r"[\t\n\f\r ]").replace(r"\S", r"[^\t\n\f\r ]")
    pattern = pattern.replace("[][ ]", r"[\]\[ ]")
    return re.compile(pattern, re.ASCII)


def matches(regex: re.Pattern, text: str) -> list[re.Match]:
    """All matches as in Go: an empty match adjacent to the match before it does not count."""
    found, at, last = [], 0, -1
    while at <= len(text):
        match = regex.search(text, at)
        if match is None:
            break
        if match.end() > match.start() or match.start() != last:
            found.append(match)
        last = match.end()
        at = match.end() if match.end() > match.start() else match.end() + 1
    return found


def expanded(replacement: str, match: re.Match) -> str:
    def group(reference: re.Match) -> str:
        if reference[0] == "$$":
            return "$"
        name = reference[1] or reference[2]
        if name.isdigit() and int(name) <= match.re.groups:
            return match[int(name)] or ""
        return ""

    return re.sub(r"\$\$|\$\{(\w+)\}|\$(\w+)", group, replacement, flags=re.ASCII)


def replaced(regex: re.Pattern, replacement: str, text: str) -> str:
    parts, at = [], 0
    for match in matches(regex, text):
        parts += [text[at : match.start()], expanded(replacement, match)]
        at = match.end()
    return "".join([*parts, text[at:]])


def quoted(record: bytes) -> tuple[list[bytes], bool]:
    fields, at, size = [], 0, len(record)
    while at < size:
        if record[at] in b" \t":
            at += 1
        elif record[at] == ord('"'):
            end = at + 1
            while end < size and record[end] != ord('"'):
                end += 2 if record[end] == ord("\\") else 1
            if end >= size:
                return fields, True
            fields.append(record[at + 1 : end])
            at = end + 1
        else:
            end = at
            while end < size and record[end] not in b" \t":
                end += 1
            fields.append(record[at:end])
            at = end
    return fields, False


class Query:
    def __init__(self, rng: random.Random):
        self.number = rng.choice([1, 2, 3, 10, 1000])
        self.fields = rng.choice([[], [], [1], [2], [-1], [1, 2], [3, 1], [(2, 3)], [(2, -1)], [7], [(-2, -1)]])
        # Without a field, -p and -q are errors.
        self.kind = rng.choice(["blanks", "blanks", "quotes", "regex"]) if self.fields else "blanks"
        self.separator = rng.choice(SEPARATORS)
        self.grep = [rng.choice(PATTERNS) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
        self.vgrep = [rng.choice(PATTERNS) for _ in range(rng.choice([0, 0, 0, 0, 1]))]
        self.sed = [(rng.choice(PATTERNS), rng.choice(REPLACEMENTS)) for _ in range(rng.choice([0, 0, 1, 2]))]

    def arguments(self) -> list[str]:
        flags = ["-n", str(self.number)]
        if self.fields:
            flags += ["-f", ",".join(f"{field[0]}-{field[1]}" if isinstance(field, tuple) else str(field) for field in self.fields)]
        if self.kind == "quotes":
            flags.append("-q")
        elif self.kind == "regex":
            flags += ["-p", self.separator]
        for pattern in self.grep:
            flags += ["-g", pattern]
        for pattern in self.vgrep:
            flags += ["-v", pattern]
        for pattern, replacement in self.sed:
            flags += ["-s", pattern, replacement]
        return flags

    def split(self, record: bytes) -> tuple[list[bytes], bool]:
        if self.kind == "quotes":
            return quoted(record)
        if self.kind == "blanks":
            return [field for field in re.split(rb"[ \t]+", record) if field], False
        text, parts, at = runes(record), [], 0
        for match in matches(compiled(self.separator), text):
            if match.end() > match.start():
                parts.append(text[at : match.start()])
                at = match.end()
        return [raw(part) for part in [*parts, text[at:]]], False

    def key(self, record: bytes) -> bytes | None:
        if not self.fields:
            return record
        found, is_open = self.split(record)
        if is_open and any(number < 0 for field in self.fields for number in (field if isinstance(field, tuple) else (field,))):
            return None
        chosen = []
        for field in self.fields:
            first, last = field if isinstance(field, tuple) else (field, field)
            first, last = (number if number > 0 else len(found) + 1 + number for number in (first, last))
            if not 1 <= first <= last <= len(found):
                return None
            chosen += found[first - 1 : last]
        return b" ".join(chosen)

    def answer(self, files: list[bytes]) -> tuple[list[tuple[int, bytes]], int, int, int]:
        """Most frequent keys with counts, and the numbers of records, distinct keys and skipped records."""
        greps, vgreps = [compiled(pattern) for pattern in self.grep], [compiled(pattern) for pattern in self.vgrep]
        edits = [(compiled(pattern), replacement) for pattern, replacement in self.sed]
        counts, skipped = Counter(), 0
        for content in files:
            lines = content.split(b"\n")
            if lines[-1] == b"":
                lines.pop()
            for line in lines:
                record = line.removesuffix(b"\r")
                text = runes(record)
                if not all(regex.search(text) for regex in greps) or any(regex.search(text) for regex in vgreps):
                    continue
                key = self.key(record)
                if key is None:
                    skipped += 1
                    continue
                for regex, replacement in edits:
                    key = raw(replaced(regex, replacement, runes(key)))
                counts[key] += 1
        ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[: self.number]
        return [(count, key) for key, count in ranked], sum(counts.values()), len(counts), skipped


def log(rng: random.Random) -> bytes:
    blank = rng.choice([b" ", b" ", b"  ", b"\t", b","])
    lines = [blank.join(rng.choice(WORDS) for _ in range(rng.randrange(6))) for _ in range(rng.choice([0, 1, 3, 10, 60, 400]))]
    lines = rng.choices(lines, k=len(lines)) if lines else []
    # Text that begins like a byte order mark has a separate test.
    text = b"\n".join(lines) + (b"\n" if rng.random() < 0.8 else b"")
    return b"a" + text if text[:1] in (b"\xff", b"\xfe", b"\xef") else text


def parsed(out: bytes) -> tuple[list[tuple[int, bytes]], int, int, int]:
    answer = json.loads(out)
    key = lambda entry: base64.b64decode(entry["key_base64"]) if "key_base64" in entry else entry["key"].encode()
    return [(entry["count"], key(entry)) for entry in answer["top"]], answer["records"], answer["distinct"], answer["skipped"]


def check(comb: str, root: Path, files: list[bytes], query: Query, rng: random.Random) -> str | None:
    expected = query.answer(files)
    text = b"".join(b"%d %s\n" % entry for entry in expected[0])
    names = [str(root / f"{number}.log") for number in range(len(files))]
    for form in ("text", "json"):
        scan = ["-w", rng.choice(WIDTHS), "--block-size", rng.choice(BLOCKS), "--format", form]
        source = rng.choice(["files", "directory", "input"] if len(files) == 1 else ["files", "directory"])
        command = [comb, "top", *scan, *query.arguments(), *{"files": names, "directory": [str(root)], "input": []}[source]]
        done = subprocess.run(command, input=files[0] if source == "input" else b"", capture_output=True, timeout=60)
        shown = shlex.join(command[2:])
        if done.returncode != (0 if expected[1] else 1):
            return f"{shown}: exit status {done.returncode}, {done.stderr[:300]!r}"
        answer = done.stdout if form == "text" else parsed(done.stdout)
        if answer != (text if form == "text" else expected):
            return f"{shown} ({source}): {answer!r:.300} instead of {text if form == 'text' else expected!r:.300}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="only the run with this number")
    arguments = parser.parse_args()
    faults = records = 0
    for number in range(arguments.runs) if arguments.only is None else [arguments.only]:
        rng = random.Random(arguments.seed * 1_000_003 + number)
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            files = [log(rng) for _ in range(rng.choice([1, 1, 2, 4]))]
            for index, content in enumerate(files):
                (root / f"{index}.log").write_bytes(content)
            records += sum(content.count(b"\n") for content in files)
            fault = check(arguments.comb, root, files, Query(rng), rng)
            if fault:
                faults += 1
                print(f"run {number}: {fault}", flush=True)
    print(f"{arguments.runs} runs, {records} records, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
