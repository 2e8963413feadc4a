#!/usr/bin/env python3
"""Benchmarks comb top --tail on a log that grows fast, and while nothing happens; prints tables.

    bench/tail.py [--rate MB] [--seconds N] [--only TEXT] [--comb PATH] [--log FILE] [--folder FOLDER]

A writer on one core appends blocks of real lines to a log at a steady rate. comb runs on another core, with one thread. The backlog is
the number of bytes that were written and not yet read, sampled during the second half. After the last write comb is asked
to end at once, and must have counted every line; that time is the lag. The peer, tail -F into awk, ends at a last line that awk knows.

While nothing happens, the CPU time and the context switches of comb are counted.

The log is made in a folder in memory, so that the disk has no part in it. Needs taskset and two cores; awk is mawk if it is there.
"""

import argparse
import csv
import io
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import grep
import run

READER, WRITER = 0, 1
BLOCK = 1 << 20
SAMPLE = 0.05
# awk may wait until it has a whole buffer.
LAST_LINES = b"THE-END\n" + b"\n" * (1 << 18)
AWK = "mawk" if shutil.which("mawk") else "awk"


@dataclass
class Growth:
    """Measured values while a log grew."""

    name: str
    behind: list[float]
    lag: float
    cpu_seconds: float
    wall_seconds: float
    is_complete: bool


def lines_of(log: Path, size: int) -> bytes:
    """Whole lines from the beginning of a log."""
    with open(log, "rb") as file:
        text = file.read(size)
    return text[: text.rindex(b"\n") + 1]


def write(path: Path, text: bytes, rate: float, seconds: float, sample) -> tuple[int, int]:
    """Appends to a log at a rate in bytes per second. Returns the bytes and lines."""
    goal, done, lines, place, next_sample = rate * seconds, 0, 0, 0, 0.0
    start = time.perf_counter()
    with open(path, "ab", buffering=0) as file:
        while done < goal:
            end = min(place + BLOCK, len(text))
            block = text[place:end]
            # Only whole lines at the end.
            if done + len(block) >= goal:
                block = block[: block.rindex(b"\n") + 1]
            file.write(block)
            done, lines, place = done + len(block), lines + block.count(b"\n"), end % len(text)
            elapsed = time.perf_counter() - start
            if elapsed >= next_sample:
                next_sample = elapsed + SAMPLE
                if elapsed > seconds / 2:
                    sample(done)
            time.sleep(max(0, done / rate - elapsed))
    return done, lines


def bytes_read(pid: int) -> int:
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])


def cpu_seconds(usage) -> float:
    return usage.ru_utime + usage.ru_stime


def pinned(command: list[str], core: int) -> list[str]:
    return ["taskset", "-c", str(core), *command]


def grow_with_comb(name: str, comb: str, flags: list[str], text: bytes, arguments: argparse.Namespace, folder: Path) -> Growth:
    log, out = folder / "access.log", folder / "out"
    log.write_bytes(b"")
    with open(out, "wb") as file:
        process = subprocess.Popen(pinned([comb, "top", "--tail", "-j", "1", *flags, str(log)], READER), stdout=file)
    time.sleep(0.5)
    at_start, behind = bytes_read(process.pid), []
    begin = time.perf_counter()
    _, lines = write(
        log, text, arguments.rate * 1e6, arguments.seconds, lambda done: behind.append(done - bytes_read(process.pid) + at_start)
    )
    end = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, status, usage = os.wait4(process.pid, 0)
    lag = time.perf_counter() - end
    process.returncode = os.waitstatus_to_exitcode(status)
    return Growth(name, behind, lag, cpu_seconds(usage), end - begin, process.returncode == 0 and records(out.read_text(), flags) == lines)


def records(output: str, flags: list[str]) -> int:
    """The records that comb has counted."""
    if "--json" in flags:
        return json.loads(output.splitlines()[-1])["records"]
    return sum(int(row["count"]) for row in csv.DictReader(io.StringIO(output)))


def grow_with_awk(text: bytes, arguments: argparse.Namespace, folder: Path) -> Growth:
    log = folder / "access.log"
    log.write_bytes(b"")
    follower = subprocess.Popen(pinned(["tail", "-c", "+1", "-F", str(log)], READER), stdout=subprocess.PIPE)
    script = '$1 == "THE-END" { exit } { count[$7]++ } END { for (key in count) print count[key], key }'
    counter = subprocess.Popen(pinned([AWK, script], READER), stdin=follower.stdout, stdout=subprocess.PIPE)
    follower.stdout.close()
    time.sleep(0.5)
    at_start, behind = bytes_read(counter.pid), []
    begin = time.perf_counter()
    _, lines = write(
        log, text, arguments.rate * 1e6, arguments.seconds, lambda done: behind.append(done - bytes_read(counter.pid) + at_start)
    )
    end = time.perf_counter()
    with open(log, "ab") as file:
        file.write(LAST_LINES)
    count = sum(int(line.split()[0]) for line in counter.stdout)
    _, _, counter_usage = os.wait4(counter.pid, 0)
    lag = time.perf_counter() - end
    # Not terminate(), which would take its end, if it has ended by itself.
    os.kill(follower.pid, signal.SIGTERM)
    _, _, follower_usage = os.wait4(follower.pid, 0)
    counter.returncode = follower.returncode = 0
    cpu = cpu_seconds(counter_usage) + cpu_seconds(follower_usage)
    return Growth(f"tail -F, {AWK}", behind, lag, cpu, end - begin, count == lines)


