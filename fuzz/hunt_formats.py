#!/usr/bin/env python3
"""Fuzzing of `comb top` on random tables in all formats, whole and damaged, with an oracle in plain Python.

    fuzz/hunt_formats.py [--comb PROGRAM] [--runs N] [--seed N] [--only N] [--keep FOLDER] [--questions N]
                          [--samples FOLDER...]

A run writes a table as CSV, TSV, JSON Lines, logfmt, an access log or plain lines, or takes records of sample files, and asks several questions. The answer to each must be
that of the oracle, and the same bytes at all widths and block sizes, from a file, a pipe and gzip of several members. A damaged table has
no oracle: the program must not crash, and its messages must begin with its name. Tables of faults are reduced and kept in a folder.
If the Python package duckdb is installed, DuckDB is a second oracle, of the questions that SQL can ask too.
"""

import argparse
import base64
import csv
import gzip
import io
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import sample_records
import sql_oracle
from hunt_top import compiled, matches, quoted, raw, replaced, runes

UNITS = {"": (1, 0), "s": (1, 0), "ms": (1, 3), "us": (1, 6), "µs": (1, 6), "ns": (1, 9), "m": (60, 0), "h": (3600, 0), "d": (86400, 0)}
NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?(ns|us|µs|ms|s|m|h|d|)")
KEYS = ["a", "b", "ab", "A", "Éa", "éa", "foo", "foo1", "/x/y?z=1", "x y", "10.0.0.1", "x,y", "p;q", "007", "12", "0x1F", "", "-", "null", "ß", "日本",
        "c\\d", "it's", "k=v", "\x1fs", "\x1e", "a\u0301"]  # fmt: skip
HARSH = ['say "hi"', "two\nlines", "cr\r\nlf", '"', '"",', "\n", "a\tb", 'x"y', "\\", '\\"', "\r", "a\r"]
PATTERNS = ["a", "^a", "b$", "[0-9]+", "foo|ab", "x.y", "^$", "A", r"\.", "[^a]", "(a)(b)?", "o+"]
EXTRACTS = [["[0-9]+"], [r"(?P<ip>[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+)"], [r"(?P<unit>[a-z]+)[ =:](?P<amount>[0-9]+)"], ["(?P<n1>[0-9]+)"], ["([a-z])([0-9])?"], ["fo+", "[0-9]+"], ["[a-z]+"], ["(?P<w>[a-z]+).(?P<v>[0-9])"], ["a|b"], ["[^ ]+$"], ["^."],
            ["(x)|(y)"], ["(f)oo", "ab"], [r"\S+"], ["z{3}"]]  # fmt: skip
SEDS = [("a", "X"), ("[0-9]+", "<n>"), ("^", "-"), ("(.)b", "$1$1"), (".*", ""), ("o*", "_"), (r"\.", "")]
BLOCKS = ["1", "2", "3", "5", "7", "13", "16", "31", "64", "100", "999", "4K", "64K"]
WIDE = Counter()
TIMEOUT, TIMED_OUT = 60, 124


# Values


def number(value: bytes) -> tuple[Fraction, int] | str:
    """The number and its places, 'none' for no value, 'bad', or 'out of range'."""
    if value in (b"", b"-"):
        return "none"
    match = NUMBER.fullmatch(value.decode("utf-8", "replace").replace("\u03bc", "µ"))
    if match is None or not (match[2] or match[3]):
        return "bad"
    seconds, unit_places = UNITS[match[5]]
    exponent = int(match[4] or 0) - len(match[3] or "") - unit_places
    digits = int((match[2] or "") + (match[3] or "")) * seconds
    if digits and exponent > 100:
        return "out of range"
    result = Fraction(0) if not digits or exponent < -400 else Fraction(digits) * Fraction(10) ** exponent
    result = Fraction(round(result * 10**18), 10**18)
    if result >= 10**20:
        return "out of range"
    return (-result if match[1] == "-" else result), min(max(-exponent, 0), 18)


