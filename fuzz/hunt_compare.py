#!/usr/bin/env python3
"""Compares `comb top --columns`, `--diff` and `@file` with counts in Python, on random files of JSON.

    fuzz/hunt_compare.py [--runs N] [--seed N] [--comb PROGRAM]

Each run asks a random question of random files, at a random width and block size, some of them compressed, in bounded memory or through
files of counts. The status is 1 if there was a fault.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

KEYS = ["a", "b", "c d", "", "é", "\x1f", "\x1e\x01", "count", "k" * 300]
VALUES = ["200", "404", "1000", "-1", "2.50", "count", "key", "", "x\ty", "x\nz", "percent", "v" * 150]
START = 1_772_323_200
RESERVED = {"count", "percent", "cumulative", "cumulative_percent", "key", "key_bytes", "key_base64"}


def record(rng: random.Random) -> dict:
    """A random record, in which fields may be missing."""
    fields = {"key": rng.choice(KEYS), "value": rng.choice(VALUES), "n": rng.randrange(100)}
    return {"time": START + rng.randrange(3600)} | {k: v for k, v in fields.items() if rng.random() < 0.95}


def write(path: Path, records: list[dict], rng: random.Random) -> None:
    """Writes a file, which may be compressed."""
    text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records).encode()
    path.write_bytes(gzip.compress(text) if rng.random() < 0.3 else text)


def number(text: str) -> Fraction | None:
    """The number that orders a column."""
    try:
        return Fraction(text)
    except ValueError:
        return None


def columns_of(counts: Counter, field: str, key_names: list[str]) -> dict[str, str]:
    """The values with a column in their order, each with its name."""
    first = sorted(counts, key=lambda v: (-counts[v], v.encode()))[:50]
    ordered = sorted(first, key=str.encode)
    if all(number(v) is not None for v in ordered):
        ordered.sort(key=number)
    taken, names = RESERVED | set(key_names), {}
    for value in ordered:
        name = f"{field}={value}" if not value or value in taken else value
        taken.add(name)
        names[value] = name
    return names


def rounded(change: int, before: int) -> str:
    """A change in percent with two places, a half away from 0."""
    size = Fraction(abs(change) * 10000, before)
    units = (size.numerator * 2 + size.denominator) // (2 * size.denominator)
    sign = "-" if change < 0 and units else ""
    return f"{sign}{units // 100}.{units % 100:02}".rstrip("0").rstrip(".")


class Run:
    """A question with its files."""

    def __init__(self, rng: random.Random, directory: Path, comb: str) -> None:
        self.rng, self.directory, self.comb = rng, directory, comb
        self.files = {}
        for name in ["old", "new"]:
            self.files[name] = [record(rng) for _ in range(rng.randrange(rng.choice([5, 400])))]
            write(directory / name, self.files[name], rng)

    def ask(self, flags: list[str], files: list[str]) -> dict:
        """The answer as JSON."""
        rng = self.rng
        machine = ["-j", str(rng.choice([1, 2, 3, 8, 64])), "--block-size", str(rng.choice([1, 100, 5000, 131072]))]
        command = [self.comb, "top", "--json", "-n", "all", *machine, *flags, *files]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, check=False)
        if done.returncode > 1:
            raise AssertionError(f"{command}: {done.stderr.decode()}")
        self.command = command
        return json.loads(done.stdout)

    def key(self, name: str, fields: list[str], one: dict, missing: str | None) -> tuple | None:
        """The key of a record."""
        parts = [name if field == "@file" else one.get(field, missing) for field in fields]
        return None if None in parts else tuple(str(part) for part in parts)

    def found(self, row: dict, fields: list[str]) -> tuple:
        """The key of a row."""
        key = row["key"]
        return tuple(key[field] for field in fields) if isinstance(key, dict) else (key,) if fields else ()

    def columns(self) -> None:
        """Checks `--columns`."""
        rng = self.rng
        fields = rng.choice([[], ["key"], ["@file"], ["key", "@file"], ["n"]])
        by = rng.choice(["value", "n", "@file"])
        missing = rng.choice([None, "404"])
        is_sum = rng.random() < 0.3
        flags = ["--input", "json", "--columns", by, *(["-f", ",".join(fields)] if fields else [])]
        flags += ["--missing", missing] if missing else []
        flags += ["--sum", "n"] if is_sum else []
        flags += ["--memory", "32M"] if rng.random() < 0.3 else []
        rows, cells, sums, values, skipped = Counter(), Counter(), {}, Counter(), 0
        for name, records in self.files.items():
            for one in records:
                pair = self.key(name, [*fields, by], one, missing)
                if pair is None:
                    skipped += 1
                    continue
                rows[pair[:-1]] += 1
                values[pair[-1]] += 1
                cells[pair] += 1
                if "n" in one:
                    sums[pair] = sums.get(pair, 0) + one["n"]
        names = columns_of(values, by, fields)
        expected = {}
        for key, count in rows.items():
            pairs = {name: (*key, value) for value, name in names.items()}
            row = [(name, sums.get(pair) if is_sum else cells[pair]) for name, pair in pairs.items()]
            expected[key] = (count, row)
        answer = self.ask(flags, list(self.files))
        found = {
            self.found(row, fields): (row["count"], list(row.get("columns", {}).items())) for row in answer["top"]
        }
        assert found == expected, (self.command, found, expected)
        assert answer["skipped"] == skipped, self.command

    def diff(self) -> None:
        """Checks `--diff`."""
        rng = self.rng
        fields = rng.choice([["key"], ["value"], ["key", "n"], ["n"]])
        flags = ["--input", "json", "-f", ",".join(fields)]
        sides = [Counter(), Counter()]
        files = list(self.files)
        kind = rng.choice(["inputs", "windows", "saved"])
        shift = rng.randrange(60, 2000)
        since = START + rng.randrange(shift, 3600)
        until = since + rng.randrange(1, shift + 1)
        for side, name in enumerate(files):
            for one in self.files[name]:
                key = self.key(name, fields, one, None)
                if key is not None and kind != "windows":
                    sides[side][key] += 1
                elif key is not None and since <= one["time"] < until:
                    sides[1][key] += 1
                elif key is not None and since <= one["time"] + shift < until:
                    sides[0][key] += 1
        if kind == "windows":
            instants = [datetime.fromtimestamp(seconds, UTC).isoformat() for seconds in (since, until)]
            flags += [f"--diff={shift}s", "--since", instants[0], "--until", instants[1]]
        elif kind == "saved":
            for name in files:
                counts = [self.comb, "top", *flags, "--save-counts", f"{name}.counts", "-n", "0", name]
                subprocess.run(counts, cwd=self.directory, capture_output=True, check=False)
            files, flags = [f"{name}.counts" for name in files], ["--merge", "--diff"]
        else:
            flags += ["--diff"]
        before, after = sides
        keys = sorted(before.keys() | after.keys(), key=lambda key: "\x1f".join(key).encode())
        sizes = {key: abs(after[key] - before[key]) for key in keys}
        expected = {}
        for key in keys:
            change = after[key] - before[key]
            percent = rounded(change, before[key]) if before[key] else None
            expected[key] = (after[key], before[key], change, percent)
        answer, found = self.ask(flags, files), {}
        for row in answer["top"]:
            percent = row["change_percent"]
            if percent is not None:
                percent = f"{percent:.2f}".rstrip("0").rstrip(".")
            found[self.found(row, fields)] = (row["count"], row["before"], row["change"], percent)
        assert found == expected, (self.command, found, expected)
        order = [sizes[self.found(row, fields)] for row in answer["top"]]
        assert order == sorted(order, reverse=True), self.command
        numbers = (answer["records"], answer["before"], answer["new"], answer["gone"], answer["distinct"])
        new, gone = sum(not before[key] for key in keys), sum(not after[key] for key in keys)
        assert numbers == (before.total() + after.total(), before.total(), new, gone, len(keys)), self.command


def main() -> int:
    """Runs the hunt."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--comb", type=Path, default=Path(__file__).resolve().parent.parent / "target/debug/comb")
    arguments = parser.parse_args()
    rng, faults = random.Random(arguments.seed), 0
    for number_of_run in range(arguments.runs):
        with tempfile.TemporaryDirectory() as directory:
            run = Run(rng, Path(directory), str(arguments.comb.resolve()))
            try:
                rng.choice([run.columns, run.diff])()
            except AssertionError as fault:
                faults += 1
                print(f"run {number_of_run}: {str(fault)[:3000]}", file=sys.stderr)
    print(f"{arguments.runs} runs, {faults} faults, seed {arguments.seed}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
