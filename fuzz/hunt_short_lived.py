#!/usr/bin/env python3
"""Fuzzing of `comb top --tail` on files that come and go, by more followers than cores.

    fuzz/hunt_short_lived.py [--comb PROGRAM] [--runs N] [--seed N] [--followers N] [--files N] [--folder FOLDER]

In each run, several followers count the records of a directory, or of a log that is named, while a writer creates files, renames and
removes them after a random time of a few milliseconds. No program can read all of them. Each follower must have counted all records of a file or none, and
must have reported as many files as it missed.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

LOST = re.compile(r"^comb: \S+: ([\d,]+) files? removed or renamed before being read; not counted$")
RELEASED = re.compile(r"^comb: \S+: more than \d+ removed files: [\d,]+ files? no longer followed$")
WAYS = ["folder", "named", "both", "glob", "deep"]


class Follower:
    """A comb that follows a folder, or a log in it."""

    def __init__(self, comb: str, way: str, logs: Path, output: Path, rng: random.Random):
        inputs = {"named": ["a.log"], "both": ["a.log", "."], "glob": ["--glob", "*.log", "."]}.get(way, ["."])
        threads = ["-j", str(rng.choice([1, 2, 3]))] if rng.random() < 0.5 else []
        self.out, self.err = output.with_suffix(".out"), output.with_suffix(".err")
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            command = [comb, "top", "--tail", "-f", "1", "-n", "all", *threads, *inputs]
            self.process = subprocess.Popen(command, cwd=logs, stdout=out, stderr=err)

    def await_watches(self, number: int) -> None:
        start = time.monotonic()
        fds = Path(f"/proc/{self.process.pid}/fdinfo")
        while time.monotonic() - start < 30:
            for name in os.listdir(fds):
                try:
                    if (fds / name).read_text().count("inotify wd") >= number:
                        return
                except OSError:
                    continue
            time.sleep(0.005)
        raise SystemExit("comb watches nothing")

    def end(self) -> tuple[int, Counter, str]:
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(60)
        rows = (line.split() for line in self.out.read_text().splitlines())
        return status, Counter({row[1]: int(row[0]) for row in rows}), self.err.read_text()


class Writer:
    """A program whose files are short-lived."""

    def __init__(self, way: str, logs: Path, rng: random.Random):
        self.way, self.logs, self.rng = way, logs, rng
        # Records of the files by their keys, and the files that must not be counted.
        self.written: dict[str, int] = {}
        self.shortest, self.longest = rng.choice([(0, 0.003), (0, 0.03), (0.01, 0.05)])
        self.keeps = rng.choice([0, 1, 3])

    def rest(self) -> None:
        time.sleep(self.rng.uniform(self.shortest, self.longest))

    def fill(self, path: Path, key: str) -> None:
        records = self.rng.randrange(1, 30)
        text = f"{key} record\n" * records
        with open(path, "a", buffering=1 if self.rng.random() < 0.5 else -1) as log:
            log.write(text)
        self.written[key] = records

    def write(self, number: int) -> None:
        key = f"file{number}"
        if self.way in ("named", "both") or self.rng.random() < 0.5:
            self.rotate(key)
            return
        folder = self.logs / "deep" if self.way == "deep" and self.rng.random() < 0.5 else self.logs
        path = folder / f"{key}.log"
        if self.way == "glob" and self.rng.random() < 0.2:
            # Files that are not selected.
            path = path.with_suffix(".txt")
            self.fill(path, key)
            del self.written[key]
        elif self.rng.random() < 0.1:
            path.touch()
        elif self.rng.random() < 0.2:
            # Written elsewhere, and renamed.
            other = folder / f".{key}.tmp"
            self.fill(other, key)
            os.rename(other, path)
        else:
            self.fill(path, key)
        self.rest()
        os.unlink(path)

    def rotate(self, key: str) -> None:
        path = self.logs / "a.log"
        self.fill(path, key)
        self.rest()
        for number in range(self.keeps, 0, -1):
            old, new = (path.with_name(f"a.log.{n}") for n in (number, number + 1))
            if old.exists():
                os.unlink(old) if number == self.keeps else os.rename(old, new)
        os.rename(path, path.with_name("a.log.1")) if self.keeps else os.unlink(path)


def attempt(arguments: argparse.Namespace, number: int, base: Path) -> tuple[str, Counter]:
    """Faults of a run, and what was counted in it."""
    rng = random.Random(f"{arguments.seed} {number}")
    way = WAYS[number % len(WAYS)]
    logs, output = base / "logs", base / "output"
    shutil.rmtree(base, ignore_errors=True)
    (logs / "deep").mkdir(parents=True)
    output.mkdir()
    if way in ("named", "both"):
        (logs / "a.log").touch()
    followers = [Follower(arguments.comb, way, logs, output / str(n), rng) for n in range(arguments.followers)]
    for follower in followers:
        follower.await_watches(1 if way == "named" else 2)
    time.sleep(0.3)
    writer = Writer(way, logs, rng)
    for file in range(arguments.files):
        writer.write(file)
    time.sleep(rng.choice([0, 0.1, 1.5]))
    faults, total = [], Counter(files=len(writer.written) * len(followers))
    for follower in followers:
        status, counted, messages = follower.end()
        missed = {key for key in writer.written if key not in counted}
        partial = {key: (counted[key], records) for key, records in writer.written.items() if key in counted and counted[key] != records}
        foreign = set(counted) - set(writer.written)
        lines = [line for line in messages.splitlines() if not RELEASED.match(line)]
        lost = [LOST.match(line) for line in lines]
        told = sum(int(match[1].replace(",", "")) for match in lost if match)
        other = [line for line, match in zip(lines, lost) if not match and "waiting for it" not in line]
        total += Counter(missed=len(missed), told=told)
        # A log that is named is followed under any name, and so are its records of an earlier file.
        wanted = 2 if missed else 0 if counted else 1
        if told != len(missed) or partial or foreign or other or status != wanted:
            faults.append(f"missed {len(missed)}, told {told}, partial {partial}, foreign {foreign}, status {status}, {other[:3]}")
    return f"{way}: {'; '.join(faults)}" if faults else "", total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--followers", type=int, default=7)
    parser.add_argument("--files", type=int, default=200, help="files of each run")
    parser.add_argument("--folder", default="/tmp", help="folder for the logs")
    arguments = parser.parse_args()
    arguments.comb = str(Path(arguments.comb).resolve())
    base = Path(arguments.folder) / f"hunt-short-lived-{os.getpid()}"
    print(f"seed {arguments.seed}", flush=True)
    faults, total = 0, Counter()
    for number in range(arguments.runs):
        fault, counted = attempt(arguments, number, base)
        total += counted
        if fault:
            faults += 1
            print(f"run {number}: {fault}", flush=True)
    shutil.rmtree(base, ignore_errors=True)
    print(f"{arguments.runs} runs, {total['files']} files, {total['missed']} missed, {total['told']} told, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
