#!/usr/bin/env python3
"""Benchmarks comb grep against ripgrep and other peers, prints tables and writes the section of this
processor in bench/RESULTS-grep.md.

    bench/grep.py --tree DIR [--log FILE] [--rounds N] [--only JOB] [--comb PATH]

    --tree DIR    a large source tree with its ignore files, such as Linux; without it the jobs on a tree are skipped
    --log FILE    a large log (default: the one of bench/run.py, generated if missing)

Needs hyperfine and ripgrep. Peers are searched in PATH: ag, ugrep, git. Missing programs are skipped and reported.

Before anything is timed, every output is compared with that of comb as a set of lines, as only comb prints in path order. A
difference from ripgrep is an error. The other peers select files by other rules; the number of different lines is reported. The
programs of a job run in interleaved rounds, so that drift of the machine affects all of them; the tables show medians. ripgrep
runs with its defaults, in parallel and unsorted. Output of jobs on a tree goes to a pipe, as some programs do less work if it goes
to /dev/null.

The jobs with a cold cache drop the page cache before each run, which requires root; otherwise they are skipped. With --only,
results are written only to --output.
"""

import argparse
import filecmp
import json
import os
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TextIO

import machine
import run
from run import cell, has, version

HERE = Path(__file__).resolve().parent
TIME = "/usr/bin/time"
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
BOTS = "googlebot|bingbot|Twitterbot"
# Patterns in the log of make-access-log: in about one line of six thousand, and in three of ten.
RARE = ":12:34:5"
FREQUENT = "Linux"


@dataclass
class Program(run.Program):
    # Output is compared, and may differ.
    is_peer: bool = False
    # Prints a JSON object with its own "seconds" and "cpu_seconds", which leave out its preparations.
    own_clock: bool = False
    # Wall time of the run whose output is compared, and the first line of its standard error.
    first_seconds: float = 0
    error: str = ""
    cpu_seconds: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def cpu(self) -> float:
        return statistics.median(self.cpu_seconds)


@dataclass
class Goal:
    """Time (or CPU time, or peak memory) of comb relative to the best of other programs, with an upper bound if it is a goal.

    Or the throughput of comb, with a lower bound.
    """

    ours: str
    theirs: list[str]
    at_most: float | None
    of_memory: bool = False
    of_cpu: bool = False
    # Relative to the longest of the other programs: a bound if they could all run at the same time.
    against_longest: bool = False
    # Lower bound of the throughput, in GB of the job's input per second.
    at_least: float | None = None


@dataclass
class Job:
    name: str
    folder: Path
    programs: list[Program]
    goals: list[Goal]
    # Value of hyperfine's --output.
    output: str = "null"
    rounds: int | None = None
    # Consecutive runs in each round.
    runs: int = 1
    is_cold: bool = False
    compares: bool = True
    # Program that the others are compared with in the table (default: rg, or the last).
    base: str | None = None
    # Size of the input, for goals of throughput.
    input_bytes: int = 0
    facts: list[str] = field(default_factory=list)


def pair(arguments: str, comb: str) -> list[Program]:
    return [Program("comb", f"{comb} grep {arguments}"), Program("rg", f"rg {arguments}", "rg")]


def peers(pattern: str, tree: Path) -> list[Program]:
    """The same search by other programs. In a repository with an empty index, git needs --untracked."""
    tracked = subprocess.run(["git", "ls-files"], cwd=tree, capture_output=True, check=False).stdout if has("git") else b""
    git = "git grep" if tracked else "git grep --untracked"
    return [
        Program("ag", f"ag --nogroup --nocolor {pattern}", "ag", is_peer=True),
        Program("ugrep -r", f"ugrep -rnI --no-heading {pattern}", "ugrep", is_peer=True),
        Program(git, f"{git} --no-color -nIE {pattern}", "git", is_peer=True),
    ]


