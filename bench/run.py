#!/usr/bin/env python3
"""Benchmarks comb top against the installed peers, prints tables and writes the section of this processor in
bench/RESULTS.md.

    bench/run.py [--rounds N] [--lines N] [--only JOB]

Generates the log on the first run. Needs hyperfine and GNU coreutils. Peers are searched in PATH: mawk, gawk, rg, parallel, tf
(topfew); gzip, bgzip and zstd compress the log; DuckDB is used from this Python (pip install duckdb). Missing programs are skipped
and reported.

Before anything is timed, the output of every peer is compared with that of comb: they must do the same work. The programs of a
job run in interleaved rounds, so that drift of the machine affects all of them; the tables show medians.
"""

import argparse
import importlib.util
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = HERE / "data"
COMB = ROOT / "target/dist/comb"
LINES = 2_000_000
BOTS = "googlebot|bingbot|Twitterbot"
# Sort order of comb: by descending count, then by the bytes of the key.
RANK = "sort | uniq -c | sort -k1,1nr -k2 | head -n {n} | sed 's/^ *//'"


@dataclass
class Program:
    """One way to do a job."""

    name: str
    command: str
    needs: str | None = None
    # A lower bound: does less work than the job, with different output.
    is_limit: bool = False
    # Too slow for every round; run in the first only.
    is_slow: bool = False
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    def without_shell(self) -> str:
        """The command for hyperfine, with a shell only if it is a pipeline."""
        return f"bash -c {quoted(self.command)}" if " | " in self.command else self.command

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


@dataclass
class Goal:
    """Upper bound of the time of comb relative to that of another program."""

    ours: str
    theirs: str
    at_most: float


@dataclass
class Job:
    name: str
    programs: list[Program]
    goals: list[Goal]
    peak_below: int | None = None


def has(needs: str | None) -> bool:
    if needs in ("duckdb", "chdb"):
        return importlib.util.find_spec(needs) is not None
    return needs is None or shutil.which(needs) is not None


def limits(log: Path) -> list[Program]:
    return [
        Program("wc -l", f"wc -l {log}", is_limit=True),
        Program("cat", f"cat {log}", is_limit=True),
    ]


def duckdb(log: Path, key: str) -> Program:
    return Program("DuckDB", f'{sys.executable} {HERE}/peers/duckdb_top.py {log} "{key}"', "duckdb")


def pipelines(log: Path, extract: str, n: int = 10) -> list[Program]:
    """Shell pipelines: a command that prints keys, and a sort."""
    rank = RANK.format(n=n)
    programs = [
        Program(f"{awk} | sort | uniq | sort", f"{extract.replace('awk', awk, 1)} {log} | {rank}", awk, is_slow=True)
        for awk in ("mawk", "gawk")
    ]
    parallel = f"parallel --pipepart --block -1 -a {log} {quoted('m' + extract)} | {rank}"
    programs.append(Program("parallel --pipepart mawk", parallel, "parallel", is_slow=True))
    return programs


def jobs(log: Path) -> list[Job]:
    hours = r"-f 4 -s '\[[^:]*:' '' -s ':.*$' '' -n 24"
    rank = RANK.format(n=10)
    return [
        Job(
            "top -f 7",
            [
                *limits(log),
                Program("comb", f"{COMB} top -f 7 {log}"),
                Program("comb -w 1", f"{COMB} top -f 7 -w 1 {log}"),
                Program("topfew", f"tf -f 7 {log}", "tf"),
                duckdb(log, "split_part(line, ' ', 7)"),
                *pipelines(log, "awk '{print $7}'"),
            ],
            [Goal("comb", "wc -l", 1.4), Goal("comb", "comb -w 1", 0.58)],
            peak_below=64 << 20,
        ),
        Job(
            f"top -f 7 -g '{BOTS}'",
            [
                *limits(log),
                Program("comb", f"{COMB} top -f 7 -g '{BOTS}' {log}"),
                Program("rg -c", f"rg -c '{BOTS}' {log}", "rg", is_limit=True),
                Program("rg | mawk | sort", f"rg -N '{BOTS}' {log} | mawk '{{print $7}}' | {rank}", "rg", is_slow=True),
                Program("topfew", f"tf -f 7 -g '{BOTS}' {log}", "tf", is_slow=True),
            ],
            [Goal("comb", "rg -c", 0.8)],
        ),
        Job(
            "top -f 1",
            [
                *limits(log),
                Program("comb", f"{COMB} top -f 1 {log}"),
                duckdb(log, "split_part(line, ' ', 1)"),
                *pipelines(log, "awk '{print $1}'"),
            ],
            [Goal("comb", "DuckDB", 1 / 3)],
        ),
        Job(
            "top (distinct lines)",
            [
                *limits(log),
                Program("comb", f"{COMB} top {log}"),
                duckdb(log, "line"),
                Program("sort | uniq | sort", f"cat {log} | {rank}", is_slow=True),
            ],
            [Goal("comb", "DuckDB", 1 / 3)],
        ),
        Job(
            f"top {hours}",
            [
                *limits(log),
                Program("comb", f"{COMB} top {hours} {log}"),
                Program(
                    "mawk | sed | sort",
                    rf"mawk '{{print $4}}' {log} | sed -e 's/\[[^:]*://g' -e 's/:.*$//' | {RANK.format(n=24)}",
                    "mawk",
                    is_slow=True,
                ),
            ],
            [Goal("comb", "wc -l", 4.0)],
        ),
        Job(
            "cat | top -f 7",
            [
                Program("cat | wc -l", f"cat {log} | wc -l", is_limit=True),
                Program("cat | comb", f"cat {log} | {COMB} top -f 7"),
                Program("cat | topfew", f"cat {log} | tf -f 7", "tf"),
            ],
            [Goal("cat | comb", "cat | wc -l", 2.0)],
        ),
    ]


