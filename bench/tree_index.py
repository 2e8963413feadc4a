#!/usr/bin/env python3
"""Benchmarks comb grep with an index of a directory, and writes the section of this processor in
bench/RESULTS-tree-index.md.

    bench/tree_index.py --tree DIR [--comb PROGRAM] [--peers FOLDER] [--rounds N] [--output FILE]

Needs ripgrep. Peers are searched in PATH and in FOLDER: glep and rgx (pip install glep ripgrepx). Missing programs are skipped and named.

The limits are loops of `crates/tree-index/examples/sweep.rs`: `stat` of every file, and reading the files that match.

All searches run in DIR, a source tree of Linux with its ignore files, with a warm cache; the tables show medians of wall time and of CPU time of
the process. rg, glep and comb run in interleaved rounds. rgx asks a server, whose CPU time is not seen, and comb beside `comb index watch` must
not have others open all files in between: both are measured by themselves. Their servers are stopped before anything else is measured.

The output of comb with the index is compared with its output without, and the sorted output of each peer with that of rg: a difference of comb
ends the benchmark, one of a peer is shown instead of its time.

The table of changed files appends a line to a number of them. They are restored at the end, with a new modification time.
"""

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parent.parent

# Arguments of each search, and the goal: a multiple of the time of ripgrep.
SEARCHES = [
    (["-n", "PM_RESUME"], 0.2),
    (["-n", "[A-Z]+_SUSPEND"], 0.2),
    (["-n", r"EXPORT_SYMBOL_GPL\(.*_register"], 0.2),
    (["-ni", "pm_resume"], 0.2),
    (["-nw", "pm"], 0.4),
]
# Searches that an index cannot narrow, and the goal: a multiple of the time without it.
EVERYWHERE = [(["-c", "int"], 1.05), (["-c", ""], 1.05)]
IN_A_ROW = 100

Times = tuple[float, float]


