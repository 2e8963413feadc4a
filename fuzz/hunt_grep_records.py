#!/usr/bin/env python3
"""Compares `comb grep --record` with a plain implementation, on random logs and command lines.

    fuzz/hunt_grep_records.py [--comb PROGRAM] [--runs N] [--per-tree N] [--seed N] [--folder DIR]

The plain implementation divides each text by a loop over its lines, searches each record by itself, and prints with a loop over records.
Standard output and exit status must be the same at every width and block size, also for a compressed file and a pipe.
"""

import base64
import gzip
import json
import random
import re
import shlex
import subprocess
from pathlib import Path

import hunt_grep
from random_trees import WIDTHS, hunt

LINES = [
    "2024-05-01 10:00:00 INFO foo", "2024-05-01 10:00:01,123 ERROR bar failed", "2024-05-01T10:00:02Z WARN foo bar", "foo", "bar baz", "foo é bar",
    "java.io.IOException: foo", "\tat a.b.C(C.java:1)", "\tat foo.Bar(Bar.java:22)", "Caused by: a.b.Foo: bar", "\t... 12 more", "... 3 more", "... foo", "",
    "Traceback (most recent call last):", '  File "foo.py", line 1, in <module>', "ValueError: foo", "  bar", "x" * 300,
    "During handling of the above exception, another exception occurred:",
]
PATTERNS = ["foo", "bar", "^foo", "foo$", "^$", "", r"\d+", "ERROR|WARN", r"\bat\b", "zzz", "é", "o{2}", "[a-z]+", "(f)(o)o"]
MULTILINE = [r"foo\n", r"Exception.*\n\tat", r"(?s:ERROR.*Caused)", r"\n\n", r"bar$\n^\t", r"\A2024", r"more\n?\Z", r"(?s:foo.*?bar)", "foo", ""]
TRACEBACK = b"Traceback (most recent call last):"
BETWEEN = (
    b"During handling of the above exception, another exception occurred:",
    b"The above exception was the direct cause of the following exception:",
)
TIME = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
RULES = ["time", "indent", "indent", "^2024", "foo", "^[^ \t]", "zzz", "ERROR|WARN|INFO"]


def role(rule: str, line: bytes) -> str:
    """What a line does with its record: it begins one, continues one, or makes the next line that would begin one continue it."""
    if rule == "time":
        return "begins" if TIME.match(line) else "continues"
    if rule != "indent":
        return "begins" if re.search(rule.encode(), line) else "continues"
    if line == TRACEBACK:
        return "opens"
    if not line or line[:1] in b" \t\r\f" or line.startswith(b"Caused by:") or re.fullmatch(rb"\.\.\. \d+ more", line) or line in BETWEEN:
        return "continues"
    return "begins"


def divide(rule: str, text: bytes) -> list[tuple[int, int]]:
    """The records of a text, as ranges of bytes."""
    records, at, is_open = [], 0, False
    for line in re.findall(rb"[^\n]*\n|[^\n]+", text):
        of_line = role(rule, line.rstrip(b"\n").removesuffix(b"\r"))
        begins = of_line == "begins" and not is_open
        is_open = is_open if of_line == "continues" else of_line == "opens"
        if begins or not records:
            records.append((at, at + len(line)))
        else:
            records[-1] = (records[-1][0], at + len(line))
        at += len(line)
    return records


