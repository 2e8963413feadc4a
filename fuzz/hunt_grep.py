#!/usr/bin/env python3
"""Differential fuzzing of `comb grep` against `rg --sort path`, on random trees and command lines.

    fuzz/hunt_grep.py [--comb PROGRAM] [--name rg] [--rg PROGRAM] [--runs N] [--per-tree N] [--lists SHARE] [--seed N] [--only N] [--folder DIR]

Needs ripgrep 15.2. Standard output and exit status must equal those of ripgrep, at two random widths and block sizes. Cases in which
ripgrep is inconsistent are not generated, or recognised by is_known, and comb is compared with itself alone: docs/ripgrep.md has the reasons.
With `--name rg`, comb is started under that name.
"""

import argparse
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = ["1", "2", "3", "8", "auto"]
BLOCKS = ["1", "13", "100", "4K", "64K", "256K"]
WORDS = ["foo", "bar", "Foo", "baz_1", "a", "é", "ß", "naïve", "x1", "fn", "}", "{", "->", "0", "42", "", "ſk", "\u212a", "ΣΑΣ"]
# Parts of these are in word lists.
TEXT = " ".join(WORDS) + " foo bar fn baz_1 ΣΑΣ}"
LIST_FLAGS = ["-F", "-i", "-w", "-x", "-c", "-o", "-v", "-l", "-S", "--no-unicode", "--crlf", "-n", "--count-matches", "-a", "--column"]
PATTERNS = [
    "foo", "Foo", "fo+", "a", "^", "$", "^$", "", "b.r", r"\bfoo\b", r"\w+", r"\d", r"[^a-z]", "é", "[äöüéß]", "foo|bar", "(f)(o)o", r"^\s*fn",
    ".", ".*", "x?", r"\s$", "a$", "(?i)FOO", r"foo\b.*bar", r"[[:upper:]]", r"\}", "->", r"(?P<n>ba.)", r"\S+ \S+", "naïve", "z{2,3}",
]
MULTILINE = [r"foo\nbar", r"\n\n", r"a\s+b", r"(?s)foo.{0,9}bar", r"\nfoo", r"o\n", r"[^x]\n"]
FLAGS = [
    "-n", "-N", "-i", "-S", "-s", "-w", "-x", "-v", "-o", "-c", "-l", "--files-without-match", "--count-matches", "-q", "-H", "-I", "-b", "--column",
    "--heading", "--no-heading", "-0", "--trim", "--vimgrep", "--passthru", "-a", "--binary", "--crlf", "--null-data", "--include-zero", "-F",
    "--no-ignore", "--hidden", "-u", "-uu", "-uuu", "--stop-on-nonmatch", "-z", "--no-unicode", "--no-messages", "-L", "--json", "--stats", "-P",
    "--no-ignore-vcs", "--no-ignore-dot", "--one-file-system", "--no-context-separator", "--max-columns-preview", "--color=always", "--sort=path",
]


def choose_flags(rng: random.Random) -> list[str]:
    flags = [rng.choice(FLAGS) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]
    valued = {
        "-A": lambda: str(rng.randrange(4)),
        "-B": lambda: str(rng.randrange(4)),
        "-C": lambda: str(rng.randrange(4)),
        "-m": lambda: str(rng.randrange(4)),
        "-M": lambda: str(rng.choice([0, 1, 5, 20])),
        "-r": lambda: rng.choice(["X", "$0", "<$1>", "", "$n"]),
        "-g": lambda: rng.choice(["*.txt", "!*.txt", "sub/**", "*.{rs,txt}", "!sub"]),
        "-t": lambda: rng.choice(["rust", "txt", "c"]),
        "-T": lambda: rng.choice(["rust", "txt"]),
        "-E": lambda: rng.choice(["utf-16le", "latin1", "none", "auto"]),
        "--max-depth": lambda: str(rng.randrange(4)),
        "--max-filesize": lambda: rng.choice(["10", "100", "1K"]),
        "--context-separator": lambda: rng.choice(["--", "", "=="]),
        "--field-match-separator": lambda: rng.choice([":", "|", ""]),
    }
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        name = rng.choice(list(valued))
        flags += [name, valued[name]()]
    return flags


def word_list(rng: random.Random) -> str:
    """Makes a list of words that is long enough not to be searched for as an expression."""
    words = [f"{rng.choice(['zq', 'fooz', 'ba', 'É', 'x1'])}{index}q" for index in range(rng.choice([100, 300, 2100, 2100]))]
    for _ in range(rng.choice([0, 1, 3, 10, 50])):
        start = rng.randrange(len(TEXT))
        word = TEXT[start:start + rng.choice([1, 1, 2, 3, 3, 4, 5, 7, 8, 9, 12, 20])]
        word = rng.choice([word, word, word.upper(), word.lower(), word.strip()])
        words.insert(rng.randrange(len(words) + 1), word if word or rng.random() < 0.05 else "foo")
    words += rng.sample(words, rng.randrange(4))
    return rng.choice(["\n", "\n", "\n", "\r\n"]).join(words) + rng.choice(["", "\n"])


