#!/usr/bin/env python3
"""Fuzzing of `comb top --approx` on random and adverse sequences of keys, with the exact counts as the oracle.

    fuzz/hunt_approx.py [--comb PROGRAM] [--runs N] [--seed N] [--only N]

The memory is so small that most keys get lost. Each run writes a sequence as a file, several files, a tree, or a compressed file, and
counts it at two random widths and block sizes, which must print the same bytes; also from a pipe if it is a single file. Checked are
the bound of each count, that every key with a larger count than the bound is there, that certain keys are among the most frequent ones,
and the same with --recount.
"""

import argparse
import gzip
import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = ["1", "2", "3", "8", "64", "auto"]
BLOCKS = ["1", "7", "100", "4K", "128K", "1M"]
SIZES = ["4K", "5K", "8K", "20K", "64K"]


def sequence(rng: random.Random) -> list[int]:
    """Numbers of keys."""
    length = rng.choice([0, 1, 50, 300, 2000, 6000])
    keys = rng.choice([1, 10, 100, 1000, 100_000])
    shapes = {
        "uniform": lambda: [rng.randrange(keys) for _ in range(length)],
        "skewed": lambda: [int(rng.random() ** 4 * keys) for _ in range(length)],
        "distinct": lambda: list(range(length)),
        "distinct, then one": lambda: list(range(length)) + [keys] * rng.randrange(200),
        "one, then distinct": lambda: [keys] * rng.randrange(200) + list(range(length)),
        "in turns": lambda: [number % keys for number in range(length)],
        "ascending counts": lambda: [key for key in range(80) for _ in range(key)],
        "descending counts": lambda: [key for key in range(80, 0, -1) for _ in range(key)],
        "equal counts": lambda: rng.sample([key for key in range(200) for _ in range(9)], 1800),
        "lost again and again": lambda: [key * (1 + turn % 3) for turn in range(12) for key in range(150)],
    }
    numbers = shapes[rng.choice(list(shapes))]()
    return numbers if rng.random() < 0.7 else numbers + sequence(rng)


def name(number: int, lengths: list[int]) -> str:
    """A key of a number; the same for the same number."""
    key = f"k{number}"
    return key + "x" * (number % lengths[number % len(lengths)])


def lines(rng: random.Random, numbers: list[int]) -> tuple[list[str], list[str], str]:
    """Flags, records, and the text before the records of a file."""
    lengths = rng.choice([[1], [20], [1, 9, 70], [1, 1, 1, 400]])
    keys = [name(number, lengths) for number in numbers]
    match rng.randrange(6):
        case 0:
            return [], [f"{key}\n" for key in keys], ""
        case 1:
            return ["-f", "2"], [f"a {key} c\n" for key in keys], ""
        case 2:
            return ["-f", "id", "--where", "n != 3"], [f'{{"id": "{key}", "n": {number % 5}}}\n' for key, number in zip(keys, numbers)], ""
        case 3:
            return ["-e", "k[0-9]+x*"] + rng.choice([[], ["--each"]]), [f"{key},{name(number // 2, lengths)} {'' if number % 9 else 'y'}\n" for key, number in zip(keys, numbers)], ""
        case 4:
            return ["--input", "csv", "-f", "id"], [f'{number % 7},"{key}\nx"\n' for key, number in zip(keys, numbers)], "n,id\n"
        case _:
            return ["-f", "1,2"] + rng.choice([["-g", "[135]"], ["-v", "7"], ["-s", "[0-4]", ""]]), [f"{key} {number % 3}\n" for key, number in zip(keys, numbers)], ""


def write(folder: Path, rng: random.Random, records: list[str], before: str) -> list[Path]:
    """Writes the records in one of several ways, and returns what to name on the command line."""
    way = rng.choice(["file", "files", "tree", "gzip", "members"])
    if way == "file" or not records:
        (folder / "0.log").write_text(before + "".join(records))
        return [folder / "0.log"]
    if way == "gzip":
        (folder / "0.gz").write_bytes(gzip.compress((before + "".join(records)).encode()))
        return [folder / "0.gz"]
    cuts = sorted(rng.randrange(len(records)) for _ in range(rng.choice([1, 3, 40])))
    parts = ["".join(records[start:end]) for start, end in zip([0, *cuts], [*cuts, len(records)])]
    if way == "members":
        (folder / "0.gz").write_bytes(b"".join(gzip.compress(text.encode()) for text in [before + parts[0], *parts[1:]]))
        return [folder / "0.gz"]
    paths = []
    for number, part in enumerate(parts):
        path = folder / f"{number % 4}" / f"{number}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(before + part)
        paths.append(path)
    return paths if way == "files" else [folder]