def idle(comb: str, flags: list[str], files: int, text: bytes, seconds: float, folder: Path) -> tuple[float, int]:
    """CPU time and context switches while nothing happens."""
    logs = folder / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    for number in range(files):
        (logs / f"{number}.log").write_bytes(text[: text.index(b"\n", 100_000) + 1])
    process = subprocess.Popen([comb, "top", "--tail", *flags, str(logs)], stdout=subprocess.DEVNULL)
    try:
        time.sleep(3)
        before = usage_of(process.pid)
        time.sleep(seconds)
        after = usage_of(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    return (after[0] - before[0]) / 1e9, after[1] - before[1]


def usage_of(pid: int) -> tuple[int, int]:
    """Nanoseconds of CPU time and context switches of all threads."""
    nanoseconds = switches = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        nanoseconds += int((task / "schedstat").read_text().split()[0])
        status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines() if ":" in line)
        switches += int(status["voluntary_ctxt_switches"]) + int(status["nonvoluntary_ctxt_switches"])
    return nanoseconds, switches


def show(growths: list[Growth], idles: list[tuple[str, int, float, int]], arguments: argparse.Namespace) -> None:
    if growths:
        print(f"A log grows by {arguments.rate:g} MB/s for {arguments.seconds:g} s\n")
        print("| | behind, median | behind, most | lag after the last write | CPU time | of a core | all counted |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for growth in growths:
        behind = growth.behind or [0]
        share = growth.cpu_seconds / (growth.wall_seconds + growth.lag)
        print(
            f"| {growth.name} | {statistics.median(behind) / 1e6:.1f} MB | {max(behind) / 1e6:.1f} MB | {growth.lag * 1e3:.0f} ms "
            f"| {growth.cpu_seconds:.2f} s | {share:.0%} | {'yes' if growth.is_complete else 'NO'} |"
        )
    if idles:
        print(f"\nNothing happens for {arguments.seconds:g} s\n")
        print("| | files | CPU time | context switches |")
        print("| --- | ---: | ---: | ---: |")
    for name, files, seconds, switches in idles:
        print(f"| {name} | {files} | {seconds * 1e3:.2f} ms | {switches} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=200, help="megabytes per second (default: 200)")
    parser.add_argument("--seconds", type=float, default=10, help="seconds of each measurement (default: 10)")
    parser.add_argument("--only", default="", help="only rows whose name contains this text")
    parser.add_argument("--comb", default=str(run.COMB), help="path of comb (default: target/dist/comb)")
    parser.add_argument("--log", type=Path, help="log with the lines (default: the one of bench/run.py, made if it is missing)")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="where the growing log is made (default: /dev/shm)")
    arguments = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2 or not shutil.which("taskset"):
        sys.exit("bench: needs taskset and two cores")
    comb = str(Path(arguments.comb).resolve())
    setting = grep.setting(comb, ("tail",), arguments.folder)
    text = lines_of(arguments.log or run.make_corpus(2_000_000), 256 << 20)
    growths, idles = [], []
    ways = {
        "comb top --tail -f 7": ["-f", "7", "-n", "all", "--format", "csv"],
        "comb top --tail -f 7 --json": ["-f", "7", "--json"],
        "comb top --tail --every 1m": ["--every", "1m", "--tz", "UTC", "--format", "csv"],
    }
    os.sched_setaffinity(0, {WRITER})
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        for way, flags in ways.items():
            if arguments.only in way:
                growths.append(grow_with_comb(way, comb, flags, text, arguments, folder))
        if arguments.only in f"tail -F, {AWK}":
            growths.append(grow_with_awk(text, arguments, folder))
        (folder / "access.log").unlink(missing_ok=True)
        for way, flags in {"comb top --tail -f 7": ["-f", "7"], "comb top --tail -f 7 --last 5m": ["-f", "7", "--last", "5m"]}.items():
            for files in (1, 100):
                if arguments.only in f"idle, {way}":
                    idles.append((way, files, *idle(comb, flags, files, text, arguments.seconds, folder)))
    show(growths, idles, arguments)
    print("\n" + " ".join(setting))


if __name__ == "__main__":
    main()
