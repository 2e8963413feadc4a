#!/usr/bin/env python3
"""Fuzzing of comb on random trees of compressed, encoded and damaged files, with a simple oracle.

    fuzz/hunt_inputs.py [--comb PROGRAM] [--runs N] [--seed N]

The oracle is Python's own gzip, bz2 and lzma; zstd, lz4, bgzip and xz compress files if they are in PATH. Each run makes a tree, counts
its lines with `comb top` and numbers them with `comb grep -z`, each at two random widths and block sizes. Intact files must be counted
exactly. Damaged files must give exit status 2 and a message, with the same output at both widths, and must not affect other files.
"""

import argparse
import bz2
import gzip
import lzma
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

WIDTHS = ["1", "2", "3", "8", "64", "auto"]
BLOCKS = ["1", "7", "100", "4K", "128K", "1M"]


def run_tool(command: list[str], data: bytes) -> bytes:
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def compressors() -> dict:
    known = {
        "gzip": lambda data, rng: gzip.compress(data, rng.choice([0, 1, 6])),
        "bzip2": lambda data, rng: bz2.compress(data, rng.choice([1, 9])),
        "xz": lambda data, rng: lzma.compress(data, preset=0),
        "lzma": lambda data, rng: lzma.compress(data, format=lzma.FORMAT_ALONE, preset=0),
    }
    tools = {
        "zstd": ["zstd", "-qc", "-1"],
        "lz4": ["lz4", "-qc"],
        "bgzip": ["bgzip", "-c"],
        "xz blocks": ["xz", "-0c", "-T2", "--block-size=70000"],
    }
    for name, command in tools.items():
        if shutil.which(command[0]):
            known[name] = lambda data, rng, command=command: run_tool(command, data)
    return known


def text(rng: random.Random, large: bool) -> bytes:
    """Lines with few distinct keys, including unusual bytes."""
    keys = [b"a", b"b b", b"", b"\r", b"caf\xc3\xa9", b"\xff\xfe", b"x" * rng.randrange(300), b"GET / 200", b"\0"]
    lines = [rng.choice(keys) for _ in range(rng.randrange(40))]
    if large:
        lines += [b"%x %d" % (rng.getrandbits(90), rng.randrange(9)) for _ in range(rng.randrange(90_000))]
    if rng.random() < 0.1:
        lines.append(b"long" * rng.randrange(60_000))
    return b"\n".join(lines) + (b"\n" if rng.random() < 0.7 else b"")


def make_file(rng: random.Random, known: dict) -> tuple[bytes, bytes | None]:
    """Bytes of a file, and its text, or None if it is damaged."""
    large = rng.random() < 0.04
    kind = rng.choice([*known, "plain", "plain", "UTF-16", "marked"])
    if kind == "plain":
        data = text(rng, large)
        # Plain text with the first byte of a byte order mark or of gzip has a separate test.
        return (data, data) if data[:1] not in (b"\xff", b"\x1f") else (b"a\n", b"a\n")
    if kind == "marked":
        data = text(rng, large)
        return b"\xef\xbb\xbf" + data, data
    if kind == "UTF-16":
        words = "".join(rng.choice(["a", "é", "\n", " ", "𝄞"]) for _ in range(rng.randrange(200)))
        encoding, mark = rng.choice([("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")])
        return mark + words.encode(encoding), words.encode()
    count = 1 if kind == "lzma" else rng.choice([1, 1, 2, 3, 9])
    texts = [text(rng, large) for _ in range(count)]
    # A byte order mark in compressed data is decoded, too, and has a separate test.
    if b"".join(texts)[:2] in (b"\xff\xfe", b"\xfe\xff"):
        texts = [b"a\n"]
    data, plain = b"".join(known[kind](part, rng) for part in texts), b"".join(texts)
    if rng.random() < 0.15 and len(data) > 40:
        at = rng.randrange(20, len(data))
        return rng.choice([data[:at], data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]]), None
    return data, plain


def expected(texts: list[bytes]) -> bytes:
    counts = Counter()
    for content in texts:
        lines = content.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        counts.update(line[:-1] if line.endswith(b"\r") else line for line in lines)
    ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return b"".join(b"%d %s\n" % (count, key) for key, count in ranked)


