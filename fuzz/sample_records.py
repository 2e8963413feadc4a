"""Records of sample files with their fields, parsed by plain Python."""

import csv
import json
import random
import re
from pathlib import Path

QUOTED = r'"((?:[^"\\]|\\.)*)"'
COMBINED = re.compile(rf"(\S+) (\S+) (\S+) \[([^\]]*)\] {QUOTED} (\S+) (\S+) {QUOTED} {QUOTED}")
SYSLOG = re.compile(r"([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) (\S+) ([^\s:\[]+)(?:\[(\d+)\])?: (\S.*)")
PAIR = re.compile(r'([^\s="]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?: |$)')
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Sample:
    """A format, and records of it as bytes with their fields. Fields are by name, or by position in lines."""

    def __init__(self, flags: list[str], numbers: set = frozenset(), header: bytes = b""):
        self.flags, self.header = flags, header
        self.records: list[tuple[bytes, dict]] = []
        self.numbers = numbers

    def names(self) -> list:
        seen = {}
        for _, fields in self.records:
            seen.update(fields)
        return list(seen)

    def number_names(self) -> list:
        """Fields that are a number in half of the records that have them."""
        names = []
        for name in self.names():
            values = [fields[name] for _, fields in self.records if name in fields]
            plain = sum(1 for value in values if re.fullmatch(rb"-?[0-9]+(\.[0-9]+)?", value))
            if 2 * plain >= len(values):
                names.append(name)
        return names


def load(path: Path) -> Sample | None:
    """The records of a file, or None if it has none in a known form."""
    content = path.read_bytes().replace(b"\r\n", b"\n")
    lines = content.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    if path.suffix == ".md":
        return None
    if path.suffix == ".csv":
        sample = csv_sample(lines)
    else:
        sample = simple_sample(path, lines)
    return sample if sample and sample.records else None


def simple_sample(path: Path, lines: list[str]) -> Sample:
    if path.suffix == ".tsv":
        names = lines[0].split("\t")
        sample = Sample(["--input", "tsv"], header=raw(lines[0]) + b"\n")
        parse = lambda line: dict(zip(names, line.split("\t"))) if line.count("\t") == len(names) - 1 else None
        lines = lines[1:]
    elif path.suffix == ".json" or lines[0].startswith("{"):
        sample, parse = Sample(["--input", "json"]), json_fields
    elif path.suffix == ".logfmt":
        sample, parse = Sample(["--input", "logfmt"]), logfmt_fields
    elif COMBINED.match(lines[0]):
        sample, parse = Sample(["--input", "combined"]), combined_fields
    elif SYSLOG.fullmatch(lines[0]):
        sample, parse = Sample(["--input", "syslog"]), syslog_fields
    else:
        sample, parse = Sample([]), line_fields
    for line in lines:
        fields = parse(line)
        if fields:
            sample.records.append((raw(line), {name: raw(value) for name, value in fields.items()}))
    return sample


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def csv_sample(lines: list[str]) -> Sample | None:
    rows = csv.reader(line + "\n" for line in lines)
    names = next(rows)
    if not all(NAME.fullmatch(name) for name in names):
        return None
    begin = rows.line_num
    sample = Sample(["--input", "csv"], header=raw("\n".join(lines[:begin])) + b"\n")
    for row in rows:
        record, begin = "\n".join(lines[begin : rows.line_num]), rows.line_num
        if len(row) == len(names):
            sample.records.append((raw(record), {name: raw(value) for name, value in zip(names, row)}))
    return sample


def combined_fields(line: str) -> dict | None:
    match = COMBINED.match(line)
    if not match:
        return None
    address, _, user, time, request, status, size, referer, agent = match.groups()
    fields = {"remote_addr": address, "user": user, "time": time, "request": request, "status": status, "bytes": size, "referer": referer, "user_agent": agent}
    parts = request.split(" ")
    if len(parts) == 3 and all(parts):
        path, mark, query = parts[1].partition("?")
        fields |= {"method": parts[0], "url": parts[1], "protocol": parts[2], "path": path} | ({"query": query} if mark else {})
    elif len(parts) != 1:
        return None
    return fields


def syslog_fields(line: str) -> dict | None:
    match = SYSLOG.fullmatch(line)
    if not match:
        return None
    return {name: value for name, value in zip(["time", "host", "program", "pid", "message"], match.groups()) if value is not None}


def logfmt_fields(line: str) -> dict | None:
    fields, at = {}, 0
    while at < len(line):
        match = PAIR.match(line, at)
        if not match:
            return None
        value = match[2]
        fields.setdefault(match[1], json.loads(value) if value.startswith('"') else value)
        at = match.end()
    return fields


def json_fields(line: str) -> dict | None:
    fields = {}

    def add(path: str, value) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                if NAME.fullmatch(name):
                    add(f"{path}.{name}", member)
        elif isinstance(value, list):
            for index, member in enumerate(value):
                add(f"{path}[{index}]", member)
        elif value is not None:
            fields[path] = value if isinstance(value, str) else {True: "true", False: "false"}[value]

    add("", json.loads(line, parse_int=str, parse_float=str))
    return fields


def line_fields(line: str) -> dict | None:
    parts = [part for part in re.split("[ \t]+", line) if part]
    return {index + 1: part for index, part in enumerate(parts)} | {index - len(parts): part for index, part in enumerate(parts)}


def some(rng: random.Random, sample: Sample, limit: int) -> list[tuple[bytes, dict]]:
    """Records that follow each other, or from anywhere."""
    count = min(limit, len(sample.records))
    if rng.random() < 0.5:
        begin = rng.randrange(len(sample.records) - count + 1)
        return sample.records[begin : begin + count]
    return rng.sample(sample.records, count)