def command_line(rng: random.Random, names: list[str], lists: float) -> list[str]:
    flags = choose_flags(rng)
    if rng.random() < lists:
        flags += ["-F", *rng.sample(LIST_FLAGS, rng.randrange(4))]
        paths = rng.sample(names, 1) if rng.random() < 0.35 else []
        return [*flags, "-f", ".words", *(["-e", rng.choice(PATTERNS)] if rng.random() < 0.1 else []), *paths]
    if rng.random() < 0.04:
        return [*flags, "--files", *([rng.choice(names)] if rng.random() < 0.3 else [])]
    pattern = rng.choice(PATTERNS)
    if rng.random() < 0.12:
        flags += ["-U"] + (["--multiline-dotall"] if rng.random() < 0.3 else [])
        pattern = rng.choice(MULTILINE)
    patterns = ["-e", pattern]
    if rng.random() < 0.15:
        patterns += ["-e", rng.choice(PATTERNS)]
    paths = rng.sample(names, rng.randrange(1, min(len(names), 2) + 1)) if rng.random() < 0.35 else []
    line = [*flags, *patterns, *paths]
    return line


def line(rng: random.Random) -> bytes:
    text = " ".join(rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 5, 9]))).encode()
    chance = rng.random()
    if chance < 0.03:
        # Lines that begin with continuation bytes have a separate test.
        text += bytes([rng.choice([0xFF, 0xC3, 0x80, 0x0D] if text else [0xFF, 0xC3, 0x0D])])
    elif chance < 0.05:
        text += b"y" * rng.randrange(3000)
    return text


def long_line(rng: random.Random) -> bytes:
    """Makes a line of more than a mebibyte with NULs and words at its end: comb splits it."""
    pieces = [rng.choice([b"foo", b"bar", b"y" * rng.randrange(40_000), b""]) + b"\0" for _ in range(rng.randrange(1, 40))]
    return b"x" * ((1 << 20) - rng.choice([0, 0, 1, 9, 400])) + b"".join(pieces) + rng.choice([b"", b"foo", b"z"])


def content(rng: random.Random) -> bytes:
    lines = [line(rng) for _ in range(rng.choice([0, 1, 2, 5, 20, 100, 2000 if rng.random() < 0.1 else 30]))]
    end = rng.choice([b"\n", b"\n", b"\n", b"\r\n"])
    text = end.join(lines) + (end if rng.random() < 0.8 else b"")
    chance = rng.random()
    if chance < 0.03 and text:
        at = rng.randrange(len(text))
        text = text[:at] + b"\0" + text[at:]
    elif chance < 0.035 and text:
        lines.insert(rng.randrange(len(lines) + 1), long_line(rng))
        text = end.join(lines)
    elif chance < 0.06:
        text = b"\xef\xbb\xbf" + text
    elif chance < 0.08:
        text = text.decode("utf-8", "replace").encode("utf-16")
    return text


def make_tree(rng: random.Random, root: Path) -> list[str]:
    """Makes files and ignore files, and returns the names of files and directories."""
    names = []
    folders = [".", "sub", "sub/deep", ".hidden", "other"]
    for index in range(rng.randrange(1, 12)):
        folder = rng.choice(folders)
        name = f"{folder}/{rng.choice('abcdXYZ')}{index}.{rng.choice(['txt', 'rs', 'c', 'log', 'md'])}".removeprefix("./")
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(rng))
        names.append(name)
    names += [folder for folder in folders[1:] if (root / folder).is_dir()]
    if rng.random() < 0.4:
        rules = [rng.choice(["*.log", "!a*", "sub/", "/other", "deep", "*.txt", "# comment", "", "!*.rs", "**/X*", "a?.txt"]) for _ in range(3)]
        (root / rng.choice([".gitignore", ".ignore", ".rgignore"])).write_text("\n".join(rules) + "\n")
    if rng.random() < 0.5:
        (root / ".git").mkdir()
    if rng.random() < 0.1 and names:
        (root / "link").symlink_to(rng.choice(names))
        names.append("link")
    return names


TIMES = [
    (re.compile(rb'"elapsed(_total)?":\{[^}]*\}'), b'"elapsed":{}'),
    (re.compile(rb"^[0-9.]+ seconds.*$", re.MULTILINE), b"seconds"),
]


# ripgrep's inverted search with a limit reads on to the next match.
BYTES = [
    (re.compile(rb'"bytes_searched":[0-9]+'), b'"bytes_searched":0'),
    (re.compile(rb"^[0-9]+ bytes searched$", re.MULTILINE), b"bytes searched"),
]


def outcome(command: list[str], root: Path) -> tuple[bytes, int]:
    done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    out = done.stdout
    for pattern, blank in TIMES + (BYTES if {"-v", "-m"} <= set(command) else []):
        out = pattern.sub(blank, out)
    return out, done.returncode


