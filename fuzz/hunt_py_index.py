#!/usr/bin/env python3
"""Fuzzing of the Python class finecomb.Index, with bytes.find on the text as the oracle.

    fuzz/hunt_py_index.py [--runs N] [--seed N]

Needs a Python environment with the module, the command beside it, and pyarrow. Each run builds the index of a random text and calls all
methods with random patterns and positions. A third of the indexes are damaged or cut off, half of these after they were opened:
answers may then be wrong if the damage is not cut off, but nothing except a finecomb.Error is raised.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import finecomb
import pyarrow
from hunt_index import damage_anything, make_text, occurrences, sections

COMB = Path(sys.executable).with_name("comb")

# Damage that every answer notices: pages that are missing.
CUT_OFF = "cut off in use"


def make_long_text(rng: random.Random) -> bytes:
    """A text whose frequent patterns are scanned for."""
    parts = [bytes(rng.choices(rng.choice([b"01", b"ab", b"a\n", b"ACGT"]), k=rng.randrange(1, 5))) for _ in range(3)]
    return b"".join(rng.choice(parts) * rng.randrange(1, 30_000) for _ in range(rng.randrange(1, 9)))[:400_000]


def make_pattern(rng: random.Random, text: bytes) -> bytes:
    at = rng.randrange(len(text) + 1)
    pattern = text[at : at + rng.choice([1, 1, 2, 3, 5, 8, 20, 300])]
    kind = rng.randrange(8)
    if kind == 0:
        return pattern + (text[:1] or b"1")
    if kind == 1:
        return pattern[:-1] + rng.choice([b"0", b"A", b"a", b"\0", b"\xff", b"\n"])
    return pattern or b"7"


class Oracle:
    """Answers from the text."""

    def __init__(self, text: bytes, alphabet: str) -> None:
        self.text, self.alphabet = text, alphabet
        self.first = int(alphabet == "digits")
        self.symbols = {"digits": set(b"0123456789"), "dna": set(b"ACGT"), "bytes": set(range(256))}[alphabet]

    def refuses(self, pattern: bytes, positions: list[int | None]) -> bool:
        allowed = range(self.first, self.first + len(self.text) + 1)
        return not set(pattern) <= self.symbols or any(position not in allowed for position in positions if position is not None)

    def all(self, pattern: bytes) -> list[int]:
        return [at + self.first for at in occurrences(self.text, pattern)]

    def place(self, position: int) -> tuple[int | None, int | None]:
        if self.alphabet != "bytes" or position >= len(self.text):
            return None, None
        return self.text.count(b"\n", 0, position) + 1, position - (self.text.rfind(b"\n", 0, position) + 1) + 1


class Fuzzer:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.counts, self.faults = Counter(), []

    def build(self, text: bytes, alphabet: str) -> Path:
        source, path = self.directory / "text", self.directory / "text.comb"
        source.write_bytes(text)
        command = [COMB, "index", "build", source, "-o", path, "--force", "--alphabet", alphabet, "-w", "1"]
        subprocess.run(command, check=True, capture_output=True)
        return path

    def compare(self, name: str, call, expected, damage: str) -> None:
        """Compares an answer. Expected is None if the call is refused."""
        try:
            answer = call()
        except finecomb.Error as error:
            self.counts["errors"] += 1
            if expected is not None and not damage:
                self.faults.append(f"{name}: {error}")
        except Exception as error:
            # pyarrow has exceptions of its own for an error in a stream.
            is_from_stream = damage and isinstance(error, (OSError, pyarrow.ArrowException)) and "index" in str(error)
            self.counts["errors of streams"] += bool(is_from_stream)
            if not is_from_stream:
                self.faults.append(f"{damage}: {name}: {error!r}")
        else:
            if (expected is not None and answer == expected[0]) or damage not in ("", CUT_OFF):
                self.counts["answers"] += 1
            else:
                self.faults.append(f"{damage}: {name}: {str(answer)[:200]} instead of {str(expected)[:200]}")

    def query(self, rng: random.Random, index: finecomb.Index, oracle: Oracle, damage: str) -> None:
        pattern = make_pattern(rng, oracle.text)
        start = rng.choice([None, rng.randrange(len(oracle.text) + 3)])
        every = oracle.all(pattern)
        after = [position for position in every if start is None or position >= start]
        refused = oracle.refuses(pattern, [start])

        def expect(answer):
            return None if refused else (answer,)

        searched = rng.choice([pattern, bytearray(pattern), memoryview(pattern)])
        if pattern.isascii() and rng.random() < 0.5:
            searched = pattern.decode()
        self.compare(f"find({pattern!r}, {start})", lambda: index.find(searched, start), expect(next(iter(after), None)), damage)
        if start is not None:
            before = [position for position in every if position < start]
            answer = expect(next(reversed(before), None))
            self.compare(f"find({pattern!r}, before={start})", lambda: index.find(searched, before=start), answer, damage)
        counted = None if oracle.refuses(pattern, []) else (len(every),)
        self.compare(f"count({pattern!r})", lambda: index.count(searched), counted, damage)
        limit = rng.choice([None, None, rng.randrange(20), rng.randrange(100_000)])
        name = f"all({pattern!r}, {start}, limit={limit})"
        self.compare(name, lambda: list(index.all(searched, start, limit=limit)), expect(after[:limit]), damage)
        self.compare(
            f"Arrow of {name}",
            lambda: pyarrow.table(index.all(searched, start, limit=limit))["position"].to_pylist(),
            expect(after[:limit]),
            damage,
        )

    def read(self, rng: random.Random, index: finecomb.Index, oracle: Oracle, damage: str) -> None:
        text, first = oracle.text, oracle.first
        at, length, context = rng.randrange(len(text) + 3), rng.randrange(40), rng.randrange(40)
        offset = at - first
        refused = oracle.refuses(b"", [at])
        answer = None if refused else (text[offset : offset + length],)
        self.compare(f"text({at}, {at + length})", lambda: index.text(at, at + length), answer, damage)

        def passage():
            found = index.passage(at, length, context)
            return found.position, found.line, found.column, found.match

        answer = None if refused else ((at, *oracle.place(at), text[offset : offset + length]),)
        self.compare(f"passage({at}, {length}, {context})", passage, answer, damage)

        def around():
            found = index.passage(at, length, context)
            # Characters are not split in a text of bytes, so up to three bytes may be missing at each end.
            slack = 3 if oracle.alphabet == "bytes" else 0
            before, after = text[max(0, offset - context) : offset], text[offset + length : offset + length + context]
            is_before = before.endswith(found.before) and len(before) - len(found.before) <= slack
            return is_before and after.startswith(found.after) and len(after) - len(found.after) <= slack

        self.compare(f"context of passage({at}, {length}, {context})", around, None if refused else (True,), damage)

    def damage(self, rng: random.Random, path: Path) -> str:
        file = bytearray(path.read_bytes())
        damage = damage_anything(rng, file, sections(file))
        path.write_bytes(file)
        return damage

    def run(self, rng: random.Random) -> None:
        text = make_long_text(rng) if rng.random() < 0.05 else make_text(rng)
        path = self.build(text, rng.choice(["auto", "auto", "bytes"]))
        kind, damage = rng.randrange(6), ""
        if kind == 0:
            damage = self.damage(rng, path)
        try:
            index = finecomb.Index.open(path)
        except finecomb.Error as error:
            self.counts["refused files"] += 1
            if not damage:
                self.faults.append(f"open: {error}")
            return
        # Line ends are not part of a text of digits.
        oracle = Oracle(text if index.alphabet == "bytes" else bytes(byte for byte in text if byte not in b"\r\n"), index.alphabet)
        if kind == 1:
            damage = CUT_OFF
            os.truncate(path, rng.randrange(path.stat().st_size))
        self.counts[f"indexes of {index.alphabet}"] += 1
        if not damage:
            self.compare("len", lambda: len(index), (len(oracle.text),), damage)
        for _ in range(4):
            self.query(rng, index, oracle, damage)
            self.read(rng, index, oracle, damage)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        fuzzer = Fuzzer(Path(directory))
        for number in range(arguments.runs):
            shown = len(fuzzer.faults)
            fuzzer.run(random.Random(arguments.seed * 1_000_003 + number))
            for fault in fuzzer.faults[shown:]:
                print(f"run {number}: {fault}", flush=True)
    for name, count in sorted(fuzzer.counts.items()):
        print(f"{count:8} {name}")
    print(f"{arguments.runs} indexes, {len(fuzzer.faults)} faults")
    sys.exit(1 if fuzzer.faults else 0)


if __name__ == "__main__":
    main()