def measured(command: list[str], folder: Path, environment: dict[str, str]) -> Times:
    """Wall time and CPU time of a command, in seconds."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def ripgrep_version() -> str:
    """Name and version of ripgrep."""
    return subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def interleaved(rounds: int, measures: dict) -> dict[str, Times]:
    """Median of each measure over interleaved rounds, after one that is not counted."""
    taken = {name: [] for name in measures}
    for number in range(rounds + 1):
        for name, measure in measures.items():
            value = measure()
            if number:
                taken[name].append(value)
    return {name: tuple(statistics.median(column) for column in zip(*values)) for name, values in taken.items()}


def milliseconds(value: Times, digits: int = 0) -> str:
    return f"{value[0] * 1e3:.{digits}f} ({value[1] * 1e3:.{digits}f})"


class Bench:
    def __init__(self, options: argparse.Namespace, home: Path):
        self.tree, self.rounds = options.tree.resolve(), options.rounds
        self.comb = str(options.comb.resolve())
        path = f"{options.peers.resolve()}:{os.environ['PATH']}" if options.peers else os.environ["PATH"]
        own = {"PATH": path, "COMB_INDEX_DIR": str(home / "comb"), "RGX_CACHE_DIR": str(home / "rgx"), "XDG_RUNTIME_DIR": str(home)}
        self.environment = {**os.environ, **own}
        self.environment.pop("COMB_INDEX", None)
        self.peers = [name for name in ("glep", "rgx") if shutil.which(name, path=path)]
        self.missing = [name for name in ("glep", "rgx") if name not in self.peers]
        self.found: dict[str, dict[str, Times]] = {}
        subprocess.run(["cargo", "build", "--release", "--locked", "-q", "-p", "finecomb-tree-index", "--example", "sweep"], cwd=ROOT, check=True)

    def run(self, *command: str) -> bytes:
        return subprocess.run(command, cwd=self.tree, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True).stdout

    def measure(self, *command: str):
        return lambda: measured(list(command), self.tree, self.environment)

    def sweep(self, what: str, threads: int, *files: str) -> float:
        """Milliseconds that a bare loop over the files takes which a search finds."""
        names = self.run(self.comb, "grep", "-0", *files)
        command = [str(ROOT / "target/release/examples/sweep"), what, str(threads)]
        taken = [subprocess.run(command, cwd=self.tree, input=names, capture_output=True, check=True).stdout for _ in range(self.rounds)]
        return statistics.median(float(one) for one in taken)

    def check(self, arguments: list[str]) -> None:
        if self.run(self.comb, "grep", *arguments) != self.run(self.comb, "grep", "--index=never", *arguments):
            sys.exit(f"bench: comb grep {' '.join(arguments)} has another output with the index")

    def is_right(self, peer: str, arguments: list[str]) -> bool:
        def lines(output: bytes) -> list[bytes]:
            return sorted(line.removeprefix(b"./") for line in output.splitlines())

        return lines(self.run(peer, *arguments)) == lines(self.run("rg", *arguments))

    def builds(self):
        yield "### Building\n\n| program | time | memory | index |\n| --- | ---: | ---: | ---: |"
        names = self.run(self.comb, "grep", "--index=never", "--files", "-0").split(b"\0")
        size = sum(os.path.getsize(self.tree / os.fsdecode(name)) for name in names if name)
        start = time.perf_counter()
        build = ["/usr/bin/time", "-f", "%M", self.comb, "index", "build", "."]
        log = subprocess.run(build, cwd=self.tree, env=self.environment, capture_output=True, text=True).stderr
        taken = time.perf_counter() - start
        index = sum(path.stat().st_size for path in Path(self.environment["COMB_INDEX_DIR"]).rglob("*") if path.is_file())
        yield f"| comb | {taken:.1f} s | {int(log.split()[-1]) / 1024:.0f} MiB | {index / 1e6:.0f} MB, {index / size:.1%} of {size / 1e6:,.0f} MB |"
        if "glep" in self.peers:
            start = time.perf_counter()
            self.run("glep", "index")
            taken = time.perf_counter() - start
            index = sum(path.stat().st_size for path in (self.tree / ".glep").rglob("*") if path.is_file())
            yield f"| glep | {taken:.1f} s | | {index / 1e6:.0f} MB, {index / size:.1%} |"

    def searches(self):
        for arguments, _ in [*SEARCHES, (["--files"], 0.25)]:
            self.check(arguments)
            measures = {"rg": self.measure("rg", *arguments)}
            if "glep" in self.peers and arguments != ["--files"] and self.is_right("glep", arguments):
                measures["glep"] = self.measure("glep", *arguments)
            measures["comb without"] = self.measure(self.comb, "grep", "--index=never", *arguments)
            measures["comb with"] = self.measure(self.comb, "grep", *arguments)
            self.found[" ".join(arguments)] = interleaved(self.rounds, measures)
        if "rgx" in self.peers:
            self.measure_rgx()
        names = ["rg", *self.peers, "comb without", "comb with"]
        yield f"\n### Searches\n\nMilliseconds of wall time (and of CPU time); none where the output is not that of rg, which is {ripgrep_version()}.\n"
        one, all_cores = (self.sweep("stat", threads, "--files") for threads in (1, os.cpu_count()))
        yield f"`stat` of every file by a bare loop takes {one:.0f} ms on one core, {all_cores:.0f} ms on all.\n"
        yield f"| search | {' | '.join(names)} | comb with / rg | goal |\n| --- |{' ---: |' * (len(names) + 2)}"
        for arguments, goal in [*SEARCHES, (["--files"], 0.25)]:
            found = self.found[" ".join(arguments)]
            cells = [milliseconds(found[name]) if name in found else "–" for name in names]
            yield f"| `{shlex.join(arguments)}` | {' | '.join(cells)} | {found['comb with'][0] / found['rg'][0]:.3f} | {goal} |"
        yield "\nSearches that an index cannot narrow:\n"
        yield "| search | comb without | comb with | ratio | goal |\n| --- | ---: | ---: | ---: | ---: |"
        for arguments, goal in EVERYWHERE:
            self.check(arguments)
            found = interleaved(self.rounds, {
                "without": self.measure(self.comb, "grep", "--index=never", *arguments),
                "with": self.measure(self.comb, "grep", *arguments),
            })
            ratio = found["with"][0] / found["without"][0]
            yield f"| `{shlex.join(arguments)}` | {milliseconds(found['without'])} | {milliseconds(found['with'])} | {ratio:.2f} | {goal} |"

    def measure_rgx(self) -> None:
        """Searches with rgx, whose server indexes the tree in the background after the first one."""
        self.run("rgx", "-n", "PM_RESUME")
        time.sleep(90)
        for arguments, _ in SEARCHES:
            if self.is_right("rgx", arguments):
                self.found[" ".join(arguments)] |= interleaved(self.rounds, {"rgx": self.measure("rgx", *arguments)})
        self.run("rgx", "--server", "stop")
        subprocess.run(["pkill", "-x", "rgx"])
        time.sleep(1)

    def watched(self):
        yield f"\n### Beside `comb index watch`\n\nOne search after the other; the last row is the mean of {IN_A_ROW} in a row. The limit is a bare loop that opens and reads"
        yield "the files that match, in milliseconds.\n"
        yield "| search | comb | / rg | goal | limit | limit / rg |\n| --- | ---: | ---: | ---: | ---: | ---: |"
        command = [self.comb, "index", "watch", "."]
        watch = subprocess.Popen(command, cwd=self.tree, env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(6)
            for arguments, _ in SEARCHES:
                self.check(arguments)
                self.settle()
                found = interleaved(self.rounds, {"with": self.measure(self.comb, "grep", *arguments)})["with"]
                rg = self.found[" ".join(arguments)]["rg"]
                limit = self.sweep("read", os.cpu_count(), "-l", *arguments)
                yield f"| `{shlex.join(arguments)}` | {milliseconds(found, 1)} | {found[0] / rg[0]:.3f} | 0.03 | {limit:.1f} | {limit / 1e3 / rg[0]:.3f} |"
            arguments = SEARCHES[0][0]
            self.settle()
            taken = [measured([self.comb, "grep", *arguments], self.tree, self.environment) for _ in range(IN_A_ROW)]
            found = tuple(statistics.mean(column) for column in zip(*taken))
            rg = self.found[" ".join(arguments)]["rg"]
            yield f"| `{shlex.join(arguments)}`, {IN_A_ROW} in a row | {milliseconds(found, 1)} | {found[0] / rg[0]:.3f} | 0.02 | | |"
        finally:
            watch.terminate()
            watch.wait()

    @staticmethod
    def settle() -> None:
        """Waits until a watch has seen that the files that were read are what they were."""
        time.sleep(3)

    def symbols(self):
        yield "\n### comb symbols\n\nMedians of 3 rounds; the list that stores definitions is one run.\n"
        yield "| list | without an index | with it |\n| --- | ---: | ---: |"
        self.run(self.comb, "symbols", "--index-update", "-q")
        for arguments in ([], ["--kind", "struct"], ["-d", "ext4_map_blocks"], ["-r", "kfree_rcu"]):
            outputs = {self.run(self.comb, "symbols", *arguments, f"--index={when}") for when in ("auto", "never")}
            if len(outputs) > 1:
                sys.exit(f"bench: comb symbols {' '.join(arguments)} has another output with the index")
            measures = {when: self.measure(self.comb, "symbols", *arguments, f"--index={when}") for when in ("never", "auto")}
            found = interleaved(3, measures)
            yield f"| `comb symbols {shlex.join(arguments)}` | {milliseconds(found['never'])} | {milliseconds(found['auto'])} |"
        index = Path(self.environment["COMB_INDEX_DIR"])
        yield f"\nThe stored definitions take {sum(path.stat().st_size for path in index.rglob('values')) / 1e6:.0f} MB."

    def changes(self):
        arguments = ["-n", "PM_RESUME"]
        names = self.run(self.comb, "grep", "--files", "-0").split(b"\0")
        files = [self.tree / os.fsdecode(name) for name in names if name]
        step = max(1, len(files) // 10_000)
        yield "\n### Changed files\n\nMilliseconds of `-n PM_RESUME` when a number of files has changed since the build, of an update then, and of the search after it.\n"
        yield "| changed | search | update | search after it |\n| ---: | ---: | ---: | ---: |"
        for count in (0, 1, 100, 1_000, 10_000):
            changed = files[::step][:count]
            for path in changed:
                with open(path, "ab") as file:
                    file.write(b"\n")
            # An index of what changed a moment ago is not trusted.
            time.sleep(0.1)
            self.check(arguments)
            before = interleaved(self.rounds, {"with": self.measure(self.comb, "grep", *arguments)})["with"]
            update = measured([self.comb, "index", "update", "."], self.tree, self.environment)
            self.check(arguments)
            after = interleaved(self.rounds, {"with": self.measure(self.comb, "grep", *arguments)})["with"]
            for path in changed:
                os.truncate(path, path.stat().st_size - 1)
            time.sleep(0.1)
            self.run(self.comb, "index", "update", ".")
            yield f"| {count:,} | {milliseconds(before)} | {milliseconds(update)} | {milliseconds(after)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True, help="a source tree of Linux")
    parser.add_argument("--comb", type=Path, default=ROOT / "target/release/comb", help="path of comb")
    parser.add_argument("--peers", type=Path, help="a folder with programs of peers")
    parser.add_argument("--rounds", type=int, default=15, help="rounds per search (default: 15)")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/RESULTS-tree-index.md", help="file for the tables")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(options, Path(home))
        lines = [f"{machine.describe(bench.tree)} Medians of {options.rounds} rounds. Written by `bench/tree_index.py`.\n"]
        if bench.missing:
            lines.append(f"Not installed: {', '.join(bench.missing)}.\n")
        for part in (bench.builds, bench.searches, bench.watched, bench.symbols, bench.changes):
            for line in part():
                print(line, flush=True)
                lines.append(line)
        machine.write_section(options.output, "comb grep with an index of a directory", machine.processor(), "\n".join(lines))
        shutil.rmtree(bench.tree / ".glep", ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
