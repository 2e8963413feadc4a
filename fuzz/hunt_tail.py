#!/usr/bin/env python3
"""Fuzzing of `comb top --tail` on logs that grow and are rotated while they are counted.

    fuzz/hunt_tail.py [--comb PROGRAM] [--runs N] [--seed N] [--only WAY] [--without ACTION,...] [--jobs N] [--folder FOLDER] [--keep FOLDER]

Each run starts comb on files, directories and pipes, and up to three writers that write, rename, copy, truncate, link and remove them.
Then comb is asked to end, and must have counted each record exactly once that was written before. Every record has a number of its own, so the sum of
the numbers of a key finds a lost record also where another one was counted twice.

What no program can count is avoided: before a file is removed, or gets a name that is not selected, the writer waits until comb has
opened it; before a file is truncated without a copy, until comb rests. After truncations without such a wait, only the report is checked. Where comb
reports that it has released removed files, because there were too many, records that were written to these later may be missing.

--without takes names of actions (methods of Writer) and of these cases: rough, truncations without a wait; reuse, removed files
that comb does not hold open, so that another file has their inode; alike, files that begin with a piece of a record or with a head alone; empty_copy,
copies that are empty at first; long, records longer than what is recognised by.

Rotation in directories with inodes that are used again needs a file system like ext4; see --folder.
"""

import argparse
import csv
import gzip
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

WAYS = ["named", "folder", "glob", "mixed", "every", "last"]
FORMS = ["plain", "plain", "plain", "json", "logfmt", "csv"]
BLOCKS = ["1", "7", "64", "333", "1K", "4K", "64K", "1M"]
START = int(datetime(2026, 3, 1, tzinfo=timezone.utc).timestamp())
# System calls in which a resting thread waits: read, poll, rt_sigtimedwait, futex, epoll_wait, ppoll, epoll_pwait.
RESTING = {"0", "7", "128", "202", "232", "271", "281"}
# And those in which one waits for a time: nanosleep, clock_nanosleep.
SLEEPING = RESTING | {"35", "230"}
PATIENCE = 30
EXPECTED = re.compile(
    r"waiting for it|not read so far|not read: compressed|has no end yet|truncated while it was followed|removed files: [\d,]+ files? no longer followed|^comb: \d+ (more|other)"
)

RELEASED = re.compile(r"more than \d+ removed files")
LOST = re.compile(r"([\d,]+) files? removed or renamed before being read; not counted")


class Fault(Exception):
    """A difference from what was written."""


class Comb:
    """A running comb."""

    def __init__(self, command: list[str], folder: Path, output: Path, stdin: int):
        self.out, self.err = output / "out", output / "err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=out, stderr=err)
        self.proc = Path(f"/proc/{self.process.pid}")
        self.is_paused = False

    def messages(self) -> str:
        return self.err.read_text("utf-8", "replace")

    def wait_for(self, holds, what: str) -> None:
        self.resume()
        start = time.monotonic()
        while not holds():
            if self.process.poll() is not None:
                raise Fault(f"comb ended early, with {self.process.returncode}: {self.messages()[-400:]}")
            if time.monotonic() - start > PATIENCE:
                raise Fault(f"{what} after {PATIENCE} s: {self.messages()[-400:]}")
            time.sleep(0.002)

    def rests(self, calls: set[str] = RESTING) -> bool:
        """Whether all threads wait in one of these calls."""
        try:
            tasks = [(task / "syscall").read_text() for task in (self.proc / "task").iterdir()]
        except OSError:
            return False
        return all(task.split(" ", 1)[0].strip() in calls for task in tasks)

    def settle(self) -> None:
        self.wait_for(lambda: self.rests() and (time.sleep(0.001) or self.rests()), "does not rest")

    def has_open(self, identity: tuple[int, int]) -> bool:
        for name in os.listdir(self.proc / "fd"):
            try:
                status = os.stat(self.proc / "fd" / name)
            except OSError:
                continue
            if (status.st_dev, status.st_ino) == identity:
                return True
        return False

    def await_open(self, log: "Log") -> None:
        if not log.is_known:
            # While it looks, comb may open a file for a moment only.
            looks = lambda: not self.rests(SLEEPING)
            self.wait_for(lambda: not looks() and self.has_open(log.identity) and not looks(), f"{log.path} is not open")
            log.is_known = True

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        self.is_paused = True
        start = time.monotonic()
        while (self.proc / "stat").read_text().rpartition(")")[2].split()[0] != "T" and time.monotonic() - start < PATIENCE:
            time.sleep(0.0005)

    def resume(self) -> None:
        if self.is_paused:
            self.is_paused = False
            self.process.send_signal(signal.SIGCONT)


