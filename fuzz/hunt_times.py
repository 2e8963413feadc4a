#!/usr/bin/env python3
"""Fuzzing of the times of `comb top`: how they are written, zones, windows and buckets, with an exact oracle in Python.

    fuzz/hunt_times.py [--comb PROGRAM] [--runs N] [--seed N] [--only N] [--keep FOLDER]

A run writes a log with times in one form or several, some of them wrong, missing, unordered, near a change of clocks, on leap days or
in extreme years, and asks a question with a window, buckets, or both. The JSON answer must be that of the oracle: counts, measures, empty
buckets, and the number of records without a time. At other widths and block sizes the bytes must be the same, from the file, from gzip and from a
pipe; only from a pipe, years that are not written depend on the time of day.

If the Python package duckdb is installed, DuckDB reads times and makes buckets of some logs too. comb and the oracle use the system's
zones; DuckDB has its own, and is not asked about times at which they differ.
"""

import argparse
import gzip
import json
import os
import random
import shlex
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from itertools import compress
from pathlib import Path

from time_oracle import (DAY, EPOCH, FIRST, FORMS, LAST, NAIVE, NO_YEAR, NUMBERS, PATTERNS, SECOND, Buckets, Civil, by_pattern, change, from_wall, in_year, instant, offset_at, parts, written,
                         zone_of)  # fmt: skip

ZONES = ["UTC", "UTC", "Europe/Berlin", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "America/Sao_Paulo", "Asia/Kolkata", "Asia/Kathmandu",
         "Pacific/Apia", "Africa/Cairo", "Africa/Casablanca", "Europe/Dublin", "America/Havana", "Asia/Tehran", "Antarctica/Troll", "Pacific/Chatham", "America/Caracas",
         "Africa/Monrovia", "Asia/Pyongyang", "America/Asuncion", "Asia/Beirut", "Europe/Lisbon", "+05:30", "-0330", "+14", "-12:00"]  # fmt: skip
WIDTHS = ["1s", "2s", "5s", "10s", "27s", "30s", "64s", "96s", "675s", "1m", "5m", "9m", "15m", "18m", "32m", "45m", "1h", "1h", "60min", "90m", "2h", "3h", "160m", "4h", "6h", "8h",
          "12h", "1d", "1d", "2d", "3d", "1w", "2w", "10d", "30d", "365d"]  # fmt: skip
UNITS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}
THREADS = ["1", "2", "3", "8", "64"]
BLOCKS = ["1", "7", "64", "100", "333", "1K", "4K", "20K", "128K"]
LEADS = ["", "", "", "[", "<13>", "::1 - ", "app: ", "10.0.0.1:8080 - ", "a-b/c x12: ", "12/345 (", "v1.2:3 "]
UNTIMED = ["no time", "    at line 7", "106:20:09 alone", "2026-03-011 x", "x2026-03-01T06:20:09", "31/Foo/2026:06:20:09", "2026-13-01T06:20:09Z", "12--2026-03-01 06:20"]
NAMES = ["time", "timestamp", "@timestamp", "ts", "datetime", "eventTime", "created_at", "date", "msec", "Time"]
PLAIN = ["lines", "group"]


def width_of(text: str) -> int:
    unit = text.lstrip("0123456789")
    return int(text[: len(text) - len(unit)] or 1) * UNITS[unit]