# Conditions have numbers of any length, with units of time and size, and exponents of at most 17 digits.
EXACT = Context(prec=5000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
SIZES = {"B": 1, "k": 10**3, "kB": 10**3, "KB": 10**3, "M": 10**6, "MB": 10**6, "G": 10**9, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "TiB": 2**40}  # fmt: skip
EXACT_NUMBER = re.compile(r"([+-]?[0-9]*(?:\.[0-9]*)?(?:[eE][+-]?0*[0-9]{1,17})?)(" + "|".join([*SIZES, "ns|us|µs|ms|s|m|h|d|"]) + ")")


def exact_number(value: bytes) -> Decimal | None:
    """The number in a condition."""
    match = EXACT_NUMBER.fullmatch(value.decode("utf-8", "replace").replace("\u03bc", "µ"))
    if match is None or not re.match(r"[+-]?\.?[0-9]", match[1]):
        return None
    factor, places = (SIZES[match[2]], 0) if match[2] in SIZES else UNITS[match[2]]
    return EXACT.scaleb(EXACT.multiply(EXACT.create_decimal(match[1]), Decimal(factor)), -places)


def decimal(value: Fraction) -> str:
    """The digits of a number with at most 18 places."""
    units = value * 10**18
    assert units.denominator == 1
    whole, rest = divmod(abs(units.numerator), 10**18)
    places = f".{rest:018}".rstrip("0").rstrip(".")
    return ("-" if value < 0 else "") + str(whole) + places


def lower(text: bytes) -> bytes:
    return raw("".join(char.lower() for char in runes(text)))


def random_number(rng: random.Random) -> str:
    kind = rng.randrange(21)
    if kind < 7:
        return str(rng.randrange(-3, 100))
    if kind == 20:
        return rng.choice(LONG)
    if kind < 11:
        return f"{rng.randrange(-1000, 100000) / 100:.{rng.randrange(4)}f}"
    if kind < 13:
        return str(rng.randrange(10 ** rng.randrange(1, 21))) + rng.choice(["", ".", ".5", f".{rng.randrange(10**12):012}"])
    if kind == 13:
        return rng.choice(["1e3", "1.5E-2", "12e-19", "-.5", "+7", "1e19", "99999999999999999999", "1e20", "-1e20", "0e999", "1e-400", "5e-19", "15e-19", "-0", "00012",
                           "0.000000000000000001", "123456789012345678", "9223372036854775807", "-9223372036854775808", "18446744073709551616"])  # fmt: skip
    if kind < 16:
        return str(rng.randrange(5000)) + rng.choice(["", ".25"]) + rng.choice(["ns", "us", "µs", "ms", "s", "m", "h", "d"])
    if kind == 16:
        return rng.choice(["", "-"])
    if kind == 17:
        return rng.choice(["x", "1x", "1 ", " 1", "1,5", "0x10", "NaN", "inf", "--1", ".", "e5", "1e", "1.2.3", "1_000", "٣"])
    return str(rng.randrange(3))


# Numbers that differ in a late digit or by their units alone.
LONG = ["1e20", "-1e20", "100000000000000000001", "99999999999999999999", "99999999999999999999.5", "0.0000000000000000000015", "15e-22", "1.5e-21", "9223372036854775807",
        "9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e99999999999999999", "1e-99999999999999999",
        "0e99999999999999999", "340282366920938463463374607431768211456", "1KiB", "1024", "1.024k", "1024B", "0.5MiB", "524288", "524.288kB", "3600s", "1h",
        "60m", "0.0416666666666666666666666666666667d", "1TiB", "1.099511627776TB", "1099511627776", "3600000ms", "3600000000000ns", "1" + 60 * "0", "1e60",
        "0." + 40 * "0" + "1", "1e-41", "3141592653589793238462643383279502884197", "3141592653589793238462643383279502884198"]  # fmt: skip


def random_text(rng: random.Random, harsh: float = 0.25) -> str:
    return rng.choice(HARSH) if rng.random() < harsh else rng.choice(KEYS)


# Tables


class Table:
    """A file, and for each record its text without line end and its fields; fields are None for one that is no record of the format."""

    def __init__(self, flags: list[str], fields: list, text_fields: list, number_fields: list):
        self.flags, self.fields, self.text_fields, self.number_fields = flags, fields, text_fields, number_fields
        self.header = b""
        self.rows: list[tuple[bytes, bytes, dict | None]] = []  # Bytes, record, fields.
        self.columns = 0  # Columns of the header, under which short records are malformed.
        self.splits = None

    def content(self) -> bytes:
        return self.header + b"".join(row[0] for row in self.rows)

    def add(self, record: bytes, end: bytes, fields: dict | None) -> None:
        self.rows.append((record + end, record, fields))


def row_values(rng: random.Random) -> dict[str, str | None]:
    return {"k": rng.choice(KEYS[:9]), "t": random_text(rng), "n": random_number(rng), "x": random_number(rng)}


def number_of_rows(rng: random.Random) -> int:
    return rng.choice([0, 1, 2, 3, 5, 10, 10, 30, 30, 100, 300, 1000 if rng.random() < 0.2 else 50])


def csv_table(rng: random.Random) -> Table:
    delimiter = rng.choice([",", ",", ",", ";", "|", "\t", " ", "'"])
    header = rng.random() < 0.7
    names = ["k", "t", "n", "x"]
    order = names + (["extra"] if rng.random() < 0.3 else [])
    rng.shuffle(order)
    positions = {name: order.index(name) + 1 for name in names}
    flags = ["--input", "csv"] + ([] if header else ["--no-header"])
    if delimiter != ",":
        flags += ["-p", "\\t" if delimiter == "\t" else delimiter]
    pick = lambda name: name if header and rng.random() < 0.7 else (positions[name] if rng.random() < 0.7 else positions[name] - len(order) - 1)
    texts, numbers = [pick("k"), pick("t")], [pick("n"), pick("x")]
    table = Table(flags, texts + numbers, texts, numbers)
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    always = rng.random() < 0.2

    def cell(text: str) -> bytes:
        must = text[:1] == '"' or delimiter in text or "\n" in text or "\r" in text
        if must or always or rng.random() < 0.1:
            return b'"' + text.encode().replace(b'"', b'""') + b'"'
        return text.encode()

    def line(values: list[str]) -> bytes:
        return delimiter.encode().join(map(cell, values))

    if header:
        table.header = (b"\xef\xbb\xbf" if rng.random() < 0.1 else b"") + line(order) + end
        table.columns = len(order)
    for _ in range(number_of_rows(rng)):
        values = row_values(rng) | {"extra": "e"}
        cells = [values[name] for name in order]
        if rng.random() < 0.05:
            cells = cells[: rng.randrange(1, 5)]
        if rng.random() < 0.03:
            cells.append("more")
        record = line(cells)
        if not record:
            continue
        fields = {}
        for index, text in enumerate(cells):
            fields[index + 1] = text.encode()
            if header:
                if index < len(order):
                    fields[index - len(order)] = text.encode()
                    fields[order[index]] = text.encode()
            else:
                fields[index - len(cells)] = text.encode()
        table.add(record, end if rng.random() < 0.98 else b"\n", fields)
        if rng.random() < 0.03:
            table.add(b"", end, {"": b""})
    return table


def tsv_table(rng: random.Random) -> Table:
    header = rng.random() < 0.7
    flags = ["--input", "tsv"] + ([] if header else ["--no-header"])
    order = ["k", "t", "n", "x"]
    rng.shuffle(order)
    pick = lambda name: name if header else order.index(name) + 1
    table = Table(flags, [pick(name) for name in "ktnx"], [pick("k"), pick("t")], [pick("n"), pick("x")])
    end = rng.choice([b"\n", b"\r\n"])
    if header:
        table.header, table.columns = "\t".join(order).encode() + end, 4
    for _ in range(number_of_rows(rng)):
        values = row_values(rng)
        cells = [re.sub(r"[\t\n\r]", "", values[name]).encode() for name in order]
        cells = cells[: rng.choice([4] * 20 + [1, 2, 3])]
        record = b"\t".join(cells)
        if record:
            fields = {index + 1: cell for index, cell in enumerate(cells)}
            table.add(record, end, fields | ({order[index]: cell for index, cell in enumerate(cells)} if header else {}))
    return table


def json_string(rng: random.Random, text: str) -> str:
    parts = []
    for char in text:
        plain = json.dumps(char, ensure_ascii=False)[1:-1]
        if char == "/" and rng.random() < 0.3:
            plain = "\\/"
        if rng.random() < 0.05 and ord(char) < 0x10000:
            plain = f"\\u{ord(char):04x}" if rng.random() < 0.5 else f"\\u{ord(char):04X}"
        parts.append(plain)
    return '"' + "".join(parts) + '"'


def json_table(rng: random.Random) -> Table:
    table = Table(["--input", "json"], ["k", ".t", "n", ".m.x", ".l[1]"], ["k", ".t", ".l[1]"], ["n", ".m.x", ".l[1]"])
    blank = lambda: rng.choice(["", "", "", " ", "\t "])
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    for _ in range(number_of_rows(rng)):
        values, fields, members = row_values(rng), {}, []

        def value(text: str, numeric: bool) -> tuple[str, bytes | None]:
            if numeric and re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", text) and rng.random() < 0.8:
                return text, text.encode()
            if rng.random() < 0.05:
                literal = rng.choice(["null", "true", "false", "{}", "[]", '{"k":"in"}', "[1,[2]]", '{"t": "]}" }'])
                return literal, None if literal == "null" else literal.encode()
            return json_string(rng, text), text.encode()

        def member(key: str, shown: str) -> str:
            return f"{blank()}{json_string(rng, key)}{blank()}:{blank()}{shown}{blank()}"

        for name in ("k", "t", "n"):
            if rng.random() < 0.9:
                shown, fields["." + name if name == "t" else name] = value(values[name], name == "n")
                members.append((member(name, shown), name))
        if rng.random() < 0.9:
            shown, fields[".m.x"] = value(values["x"], True)
            inner = [member("y", "1"), member("x", shown)]
            rng.shuffle(inner)
            members.append((member("m", "{" + ",".join(inner) + "}"), "m"))
        if rng.random() < 0.7:
            shown, fields[".l[1]"] = value(random_number(rng), True)
            members.append((member("l", "[" + ",".join([rng.choice(['"["', "1", "{}", "[2, 3]"]), blank() + shown + blank(), "null"][: rng.choice([2, 3])]) + "]"), "l"))
        elif rng.random() < 0.5:
            members.append((member("l", rng.choice(["[]", "[7]", "{}", '"s"'])), "l"))
        if rng.random() < 0.3:
            members.append((member(random_text(rng) + "#", rng.choice(["1", '"{"', "[[]]", '{"a":[{}]}', '"\\\\"'])), "o"))
        rng.shuffle(members)
        if members and rng.random() < 0.1:  # A duplicate: the first counts.
            members.append((member(members[0][1], '"late"'), "d")) if members[0][1] != "o" else None
        record = (blank() + "{" + ",".join(text for text, _ in members) + "}" + blank()).encode()
        json.loads(record)
        table.add(record, end, {name: value for name, value in fields.items() if value is not None})
        if rng.random() < 0.02:
            table.add(b"", end, {})
    return table


def logfmt_table(rng: random.Random) -> Table:
    table = Table(["--input", "logfmt"], ["k", "t", "n", "x"], ["k", "t"], ["n", "x"])
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    for _ in range(number_of_rows(rng)):
        values, fields, pairs = row_values(rng), {}, []
        for name in rng.sample(list(values), 4):
            text = values[name]
            if rng.random() < 0.1:
                continue
            if rng.random() < 0.03:
                pairs.append(name)
                text = "true"
            elif re.search(r'[\s"\\]', text) or rng.random() < 0.2:
                pairs.append(f"{name}=" + json_string(rng, text))
            else:
                pairs.append(f"{name}={text}")
            fields[name] = text.encode()
        if pairs and rng.random() < 0.1:
            pairs.append(pairs[0].split("=")[0] + "=late")
        if rng.random() < 0.3:
            pairs.insert(rng.randrange(len(pairs) + 1), rng.choice(["word", "kk=1", "nn", 'q="a=b n=9 k=z"', "z=a=b", "tk=\"\""]))
        record = rng.choice(["", "", " "]).encode() + rng.choice([" ", " ", "  ", "\t"]).join(pairs).encode() + rng.choice(["", "", " "]).encode()
        table.add(record, end, fields)
    return table


def access_table(rng: random.Random) -> Table:
    combined = rng.random() < 0.6
    if combined:
        table = Table(["--input", "combined"], [], ["remote_addr", "path", "method", "query", "user_agent", "status"], ["bytes", "status"])
    else:
        log_format = '$remote_addr [$time_local] "$request" $status $body_bytes_sent rt=$request_time "$http_user_agent"'
        table = Table(["--input", "nginx:" + log_format], [], ["remote_addr", "status", "request", "http_user_agent"], ["body_bytes_sent", "request_time"])
    table.fields = table.text_fields + table.number_fields
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    for _ in range(number_of_rows(rng)):
        address, status = rng.choice(["1.2.3.4", "10.0.0.1", "::1", "h"]), rng.choice(["200", "404", "500", "301"])
        size, seconds = rng.choice([str(rng.randrange(5000)), "-", "0"]), f"{rng.randrange(3000) / 1000:.3f}"
        method, path, query = rng.choice(["GET", "POST", "X"]), rng.choice(["/", "/a", "/a/b", "/é", "/a%20b"]), rng.choice([None, None, "x=1", "", "a=b?c"])
        agent = rng.choice(["-", "ua 1.0 (x; y)", "\\x22q", 'a\\"b', "", "Mozilla/5.0"])
        request = f"{method} {path}{'' if query is None else '?' + query} HTTP/1.1"
        if combined:
            record = f'{address} - {rng.choice(["-", "bob"])} [17/May/2015:10:05:03 +0000] "{request}" {status} {size} "-" "{agent}"'
            fields = {"remote_addr": address, "path": path, "method": method, "query": query, "user_agent": agent, "status": status, "bytes": size}
        else:
            record = f'{address} [17/May/2015:10:05:03 +0000] "{request}" {status} {size} rt={seconds} "{agent}"'
            fields = {"remote_addr": address, "status": status, "request": request, "http_user_agent": agent, "body_bytes_sent": size, "request_time": seconds}
        table.add(record.encode(), end, {name: text.encode() for name, text in fields.items() if text is not None})
    return table


def lines_table(rng: random.Random) -> Table:
    kind = rng.choice(["blanks", "quotes", "regex"])
    flags = {"blanks": [], "quotes": ["-q"], "regex": ["-p", "[;,]+"]}[kind]
    table = Table(flags, [1, 2, 3, -1, -2], [1, 2, -1], [3, -2])
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    table.splits = kind
    for _ in range(number_of_rows(rng)):
        words = [rng.choice([random_text(rng, 0.1), random_number(rng)]).replace("\n", "") for _ in range(rng.choice([0, 1, 2, 3, 3, 3, 4, 5]))]
        if kind == "quotes":
            words = ['"' + word.replace("\\", "").replace('"', '\\"') + '"' if rng.random() < 0.3 else word for word in words]
        record = rng.choice([" ", " ", "  ", "\t", ";", ",;"]).join(words).encode().replace(b"\r", b"")
        if kind == "blanks":
            parts = [part for part in re.split(rb"[ \t]+", record) if part]
        elif kind == "quotes":
            parts, is_open = quoted(record)
            if is_open:
                continue  # Malformed only if a field after the quote is wanted.
        else:
            parts = re.split(rb"[;,]+", record)
        fields = {index + 1: part for index, part in enumerate(parts)}
        fields |= {index - len(parts): part for index, part in enumerate(parts)}
        table.add(record, end, fields)
    return table


def regex_table(rng: random.Random) -> Table:
    pattern = rng.choice([r"^(?P<k>\S*) +(?P<n>[^ ]+)(?: (?P<t>.*))?$", r"(?P<n>[0-9.]+)(?P<k>[a-z]+)(?P<t>.)?", r"<(?P<k>[^>]*)><(?P<n>[^>]*)>(?:<(?P<t>[^>]*)>)?"])
    table = Table(["--input", "regex:" + pattern], ["k", "t", "n"], ["k", "t"], ["n"])
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    for _ in range(number_of_rows(rng)):
        text, other, value = re.sub(r"[\r\n]", "", random_text(rng)), rng.choice(KEYS[:9]), random_number(rng)
        record = rng.choice(["{0} {1} {2}", "{1}{0}{2}", "<{0}><{1}><{2}>", "<{0}><{1}>", "{0} {1}", "{2}"]).format(other, value, text).encode()
        match = re.compile(pattern, re.ASCII).search(runes(record))
        fields = {name: raw(group) for name, group in match.groupdict().items() if group is not None} if match else None
        table.add(record, end, fields)
    return table


def syslog_table(rng: random.Random) -> Table:
    names = ["time", "host", "program", "pid", "message"]
    table = Table(["--input", "syslog"], names, ["host", "program", "message", "time"], ["pid"])
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    for _ in range(number_of_rows(rng)):
        time = f"{rng.choice(['Oct', 'Jan', 'Dec'])} {rng.randrange(1, 32):2} {rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        host, program, pid = rng.choice(["web1", "db-2", "10.0.0.1"]), rng.choice(["sshd", "cron", "kernel", "a/b"]), rng.choice([None, "1", "24200", "7"])
        message = re.sub(r"[\r\n]", "", random_text(rng)).strip(" ") or "x"
        record = f"{time} {host} {program}{f'[{pid}]' if pid else ''}: {message}"
        fields = {name: value.encode() for name, value in zip(names, [time, host, program, pid, message]) if value is not None}
        if rng.random() < 0.05:
            record, fields = rng.choice(["no time", "<999>x", "Oct 11", "2025", f"{time}"]), None
        table.add(record.encode(), end, fields)
    return table


def sample_table(rng: random.Random, sample: sample_records.Sample) -> Table:
    """Records of a sample file."""
    records = sample_records.some(rng, sample, rng.choice([3, 20, 100, 400]))
    names = sample.names()
    fields = rng.sample(names, min(len(names), 6))
    numbers = rng.sample(sample.number_names(), min(len(sample.number_names()), 3)) or fields[:1]
    table = Table(sample.flags, list(dict.fromkeys(fields + numbers)), fields, numbers)
    end = rng.choice([b"\n", b"\n", b"\r\n"])
    table.header = sample.header
    for record, fields in records:
        table.add(record, end, fields)
    return table


TABLES = [csv_table, csv_table, csv_table, tsv_table, json_table, json_table, logfmt_table, access_table, lines_table, regex_table, syslog_table]


# Questions


class Question:
    def __init__(self, rng: random.Random, table: Table):
        some = lambda chance: rng.random() < chance
        self.ignore_case = some(0.2)
        self.extract = rng.choice(EXTRACTS) if some(0.15) else []
        self.each = bool(self.extract) and some(0.5)
        groups = [name for pattern in self.extract for name in re.findall(r"\?P<(\w+)>", pattern)]
        self.fields = rng.sample(table.fields, rng.choice([1, 1, 1, 2, 2, 3])) if some(0.85 if not self.extract else 0.2) else []
        if groups and some(0.3):
            self.fields.append(groups[0])
        self.missing = rng.choice([None, None, None, "NONE", "", "-"])
        self.normalize = None
        self.seds = [rng.choice(SEDS) for _ in range(rng.choice([0] * 8 + [1, 2]))]
        self.greps = [rng.choice(PATTERNS) for _ in range(rng.choice([0] * 8 + [1, 2]))]
        self.vgreps = [rng.choice(PATTERNS) for _ in range(rng.choice([0] * 8 + [1]))]
        self.condition = condition(rng, table, 0) if some(0.4) else None
        self.measures = []
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 6])):
            kind = rng.choice(["sum", "sum", "mean", "min", "max", "p50", "p95", "p99", "distinct", "percentile"])
            field = rng.choice(table.number_fields * 4 + table.text_fields + groups * 4)
            percentile = rng.choice(["0", "1", "12.5", "33.333", "75", "99.9", "100"]) if kind == "percentile" else {"p50": "50", "p95": "95", "p99": "99"}.get(kind)
            name = (percentile if percentile else kind, field)
            if all(known[:2] != name for known in self.measures):
                self.measures.append((*name, kind))
        self.order = rng.choice(["count"] * 5 + ["key"] + (["measure"] * 3 if self.measures else []))
        if self.order == "measure":
            self.order = rng.randrange(len(self.measures))
        self.reverse = some(0.2)
        self.min_count = rng.choice([1, 1, 1, 1, 2, 3])
        self.number = rng.choice(["all", "all", "10", "3", "1", "0"])
        self.percent, self.cumulative, self.totals = some(0.2), some(0.2), some(0.2)
        # -p and -q need a field with a number.
        has_numbers = any(isinstance(field, int) for field in self.names())
        self.format = table.flags if has_numbers or table.flags[:1] not in (["-p"], ["-q"]) else []

    def names(self) -> set:
        return {*self.fields, *(field for _, field, _ in self.measures), *wanted(self.condition)}

    def measure_flags(self, kind: str, percentile: str, field) -> list[str]:
        return ["--percentile", f"{percentile}:{field}"] if kind == "percentile" else [f"--{kind}", str(field)]

    def arguments(self) -> list[str]:
        flags = ["-n", self.number]
        if self.fields:
            flags += ["-f", ",".join(str(field) for field in self.fields)]
        for pattern in self.extract:
            flags += ["-e", pattern]
        flags += ["--each"] if self.each else []
        flags += [] if self.missing is None else ["--missing", self.missing]
        flags += ["-i"] if self.ignore_case else []
        flags += ["--normalize", self.normalize] if self.normalize else []
        for pattern, replacement in self.seds:
            flags += ["-s", pattern, replacement]
        for pattern in self.greps:
            flags += ["-g", pattern]
        for pattern in self.vgreps:
            flags += ["-v", pattern]
        flags += ["--where", shown(self.condition)] if self.condition else []
        for percentile, field, kind in self.measures:
            flags += self.measure_flags(kind, percentile, field)
        if self.order != "count":
            name = self.order
            if isinstance(name, int):
                percentile, field, kind = self.measures[name]
                field = field.removeprefix(".") if isinstance(field, str) else field
                name = f"{'p' + percentile if percentile[0].isdigit() else percentile}({field})"
            flags += ["--sort", name]
        flags += ["--reverse"] if self.reverse else []
        flags += ["--min-count", str(self.min_count)] if self.min_count > 1 else []
        for name in ("percent", "cumulative", "totals"):
            flags += [f"--{name}"] if getattr(self, name) else []
        return flags