def tree_jobs(tree: Path, comb: str) -> list[Job]:
    jobs = []
    for arguments in [
        "-n PM_RESUME",
        "-n '[A-Z]+_SUSPEND'",
        r"-n 'EXPORT_SYMBOL_GPL\(.*_register'",
        "-ni pm_resume",
        "-nw pm",
        "-c ''",
    ]:
        programs = pair(arguments, comb)
        if len(jobs) < 2:
            programs += peers(arguments.removeprefix("-n "), tree)
        goals = [Goal("comb", ["rg"], 0.8)]
        if not jobs:
            goals.append(Goal("comb", ["rg"], 2.0, of_memory=True))
        jobs.append(Job(f"tree: {arguments}", tree, programs, goals, output="pipe"))
    jobs.append(Job("tree: --files", tree, pair("--files", comb), [Goal("comb", ["rg"], 0.9)], output="pipe"))
    return jobs


def sorted_jobs(tree: Path, comb: str) -> list[Job]:
    """Sorted searches, which ripgrep runs on one thread."""
    jobs = []
    for arguments in ["--sort path -n PM_RESUME", "--sort modified -n PM_RESUME", "--files --sort path", "--files --sort modified"]:
        jobs.append(Job(f"tree: {arguments}", tree, pair(arguments, comb), [Goal("comb", ["rg"], 1 / 3)], output="pipe"))
    return jobs


# Programs that make an archive of files, and that write the text of its members.
ARCHIVES = {
    "tar": ("tar cf {} {}", "tar xOf {}"),
    "tar.gz": ("tar czf {} {}", "tar xOzf {}"),
    "tar.zst": ("tar --zstd -cf {} {}", "tar --zstd -xOf {}"),
    "zip": ("zip -qr {} {}", "unzip -p {}"),
}


def archive_jobs(tree: Path, folder: Path, comb: str) -> list[Job]:
    """Searches in archives, and in the text of their members: the last line of a member may have no end there."""
    jobs = []
    for extension, (pack, unpack) in ARCHIVES.items():
        archive = f"{folder}/net.{extension}"
        if not all(has(command.split()[0]) for command in (pack, unpack)):
            continue
        subprocess.run(shlex.split(pack.format(archive, "drivers/net")), cwd=tree, check=True)
        search = "-aN napi_schedule"
        other = f"sh -c '{unpack.format(archive)} | rg {search}'"
        programs = [Program("comb", f"{comb} grep --archives --no-filename {search} {archive}"), Program("unpacked | rg", other, "rg", is_peer=True)]
        jobs.append(Job(f"archive: {search} net.{extension}", tree, programs, [Goal("comb", ["unpacked | rg"], 1.0)], output="pipe"))
    return jobs


def log_jobs(log: Path, comb: str) -> list[Job]:
    jobs = []
    file = shlex.quote(log.name)
    for arguments in [f"-c '{BOTS}'", f"-n '{RARE}'", f"-n '{FREQUENT}'"]:
        programs = [
            *pair(f"{arguments} {file}", comb),
            Program("wc -l", f"wc -l {file}", is_limit=True),
            Program("cat", f"cat {file}", is_limit=True),
        ]
        goals = [Goal("comb", ["rg"], 0.65), Goal("comb", ["wc -l"], None)]
        if not jobs:
            goals.append(Goal("comb", ["rg"], 2.0, of_memory=True))
        jobs.append(Job(f"log: {arguments}", log.parent, programs, goals))
    for arguments in [f"-c '{BOTS}'", f"-n '{FREQUENT}'"]:
        programs = [Program(f"comb -j {width}", f"{comb} grep -j {width} {arguments} {file}") for width in (2, 1)]
        jobs.append(Job(f"log, two workers: {arguments}", log.parent, programs, [Goal("comb -j 2", ["comb -j 1"], None)]))
    return jobs


def cold_job(tree: Path, comb: str) -> Job:
    arguments = "-n PM_RESUME"
    others = [Program(f"rg -j {width}", f"rg -j {width} {arguments}", "rg") for width in (2, 8, 32)]
    goal = Goal("comb", [program.name for program in others], 1.0)
    programs = [Program("comb", f"{comb} grep {arguments}"), *others]
    return Job(f"tree, cold cache: {arguments}", tree, programs, [goal], output="pipe", rounds=5, is_cold=True)


