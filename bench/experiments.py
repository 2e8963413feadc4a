#!/usr/bin/env python3
"""Runs the experiments of docs/experiments.md with `comb bench` and writes their pages in docs/experiments/.

    bench/experiments.py --tree TREE --log LOG --index INDEX [--only NAME]...
    bench/experiments.py --from-json [--only NAME]...

TREE is a large source tree (Linux), LOG a large access log (bench/run.py makes one), INDEX an index of digits of pi (comb pi
20000000 -o pi; comb index build pi). Takes about 15 minutes. A cold cache needs root.

Each experiment NAME has NAME.json (every single run), NAME.svg and NAME.md. The script replaces the part of NAME.md between the two
marks: command line, plot, table and notes. --from-json makes plot and page again from NAME.json and runs nothing. The text outside the
marks, and the summaries in docs/experiments.md, are written by hand: check them after each run.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "experiments"
WIDTHS = ["--widths", "1,2,4,8,16,32,auto"]
CALLS = r"[A-Za-z_]+_[a-z]+\([a-z]+, [a-z]+->[a-z]+\)"
# Names of the inputs in the documents.
NAMES = ("linux", "access.log", "pi.comb")

# The experiments that width auto is judged by, and their loads.
LOADS = {
    "grep-warm": "source tree, warm cache",
    "grep-cold": "source tree, cold cache",
    "top-warm": "log, warm cache",
    "top-cold": "log, cold cache",
    "top-pipe": "log through a pipe",
    "grep-regex": "CPU-bound regular expression",
}


def experiments(tree: str, log: str, index: str) -> dict[str, list[str]]:
    """Arguments of `comb bench` by the name of the experiment."""
    scale = ["scale", *WIDTHS, "--runs"]
    folders = [f"{tree}/{folder}" for folder in ("drivers/net", "fs", "kernel", "mm")]
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
        "overlap-symbols": ["overlap", "--runs", "3", "--widths", "1,2,4", "--", "symbols", *folders],
        "symbols-warm": [*scale, "3", "--", "symbols", *folders],
        "serve": ["serve", index],
    }


def report(comb: str, name: str, arguments: list[str], saved: bool) -> str:
    """Runs an experiment and saves it, or loads a saved one; draws the plot and returns the table and its notes."""
    kind, *rest = arguments
    result = RESULTS / f"{name}.json"
    flags = ["--format", "markdown"]
    if kind != "serve":
        flags += ["--plot", RESULTS / f"{name}.svg"]
    if saved:
        flags += ["--from-json", result, *(["--slices"] if "--slices" in rest else [])]
    else:
        flags += ["--save", result, *rest]
    print(name, file=sys.stderr)
    return subprocess.run([comb, "bench", kind, *flags], check=True, capture_output=True, text=True).stdout


def results(name: str, markdown: str) -> str:
    """The generated part of a page: command line, plot, table and notes."""
    parts = [f"    comb bench {shlex.join(experiments(*NAMES)[name])}"]
    if (RESULTS / f"{name}.svg").exists():
        title = page(name).read_text().splitlines()[0].removeprefix("# ")
        parts.append(f"![{title}]({name}.svg)")
    return "\n\n".join([*parts, markdown.strip()])


def auto_table() -> str:
    """Table of width auto against the best fixed width, from the saved experiments."""
    rows = ["| load | best fixed width | time of auto, relative |", "| --- | ---: | ---: |"]
    for name, load in LOADS.items():
        widths = json.loads((RESULTS / f"{name}.json").read_text())["summary"]["widths"]
        best = min((row for row in widths if row["width"] != "auto"), key=lambda row: row["wall"])
        auto = next(row for row in widths if row["width"] == "auto")
        rows.append(f"| [{load}]({name}.md) | {best['width']} | {auto['to_best']:.2f} |")
    return "\n".join(rows)


def page(name: str) -> pathlib.Path:
    return RESULTS / f"{name}.md"


def replace_results(name: str, text: str) -> None:
    """Replaces the part of a page between the marks."""
    marks = re.compile(r"(<!-- results -->\n).*?(<!-- end -->)", re.DOTALL)
    old = page(name).read_text()
    if not marks.search(old):
        sys.exit(f"{page(name)}: no marks to write results between")
    page(name).write_text(marks.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", old))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for path in ("tree", "log", "index"):
        parser.add_argument(f"--{path}")
    parser.add_argument("--from-json", action="store_true", help="make plots and pages from the saved results")
    parser.add_argument("--comb", default=str(ROOT / "target/dist/comb"), help="the program (target/dist/comb)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this experiment alone; may be repeated")
    given = parser.parse_args()
    inputs = (given.tree, given.log, given.index)
    if not given.from_json and None in inputs:
        parser.error("give --tree, --log and --index, or --from-json")
    for name, arguments in experiments(*(NAMES if given.from_json else inputs)).items():
        if not given.only or name in given.only:
            replace_results(name, results(name, report(given.comb, name, arguments, given.from_json)))
    replace_results("auto", auto_table())


if __name__ == "__main__":
    main()