def condition(rng: random.Random, table: Table, depth: int):
    kind = rng.choice(["test"] * 4 + ["and", "or", "not"]) if depth < 3 else "test"
    if kind in ("and", "or"):
        return (kind, condition(rng, table, depth + 1), condition(rng, table, depth + 1))
    if kind == "not":
        return (kind, condition(rng, table, depth + 1))
    field = rng.choice(table.fields)
    operator = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    test = rng.choice(["present", "number", "number", "text", "fields", "match"])
    if test == "present":
        return (test, field)
    if test == "number":
        literal = rng.choice(["0", "1", "2", "5", "50", "-1", "1.5", "0.01", "99.5", "1s", "20ms", "2m", "1kB", "200", "1e3", "007", "12"] + LONG)
        return (test, rng.choice(table.number_fields + [field]), operator, literal)
    if test == "text":
        present = [row[2][field] for row in table.rows[:20] if row[2] and field in row[2]]
        literal = rng.choice(present).decode("utf-8", "replace") if present and rng.random() < 0.5 else rng.choice(KEYS[:12] + ["GET", "200", "É", "ÉA", 'a"b'])
        return (test, field, operator, literal)
    if test == "fields":
        return (test, field, operator, rng.choice(table.fields))
    return (test, field, rng.choice(["~", "!~"]), rng.choice(PATTERNS))