# Flags for searches of files with NUL bytes.
BINARY = [[], ["--binary"], ["-c"], ["-l"], ["-v"], ["-m3", "-A2"], ["-C1"], ["-E", "latin1"], ["--binary", "-c"], ["--files-without-match"]]

# Number of lines that `comb grep --stats` prints after the matches.
STATISTICS = 7


def without_times(out: bytes) -> bytes:
    return b"".join(line for line in out.splitlines(keepends=True) if not line.strip().endswith((b"seconds total", b"seconds spent searching")))


def outcome(command: list[str]) -> tuple[bytes, bytes, int]:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return done.stdout, done.stderr, done.returncode


def check(comb: str, root: Path, intact: list[bytes], has_damage: bool, rng: random.Random) -> str | None:
    """Description of a fault on this tree, or None."""
    top = [comb, "top", "-n", "10000000", str(root)]
    # Blocks of a few bytes are slow on large files, and find no faults that they do not find on small ones.
    blocks = BLOCKS if sum(map(len, intact)) < 100_000 else BLOCKS[3:]
    scans = [["-w", rng.choice(WIDTHS), "--block-size", rng.choice(blocks)] for _ in range(2)]
    one, other = (outcome(top + scan) for scan in scans)
    if not has_damage:
        for scan, (out, err, code) in zip(scans, (one, other)):
            if out != expected(intact) or err or code != (0 if out else 1):
                return f"top {scan}: exit status {code}, {err[:200]!r}"
    else:
        if -1 in (one[2], other[2]) or min(one[2], other[2]) < 0:
            return f"top {scans}: killed by a signal, {one[1][-200:]!r}"
        # A flipped bit may have no effect, as in the file name of a gzip header.
        if one[2] not in (0, 1, 2) or (one[2] != 2 and one[1]):
            return f"top {scans[0]}: exit status {one[2]}, {one[1][:200]!r}"
        if one[1:] != other[1:]:
            return f"top {scans}: {one[1:]} and {other[1:]}"
    grep = [comb, "grep", "-z", "-a", "--stats", "-n", "--no-ignore", "--hidden", "", str(root)]
    one, other = (outcome(grep + ["-j", scan[1], "--block-size", scan[3]]) for scan in scans)
    one, other = ((without_times(out), err, code) for out, err, code in (one, other))
    if not has_damage and one != other:
        return f"grep {scans}: {len(one[0])} and {len(other[0])} bytes, {one[1][:200]!r}"
    # Without -a, the searched part of a file with a NUL must not depend on the width or block size.
    binary = [comb, "grep", "-z", "-n", "--no-ignore", "--hidden", *rng.choice(BINARY), rng.choice(["", "a", "4", "x"]), str(root)]
    found = [outcome(binary + ["-j", scan[1], "--block-size", scan[3]]) for scan in scans]
    if not has_damage and found[0] != found[1]:
        return f"{binary[5:]} {scans}: {len(found[0][0])} and {len(found[1][0])} bytes, {found[0][1][:200]!r}"
    if not has_damage:
        lines = sum(len(content.split(b"\n")) - content.endswith(b"\n") * 1 - (content == b"") for content in intact)
        if one[0].count(b"\n") - STATISTICS != lines:
            return f"grep {scans[0]}: {one[0].count(10) - STATISTICS} lines, {lines} expected"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    known = compressors()
    faults = files = damaged = 0
    for number in range(arguments.runs):
        rng = random.Random(arguments.seed * 1_000_003 + number)
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            intact, has_damage = [], False
            for index in range(rng.choice([1, 1, 2, 5])):
                data, plain = make_file(rng, known)
                folder = root / rng.choice([".", "sub", "sub/deep"])
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{index}.log").write_bytes(data)
                files += 1
                if plain is None:
                    has_damage = True
                else:
                    intact.append(plain)
            damaged += has_damage
            fault = check(arguments.comb, root, intact, has_damage, rng)
            if fault:
                faults += 1
                kept = Path(tempfile.gettempdir()) / f"hunt-{arguments.seed}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(root, kept)
                print(f"run {number}: {fault}; kept in {kept}", flush=True)
    kinds = ", ".join(known)
    print(f"{arguments.runs} runs, {files} files ({kinds}, plain, UTF-16), {damaged} runs with damage, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
