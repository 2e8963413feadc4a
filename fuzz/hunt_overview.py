#!/usr/bin/env python3
"""Fuzzing of `comb top --overview` on random records, with an oracle in plain Python.

    fuzz/hunt_overview.py [--comb PROGRAM] [--runs N] [--seed N] [--keep FOLDER]

A run writes records as JSON Lines, logfmt, CSV, TSV or an access log, some of them malformed. Records, malformed records, fields, distinct and most
frequent values, minimum, median, 95th percentile and maximum must be those of the oracle, and the bytes the same at other widths and block
sizes.
"""

import argparse
import csv
import io
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

WIDTHS = [["-j2", "--block-size", "50"], ["-j3", "--block-size", "1"], ["-j8", "--block-size", "1K"]]
TEXTS = ["a", "b", "ab", "-", "", "x y", "é", "日本", "GET", "/a/b?c=d", "2026-03-01", "0x1F", "null", "a=b", "x" * 300, "x" * 299 + "y"]
MAX_OTHERS = 1000


def overview(comb: str, path: Path, flags: list[str]) -> tuple[int, bytes, bytes]:
    command = [comb, "top", "--overview", "--json", "--tz", "UTC", *flags, str(path)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def value(rng: random.Random, kind: str) -> str:
    if kind == "constant":
        return "same"
    if kind == "few":
        return rng.choice(["200", "304", "404"])
    if kind == "numbers":
        return rng.choice([str(rng.randrange(-1000, 1000)), f"{rng.lognormvariate(0, 2):.3f}", "-"])
    if kind == "ids":
        return f"{rng.getrandbits(40):x}z"
    if kind == "mixed":
        return rng.choice(["7", "none"])
    return rng.choice(TEXTS)


def table(rng: random.Random) -> list[dict[str, str]]:
    kinds = [rng.choice(["constant", "few", "numbers", "ids", "mixed", "texts"]) for _ in range(rng.randrange(1, 6))]
    presence = [rng.choice([1, 1, 0.9, 0.1]) for _ in kinds]
    count = rng.choice([0, 1, 2, 10, 100])
    rows = []
    for _ in range(count):
        row = {f"f{index}": value(rng, kind) for index, kind in enumerate(kinds) if rng.random() < presence[index]}
        rows.append(row)
    return rows


# Formats: each returns lines, whether each is malformed, and the values of its fields.


def as_json(rng: random.Random, rows: list[dict[str, str]]):
    for row in rows:
        nested, known = {}, {}
        for name, text in row.items():
            is_deep = name in ("f1", "f3")
            shown = text
            if rng.random() < 0.3:
                try:
                    shown = json.loads(text)
                    if not isinstance(shown, (int, float)) or json.dumps(shown) != text:
                        shown = text
                except ValueError:
                    pass
            if rng.random() < 0.02:
                shown = None
            target = nested.setdefault("o", {}).setdefault("p", {}) if is_deep else nested
            target[name] = shown
            known["o.p." + name if is_deep else name] = None if shown is None else text
        line = json.dumps(nested, ensure_ascii=rng.random() < 0.5)
        if rng.random() < 0.03:
            yield rng.choice([line[:-1], line + "x", "[1]", '{"f9" 1}', line[:-1] + ",}"]), True, {}
        else:
            yield line, False, known


def as_logfmt(rng: random.Random, rows: list[dict[str, str]]):
    for row in rows:
        pairs = []
        for name, text in row.items():
            is_plain = text and not any(char in text for char in ' "=\\')
            pairs.append(f"{name}={text}" if is_plain and rng.random() < 0.5 else f'{name}="{text}"')
            if rng.random() < 0.1:
                pairs.append("word")
        line = " ".join(pairs)
        if rng.random() < 0.03:
            yield line + ' x="open', True, {}
        else:
            yield line, False, dict(row)


def as_table(delimiter: str, rows: list[dict[str, str]]):
    names = sorted({name for row in rows for name in row} | {"f0", "f9"})
    for row in [dict(zip(names, names)), *rows]:
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator="", quoting=csv.QUOTE_MINIMAL).writerow([row.get(name, "") for name in names])
        yield out.getvalue(), False, {name: row.get(name, "") for name in names}


