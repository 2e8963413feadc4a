#!/usr/bin/env python3
"""Fuzzing of `--archives` on random archives, intact and damaged.

    fuzz/hunt_archives.py [--comb PROGRAM] [--runs N] [--seed N]

The oracle is `comb` on the same files in a directory, with the paths rewritten; Python's tarfile and zipfile write the archives. Damaged
archives must give exit status 0, 1 or 2 within a minute, and the same output at both widths.
"""

import argparse
import bz2
import gzip
import io
import lzma
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

WIDTHS = ["1", "2", "3", "8", "64"]
BLOCKS = ["1", "7", "100", "4K", "128K", "1M"]
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lambda data: lzma.compress(data, preset=0)}
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2]
FLAGS = [["-n"], ["-c"], ["-l"], ["-o"], ["-v"], ["-C1"], ["-m1"], ["--json"], ["-b"], ["-nU"], ["--files-without-match"], ["-t", "c"], ["-g", "!d"], ["-g", "*.[ch]"], ["--hidden"], ["-a"]]


def name(rng: random.Random) -> str:
    parts = [rng.choice(["d", "e", ".h", "long" * 40, "ä"]) for _ in range(rng.choice([0, 0, 1, 2]))]
    return "/".join([*parts, rng.choice(["a", "b", "n" * 120, ".x"]) + str(rng.randrange(9)) + rng.choice([".c", ".h", ".txt", ""])])


def text(rng: random.Random) -> bytes:
    lines = [rng.choice([b"a", b"b x", b"", b"\r", b"caf\xc3\xa9", b"\xff\xfe", b"x" * rng.randrange(300)]) for _ in range(rng.randrange(40))]
    if rng.random() < 0.05:
        lines += [b"%x a" % rng.getrandbits(90) for _ in range(rng.randrange(40_000))]
    if rng.random() < 0.05:
        lines.append(b"long" * rng.randrange(60_000))
    # A NUL after the first 64 KiB would end the search of a member as in a pipe, and the search of a file on disk elsewhere.
    if rng.random() < 0.1 and sum(map(len, lines)) < 60_000:
        lines.append(b"\0 a")
    data = b"\n".join(lines) + (b"\n" if rng.random() < 0.7 else b"")
    return b"_" + data if data[:2] in (b"\xff\xfe", b"\x1f\x8b") else data


def as_tar(files: dict, rng: random.Random) -> bytes:
    out = io.BytesIO()
    form = rng.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
            if rng.random() < 0.1:
                link = tarfile.TarInfo("link")
                link.type, link.linkname = rng.choice([(tarfile.SYMTYPE, path), (tarfile.LNKTYPE, path), (tarfile.DIRTYPE, ""), (tarfile.FIFOTYPE, "")])
                tar.addfile(link)
    return out.getvalue()


class Pipe(io.BytesIO):
    """Cannot seek, so that sizes follow the members."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation

    def tell(self) -> int:
        raise io.UnsupportedOperation


def as_zip(files: dict, rng: random.Random) -> bytes:
    out = Pipe() if rng.random() < 0.3 else io.BytesIO()
    with zipfile.ZipFile(out, "w", allowZip64=True) as archive:
        for path, data in files.items():
            info = zipfile.ZipInfo(path)
            info.compress_type = rng.choice(METHODS)
            with archive.open(info, "w", force_zip64=rng.random() < 0.2) as member:
                member.write(data)
    return out.getvalue()


def damaged(data: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(3)
    at = rng.randrange(len(data))
    if kind == 0:
        return data[:at]
    flipped = bytearray(data)
    for _ in range(1 if kind == 1 else rng.randrange(2, 30)):
        at = rng.randrange(len(data)) if rng.random() < 0.6 else max(0, len(data) - 1 - rng.randrange(400))
        flipped[at] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def outcome(command: list[str], directory: Path) -> tuple[bytes, bytes, int]:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, cwd=directory, timeout=60)
    return done.stdout, done.stderr, done.returncode


def comparable(out: bytes, prefix: bytes) -> list[bytes]:
    """Lines in any order, without the prefix of paths and times."""
    lines = (line for line in out.split(b"\n") if b'"elapsed' not in line)
    return sorted(line.replace(prefix, b"") for line in lines)


def check(comb: str, root: Path, archive: str, is_intact: bool, rng: random.Random) -> str | None:
    flags = [*rng.choice(FLAGS), rng.choice(["a", "x", "^$", "b x"])]
    # How far a damaged member is read depends on the size of blocks.
    blocks = [rng.choice(BLOCKS[2:])] * 2 if not is_intact else rng.choices(BLOCKS[2:], k=2)
    scans = [["-j", rng.choice(WIDTHS), "--block-size", block] for block in blocks]
    grep = [comb, "grep", "--no-ignore", "-H", "--sort", "path", *flags]
    one, other = (outcome([*grep, *scan, "--archives", archive], root) for scan in scans)
    if "--json" not in flags and one != other:
        return f"{flags} {scans}: {one[1:]} and {other[1:]}"
    top = [outcome([comb, "top", "-n", "all", "--archives", "-w", scan[1], "--block-size", scan[3], archive], root) for scan in scans]
    if top[0] != top[1]:
        return f"top {scans}: {top[0][1:]} and {top[1][1:]}"
    if not {one[2], top[0][2]} <= {0, 1, 2}:
        return f"{flags}: exit status {one[2]}, {top[0][2]}, {one[1][-300:]!r}"
    if not is_intact:
        return None
    plain = outcome([*grep, "tree"], root)
    prefixes = (archive + "!").encode(), b"tree/"
    if one[2] != plain[2] or comparable(one[0], prefixes[0]) != comparable(plain[0], prefixes[1]):
        return f"{flags} {scans[0]}: {one[2]} {one[1][:200]!r}, not as the tree: {plain[2]} {plain[1][:200]!r}"
    if "--files-without-match" not in flags and top[0][0] != outcome([comb, "top", "-n", "all", "tree"], root)[0]:
        return f"top {scans[0]}: not as the tree"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    faults = hurt = 0
    for number in range(arguments.runs):
        rng = random.Random(arguments.seed * 1_000_003 + number)
        files = {name(rng): text(rng) for _ in range(rng.choice([0, 1, 3, 12]))}
        if rng.random() < 0.5:
            archive, data = "a.zip", as_zip(files, rng)
        else:
            ending = rng.choice(list(COMPRESSIONS))
            archive, data = "a.tar" + ending, COMPRESSIONS[ending](as_tar(files, rng))
        is_intact = rng.random() < 0.5
        hurt += not is_intact
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            (root / "tree").mkdir()
            for path, content in files.items():
                (root / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
                (root / "tree" / path).write_bytes(content)
            (root / archive).write_bytes(data if is_intact else damaged(data, rng))
            try:
                fault = check(arguments.comb, root, archive, is_intact, rng)
            except subprocess.TimeoutExpired as late:
                fault = str(late)
            if fault:
                faults += 1
                kept = Path(tempfile.gettempdir()) / f"hunt-archives-{arguments.seed}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(root, kept)
                print(f"run {number}: {fault}; kept in {kept}", flush=True)
    print(f"{arguments.runs} runs, {hurt} with damage, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
