#!/usr/bin/env python3
"""Hunts for output that depends on the size of blocks or the width where lines are too long and files have NULs.

    fuzz/hunt_long_lines.py [--comb PROGRAM] [--runs N] [--seed N]

A run writes a file of random lines, and asks `comb grep` or `comb top` for it with a small `--max-line`: as a named file, in a directory, from
a pipe, and compressed. The output, messages and status must be the same for all sizes of blocks and widths.
"""

import argparse
import gzip
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PIECES = [b"ab", b"a", b"\0", b"\n", b"\n", b"xyzxyz", b"needle\n", b"\0\0", b"\r\n"]
FLAGS = "-n -a --binary -c -v -l -U -C1 -A2 --crlf --null-data --no-mmap --mmap -m1 -o -b --files-without-match --stop-on-nonmatch --vimgrep -q --passthru".split()
QUESTIONS = [[], ["--input", "csv", "-f", "1"], ["-g", "a"], ["-v", "a"]]
BLOCKS = ["1", "7", "16", "64", "1000", "1M"]
WAYS = ["file", ".", "pipe", "packed.gz"]


def text(rng: random.Random) -> bytes:
    pieces = b"".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 60)))
    if rng.random() < 0.1:
        # Longer than the part that is examined for NULs at first.
        pieces = rng.choice([b"b\n", b"bbbbbbbbbbbbbbbbbbb\n"]) * rng.randrange(60_000) + pieces
    return pieces


def question(rng: random.Random) -> list[str]:
    limit = ["--max-line", rng.choice(["1", "2", "5", "8", "10", "16", "50", "100"])]
    if rng.random() < 0.25:
        return ["top", *rng.choice(QUESTIONS), *limit]
    return ["grep", *rng.sample(FLAGS, rng.choice([0, 0, 1, 1, 2])), *limit, rng.choice(["a", "b", "e$"])]


def answers(comb: str, rng: random.Random, words: list[str], way: str, folder: Path) -> dict:
    """The command lines by what they print."""
    found: dict = {}
    for block in BLOCKS:
        width = rng.choice(["1", "2", "3", "8"])
        command = [comb, words[0], "-j", width, "--block-size", block, *(["-z"] if words[0] == "grep" else []), *words[1:]]
        command += ["-"] if way == "pipe" else [way]
        piped = (folder / "file").read_bytes() if way == "pipe" else b""
        done = subprocess.run(command, input=piped, cwd=folder, capture_output=True, check=False)
        found.setdefault((done.stdout, done.stderr, done.returncode), []).append(shlex.join(command))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default=Path(__file__).resolve().parents[1] / "target/debug/comb", type=Path)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    rng, faults = random.Random(arguments.seed), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run in range(arguments.runs):
            (folder / "file").write_bytes(text(rng))
            (folder / "packed.gz").write_bytes(gzip.compress((folder / "file").read_bytes()))
            words, way = question(rng), rng.choice(WAYS)
            found = answers(str(arguments.comb), rng, words, way, folder)
            if len(found) > 1:
                faults += 1
                print(f"run {run}: {(folder / 'file').read_bytes()[-300:]!r}")
                for printed, commands in found.items():
                    print(f"    {str(printed)[:400]}\n        " + "\n        ".join(commands), flush=True)
    print(f"{arguments.runs} runs, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
