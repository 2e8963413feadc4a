#!/usr/bin/env python3
"""Asks `comb` for completions of random command lines, and compares them with what files and help texts say.

    fuzz/hunt_completions.py [--comb PROGRAM] [--runs N] [--seed N] [--folder DIR]

No line may print an error, end with another status than 0, or take more than two seconds. Fields of logs, types of files, and flags
are compared with an oracle. A field that is offered in a condition must be one of the log in a count with that condition.
"""

import argparse
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NAMES = ["and", "u:v", "a/b", "7th", "x`y", "status", "path", "st", "host", "client_ip", "dur", "größe", "a b", "x-y", "@t", "über", "id", "q", "user.name", "0x", "é", "path2"]
COMMANDS = ["top", "grep", "symbols", "find", "index", "serve", "mcp", "pi", "bench", "links", "completions", "man"]
PIECES = ["", "-", "--", "-f", "-t", "--type", "--where", "--sort", "--input", "csv", "'", '"', "\\", "a'b", "$(x)", "`", "=", "--input=", "-C", "\x1b[31m", "ö", "*",
          "~", "/", "./", "..", "x" * 500, "--type-add", "go:*.go", "-e", "--", "1-", "p99", "99:", "index", "build", "info", "-abc", "--threads=", "é\xff", "\n", "no such"]  # fmt: skip


class Log:
    """A file and the names of the fields of its records."""

    def __init__(self, rng: random.Random, root: Path, number: int) -> None:
        self.kind = rng.choice(["csv", "tsv", "json", "logfmt"])
        plain = [name for name in NAMES if re.fullmatch(r"[a-zA-Z0-9_.@:/`-]+", name)]
        names = rng.sample(plain if self.kind == "logfmt" else NAMES, rng.randrange(2, 7))
        self.names = names
        self.path = root / f"log{number}.{self.kind}"
        rows = rng.randrange(1, 4)
        if self.kind in ("csv", "tsv"):
            between = "," if self.kind == "csv" else "\t"
            lines = [between.join(names)] + [between.join(str(rng.randrange(100)) for _ in names) for _ in range(rows)]
        elif self.kind == "json":
            lines = [json.dumps({name: rng.randrange(9) for name in names}, ensure_ascii=rng.random() < 0.5) for _ in range(rows)]
        else:
            lines = [" ".join(f"{name}={rng.randrange(100)}" for name in names) for _ in range(rows)]
        self.path.write_text("\n".join(lines) + "\n")


