#!/usr/bin/env python3
"""Measures what docs/experiments.md tells, with `comb bench`, and puts the tables into it.

    bench/experiments.py --tree TREE --log LOG --index INDEX [--only NAME]...

TREE is a large source tree (that of Linux), LOG a large access log (bench/run.py makes one), INDEX an index of digits of pi (comb pi
20000000 -o pi; comb index build pi). Pictures and all single runs go to docs/experiments/. Takes about a quarter of an hour; cold runs
are cold only for root. The texts between the tables are for a person to keep true.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "experiments.md"
RESULTS = ROOT / "docs" / "experiments"
WIDTHS = ["--widths", "1,2,4,8,16,32,auto"]
CALLS = r"[A-Za-z_]+_[a-z]+\([a-z]+, [a-z]+->[a-z]+\)"


def experiments(tree: str, log: str, index: str) -> dict[str, list[str]]:
    """The arguments of `comb bench` by the name of the table."""
    scale = ["scale", *WIDTHS, "--runs"]
    return {
        "greedy": ["spin", "--widths", "1,2,3,4,6,8,12,16,24,32,48,64"],
        "slices": ["spin", "--slices", "--widths", "8", "--seconds", "0.5"],
        "top-warm": [*scale, "9", "--", "top", "-f", "7", log],
        "top-cold": [*scale, "7", "--cold", "--", "top", "-f", "7", log],
        "top-pipe": [*scale, "9", "--pipe", log, "--", "top", "-f", "7"],
        "grep-warm": [*scale, "7", "--", "grep", "-n", "PM_RESUME", tree],
        "grep-cold": [*scale, "3", "--cold", "--", "grep", "-n", "PM_RESUME", tree],
        "grep-regex": [*scale, "5", "--", "grep", "-c", CALLS, f"{tree}/drivers"],
        "spawn-warm": ["spawn", "PM_RESUME", tree],
        "spawn-cold": ["spawn", "--cold", "--runs", "2", "--widths", "2,8,32", "PM_RESUME", tree],
        "overlap-log": ["overlap", "--runs", "3", "--widths", "1,2,4", log],
        "overlap-tree": ["overlap", "--runs", "2", "--widths", "1,2,8", f"{tree}/drivers"],
        "serve": ["serve", index],
    }


def measure(comb: str, name: str, arguments: list[str]) -> str:
    """Runs an experiment and gives its table and what it says of it."""
    kept = ["--format", "markdown", "--save", RESULTS / f"{name}.json"]
    if arguments[0] != "serve":
        kept += ["--plot", RESULTS / f"{name}.svg"]
    print(name, file=sys.stderr)
    kind, *rest = arguments
    return subprocess.run([comb, "bench", kind, *kept, *rest], check=True, capture_output=True, text=True).stdout


def put(document: str, name: str, text: str) -> str:
    """The document with a text between the marks of a name."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not marks.search(document):
        sys.exit(f"{DOCUMENT} has no place for {name}")
    return marks.sub(lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", document)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for path in ("tree", "log", "index"):
        parser.add_argument(f"--{path}", required=True)
    parser.add_argument("--comb", default=str(ROOT / "target/dist/comb"), help="the program (target/dist/comb)")
    parser.add_argument("--only", action="append", metavar="NAME", help="measure only this; may be repeated")
    given = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for name, arguments in experiments(given.tree, given.log, given.index).items():
        if not given.only or name in given.only:
            text = measure(given.comb, name, arguments)
            DOCUMENT.write_text(put(DOCUMENT.read_text(), name, text))


if __name__ == "__main__":
    main()