# By extension: required program, command to compress the log, and command to decompress it to standard output.
COMPRESSED = {
    "gz": ("gzip", "gzip -1c {log}", "zcat {file}"),
    "bgz": ("bgzip", "bgzip -c {log}", "bgzip -dc {file}"),
    "zst": ("zstd", "zstd -q -1 -c < {log}", "zstd -dcq {file}"),
}


def compressed_jobs(log: Path) -> list[Job]:
    """Jobs on the log compressed as one gzip member, many blocks, and one zstd frame, and on a directory of all three."""
    folder = log.with_suffix(".compressed")
    jobs = []
    for suffix, (needs, _, decompress) in COMPRESSED.items():
        file = folder / f"access.{suffix}"
        if not file.exists():
            continue
        decompress = decompress.format(file=file)
        jobs.append(
            Job(
                f"top -f 7 access.{suffix}",
                [
                    Program(f"{decompress.split()[0]} | wc -l", f"{decompress} | wc -l", needs, is_limit=True),
                    Program("comb", f"{COMB} top -f 7 {file}"),
                    Program("comb -w 1", f"{COMB} top -f 7 -w 1 {file}"),
                    Program(f"{decompress.split()[0]} | comb", f"{decompress} | {COMB} top -f 7", needs),
                    Program("rg -z -c ''", f"rg -z -c '' {file}", "rg", is_limit=True),
                ],
                [Goal("comb", f"{decompress.split()[0]} | comb", 1.0)],
            )
        )
    if jobs:
        jobs.append(
            Job(
                "top -f 7 (directory of all three)",
                [
                    Program("rg -z -c ''", f"rg -z -c '' {folder}", "rg", is_limit=True),
                    Program("comb", f"{COMB} top -f 7 {folder}"),
                    Program("comb -w 1", f"{COMB} top -f 7 -w 1 {folder}"),
                ],
                [Goal("comb", "rg -z -c ''", 1.0)],
            )
        )
    return jobs


def shell(program: Program) -> list[str]:
    return ["bash", "-c", program.command]


ENVIRONMENT = {**os.environ, "LC_ALL": "C"}


def check_same_work(job: Job) -> None:
    """Checks that every program prints the same bytes, except limits."""
    expected = None
    for program in (program for program in job.programs if not program.is_limit):
        output = subprocess.run(shell(program), stdout=subprocess.PIPE, check=True, env=ENVIRONMENT).stdout
        if expected is None:
            expected = output
        elif output != expected:
            sys.exit(f"bench: {job.name}: output of {program.name} differs from comb")


