#!/usr/bin/env python3
"""Hunts for faults of counts in files: what `comb top --merge` prints must be what `comb top` prints for all inputs at once.

    fuzz/hunt_counts.py [--comb PROGRAM] [--runs N] [--seed N] [--only N]

A run writes logs in a random format and asks a random question. Each log is counted on its own at a random width and block size, and
the files of counts are added up in a random tree, through files and pipes. The sum must be the same bytes as the counts of all logs at
once, and the answer that of `comb top`, as text and JSON. One file of counts is damaged: it must be refused, and the others be added up.
"""

import argparse
import json
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = ["1", "2", "3", "8", "64"]
BLOCKS = ["1", "7", "64", "333", "4K", "128K"]
WORDS = ["a", "b", "GET", "é", "x y", "10.0.0.1", "/index.html", "", "-", '"', "k" * 70, "id-17", "A", "17", "[z]", "a.b", "a,b"]
NUMBERS = ["0", "1", "-1", "2.5", "1e3", "17ms", "99999999999999999999", "-0.000000000000000001", "100000000000000000000", "1.50", "none", ""]
FORMATS = ["lines", "lines", "json", "csv", "logfmt", "tsv"]
NAMES = ["t", "key", "other", "value"]


def number(rng: random.Random) -> str:
    return rng.choice(NUMBERS) if rng.random() < 0.2 else str(rng.randrange(10 ** rng.randrange(1, 12)) / 10 ** rng.choice([0, 0, 1, 3]))


def records(rng: random.Random, count: int) -> list[list[str]]:
    keys = rng.choice([2, 5, 100, 5000])
    word = lambda: rng.choice(WORDS) if rng.random() < 0.5 else f"w{rng.randrange(keys)}"
    start = 1_770_000_000
    time = lambda: rng.choice(["", "never"]) if rng.random() < 0.03 else str(start + int(rng.expovariate(1 / 4000)) + rng.choice([0, 0, 0, 10**6]))
    return [[time(), word(), word(), number(rng)] for _ in range(count)]


def written(rng: random.Random, kind: str, rows: list[list[str]]) -> bytes:
    end = "\r\n" if rng.random() < 0.1 else "\n"
    quoted = lambda text: '"' + text.replace('"', '""') + '"'
    lines = [",".join(NAMES)] if kind == "csv" else ["\t".join(NAMES)] if kind == "tsv" else []
    for row in rows:
        if rng.random() < 0.02:
            lines.append(rng.choice(["", "broken {", '"open', "\udcff"]))
        elif kind == "json":
            lines.append(json.dumps({name: text for name, text in zip(NAMES, row) if text or rng.random() < 0.5}))
        elif kind == "csv":
            lines.append(",".join(map(quoted, row)))
        elif kind == "tsv":
            lines.append("\t".join(row))
        elif kind == "logfmt":
            lines.append(" ".join(f"{name}={json.dumps(text, ensure_ascii=False)}" for name, text in zip(NAMES, row)))
        else:
            lines.append(" ".join(row))
    text = end.join(lines) + (end if lines and rng.random() < 0.8 else "")
    return text.encode(errors="surrogateescape")


def question(rng: random.Random, kind: str) -> list[str]:
    field = lambda: str(rng.randrange(1, 5)) if kind == "lines" else rng.choice(NAMES)
    value = "4" if kind == "lines" else "value"
    flags = [] if kind == "lines" and rng.random() < 0.5 else ["--input", kind]
    if rng.random() < 0.8:
        flags += ["-f", ",".join(field() for _ in range(rng.choice([1, 1, 2])))]
    elif rng.random() < 0.5:
        flags += ["-e", rng.choice(["w(\\d)", "[a-z]+", "(\\w+)[ =](\\w+)"])] + (["--each"] if rng.random() < 0.3 else [])
    if rng.random() < 0.3:
        flags += ["--every", rng.choice(["10s", "5m", "1h", "1d", "1mo", "1q"]), "--tz", rng.choice(["UTC", "Europe/Berlin", "-0330"])]
        flags += ["--time", "1" if kind == "lines" else "t"] if rng.random() < 0.7 else []
    elif rng.random() < 0.1:
        flags += ["--since", rng.choice(["2026-02-02", "2026-02-02 03:00:00.5"]), "--tz", "UTC"]
    measures = rng.sample([["--sum", value], ["--mean", value], ["--min", value], ["--max", value], ["--p50", value], ["--percentile", f"12.5:{value}"], ["--distinct", field()],
                           ["--share", f"{'$4' if kind == 'lines' else 'value'} > {rng.choice(['2', '1e3', '-1'])}"]], rng.choice([0, 0, 1, 2, 4]))  # fmt: skip
    flags += [word for measure in measures for word in measure]
    for more, share in [
        (["--where", f"{'$4' if kind == 'lines' else 'value'} > 2"], 0.2),
        (["-g", rng.choice(["w", "1", "a"])], 0.15),
        (["-v", rng.choice(["w1", "é"])], 0.1),
        (["-s", rng.choice(["w", "^(.)"]), rng.choice(["", "<$1>", "--"])], 0.15),
        (["-i"], 0.1),
        (["--missing", rng.choice(["?", "--", ""])], 0.15),
        (["--normalize", rng.choice(["num", "all", "ip,hex"])], 0.1),
    ]:
        flags += more if rng.random() < share else []
    return flags


