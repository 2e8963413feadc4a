#!/usr/bin/env python3
"""Fuzzing of `comb top --sorted` on random logs that are nearly in the order of time, and on some that are not.

    fuzz/hunt_sorted.py [--comb PROGRAM] [--runs N] [--seed N] [--keep FOLDER]

A log keeps the promise if no record is earlier than one before it by more than the slack. Then the output must equal that of the same count
without `--sorted`, at every width and block size, without any report. Otherwise either the bytes are the same, or the records that were
counted are in order, or there is a report; and a report that the file was read whole means that the bytes are the same. The report is
the same at every width. Blocks are small, so that small files are searched.
"""

import argparse
import os
import random
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

FORMS = ["lines", "dated", "epoch", "millis", "syslog", "json", "logfmt", "combined", "tsv", "group", "csv"]
BLOCKS = ["1", "7", "64", "100", "333", "1K", "4K", "20K", "128K"]
UTC = timezone.utc


def written(rng: random.Random, form: str, number: int, at: datetime, padding: int) -> str:
    """A record in a form."""
    pad, key = "x" * padding, f"id{number}"
    rfc = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    if form == "lines":
        return f"{rfc} {key} {pad}"
    if form == "dated":
        # The same instant in another zone.
        east = rng.choice([-5, 0, 2])
        return f"{(at + timedelta(hours=east)).strftime('%Y-%m-%d %H:%M:%S.250')}{east:+03d}:00 {key} {pad}".replace(" ", "T", 1)
    if form == "epoch":
        return f"{int(at.timestamp())} {key} {pad}"
    if form == "millis":
        return f"{int(at.timestamp())}250 {key} {pad}"
    if form == "syslog":
        return f"{at.strftime('%b')} {at.day:2d} {at.strftime('%H:%M:%S')} {key} {pad}"
    if form == "json":
        return f'{{"pad":"{pad}","id":"{key}","ts":"{rfc}"}}'
    if form == "logfmt":
        return f"time={rfc} id={key} pad=x{pad}"
    if form == "combined":
        return f'::1 - {key} [{at.strftime("%d/%b/%Y:%H:%M:%S +0000")}] "GET /{pad} HTTP/1.1" 200 1 "-" "-"'
    if form == "tsv":
        return f"{key}\t{rfc}\t{pad}"
    if form == "csv":
        return f'{key},{rfc},"{pad}' + ("\n" if rng.random() < 0.1 else "") + '"'
    return f"{key} {pad} at={rfc};"


def flags_of(form: str) -> list[str]:
    """Flags that count each record by its own key."""
    if form in ("lines", "epoch", "millis", "dated"):
        return ["-f", "2"]
    if form == "syslog":
        return ["-f", "4"]
    if form == "combined":
        return ["-f", "user"]
    if form == "group":
        return ["-e", "(?P<id>id[0-9]+) .*at=(?P<at>[^;]*);", "-f", "id", "--time", "at"]
    return ["-f", "id", "--input", form]


def make(rng: random.Random, form: str, slack: int) -> tuple[bytes, list[int]]:
    """A log that keeps the promise, and the seconds of its records."""
    start = rng.choice([datetime(2026, 3, 1, tzinfo=UTC), datetime(2025, 12, 31, 23, 30, tzinfo=UTC), datetime(2024, 2, 28, 22, tzinfo=UTC)])
    now, step = int(start.timestamp()), rng.choice([0.02, 0.5, 1, 20, 600])
    untimed, long = rng.choice([0, 0, 0.1, 0.6]), rng.choice([0, 0, 0.02])
    end = rng.choice(["\n", "\n", "\r\n"])
    lines, seconds, exact = [], [], float(now)
    for number in range(rng.choice([0, 1, 5, 60, 300, 1500])):
        if rng.random() < untimed and number > 9:
            lines.append("    at line 7" if form != "tsv" else "x")
            if rng.random() < 0.01:
                lines.extend(["y" * 70] * rng.randrange(1000))
        exact += rng.expovariate(1 / step) if rng.random() < 0.99 else 200 * step
        second = int(exact) - (rng.randrange(slack + 1) if rng.random() < 0.5 else 0)
        padding = rng.randrange(9000) if rng.random() < long else rng.randrange(40)
        lines.append(written(rng, form, number, datetime.fromtimestamp(second, UTC), padding))
        seconds.append(second)
    if form in ("tsv", "csv") and lines:
        lines.insert(0, {"tsv": "id\ttime\tpad", "csv": "id,time,pad"}[form])
    text = end.join(lines) + (end if rng.random() < 0.7 else "")
    return text.encode(), seconds


def broken(rng: random.Random, text: bytes) -> bytes:
    """The same with some lines in other places."""
    head, *lines = text.split(b"\n")
    kind = rng.choice(["swap", "shuffle", "reverse", "rotate", "one"])
    if kind == "shuffle":
        rng.shuffle(lines)
    elif kind == "reverse":
        lines.reverse()
    elif kind == "rotate" and lines:
        at = rng.randrange(len(lines))
        lines = lines[at:] + lines[:at]
    elif lines:
        for _ in range(rng.choice([1, 1, 3])):
            lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    return b"\n".join([head, *lines])


