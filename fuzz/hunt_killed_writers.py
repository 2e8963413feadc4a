#!/usr/bin/env python3
"""Kills writers of the index of a directory at random points, and checks that the state before or after is there.

    fuzz/hunt_killed_writers.py [--comb PROGRAM] [--kills N] [--seed N] [--jobs N] [--folder FOLDER]

Each step changes a tree, starts one or two of the programs that write an index (build, update, `comb grep --index-update`, `comb symbols --index-update`,
watch), and kills one of them: after a random time or, with strace, at a random system call that changes a file. Then the checksums of the index must match, and searches
must have the answers that they have without an index. From time to time a writer is left alone: it must succeed in spite of files that killed writers left behind,
and must leave nothing but the files of the index.

The file system of --folder must be one that indexes trust, such as ext4.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

WORDS = ["needle", "hay", "stack", "pm", "int", "void", "return", "struct", "a", "b", "c"]
# System calls that change files, with the number that a writer makes; then also the calls before them.
WRITES = "write,pwrite64,fdatasync,rename,renameat,renameat2,linkat,unlink,unlinkat,ftruncate"
CALLS = [(WRITES, 40), (WRITES + ",openat,flock", 400)]
PATTERNS = ["needle", "pm.*stack", "struct|void", r"\bpm\b", "xyzzy"]
FILES = re.compile(r"catalog|values|lock|watch-lock|socket|\d+\.segment")


class Fault(Exception):
    """An index that is neither the one before nor the one after, or a wrong answer."""


class Tree:
    def __init__(self, rng: random.Random, folder: Path, comb: str):
        self.rng, self.comb, self.root, self.home = rng, comb, folder / "tree", folder / "home"
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "COMB_INDEX_DIR": str(self.home)}
        self.has_strace = shutil.which("strace") is not None
        for number in range(rng.randrange(5, 200)):
            self.write(f"{number % 7}/{number}.c")

    def write(self, name: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        words = self.rng.choices(WORDS, k=self.rng.choice([0, 5, 100, 5000]))
        # Text that is no code takes long to parse.
        path.write_text(f"int f{self.rng.randrange(100)}(void) {{ }}\n" + "".join(f"// {word}\n" for word in words))

    def change(self) -> None:
        for _ in range(self.rng.choice([1, 1, 5, 40])):
            self.write(f"{self.rng.randrange(9)}/{self.rng.randrange(300)}.c")
        if self.rng.random() < 0.2:
            shutil.rmtree(self.root / str(self.rng.randrange(9)), ignore_errors=True)

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        done = subprocess.run([self.comb, *arguments], cwd=self.root, env=self.environment, capture_output=True)
        if b"panicked" in done.stderr or done.returncode not in (0, 1, 2):
            raise Fault(f"{arguments}: {done.returncode} {done.stderr[-300:]}")
        return done

    def writer(self) -> list[str]:
        return self.rng.choice([
            ["index", "build", "."], ["index", "update", "."], ["index", "watch", "."], ["symbols", "--index-update", "-q"],
            ["grep", "--index-update", "-c", self.rng.choice(PATTERNS)],
        ])

    def start(self, command: list[str], is_traced: bool) -> subprocess.Popen:
        trace = []
        if is_traced:
            calls, count = self.rng.choice(CALLS)
            kill = f"inject={calls}:signal=SIGKILL:when={self.rng.randrange(1, count)}"
            trace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", kill]
        none = subprocess.DEVNULL
        return subprocess.Popen([*trace, self.comb, *command, "-j2"], cwd=self.root, env=self.environment, stdin=none, stdout=none, stderr=none,
                                start_new_session=True)

    def kill_one(self) -> bool:
        """Runs one or two writers, and kills the first one. Returns whether it had not ended by itself."""
        is_traced = self.has_strace and self.rng.random() < 0.6
        victim = self.start(self.writer(), is_traced)
        other = self.start(self.writer(), False) if self.rng.random() < 0.2 else None
        try:
            victim.wait(self.rng.uniform(0, 0.12) if not is_traced else 0.3)
        except subprocess.TimeoutExpired:
            pass
        was_killed = victim.returncode in (None, -signal.SIGKILL)
        for process in filter(None, (victim, other)):
            # A watch ends only by a signal; killing its tracer would not end it.
            if process is victim or process.poll() is None and self.rng.random() < 0.5:
                kill(process, signal.SIGKILL)
            else:
                kill(process, signal.SIGTERM)
            process.wait()
        return was_killed

    def check(self) -> None:
        if list(self.home.glob("*/catalog")):
            verified = self.run("index", "verify", ".")
            if verified.returncode != 0:
                raise Fault(f"verify: {verified.stderr!r}")
            self.run("index", "info", ".")
        for arguments in (["grep", "-n", self.rng.choice(PATTERNS)], ["symbols"], ["grep", "--files"]):
            answers = [self.run(*arguments, "--index", when) for when in ("auto", "never")]
            if len({(one.stdout, one.stderr, one.returncode) for one in answers}) > 1:
                raise Fault(f"{arguments}: {[(one.stdout[-200:], one.stderr, one.returncode) for one in answers]}")

    def write_alone(self) -> None:
        """A writer must succeed, and remove the files that others left behind."""
        done = self.run("index", *self.rng.choice([["build", "."], ["build", "."], ["update", "."]]))
        if done.returncode != 0 and b"no index" not in done.stderr:
            raise Fault(f"a writer that is alone: {done.stderr!r}")
        required = self.run("grep", "--index=require", "-c", "needle")
        if done.returncode == 0 and b"index" in required.stderr:
            raise Fault(f"an index that cannot be used: {required.stderr!r}")
        left = [path.name for path in self.home.glob("*/*") if not FILES.fullmatch(path.name)]
        is_new = b"nothing has changed" not in done.stderr
        if done.returncode == 0 and is_new and left:
            raise Fault(f"left behind: {left}")


def kill(process: subprocess.Popen, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def hunt(seed: int, kills: int, comb: str, folder: str | None) -> tuple[int, int, str | None]:
    """Number of steps, of writers that were killed before their end, and the fault."""
    place = Path(tempfile.mkdtemp(prefix="hunt-kills-", dir=folder))
    tree = Tree(random.Random(seed), place, comb)
    step = killed = 0
    try:
        for step in range(1, kills + 1):
            tree.change()
            if tree.rng.random() < 0.5:
                time.sleep(0.03)
            killed += tree.kill_one()
            tree.check()
            if tree.rng.random() < 0.1:
                tree.write_alone()
                tree.check()
    except Fault as error:
        return step, killed, f"seed {seed}, step {step}: {error}"
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return step, killed, None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--comb", default=str(root / "target/release/comb"), help="path of comb")
    parser.add_argument("--kills", type=int, default=10_000, help="number of steps (default: 10,000)")
    parser.add_argument("--each", type=int, default=50, help="steps on a tree before a new one (default: 50)")
    parser.add_argument("--seed", type=int, default=1, help="first seed (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    parser.add_argument("--folder", help="directory for the trees (default: the temporary directory)")
    options = parser.parse_args()
    steps = killed = faults = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(hunt, options.seed + number, options.each, os.path.abspath(options.comb), options.folder)
                   for number in range(-(-options.kills // options.each))]
        for future in futures:
            done, dead, fault = future.result()
            steps, killed, faults = steps + done, killed + dead, faults + (fault is not None)
            if fault:
                print(fault, flush=True)
    print(f"{steps:,} steps, {killed:,} writers killed before their end, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