class Case:
    """A query."""

    def __init__(self, rng: random.Random) -> None:
        self.rule = rng.choice(RULES)
        self.multiline = rng.random() < 0.25
        patterns = MULTILINE if self.multiline else PATTERNS
        # After an empty match, Python tries the other patterns at the same place.
        self.patterns = [rng.choice(patterns) for _ in range(rng.choice([1, 1, 1, 2]))]
        self.patterns = self.patterns if all(self.patterns) else [""]
        self.ands = [rng.choice(PATTERNS) for _ in range(rng.choice([0, 0, 0, 1, 2]))]
        self.nots = [rng.choice(PATTERNS[:4] + PATTERNS[6:]) for _ in range(rng.choice([0, 0, 0, 1]))]
        self.invert, self.ignore_case = rng.random() < 0.25, rng.random() < 0.2
        self.max = rng.choice([1 << 60, 1 << 60, 1, 2, 5])
        self.mode = rng.choice(["lines", "lines", "lines", "-o", "--passthru", "-c", "-l", "--files-without-match", "--count-matches", "--json", "--limit"])
        self.after, self.before = (rng.choice([0, 0, 1, 2]), rng.choice([0, 0, 1, 3])) if self.mode in ("lines", "-o", "--json") else (0, 0)
        self.numbers, self.limit = rng.random() < 0.8, rng.choice([1, 2, 5, 20])
        compiled = lambda pattern: re.compile(pattern.encode(), (re.M if pattern else 0) | (re.I if self.ignore_case else 0))
        self.search = compiled("|".join(f"(?:{p})" for p in self.patterns)) if len(self.patterns) > 1 else compiled(self.patterns[0])
        self.all, self.none = [compiled(p) for p in self.ands], [compiled(p) for p in self.nots]

    def arguments(self) -> list[str]:
        rust = lambda pattern: pattern.replace(r"\Z", r"\z")
        flags = [f"--record={self.rule}", "--no-heading", "-n" if self.numbers else "-N"]
        flags += [word for pattern in self.patterns for word in ("-e", rust(pattern))]
        flags += [word for pattern in self.ands for word in ("--and", pattern)] + [word for pattern in self.nots for word in ("--not", pattern)]
        flags += ["-U"] * self.multiline + ["-v"] * self.invert + ["-i"] * self.ignore_case
        flags += ["-m", str(self.max)] if self.max < 1 << 60 else []
        flags += ["-A", str(self.after), "-B", str(self.before)] if self.after + self.before else []
        flags += [] if self.mode == "lines" else ["--limit", str(self.limit)] if self.mode == "--limit" else [self.mode]
        return flags

    def found(self, regex: re.Pattern, record: bytes) -> list[tuple[int, int]]:
        """The matches in a record. An empty one after the last line feed is none."""
        if self.multiline:
            spans = spans_of(regex, record)
        else:
            spans, at = [], 0
            for line in re.findall(rb"[^\n]*\n|[^\n]+", record):
                spans += [(at + begin, at + end) for begin, end in spans_of(regex, line.removesuffix(b"\n"))]
                at += len(line)
        return [span for span in spans if span[0] < len(record) or not record.endswith(b"\n")]

    def meets(self, record: bytes) -> bool:
        each = lambda regex: bool(self.found(regex, record))
        return each(self.search) and all(map(each, self.all)) and not any(map(each, self.none))


def spans_of(regex: re.Pattern, text: bytes) -> list[tuple[int, int]]:
    """The matches in a text. Unlike Python, Rust finds no empty match where another one ends."""
    spans: list[tuple[int, int]] = []
    for found in regex.finditer(text):
        if not spans or found.start() < found.end() or spans[-1][1] < found.start():
            spans.append(found.span())
    return spans