def shown(rng: random.Random) -> list[str]:
    flags = ["-n", rng.choice(["1", "10", "all"])]
    for more, share in [(["--reverse"], 0.2), (["--sort", "key"], 0.2), (["--min-count", "2"], 0.2), (["--totals", "--percent"], 0.2), (["--json"], 0.4)]:
        flags += more if rng.random() < share else []
    return flags


class Run:
    def __init__(self, comb: str, rng: random.Random, root: Path):
        self.comb, self.rng, self.root = comb, rng, root

    def top(self, *flags: str, data: bytes | None = None) -> subprocess.CompletedProcess:
        command = [self.comb, "top", "-j", self.rng.choice(WIDTHS), "--block-size", self.rng.choice(BLOCKS), *flags]
        done = subprocess.run(command, cwd=self.root, input=data, capture_output=True, timeout=60, stdin=None if data is not None else subprocess.DEVNULL)
        if done.returncode not in (0, 1, 2):
            raise AssertionError(f"exit status {done.returncode}: {shlex.join(command)}\n{done.stderr!r}")
        return done

    def check(self) -> str | None:
        """Returns the fault, if there is one."""
        rng, kind = self.rng, self.rng.choice(FORMATS)
        logs = []
        for index in range(rng.randrange(1, 5)):
            count = rng.choice([0, 1, 5, 40, 40, 3000 if rng.random() < 0.1 else 100])
            (self.root / f"{index}.log").write_bytes(written(rng, kind, records(rng, count)))
            logs.append(f"{index}.log")
        flags, output = question(rng, kind), shown(rng)
        expected = self.top(*flags, *output, *logs)
        whole = self.top(*flags, "--save-counts", "whole", "-n", "0", *logs)
        if not (self.root / "whole").exists():
            # The question is refused, in the same words.
            return None if expected.returncode == 2 and expected.stderr == whole.stderr else f"{flags}: {whole.stderr!r}"
        for log in logs:
            self.top(*flags, "--save-counts", f"{log}.counts", "-n", "0", log)
        fault = self.damaged(flags, logs) if rng.random() < 0.3 else None
        if fault:
            return fault
        parts = [f"{log}.counts" for log in logs]
        rng.shuffle(parts)
        while len(parts) > 1 and rng.random() < 0.6:
            some = [parts.pop() for _ in range(rng.randrange(1, len(parts) + 1))]
            if rng.random() < 0.5:
                sum_of = self.top("--merge", "--save-counts", "-", *some).stdout
                (self.root / f"sum{len(parts)}").write_bytes(sum_of)
            else:
                self.top("--merge", "--save-counts", f"sum{len(parts)}", "-n", "0", *some)
            parts.append(f"sum{len(parts)}")
        merged = self.top("--merge", *output, *parts)
        if merged.stdout != expected.stdout:
            return f"{shlex.join(flags + output)}:\n  expected {expected.stdout[-300:]!r}\n  printed  {merged.stdout[-300:]!r} {merged.stderr[-300:]!r}"
        # Problems with the inputs were reported when they were counted.
        if merged.returncode not in ([0, 1] if expected.returncode == 2 else [expected.returncode]):
            return f"{shlex.join(flags)}: exit status {merged.returncode}, not {expected.returncode}: {merged.stderr[-300:]!r}"
        self.top("--merge", "--save-counts", "all", "-n", "0", *parts)
        if (self.root / "all").read_bytes() != (self.root / "whole").read_bytes():
            return f"{shlex.join(flags)}: the sum is not the same bytes"
        return None

    def damaged(self, flags: list[str], logs: list[str]) -> str | None:
        data = bytearray((self.root / "whole").read_bytes())
        at = self.rng.randrange(len(data))
        if self.rng.random() < 0.5:
            data[at] ^= 1 << self.rng.randrange(8)
        else:
            del data[at:]
        (self.root / "damaged").write_bytes(data)
        alone = self.top("--merge", "-n", "all", "whole")
        done = self.top("--merge", "-n", "all", "damaged", "whole")
        if done.returncode != 2 or b"comb: damaged: " not in done.stderr or done.stdout != alone.stdout:
            return f"{shlex.join(flags)}: damage at {at} of {len(data)}: exit status {done.returncode}, {done.stderr!r}"
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--only", type=int, help="only the run with this number")
    options = parser.parse_args()
    comb, faults = str(Path(options.comb).resolve()), 0
    print(f"seed {options.seed}")
    for number in range(options.runs) if options.only is None else [options.only]:
        with tempfile.TemporaryDirectory() as root:
            fault = Run(comb, random.Random(options.seed * 1_000_003 + number), Path(root)).check()
        if fault is not None:
            faults += 1
            print(f"run {number}: {fault}", flush=True)
    print(f"{options.runs} runs, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
