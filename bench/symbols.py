#!/usr/bin/env python3
"""Benchmarks comb symbols against Universal Ctags and ast-grep, prints tables and writes the section of this
processor in bench/RESULTS-symbols.md.

    bench/symbols.py --tree DIR [--rust DIR] [--python DIR] [--java DIR] [--go DIR] [--cpp DIR] [--rounds N] [--only JOB] [--comb PATH]

    --tree DIR    the source tree of Linux; its folders drivers/net, fs, kernel and mm are listed, and all of it is searched
    --rust DIR    Rust code, to be listed by comb and ctags; --python, --java, --go and --cpp (headers alone) likewise

Needs hyperfine. Peers are searched in PATH: ctags (apt-get install universal-ctags), ast-grep (pip install ast-grep-cli). Missing
programs are skipped and reported. Their lists differ, as each has kinds of its own; the number of lines is reported.

The limit is crates/symbols/examples/limit.rs: lexer and parser alone, on files in memory, without order and output. It must find as
many definitions as comb lists.

The programs of a job run in interleaved rounds, so that drift of the machine affects all of them; the tables show medians. On a busy
machine compare CPU times. ast-grep and --thorough run in the first round only. The job with a cold cache drops the page cache
before each run, which requires root; otherwise it is skipped. With --only, results are written only to --output.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import grep
import run
from grep import Goal, Job, Program
from machine import CORES

FOLDERS = "drivers/net fs kernel mm"
SOURCES = "'*.c' -o -name '*.h'"
CTAGS = "ctags -R --sort=no -f -"
OTHER = {"rust": "Rust", "python": "Python", "java": "Java", "go": "Go", "cpp": "C++"}
# What ctags reads: headers of C++ need not have an extension.
FORCED = ["cpp"]
AT_MOST = {"cpp": 0.6}
# Goal for the memory of a thread, beyond the largest file.
PER_THREAD = 32 << 20


def limit_of(limit: str, threads: int, arguments: str = "") -> Program:
    name = f"lexer and parser alone, {threads} thread{'' if threads == 1 else 's'}"
    return Program(name, f"{limit}{arguments} {threads} {FOLDERS}", is_limit=True, own_clock=True)


def list_job(tree: Path, comb: str) -> Job:
    find = f"find {FOLDERS} -name {SOURCES}"
    parallel = f"{find} | xargs -n 500 -P {CORES} ctags --sort=no -f -"
    programs = [
        Program("comb", f"{comb} symbols {FOLDERS}"),
        Program("comb -j 1", f"{comb} symbols -j 1 {FOLDERS}"),
        Program("ctags", f"{CTAGS} --languages=C,C++ {FOLDERS}", "ctags"),
        Program(f"ctags, {CORES} processes", f"bash -c {run.quoted(parallel)}", "ctags"),
        Program("ast-grep outline", f"ast-grep outline --items structure {FOLDERS}", "ast-grep", is_slow=True),
    ]
    goals = [
        Goal("comb", ["ctags"], 1.0),
        Goal("comb", ["ast-grep outline"], 0.3),
        Goal("comb", [f"ctags, {CORES} processes"], None),
        Goal("comb -j 1", ["ctags"], None, of_cpu=True),
    ]
    return Job(f"list: symbols {FOLDERS}", tree, programs, goals, output="pipe", base="ctags", compares=False)


def limit_job(tree: Path, comb: str, limit: str, widths: list[int]) -> Job:
    programs, goals = [], []
    for width in widths:
        ours, alone = Program(f"comb -j {width}", f"{comb} symbols -j {width} {FOLDERS}"), limit_of(limit, width)
        programs += [ours, alone]
        goals += [Goal(ours.name, [alone.name], 1.15), Goal(ours.name, [alone.name], None, of_cpu=True)]
    return Job(f"limit: symbols {FOLDERS}", tree, programs, goals, output="pipe", base=programs[-1].name, compares=False)


def thorough_job(tree: Path, comb: str) -> Job:
    programs = [
        Program("comb --thorough", f"{comb} symbols --thorough {FOLDERS}", is_slow=True),
        Program("comb", f"{comb} symbols {FOLDERS}", is_slow=True),
    ]
    goal = Goal("comb", ["comb --thorough"], None)
    return Job(f"thorough: symbols {FOLDERS}", tree, programs, [goal], output="pipe", base="comb --thorough", compares=False)


def find_jobs(tree: Path, comb: str) -> list[Job]:
    jobs = []
    for name, word in [("ext4_map_blocks", "ext4_map_blocks"), ("'^kmalloc$'", "kmalloc")]:
        other = f"comb grep -lw {word}"
        programs = [Program("comb", f"{comb} symbols -d {name}"), Program(other, f"{comb} grep -lw {word}")]
        goals = [Goal("comb", [other], 1.3), Goal("comb", [other], None, of_cpu=True)]
        jobs.append(Job(f"find: symbols -d {name}", tree, programs, goals, output="pipe", base=other, compares=False))
    return jobs


def language_job(language: str, folder: Path, comb: str) -> Job:
    option = "--language-force" if language in FORCED else "--languages"
    programs = [
        Program("comb", f"{comb} symbols -L --no-ignore --lang {language}"),
        Program("comb -j 1", f"{comb} symbols -j 1 -L --no-ignore --lang {language}"),
        Program("ctags", f"{CTAGS} {option}={OTHER[language]} .", "ctags"),
    ]
    goals = [Goal("comb", ["ctags"], AT_MOST.get(language)), Goal("comb -j 1", ["ctags"], None, of_cpu=True)]
    name = f"{OTHER[language]}: symbols --lang {language}"
    return Job(name, folder, programs, goals, output="pipe", base="ctags", compares=False)


def cold_job(tree: Path, comb: str, limit: str) -> Job:
    reading = f"find {FOLDERS} -name {SOURCES} | xargs -n 256 -P 8 cat"
    programs = [Program("comb", f"{comb} symbols {FOLDERS}")]
    goals = [Goal("comb", ["reading alone (cat)", limit_of(limit, CORES).name], 1.15, against_longest=True)]
    for width in sorted({1, CORES}):
        ours = Program(f"comb -j {width}", f"{comb} symbols -j {width} {FOLDERS}")
        programs.append(ours)
        goals.append(Goal(ours.name, ["reading alone (cat)", limit_of(limit, width).name], 1.15, against_longest=True))
    programs.append(Program("reading alone (cat)", f"bash -c {run.quoted(reading)}", is_limit=True))
    programs += [limit_of(limit, width) for width in sorted({1, CORES})]
    return Job(
        f"list, cold cache: symbols {FOLDERS}", tree, programs, goals, output="pipe", rounds=5, is_cold=True,
        base="reading alone (cat)", compares=False,
    )  # fmt: skip


def check_limit(tree: Path, comb: str, limit: str) -> dict:
    """Facts about the folders. The limit must find as many definitions as comb lists."""
    found = json.loads(output_of(limit_of(limit, 1).command, tree))
    listed = output_of(f"{comb} symbols {FOLDERS}", tree).count(b"\n")
    if listed != found["definitions"]:
        sys.exit(f"bench: comb lists {listed} definitions, but the limit finds {found['definitions']}")
    return found


def output_of(command: str, folder: Path) -> bytes:
    answer = subprocess.run(shlex.split(command), cwd=folder, env=grep.ENVIRONMENT, stdout=subprocess.PIPE, check=False)
    if answer.returncode not in (0, 1):
        sys.exit(f"bench: {command} fails with exit status {answer.returncode}")
    return answer.stdout


def count_lines(jobs: list[Job]) -> None:
    """Adds to each job how many lines its programs print."""
    for job in jobs:
        programs = [program for program in job.programs if run.has(program.needs) and not program.is_limit]
        counts = {program.name: output_of(program.command, job.folder).count(b"\n") for program in programs if not program.is_slow}
        if counts:
            job.facts.append("Lines: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()) + ".")


def throughput(jobs: list[Job], found: dict) -> list[str]:
    """Table of the throughput of each list of the folders."""
    lines = ["### Throughput", "", "| job | program | MB/s | MB/s of CPU time |", "| --- | --- | ---: | ---: |"]
    for job in jobs:
        for program in job.programs if FOLDERS in job.name else []:
            if program.seconds and program.name != "reading alone (cat)":
                rates = [found["bytes"] / 1e6 / time for time in (program.median, program.cpu)]
                lines.append(f"| {job.name.split(': ')[0]} | {run.cell(program.name)} | {rates[0]:.1f} | {rates[1]:.1f} |")
    return [*lines, ""]


def memory(tree: Path, comb: str, largest: int) -> list[str]:
    """Table of peak memory by width."""
    lines = [
        "### Memory",
        "",
        f"Peak memory beyond the largest file ({largest / 2**20:.1f} MiB) for each thread.",
        "",
        "| threads | peak memory | of a thread | |",
        "| ---: | ---: | ---: | --- |",
    ]
    for width in (1, 2, 8, 32):
        peak = grep.peak_memory(Program("comb", f"{comb} symbols -j {width} {FOLDERS}"), tree)
        each = max(0, peak / width - largest)
        goal = f"goal ≤ {PER_THREAD >> 20} MiB, {run.verdict(each <= PER_THREAD)}"
        lines.append(f"| {width} | {peak / 2**20:.1f} MiB | {each / 2**20:.1f} MiB | {goal} |")
    return [*lines, ""]


def built(arguments: argparse.Namespace) -> tuple[str, str]:
    """Commands of comb and of the limit, built unless they are given."""
    build = ["cargo", "build", "--profile", "dist", "--locked"]
    if not arguments.comb:
        subprocess.run([*build, "-p", "finecomb"], cwd=run.ROOT, check=True)
    if not arguments.limit:
        subprocess.run([*build, "-p", "finecomb-symbols", "--example", "limit"], cwd=run.ROOT, check=True)
    limit = arguments.limit or run.COMB.parent / "examples" / "limit"
    return tuple(shlex.quote(str(path.resolve())) for path in (arguments.comb or run.COMB, limit))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True, help="the source tree of Linux")
    for language, title in OTHER.items():
        parser.add_argument(f"--{language}", type=Path, metavar="DIR", help=f"{title} code")
    grep.add_arguments(parser, 7, "RESULTS-symbols.md")
    parser.add_argument("--limit", type=Path, help="path of the example limit of finecomb-symbols (default: built first)")
    arguments = parser.parse_args()
    if not run.has("hyperfine"):
        sys.exit("bench: hyperfine is not installed; try: apt-get install hyperfine, or: cargo install hyperfine")
    tree = arguments.tree.resolve()
    comb, limit = ("comb", "limit") if arguments.list else built(arguments)

    skipped = [f"{title} (no --{language})" for language, title in OTHER.items() if not vars(arguments)[language]]
    jobs = [list_job(tree, comb), limit_job(tree, comb, limit, sorted({1, CORES})), *find_jobs(tree, comb)]
    jobs += [
        language_job(language, folder.resolve(), comb) for language in OTHER if (folder := vars(arguments)[language])
    ]
    jobs.append(thorough_job(tree, comb))
    if grep.may_drop_caches():
        jobs.append(cold_job(tree, comb, limit))
    else:
        skipped.append("the job with a cold cache (requires root)")
    if jobs := grep.chosen(jobs, arguments):
        report(jobs, skipped, arguments, tree, comb, limit)


def report(jobs: list[Job], skipped: list[str], arguments: argparse.Namespace, tree: Path, comb: str, limit: str) -> None:
    found = check_limit(tree, comb, limit)
    count_lines(jobs)
    out = [
        *grep.setting(shlex.split(comb)[0], ("ctags", "ast-grep"), tree),
        f"Folders {FOLDERS} of Linux: {found['files']:,} files, {found['bytes'] / 1e6:.0f} MB, {found['definitions']:,} definitions. "
        f"{arguments.rounds} rounds, warm cache unless noted.",
        "",
        *grep.results(jobs, skipped, arguments.rounds),
        *throughput(jobs, found),
        *(memory(tree, comb, found["largest"]) if not arguments.only else []),
    ]
    grep.write("Results of comb symbols", out, arguments, run.HERE / "RESULTS-symbols.md")


if __name__ == "__main__":
    main()