def long_lines(contents: list[bytes]) -> int:
    """Returns the number of lines of more than a mebibyte."""
    return sum(len(line) > 1 << 20 for content in contents for line in content.split(b"\n"))


def is_known(arguments: list[str], root: Path) -> bool:
    """Returns true if ripgrep is inconsistent in this case: docs/ripgrep.md has the reasons."""
    given = set(arguments)
    binary = [content for content in (path.read_bytes() for path in root.rglob("*") if path.is_file()) if b"\0" in content]
    has_nul = bool(binary)
    long = long_lines(binary)
    paths = sum((root / argument).exists() for argument in arguments)
    limits = given & {"-m", "--stop-on-nonmatch"}
    context = given & {"-A", "-B", "-C", "--passthru"}
    counts = given & {"-c", "--count-matches", "-l", "--files-without-match", "-q"}
    return bool(
        # A first line that ends before the third byte hides a NUL.
        any(0 <= content.find(b"\n") < 3 for content in binary)
        or "--crlf" in given
        # A match next to a NUL depends on whether the file is mapped.
        or (has_nul and given & {"--count-matches", "-o"})
        or (has_nul and paths > 1 and any(re.search(r"[\^$]", argument) for argument in arguments))
        # Context hides a match in a binary file, and the end of a file at a limit.
        or (has_nul and (context or limits or "-v" in given or "-U" in given))
        or (limits and (context or counts))
        or ("-v" in given and "--stop-on-nonmatch" in given)
        # ripgrep gives two different outputs.
        or ("-U" in given and ("-v" in given or limits or "--crlf" in given or "--null-data" in given))
        # On one thread, a file without printed lines gets a separator.
        or ({"-U", "-o"} <= given and context)
        or (given & {"--stats", "--json"} and has_nul)
        # After the first mebibyte of a line, each NUL ends the text that a pattern sees.
        or (long and (given & {"-w", "-x"} or any(re.search(r"[\^$]|\\b", argument) for argument in arguments)))
        # A line that fills the buffer changes how far the files after it are searched.
        or long > 1
        or (long and "-L" in given)
        or (long and paths > 1)
        # If one of several patterns begins with a line feed, a line is lost.
        or ("-U" in given and arguments.count("-e") > 1 and r"\nfoo" in given)
    )


def command_under_test(comb: str, name: str, folder: str) -> list[str]:
    """Returns the beginning of the command line of comb, under its own name or as `rg`."""
    if name == "comb":
        return [comb, "grep"]
    link = Path(folder) / name
    link.symlink_to(comb)
    return [str(link)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--name", choices=["comb", "rg"], default="comb", help="name that comb is started under")
    parser.add_argument("--rg", default="rg")
    parser.add_argument("--runs", type=int, default=20_000, help="number of command lines")
    parser.add_argument("--per-tree", type=int, default=20, help="command lines in each tree")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lists", type=float, default=0.1, help="share of the command lines with a list of words")
    parser.add_argument("--only", type=int, help="only the tree with this number")
    parser.add_argument("--folder", type=Path, help="directory of the trees; those with faults are kept")
    arguments = parser.parse_args()
    if arguments.folder:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = str(arguments.folder.resolve())
    with tempfile.TemporaryDirectory() as links:
        hunt(arguments, command_under_test(str(Path(arguments.comb).resolve()), arguments.name, links))


def hunt(arguments: argparse.Namespace, comb: list[str]) -> None:
    """Compares random command lines, prints the faults and exits."""
    faults = known = found = 0
    trees = -(-arguments.runs // arguments.per_tree)
    for number in range(trees) if arguments.only is None else [arguments.only]:
        rng = random.Random(arguments.seed * 1_000_003 + number)
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            names = make_tree(rng, root)
            for _ in range(arguments.per_tree):
                (root / ".words").write_text(word_list(rng))
                line = command_line(rng, names, arguments.lists)
                scans = [["-j", rng.choice(WIDTHS), "--block-size", rng.choice(BLOCKS)] for _ in range(2)]
                ours = [outcome([*comb, *scan, *line], root) for scan in scans]
                is_skipped = is_known(line, root)
                known += is_skipped
                theirs = ours[0] if is_skipped else outcome([arguments.rg, "--no-config", "--sort", "path", *line], root)
                found += theirs[1] == 0
                if all(answer == theirs for answer in ours):
                    continue
                faults += 1
                kept = Path(tempfile.gettempdir()) / f"hunt-grep-{arguments.seed}-{number}"
                if not kept.exists():
                    shutil.copytree(root, kept, symlinks=True)
                results = ["same" if answer == theirs else f"exit {answer[1]}, {len(answer[0])} bytes" for answer in ours]
                print(f"tree {number}: {shlex.join(line)}: rg exit {theirs[1]}, {len(theirs[0])} bytes; {scans[0]} {results[0]}; {scans[1]} {results[1]}; {kept}", flush=True)
    print(f"{arguments.runs} command lines, {found} with matches, {known} with known differences, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
