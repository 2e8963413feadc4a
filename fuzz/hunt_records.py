#!/usr/bin/env python3
"""Compares `comb top --record` with a loop over lines in Python, on random logs with stack traces.

    fuzz/hunt_records.py [--runs N] [--seed N] [--comb PROGRAM]

Each run counts a random log by a random rule and query, at a random width and block size, from a file, a pipe or a compressed file. The
status is 1 if there was a fault.
"""

import argparse
import base64
import gzip
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

LINES = [
    b"2026-03-01 06:20:09,252 ERROR a.b.Order: 17 failed",
    b"2026-03-01T06:20:10Z INFO done",
    b"[2026-03-01 06:20:11] b",
    b"ERROR: 2026-03-01 06:20:12 c",
    b"06:20:13.252 [main] WARN d",
    b"Mar  1 06:20:14 host e",
    b"a.b.OrderException: 2026-03-01 06:20:09",
    b"\tat a.b.Order.place(Order.java:12)",
    b"    return place(17)",
    b"Caused by: java.io.IOException: closed",
    b"... 2 more",
    b"Traceback (most recent call last):",
    b"ValueError: f",
    b"During handling of the above exception, another exception occurred:",
    b"",
    b"\r",
    b"g\r",
    b"\xfe\xfe",
]
TIME = re.compile(
    rb"[\[(<]*(?:(?:ERROR|WARN)[\[(<\])>:|, \t]+)?"
    rb"(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d(?![0-9A-Za-z])|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)"
)
BETWEEN = (
    b"During handling of the above exception, another exception occurred:",
    b"The above exception was the direct cause of the following exception:",
)
MAX_LINES = (100, 1000, 64 << 20)


def split(text: bytes, rule: str) -> list[bytes]:
    """The records of a text, with their line ends."""
    records: list[bytes] = []
    is_open = False
    for line in re.findall(rb"[^\n]*\n|[^\n]+\Z", text):
        content = line.removesuffix(b"\n").removesuffix(b"\r")
        if rule == "time":
            begins = TIME.match(content) is not None
        elif rule == "indent":
            begins = not (
                content == b""
                or content[:1] in b" \t\r\x0c"
                or content.startswith(b"Caused by:")
                or re.fullmatch(rb"\.\.\. \d+ more", content)
                or content in BETWEEN
            )
            if content == b"Traceback (most recent call last):":
                begins, is_open = False, True
            elif begins and is_open:
                begins, is_open = False, False
        else:
            begins = re.search(rule.encode(), content) is not None
        if begins or not records:
            records.append(line)
        else:
            records[-1] += line
    return records


def first_line(record: bytes) -> bytes:
    return record.split(b"\n")[0].removesuffix(b"\r")


def random_log(rng: random.Random) -> bytes:
    parts = []
    for _ in range(rng.choice((0, 1, 5, 50, 500))):
        parts.extend([rng.choice(LINES)] * rng.choice((1, 1, 1, 2, 5, 40)))
    text = b"\n".join(parts) * rng.choice((1, 1, 1, 7))
    return text + rng.choice((b"", b"\n"))


def expected(text: bytes, rule: str, query: str, max_line: int) -> Counter[bytes]:
    counts: Counter[bytes] = Counter()
    for record in split(text, rule):
        if len(record.removesuffix(b"\n")) > max_line:
            continue
        whole = record.removesuffix(b"\n").removesuffix(b"\r")
        if query == "grep" and b"Exception" not in whole:
            continue
        if query == "vgrep" and re.search(rb"\n\tat ", whole):
            continue
        if query == "extract":
            found = re.search(rb"^[\w.]+(?:Exception|Error)", whole, re.MULTILINE)
            if found:
                counts[found[0]] += 1
        elif query == "field":
            fields = first_line(record).replace(b"\t", b" ").split(b" ")
            fields = [field for field in fields if field]
            if len(fields) > 1:
                counts[fields[1]] += 1
        else:
            counts[first_line(record)] += 1
    return counts


FLAGS = {
    "key": [],
    "grep": ["-g", "Exception"],
    "vgrep": ["-v", r"\n\tat "],
    "extract": ["-e", r"(?m)^[\w.]+(?:Exception|Error)"],
    "field": ["-f", "2"],
}


def run(comb: Path, folder: Path, rng: random.Random) -> str | None:
    """A message about a fault, if there is one."""
    text = random_log(rng)
    rule = rng.choice(("time", "indent", "^a", "ERROR", "[0-9]$", "^$"))
    query = rng.choice(list(FLAGS))
    max_line = rng.choice(MAX_LINES)
    flags = ["--record", rule, *FLAGS[query], "-n", "all", "--json", "--max-line", str(max_line)]
    flags += ["-j", str(rng.choice((1, 2, 3, 8))), "--block-size", str(rng.choice((1, 64, 1 << 10, 1 << 13, 1 << 20)))]
    path = folder / "app.log"
    given = None
    medium = rng.choice(("file", "pipe", "gzip"))
    if medium == "pipe":
        given, files = text, []
    elif medium == "gzip":
        size = rng.choice((100, 5000, 1 << 20))
        path = folder / "app.log.gz"
        path.write_bytes(b"".join(gzip.compress(text[at : at + size]) for at in range(0, len(text), size)))
        files = [str(path)]
    else:
        path.write_bytes(text)
        files = [str(path)]
    done = subprocess.run([comb, "top", *flags, *files], input=given, capture_output=True, check=False)
    counts = expected(text, rule, query, max_line)
    found: Counter[bytes] = Counter()
    for row in json.loads(done.stdout or b"{}").get("top", []):
        key = base64.b64decode(row["key_base64"]) if "key_base64" in row else row["key"].encode()
        found[key] += row["count"]
    if found == counts and b"panicked" not in done.stderr:
        return None
    (folder / "fault.log").write_bytes(text)
    return f"{medium} {flags}:\n{found - counts}\nare too many,\n{counts - found}\ntoo few\n{done.stderr.decode(errors='replace')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--comb", type=Path, default=Path(__file__).resolve().parent.parent / "target/debug/comb")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.runs):
            rng = random.Random(f"{arguments.seed} {number}")
            if message := run(arguments.comb.resolve(), Path(folder), rng):
                faults += 1
                print(f"run {number}: {message}", flush=True)
                if faults == 3:
                    break
    print(f"{arguments.runs} runs, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
