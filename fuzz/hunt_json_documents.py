#!/usr/bin/env python3
"""Fuzzing of `comb top` on JSON in arrays, over several lines and in the text of a field, with Python's json as oracle.

    fuzz/hunt_json_documents.py [--comb PROGRAM] [--runs N] [--seed N] [--keep FOLDER]

A run writes random objects as an array, several arrays, documents one after the other, an array inside documents, pretty or in one line, or as the texts
of a field with `--unwrap`, and counts a field. The answer must be that of the oracle, and the same bytes at other widths and block sizes, from a file, a
pipe and gzip of several members. For a damaged text, only the sameness is checked, and that there is no crash. Texts of faults are kept in a folder.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

TEXTS = ["", "a", "}", "{", "]", "[", '"', "\\", '\\"', "é", "\u2028", "x\ny", ",", ":", '{"k":1}', "日本", "\\u0041", "a" * 70]
KEYS = ["k", "r", "a", "", "}", '"', "long" * 20, "k\\"]
WIDTHS, BLOCKS = ["1", "2", "3", "8"], ["1", "7", "64", "1000", "1K", "4K", "128K"]
TIMEOUT = 60


def value(source: random.Random, depth: int) -> object:
    """A random value of JSON."""
    kind = source.randrange(8 if depth < 3 else 6)
    if kind == 7:
        return {source.choice(KEYS): value(source, depth + 1) for _ in range(source.randrange(4))}
    if kind == 6:
        return [value(source, depth + 1) for _ in range(source.randrange(4))]
    return [source.choice(TEXTS), source.choice(TEXTS), source.randrange(-5, 5), True, None, 1.5][kind]


def record(source: random.Random) -> dict[str, object]:
    """A random object, with or without the counted member."""
    members = [(key, value(source, 1)) for key in KEYS[1:] if source.random() < 0.3]
    if source.random() < 0.8:
        members.append(("k", source.choice(["one", "two", "three", 'f"o', "ü"])))
    source.shuffle(members)
    return dict(members)


def written(source: random.Random, records: list[dict[str, object]]) -> tuple[str, list[str]]:
    """The text, and the flags that lead to the records in it."""
    indent = source.choice([None, 0, 1, 4])
    ascii_only, separators = source.random() < 0.5, source.choice([None, (",", ":")])

    def write(item: object) -> str:
        return json.dumps(item, indent=indent, ensure_ascii=ascii_only, separators=separators)

    middle = source.randrange(len(records) + 1)
    halves = [records[:middle], records[middle:]]
    shape = source.randrange(4)
    if shape == 0:
        return write(records) + source.choice(["", "\n"]), []
    if shape == 1:
        return source.choice(["", "\n", " "]).join(write(half) for half in halves), []
    if shape == 2:
        return source.choice(["", "\n", " \n "] if indent is not None else ["", "\n"]).join(map(write, records)), []
    name = source.choice(["r", "Records"])
    documents = [{"x": value(source, 1), "inner": {"y": [{}], name: half, "z": value(source, 1)}, "k": "outer"} for half in halves]
    return source.choice(["", "\n"]).join(map(write, documents)), ["--records", f".inner.{name}"]


def wrapped(source: random.Random, records: list[dict[str, object]]) -> tuple[str, list[str], list[dict[str, object]]]:
    """The records as texts in a field of others or of lines of CRI, the flags, and the fields that each record has then."""
    indent, ascii_only = source.choice([None, None, 1]), source.random() < 0.5
    texts = [json.dumps(one, indent=indent, ensure_ascii=ascii_only) for one in records]
    if indent is None and source.random() < 0.4:
        lines = [f"2026-03-01T06:20:09.5Z stdout F {text}\n" for text in texts]
        return "".join(lines), ["--input", "cri", *source.choice([[], ["--unwrap", "log=json"]])], records
    outer = [{"z": value(source, 1), **source.choice([{}, {"k": "outer"}])} for _ in records]
    shown = [{"log": text + source.choice(["", "\n", "\r\n"]), **around} for text, around in zip(texts, outer, strict=True)]
    flags = source.choice([["--input", "docker"], ["--input", "json", "--unwrap", "log"]]) if indent is None else ["--unwrap", "log=json"]
    if source.random() < 0.3:
        return json.dumps(shown, indent=indent), ["--input", "json", "--unwrap", "log=json"], merged(outer, records)
    return "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in shown), flags, merged(outer, records)


def merged(outer: list[dict[str, object]], inner: list[dict[str, object]]) -> list[dict[str, object]]:
    """The fields of records, and those that they lack from the records around them."""
    return [{**around, **one} for around, one in zip(outer, inner, strict=True)]


def damaged(source: random.Random, text: bytes) -> bytes:
    """The text with a few bytes removed, inserted or replaced."""
    changed = bytearray(text)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(changed) + 1)
        end = at + source.choice([0, 0, 1, 1, 5])
        changed[at:end] = source.choice([b"", b"{", b"}", b"[", b"]", b'"', b"\\", b"\n", b",", b"x", b"\xff", b"\0"])
    return bytes(changed)


def members(source: random.Random, text: bytes) -> bytes:
    """The text as gzip of several members."""
    size = source.randint(1, max(1, len(text)))
    return b"".join(gzip.compress(text[at : at + size], 1) for at in range(0, max(1, len(text)), size))


class Hunt:
    """Runs a program in a folder."""

    def __init__(self, comb: Path, folder: Path) -> None:
        self.comb, self.folder = comb, folder

    def ask(self, flags: list[str], text: bytes, source: random.Random) -> tuple[int, bytes, bytes]:
        """Status, output and messages of a count, without the name of the input."""
        form = source.choice(["file", "pipe", "gzip"])
        path = self.folder / "text"
        path.write_bytes(members(source, text) if form == "gzip" else text)
        words = [str(self.comb), "top", *flags, "-j", source.choice(WIDTHS), "--block-size", source.choice(BLOCKS)]
        done = subprocess.run(
            words if form == "pipe" else [*words, str(path)],
            input=text if form == "pipe" else b"",
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        messages = done.stderr.replace(str(path).encode(), b"INPUT").replace(b"standard input", b"INPUT").replace(b"<stdin>", b"INPUT")
        return done.returncode, done.stdout, messages

    def run(self, source: random.Random) -> tuple[str | None, bytes, list[str]]:
        """A fault, with the text and the flags."""
        records = [record(source) for _ in range(source.choice([1, 3, 20, 200]))]
        if source.random() < 0.3:
            text, leading, records = wrapped(source, records)
        else:
            text, leading = written(source, records)
            leading = ["--input", "json", *leading]
        encoded = text.encode("utf-8", "surrogatepass")
        flags = ["-f", "k", "-n", "all", "--missing", "none", *leading]
        is_whole = source.random() < 0.6
        if not is_whole:
            encoded = damaged(source, encoded)
        answers = [self.ask(flags, encoded, source) for _ in range(3)]
        if any(status not in (0, 1, 2) or b"panicked" in messages for status, _, messages in answers):
            return "crash", encoded, flags
        if len({answer[:2] for answer in answers}) > 1 or len({answer[2] for answer in answers}) > 1:
            return f"different answers: {answers}", encoded, flags
        if is_whole:
            counts = Counter(str(one.get("k", "none")) for one in records)
            order = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))
            expected = "".join(f"{count} {key}\n" for key, count in order).encode()
            has_key = any("k" in one for one in records)
            # The names that are near may follow.
            absent = answers[0][2].startswith(b"comb: -f: no record has the field k")
            is_said = absent and answers[0][2].count(b"\n") == 1 if records and not has_key else not answers[0][2]
            if answers[0][1] != expected or not is_said:
                return f"expected {expected!r}, found {answers[0]}", encoded, flags
        return None, encoded, flags


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", type=Path, default=Path(__file__).resolve().parent.parent / "target/debug/comb")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    parser.add_argument("--keep", type=Path, help="folder for texts of faults")
    arguments = parser.parse_args()
    faults = 0
    with TemporaryDirectory() as folder:
        hunt = Hunt(arguments.comb.resolve(), Path(folder))
        for number in range(arguments.runs):
            fault, text, flags = hunt.run(random.Random(f"{arguments.seed} {number}"))
            if fault:
                faults += 1
                print(f"run {number} of seed {arguments.seed}: comb top {' '.join(flags)}: {fault}"[:2000], flush=True)
                if arguments.keep:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"{arguments.seed}-{number}").write_bytes(text)
    print(f"seed {arguments.seed}: {arguments.runs} runs, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