def measure(job: Job, rounds: int) -> None:
    for number in range(rounds):
        programs = [program for program in job.programs if number == 0 or not program.is_slow]
        with tempfile.NamedTemporaryFile(suffix=".json") as export:
            command = ["hyperfine", "--shell=none", "--style=none", "--warmup=1", "--export-json", export.name]
            command += ["--runs", "2" if number == 0 else "3"]
            command += [program.without_shell() for program in programs]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
            results = json.load(export)["results"]
        for program, result in zip(programs, results, strict=True):
            program.seconds += result["times"]
    for program in job.programs:
        program.peak_bytes = peak_memory(program)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def peak_memory(program: Program) -> int:
    """Peak memory of the largest process of the command, in bytes."""
    process = subprocess.Popen(shell(program), stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_maxrss * 1024


def table(job: Job) -> list[str]:
    limit = job.programs[0]
    lines = [
        f"### `comb {job.name}`" if job.name.startswith("top") else f"### `{job.name}`",
        "",
        f"| program | median | min | vs. {cell(limit.name)} | peak memory |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for program in job.programs:
        lines.append(
            f"| {cell(program.name)} | {program.median:.3f} s | {min(program.seconds):.3f} s "
            f"| {program.median / limit.median:.2f} | {memory(program.peak_bytes)} |"
        )
    lines.append("")
    by_name = {program.name: program for program in job.programs}
    for goal in job.goals:
        if goal.theirs in by_name:
            ratio = by_name[goal.ours].median / by_name[goal.theirs].median
            lines.append(f"- {goal.ours} vs. {goal.theirs}: {ratio:.2f} (goal ≤ {goal.at_most:.2f}, {verdict(ratio <= goal.at_most)})")
    if job.peak_below:
        peak = by_name["comb"].peak_bytes
        goal = f"< {job.peak_below / 2**20:.0f} MiB"
        lines.append(f"- peak memory: {peak / 2**20:.0f} MiB (goal {goal}, {verdict(peak < job.peak_below)})")
    return [*lines, ""]


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def memory(peak_bytes: int) -> str:
    """Formats peak memory. Between fork and exec a process has the memory of this one, which is therefore a lower bound."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return f"{'≤ ' if peak_bytes <= own else ''}{peak_bytes / 2**20:.0f} MiB"


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def version(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return (result.stdout or result.stderr).splitlines()[0].strip()


def setting() -> list[str]:
    programs = [version([str(COMB), "--version"]), version(["wc", "--version"]), version(["hyperfine", "--version"])]
    programs += [version([peer, "--version"]) for peer in ("gawk", "rg", "parallel") if has(peer)]
    programs += [version(["mawk", "-W", "version"])] if has("mawk") else []
    if has("duckdb"):
        programs.append(version([sys.executable, "-c", "import duckdb; print('DuckDB', duckdb.__version__)"]))
    return [machine.describe(DATA), f"Programs: {'; '.join(programs)}."]


def write_once(file: Path, write: Callable[[BinaryIO], object]) -> None:
    """Writes a file atomically, unless it exists."""
    file.parent.mkdir(exist_ok=True)
    if not file.exists():
        partial = file.with_suffix(".partial")
        with partial.open("wb") as out:
            write(out)
        partial.rename(file)


def make_log(file: Path, arguments: list[str]) -> None:
    """Writes the output of make-access-log to a file, unless the file exists."""
    write_once(file, lambda out: subprocess.run([ROOT / "target/dist/make-access-log", *arguments], stdout=out, check=True))


def log_of(lines: int) -> Path:
    return DATA / f"access-{lines}.log"


def make_corpus(lines: int) -> Path:
    log = log_of(lines)
    make_log(log, [str(lines)])
    folder = log.with_suffix(".compressed")
    folder.mkdir(exist_ok=True)
    for suffix, (needs, compress, _) in COMPRESSED.items():
        file = folder / f"access.{suffix}"
        if not file.exists() and has(needs):
            subprocess.run(["bash", "-c", f"{compress.format(log=log)} > {file}.partial && mv {file}.partial {file}"], check=True)
    return log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="number of interleaved rounds (default: 5)")
    parser.add_argument("--lines", type=int, default=LINES, help=f"number of lines in the log (default: {LINES:,})")
    parser.add_argument("--only", help="only jobs whose name contains this; does not write RESULTS.md")
    arguments = parser.parse_args()
    if not has("hyperfine"):
        sys.exit("bench: hyperfine is not installed; try: apt-get install hyperfine, or: cargo install hyperfine")
    build = ["cargo", "build", "--profile", "dist", "--locked", "-p", "finecomb", "-p", "finecomb-corpus"]
    subprocess.run(build, cwd=ROOT, check=True)
    log = make_corpus(arguments.lines)
    out = [
        *setting(),
        f"Log: {arguments.lines:,} lines, {log.stat().st_size / 1e6:.0f} MB, made by `make-access-log {arguments.lines}`. Warm cache.",
        "",
    ]
    missing = set()
    for job in jobs(log) + compressed_jobs(log):
        if arguments.only and arguments.only not in job.name:
            continue
        missing |= {program.needs for program in job.programs if not has(program.needs)}
        job.programs = [program for program in job.programs if has(program.needs)]
        print(f"bench: {job.name}", file=sys.stderr)
        check_same_work(job)
        measure(job, arguments.rounds)
        out += table(job)
    if missing:
        out += [f"Skipped: {', '.join(sorted(missing))} (not installed).", ""]
    text = "\n".join(out).rstrip() + "\n"
    print(text.replace(f"{ROOT}/", ""))
    if not arguments.only:
        machine.write_section(HERE / "RESULTS.md", "Results of comb top", machine.processor(), text)


if __name__ == "__main__":
    main()