def center(rng: random.Random, zone) -> int:
    """The second around which times of a log are."""
    kind = rng.randrange(10)
    if kind < 4:
        # A change of clocks in one of many years.
        year = rng.choice([1884, 1911, 1918, 1945, 1970, 1980, 1986, 1999, 2006, 2011, 2015, 2016, 2018, 2024, 2025, 2026, 2026, 2038, 2100, 2200])
        start = int((datetime(year, 1, 1, tzinfo=timezone.utc) - EPOCH).total_seconds())
        months = [start + month * 30 * DAY for month in range(13)]
        changed = [pair for pair in zip(months, months[1:]) if offset_at(zone, pair[0]) != offset_at(zone, pair[1])]
        return change(zone, *rng.choice(changed)) if changed else start
    if kind < 6:
        # Leap days, and New Year.
        year = rng.choice([1900, 1904, 1970, 1972, 2000, 2023, 2024, 2025, 2026, 2027, 2028, 2096, 2100, 2104])
        return int((datetime(year, *rng.choice([(2, 28), (3, 1), (1, 1), (12, 31)]), tzinfo=timezone.utc) - EPOCH).total_seconds())
    if kind == 6:
        return rng.choice([0, -1, 1, 2**31, -(2**31), 10**9, 10**10, FIRST // SECOND, LAST // SECOND, FIRST // SECOND + 3 * DAY, LAST // SECOND - 3 * DAY])
    if kind == 7:
        return rng.randrange(FIRST // SECOND, LAST // SECOND)
    return int(time.time()) if kind == 8 else rng.randrange(10**9, 2 * 10**9)


class Log:
    """Records, each with the meaning of its time."""

    def __init__(self, rng: random.Random) -> None:
        self.zone_name = rng.choice(ZONES)
        self.zone = zone_of(self.zone_name)
        self.format = rng.choice(["lines", "lines", "group", "json", "json", "logfmt", "csv", "tsv", "combined"])
        self.name = rng.choice(NAMES)
        self.pattern = rng.choice(PATTERNS) if rng.random() < 0.25 and self.format != "combined" else None
        self.forms = rng.choice([[rng.choice(FORMS)], [rng.choice(FORMS)], FORMS])
        if self.format == "combined":
            self.forms = ["clf"]
        self.center = center(rng, self.zone)
        self.changed = self.last_change(rng)
        self.records: list[bytes] = []
        # Key, if there is one, value, and meaning.
        self.rows: list[tuple] = []
        self.fill(rng)
        self.flags = self.flags_of(rng)

    def last_change(self, rng: random.Random) -> int:
        """The second of the last change of the file."""
        second = self.center + rng.choice([0, 3600, DAY, 30 * DAY, -DAY, 1])
        return second if -(2**31) < second < 2**33 else rng.choice([0, -DAY, 10**9, 1_772_346_009, 1_709_164_800, 1_740_787_200])

    def has_no_year(self) -> bool:
        return self.pattern in NO_YEAR or self.pattern is None and "syslog" in self.forms

    def fill(self, rng: random.Random) -> None:
        spread = rng.choice([1, 5, 60, 4000, DAY, 10 * DAY, 400 * DAY])
        untimed, keys = rng.choice([0, 0, 0.1, 0.5]), rng.choice([1, 3, 20])
        keyless = rng.choice([0, 0.1]) if self.format in ("json", "logfmt") else 0
        lead = rng.choice(LEADS)
        if self.pattern:
            lead = ""
        at = self.center * SECOND
        for _ in range(rng.choice([0, 1, 2, 10, 40, 40, 200])):
            if rng.random() < 0.5:
                at = self.center * SECOND + rng.randrange(-spread * SECOND, spread * SECOND)
            else:
                # Mostly the same day, so that one time is like the one before it.
                at += rng.randrange(-SECOND, min(spread, 600) * SECOND)
            at = min(max(at, FIRST), LAST)
            row = (None if rng.random() < keyless else f"k{rng.randrange(keys)}", rng.randrange(100))
            if rng.random() < 0.1 and not self.pattern:
                lead = rng.choice(LEADS)
            form = self.pattern or rng.choice(self.forms)
            text, meaning = by_pattern(rng, form, at, self.zone) if self.pattern else written(rng, form, at, self.zone)
            if self.format == "combined" and not self.rows:
                # The place of times is detected from the first records.
                text, meaning = "01/Mar/2026:06:20:09 +0000", 1_772_346_009 * SECOND
            elif rng.random() < untimed:
                # The beginning of some is a number of seconds.
                is_number = self.pattern in ("%s", "%s.%f")
                text, meaning = rng.choice([text for text in UNTIMED if not is_number or not text.startswith("12--")]), None
            elif self.format in PLAIN and form in NUMBERS and not self.pattern:
                # Plain lines begin with numbers that are times, of certain lengths.
                lead = lead if lead == "[" else ""
                if len(text.partition(".")[0]) not in (10, 13, 16, 19):
                    meaning = None
            self.rows.append((*row, meaning))
            self.records.append(self.record(rng, row, text, lead, meaning is None).encode())

    def record(self, rng: random.Random, row: tuple[str | None, int], text: str, lead: str, is_wrong: bool) -> str:
        key, value = row
        if self.format in PLAIN:
            behind = rng.choice(["", "", "", "]" if lead == "[" else "", ";", ": x"]) if not self.pattern else rng.choice(["", ";"])
            return f"{lead}{text}{behind} dur={value} {'id=' if self.format == 'group' else ''}{key}"
        if self.format == "combined":
            return f'::1 - {key} [{text}] "GET /{value} HTTP/1.1" 200 {value} "-" "-"'
        is_bracketed = rng.random() < 0.05 and not self.pattern
        if is_bracketed:
            text = f"[{text}]"
        if self.format == "json":
            if is_wrong and rng.random() < 0.3:
                time = rng.choice(["", f'"{self.name}":null,', f'"{self.name}":"",', f'"{self.name}":[true],', f'"{self.name}":true,'])
            elif text.replace(".", "").isdecimal() and not text.startswith("0") and rng.random() < 0.5:
                time = f'"{self.name}":{text},'
            else:
                escaped = "".join(f"\\u{ord(char):04x}" if rng.random() < 0.02 else "\\/" if char == "/" and rng.random() < 0.2 else char for char in text)
                time = f'"{self.name}": "{escaped}",'
            named = "" if key is None else f'"id":"{key}",'
            return f'{{{named}{time}"dur":{value}}}'
        if self.format == "logfmt":
            quoted = f'"{text}"' if " " in text or rng.random() < 0.1 else text
            return ("" if key is None else f"id={key} ") + ("" if is_wrong and rng.random() < 0.2 else f"{self.name}={quoted} ") + f"dur={value}"
        if self.format == "csv":
            quoted = f'"{text}"' if "," in text or rng.random() < 0.2 else text
            return f"{key},{quoted},{value}"
        return f"{key}\t{text}\t{value}"

    def content(self) -> bytes:
        head = {"csv": f"id,{self.name},dur\n", "tsv": f"id\t{self.name}\tdur\n"}.get(self.format, "").encode()
        return head + b"".join(record + b"\n" for record in self.records)

    def flags_of(self, rng: random.Random) -> list[str]:
        flags = ["--tz", self.zone_name] if rng.random() < 0.5 else [f"--tz={self.zone_name}"]
        if self.pattern:
            flags += ["--time-format", self.pattern]
        if self.format == "group":
            return [*flags, "--input", "lines", "-e", "id=(?P<id>[a-z0-9]+)"]
        early = [instant(meaning, self.zone, self.changed * SECOND) for *_, meaning in self.rows[:10]]
        # Access logs are recognised by times with an offset.
        has_offsets = all(isinstance(meaning, int) or meaning and meaning.offset is not None for *_, meaning in self.rows)
        if self.format != "combined" or not (early and has_offsets) or rng.random() < 0.5:
            flags += ["--input", self.format]
        if self.format == "lines":
            return flags
        if self.format != "combined" and (not any(at is not None for at in early) or rng.random() < 0.5):
            flags += ["--time", self.name]
        return flags


class Question:
    """A window, buckets, a key, a condition and measures."""

    def __init__(self, rng: random.Random, log: Log, now: int) -> None:
        self.flags: list[str] = []
        self.since, self.until, self.width = FIRST, LAST + 1, None
        self.near = []
        self.every(rng)
        if self.width is None or rng.random() < 0.4:
            self.window(rng, log, now)
        self.key = log.format == "group" or rng.random() < 0.5 or self.width is None
        self.key_name = {"lines": "key", "group": "id", "combined": "user"}.get(log.format, "id")
        if self.key and log.format != "group":
            self.flags += ["-f", "-1" if log.format == "lines" else self.key_name]
        self.number = rng.choice(["all", "all", "1", "3"]) if self.key else "all"
        self.flags += ["-n", self.number]
        self.reverse = not self.key and self.width is not None and rng.random() < 0.1
        if self.reverse:
            self.flags.append("--reverse")
        self.value_name = {"combined": "size"}.get(log.format, "dur")
        self.more = self.measures = None
        if log.format not in (*PLAIN, "combined"):
            if rng.random() < 0.3:
                self.more = rng.randrange(100)
                self.flags += ["--where", f"dur >= {self.more}"]
            self.measures = rng.choice([None, ["sum"], ["max", "sum"], ["min"]])
            for name in self.measures or []:
                self.flags += [f"--{name}", "dur"]

    def every(self, rng: random.Random) -> None:
        if rng.random() < 0.85:
            text = rng.choice(WIDTHS)
            self.width = width_of(text)
            self.flags += ["--every", text]

    def window(self, rng: random.Random, log: Log, now: int) -> None:
        ends = [self.bound(rng, log, now) for _ in range(2)]
        ends.sort(key=lambda end: end[1])
        if ends[0][1] == ends[1][1]:
            ends.pop()
        wanted = rng.choice([["--since", "--until"], ["--since"], ["--until"]])
        if len(ends) == 1 and len(wanted) == 2:
            wanted.pop()
        for flag in wanted:
            text, at, is_relative = ends[0] if flag == "--since" else ends[-1]
            self.flags += [f"{flag}={text}"]
            if flag == "--since":
                self.since = at
            else:
                self.until = at
            if is_relative:
                self.near.append(at)

    def bound(self, rng: random.Random, log: Log, now: int) -> tuple[str, int, bool]:
        """A text, its instant, and whether that depends on the time of day."""
        while True:
            text, meaning, is_relative = self.bound_text(rng, log, now)
            at = instant(meaning, log.zone, now)
            if at is not None:
                return text, at, is_relative

    def bound_text(self, rng: random.Random, log: Log, now: int) -> tuple[str, object, bool]:
        near = log.center * SECOND + rng.choice([0, 0, 1, -1, 3600 * SECOND, rng.randrange(-DAY * SECOND, DAY * SECOND)])
        near = min(max(near, FIRST), LAST)
        kind = rng.random()
        if kind < 0.8:
            form = rng.choice([form for form in FORMS if form != "syslog"])
            text, meaning = written(rng, form, near, log.zone)
            return text, meaning, False
        today = (now // SECOND + offset_at(log.zone, now // SECOND)) // DAY * DAY
        if kind < 0.9:
            parts_of = [(rng.randrange(100), unit) for unit in rng.sample(["s", "m", "h", "d", "w"], rng.choice([1, 2]))]
            text = "".join(f"{count}{unit}" for count, unit in parts_of) + rng.choice(["", " ago", "ago"])
            return text, now - sum(count * UNITS[unit] for count, unit in parts_of) * SECOND, True
        day, of_day = rng.choice([("today", 0), ("yesterday", -DAY), ("tomorrow", DAY), ("", 0)]), rng.randrange(24 * 60) * 60
        shown = f"{of_day // 3600:02}:{of_day // 60 % 60:02}"
        if rng.random() < 0.3 and day[0]:
            of_day, shown = 0, ""
        return f"{day[0]} {shown}".strip(), from_wall(log.zone, today + day[1] + of_day) * SECOND, True

    def answer(self, log: Log, latest: int) -> dict | None:
        """The answer, or nothing if a record is so near an end of the window that the time of day matters."""
        chosen, untimed, first = [], 0, None
        for number, (key, value, meaning) in enumerate(log.rows):
            at = instant(meaning, log.zone, latest)
            if at is None:
                untimed, first = untimed + 1, number if first is None else first
            elif any(abs(at - near) < 90 * SECOND for near in self.near):
                return None
            elif self.since <= at < self.until and (self.more is None or value >= self.more) and (key or not self.key):
                chosen.append((key, value, at))
        return {"records": len(chosen), "untimed": untimed, **self.rows(log, chosen)}

    def measured(self, values: list[int]) -> dict:
        made = {"sum": sum, "max": max, "min": min}
        return {f"{name}({self.value_name})": made[name](values) if values else None for name in self.measures or []}

    def rows(self, log: Log, chosen: list) -> dict:
        totals = Counter(key for key, *_ in chosen)
        ranked = sorted(totals, key=lambda key: (-totals[key], key or ""))[: len(totals) if self.number == "all" else int(self.number)]
        values: dict = {}
        if self.width is None:
            for key, value, _ in chosen:
                values.setdefault(key, []).append(value)
            return {"distinct": len(totals), "top": [{"count": len(values[key]), **self.measured(values[key]), "key": key} for key in ranked]}
        buckets = Buckets(self.width, log.zone)
        for key, value, at in chosen:
            start = buckets.start(at // SECOND)
            values.setdefault((start, key) if self.key else start, []).append(value)
        if self.key:
            pairs = sorted((start, ranked.index(key), key) for start, key in values if key in ranked)
            top = [{"count": len(values[start, key]), **self.measured(values[start, key]), "key": {"time": buckets.label(start), self.key_name: key}} for start, _, key in pairs]
            return {"distinct": len(totals), "top": top}
        top = [{"count": len(values.get(start, [])), **self.measured(values.get(start, [])), "key": buckets.label(start)} for start in buckets.all(sorted(values))]
        return {"distinct": len(values), "top": top[::-1] if self.reverse else top}


def run(comb: str, flags: list[str], path: Path, way: str = "file") -> tuple[int, bytes, str]:
    named = [] if way == "pipe" else [str(path)]
    text = path.read_bytes() if way == "pipe" else b""
    done = subprocess.run([comb, "top", *flags, *named], input=text, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def compared(expected: dict, done: tuple[int, bytes, str]) -> str | None:
    """The first difference of a JSON answer, if any."""
    status, out, message = done
    try:
        found = json.loads(out)
    except ValueError:
        return f"status {status}, {out[:200]!r}: {message[:400]}"
    if status not in (0, 1):
        return f"status {status}: {message[:400]}"
    for member in ("records", "distinct"):
        if found[member] != expected[member]:
            return f"{member} {found[member]} rather than {expected[member]}: {message[:300]}"
    if found.get("untimed", 0) != expected["untimed"]:
        return f"untimed {found.get('untimed', 0)} rather than {expected['untimed']}: {message[:300]}"
    if found["top"] != expected["top"]:
        for seen, right in zip(found["top"], expected["top"]):
            if seen != right:
                return f"{seen} rather than {right}"
        return f"{len(found['top'])} rows rather than {len(expected['top'])}; the last {found['top'][-1:]} rather than {expected['top'][-1:]}"
    noun = "record" if expected["untimed"] == 1 else "records"
    if (f"skipped {expected['untimed']} {noun} without a time" in message) != (expected["untimed"] > 0):
        return f"message {message[:300]!r} for {expected['untimed']} records without a time"
    return None


def check(comb: str, log: Log, question: Question, seed: int, path: Path) -> tuple[list[str], str] | None:
    """Compares the answer with the oracle's, and with the answers of other ways to read the log."""
    rng, flags = random.Random(seed), [*log.flags, *question.flags]
    content = log.content()
    path.write_bytes(content)
    os.utime(path, ns=(log.changed * SECOND, log.changed * SECOND))
    if expected := question.answer(log, log.changed * SECOND):
        way = [*flags, "--json", "-j", rng.choice(THREADS), "--block-size", rng.choice(BLOCKS)]
        if fault := compared(expected, run(comb, way, path)):
            return way, fault
    if not log.has_no_year() and rng.random() < 0.3 or rng.random() < 0.1:
        now = time.time_ns()
        limit = now + DAY * SECOND
        is_near = any(near < 90 * SECOND for near in near_limit(log, limit))
        if not is_near and (expected := question.answer(log, now)):
            way = [*flags, "--json", "-j", rng.choice(THREADS), "--block-size", rng.choice(BLOCKS)]
            if fault := compared(expected, run(comb, way, path, "pipe")):
                return [*way, "<"], fault
    shown = [*flags, "--format", rng.choice(["text", "csv", "json", "markdown"])]
    machine = lambda: ["-j", rng.choice(THREADS), "--block-size", rng.choice(BLOCKS)]
    if question.near:
        return None
    plain = run(comb, [*shown, *machine()], path)
    other, way = [*shown, *machine()], rng.choice(["file", "file", "gzip"])
    if way == "gzip":
        path.write_bytes(gzip.compress(content[: len(content) // 2]) + gzip.compress(content[len(content) // 2 :]))
        os.utime(path, ns=(log.changed * SECOND, log.changed * SECOND))
    again = run(comb, [*other, *rng.choice([[], ["--memory", "32M"]])], path)
    if again != plain:
        return other, f"{way}: {again} rather than {plain}"[:900]
    return None


def zones_agree(cursor, name: str, zone, seconds: list[int]) -> list[bool]:
    """Whether DuckDB's clocks show at each instant, and a day around it, what the system's show: either may have the newer rules."""
    near = [second + hours * 3600 for second in seconds for hours in (-26, 0, 26)]
    shown = cursor.execute("SELECT epoch(timezone(?, to_timestamp(second))) - second FROM (SELECT unnest(?::BIGINT[]) AS second)", [name, near]).fetchall()
    same = [offset_at(zone, second) == offset for second, (offset,) in zip(near, shown, strict=True)]
    return [all(same[at : at + 3]) for at in range(0, len(same), 3)]


def ask_duckdb(duckdb, comb: str, rng: random.Random, path: Path) -> tuple[list[str], str] | None:
    """Compares counts with DuckDB's, which reads the times, too. Buckets are named by the time that clocks show at their beginning."""
    name = rng.choice([name for name in ZONES if name[0] not in "+-"])
    zone = zone_of(name)
    texts, seconds_of, at = [], [], rng.randrange(6 * 365 * DAY, 66 * 365 * DAY)
    for _ in range(rng.choice([1, 20, 200])):
        at += rng.randrange(rng.choice([60, DAY, 20 * DAY]))
        offset = rng.choice([None, 0, 3600, -5 * 3600, 5 * 3600 + 1800])
        wall = at + (offset_at(zone, at) if offset is None else offset)
        # Times that clocks skip or show twice have another meaning there.
        if offset is None and len({offset_at(zone, at + hours * 3600) for hours in range(-26, 27)}) > 1:
            continue
        text = f"{NAIVE + timedelta(seconds=wall):%Y-%m-%d %H:%M:%S}" + rng.choice(["", ".5", ".252", ".999999"])
        tail = "" if offset is None else f"{'-' if offset < 0 else '+'}{abs(offset) // 3600:02}:{abs(offset) // 60 % 60:02}"
        texts.append(text + tail)
        seconds_of.append(at)
    cursor = duckdb.cursor()
    cursor.execute(f"SET TimeZone = '{name}'")
    agreed = zones_agree(cursor, name, zone, seconds_of)
    texts, seconds_of = [list(compress(values, agreed)) for values in (texts, seconds_of)]
    if not texts:
        return None
    width, is_window = rng.choice(["1m", "15m", "1h", "3h", "6h", "12h", "1d", "1d", "3d", "1w", "1mo", "3mo", "6mo", "1y", "10y"]), rng.random() < 0.5
    first, last = sorted(rng.choices(range(len(texts)), k=2))
    ends = [texts[first], texts[last]] if is_window and seconds_of[first] < seconds_of[last] else None
    cursor.execute("CREATE OR REPLACE TEMP TABLE log AS SELECT unnest(?)::TIMESTAMPTZ AS instant", [texts])
    window = "WHERE instant >= ?::TIMESTAMPTZ AND instant < ?::TIMESTAMPTZ" if ends else ""
    unit = width.lstrip("0123456789")
    count = width.removesuffix(unit)
    unit = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks", "mo": "months", "y": "years"}[unit]
    is_calendar = unit in ("months", "years")
    origin = "1970-01-05" if unit == "weeks" else "1970-01-01"
    bucket = f"time_bucket(INTERVAL '{count} {unit}', timezone('{name}', instant), TIMESTAMP '{origin}')"
    rows = cursor.execute(f"SELECT {bucket} AS bucket, count(*) FROM log {window} GROUP BY bucket ORDER BY bucket", ends or []).fetchall()
    path.write_text("".join(f"{text}\n" for text in texts))
    flags = ["--input", "lines", "--tz", name, "--every", width, "--json", "-n", "all"]
    if ends:
        flags += [f"--since={ends[0]}", f"--until={ends[1]}"]
    status, out, message = run(comb, flags, path)
    if status not in (0, 1):
        return flags, f"status {status}: {message[:300]}"
    counts: Counter = Counter()
    start, seconds = datetime.fromisoformat(origin), None if is_calendar else width_of(width)
    for row in json.loads(out)["top"]:
        if is_calendar:
            year, month, *_ = map(int, f"{row['key']}-1".split("-"))
            counts[datetime(year, month, 1)] += row["count"]
            continue
        shown = datetime.fromisoformat(row["key"][:16])
        # A bucket may begin later, with a change of clocks.
        counts[start + (shown - start) // timedelta(seconds=seconds) * timedelta(seconds=seconds)] += row["count"]
    found = sorted((key, count) for key, count in counts.items() if count)
    differences = [f"{one} rather than {other}" for one, other in zip(found, rows) if one != other]
    if differences or len(found) != len(rows):
        return flags, f"DuckDB: {(differences or ['more or less rows'])[0]}"
    return None


def near_limit(log: Log, limit: int) -> list[int]:
    """How far times without a year are from the latest time, in nanoseconds."""
    year = parts(limit // SECOND)[0]
    civil = [meaning for *_, meaning in log.rows if isinstance(meaning, Civil) and meaning.year is None]
    found = [in_year(meaning, near, log.zone) for meaning in civil for near in (year - 1, year, year + 1)]
    return [abs(at - limit) for at in found if at is not None]


def reduced(log: Log, faulty) -> None:
    """Leaves out records as long as there is a fault."""
    step = len(log.rows) // 2
    while step:
        at = 0
        while at < len(log.rows):
            kept = log.rows[:], log.records[:]
            del log.rows[at : at + step], log.records[at : at + step]
            if not faulty():
                log.rows, log.records = kept
                at += step
        step //= 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="only the run with this number")
    parser.add_argument("--keep", default="hunted", help="folder for the files of faults")
    arguments = parser.parse_args()
    keep = Path(arguments.keep)
    keep.mkdir(parents=True, exist_ok=True)
    try:
        import duckdb
    except ImportError:
        duckdb = None
    faults = asked = 0
    for number in range(arguments.runs) if arguments.only is None else [arguments.only]:
        rng = random.Random(arguments.seed * 1_000_003 + number)
        log = Log(rng)
        question, seed = Question(rng, log, time.time_ns()), rng.randrange(1 << 30)
        path = keep / f"{arguments.seed}-{number}.log"
        if fault := check(arguments.comb, log, question, seed, path):
            faults += 1
            # Not another fault, such as that no record with a time is left.
            reduced(log, lambda: (check(arguments.comb, log, question, seed, path) or ([], ""))[1][:9] == fault[1][:9])
            flags, text = check(arguments.comb, log, question, seed, path) or ([], "not again")
            print(f"run {number}: comb top {shlex.join(flags)} {path} (changed at {log.changed})\n    {text}", flush=True)
            continue
        if duckdb and number % 10 == 0:
            asked += 1
            if fault := ask_duckdb(duckdb, arguments.comb, rng, path):
                faults += 1
                print(f"run {number}: comb top {shlex.join(fault[0])} {path}\n    {fault[1]}", flush=True)
                continue
        path.unlink()
    print(f"{arguments.runs} runs, {asked} with DuckDB, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
