#!/usr/bin/env python3
"""Fuzzing of `comb find` and `comb index verify` on randomly damaged indexes, with the text as the oracle.

    fuzz/hunt_index.py [--comb PROGRAM] [--runs N] [--seed N]

Each run builds the index of a random text and damages a copy. Zeros, values past the end, or one wrong position in the suffix array:
docs/index-format.md guarantees right answers or errors. Flipped bits, zeros, random bytes and truncation anywhere: may give wrong
answers but never a crash, and `index verify` must detect them. If the Python module xxhash is installed, half of the latter get matching
checksums: `index verify --full` must detect them, unless the file equals a build of its text.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

try:
    from xxhash import xxh3_64_intdigest
except ImportError:
    xxh3_64_intdigest = None

HEADER = 4096
TABLE = 128
CHECKSUM = HEADER - 8
SECTIONS = ["text", "suffix array", "front table", "bitmaps", "line numbers"]
SYMBOLS = {0: (4, b"0123456789"), 1: (2, b"ACGT"), 2: (8, bytes(range(256)))}

# With more occurrences, one wrong position among them may go undetected.
ALL_COMPARED = 32


def outcome(command: list[str]) -> tuple[bytes, bytes, int]:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return done.stdout, done.stderr, done.returncode


def make_text(rng: random.Random) -> bytes:
    length = rng.choice([0, 1, rng.randrange(100), rng.randrange(3000), rng.randrange(30_000)])
    kind = rng.randrange(6)
    if kind == 0:
        words = [b"GET", b"/index.html", b"200", b"404", b"\xc3\xa4", b"10.0.0.1", b"-", b"x" * rng.randrange(1, 99)]
        lines = []
        while sum(map(len, lines)) < length:
            lines.append(b" ".join(rng.choices(words, k=rng.randrange(9))) + b" %d\n" % rng.randrange(1000))
        return b"".join(lines)
    if kind == 1:
        return rng.randbytes(length)
    if kind == 2:
        return b"7" * min(length, 3000) + bytes(rng.choices(b"0123456789", k=length))
    symbols = rng.choice([b"0123456789", b"ACGT", b"01", b"ab\n"])
    return bytes(rng.choices(symbols, k=length))


def sections(file: bytes) -> list[range]:
    rows = [file[TABLE + 24 * row : TABLE + 24 * row + 16] for row in range(len(SECTIONS))]
    bounds = [(int.from_bytes(row[:8], "little"), int.from_bytes(row[8:], "little")) for row in rows]
    return [range(start, start + length) for start, length in bounds]


def damage_suffixes(rng: random.Random, file: bytearray, part: range, symbols: int) -> str:
    """Damages the suffix array in a way that is guaranteed to be detected."""
    kind = rng.choice(["zeros", "zeros", "past the end", "one position"])
    first = rng.randrange(symbols)
    count = min(symbols - first, rng.choice([1, 2, 9, 100, 1024, symbols])) if kind != "one position" else 1
    for entry in range(first, first + count):
        value = {"zeros": 0, "past the end": rng.randrange(symbols, 1 << 32), "one position": rng.randrange(symbols)}[kind]
        file[part.start + 4 * entry : part.start + 4 * entry + 4] = value.to_bytes(4, "little")
    return f"{kind} in the suffix array"


def damage_anything(rng: random.Random, file: bytearray, parts: list[range]) -> str:
    if rng.random() < 0.15:
        del file[rng.randrange(len(file)) :]
        return "truncated"
    number = rng.choice([number for number, part in enumerate(parts) if part] + [-1])
    part = parts[number] if number >= 0 else range(len(file))
    name = SECTIONS[number] if number >= 0 else "anywhere"
    start = rng.choice(part)
    stop = min(part.stop, start + rng.choice([1, 4, 40, 4096]))
    kind = rng.choice(["flips", "flips", "zeros", "random bytes"])
    if kind == "flips":
        for _ in range(rng.choice([1, 1, 5, 50])):
            file[rng.choice(part)] ^= 1 << rng.randrange(8)
    else:
        file[start:stop] = bytes(stop - start) if kind == "zeros" else rng.randbytes(stop - start)
    return f"{kind}, {name}"


def fix_checksums(file: bytearray, parts: list[range]) -> None:
    """Recomputes the checksums. Sections are shorter than a chunk here."""
    for number, part in enumerate(parts):
        piece = xxh3_64_intdigest(bytes(file[part.start : part.stop])).to_bytes(8, "little") if part else b""
        at = TABLE + 24 * number + 16
        file[at : at + 8] = xxh3_64_intdigest(piece).to_bytes(8, "little")
    file[CHECKSUM:HEADER] = xxh3_64_intdigest(bytes(file[:CHECKSUM])).to_bytes(8, "little")


def decode(file: bytes, parts: list[range]) -> bytes:
    """The text of an index."""
    bits, symbols = SYMBOLS[file[24]]
    count = int.from_bytes(file[16:24], "little")
    codes = (byte >> shift & (1 << bits) - 1 for byte in file[parts[0].start : parts[0].stop] for shift in range(8 - bits, -1, -bits))
    return bytes(symbols[code] for code, _ in zip(codes, range(count)))


def occurrences(text: bytes, pattern: bytes) -> list[int]:
    found, at = [], text.find(pattern)
    while at >= 0:
        found.append(at)
        at = text.find(pattern, at + 1)
    return found


class Fuzzer:
    def __init__(self, comb: str, directory: Path) -> None:
        self.comb, self.directory = comb, directory
        self.counts, self.faults = Counter(), []

    def build(self, text: bytes, alphabet: str) -> bytes:
        (self.directory / "text").write_bytes(text)
        command = [self.comb, "index", "build", str(self.directory / "text"), "--alphabet", alphabet, "-w", "1"]
        out, err, code = outcome(command)
        assert code == 0, (err, code)
        return (self.directory / "text.comb").read_bytes()

    def fault(self, description: str) -> None:
        self.faults.append(description)

    def find(self, path: Path, pattern: bytes, arguments: list[str], expected, guaranteed: bool, damage: str) -> None:
        command = [self.comb, "find", str(path), "--json", "-C", "0", *arguments, "--", pattern]
        out, err, code = outcome(command)
        if code not in (0, 1, 2) or b"panicked" in err:
            self.counts["panics"] += 1
            return self.fault(f"{damage}: {command[3:]}: exit status {code}, {err[-200:]!r}")
        if code == 2:
            self.counts["errors"] += 1
            if err.count(b"\n") != 1:
                self.fault(f"{damage}: {command[3:]}: {err!r}")
            return
        answers = [json.loads(line) for line in out.splitlines()]
        if "--count" in arguments:
            found = answers[0]["count"]
        else:
            found = [answer["position"] for answer in answers if answer["position"] is not None]
        if found == expected and code == (0 if found else 1):
            self.counts["right answers"] += 1
        elif guaranteed:
            self.counts["wrong answers despite the guarantee"] += 1
            self.fault(f"{damage}: {command[3:]}: {found} instead of {expected}")
        else:
            self.counts["wrong answers without a guarantee"] += 1
            self.counts[f"  of these {damage}"] += 1

    def query(self, rng: random.Random, path: Path, text: bytes, first: int, guaranteed: bool, damage: str) -> None:
        alphabet = set(text) if text else set(b"1")
        for _ in range(3):
            length = rng.choice([1, 2, 3, 5, 8, 20])
            at = rng.randrange(max(1, len(text) - length + 1))
            pattern = text[at : at + length].replace(b"\0", b"") or bytes([rng.choice(sorted(alphabet)) or 49])
            if rng.random() < 0.25:
                pattern = pattern[:-1] + bytes([rng.choice(sorted(alphabet)) or 49])
            here = [position + first for position in occurrences(text, pattern)]
            split = rng.randrange(len(text) + 1) + first
            self.find(path, pattern, ["--count"], len(here), guaranteed, damage)
            is_sure = guaranteed and ("one position" not in damage or len(here) <= ALL_COMPARED)
            after, before = [at for at in here if at >= split], [at for at in here if at < split]
            self.find(path, pattern, ["--from", str(split)], after[:1], is_sure, damage)
            kind = rng.choice(["--all", "--before", "first"])
            if kind == "--all":
                self.find(path, pattern, ["--all", "--from", str(split)], after, is_sure, damage)
            elif kind == "--before":
                self.find(path, pattern, ["--before", str(split)], before[-1:], is_sure, damage)
            else:
                self.find(path, pattern, [], here[:1], is_sure, damage)

    def verify(self, path: Path, is_changed: bool, checksums_match: bool, damage: str) -> None:
        for full in ([], ["--full"]):
            out, err, code = outcome([self.comb, "index", "verify", str(path), *full])
            if code not in (0, 2) or err.count(b"\n") != 1:
                self.counts["panics"] += 1
                self.fault(f"{damage}: verify {full}: exit status {code}, {err[-200:]!r}")
            elif code == 0 and is_changed and (full or not checksums_match) and not (checksums_match and self.is_built(path)):
                self.counts["damage missed by verify"] += 1
                self.fault(f"{damage}: verify {full}: {err!r}")
            elif code == 2 and not is_changed:
                self.fault(f"{damage}: verify {full}: {err!r}, but the file is unchanged")
            else:
                self.counts["verifications"] += 1

    def is_built(self, path: Path) -> bool:
        """Returns true if a file equals a build of its text."""
        file = path.read_bytes()
        return self.build(decode(file, sections(file)), ["digits", "dna", "bytes"][file[24]]) == file

    def run(self, rng: random.Random) -> None:
        text = make_text(rng)
        intact = self.build(text, rng.choice(["auto", "auto", "bytes"]))
        file, parts = bytearray(intact), sections(intact)
        # Line ends are not part of a text of digits.
        text = decode(intact, parts)
        guaranteed, checksums_match = bool(text) and rng.random() < 0.5, False
        if guaranteed:
            damage = damage_suffixes(rng, file, parts[1], len(text))
        else:
            damage = damage_anything(rng, file, parts)
            checksums_match = xxh3_64_intdigest is not None and len(file) == len(intact) and rng.random() < 0.5
            if checksums_match:
                fix_checksums(file, parts)
                damage += ", matching checksums"
        path = self.directory / "damaged.comb"
        path.write_bytes(file)
        self.counts["runs with matching checksums"] += checksums_match
        self.counts["runs with a guarantee"] += guaranteed
        failed = len(self.faults)
        self.query(rng, path, text, int(intact[24] == 0), guaranteed, damage)
        self.verify(path, bytes(file) != intact, checksums_match, damage)
        if len(self.faults) > failed:
            kept = Path(tempfile.gettempdir()) / f"hunt-index-{len(self.faults)}.comb"
            kept.write_bytes(file)
            print(*self.faults[failed:], f"kept in {kept}", sep="\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        fuzzer = Fuzzer(arguments.comb, Path(directory))
        for number in range(arguments.runs):
            fuzzer.run(random.Random(arguments.seed * 1_000_003 + number))
    for name, count in sorted(fuzzer.counts.items(), key=lambda entry: (entry[0].startswith(" "), entry[0])):
        print(f"{count:8} {name}")
    print(f"{arguments.runs} damaged indexes, {len(fuzzer.faults)} faults")
    sys.exit(1 if fuzzer.faults else 0)


if __name__ == "__main__":
    main()