def shown(part) -> str:
    field = lambda field: f"${field}" if isinstance(field, int) else field
    text = lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    match part:
        case ("and", one, other):
            return f"({shown(one)}) && ({shown(other)})"
        case ("or", one, other):
            return f"({shown(one)} || {shown(other)})"
        case ("not", one):
            return f"!({shown(one)})"
        case ("present", name):
            return field(name)
        case ("number", name, operator, literal):
            return f"{field(name)} {operator} {literal}"
        case ("text", name, operator, literal):
            return f"{field(name)} {operator} {text(literal)}"
        case ("fields", one, operator, other):
            return f"{field(one)}{operator}{field(other)}"
        case ("match", name, operator, pattern):
            return f"{field(name)} {operator} {text(pattern)}"


def wanted(part) -> set:
    if part is None:
        return set()
    if part[0] in ("and", "or", "not"):
        return set().union(*map(wanted, part[1:]))
    return {part[1], part[3]} if part[0] == "fields" else {part[1]}


COMPARE = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def holds(part, fields: dict, ignore_case: bool) -> bool:
    fold = lower if ignore_case else lambda text: text
    match part:
        case ("and", one, other):
            return holds(one, fields, ignore_case) and holds(other, fields, ignore_case)
        case ("or", one, other):
            return holds(one, fields, ignore_case) or holds(other, fields, ignore_case)
        case ("not", one):
            return not holds(one, fields, ignore_case)
    value = fields.get(part[1])
    if value is None:
        return False
    match part:
        case ("present", _):
            return True
        case ("number", _, operator, literal):
            found = exact_number(value)
            return operator == "!=" if found is None else COMPARE[operator](found, exact_number(literal.encode()))
        case ("text", _, operator, literal):
            return COMPARE[operator](fold(value), fold(literal.encode()))
        case ("fields", _, operator, other):
            other = fields.get(other)
            if other is None:
                return False
            one_number, other_number = exact_number(value), exact_number(other)
            if one_number is None or other_number is None:
                return COMPARE[operator](fold(value), fold(other))
            return COMPARE[operator](one_number, other_number)
        case ("match", _, operator, pattern):
            return bool(regex(pattern, ignore_case).search(runes(value))) == (operator == "~")


