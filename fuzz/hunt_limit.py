#!/usr/bin/env python3
"""Compares `comb grep --limit` and `--compact` with what follows from the whole output, on random trees and command lines.

    fuzz/hunt_limit.py [--comb PROGRAM] [--runs N] [--per-tree N] [--seed N] [--folder DIR]

Output with a limit must be the beginning of the whole output, up to the end of the last result. Compact output is computed from JSON.
Each command runs at two random widths and block sizes.
"""

import base64
import json
import random
import re
import shlex
from pathlib import Path

import hunt_grep
from random_trees import hunt, run_at_random_width

MATCH, CONTEXT = b"\x01", b"\x02"
SEPARATORS = ["--field-match-separator", r"\x01", "--field-context-separator", r"\x02"]
FLAGS = ["-i", "-w", "-x", "-v", "-o", "-a", "--binary", "--crlf", "-F", "-u", "-uu", "-P", "--vimgrep", "--passthru", "--color=always", "-b"]
SORTS = [[], [], [], ["--sort=path"], ["--sortr=path"], ["--sort=modified"], ["--sortr=modified"]]
NOTICE = re.compile(rb"(?:binary file matches|stopped searching binary file after match) \(found")
ESCAPE = re.compile(rb"\x1b\[[0-9;]*m")


class Case:
    """A query, without what the limit or the format adds."""

    def __init__(self, rng: random.Random, names: list[str]) -> None:
        self.flags = rng.sample(FLAGS, rng.choice([0, 0, 1, 2, 3])) + rng.choice(SORTS)
        self.after = 0
        if rng.random() < 0.4:
            self.after = rng.randrange(3)
            # These flags turn --passthru off.
            self.flags = [flag for flag in self.flags if flag != "--passthru"]
            self.flags += ["-A", str(self.after), "-B", str(rng.randrange(3))]
        self.per_file = 1 << 60
        if rng.random() < 0.15:
            self.per_file = rng.randrange(1, 4)
            self.flags += ["-m", str(self.per_file)]
        pattern = rng.choice(hunt_grep.PATTERNS)
        if rng.random() < 0.2:
            # Across lines, -o prints other lines than those in which matches begin, and -m with context counts fewer than it prints.
            self.flags = [flag for flag in self.flags if flag != "-o"] + ["-U"]
            if self.per_file < 1 << 60:
                self.per_file = 1 << 60
                del self.flags[self.flags.index("-m") : self.flags.index("-m") + 2]
            pattern = rng.choice(hunt_grep.MULTILINE)
        paths = rng.sample(names, 1) if rng.random() < 0.2 else []
        self.query = ["-e", pattern, *paths]

    def has(self, *flags: str) -> bool:
        return any(flag in self.flags for flag in flags)


def run(comb: str, rng: random.Random, arguments: list[str], root: Path) -> tuple[bytes, int]:
    done = run_at_random_width(comb, rng, arguments, root)
    return done.stdout, done.returncode


def cut(whole: bytes, limit: int, case: Case, starts: set | None) -> bytes:
    """The part of the whole output that has this many results. Notices that a file is binary are left out.

    A result begins at each matching line that is not the last one again, or at the given lines.
    """
    kept, results, in_file, after, last = [], 0, 0, 0, None
    for line in split(whole):
        plain = ESCAPE.sub(b"", line)
        if NOTICE.search(plain):
            path = plain.split(b": ", 1)[0]
            if last is None or path != last[0]:
                # The notice is the result of a file without printed lines.
                results += 1
                if results > limit:
                    break
                last = (path, b"")
            continue
        place = tuple(re.split(b"[\x01\x02]", plain)[:2]) if MATCH in plain or CONTEXT in plain else None
        if place is None:
            # A separator.
            if results == limit:
                break
        elif MATCH in plain and is_start(place, last, case, starts) and (last is None or place[0] != last[0] or in_file < case.per_file):
            in_file = 1 if last is None or place[0] != last[0] else in_file + 1
            results += 1
            after = case.after
            if results > limit:
                break
            last = place
        elif CONTEXT in plain or last is None or place[1] != last[1]:
            is_other = last is not None and place[0] != last[0]
            is_before = not case.has("--passthru") and MATCH not in plain and after == 0
            if results == limit and (is_other or is_before):
                break
            after -= CONTEXT in plain
        kept.append(line)
    return b"".join(kept)


def is_start(place: tuple, last: tuple | None, case: Case, starts: set | None) -> bool:
    if starts is not None:
        return place in starts and place != last
    return place != last or not case.has("-o", "--vimgrep")


def without_notices(text: bytes) -> bytes:
    return b"".join(line for line in split(text) if not NOTICE.search(line))


def starts_of_matches(messages: bytes) -> set:
    """Paths and numbers of the lines in which matches across lines begin."""
    bodies = (message["data"] for message in map(json.loads, messages.splitlines()) if message["type"] == "match")
    return {(data(body["path"]), str(body["line_number"]).encode()) for body in bodies}


def data(value: dict) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def boundary(line: bytes, offset: int) -> int:
    skipped = 0
    while offset + skipped < len(line) and skipped < 4 and line[offset + skipped] & 0xC0 == 0x80:
        skipped += 1
    return offset if skipped > 3 else offset + skipped