class Form:
    """A format of records."""

    def __init__(self, rng: random.Random, name: str, is_timed: bool, forbidden: set[str]):
        self.rng, self.name = rng, name
        self.end = b"\r\n" if rng.random() < 0.2 else b"\n"
        self.longest = rng.choice([20, 20, 20, 300, 20_000, 20_000 if "long" in forbidden else 200_000])
        self.is_dirty = name == "plain" and rng.random() < 0.4
        self.head = b"t,k,v,pad" + self.end if name == "csv" else b""
        fields = {"plain": ("2", "3"), "json": (".k", ".v")}.get(name, ("k", "v"))
        self.flags = [] if name == "plain" else ["--input", name]
        self.value_flags = ["-f", fields[0], "--sum", fields[1]]
        self.measure = f"sum({fields[1]})"
        if is_timed and name != "plain":
            self.flags += ["--time", ".t" if name == "json" else "t"]

    def pad(self, rng: random.Random) -> bytes:
        size = rng.randrange(self.longest) if rng.random() < 0.02 else rng.randrange(20)
        if self.is_dirty and size:
            return bytes(rng.choice(b"xyz \t\0\r\xff\xc3\xe2\x80") for _ in range(min(size, 300))) + b"x"
        return b"x" * size

    def record(self, rng: random.Random, seconds: int, key: str, value: int) -> bytes:
        at, pad = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), self.pad(rng)
        if self.name == "json":
            return b'{"t":"%s","pad":"%s","k":"%s","v":%d}' % (at.encode(), pad, key.encode(), value) + self.end
        if self.name == "logfmt":
            return f"t={at} k={key} ".encode() + b'pad="%s x" v=%d' % (pad, value) + self.end
        if self.name == "csv":
            inner = rng.choice([b"", b"", b"\n", b'""', b",", b'\n""\r\n,'])
            return f"{at},{key},{value},".encode() + b'"%s%s"' % (pad, inner) + self.end
        return f"{at} {key} {value} ".encode() + pad + self.end


class Log:
    """A file that is written to, under any name."""

    serial = 0

    def __init__(self, path: Path, file: int, head: bytes):
        Log.serial += 1
        self.number, self.path, self.file = Log.serial, path, file
        status = os.fstat(file)
        self.identity = (status.st_dev, status.st_ino)
        # Number of files that were removed until it was.
        self.removed = 0
        # Whether comb has opened it.
        self.is_known = False
        # Whether it was truncated without a wait: not all of its records are expected.
        self.is_rough = False
        # Rest of the record that is being written, and what counts once it is complete.
        self.rest, self.counted = b"", None
        # What is written before the first record.
        self.head, self.is_empty = head, True

    @staticmethod
    def create(path: Path, head: bytes) -> "Log":
        return Log(path, os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644), head)

    def close(self) -> None:
        if self.file is not None:
            os.close(self.file)
            self.file = None


class World:
    """All that writers share: comb, the selection, and the records that were written."""

    def __init__(self, rng: random.Random, way: str, folder: Path, form: Form):
        self.rng, self.way, self.folder, self.form = rng, way, folder, form
        self.lock = threading.Lock()
        self.comb: Comb | None = None
        self.selects = lambda path: True
        self.keys = rng.choice(["log", "log", "few", "own"])
        self.clock, self.step = float(START), rng.choice([0, 0.02, 0.3, 3])
        self.number, self.removed, self.discarded = 0, 0, 0
        self.written: dict = defaultdict(lambda: [0, 0])
        self.places: dict[int, str] = {}
        self.rough: set[str] = set()
        self.actions: Counter = Counter()
        self.journal: list[str] = []
        self.faults: list[str] = []
        self.window = rng.choice([2, 3, 5])
        self.forbidden: set[str] = set()

    def note(self, action: str, text: str = "") -> None:
        self.actions[action] += 1
        self.journal.append(f"{time.time():.4f} {action} {text}")

    def new_record(self, rng: random.Random, log: Log) -> tuple[bytes, tuple]:
        with self.lock:
            self.number += 1
            number = self.number
            self.clock += rng.expovariate(1 / self.step) if self.step else 0
            seconds = int(self.clock) - (rng.randrange(100) if rng.random() < 0.03 else 0)
        key = {"log": f"log{log.number}", "few": f"key{rng.randrange(9)}", "own": f"id{number}"}[self.keys]
        if self.way == "last":
            seconds = int(time.time()) - (rng.randrange(3 * self.window) if rng.random() < 0.5 else 0)
            key = f"at{seconds}"
        return self.form.record(rng, seconds, key, number), (key, seconds, number, str(log.path))

    def count(self, counted: tuple) -> None:
        key, seconds, number, place = counted
        entry = (key, seconds) if self.way == "every" else key
        with self.lock:
            self.written[entry][0] += 1
            self.written[entry][1] += number
            self.places[number] = place


