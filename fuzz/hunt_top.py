#!/usr/bin/env python3
"""Fuzzing of `comb top` on random logs and command lines, with a simple oracle.

    fuzz/hunt_top.py [--comb PROGRAM] [--runs N] [--seed N] [--only N]

The oracle is a loop over records in Python. Expressions are those with the same meaning in Python's `re`, which searches texts that are
UTF-8. Other texts are searched by a small backtracking matcher (`Bytes`), for which `.` and `[^x]` also match single bytes. Each query runs at
two random widths and block sizes, as text and as JSON, on files, a directory or standard input.
"""

import argparse
import base64
import functools
import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

WIDTHS = ["1", "2", "3", "8", "64", "auto"]
BLOCKS = ["1", "7", "100", "4K", "128K"]
# Patterns with the same meaning in the regex crate and in Python.
PATTERNS = [
    "a", "b+", "^a", "b$", ".", "[^a]", r"\d+", r"\w+", r"\s", r"\S+", "x*", "", "(a)(b)?", "a|b", "é", "[äé]", "..", r"\W", "GET|POST", r"\?.*$", "^",
    "$", ".*b", r"\bfoo\b", "(f)(o+)", "[0-9a-f]{2}", "a{2,}", r"\.", "/[^/]*$", r"\b\w+o\b", r".*\b(\w+)", r"\w*foo\d", "[^f]+foo.",
]
SEPARATORS = [",", "[ ,]+", r"[\]\[ ]+", ";+", r"\t", "=|:", "[^a-z]+", r"\s+", "é", "ab?", r"\b."]
ATOMS = ["a", "b", "f", "o", "é", "/", " ", "1", "foo", ".", "[^a]", "[a-f]", "[^/ ]", "[éo]", r"\d", r"\w", r"\W", r"\s", r"\S", r"\."]
LOOKS = ["^", "$", r"\b"]
REPLACEMENTS = ["", "x", "$0", "<$1>", "${1}y", "$1y", "$$", "$2$1", "é", "$"]
WORDS = [b"a", b"b", b"ab", b"foo", b"foo1", b"GET", b"/x?q=caf\xe9", b"/a/b/c", b"404", b"caf\xc3\xa9", b"\xff", b"\xe2\x82", b"-", b'"q r"', b'"', b"a\\", b"x,y;z",
         b"k=v", b"k:v", b"[1]", b"", b"\r", b"\0", b"zzzzzz", b"0f", b"\xf0\x9f\x98\x80"]  # fmt: skip