def ask(comb: str, words: list[str], index: int, root: Path, shell: str = "bash") -> list[str]:
    """The candidates for a word of a line, as the script of a shell gets them."""
    environment = {**os.environ, "COMPLETE": shell, "COMPLETE_INDEX": str(index), "COMB_INDEX_DIR": str(root / "indexes")}
    started = time.monotonic()
    arguments = [word.encode("utf-8", "surrogateescape").replace(b"\0", b"") for word in words]
    done = subprocess.run([comb, "--", *arguments], env=environment, cwd=root, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
    took = time.monotonic() - started
    if done.returncode != 0 or done.stderr or took > 2:
        raise AssertionError(f"status {done.returncode}, {took:.1f} s, {done.stderr!r}")
    return done.stdout.decode("utf-8", "surrogateescape").splitlines()


def output(comb: str, *arguments: str) -> str:
    return subprocess.run([comb, *arguments], capture_output=True, text=True, check=True).stdout


class Oracle:
    """What the program says of itself elsewhere."""

    def __init__(self, comb: str) -> None:
        self.types = [line.split(":")[0] for line in output(comb, "grep", "--type-list").splitlines()]
        self.help = {command: output(comb, command, "--help") for command in ["top", "grep", "symbols", "find", "serve"]}


def check_fields(comb: str, rng: random.Random, log: Log, root: Path) -> str | None:
    """The fields of a log: alone, in a list, and for a measure."""
    wanted = rng.choice(log.names)
    start = wanted[: rng.randrange(len(wanted) + 1)]
    before, flag = rng.choice([("", "-f"), ("7,", "-f"), ("", "--time"), ("", "--sum"), ("99:", "--percentile"), ("99.9:", "--percentile")])
    # Two columns, and odd names, are not recognised as a format in all cases.
    is_odd = len(log.names) < 3 or log.kind == "logfmt" or "x`y" in log.names
    given = [f"--input={log.kind}"] if is_odd or rng.random() < 0.5 else []
    words = ["comb", "top", *given, log.path.name, flag, before + start]
    if rng.random() < 0.3:
        words = ["comb", "top", *given, flag, before + start, log.path.name]
    found = ask(comb, words, words.index(before + start), root)
    # In JSON, a dot leads into a nested value, unless it is in quotes.
    names = [f'"{name}"' if log.kind == "json" and "." in name else name for name in log.names]
    expected = sorted(before + name for name in names if name.startswith(start))
    plain = sorted(before + shown for name, shown in zip(log.names, names) if name.startswith(start))
    if sorted(found) != (expected or plain):
        return f"{shlex.join(words)} in {log.path.read_text()!r}\n  expected {expected or plain}\n  found    {found}"
    return None


def in_condition(kind: str, name: str) -> str:
    """A name as conditions have it."""
    keys = [name] if kind == "json" else name.split(".")
    is_plain = all(re.fullmatch(r"[\w@:/-]+", key) for key in keys) and (keys[0][0].isalpha() or keys[0][0] in "_@")
    return name if is_plain and name != "and" else "`" + name.replace("`", "``") + "`"


def check_condition(comb: str, rng: random.Random, log: Log, root: Path) -> str | None:
    """The last word of a condition, and the condition that it completes."""
    wanted = rng.choice(log.names)
    # Without quotes, a name with a blank is two words.
    if " " in wanted or rng.random() < 0.8:
        wanted = in_condition(log.kind, wanted)
    start = wanted[: rng.randrange(len(wanted) + 1)]
    if start and not start[0].isalpha() and start[0] not in "`_@":
        # A number.
        start = ""
    # There, an operator or a regular expression follows.
    nowhere = rng.choice(["x ", "x == 1 ", "(x) ", "x ~ ", "x ~ 'a", "!(x) ", "1 < `b c` "])
    if found := ask(comb, ["comb", "top", log.path.name, "--where", shlex.quote(nowhere + start)], 4, root):
        return f"{nowhere + start} in {log.path.read_text()!r}\n  found    {found}"
    before = rng.choice(["", "", "status == 1 && ", "!(", "x ~ 'a`\\\\' or ", "`b c`.d<"])
    given = f"--input={log.kind}"
    words = ["comb", "top", given, log.path.name, "--where", shlex.quote(before + start)]
    found = ask(comb, words, 5, root)
    names = {name: in_condition(log.kind, name) for name in log.names}
    expected = sorted(before + shown for shown in names.values() if shown.startswith(start))
    # If no name as shown begins with the word, names whose unquoted form does are offered.
    plain = sorted(before + shown for name, shown in names.items() if name.startswith(start))
    if sorted(found) != (expected or plain):
        return f"{shlex.join(words)} in {log.path.read_text()!r}\n  expected {expected or plain}\n  found    {found}"
    for candidate in found:
        condition = candidate.removeprefix(before) + " >= 0"
        counted = subprocess.run([comb, "top", given, log.path.name, "--where", condition], cwd=root, capture_output=True)
        if counted.returncode != 0 or counted.stderr:
            return f"{shlex.join(words)} in {log.path.read_text()!r}\n  offers {candidate}: {counted.stderr!r}"
    return None


def check_types(comb: str, rng: random.Random, oracle: Oracle, root: Path) -> str | None:
    name = rng.choice(oracle.types)
    start = name[: rng.randrange(len(name) + 1)]
    added = [f"{start}zz{rng.randrange(9)}"] if rng.random() < 0.3 else []
    words = ["comb", "grep", *(f"--type-add={name}:*.zz" for name in added), rng.choice(["-t", "-T", "--type", "--type-not"]), start]
    found = ask(comb, words, len(words) - 1, root)
    names = oracle.types + added + ["all"]
    expected = sorted({name for name in names if name.startswith(start)})
    if sorted(found) != expected:
        return f"{shlex.join(words)}\n  expected {expected}\n  found    {found}"
    return None


def check_flags(comb: str, rng: random.Random, oracle: Oracle, root: Path) -> str | None:
    """Each flag that is offered is in the help text."""
    command = rng.choice(list(oracle.help))
    start = rng.choice(["-", "--", "--no", "--s", "--a", "--type", "--in", "--m"])
    words = ["comb", command, *rng.choices(["-i", "x", "--", "-j2"], weights=[3, 3, 0, 3], k=rng.randrange(3)), start]
    for flag in ask(comb, words, len(words) - 1, root):
        if not flag.startswith(start) or not re.search(rf"(?<![\w-]){re.escape(flag.rstrip('='))}(?![\w-])", oracle.help[command]):
            return f"{shlex.join(words)}\n  offers {flag}"
    return None


def check_anything(comb: str, rng: random.Random, logs: list[Log], root: Path) -> str | None:
    """Any line: no error."""
    pieces = PIECES + NAMES + COMMANDS + [log.path.name for log in logs]
    words = ["comb", *(rng.choice(COMMANDS) for _ in range(rng.random() < 0.8))]
    words += ["".join(rng.choice(pieces) for _ in range(rng.choice([1, 1, 1, 2]))) for _ in range(rng.randrange(6))]
    index = rng.choice([len(words) - 1, len(words), rng.randrange(len(words) + 3)])
    try:
        ask(comb, words, index, root, rng.choice(["bash", "zsh", "fish"]))
    except AssertionError as error:
        return f"{words!r} at {index}: {error}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--folder")
    given = parser.parse_args()
    comb = str(Path(given.comb).resolve())
    print(f"seed {given.seed}")
    oracle, faults = Oracle(comb), 0
    for tree in range(-(-given.runs // 50)):
        rng = random.Random(given.seed * 1_000_003 + tree)
        root = Path(tempfile.mkdtemp(dir=given.folder))
        logs = [Log(rng, root, number) for number in range(4)]
        (root / "directory").mkdir()
        (root / "some.comb").write_text("no index")
        for _ in range(50):
            check = rng.choices([check_fields, check_condition, check_types, check_flags, check_anything], weights=[3, 3, 1, 1, 3])[0]
            about = {check_fields: rng.choice(logs), check_condition: rng.choice(logs), check_anything: logs}.get(check, oracle)
            try:
                fault = check(comb, rng, about, root)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                fault = f"{check.__name__} in tree {tree}: {error}"
            if fault:
                faults += 1
                print(fault)
        shutil.rmtree(root)
    print(f"{given.runs} runs, {faults} faults")
    sys.exit(faults > 0)


if __name__ == "__main__":
    main()
