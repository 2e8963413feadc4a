#!/usr/bin/env python3
"""Searches random trees with finecomb.grep, as an iterator and as a stream of Arrow, and compares the lines with the output of comb.

    hunt_py_grep.py [--runs N] [--seed S]

Runs in an environment with the module, the command beside it, and pyarrow. Prints each fault with the seed of its run, and exits with 1 if
there was one.
"""

import argparse
import base64
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import finecomb
import pyarrow

COMB = Path(sys.executable).with_name("comb")
WORDS = [b"a", b"ab", b"B", b"needle", b"\xc3\xa9", b"\xff", b" ", b"\t", b"-", b"\r", b"x" * 40, b"\0", b"0", b"_"]
PATTERNS = ["a", "b+", "^a", "b$", "^$", "", r"\w+", "a|needle", r"(?-u)\xFF", "é", "zzz", r"\bab\b", "[^a]", "(a)(b)?", r"\s", "needle.*x"]
NAMES = ["a", "b.txt", ".hidden", "c d", "e.log", "\udcff", "sub/f", "sub/deep/g.txt"]
FLAGS = [
    ("ignore_case", lambda source: True), ("smart_case", lambda source: True), ("word_regexp", lambda source: True),
    ("line_regexp", lambda source: True), ("invert_match", lambda source: True), ("crlf", lambda source: True),
    ("multiline", lambda source: True), ("multiline_dotall", lambda source: True), ("hidden", lambda source: True),
    ("text", lambda source: True), ("binary", lambda source: True), ("fixed_strings", lambda source: True),
    ("passthru", lambda source: True), ("max_count", lambda source: source.randint(0, 4)),
    ("limit", lambda source: source.randint(0, 9)), ("context", lambda source: source.randint(0, 3)),
    ("after_context", lambda source: source.randint(0, 3)), ("before_context", lambda source: source.randint(0, 3)),
    ("glob", lambda source: source.choice(["*.txt", "!a", "sub/**"])), ("not_", lambda source: source.choice(["a", "x", "é"])),
    ("and_", lambda source: source.choice(["a", "b", " "])), ("pcre2", lambda source: True), ("sort", lambda source: "path"),
    ("max_line", lambda source: 1000), ("stop_on_nonmatch", lambda source: True),
]


def tree(source, directory):
    for name in source.sample(NAMES, source.randint(1, 4)):
        path = os.path.join(os.fsencode(directory), name.encode(errors="surrogateescape"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # NULs are rare, as they hide the rest of a file.
        words = WORDS if source.random() < 0.2 else [word for word in WORDS if word != b"\0"]
        lines = [b"".join(source.choices(words, k=source.randint(0, 6))) for _ in range(source.choice([0, 1, 5, 40, 400]))]
        with open(path, "wb") as file:
            file.write(b"\n".join(lines) + source.choice([b"", b"\n"]))


def words_of(flags):
    words = []
    for name, value in flags.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        words += [flag] if value is True else [f"{flag}={value}"]
    return words


def printed_as_text(pattern, directory, flags):
    """Path, number, offset, text and whether it is context, of each line; and the notices on binary files."""
    words = [COMB, "grep", "-n", "-H", "-b", "--null", "--no-heading", "--no-context-separator", "--field-match-separator=\\x00"]
    words += ["--field-context-separator=\\x01", "--no-messages", *words_of(flags), "-e", pattern, "--", directory]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
    found, notices, rest = [], [], done.stdout
    while rest:
        path, _, after = rest.partition(b"\0")
        head = path.split(b"\n", 1)[0]
        if b"found \"\\0\" byte around offset" in head or not after:
            notice, _, rest = rest.partition(b"\n")
            notices.append(os.fsdecode(notice))
            continue
        digits = len(after) - len(after.lstrip(b"0123456789"))
        separator = after[digits:digits + 1]
        number, offset, after = after.split(separator, 2)
        text, _, rest = after.partition(b"\n")
        if flags.get("crlf"):
            text = text.removesuffix(b"\r")
        found.append((os.fsdecode(path), int(number), int(offset), text, separator == b"\1"))
    return found, notices


def printed_as_json(pattern, directory, flags):
    words = [COMB, "grep", "--json", "--no-messages", *words_of(flags), "-e", pattern, "--", directory]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
    data = lambda value: value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
    found = []
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["type"] not in ("match", "context"):
            continue
        of, is_context = message["data"], message["type"] == "context"
        text = data(of["lines"])
        text = text.removesuffix(b"\r\n" if flags.get("crlf") and text.endswith(b"\r\n") else b"\n")
        spans = [] if is_context else [(min(s["start"], len(text)), min(s["end"], len(text))) for s in of["submatches"]]
        found.append((os.fsdecode(data(of["path"])), of["line_number"], of["absolute_offset"], text, spans, is_context))
    return found


def compare(source, directory):
    """A description of the first difference, if there is one, and the number of lines."""
    flags = {name: value(source) for name, value in FLAGS if source.random() < 0.12}
    pattern = source.choice(PATTERNS)
    run = {"block_size": source.choice([1, 7, 100, 4096]), "threads": source.choice([1, 2, 8])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", finecomb.Warning)
        try:
            matches = finecomb.grep(pattern, directory, **flags, **run)
        except finecomb.Error as error:
            done = subprocess.run([COMB, "grep", *words_of(flags), "-e", pattern, directory], capture_output=True, text=True, errors="replace")
            # The command does not compile a pattern if no line is wanted.
            is_same = 0 in (flags.get("max_count"), flags.get("limit")) or done.returncode == 2 and str(error).splitlines()[-1] in done.stderr
            return (None if is_same else f"{flags}: {error} but {done.stderr}"), 0
        found = [(m.path, m.line_number, m.offset, m.line, m.spans, m.is_context) for m in matches]
        table = pyarrow.table(finecomb.grep(pattern, directory, **flags, **run))
    table.validate(full=True)
    rows = [
        (os.fsencode(row["path"]), row["line_number"], row["offset"], row["line"],
         [(span["start"], span["end"]) for span in row["spans"] or []], row["spans"] is None)
        for row in table.to_pylist()
    ]
    lossy = [(os.fsencode(path).decode(errors="replace").encode(), *rest) for path, *rest in found]
    case = f"{pattern!r} {flags} {run}"
    if rows != lossy:
        return f"{case}: Arrow has {rows}, the iterator {lossy}", 0
    if not flags.get("multiline"):
        expected, notices = printed_as_text(pattern, directory, flags)
        if (got := [(*row[:4], row[5]) for row in found]) != expected:
            return f"{case}: found {got}, printed {expected}", 0
        got = [message for message in matches.messages if "byte around offset" in message]
        if got != [os.fsencode(notice).decode(errors="replace") for notice in notices]:
            return f"{case}: messages {got}, printed {notices}", 0
    # As text, which --binary turns off: JSON has other lines of binary files.
    if flags.get("text") and "binary" not in flags and "limit" not in flags:
        expected = printed_as_json(pattern, directory, flags)
        if found != expected:
            return f"{case}: found {found}, JSON {expected}", 0
    return None, len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults = lines = 0
    for run in range(arguments.runs):
        source = random.Random(f"{arguments.seed}/{run}")
        with tempfile.TemporaryDirectory() as directory:
            tree(source, directory)
            fault, count = compare(source, directory)
        lines += count
        if fault:
            faults += 1
            print(f"run {run} of seed {arguments.seed}: {fault}", flush=True)
    print(f"{arguments.runs} runs with {lines} lines, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
