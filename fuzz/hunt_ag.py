#!/usr/bin/env python3
"""Differential fuzzing of comb under the name `ag` against ag itself, on random trees and command lines.

    fuzz/hunt_ag.py [--comb PROGRAM] [--ag PROGRAM] [--runs N] [--per-tree N] [--seed N]

Needs ag 2.2. Both must print the same lines, in any order of files, and find something or not. docs/ag.md lists the differences, which are
not generated.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS = ["foo", "Foo", "bar", "baz", "fn main", "a.b", "x", "", "  foo", "foo(bar)", "FOO_BAR", "qux foo"]
PATTERNS = ["foo", "Foo", "ba.", r"\bfoo\b", "^foo", "bar$", r"foo\s+bar", r"o\nb", "fo+", "(?<=b)a", r"[^x]a", "a.b", "foo|x", "nothing", "FOO", r"\w+\(", "^$", r"r\n\n*f"]
NAMES = ["a.c", "b.py", "c.h", "d.rs", "e.txt", "f.js", "sub/g.c", "sub/h.py", "sub/deep/i.md", ".hidden.c", "skipped.c"]
# Flags that may be combined with any others.
FLAGS = [
    ["-i"], ["-s"], ["-S"], ["-Q"], ["-F"], ["-w"], ["-l"], ["-L"], ["-c"], ["--column"], ["--nonumbers"], ["--numbers"], ["--hidden"], ["-U"], ["-t"],
    ["--cc"], ["--python"], ["--rust"], ["-G", "c"], ["-G", "^sub"], ["--ignore", "sub"], ["--ignore", "*.py"], ["--ignore-dir", "deep"], ["--depth", "0"],
    ["--depth", "1"], ["-n"], ["--nogroup"], ["--noheading"], ["--nomultiline"], ["--silent"], ["--workers", "3"], ["--vimgrep"], ["-f"], ["--literal"],
]


def make_tree(rng: random.Random, root: Path) -> None:
    for name in NAMES:
        if rng.random() < 0.8:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [" ".join(rng.choices(WORDS, k=rng.randrange(3))) for _ in range(rng.randrange(12))]
            path.write_text("".join(line + "\n" for line in lines) or "last\n")
    (root / ".ignore").write_text("skipped.c\n")


def command_line(rng: random.Random) -> list[str]:
    flags = [flag for chosen in rng.sample(FLAGS, rng.choice([0, 1, 1, 2, 3])) for flag in chosen]
    if rng.random() < 0.1:
        return [*flags, "-g", rng.choice(["c$", "sub", "PY", "h", "e.t"])]
    paths = rng.sample(["sub", "a.c", "b.py"], rng.choice([0, 0, 0, 1, 2]))
    return [*flags, rng.choice(PATTERNS), *paths]


def outcome(program: str, arguments: list[str], root: Path) -> tuple[list[str], bool]:
    done = subprocess.run([program, *arguments], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    # ag separates files by an empty line after some flags, and has no line for the file itself then.
    lines = sorted(line for line in done.stdout.splitlines() if line)
    return lines, bool(lines)


def is_known(arguments: list[str]) -> bool:
    """Whether ag is known to differ: see docs/ag.md."""
    has = lambda *flags: any(flag in arguments for flag in flags)
    return (
        # ag applies both expressions to other parts of the path, and begins the path with `./`.
        has("-G") and (has("-g") or has("^sub"))
        # ag has no column for an empty line.
        or has("--column", "--vimgrep") and has("^$")
        # Named directories are searched even if they match.
        or has("--ignore", "--ignore-dir") and has("sub", "b.py")
        # ag prints lines that do not match.
        or has("--nomultiline")
        or has("--vimgrep", "--column") and has(r"o\nb", r"foo\s+bar", "[^x]a", r"r\n\n*f")
        # Types replace the expression.
        or has("-g", "-G") and has("--cc", "--python", "--rust")
        or has("-c") and has("-l", "-L")
        or has("-l") and has("-L")
        # ag searches files that flags ignore, too.
        or has("-t") and has("--ignore", "--ignore-dir")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--ag", default="ag")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--per-tree", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "ag"
        ours.symlink_to(Path(arguments.comb).resolve())
        for number in range(arguments.runs // arguments.per_tree):
            rng = random.Random(f"{arguments.seed} {number}")
            root = Path(folder) / f"tree{number}"
            root.mkdir()
            make_tree(rng, root)
            for _ in range(arguments.per_tree):
                line = command_line(rng)
                if is_known(line):
                    continue
                theirs, mine = outcome(arguments.ag, line, root), outcome(str(ours), line, root)
                if theirs != mine:
                    faults += 1
                    if faults <= 40:
                        print(f"tree {number}: {line}: ag {theirs[1]}, comb {mine[1]}")
                        print("  only ag:", [x for x in theirs[0] if x not in mine[0]][:3], "only comb:", [x for x in mine[0] if x not in theirs[0]][:3])
            subprocess.run(["rm", "-rf", str(root)], check=True)
    print(f"{arguments.runs} command lines, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