def runes(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def random_pattern(rng: random.Random, depth: int = 2) -> str:
    parts = []
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        if depth and rng.random() < 0.25:
            group = random_pattern(rng, depth - 1)
            # Repeated empty matches are not the same everywhere, and repetitions within each other would take Python too long.
            repeats = [""] if minimum(group) == 0 or set(group) & set("*+") else ["", "", "+", "?", "*", "{2}", "+?"]
            parts.append(rng.choice(["({})", "(?:{})"]).format(group) + rng.choice(repeats))
        elif rng.random() < 0.1:
            parts.append(rng.choice(LOOKS))
        else:
            atom = rng.choice(ATOMS)
            repeats = ["", "", "", "+", "*", "?", "{2}", "{1,3}", "+?", "*?"]
            parts.append(atom + rng.choice(repeats) if len(atom) == 1 or atom[0] in "\\[" else atom)
    pattern = "".join(parts)
    return f"{pattern}|{random_pattern(rng, depth - 1)}" if depth and rng.random() < 0.15 else pattern


def choose(rng: random.Random, patterns: list[str] = PATTERNS, least: int = 0) -> str:
    """An expression that Python is done with in time, and whose matches have at least `least` characters."""
    while True:
        pattern = rng.choice(patterns) if rng.random() < 0.5 else random_pattern(rng)
        if pattern.count("*") + pattern.count("+") <= 2 and minimum(pattern) >= least:
            return pattern


@functools.cache
def compiled(pattern: str) -> re.Pattern:
    # In Python, '$' also matches before a final line feed, and '\\s' also matches U+001C to U+001F.
    return re.compile(re.sub(r"(?<!\\)\$", r"\\Z", pattern).replace(r"[^\s", r"[^\t-\r ").replace(r"\s", r"[\t-\r ]").replace(r"\S", r"[^\t-\r ]"))


@functools.cache
def parsed_pattern(pattern: str) -> re._parser.SubPattern:
    return re._parser.parse(compiled(pattern).pattern)


def minimum(pattern: str) -> int:
    """Length of the shortest match."""
    return parsed_pattern(pattern).getwidth()[0]


@dataclass
class Found:
    """A match with the methods of a match of `re` that are used here."""

    re: re.Pattern
    text: str
    spans: dict[int, tuple[int, int]]

    def start(self) -> int:
        return self.spans[0][0]

    def end(self) -> int:
        return self.spans[0][1]

    def __getitem__(self, number: int) -> str | None:
        return self.text[slice(*self.spans[number])] if number in self.spans else None


class Bytes:
    """Searches bytes, as text in Latin-1, by backtracking in the order of preference of `re`."""

    def __init__(self, pattern: str):
        self.pattern, self.re = parsed_pattern(pattern), compiled(pattern)

    def search(self, text: str, start: int = 0) -> Found | None:
        for at in range(start, len(text) + 1):
            for end, groups in self.run(self.pattern, 0, text, at, {}):
                return Found(self.re, text, {0: (at, end), **groups})
        return None

    def run(self, items, index: int, text: str, at: int, groups: dict):
        """All ends of matches of the items from `index` on."""
        if index == len(items):
            yield at, groups
            return
        for end, inner in self.one(*items[index], text, at, groups):
            yield from self.run(items, index + 1, text, end, inner)

    def one(self, kind, argument, text: str, at: int, groups: dict):
        name = str(kind)
        if name == "LITERAL":
            literal = latin(chr(argument))
            if text.startswith(literal, at):
                yield at + len(literal), groups
        elif name in ("ANY", "IN", "NOT_LITERAL"):
            contains = re.compile(self.source(name, argument)).fullmatch
            char = character(text, at)
            if char and contains(char):
                yield at + len(latin(char)), groups
            if text[at : at + 1] >= "\x80" and contains("\ufffd"):
                yield at + 1, groups
        elif name == "BRANCH":
            for part in argument[1]:
                yield from self.run(part, 0, text, at, groups)
        elif name == "SUBPATTERN":
            number, _, _, part = argument
            for end, inner in self.run(part, 0, text, at, groups):
                yield end, inner if number is None else {**inner, number: (at, end)}
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            yield from self.repeat(*argument, name == "MAX_REPEAT", text, at, groups)
        elif name == "AT":
            before = at > 0 and is_word(last_character(text, at))
            holds = {"AT_BEGINNING": at == 0, "AT_END_STRING": at == len(text), "AT_BOUNDARY": before != is_word(character(text, at))}
            if holds[str(argument)]:
                yield at, groups
        else:
            raise ValueError(name)

    def repeat(self, least: int, most: int, part, greedy: bool, text: str, at: int, groups: dict):
        if least == 0 and not greedy:
            yield at, groups
        if most > 0:
            for end, inner in self.run(part, 0, text, at, groups):
                if end > at:
                    yield from self.repeat(max(least - 1, 0), most - 1, part, greedy, text, end, inner)
        if least == 0 and greedy:
            yield at, groups

    @staticmethod
    def source(name: str, argument) -> str:
        """The expression of a class."""
        if name == "ANY":
            return "."
        if name == "NOT_LITERAL":
            return f"[^{re.escape(chr(argument))}]"
        members = {
            "NEGATE": lambda _: "^",
            "LITERAL": lambda code: re.escape(chr(code)),
            "RANGE": lambda codes: "-".join(re.escape(chr(code)) for code in codes),
            "CATEGORY": lambda category: {"CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W"}[str(category)],
        }
        return "[" + "".join(members[str(kind)](member) for kind, member in argument) + "]"


def latin(text: str) -> str:
    """The bytes of a text, each as a character."""
    return text.encode().decode("latin-1")


def character(text: str, at: int) -> str:
    """The character at a position of bytes; nothing at the end and at bytes that are not UTF-8."""
    for size in range(1, 5):
        try:
            return text[at : at + size].encode("latin-1").decode()
        except UnicodeDecodeError:
            continue
    return ""


def last_character(text: str, at: int) -> str:
    """The character before a position. As in the regex crate, up to three continuation bytes after a character do not hide it."""
    start = at - 1
    while start > max(at - 4, 0) and "\x80" <= text[start] < "\xc0":
        start -= 1
    return character(text[:at], start)


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def searcher(pattern: str, data: bytes) -> tuple[re.Pattern | Bytes, str, str]:
    """An expression for these bytes, their text, and its encoding."""
    try:
        return compiled(pattern), data.decode(), "utf-8"
    except UnicodeDecodeError:
        return Bytes(pattern), data.decode("latin-1"), "latin-1"


@functools.lru_cache(10_000)
def has_match(pattern: str, data: bytes) -> bool:
    regex, text, _ = searcher(pattern, data)
    return regex.search(text) is not None


def matches(regex: re.Pattern | Bytes, text: str) -> list[re.Match | Found]:
    """All matches: an empty match adjacent to the match before it does not count."""
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


@functools.lru_cache(10_000)
def edited(pattern: str, replacement: str, key: bytes) -> bytes:
    regex, text, encoding = searcher(pattern, key)
    return replaced(regex, replacement.encode().decode(encoding), text).encode(encoding)


def replaced(regex: re.Pattern | Bytes, replacement: str, text: str) -> str:
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
        self.separator = choose(rng, SEPARATORS, 1)
        self.grep = [choose(rng) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
        self.vgrep = [choose(rng) for _ in range(rng.choice([0, 0, 0, 0, 1]))]
        self.sed = [(choose(rng), rng.choice(REPLACEMENTS)) for _ in range(rng.choice([0, 0, 1, 2]))]
        extract = [choose(rng) for _ in range(rng.choice([0, 0, 1]))]
        # With several groups, the fields of a key would be compared.
        self.extract = [pattern for pattern in extract if not self.fields and compiled(pattern).groups < 2]
        self.each = rng.random() < 0.5

    def arguments(self) -> list[str]:
        flags = ["-n", str(self.number)]
        if self.fields:
            flags += ["-f", ",".join(f"{field[0]}-{field[1]}" if isinstance(field, tuple) else str(field) for field in self.fields)]
        if self.kind == "quotes":
            flags.append("-q")
        elif self.kind == "regex":
            flags += ["-p", self.separator]
        for pattern in self.extract:
            flags += ["-e", pattern, *["--each"] * self.each]
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
        regex, text, encoding = searcher(self.separator, record)
        parts, at = [], 0
        for match in matches(regex, text):
            parts.append(text[at : match.start()])
            at = match.end()
        return [part.encode(encoding) for part in [*parts, text[at:]]], False

    def keys(self, record: bytes) -> list[bytes | None]:
        """The keys of a record, `None` for one that lacks a field."""
        if self.extract:
            regex, text, encoding = searcher(self.extract[0], record)
            found = [match for match in matches(regex, text) if match.end() > match.start()]
            keys = [match[match.re.groups] for match in (found if self.each else found[:1])]
            return [key if key is None else key.encode(encoding) for key in keys]
        if not self.fields:
            return [record]
        found, is_open = self.split(record)
        if is_open and any(number < 0 for field in self.fields for number in (field if isinstance(field, tuple) else (field,))):
            return [None]
        chosen = []
        for field in self.fields:
            first, last = field if isinstance(field, tuple) else (field, field)
            first, last = (number if number > 0 else len(found) + 1 + number for number in (first, last))
            if not 1 <= first <= last <= len(found):
                return [None]
            chosen += found[first - 1 : last]
        return [b" ".join(chosen)]

    def answer(self, files: list[bytes]) -> tuple[list[tuple[int, bytes]], int, int, int]:
        """Most frequent keys with counts, and the numbers of records, distinct keys and skipped records."""
        counts, skipped = Counter(), 0
        for content in files:
            lines = content.split(b"\n")
            if lines[-1] == b"":
                lines.pop()
            for line in lines:
                record = line.removesuffix(b"\r")
                if not all(has_match(pattern, record) for pattern in self.grep) or any(has_match(pattern, record) for pattern in self.vgrep):
                    continue
                for key in self.keys(record):
                    if key is None:
                        skipped += 1
                        continue
                    for pattern, replacement in self.sed:
                        key = edited(pattern, replacement, key)
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
