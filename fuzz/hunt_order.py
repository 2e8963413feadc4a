#!/usr/bin/env python3
"""Compares sorted output of `comb grep` with unsorted output whose files are put in order, on random trees and command lines.

    fuzz/hunt_order.py [--comb PROGRAM] [--runs N] [--per-tree N] [--seed N] [--folder DIR]

Trees have small and large files, binary files, compressed ones and other encodings. Files are sorted by the times that they are given;
some have the same. The exit status and the messages must be the same too. Each command runs at two random widths and block sizes.
"""

import gzip
import os
import random
import re
import shlex
from pathlib import Path

import hunt_grep
from random_trees import hunt, run_at_random_width

FLAGS = ["-i", "-w", "-x", "-v", "-o", "-a", "--binary", "--crlf", "-F", "-u", "-uu", "-uuu", "-P", "-b", "-z", "-m1", "--passthru", "-L", "-q"]
MODES = [[], [], [], ["-l"], ["-c"], ["-c", "--include-zero"], ["--count-matches"], ["--files-without-match"], ["--vimgrep"]]
SORTS = ["--sortr=path", "--sort=modified", "--sortr=modified"]


def add_files(rng: random.Random, root: Path) -> None:
    """Adds files of kinds that `hunt_grep.make_tree` does not make."""
    for number in range(rng.randrange(5)):
        text = hunt_grep.content(rng)
        kind = rng.choice(["large", "gzip", "utf-16", "mark", "empty", "binary", "crowd"])
        path = root / f"more{number}.{kind}"
        if kind == "crowd":
            # More files than a worker collects at once.
            for index in range(rng.choice([40, 600])):
                path.with_name(f"crowd{number}-{index}.txt").write_bytes(rng.choice([b"", b"x\n", b"foo\n"]))
            continue
        path.write_bytes(
            {
                "large": text + b"x\n" * rng.choice([1000, 65_000, 70_000, 300_000]) + rng.choice([b"", text]),
                "gzip": gzip.compress(text),
                "utf-16": b"\xff\xfe" + text.decode("utf-8", "replace").encode("utf-16-le"),
                "mark": b"\xef\xbb\xbf" + text,
                "empty": b"",
                "binary": text + b"\0" + text,
            }[kind]
        )


def set_times(rng: random.Random, root: Path) -> dict[bytes, int]:
    """Gives each file a time. Returns them by path."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(root, followlinks=True) for name in names]
    for path in paths:
        time = rng.randrange(1, 5)
        os.utime(path, (time, time))
    # A link has the time of what it leads to.
    return {os.path.relpath(path, root).encode(): os.stat(path).st_mtime_ns for path in paths}


def in_order(lines: bytes, sort: str, times: dict[bytes, int]) -> bytes:
    """The lines of each file, with the files in order. The lines of a file are together."""
    by_length = sorted(times, key=len, reverse=True)
    start = re.compile(b"|".join(map(re.escape, by_length)))
    groups: dict[bytes, list[bytes]] = {}
    path = b""
    for line in re.findall(rb"[^\n]*\n|[^\n]+", lines):
        # Later lines of a match may have no path.
        path = found[0] if (found := start.match(line)) else path
        groups.setdefault(path, []).append(line)
    paths = sorted(groups, key=lambda path: path.split(b"/"), reverse=sort == "--sortr=path")
    if sort.endswith("modified"):
        sign = -1 if sort.startswith("--sortr") else 1
        paths.sort(key=lambda path: sign * times[path])
    return b"".join(line for path in paths for line in groups[path])


def outcome(comb: str, rng: random.Random, arguments: list[str], root: Path) -> tuple[bytes, bytes, int]:
    """Lines without a dot before their path, messages, and the exit status."""
    done = run_at_random_width(comb, rng, arguments, root)
    lines = re.sub(rb"(?m)^\./", b"", done.stdout) if "." in arguments else done.stdout
    return lines, done.stderr, done.returncode


def query(rng: random.Random, names: list[str]) -> list[str]:
    flags = rng.sample(FLAGS, rng.choice([0, 0, 1, 2, 3])) + rng.choice(MODES)
    pattern = rng.choice(hunt_grep.PATTERNS)
    if rng.random() < 0.1:
        flags.append("-U")
        pattern = rng.choice(hunt_grep.MULTILINE)
    if rng.random() < 0.1:
        flags += ["-E", rng.choice(["utf-16le", "latin1", "none"])]
    paths = rng.sample(names, 1) if rng.random() < 0.2 else ["."] if rng.random() < 0.1 else []
    return ["-H", "--no-heading", "-n", *flags, "-e", pattern, *paths]


def make_tree(rng: random.Random, root: Path) -> tuple[list[str], dict[bytes, int]]:
    names = hunt_grep.make_tree(rng, root)
    add_files(rng, root)
    return names, set_times(rng, root)


def check(comb: str, rng: random.Random, made: tuple[list[str], dict[bytes, int]], root: Path) -> tuple[str, tuple, tuple] | None:
    names, times = made
    arguments, sort = query(rng, names), rng.choice(SORTS)
    lines, *rest = outcome(comb, rng, arguments, root)
    wanted = (in_order(lines, sort, times), *rest)
    printed = outcome(comb, rng, [sort, *arguments], root)
    return None if printed == wanted else (shlex.join([sort, *arguments]), wanted, printed)


if __name__ == "__main__":
    hunt(make_tree, check)
