#!/usr/bin/env python3
"""Fuzzing of the screen of `comb top --live` with random keys, on terminals of random and changing sizes.

    fuzz/hunt_live.py [--comb PROGRAM] [--runs N] [--keys N] [--seed N] [--only N]

In each run, comb follows a log that grows, while keys are typed: letters, arrows, Enter, Escape, and bytes that are no keys. Then it must
print the counts that it prints without a screen. What it sends to the terminal must be text and the escape sequences that the screen needs,
although records and keys have control characters.
"""

import argparse
import fcntl
import os
import pty
import random
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

KEYS = [b"s", b"p", b"t", b"?x", b"/", b"x", b"a", b"\r", b"\r", b"\x7f", b"\x1b[A", b"\x1b[B", b"\x1b[B", b"\x1b[5~", b"\x1b[6~", b"\x1b[H", b"\x1b[F", b"\x1bOB", b"\x1b[1;5C", b"\xc3", "日".encode(), b"\x00", b"\x1b[", b"ab"]
# Escape ends the job if there is nothing to undo. The first key ends an incomplete one.
ESCAPE = b"x/\x1b"
SEQUENCES = re.compile(rb"\x1b\[[0-9;]*[mHJK]|\x1b\[\?(?:1049|25|7)[hl]")
WORDS = ["/", "/index.html", "/a\x1b[2Jb", "/\u202eexe", "/日本語/" + 30 * "x", "\x9b31m", "/caf\u00e9", "a" * 300, "-"]


def flags_of(rng: random.Random) -> list[str]:
    flags = ["--input", "lines", "--tz", "UTC"]
    flags += rng.choice([["-f", "2"], ["-f", "2"], ["-f", "2,3"], [], ["-f", "2-3"], ["-f", "3"]])
    has_key = "-f" in flags
    every = rng.choice([None, "1s", "5s", "1m"]) if has_key or rng.random() < 0.5 else None
    flags += ["-n", rng.choice(["1", "3", "all"])] if not every and rng.random() < 0.5 else []
    # With --tail, the rows of a bucket are printed when it ends, in the order of the counts in it.
    flags += ["--every", every, "-n", "all", "--format", "csv"] if every else []
    if has_key or every:
        flags += rng.choice([[], ["--sum", "4"], ["--sum", "4", "--p95", "4"], ["--distinct", "2", "--max", "4"], ["--share", "$4 > 500"]])
    return flags + rng.choice([[], [], ["-j", "1"], ["-j", "3"], ["-v", "caf"]])


def records(rng: random.Random, start: int, number: int) -> bytes:
    lines = []
    for at in range(number):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_772_323_200 + (start + at) // 7))
        lines.append(f"{stamp} {rng.choice(WORDS)} {rng.choice('uvw')} {rng.randrange(1000)}\n".encode())
    return b"".join(lines)


class Terminal:
    """A comb on a terminal. Its result goes to a file."""

    def __init__(self, comb: str, flags: list[str], log: Path, out: Path):
        self.shown = b""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.execvp(comb, [comb, "top", "--tail", "--live", *flags, str(log)])

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds: float) -> bool:
        """Reads what is sent within a time. Returns whether the terminal is still open."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                try:
                    sent = os.read(self.fd, 65536)
                except OSError:
                    return False
                if not sent:
                    return False
                self.shown += sent
        return True

    def press(self, keys: bytes) -> None:
        try:
            os.write(self.fd, keys)
        except OSError:
            pass

    def end(self) -> int:
        deadline = time.monotonic() + 20
        while self.read(0.05):
            if time.monotonic() > deadline:
                os.kill(self.process, 9)
                os.waitpid(self.process, 0)
                return -1
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


def attempt(comb: str, seed: int, number: int, keys: int, folder: Path) -> str | None:
    rng = random.Random(seed * 1_000_003 + number)
    log, out, flags = folder / "a.log", folder / "out", flags_of(rng)
    written = rng.choice([0, 1, 50, 3000])
    log.write_bytes(records(rng, 0, written))
    terminal = Terminal(comb, flags, log, out)
    terminal.resize(rng.randrange(1, 40), rng.randrange(1, 140))
    shows = terminal.read(0.1)
    while shows and b"\x1b[?1049h" not in terminal.shown:
        shows = terminal.read(0.05)
    typed = b""
    for _ in range(keys):
        key = ESCAPE if "-f" in flags and rng.random() < 0.15 else rng.choice(KEYS)
        typed += key
        terminal.press(key)
        shows = shows and terminal.read(rng.choice([0, 0.001, 0.06]))
        if rng.random() < 0.2:
            more = rng.choice([1, 3, 200])
            with open(log, "ab") as file:
                file.write(records(rng, written, more))
            written += more
        if rng.random() < 0.05:
            terminal.resize(rng.randrange(1, 60), rng.randrange(1, 200))
    where = f"run {number}: comb top --tail --live {' '.join(flags)}; typed {typed!r}"
    terminal.read(0.3)
    terminal.press(b"\x03")
    status = terminal.end()
    expected = subprocess.run([comb, "top", *flags, str(log)], capture_output=True)
    if status not in (0, 1) or status != expected.returncode:
        return f"{where}\n    exit status {status} rather than {expected.returncode}: {terminal.shown[-300:]!r}"
    text = SEQUENCES.sub(b"", terminal.shown).decode("utf-8", "replace")
    wrong = sorted({char for char in text if (ord(char) < 32 and char not in "\r\n") or 127 <= ord(char) < 160 or char in "\u202e\ufffd"})
    if wrong:
        return f"{where}\n    sent to the terminal: {wrong}"
    printed, wanted = ((sorted(text.splitlines()) if "--every" in flags else text) for text in (out.read_bytes(), expected.stdout))
    if printed != wanted:
        return f"{where}\n    {printed[:300]!r} rather than {wanted[:300]!r}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="comb")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--keys", type=int, default=60, help="keys in a run")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--only", type=int, help="the run with this number")
    arguments = parser.parse_args()
    comb = str(Path(arguments.comb).resolve()) if "/" in arguments.comb else arguments.comb
    runs = range(arguments.runs) if arguments.only is None else [arguments.only]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in runs:
            if fault := attempt(comb, arguments.seed, number, arguments.keys, Path(folder)):
                faults += 1
                print(fault, flush=True)
    print(f"seed {arguments.seed}: {len(runs)} runs, {len(runs) * arguments.keys} keys, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