def excerpt(line: bytes, begin: int, most: int) -> bytes:
    if len(line) <= most:
        return line
    start = min(max(min(begin, len(line)) - most // 3, 0), len(line) - most)
    start, end = boundary(line, start), boundary(line, start + most)
    mark = "…".encode()
    return (mark if start > 0 else b"") + line[start:end] + (mark if end < len(line) else b"")


def compact(messages: bytes, most: int) -> bytes:
    """The compact output that shows these messages."""
    out = []
    for message in map(json.loads, messages.splitlines()):
        body = message["data"]
        if message["type"] == "begin":
            path = data(body["path"])
            out.append((b"./" if re.match(rb"\d+[:=-]", path) else b"") + path + b"\n")
        elif message["type"] in ("match", "context"):
            mark = b":" if message["type"] == "match" else b"-"
            # Context is cut at its end.
            first = body["submatches"][0]["start"] if body["submatches"] and mark == b":" else 0
            for number, line in enumerate(split(data(body["lines"]))):
                text = line[:-1] if line.endswith(b"\n") else line
                begin = first if number == 0 else 0
                out.append(str(body["line_number"] + number).encode() + mark + excerpt(text, begin, most) + b"\n")
    return b"".join(out)


def split(lines: bytes) -> list[bytes]:
    return re.findall(rb"[^\n]*\n|[^\n]+", lines)


def check_limit(comb: str, rng: random.Random, case: Case, root: Path) -> tuple[str, bytes, bytes] | None:
    limit = rng.choice([1, 1, 2, 3, 5, 10, 50])
    mode = rng.choice(["lines", "lines", "lines", "-l", "-c", "--files-without-match", "--files", "--json"])
    if mode == "lines":
        flags = ["-n", "-H", "--no-heading", *SEPARATORS, *case.flags]
        plain_flags = [flag for flag in case.flags if flag not in ("--passthru", "--vimgrep", "-o", "--color=always")]
        starts = starts_of_matches(run(comb, rng, [*plain_flags, "--json", *case.query], root)[0]) if case.has("-U") else None
        expected = lambda whole: cut(whole, limit, case, starts)
    elif mode == "--json":
        flags = ["--json", *(flag for flag in case.flags if flag not in ("--passthru",))]
        if "-A" in flags:
            del flags[flags.index("-A") : flags.index("-A") + 4]
        expected = lambda whole: cut_messages(whole, limit)
    else:
        flags = [mode, *case.flags]
        expected = lambda whole: b"".join(split(whole)[:limit])
    query = case.query if mode != "--files" else case.query[2:]
    whole, status = run(comb, rng, [*flags, *query], root)
    given, limited_status = run(comb, rng, [*flags, "--limit", str(limit), *query], root)
    if status != 2 and limited_status != status:
        return shlex.join([*flags, "--limit", str(limit), *query]), b"status %d" % status, b"status %d" % limited_status
    wanted, given = (hunt_grep.TIMES[0][0].sub(b"", text) for text in (expected(whole), given))
    if mode == "lines":
        given = without_notices(given)
    if mode == "--json":
        given = b"".join(line for line in split(given) if b'"type":"summary"' not in line)
        given = re.sub(rb'"bytes_printed":\d+', b"", given)
        wanted = re.sub(rb'"bytes_printed":\d+', b"", wanted)
    return None if wanted == given else (shlex.join([*flags, "--limit", str(limit), *query]), wanted, given)


def cut_messages(whole: bytes, limit: int) -> bytes:
    """Messages of the first results. A file without printed results has no other messages either."""
    kept, results, held = [], 0, b""
    is_shown = False
    for line in split(whole):
        kind = json.loads(line)["type"]
        if kind == "begin":
            held, is_shown = line, False
        elif kind == "match":
            results += 1
            if results <= limit:
                kept += [held, line]
                held, is_shown = b"", True
        elif kind == "end" and is_shown:
            kept.append(line)
    return b"".join(kept)


def check_compact(comb: str, rng: random.Random, case: Case, root: Path) -> tuple[str, bytes, bytes] | None:
    most = rng.choice([5, 20, 200])
    skipped = {"--vimgrep", "-o", "--crlf", "--color=always", "-b", "--passthru", "--binary"}
    flags = [*(flag for flag in case.flags if flag not in skipped), "-a"]
    messages, _ = run(comb, rng, [*flags, "--json", *case.query], root)
    size = [] if most == 200 else ["-M", str(most)]
    given, _ = run(comb, rng, [*flags, "--compact", "-H", *size, *case.query], root)
    wanted = compact(messages, most)
    return None if wanted == given else (shlex.join([*flags, "--compact", *size, *case.query]), wanted, given)


def check(comb: str, rng: random.Random, names: list[str], root: Path) -> tuple[str, bytes, bytes] | None:
    case = Case(rng, names)
    return rng.choice([check_limit, check_limit, check_compact])(comb, rng, case, root)


if __name__ == "__main__":
    hunt(hunt_grep.make_tree, check)
