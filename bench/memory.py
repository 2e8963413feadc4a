#!/usr/bin/env python3
"""Benchmarks comb top on many distinct keys with bounded memory, prints tables and writes the section of this
processor in bench/RESULTS-memory.md.

    bench/memory.py [--keys LIST] [--rounds N] [--only JOB] [--comb PATH] [--data FOLDER]

    --keys LIST    numbers of distinct keys in millions (default: 1,10; with 100, 4.2 GB of input, and more for the temporary files of the peers)

Generates the inputs on the first run: lines of 20 bytes, each key in two lines on average. Every second line has a new key, so that
each key is far from its first line again; the others have any key, the first ones more often. Needs hyperfine. comb top counts
exactly without a limit and with --memory 256M, and with --approx in its default of 16 MiB. GNU sort is limited to 256 MiB, and so is DuckDB, which is used
from this Python (pip install duckdb). Missing programs are skipped and reported.

Before anything is timed, the ten most frequent keys of every program are compared. The programs of a job run in interleaved rounds,
so that drift of the machine affects all of them; the tables show medians. With --only, results are written only to --output.
"""

import argparse
import dataclasses
import json
import random
import shlex
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import formats
import grep
import run
from formats import Job, Program, peer, table
from grep import Goal
from run import has, version

LIMIT = 256 << 20
MULTIPLIER = 0x9E3779B97F4A7C15
# Exponent of the skew: the first of N keys has about 2·N^(1 - 1/SKEW)/SKEW lines more than its own.
SKEW = 3


def make_keys(file: Path, keys: int) -> None:
    """Writes two lines for each key, unless the file exists."""
    chance = random.Random(keys)

    def write(out: BinaryIO) -> None:
        for start in range(0, keys, 100_000):
            lines = []
            for key in range(start, min(start + 100_000, keys)):
                for number in (key, int(chance.random() ** SKEW * keys)):
                    lines.append(f"key-{number * MULTIPLIER & 0xFFFFFFFFFFFFFFFF:016x}\n")
            out.write("".join(lines).encode())

    run.write_once(file, write)


def comb_top(comb: str, name: str, arguments: str, file: Path) -> Program:
    return Program(name, f"{comb} top {arguments}{' ' if arguments else ''}{file.name}", reads=table("count key", " "))


def duckdb(file: Path) -> Program:
    """DuckDB on lines as they are."""
    lines = f"read_csv('{file.name}', columns={{'k': 'VARCHAR'}}, delim='\\0', quote='', escape='', header=false, auto_detect=false)"
    query = f"SET memory_limit='{LIMIT >> 20}MiB'; SELECT count(*) AS n, k FROM {lines} GROUP BY k ORDER BY n DESC, k LIMIT 10"
    return formats.sql("DuckDB, memory_limit", query, "count key")


def sort(file: Path) -> Program:
    """GNU sort, which sorts again by the counts. The second sort has as much memory as the first."""
    size = f"{LIMIT >> 20}M"
    script = f"sort -S {size} {file.name} | uniq -c | sort -S {size} -k1,1nr -k2 | head -n 10"
    return peer("sort -S | uniq -c", ["bash", "-c", script], counted, "sort")


def counted(text: str) -> list[formats.Row]:
    """Reader of uniq -c."""
    return [dict(zip(("count", "key"), line.split(), strict=True)) for line in text.splitlines()]


def keys_job(comb: str, millions: int, folder: Path) -> Job:
    file = folder / f"keys-{millions}M.txt"
    programs = [
        comb_top(comb, "comb", "", file),
        comb_top(comb, "comb --memory", f"--memory {LIMIT >> 20}M", file),
        comb_top(comb, "comb --approx", "--approx", file),
        comb_top(comb, "comb --approx --recount", "--approx --recount", file),
        duckdb(file),
        sort(file),
    ]
    goals = [Goal("comb --memory", ["comb"], 3), Goal("comb --approx", ["comb"], 1.2)]
    goals += [Goal(name, [program.name], None) for name in ("comb --memory", "comb --approx") for program in programs[4:]]
    goals += [Goal(name, ["comb"], None, of_memory=True) for name in ("comb --memory", "comb --approx")]
    return Job(f"{millions} M keys: top", folder, programs, goals, base="comb", compares=False, file=file)