def regex(pattern: str, ignore_case: bool) -> re.Pattern:
    return re.compile(compiled(pattern).pattern, re.ASCII | (re.IGNORECASE if ignore_case else 0))


def ordered(key: tuple[bytes, ...]) -> bytes:
    """The bytes of a key of several fields, by which equal counts are ordered."""
    return b"\x1f".join(field.replace(b"\x1e", b"\x1e\x02").replace(b"\x1f", b"\x1e\x01") for field in key) if len(key) > 1 else key[0]


def sortable(value: str | None) -> Fraction:
    """The rank of a result."""
    return Fraction(value or 0)


class Oracle:
    """The answer to a question, by a loop over the records."""

    def __init__(self, table: Table, question: Question):
        self.counts = {"records": 0, "skipped": 0, "malformed": 0, "unmatched": 0, "not_numbers": 0, "out_of_range": 0, "without_unit": 0}
        self.table, self.question = table, question
        self.groups: dict[tuple, list[list]] = {}
        self.key_counts: Counter = Counter()
        # Fields with numbers that have a unit of time, and how many others they have.
        self.with_unit: set = set()
        self.plain: Counter = Counter()
        self.extract = [regex(pattern, question.ignore_case) for pattern in question.extract]
        self.names = [name for pattern in self.extract for name in pattern.groupindex]
        greps, vgreps = ([regex(pattern, question.ignore_case) for pattern in patterns] for patterns in (question.greps, question.vgreps))
        for _, record, fields in table.rows:
            if fields == {"": b""}:
                continue
            text = runes(record)
            if all(one.search(text) for one in greps) and not any(one.search(text) for one in vgreps):
                self.add_record(record, fields)

    def add_record(self, record: bytes, fields: dict) -> None:
        question = self.question
        rows = [{}]
        if self.extract:
            rows = self.matches(runes(record))
            if not rows:
                self.counts["unmatched"] += 1
                return
        if fields is None:
            fields = {}
            need = lambda names: any(name not in self.names for name in names)
        else:
            need = lambda names: self.table.columns and any(name not in fields for name in names if name not in self.names)
        for groups in rows:
            values = fields | {name: value for name, value in groups.items() if isinstance(name, str) and name != "key"}
            if question.condition:
                if need(wanted(question.condition)):
                    self.counts["malformed"] += 1
                    return  # Once for all its matches.
                if not holds(question.condition, values, question.ignore_case):
                    continue
            if need({*question.fields, *(field for _, field, _ in question.measures)}):
                self.counts["malformed"] += 1
                return
            self.add_row(record, values, groups.get("key"))

    def matches(self, text: str) -> list[dict]:
        if len(self.extract) > 1:
            found = re.compile("|".join(f"(?:{one.pattern})" for one in self.extract), self.extract[0].flags).finditer(text)
        else:
            found = self.extract[0].finditer(text)
        rows = []
        for match in found:
            if not match[0]:
                continue
            groups = [None if group is None else raw(group) for group in match.groups()]
            if len(self.extract) > 1:
                # One group each, or the match of a pattern without groups.
                groups = [next((group for group in groups if group is not None), raw(match[0]))]
            row = {name: None if value is None else raw(value) for name, value in match.groupdict().items()}
            rows.append(row | {"key": groups if groups else [raw(match[0])]})
            if not self.question.each:
                break
        return rows

    def add_row(self, record: bytes, values: dict, extracted: list | None) -> None:
        question = self.question
        if question.fields:
            key = [values.get(field) for field in question.fields]
        elif extracted is not None:
            key = extracted
        else:
            key = [b"" if question.measures else record]
        is_single = question.measures and not question.fields and extracted is None  # All records have the same key.
        if question.missing is not None:
            key = [question.missing.encode() if value is None else value for value in key]
        if any(value is None for value in key):
            self.counts["skipped"] += 1
            return
        if self.is_text() or question.seds:
            key = [b" ".join(key)]
        if question.seds and not is_single:
            text = runes(key[0])
            for pattern, replacement in question.seds:
                text = replaced(regex(pattern, question.ignore_case), replacement, text)
            key = [raw(text)]
        if question.ignore_case:
            key = [lower(value) for value in key]
        key = tuple(key)
        self.counts["records"] += 1
        self.key_counts[key] += 1
        group = self.groups.setdefault(key, [[] for _ in question.measures])
        bad, out_of_range, plain = set(), set(), set()
        for index, (measure, field, _) in enumerate(question.measures):
            value = values.get(field) or b""
            if measure == "distinct":
                if value not in (b"", b"-"):
                    group[index].append(value)
                continue
            found = number(value)
            if found == "bad":
                bad.add(field)
            elif found == "out of range":
                out_of_range.add(field)
            elif found != "none":
                has_unit = value[-1:].isalpha()
                group[index].append((*found, has_unit))
                (self.with_unit if has_unit else plain).add(field)
        self.plain.update(plain)
        self.counts["not_numbers"] += len(bad)
        self.counts["out_of_range"] += len(out_of_range)
        self.counts["without_unit"] = sum(self.plain[field] for field in self.with_unit)

    def is_text(self) -> bool:
        """Whether the key has fields by position, which are one text."""
        return bool(self.question.fields) and any(isinstance(field, int) for field in self.question.fields)

    def value(self, index: int, values: list) -> str | None:
        measure, field, _ = self.question.measures[index]
        if measure == "distinct":
            return str(len(set(values)))
        values = sorted(found for found, _, has_unit in values if has_unit or field not in self.with_unit)
        if not values:
            return None
        if measure == "sum":
            places = self.field_places(field)
            return decimal(sum(values))
        if measure == "mean":
            places = min(18, 3 + self.field_places(field))
            return decimal(round(Fraction(sum(values), len(values)), places))
        if measure in ("min", "max"):
            return decimal(values[0] if measure == "min" else values[-1])
        rank = Fraction(measure) / 100 * len(values)
        return decimal(values[max(1, -(-rank.numerator // rank.denominator)) - 1])

    @cache
    def field_places(self, field) -> int:
        indexes = [index for index, (measure, other, _) in enumerate(self.question.measures) if other == field and measure != "distinct"]
        values = (value for group in self.groups.values() for index in indexes for value in group[index])
        return max((places for _, places, has_unit in values if has_unit or field not in self.with_unit), default=0)

    def top(self) -> list[tuple[tuple, int, list]]:
        question = self.question
        keys = []
        for key, count in self.key_counts.items():
            if count >= question.min_count:
                keys.append((key, count, [self.value(index, values) for index, values in enumerate(self.groups[key])]))
        keys.sort(key=lambda entry: ordered(entry[0]), reverse=question.order == "key" and question.reverse)
        if question.order == "count":
            keys.sort(key=lambda entry: entry[1] if question.reverse else -entry[1])
        elif question.order != "key":
            sign = 1 if question.reverse else -1
            keys.sort(key=lambda entry: (entry[2][question.order] is None, sign * sortable(entry[2][question.order])))
        return keys if question.number == "all" else keys[: int(question.number)]


# Checks


def run(comb: str, flags: list[str], path: Path | None, data: bytes | None = None, pipe: bool = False) -> tuple[int, bytes, bytes]:
    command = [comb, "top", *flags]
    if pipe:
        command = ["sh", "-c", f"cat {shlex.quote(str(path))} | {shlex.join(command)}"]
    elif path is not None:
        command.append(str(path))
    try:
        done = subprocess.run(command, input=data, stdin=None if data is not None else subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return TIMED_OUT, b"", b"no answer in %d seconds" % TIMEOUT
    errors = done.stderr
    for name in (path,):
        if name is not None:
            errors = errors.replace(str(name).encode(), b"FILE")
    return done.returncode, done.stdout, errors.replace(b"standard input", b"FILE")


def messages_are_clear(code: int, errors: bytes) -> bool:
    lines = errors.splitlines()
    if code not in (0, 1, 2) or (code == 2 and not lines):
        return False
    if lines and b"--where" in lines[0]:
        return lines[0].startswith(b"comb: ")
    return b"panicked" not in errors and all(line.startswith(b"comb: ") for line in errors.rstrip(b"\n").split(b"\n") if errors)


def sources(root: Path, content: bytes, rng: random.Random) -> tuple[Path, Path]:
    plain, packed = root / "t", root / "t.gz"
    plain.write_bytes(content)
    cuts = sorted(rng.randrange(len(content) + 1) for _ in range(rng.choice([0, 1, 3])))
    parts = [content[start:end] for start, end in zip([0, *cuts], [*cuts, len(content)])]
    packed.write_bytes(b"".join(gzip.compress(part, rng.choice([1, 6]), mtime=0) for part in parts))
    return plain, packed


def check_widths(comb: str, root: Path, content: bytes, flags: list[str], seed: int) -> str | None:
    rng = random.Random(seed)
    plain, packed = sources(root, content, rng)
    expected = run(comb, ["-j1", *flags], plain)
    if not messages_are_clear(expected[0], expected[2]):
        return f"exit status or messages: {expected[0]} {expected[2]!r:.500}"
    if len(content) > 300_000:
        blocks = ["999", "4K", "64K", "1M"]
    else:
        blocks = BLOCKS if len(content) < 30_000 else BLOCKS[4:]
    for how in rng.sample(["file", "file", "pipe", "gzip", "one"], 3):
        block = ["--block-size", rng.choice(blocks)]
        width = ["-j1"] if how == "one" else [rng.choice(["-j7", "-j7", "-j2", "-j3", "-j64"])]
        WIDE[how] += 1
        found = run(comb, [*width, *block, *flags], packed if how == "gzip" else plain, pipe=how == "pipe")
        if found != expected:
            return f"{shlex.join([*width, *block])} ({how}): {found!r:.600} instead of {expected!r:.600}"
    return None


def found_key(entry: dict) -> tuple[bytes, ...]:
    exact = entry.get("key_base64")
    if isinstance(entry["key"], dict):
        return tuple(base64.b64decode(exact[name]) if exact and name in exact else text.encode() for name, text in entry["key"].items())
    return (base64.b64decode(exact) if exact else entry["key"].encode(),)


def share(part: int, whole: int) -> str:
    hundredths = (part * 20_000 + whole) // (2 * whole)
    return f"{hundredths // 100}.{hundredths % 100:02}"


def check_oracle(comb: str, root: Path, table: Table, question: Question, flags: list[str], seed: int) -> str | None:
    plain = root / "t"
    plain.write_bytes(table.content())
    width = random.Random(seed).choice([["-j1"], ["-j7", "--block-size", "64"], []])
    code, out, errors = run(comb, [*width, *flags, "--format", "json"], plain)
    if code == 2 and not table.content():
        return None
    oracle = Oracle(table, question)
    if code != (0 if oracle.counts["records"] else 1):
        return f"exit status {code}, {errors!r:.500}, the oracle has {oracle.counts}"
    answer = json.loads(out, parse_float=str, parse_int=str)
    for name, count in (oracle.counts | {"distinct": len(oracle.key_counts)}).items():
        if answer.get(name, "0") != str(count):
            return f"{name}: {answer.get(name)} instead of {count}; {errors!r:.500}"
    expected, so_far, total = [], 0, oracle.counts["records"]
    for key, count, values in oracle.top():
        so_far += count
        row = [str(count)]
        row += [share(count, total)] if question.percent else []
        row += [str(so_far)] if question.cumulative else []
        row += [share(so_far, total)] if question.cumulative and question.percent else []
        expected.append((key, row + values))
    found = []
    for entry in answer["top"]:
        found.append((found_key(entry), [value for name, value in entry.items() if not name.startswith("key")]))
    if len(question.fields) > len(set(question.fields)):
        return None
    take_estimates(oracle, expected, found)
    if found != expected:
        wrong = next((pair for pair in zip(found, expected) if pair[0] != pair[1]), None)
        return f"{len(found)} keys, {len(expected)} expected; {wrong!r:.600}"
    fault = check_files(comb, [*width, *flags, "--format", "json"], root / "files", table, (code, out), seed)
    return fault or check_forms(comb, [*width, *flags], plain, expected, oracle)


def take_estimates(oracle: Oracle, expected: list, found: list) -> None:
    """Takes over percentiles of more than 1024 values that are at most 2^-8 off."""
    for (key, values), (_, found_values) in zip(expected, found):
        first = len(values) - len(oracle.question.measures)
        for index, (measure, _, _) in enumerate(oracle.question.measures):
            exact, estimate = values[first + index], found_values[first + index]
            if measure[0].isdigit() and len(oracle.groups[key][index]) > 1024 and abs(Fraction(exact) - Fraction(estimate)) * 256 <= abs(Fraction(exact)):
                values[first + index] = estimate


def check_files(comb: str, flags: list[str], folder: Path, table: Table, expected: tuple[int, bytes], seed: int) -> str | None:
    """Whether the answer is the same if the records are in several files of a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "sub").mkdir(parents=True)
    rng = random.Random(seed)
    cuts = sorted(rng.randrange(len(table.rows) + 1) for _ in range(rng.choice([1, 3])))
    for index, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(table.rows)])):
        content = table.header + b"".join(row[0] for row in table.rows[start:end])
        path = folder / rng.choice([".", "sub"]) / f"{index}.log"
        path.write_bytes(gzip.compress(content) if rng.random() < 0.2 else content)
    found = run(comb, flags, folder)
    return None if found[:2] == expected else f"{len(cuts) + 1} files in {folder}: {found!r:.400} instead of {expected!r:.400}"


def check_forms(comb: str, flags: list[str], plain: Path, expected: list, oracle: Oracle) -> str | None:
    """Whether the answer is the same in the other formats."""
    has_key = bool(oracle.question.fields or oracle.extract or not oracle.question.measures)
    rows = [[value.encode() if value else b"" for value in values] + (list(key) if has_key else []) for key, values in expected]
    out = run(comb, [*flags, "--format", "csv"], plain)[1]
    found = list(csv.reader(io.StringIO(out.decode("latin-1"), newline="")))[1:]
    found = [[cell.encode("latin-1") for cell in row] for row in found]
    if found != [row for row in rows] and [b""] not in rows:
        return f"--format csv: {found!r:.400} instead of {rows!r:.400}"
    out = run(comb, [*flags, "--format", "tsv"], plain)[1]
    unescape = lambda cell: re.sub(rb"\\(.)", lambda match: {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}[match[1]], cell)
    found = [[unescape(cell) for cell in line.split(b"\t")] for line in out.split(b"\n")[1:-1]]
    if found != rows:
        return f"--format tsv: {found!r:.400} instead of {rows!r:.400}"
    numbers = len(expected[0][1]) if expected else 0
    out = run(comb, [*flags, "--format", "markdown"], plain)[1]
    found = out.decode().split("\n")[2:-1]
    rows_found = [f"| {' | '.join([cell.decode() for cell in row[:numbers]] + [markdown(cell) for cell in row[numbers:]])} |" for row in rows]
    if found != rows_found:
        return f"--format markdown: {found!r:.400} instead of {rows_found!r:.400}"
    out = run(comb, [*flags, "--format", "text"], plain)[1]
    return check_text(out, rows, numbers, oracle.question)


def markdown(key: bytes) -> str:
    names = {"\n": "<br>", "&": "&amp;", "<": "&lt;"} | {char: "\\" + char for char in "|\\`*_[]~"}
    shown = lambda char: names.get(char) or (" " if unicodedata.category(char) == "Cc" else char)
    return "".join(map(shown, key.decode("utf-8", "replace")))


def rounded_means(rows: list[list[bytes]], numbers: int, question: Question) -> list[list[bytes]]:
    """The rows with means as in text: of six decimal places, or as many as show four digits of the least of their column."""
    rows = [list(row) for row in rows]
    for column, (kind, _, _) in enumerate(question.measures, numbers - len(question.measures)):
        means = {index: Decimal(row[column].decode()) for index, row in enumerate(rows) if kind == "mean" and re.fullmatch(rb"-?[0-9.]+", row[column])}
        places = max([6, *(3 - mean.adjusted() for mean in means.values() if mean)])
        for index, mean in means.items():
            rows[index][column] = decimal(round(Fraction(mean), places)).encode()
    return rows


def check_text(out: bytes, rows: list[list[bytes]], numbers: int, question: Question) -> str | None:
    """Whether the text has the numbers of each row in order, followed by the fields of its key."""
    lines = out.split(b"\n")[:-1]
    if question.totals:
        lines = lines[:-1]
    is_plain = not (question.measures or question.percent or question.cumulative)
    if not is_plain and rows:
        lines = lines[1:]
    if len(lines) != len(rows):
        return f"--format text: {len(lines)} lines instead of {len(rows)}: {out!r:.400}"
    for line, row in zip(lines, rounded_means(rows, numbers, question)):
        key = [re.escape(cell.replace(b"\n", b"\\n")) for cell in row[numbers:]]
        # The numbers of a column have the same number of decimal places.
        values = [re.escape(value or b"-") + (b"0*" if b"." in value else rb"(?:\.0+)?") for value in row[:numbers]]
        pattern = b" *" + b"  +".join(values) + (b" " + b" ".join(key) if is_plain else b"".join(b"  " + cell + b" *" for cell in key))
        if not re.fullmatch(pattern, line, re.DOTALL):
            return f"--format text: {line!r:.400} instead of {row!r:.400}"
    return None


def damaged(rng: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 3, 20])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(9)
        if kind == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.choice([1, 3, 50])]
        elif kind == 2:
            data[at:at] = rng.choice([b'"', b'""', b"'", b"\\", b'\\"'])
        elif kind == 3:
            data[at:at] = b"\0" * rng.choice([1, 8])
        elif kind == 4:
            data[at:at] = rng.choice([b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xc3", b"\xf8\x88\x80\x80\x80"])
        elif kind == 5:
            data[at:at] = rng.choice([b"[", b"{", b"]", b"}", b'{"a":', b"[{"]) * rng.choice([1, 2, 100, 20_000])
        elif kind == 6:
            data[at:at] = rng.choice([b"\n", b"\r", b"\r\n", b",", b"\t", b"=", b":", b" ", b"\n\n\n"])
        elif kind == 7 and rng.random() < 0.1:
            data[at:at] = rng.choice([b"x", b'"', b"9", b"a,", b"\\", b" k=", b"\xe9"]) * rng.choice([1000, 100_000, 3_000_000])
        elif kind == 8:
            del data[at:]
    return bytes(data)


def smaller(rows: list, fails) -> list:
    """Drops rows as long as the fault remains."""
    size = max(1, len(rows) // 2)
    tries = 0
    end = time.monotonic() + 2 * TIMEOUT
    while size >= 1 and tries < 150:
        at = 0
        while at < len(rows) and tries < 150 and time.monotonic() < end:
            tries += 1
            fewer = rows[:at] + rows[at + size :]
            if fails(fewer):
                rows = fewer
            else:
                at += size
        if size == 1 or time.monotonic() >= end:
            break
        size //= 2
    return rows


class Hunt:
    def __init__(self, arguments: argparse.Namespace):
        self.comb, self.keep, self.count = arguments.comb, Path(arguments.keep), arguments.questions
        self.root = self.keep / "now"
        self.root.mkdir(parents=True, exist_ok=True)
        self.questions = self.faults = self.sql_questions = 0
        self.duckdb = sql_oracle.connect()
        loaded = (sample_records.load(path) for folder in arguments.samples for path in sorted(Path(folder).iterdir()))
        self.samples = [sample for sample in loaded if sample]

    def report(self, name: str, content: bytes, flags: list[str], fault: str) -> None:
        self.faults += 1
        kept = self.keep / name
        kept.write_bytes(content)
        print(f"{name}: {shlex.join(['comb', 'top', *flags])} {kept}\n    {fault}", flush=True)

    def one(self, seed: int, number: int) -> None:
        rng = random.Random(seed * 1_000_003 + number)
        if self.duckdb:
            self.ask_duckdb(random.Random(seed * 1_000_003 + number), f"{seed}-{number}")
        table = sample_table(rng, rng.choice(self.samples)) if self.samples and rng.random() < 0.2 else rng.choice(TABLES)(rng)
        if table.rows and rng.random() < 0.2 and table.rows[-1][1]:
            last = table.rows[-1]
            table.rows[-1] = (last[1], *last[1:])
        is_damaged = rng.random() < 0.35
        for turn in range(self.count):
            self.questions += 1
            question = Question(rng, table)
            name, turn_seed = f"{seed}-{number}-{turn}", rng.randrange(1 << 30)
            if is_damaged:
                content = damaged(rng, table.content())
                self.widths(name, [content[at:end] for at, end in line_spans(content)], self.widened(rng, table, question), turn_seed)
                continue
            flags = [*question.format, *question.arguments()]
            # With -e, positions count groups.
            has_oracle = not question.extract or not any(isinstance(name, int) for name in question.names())
            fault = check_oracle(self.comb, self.root, table, question, flags, turn_seed) if has_oracle else None
            if fault:
                self.reduced(name, table, question, flags, turn_seed, fault)
            self.widths(name, [table.header, *(row[0] for row in table.rows)], self.widened(rng, table, question), turn_seed)

    def ask_duckdb(self, rng: random.Random, name: str) -> None:
        table = sql_oracle.SqlTable(rng)
        for turn in range(2):
            self.sql_questions += 1
            question, turn_seed = sql_oracle.SqlQuestion(rng, table), rng.randrange(1 << 30)
            all_rows = table.rows

            def check(rows: list) -> str | None:
                table.rows = rows
                return sql_oracle.check(self.duckdb, partial(run, self.comb), table, question, self.root / "s", turn_seed)

            fault = check(all_rows)
            if fault:
                table.rows = smaller(all_rows, check)
                self.report(f"{name}-{turn}-duckdb", table.header + b"".join(table.rows), question.flags, check(table.rows) or fault)
                table.rows = all_rows

    def widened(self, rng: random.Random, table: Table, question: Question) -> list[str]:
        """The flags of a question without an oracle, with more of them."""
        if rng.random() < 0.3:
            question.normalize = rng.choice(["all", "num", "hex,ip", "path,uuid"])
        flags = [*question.format, *question.arguments(), "--format", rng.choice(["text", "json", "csv", "tsv", "markdown"])]
        if rng.random() < 0.05:
            flags += ["--max-line", rng.choice(["1", "10", "30", "100"])]
        if rng.random() < 0.1 and flags[0] == "--input" and "-p" not in flags:
            flags = ["--input", rng.choice(["auto", "csv", "json", "logfmt", "combined", "syslog"]), *flags[2:]]
        return flags

    def widths(self, name: str, rows: list[bytes], flags: list[str], seed: int) -> None:
        check = lambda rows: check_widths(self.comb, self.root, b"".join(rows), flags, seed)
        fault = check(rows)
        if fault:
            rows = smaller(rows, check)
            self.report(name + "-widths", b"".join(rows), flags, check(rows) or fault)

    def reduced(self, name: str, table: Table, question: Question, flags: list[str], seed: int, fault: str) -> None:
        all_rows = table.rows

        def check(rows: list) -> str | None:
            table.rows = rows
            return check_oracle(self.comb, self.root, table, question, flags, seed)

        table.rows = smaller(all_rows, check)
        self.report(name + "-oracle", table.content(), flags, check(table.rows) or fault)
        table.rows = all_rows


def line_spans(content: bytes) -> list[tuple[int, int]]:
    ends = [match.end() for match in re.finditer(rb"\n", content)]
    return list(zip([0, *ends], [*ends, len(content)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="only the run with this number")
    parser.add_argument("--questions", type=int, default=5, help="questions on each table")
    parser.add_argument("--samples", nargs="*", default=[Path(__file__).parent.parent / "samples"], help="folders of files whose records are used, too")
    parser.add_argument("--keep", default="hunted", help="folder for the tables of faults")
    arguments = parser.parse_args()
    hunt = Hunt(arguments)
    for number in range(arguments.runs) if arguments.only is None else [arguments.only]:
        hunt.one(arguments.seed, number)
    print(f"{arguments.runs} runs, {hunt.questions} questions, {hunt.sql_questions} to DuckDB, {dict(WIDE)} other ways to read, {hunt.faults} faults")
    sys.exit(1 if hunt.faults else 0)


if __name__ == "__main__":
    main()