def as_access(rng: random.Random, rows: list[dict[str, str]]):
    for row in rows:
        texts = [text for text in row.values() if text and not any(char in text for char in ' "?')] or ["x"]
        path, status, user = "/" + rng.choice(texts), rng.choice(["200", "304", "404"]), rng.choice(["-", "joe"])
        time = f"01/Mar/2026:00:{rng.randrange(60):02}:{rng.randrange(60):02} +0000"
        size = str(rng.randrange(10**6))
        known = {"remote_addr": "::1", "ident": "-", "user": user, "time": time, "method": "GET", "path": path, "query": "", "protocol": "HTTP/1.1", "status": status,
                 "bytes": size}  # fmt: skip
        yield f'::1 - {user} [{time}] "GET {path} HTTP/1.1" {status} {size}', False, known


def written(rng: random.Random, rows: list[dict[str, str]]):
    """Format, lines and their oracle."""
    form = rng.choice(["json", "logfmt", "csv", "tsv", "clf"])
    if form == "json":
        return form, list(as_json(rng, rows))
    if form == "logfmt":
        return form, list(as_logfmt(rng, rows))
    if form == "clf":
        return form, list(as_access(rng, rows))
    return form, list(as_table("," if form == "csv" else "\t", rows))


# Oracle


def number(text: str) -> Decimal | None:
    try:
        return Decimal(text) if text.strip("0123456789.-") == "" else None
    except ArithmeticError:
        return None


def of_values(values: list[str]) -> dict:
    counts = Counter(values)
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))[:3]
    numbers = sorted(found for found in map(number, values) if found is not None)
    others = len(values) - len(numbers)
    expected = {"values": len(values), "distinct": len(counts), "top": [(text.encode()[:240] if len(text.encode()) > 256 else text.encode(), count) for text, count in top]}
    if numbers and others <= MAX_OTHERS and 10 * others <= len(numbers):
        rank = lambda percent: numbers[max(-(-len(numbers) * percent // 100), 1) - 1]
        expected["numbers"] = (numbers[0], rank(50), rank(95), numbers[-1])
    return expected


def expected(form: str, lines: list) -> dict:
    records = lines[1:] if form in ("csv", "tsv") else lines
    fields = defaultdict(list)
    sound = [known for _, is_malformed, known in records if not is_malformed]
    for known in sound:
        for name, text in known.items():
            own = fields[name]
            if text not in (None, "", "-"):
                own.append(text)
    return {"records": len(sound), "malformed": len(records) - len(sound), "fields": {name: of_values(values) for name, values in fields.items()}}


def found(answer: dict) -> dict:
    fields = {}
    for field in answer["fields"]:
        own = {"values": field["values"], "distinct": field["distinct"], "top": [(item["value"].encode(), item["count"]) for item in field["top"]]}
        if "numbers" in field:
            own["numbers"] = tuple(Decimal(str(field["numbers"][name])) for name in ("min", "median", "p95", "max"))
        fields[field["name"]] = own
    return {"records": answer["records"], "malformed": answer["malformed"], "fields": fields}


def check(comb: str, path: Path, rng: random.Random) -> str | None:
    """The fault of a random file, if there is one."""
    form, lines = written(rng, table(rng))
    text = "".join(line + rng.choice(["\n", "\n", "\r\n"]) for line, _, _ in lines)
    path.write_bytes(text.encode())
    flags = ["--input", form]
    status, out, error = overview(comb, path, flags)
    if status not in (0, 1) or any(not line.startswith(b"comb: ") for line in error.splitlines()):
        return f"status {status}: {error!r}"
    own, oracle = found(json.loads(out, parse_float=Decimal)), expected(form, lines)
    if own != oracle:
        return f"{form}: comb has {own}, the oracle {oracle}"
    width = rng.choice(WIDTHS)
    if overview(comb, path, [*flags, *width]) != (status, out, error):
        return f"{form}: other bytes with {width}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--keep", type=Path, default=Path("target/hunt_overview"))
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    faults = 0
    for run in range(arguments.runs):
        path = arguments.keep / f"{arguments.seed}-{run}"
        fault = check(arguments.comb, path, random.Random(f"{arguments.seed}-{run}"))
        if fault is None:
            path.unlink()
            continue
        faults += 1
        print(f"{path}: {fault}")
        if faults == 10:
            break
    print(f"{arguments.runs} runs with seed {arguments.seed}: {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