def prepare(job: Job, millions: int) -> None:
    """Generates the input if it is missing, and compares the output of the programs."""
    make_keys(job.file, millions * 1_000_000)
    job.input_bytes = job.file.stat().st_size
    job.facts.append(f"Input: {job.file.name}, {job.input_bytes / 1e6:.0f} MB.")
    job.facts.append(bound(job))
    print(f"bench: comparing the output of {job.name}", file=sys.stderr)
    expected = None
    for program in [program for program in job.programs if has(program.needs)]:
        # A peer that takes more than a minute is timed once.
        program.is_slow = millions > 10 or program.name.startswith("sort")
        text = printed(program, job)
        if text is None:
            job.programs.remove(program)
            continue
        rows = program.reads(text)
        expected = expected or rows
        if rows != expected:
            sys.exit(f"bench: {job.name}: output of {program.name} differs from comb: {rows} instead of {expected}")


def bound(job: Job) -> str:
    """Sentence on the certainty of an approximate count."""
    program = next(program for program in job.programs if program.name == "comb --approx")
    answer = json.loads(printed(dataclasses.replace(program, command=f"{program.command} --json"), job))
    errors, certain = [key["error"] for key in answer["top"]], sum(key["certain"] for key in answer["top"])
    lost = f"a key for which there was no memory is in at most {answer['bound']:,} lines"
    return f"With --approx, {certain} of the ten keys are certain, and {errors.count(0)} counts exact. {lost.capitalize()}; the tenth is in {answer['top'][-1]['count']:,}."


def printed(program: Program, job: Job) -> str | None:
    """Standard output of a program. None, and a fact of the job, if it is a peer that fails."""
    answer = subprocess.run(
        shlex.split(program.command), cwd=job.folder, env=grep.ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if answer.returncode == 0:
        return answer.stdout.decode()
    error = answer.stderr.decode(errors="replace").strip().splitlines()[-1:]
    if program.needs is None:
        sys.exit(f"bench: {job.name}: {program.name} fails: {error}")
    job.facts.append(f"{program.name} fails: {''.join(error)[:200]}.")
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", default="1,10", help="numbers of distinct keys in millions (default: 1,10)")
    parser.add_argument("--data", type=Path, default=run.DATA, help="folder of the inputs (default: bench/data)")
    grep.add_arguments(parser, 5, "RESULTS-memory.md")
    arguments = parser.parse_args()
    comb = grep.built(arguments)
    planned = {}
    for millions in map(int, arguments.keys.split(",")):
        job = keys_job(comb, millions, arguments.data.resolve())
        planned[job.name] = (job, millions)
    if jobs := grep.chosen([job for job, _ in planned.values()], arguments):
        for job in jobs:
            prepare(job, planned[job.name][1])
        report(jobs, arguments, comb)


def report(jobs: list[Job], arguments: argparse.Namespace, comb: str) -> None:
    peers = [version([sys.executable, "-c", "import duckdb; print('duckdb', duckdb.__version__)"])] if has("duckdb") else []
    out = [
        *grep.setting(shlex.split(comb)[0], ("sort",), arguments.data),
        *([f"Also {'; '.join(peers)}."] if peers else []),
        f"{arguments.rounds} rounds, warm cache. Memory of the tables: 16 MiB with --approx, {LIMIT >> 20} MiB with --memory and for the peers.",
        "",
        *grep.results(jobs, [], arguments.rounds),
    ]
    grep.write("Results of comb top with bounded memory", out, arguments, run.HERE / "RESULTS-memory.md")


if __name__ == "__main__":
    main()