def start_job(folder: Path, comb: str, rounds: int) -> Job:
    """Start-up time: a search in an empty directory."""
    programs = pair("--no-messages PM_RESUME .", comb)
    return Job("empty directory", folder, programs, [Goal("comb", ["rg"], 1.2)], rounds=rounds, runs=20)


ENVIRONMENT = {**os.environ, "LC_ALL": "C"}
ENVIRONMENT.pop("RIPGREP_CONFIG_PATH", None)


def check_same_work(job: Job) -> None:
    """Ends the benchmark if a program that is no peer prints other lines than comb."""
    if found := difference(job):
        sys.exit(f"bench: {job.name}: {found}")


def difference(job: Job, limit: float | None = None) -> str | None:
    """Says which program prints other lines than comb, in any order, fails, or takes longer than a limit in seconds.

    Programs that are limits are not run. Differences of peers become notes.
    """
    with tempfile.TemporaryDirectory(prefix="bench-grep.") as name:
        expected, sorted_expected = Path(name, "comb"), Path(name, "comb.sorted")
        for program in (program for program in job.programs if not program.is_limit):
            is_first = program is job.programs[0]
            printed = expected if is_first else Path(name, "other")
            with printed.open("wb") as out:
                status = run_first(program, job.folder, out, limit)
            if status is None:
                return f"{program.name} takes longer than {limit:.0f} s"
            if status not in (0, 1):
                return f"{program.name} fails with exit status {status}: {program.error}"
            if is_first:
                lines = subprocess.run(["wc", "-l", printed], capture_output=True, text=True, check=True).stdout.split()[0]
                job.facts.append(f"Output: {int(lines):,} line{'' if int(lines) == 1 else 's'}, {printed.stat().st_size / 1e6:.1f} MB.")
                continue
            if filecmp.cmp(expected, printed, shallow=False):
                continue
            sorted_printed = Path(name, "other.sorted")
            for source, target in ((expected, sorted_expected), (printed, sorted_printed)):
                if target is sorted_printed or not target.exists():
                    subprocess.run(["sort", "-o", target, source], env=ENVIRONMENT, check=True)
            if filecmp.cmp(sorted_expected, sorted_printed, shallow=False):
                continue
            if not program.is_peer:
                return f"output of {program.name} differs from comb"
            more, fewer = (
                subprocess.run(["comm", flag, sorted_expected, sorted_printed], env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
                .stdout.count(b"\n")
                for flag in ("-13", "-23")
            )  # fmt: skip
            program.notes.append(f"{program.name} prints {more:,} additional lines, and lacks {fewer:,}.")
    return None


def run_first(program: Program, folder: Path, out: BinaryIO | int, limit: float | None = None) -> int | None:
    """Exit status of a run before the measured ones, which also shows how long the program takes, and its peak memory.

    None if it was stopped after a limit in seconds.
    """
    start = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        try:
            status, program.peak_bytes = run_for_peak(program, folder, out, errors, limit)
        except subprocess.TimeoutExpired:
            return None
        errors.seek(0)
        program.error = errors.readline().strip()
    program.first_seconds = time.monotonic() - start
    return status


def drop_caches(programs: list[Program]) -> None:
    """Drops the page cache, and loads the programs again, so that loading them is not measured."""
    os.sync()
    DROP_CACHES.write_text("3\n")
    for name in ["hyperfine", *{shlex.split(program.command)[0] for program in programs}]:
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([name, "--version"], **quiet, check=False)


def measure(job: Job, rounds: int) -> None:
    for number in range(job.rounds or rounds):
        for program in job.programs:
            if number > 0 and program.is_slow:
                continue
            if job.is_cold:
                drop_caches(job.programs)
            warmup = 2 if number == 0 and not job.is_cold and not program.is_slow else 0
            run_once(program, job, warmup)
    for program in job.programs:
        program.peak_bytes = peak_memory(program, job.folder)


def run_once(program: Program, job: Job, warmup: int) -> None:
    """Runs a program in a round, and adds its times."""
    if program.own_clock:
        command = shlex.split(program.command)
        answer = subprocess.run(command, check=True, cwd=job.folder, env=ENVIRONMENT, stdout=subprocess.PIPE).stdout
        clock = json.loads(answer)
        program.seconds.append(clock["seconds"])
        program.cpu_seconds.append(clock["cpu_seconds"])
        return
    with tempfile.NamedTemporaryFile(suffix=".json") as export:
        command = ["hyperfine", "-N", "--style=none", "--ignore-failure", f"--output={job.output}"]
        command += [f"--warmup={warmup}", f"--runs={job.runs}", "--export-json", export.name, program.command]
        subprocess.run(command, check=True, cwd=job.folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        result = json.load(export)["results"][0]
    if any(code not in (0, 1) for code in result["exit_codes"]):
        sys.exit(f"bench: {job.name}: {program.name} fails with exit status {max(result['exit_codes'])}")
    program.seconds += result["times"]
    program.cpu_seconds.append(result["user"] + result["system"])


def peak_memory(program: Program, folder: Path) -> int:
    """Median of three runs, in bytes. The memory of the starting process is a lower bound, which is smallest for GNU time."""
    runs = 1 if program.is_slow else 3
    return int(statistics.median(run_for_peak(program, folder, subprocess.DEVNULL, subprocess.DEVNULL)[1] for _ in range(runs)))


def run_for_peak(
    program: Program, folder: Path, out: BinaryIO | int, errors: TextIO | int, limit: float | None = None
) -> tuple[int, int]:
    """Exit status and peak memory of one run, which ends with an exception after a limit in seconds."""
    with tempfile.NamedTemporaryFile("r") as note:
        command = [TIME, "-f", "%M", "-o", note.name] if has(TIME) else [sys.executable, "-S", "-c", STARTER, note.name]
        command += shlex.split(program.command)
        # A session of its own, as the program is a child of the one that is started here.
        process = subprocess.Popen(
            command, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, start_new_session=True
        )
        try:
            status = process.wait(limit)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        return status, int(note.read().split()[-1]) * 1024


# Replacement for GNU time if it is not installed.
STARTER = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""


@dataclass
class Verdict:
    job: str
    goal: str
    ratio: float
    is_met: bool | None
    # The fastest or smallest of the other programs.
    best: Program | None = None


RESULT = {True: ", met", False: ", **missed**", None: ""}


def judge(job: Job) -> list[Verdict]:
    by_name = {program.name: program for program in job.programs}
    verdicts = []
    for goal in job.goals:
        if goal.at_least is not None:
            rate = job.input_bytes / 1e9 / by_name[goal.ours].median
            verdicts.append(Verdict(job.name, f"{goal.ours}, GB/s ≥ {goal.at_least:.2f}", rate, rate >= goal.at_least))
            continue
        theirs = [by_name[name] for name in goal.theirs if name in by_name]
        if goal.ours not in by_name or not theirs:
            continue
        ours = by_name[goal.ours]
        pick = max if goal.against_longest else min
        if goal.of_memory:
            best = pick(theirs, key=lambda program: program.peak_bytes)
            ratio = ours.peak_bytes / best.peak_bytes
        elif goal.of_cpu:
            best = pick(theirs, key=lambda program: program.cpu)
            ratio = ours.cpu / best.cpu
        else:
            best = pick(theirs, key=lambda program: program.median)
            ratio = ours.median / best.median
        bound = "" if goal.at_most is None else f" ≤ {goal.at_most:.2f}"
        measure_of = " peak memory" if goal.of_memory else " CPU time" if goal.of_cpu else ""
        text = f"{goal.ours}{measure_of} vs. {best.name}{bound}"
        verdicts.append(Verdict(job.name, text, ratio, None if goal.at_most is None else ratio <= goal.at_most, best))
    return verdicts


def seconds(value: float) -> str:
    return f"{value * 1e3:.2f} ms" if value < 0.1 else f"{value:.3f} s"


def table(job: Job, verdicts: list[Verdict]) -> list[str]:
    base = next((program for program in job.programs if program.name == (job.base or "rg")), job.programs[-1])
    lines = [
        f"### {job.name.split(': ')[0]}: `{job.name.split(': ', 1)[1]}`" if ": " in job.name else f"### {job.name}",
        "",
        *([" ".join(job.facts), ""] if job.facts else []),
        f"| program | median | min | CPU | vs. {cell(base.name)} | peak memory |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for program in job.programs:
        lines.append(
            f"| {cell(program.name)} | {seconds(program.median)} | {seconds(min(program.seconds))} | {seconds(program.cpu)} "
            f"| {program.median / base.median:.2f} | {program.peak_bytes / 2**20:.1f} MiB |"
        )
    lines.append("")
    for found in verdicts:
        lines.append(f"- {found.goal}: {found.ratio:.2f}{RESULT[found.is_met]}")
    lines += [f"- {note}" for program in job.programs for note in program.notes]
    return [*lines, ""]


def setting(comb: str, peers: tuple[str, ...], data: Path) -> list[str]:
    """The machine, with the file system of the data, and the versions of comb and its peers."""
    programs = [version([comb, "--version"])]
    programs += [version([name, "--version"]) for name in (*peers, "hyperfine") if has(name)]
    return [machine.describe(data), f"Programs: {'; '.join(programs)}."]


def describe_tree(tree: Path) -> str:
    files = bytes_ = 0
    for folder, folders, names in os.walk(tree):
        if ".git" in folders:
            folders.remove(".git")
        files += len(names)
        bytes_ += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
    return f"Tree: {files:,} files, {bytes_ / 1e9:.2f} GB. "


def may_drop_caches() -> bool:
    return os.geteuid() == 0 and os.access(DROP_CACHES, os.W_OK)


def add_arguments(parser: argparse.ArgumentParser, rounds: int, results_file: str) -> None:
    """Adds the arguments that are the same for every benchmark with jobs."""
    parser.add_argument(
        "--rounds", type=int, default=rounds, help=f"number of interleaved rounds (default: {rounds}; 5 with a cold cache)"
    )
    parser.add_argument("--only", help=f"only jobs whose name contains this; does not write {results_file}")
    parser.add_argument("--comb", type=Path, help="path of comb (default: target/dist/comb, built first)")
    parser.add_argument("--output", type=Path, help=f"file for the results (default: bench/{results_file})")
    parser.add_argument("--list", action="store_true", help="print the names of the jobs and exit")


def built(arguments: argparse.Namespace) -> str:
    """Command of comb, built unless it is given or nothing is run. Ends the program without hyperfine."""
    if not has("hyperfine"):
        sys.exit("bench: hyperfine is not installed; try: apt-get install hyperfine, or: cargo install hyperfine")
    if not arguments.list and not arguments.comb:
        subprocess.run(["cargo", "build", "--profile", "dist", "--locked", "-p", "finecomb"], cwd=run.ROOT, check=True)
    return shlex.quote(str((arguments.comb or run.COMB).resolve()))


def chosen(jobs: list[Job], arguments: argparse.Namespace) -> list[Job]:
    """The jobs to run; none with --list, which prints their names."""
    if arguments.list:
        print("\n".join(job.name for job in jobs))
        return []
    found = [job for job in jobs if not arguments.only or arguments.only in job.name]
    return found or sys.exit(f"bench: no job name contains {arguments.only}; see --list")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, help="a large source tree")
    parser.add_argument("--log", type=Path, help="a large log (default: that of bench/run.py)")
    add_arguments(parser, 15, "RESULTS-grep.md")
    arguments = parser.parse_args()
    for name in ("hyperfine", "rg"):
        if not has(name):
            sys.exit(f"bench: {name} is not installed; try: cargo install {'ripgrep' if name == 'rg' else name}")
    build = ["cargo", "build", "--profile", "dist", "--locked", "-p", "finecomb", "-p", "finecomb-corpus"]
    if not arguments.list and not (arguments.comb and arguments.log):
        subprocess.run(build, cwd=run.ROOT, check=True)
    comb = shlex.quote(str((arguments.comb or run.COMB).resolve()))
    log = arguments.log or (Path("access.log") if arguments.list else run.make_corpus(2_000_000))
    log = log.resolve()

    folder = tempfile.TemporaryDirectory
    with folder(prefix="bench-grep-empty.") as empty, folder(prefix="bench-grep-archives.") as archives:
        jobs, skipped = [], []
        if arguments.tree:
            tree = arguments.tree.resolve()
            jobs += tree_jobs(tree, comb) + sorted_jobs(tree, comb)
            if not arguments.list and (tree / "drivers/net").is_dir():
                jobs += archive_jobs(tree, Path(archives), comb)
        else:
            skipped.append("jobs on a tree (no --tree)")
        jobs += log_jobs(log, comb)
        if arguments.tree and may_drop_caches():
            jobs.append(cold_job(tree, comb))
        elif arguments.tree:
            skipped.append("the job with a cold cache (requires root)")
        jobs.append(start_job(Path(empty), comb, arguments.rounds))
        if jobs := chosen(jobs, arguments):
            report(jobs, skipped, arguments, log, comb)


def report(jobs: list[Job], skipped: list[str], arguments: argparse.Namespace, log: Path, comb: str) -> None:
    on_tree = describe_tree(arguments.tree) if arguments.tree else ""
    out = [
        *setting(shlex.split(comb)[0], ("rg", "ag", "ugrep", "git", "wc"), arguments.tree or log.parent),
        f"{on_tree}Log: {log.stat().st_size / 1e6:.0f} MB. {arguments.rounds} rounds, warm cache unless noted.",
        "comb prints in path order, ripgrep unsorted.",
        "",
    ]
    out += results(jobs, skipped, arguments.rounds)
    write("Results of comb grep", out, arguments, HERE / "RESULTS-grep.md")


def results(jobs: list[Job], skipped: list[str], rounds: int) -> list[str]:
    """Runs the jobs, and returns the summary of their goals and their tables."""
    tables: list[str] = []
    verdicts: list[Verdict] = []
    missing = set()
    for job in jobs:
        missing |= {program.needs for program in job.programs if not has(program.needs)}
        job.programs = [program for program in job.programs if has(program.needs)]
        print(f"bench: {job.name}", file=sys.stderr)
        if job.compares:
            check_same_work(job)
        measure(job, rounds)
        judged = judge(job)
        verdicts += judged
        tables += table(job, judged)
    out = ["| job | comparison and goal | measured | |", "| --- | --- | ---: | --- |"]
    for found in verdicts:
        out.append(f"| {cell(found.job)} | {cell(found.goal)} | {found.ratio:.2f} | {RESULT[found.is_met].lstrip(', ')} |")
    goals = [found for found in verdicts if found.is_met is not None]
    out += ["", f"{sum(bool(found.is_met) for found in goals)} of {len(goals)} goals met.", "", *tables]
    if missing:
        skipped.append(", ".join(sorted(missing)) + " (not installed)")
    if skipped:
        out += [f"Skipped: {'; '.join(skipped)}.", ""]
    return out


def write(title: str, out: list[str], arguments: argparse.Namespace, results_file: Path) -> None:
    """Prints the results, and writes the section of this processor, with --only to --output alone."""
    text = "\n".join(out).rstrip() + "\n"
    print(text.replace(f"{run.ROOT}/", ""))
    if arguments.output or not arguments.only:
        machine.write_section(arguments.output or results_file, title, machine.processor(), text)


if __name__ == "__main__":
    main()