def window(rng: random.Random, seconds: list[int]) -> list[str]:
    """Flags for a window near the records."""
    if not seconds:
        return ["--since", "2026-03-01"]
    span = max(seconds) - min(seconds) + 1
    center = rng.choice(seconds) + rng.choice([0, 0, 1, span, -span])
    ends = sorted([center, center + rng.choice([1, 2, 30, span // 50 + 1, span // 3 + 1])])
    at = [datetime.fromtimestamp(end, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for end in ends]
    return rng.choice([["--since", at[0], "--until", at[1]], ["--since", at[0], "--until", at[1]], ["--since", at[0]], ["--until", at[1]]])


def disorder(seconds: list[int]) -> int:
    """The greatest time by which a record is earlier than one before it."""
    most, latest = 0, -(10**12)
    for second in seconds:
        latest = max(latest, second)
        most = max(most, latest - second)
    return most


def run(comb: str, flags: list[str], paths: list[Path], stdin: bool) -> tuple[int, bytes, str]:
    with open(paths[0], "rb") as file:
        named = [] if stdin else [str(path) for path in paths]
        done = subprocess.run([comb, "top", *flags, *named], stdin=file if stdin else subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def reports(message: str) -> list[str]:
    return [line for line in message.splitlines() if "not in the order of time" in line]


def check(comb: str, rng: random.Random, keep: Path) -> tuple[list[str], list[Path], str] | None:
    form = rng.choice(FORMS)
    slack = rng.choice([0, 1, 5, 60, 4000])
    keeps_promise = rng.random() < 0.7
    paths, order, all_seconds = [], [], []
    for number in range(rng.choice([1, 1, 1, 3]) if keeps_promise else 1):
        text, seconds = make(rng, form, slack)
        order, all_seconds = list(enumerate(seconds)), all_seconds + seconds
        if not keeps_promise:
            text = broken(rng, text)
            found = [int(number) for number in re.findall(rb"\bid([0-9]+)", text)]
            order = [(number, seconds[number]) for number in found]
        path = keep / f"now{number}.log"
        path.write_bytes(text)
        # Syslog has no year: that of the last change.
        last = max(seconds, default=0) + 3600
        os.utime(path, (last, last))
        paths.append(path)
    stdin = rng.random() < 0.05 and form != "syslog"
    if stdin:
        paths = paths[:1]
    flags = [*flags_of(form), *window(rng, all_seconds), "--tz", "UTC", "-n", "all"]
    if keeps_promise and form != "group":
        flags += rng.choice([[], [], ["-g", "id[0-9]*7"], ["--every", "1h"], ["-v", "id[0-9]*[13]"]])
    whole = run(comb, flags, paths, stdin)
    if any("skipped\n" in line for line in whole[2].splitlines(True)):
        # Not recognised: the first records have no time.
        return None
    flags += [f"--sorted={slack}s"]
    for width in rng.sample(["1", "2", "3", "8", "64"], 2):
        for block in rng.sample(BLOCKS, 2):
            way = [*flags, "-j", width, "--block-size", block]
            status, out, message = run(comb, way, paths, stdin)
            seen = reports(message)
            if status not in (0, 1, 2) or "panicked" in message:
                return way, paths, f"status {status}: {message[:300]}"
            if keeps_promise and seen:
                return way, paths, f"a report: {seen[0][:300]}"
            if status != (2 if seen else whole[0]) and not (not keeps_promise and not seen):
                return way, paths, f"status {status} rather than {whole[0]}: {message[:300]}"
            is_whole = any("read whole" in line for line in seen)
            if out != whole[1]:
                if keeps_promise or is_whole:
                    return way, paths, f"{out[:150]!r} rather than {whole[1][:150]!r}"
                ids = {int(number) for number in re.findall(rb"\bid([0-9]+)", out)}
                if not seen and disorder([second for number, second in order if number in ids]) > slack:
                    return way, paths, "records of the answer contradict the promise, without a report"
            if seen and disorder([second for _, second in order]) <= slack:
                return way, paths, f"a report of a log that is in order: {seen[0][:300]}"
            # At the same block size, the report and the answer do not depend on the width.
            again = run(comb, [*flags, "-j", "5", "--block-size", block], paths, stdin)
            if (again[1], reports(again[2])) != (out, seen):
                return way, paths, f"another answer with -j 5: {again[2][:300]}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", default="hunted", help="folder for the files of faults")
    arguments = parser.parse_args()
    keep = Path(arguments.keep)
    keep.mkdir(parents=True, exist_ok=True)
    faults = 0
    for number in range(arguments.runs):
        rng = random.Random(arguments.seed * 1_000_003 + number)
        fault = check(arguments.comb, rng, keep)
        if fault:
            faults += 1
            flags, paths, text = fault
            kept = [path.rename(keep / f"{arguments.seed}-{number}-{path.name}") for path in paths]
            print(f"run {number}: comb top {' '.join(flags)} {' '.join(map(str, kept))}\n    {text}", flush=True)
    print(f"{arguments.runs} runs, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