def split(text: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", text)


class Plain:
    """The plain implementation, for files in their order."""

    def __init__(self, case: Case, with_path: bool) -> None:
        self.case, self.with_path = case, with_path
        self.out: list[bytes] = []
        self.left = case.limit
        self.any = False

    def fields(self, path: bytes, number: int, separator: bytes) -> bytes:
        fields = [path] * self.with_path + [b"%d" % number] * self.case.numbers
        return b"".join(field + separator for field in fields)

    def show(self, path: bytes, text: bytes, record: tuple[int, int], is_match: bool) -> None:
        case, content = self.case, text[slice(*record)]
        first = text.count(b"\n", 0, record[0]) + 1
        spans = []
        if (is_match or case.invert) and case.meets(content):
            spans = [span for span in case.found(case.search, content) if span[0] < len(content)]
        if case.mode == "--json":
            found = None if self.case.invert and is_match else spans
            self.out.append(repr(("match" if is_match else "context", path, first if case.numbers else None, record[0], content, found or [])).encode())
            return
        at = 0
        for number, line in enumerate(split(content), first):
            whole = line.removesuffix(b"\n")
            if case.mode == "-o" and spans:
                for begin, end in spans:
                    clipped = max(begin, at) - at, min(end - at, len(whole))
                    is_here = begin < at + len(line) and end >= at
                    if is_here and (clipped[0] < clipped[1] or begin == end and begin >= at):
                        self.out.append(self.fields(path, number, b":" if is_match else b"-") + whole[slice(*clipped)] + b"\n")
            else:
                self.out.append(self.fields(path, number, b":" if is_match and at == 0 else b"-") + whole + b"\n")
            at += len(line)

    def add(self, path: bytes, text: bytes) -> None:
        case, records = self.case, divide(self.case.rule, text)
        selected = [case.meets(text[slice(*record)]) != case.invert for record in records]
        counted = [number for number, is_selected in enumerate(selected) if is_selected][: case.max]
        self.any |= not counted if case.mode == "--files-without-match" else bool(counted)
        if case.mode == "-l" and counted or case.mode == "--files-without-match" and not counted:
            self.out.append(path + b"\n")
        elif case.mode in ("-c", "--count-matches") and counted:
            matches = lambda record: max(1, len([span for span in case.found(case.search, record) if span[0] < len(record)]))
            count = len(counted) if case.mode == "-c" or case.invert else sum(matches(text[slice(*records[number])]) for number in counted)
            self.out.append((path + b":" if self.with_path else b"") + b"%d\n" % count)
        elif case.mode in ("lines", "-o", "--passthru", "--json", "--limit"):
            self.show_file(path, text, records, selected, counted)

    def show_file(self, path: bytes, text: bytes, records: list, selected: list[bool], counted: list[int]) -> None:
        case, shown, after, seen = self.case, -1, 0, 0
        has_context = case.after + case.before > 0 and case.mode != "--json"
        for number, record in enumerate(records):
            is_counted = number in counted
            seen += is_counted
            if not is_counted and after == 0 and case.mode != "--passthru":
                continue
            if case.mode == "--limit":
                if self.left == 0:
                    return
                self.left -= 1
            first = max(number - case.before, shown + 1) if is_counted and case.mode != "--passthru" else number
            if has_context and (shown >= 0 and first > shown + 1 or shown < 0 and self.out):
                self.out.append(b"--\n")
            for context in range(first, number):
                self.show(path, text, records[context], False)
            is_past = seen == case.max and not is_counted and selected[number] and case.mode != "--passthru"
            self.show(path, text, record, is_counted or is_past)
            shown, after = number, case.after if is_counted else max(after - 1, 0)


def messages(output: bytes) -> list[bytes]:
    """JSON messages in the form of the plain implementation."""
    data = lambda value: value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
    lines = []
    for message in map(json.loads, output.splitlines()):
        if message["type"] in ("match", "context"):
            body = message["data"]
            spans = [(found["start"], found["end"]) for found in body["submatches"]]
            lines.append(repr((message["type"], data(body["path"]), body["line_number"], body["absolute_offset"], data(body["lines"]), spans)).encode())
    return lines


def make_tree(rng: random.Random, root: Path) -> list[str]:
    names = sorted(f"{name}{rng.choice(['.log', '.log', '.log.gz'])}" for name in "abcd"[: rng.randrange(1, 5)])
    for name in names:
        end = rng.choice(["\n", "\n", "\n", "\r\n"])
        lines = [rng.choice(LINES) for _ in range(rng.choice([0, 1, 5, 30, 300, 3000]))]
        text = (end.join(lines) + rng.choice([end, end, ""])).encode() if lines else b""
        (root / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return names


def content(root: Path, name: str) -> bytes:
    raw = (root / name).read_bytes()
    return gzip.decompress(raw) if name.endswith(".gz") else raw


def check(comb: str, rng: random.Random, names: list[str], root: Path) -> tuple[str, tuple, tuple] | None:
    case = Case(rng)
    is_pipe = rng.random() < 0.2
    chosen = [rng.choice(names)] if is_pipe or rng.random() < 0.2 else names
    paths = ["-"] if is_pipe else chosen
    plain = Plain(case, with_path=len(paths) > 1)
    for name in chosen:
        plain.add(b"<stdin>" if is_pipe else name.encode(), content(root, name))
    if case.mode in ("-l", "--files-without-match") and is_pipe:
        return None
    arguments = [*case.arguments(), "-z", *paths]
    command = [comb, "grep", "--no-config", "-j", rng.choice(WIDTHS), "--block-size", rng.choice(hunt_grep.BLOCKS), *arguments]
    given = content(root, chosen[0]) if is_pipe else None
    done = subprocess.run(command, cwd=root, input=given, capture_output=True, timeout=60, check=False)
    printed = b"\n".join(messages(done.stdout)) if case.mode == "--json" else done.stdout
    wanted = b"\n".join(plain.out) if case.mode == "--json" else b"".join(plain.out)
    expected, found = (wanted, 0 if plain.any else 1, b""), (printed, done.returncode, done.stderr)
    return None if expected == found else (shlex.join(command[2:]), expected, found)


if __name__ == "__main__":
    hunt(make_tree, check)
