"""Hunts for faults of `comb grep` in random trees: what the programs that compare its outputs with each other have in common."""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hunt_grep

WIDTHS = ["1", "2", "3", "8", "64"]


def run_at_random_width(comb: str, rng: random.Random, arguments: list[str], root: Path) -> subprocess.CompletedProcess:
    """Runs `comb grep` at a random width and block size."""
    command = [comb, "grep", "--no-config", "-j", rng.choice(WIDTHS), "--block-size", rng.choice(hunt_grep.BLOCKS), *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode not in (0, 1, 2):
        raise AssertionError(f"exit status {done.returncode}: {done.stderr!r}")
    return done


def hunt(make_tree: Callable[[random.Random, Path], Any], check: Callable[[str, random.Random, Any, Path], tuple[str, Any, Any] | None]) -> None:
    """Makes trees and checks command lines in each of them. `check` takes what `make_tree` has returned, and returns a fault: the
    arguments, the end of what was expected, and that of what was printed. Keeps the trees with faults, and exits with 1 if there are any.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--per-tree", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--folder", help="where to make trees")
    given = parser.parse_args()
    comb = str(Path(given.comb).resolve())
    print(f"seed {given.seed}")
    faults = 0
    for tree in range(-(-given.runs // given.per_tree)):
        rng = random.Random(given.seed * 1_000_003 + tree)
        root = Path(tempfile.mkdtemp(dir=given.folder))
        made = make_tree(rng, root)
        for _ in range(given.per_tree):
            fault = check(comb, rng, made, root)
            if fault is not None:
                faults += 1
                line, wanted, printed = fault
                print(f"fault in tree {tree}: comb grep {line}\n  expected {shown(wanted)}\n  printed  {shown(printed)}")
                if not Path(f"{root}-fault").exists():
                    shutil.copytree(root, f"{root}-fault", symlinks=True)
        shutil.rmtree(root)
    print(f"{given.runs} runs, {faults} faults")
    sys.exit(faults > 0)


def shown(output: Any) -> str:
    """The end of an output, or of each part of an outcome."""
    return repr(output[-400:]) if isinstance(output, bytes) else " ".join(map(shown, output)) if isinstance(output, tuple) else repr(output)