class Writer:
    """A program that writes a log and rotates it."""

    def __init__(self, world: World, rng: random.Random, path: Path, is_alone: bool):
        self.world, self.rng, self.path, self.is_alone = world, rng, path, is_alone
        self.current: Log | None = None
        self.old: list[Log] = []
        self.packed: list[Path] = []
        self.keeps = rng.choice([1, 2, 3, 5, 9])
        self.naming = rng.choice(["numbers", "numbers", "serial", "date"])
        self.serial = 0
        self.speed = rng.choice([0.5, 0.8, 0.95])

    # Records.

    def write(self, log: Log, records: int) -> None:
        """Writes records, some of them in pieces."""
        self.finish(log)
        waiting = []
        for _ in range(records):
            text, counted = self.world.new_record(self.rng, log)
            waiting.append((text, counted))
            if self.rng.random() < 0.5 or len(waiting) == 50:
                self.write_all(log, waiting)
        self.write_all(log, waiting)
        if self.rng.random() < 0.2 and not (log.is_empty and "alike" in self.world.forbidden):
            text, log.counted = self.world.new_record(self.rng, log)
            cut = self.rng.randrange(1, len(text))
            self.put(log, text[:cut])
            log.rest = text[cut:]

    def write_all(self, log: Log, waiting: list) -> None:
        if waiting:
            self.put(log, b"".join(text for text, _ in waiting))
            for _, counted in waiting:
                self.world.count(counted)
            waiting.clear()

    def put(self, log: Log, text: bytes) -> None:
        if log.head and (text or "alike" not in self.world.forbidden):
            text, log.head = log.head + text, b""
        log.is_empty &= not text
        while text:
            text = text[os.write(log.file, text) :]

    def finish(self, log: Log) -> None:
        """Completes the record that is being written."""
        if log.counted:
            while len(log.rest) > 1 and self.rng.random() < 0.2:
                self.put(log, log.rest[:1])
                log.rest = log.rest[1:]
            self.put(log, log.rest)
            self.world.count(log.counted)
            log.rest, log.counted = b"", None

    # Names.

    def rotated(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")

    def move(self, log: Log, path: Path) -> None:
        """Renames a file. If comb could not find it any more, comb must have opened it."""
        there = next((other for other in self.old if other.path == path), None)
        if there:
            self.remove(there)
        if log.path and self.world.selects(log.path) and not self.world.selects(path):
            self.world.comb.await_open(log)
        os.rename(log.path, path)
        log.path = path

    def remove(self, log: Log) -> None:
        if self.world.selects(log.path):
            self.world.comb.await_open(log)
        os.unlink(log.path)
        log.path = None
        self.world.removed += 1
        log.removed = self.world.removed

    def create(self) -> None:
        if self.current is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.current = Log.create(self.path, self.world.form.head)
            self.world.journal.append(f"create log{self.current.number} {self.path} {self.current.identity[1]}")
            if self.rng.random() < 0.5:
                self.put(self.current, b"")
            self.current.is_known = not self.world.selects(self.path)

    def retire(self) -> Log | None:
        log, self.current = self.current, None
        if log:
            self.old.insert(0, log)
        return log

    # Actions.

    def rotate(self) -> None:
        """Renames the log, as logrotate does, or to a name that it keeps."""
        self.shift()
        log = self.retire()
        if log is None:
            return
        self.move(log, self.free_name())
        self.world.note("rotations", f"{self.path.name} {log.identity[1]}")
        if self.rng.random() < 0.8:
            self.create()
        if self.rng.random() < 0.3:
            self.write(log, self.rng.randrange(4))

    def shift(self) -> None:
        """Renames the older logs, and removes the oldest."""
        with_names = [log for log in self.old if log.path and log.path.parent == self.path.parent]
        for log in with_names[self.keeps :]:
            self.remove(log)
            self.world.note("removed oldest")
        if self.naming == "numbers":
            for number in range(len(with_names[: self.keeps]), 0, -1):
                log = with_names[number - 1]
                # One that had the name of another was removed.
                if log.path and log.path != self.rotated(number + 1):
                    self.move(log, self.rotated(number + 1))

    def free_name(self) -> Path:
        self.serial += 1
        if self.naming == "numbers":
            return self.rotated(1)
        if self.naming == "date":
            return self.path.with_name(f"{self.path.name}-20260301-{self.serial:05}")
        return self.path.with_name(f"{self.path.stem}-{self.serial:05}{self.path.suffix}")

    def burst(self) -> None:
        """Several rotations faster than comb looks."""
        for _ in range(self.rng.randrange(2, 12)):
            self.create()
            self.write(self.current, self.rng.randrange(4))
            self.rotate()

    def link(self) -> None:
        """Rotates by a second name, and removes the first."""
        path = self.path.with_name(f"{self.path.stem}.link{self.serial}{self.path.suffix}")
        if self.current and self.world.selects(path):
            self.serial += 1
            log = self.retire()
            os.link(log.path, path)
            self.write(log, self.rng.randrange(3))
            # The kernel does not say that a file that is removed unread has another name.
            self.world.comb.await_open(log)
            os.unlink(log.path)
            log.path = path
            self.world.note("links")

    def elsewhere(self) -> None:
        """Moves the log out of what is followed, and perhaps back."""
        log = self.retire()
        if log:
            self.serial += 1
            self.move(log, self.world.folder / "elsewhere" / f"{self.path.name}.{self.serial}")
            self.write(log, self.rng.randrange(5))
            if self.rng.random() < 0.3:
                self.nap()
                self.move(log, self.path.with_name(f"{self.path.name}.back{self.serial}"))
                # It is followed all the time, but the kernel does not say that the new name is that of a known file.
                self.world.discarded += 1
            self.world.note("moved elsewhere")

    def unlink(self) -> None:
        """Removes the log while it is written to."""
        log = self.retire()
        if log:
            self.remove(log)
            self.write(log, self.rng.randrange(5))
            self.world.note("removed open")

    def late(self) -> None:
        """Writes to a file that was rotated long ago."""
        if self.old:
            log = self.rng.choice(self.old[:20])
            # comb holds the 64 files that were removed or written last: up to 30 removed before it may have been written since.
            is_held = log.path or self.world.removed - log.removed < 30
            if log.file is not None and is_held:
                self.write(log, self.rng.randrange(1, 6))
                self.world.note("late writes")

    def append(self) -> None:
        self.create()
        self.write(self.current, self.rng.choice([0, 1, 1, 2, 5, 30, 200]))
        self.world.note("writes")

    def copy_truncate(self) -> None:
        """Copies the log beside it and truncates it. Records that comb has not read at that time are in the copy."""
        self.shift_copies()
        log, comb = self.current, self.world.comb
        copy_path = self.rotated(1)
        if log is None or not self.world.selects(copy_path) or copy_path.exists():
            return self.truncate()
        self.finish(log)
        comb.await_open(log)
        comb.settle()
        content = log.path.read_bytes()
        if not content[len(self.world.form.head) :]:
            return
        # A copy takes its time, and the log grows meanwhile.
        is_slow = self.is_alone and self.rng.random() < 0.7
        least = content.find(b"\n", len(self.world.form.head)) + 1 if "alike" in self.world.forbidden else 1
        first = self.rng.randrange(least, len(content) + 1) if is_slow else len(content)
        is_sudden = "empty_copy" in self.world.forbidden or self.rng.random() < 0.3
        created = self.world.folder / "elsewhere" / f"{self.path.name}.copy" if is_sudden else copy_path
        copy = Log.create(created, b"")
        if self.rng.random() < 0.1:
            self.nap()
        self.put(copy, content[:first])
        if is_sudden:
            os.rename(created, copy_path)
            copy.path = copy_path
        comb.await_open(copy)
        comb.settle()
        self.world.note("copies", f"{log.path.name} {first} of {len(content)}")
        if is_slow:
            comb.pause()
            self.write(log, self.rng.randrange(4))
            self.finish(log)
            self.put(copy, log.path.read_bytes()[first:])
        self.empty(log)
        if self.rng.random() < 0.6:
            self.write(log, self.rng.choice([1, 3, 30]))
        comb.resume()
        copy.close()
        self.old.insert(0, copy)
        self.world.note("copy and truncate")

    def empty(self, log: Log) -> None:
        os.ftruncate(log.file, 0)
        log.head, log.is_empty = self.world.form.head, True
        self.put(log, b"")

    def shift_copies(self) -> None:
        """Makes room for a copy beside the log."""
        for log in [log for log in self.old if log.path == self.rotated(1)]:
            self.serial += 1
            self.move(log, self.rotated(1000 + self.serial))

    def truncate(self) -> None:
        """Truncates the log once comb has read all of it."""
        log = self.current
        if log:
            self.finish(log)
            self.world.comb.await_open(log)
            # Formats are recognised after a second at the latest.
            if self.world.form.name != "plain" or self.world.way in ("every", "last"):
                time.sleep(1.2)
            self.world.comb.settle()
            self.empty(log)
            self.write(log, self.rng.choice([0, 1, 30]))
            self.world.note("truncations")

    def truncate_roughly(self) -> None:
        """Truncates the log at any time."""
        log = self.current
        if log and self.world.keys == "log" and self.world.way not in ("every", "last"):
            self.finish(log)
            log.is_rough = True
            self.world.rough.add(f"log{log.number}")
            self.empty(log)
            self.write(log, self.rng.choice([0, 1, 30]))
            self.world.note("rough truncations")

    def compress(self) -> None:
        """Compresses a rotated log, as gzip does."""
        closed = [log for log in self.old if log.path and log.file is not None and not log.is_rough]
        if closed:
            log = self.rng.choice(closed[-3:])
            self.finish(log)
            log.close()
            path = log.path.with_name(log.path.name + ".gz")
            if not path.exists():
                path.write_bytes(gzip.compress(log.path.read_bytes(), 1))
                self.remove(log)
                self.packed.append(path)
                self.world.note("compressed", f"{path} {path.stat().st_ino}")

    def remove_compressed(self) -> None:
        """Removes a compressed log. The next file may get its inode."""
        if self.packed:
            if self.rng.random() < 0.5:
                self.world.comb.settle()
            self.discard(self.packed.pop(0))
            self.world.note("removed compressed")

    def discard(self, path: Path) -> None:
        """Removes a file that comb does not follow. Another one may get its inode."""
        self.serial += 1
        self.world.discarded += 1
        if "reuse" in self.world.forbidden:
            os.rename(path, self.world.folder / "elsewhere" / f"{path.name}.{self.serial}")
        else:
            path.unlink()

    def move_folder(self) -> None:
        """Renames a directory on the way to the log, or removes it."""
        on_the_way = [path for path in (self.path.parent, self.path.parent.parent) if path.name.startswith(("own", "deep"))]
        folder = self.rng.choice(on_the_way) if on_the_way else None
        if folder is None or not folder.exists():
            return
        self.serial += 1
        logs = [log for log in [self.current, *self.old] if log and log.path and folder in log.path.parents]
        self.packed = [path for path in self.packed if folder not in path.parents]
        if self.rng.random() < 0.5:
            other = self.world.folder / "elsewhere" / f"f{self.path.name}-{self.serial}"
            there = self.rng.choice([folder.with_name(f"{folder.name}-{self.serial}"), other])
            places = [there / log.path.relative_to(folder) for log in logs]
            for log, place in zip(logs, places, strict=True):
                if not self.world.selects(place) and self.world.selects(log.path):
                    self.world.comb.await_open(log)
            os.rename(folder, there)
            for log, place in zip(logs, places, strict=True):
                log.path = place
            self.world.note("renamed folders")
        else:
            for log in logs:
                self.remove(log)
            for path in [path for path in folder.rglob("*") if path.is_file()]:
                self.discard(path)
            shutil.rmtree(folder)
            self.world.note("removed folders")
        self.begin_again()

    def switch(self) -> None:
        """Lets a symbolic link on the way to the log lead elsewhere."""
        link = self.path.parent
        if not link.is_symlink():
            return
        self.serial += 1
        real = link.resolve()
        for log in [log for log in [self.current, *self.old] if log and log.path and log.path.parent == link]:
            if self.world.selects(log.path):
                self.world.comb.await_open(log)
            log.path = real / log.path.name
        self.packed = []
        self.point(link, self.world.folder / "elsewhere" / f"r{self.path.name}-{self.serial}")
        self.world.note("links switched")
        self.begin_again()

    def point(self, link: Path, target: Path) -> None:
        target.mkdir()
        link.with_name(f"{link.name}.new").symlink_to(target)
        os.rename(link.with_name(f"{link.name}.new"), link)

    def begin_again(self) -> None:
        if log := self.retire():
            self.write(log, self.rng.randrange(3))
        if self.rng.random() < 0.7:
            self.create()

    def decoy(self) -> None:
        """Writes a file that is not selected."""
        path = self.path.with_name(f"other{self.rng.randrange(3)}.txt")
        if not self.world.selects(path) and path.parent.exists():
            with open(path, "ab") as file:
                file.write(self.world.form.record(self.rng, START, "other", 1))
            self.world.note("other files")

    def nap(self) -> None:
        time.sleep(self.rng.choice([0, 0.001, 0.005, 0.012, 0.03]))

    def rest(self) -> None:
        self.world.comb.settle()

    def stop_comb(self) -> None:
        """Lets comb not look for some time."""
        if self.is_alone:
            self.world.comb.pause()
            for _ in range(self.rng.randrange(1, 6)):
                self.act(self.rng.choice(["append", "rotate", "burst", "late", "link"]))
            self.world.comb.resume()
            self.world.note("stops")

    def act(self, name: str) -> None:
        if name not in self.world.forbidden:
            getattr(self, name)()

    def run(self, actions: int) -> None:
        weights = {
            "append": 30, "rotate": 14, "burst": 5, "late": 8, "link": 2, "elsewhere": 2, "unlink": 2, "copy_truncate": 3, "truncate": 0.4,
            "truncate_roughly": 0.5 * ("rough" not in self.world.forbidden), "compress": 2, "remove_compressed": 2,
            "move_folder": 2, "switch": 2, "decoy": 1, "nap": 6, "rest": 2, "stop_comb": 2,
        }  # fmt: skip
        names, chances = list(weights), list(weights.values())
        try:
            for _ in range(actions):
                self.act(self.rng.choices(names, chances)[0])
                if self.rng.random() > self.speed:
                    self.nap()
            for log in [self.current, *self.old]:
                if log and log.file is not None and self.rng.random() < 0.9:
                    self.finish(log)
        except Fault as fault:
            self.world.faults.append(str(fault))
        except Exception as error:
            self.world.faults.append(f"the writer failed: {error!r}")
            raise

    def close(self) -> None:
        for log in [self.current, *self.old]:
            if log:
                log.close()


class PipeWriter(Writer):
    """A program that writes to a pipe, which is not rotated."""

    def __init__(self, world: World, rng: random.Random, path: Path, file: int):
        super().__init__(world, rng, path, False)
        self.current = Log(path, file, b"")
        self.current.is_known, self.current.is_empty = True, False
        self.put(self.current, world.form.head)

    def run(self, actions: int) -> None:
        try:
            for _ in range(actions):
                self.write(self.current, self.rng.choice([0, 1, 2, 20]))
                self.nap()
            self.finish(self.current)
            if self.rng.random() < 0.3:
                self.current.close()
        except OSError as error:
            self.world.faults.append(f"the writer of a pipe failed: {error!r}")


# A run.


def plan(world: World) -> tuple[list[Path], list[str]]:
    """The paths of the logs, and comb's arguments for inputs."""
    rng, root = world.rng, world.folder / "logs"
    writers = rng.choice([1, 1, 1, 2, 3])
    way = world.way if world.way not in ("every", "last") else rng.choice(["named", "folder", "glob"])
    own = [rng.choice(["", "", "own{}", "deep{}/own{}"]).replace("{}", str(number)) for number in range(writers)]
    paths = [root / own[number] / f"{'abc'[number]}{rng.choice(['', '.x'])}.log" for number in range(writers)]
    (world.folder / "elsewhere").mkdir(parents=True)
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        if way == "named" and own[number] == "" and rng.random() < 0.4:
            paths[number] = path = root / f"link{number}" / path.name
            target = world.folder / "elsewhere" / f"r{number}"
            target.mkdir()
            path.parent.symlink_to(target)
    below = lambda path: root in path.parents
    if way == "named":
        world.selects = lambda path: path in paths
        return paths, [str(path.relative_to(world.folder)) for path in paths]
    if way == "glob":
        if rng.random() < 0.5:
            world.selects = lambda path: below(path) and path.name.endswith(".log")
            return paths, ["logs", "--glob", "*.log"]
        world.selects = lambda path: below(path) and not path.name.endswith(".txt")
        return paths, ["logs", "--glob", "!*.txt"]
    world.selects = below
    if way == "mixed":
        named = rng.sample(paths, rng.randrange(len(paths) + 1))
        folders = rng.sample(["logs", *{str(path.parent.relative_to(world.folder)) for path in paths}], 1)
        return paths, ["logs", *folders, *(str(path.relative_to(world.folder)) for path in named)]
    return paths, [rng.choice(["logs", "./logs/", str(root)])]


def attempt(comb: str, seed: int, number: int, only: str | None, forbidden: set[str], base: Path) -> tuple[Counter, str | None, Path]:
    rng = random.Random(seed * 1_000_003 + number)
    way = only or rng.choice(WAYS)
    folder = base / f"{seed}-{number}"
    shutil.rmtree(folder, ignore_errors=True)
    form = Form(rng, rng.choice(FORMS), way in ("every", "last"), forbidden)
    world = World(rng, way, folder, form)
    world.forbidden = forbidden
    paths, inputs = plan(world)
    fault = None
    try:
        follow(comb, rng, world, paths, inputs)
    except Fault as found:
        fault = str(found)
    if fault:
        (folder / "journal.txt").write_text("\n".join(world.journal) + f"\n{fault}\n")
    else:
        shutil.rmtree(folder)
    return world.actions, fault, folder


def follow(comb: str, rng: random.Random, world: World, paths: list[Path], inputs: list[str]) -> None:
    """Lets comb follow while the writers write, and checks what it has counted."""
    output = rng.choice(["json", "json", "csv", "text"])
    if world.way == "every" and output == "text":
        output = "csv"
    flags = ["--tail", "--tz", "UTC", "-n", "all", "-j", rng.choice("1238"), *world.form.flags, *world.form.value_flags]
    flags += rng.choice([[], ["--block-size", rng.choice(BLOCKS)]]) + ([] if output == "text" else ["--format", output])
    has_key, width = True, 1
    if world.way == "every":
        width = rng.choice([1, 60])
        flags += ["--every", "1s" if width == 1 else "1m"]
        if rng.random() < 0.5:
            has_key = False
            flags.remove("-f")
            flags.remove(world.form.value_flags[1])
    elif world.way == "last":
        flags += ["--last", f"{world.window}s"]
    writers = [Writer(world, random.Random(rng.random()), path, len(paths) == 1) for path in paths]
    writers += open_pipes(rng, world, inputs)
    stdin = next((writer.other_end for writer in writers if getattr(writer, "other_end", None) is not None), subprocess.DEVNULL)
    for writer in writers:
        if not isinstance(writer, PipeWriter) and rng.random() < 0.8:
            writer.create()
            writer.write(writer.current, rng.choice([0, 3, 100]))
    command = [comb, "top", *flags, *inputs]
    world.journal.append(" ".join(command))
    running = world.comb = Comb(command, world.folder, world.folder, stdin)
    try:
        # A request to end in the first round ends the count at once.
        running.wait_for(lambda: running.rests() and any("inotify" in os.readlink(link) for link in links(running)), "does not begin")
        actions = rng.choice([5, 30, 100, 300])
        threads = [threading.Thread(target=writer.run, args=(actions,)) for writer in writers]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        if world.faults:
            raise Fault("; ".join(world.faults))
        if world.way in ("every", "last"):
            time.sleep(rng.choice([0, 0.2, 1.5]))
        check(rng, world, running, output, has_key, width)
    finally:
        running.resume()
        running.process.kill()
        running.process.wait()
        [writer.close() for writer in writers]


def links(comb: Comb) -> list[Path]:
    try:
        return list((comb.proc / "fd").iterdir())
    except OSError:
        return []


def open_pipes(rng: random.Random, world: World, inputs: list[str]) -> list[PipeWriter]:
    """Writers of a FIFO and of standard input."""
    writers = []
    if world.way == "mixed" and rng.random() < 0.6:
        path = world.folder / "fifo"
        os.mkfifo(path)
        file = os.open(path, os.O_RDWR)
        writers.append(PipeWriter(world, random.Random(rng.random()), path, file))
        writers[-1].current.close = lambda: None
        inputs.append("fifo")
    if world.way == "mixed" and rng.random() < 0.6:
        other_end, file = os.pipe()
        writers.append(PipeWriter(world, random.Random(rng.random()), Path("stdin"), file))
        writers[-1].other_end = other_end
        inputs.append("-")
    return writers


def check(rng: random.Random, world: World, running: Comb, output: str, has_key: bool, width: int) -> None:
    """Ends comb and compares."""
    is_int = rng.random() < 0.9
    before = time.time()
    running.process.send_signal(signal.SIGINT if is_int else signal.SIGTERM)
    try:
        status = running.process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        raise Fault("does not end") from None
    after = time.time()
    messages = running.messages()
    unexpected = [line for line in messages.splitlines() if not EXPECTED.search(line) and not LOST.search(line)]
    if unexpected:
        raise Fault(f"unexpected messages: {unexpected[:3]}")
    truncations = sum(world.actions[name] for name in ("copy and truncate", "truncations", "rough truncations"))
    if "truncated" in messages and not truncations:
        raise Fault(f"a report of a truncation that was none: {messages[:300]}")
    # With --last, all records may have expired.
    allowed = {0} if world.written and world.way != "last" else {0, 1}
    if is_int and "comb:" in messages:
        allowed.add(2)
    if status not in (allowed if is_int else {143}):
        raise Fault(f"exit status {status}: {messages[-300:]}")
    counted = read(world, running.out.read_bytes().decode("utf-8", "replace"), output, has_key)
    written: dict = defaultdict(lambda: [0, 0])
    for entry, (count, total) in world.written.items():
        if world.way == "every":
            key, seconds = entry
            entry = (key if has_key else "", seconds // width * width)
        written[entry][0] += count
        written[entry][1] += total
    for key in world.rough:
        written.pop(key, None)
        counted.pop(key, None)
    if world.way == "last":
        leave_out_margin(world, counted, written, before, after)
    pairs = [(entry, counted.get(entry), written.get(entry)) for entry in {*counted, *written}]
    differences = sorted((pair for pair in pairs if pair[1] != pair[2]), key=str)
    if RELEASED.search(messages):
        # A writer was so far ahead of comb that it wrote to files that had been released, as reported.
        differences = [(entry, counted, written) for entry, counted, written in differences if not (counted or [0])[0] < (written or [0])[0]]
    if differences:
        shown = "; ".join(described(world, *pair) for pair in differences[:5])
        raise Fault(f"{len(differences)} of {len(written)} keys differ: {shown}")
    # Only files that comb does not follow are removed without a wait.
    lost = sum(int(number.replace(",", "")) for number in LOST.findall(messages))
    if lost > world.discarded:
        raise Fault(f"{lost} files lost, {world.discarded} discarded, and all records counted")


def leave_out_margin(world: World, counted: dict, written: dict, before: float, after: float) -> None:
    """Leaves out the keys that may be counted or forgotten, and the written keys that must be forgotten."""
    slice_width = 1
    for entry in {*counted, *written}:
        seconds = int(entry.removeprefix("at"))
        if seconds < after - world.window:
            written.pop(entry, None)
            if seconds >= before - world.window - slice_width - 1:
                counted.pop(entry, None)


def described(world: World, entry, counted, written) -> str:
    count, total = [(counted or [0, 0])[part] - (written or [0, 0])[part] for part in (0, 1)]
    place = f" (record {abs(total)} of {world.places.get(abs(total))})" if abs(count) == 1 else ""
    return f"{entry}: {counted} rather than {written}{place}"


def read(world: World, text: str, output: str, has_key: bool) -> dict:
    """The counts and sums of comb's answer."""
    if output == "json":
        lines = [json.loads(line) for line in text.splitlines()]
        if world.way != "every":
            lines = lines[-1:]
        rows = [row for line in lines for row in line["top"]]
    elif output == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
    else:
        # Text: the key is the last column.
        lines = text.splitlines()
        names = lines[0].split() if lines else []
        if names:
            names[-1] = "key"
        rows = [dict(zip(names, line.split(), strict=True)) for line in lines[1:]]
    counted: dict = defaultdict(lambda: [0, 0])
    for row in rows:
        key = row.get("key", "")
        if isinstance(key, dict):
            row = row | {"time": key.pop("time")}
            key = next(iter(key.values()))
        elif output == "csv" and has_key:
            key = list(row.values())[-1]
        value = row.get(world.form.measure)
        if value is None:
            value = next((row[name] for name in row if name.startswith("sum")), None)
        if world.way == "every":
            at = row.get("time") or row.get("key")
            entry = (key if has_key else "", instant(at))
        else:
            entry = key
        if int(row["count"]):
            counted[entry][0] += int(row["count"])
            counted[entry][1] += int(float(value or 0))
    return dict(counted)


def instant(text: str) -> int:
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--only", choices=WAYS, help="inputs or output of all runs")
    parser.add_argument("--without", default="", help="names of actions to be left out, such as copy_truncate,rough")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--folder", default="/tmp", help="folder for the logs")
    parser.add_argument("--keep", default="hunted", help="folder for the files of faults")
    arguments = parser.parse_args()
    keep, base = Path(arguments.keep), Path(arguments.folder) / f"hunt-tail-{os.getpid()}"
    forbidden = set(filter(None, arguments.without.split(",")))
    comb = str(Path(arguments.comb).resolve())
    print(f"seed {arguments.seed}", flush=True)
    faults, actions = 0, Counter()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        numbers = range(arguments.first, arguments.first + arguments.runs)
        attempts = [pool.submit(attempt, comb, arguments.seed, number, arguments.only, forbidden, base) for number in numbers]
        for number, done in zip(numbers, attempts, strict=True):
            done_actions, fault, folder = done.result()
            actions += done_actions
            if fault:
                faults += 1
                keep.mkdir(parents=True, exist_ok=True)
                kept = keep / folder.name
                shutil.rmtree(kept, ignore_errors=True)
                shutil.move(folder, kept)
                print(f"run {number}: {kept}\n    {fault}", flush=True)
    shutil.rmtree(base, ignore_errors=True)
    print(", ".join(f"{count} {action}" for action, count in actions.most_common()))
    print(f"{arguments.runs} runs, {actions['rotations']} rotations, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