def run(comb: str, arguments: list, paths: list[Path], pipe: bool = False) -> bytes:
    command = [comb, "top", *arguments]
    text = b"".join(path.read_bytes() for path in paths) if pipe else b""
    done = subprocess.run(command + ([] if pipe else [str(path) for path in paths]), input=text, capture_output=True, timeout=60, check=False)
    if done.returncode not in (0, 1):
        raise ValueError(f"{command} {done.returncode} {done.stderr.decode(errors='replace')}")
    return done.stdout


def check(comb: str, folder: Path, rng: random.Random) -> tuple[list, str] | None:
    flags, records, before = lines(rng, sequence(rng))
    paths = write(folder, rng, records, before)
    number = rng.choice([0, 1, 3, 10, 30, 200, "all"])
    flags += ["--json", "-n", str(number), f"--approx={rng.choice(SIZES)}"]
    exact = json.loads(run(comb, [*flags[:-3], "-n", "all"], paths))
    machine = lambda: ["--width", rng.choice(WIDTHS), "--block-size", rng.choice(BLOCKS)]
    shown = run(comb, flags, paths)
    other = [*flags, *machine()]
    if run(comb, other, paths) != shown:
        return other, "the output differs"
    if paths[0].is_file() and len(paths) == 1 and run(comb, other, paths, pipe=True) != shown:
        return other, "the output differs from that of a pipe"
    if fault := fault_of(json.loads(shown), exact, number):
        return flags, fault
    recount = [*flags, *machine(), "--recount"]
    recounted = run(comb, recount, paths)
    if run(comb, [*flags, "--recount"], paths) != recounted:
        return recount, "the output differs"
    if fault := fault_of(json.loads(recounted), exact, number):
        return recount, fault
    return None


def fault_of(answer: dict, exact: dict, number: int | str) -> str | None:
    counts = {entry["key"]: entry["count"] for entry in exact["top"]}
    number = len(counts) if number == "all" else number
    best = {entry["key"] for entry in exact["top"][:number]}
    top, bound = answer["top"], answer["bound"]
    if any(answer.get(member) != exact.get(member) for member in ("records", "skipped", "malformed", "unmatched", "partial")):
        return f"{answer!r:.300} instead of {exact!r:.300}"
    if top != sorted(top, key=lambda entry: (-entry["count"], entry["key"].encode())):
        return "the keys are not in order"
    if len(top) > number or len({entry["key"] for entry in top}) < len(top):
        return "keys are too many, or there twice"
    for entry in top:
        if not entry["count"] <= counts[entry["key"]] <= entry["count"] + entry["error"] or entry["error"] > bound:
            return f"{entry} instead of {counts[entry['key']]}, bound {bound}"
        if entry["certain"] and entry["key"] not in best:
            return f"{entry} is not one of the first {number}"
    if bound == 0:
        plain = [{"count": entry["count"], "key": entry["key"]} for entry in top]
        return None if plain == exact["top"][:number] and answer["distinct"] == exact["distinct"] else "not the exact answer"
    if answer["distinct"] is not None or answer["distinct_at_least"] > exact["distinct"]:
        return f"distinct {answer['distinct_at_least']} of {exact['distinct']}"
    shown = {entry["key"] for entry in top}
    lost = [key for key, count in counts.items() if count > bound and key not in shown]
    return f"{lost[:3]} are lost, bound {bound}" if lost and number >= len(counts) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb", help="path of comb (default: target/release/comb)")
    parser.add_argument("--runs", type=int, default=2000, help="number of runs (default: 2000)")
    parser.add_argument("--seed", type=int, default=1, help="first seed (default: 1)")
    parser.add_argument("--only", type=int, help="run with this seed only")
    arguments = parser.parse_args()
    seeds = [arguments.only] if arguments.only is not None else range(arguments.seed, arguments.seed + arguments.runs)
    faults = 0
    for seed in seeds:
        folder = Path(tempfile.mkdtemp())
        try:
            found = check(str(arguments.comb), folder, random.Random(seed))
        except (ValueError, KeyError, subprocess.TimeoutExpired) as error:
            found = ([], repr(error)[:600])
        if found:
            faults += 1
            print(f"seed {seed}: {found[1]}\n  comb top {' '.join(found[0])} {folder}")
        else:
            shutil.rmtree(folder)
    print(f"{len(seeds)} runs, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
