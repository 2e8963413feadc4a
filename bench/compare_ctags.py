#!/usr/bin/env python3
"""Compares the definitions that `comb symbols` lists with the tags of Universal Ctags, kind by kind.

    bench/compare_ctags.py [--comb PROGRAM] [--lang LANGUAGE] [--examples N] [--seed S] [--thorough] [--kind KIND] PATH...

    --comb PROGRAM   the comb to run (default: target/release/comb)
    --lang LANGUAGE  c, cpp, go, java, javascript, python, rust or typescript (default: c)
    --examples N     also print N random examples of each difference
    --seed S         seed of the random choice (default: 1)
    --kind KIND      only this kind
    --thorough       let comb parse every byte

Prints a line per kind: number of definitions of ctags; share of them that comb has at the same line with the same name and kind,
at the same line under another kind, elsewhere in the file, and not at all; number of definitions that only comb has. Kinds are
mapped to one vocabulary: functions and methods are one kind, structs, classes and records are one, and so on. Ctags 5.9 or later has to
be in PATH. Both programs get the same list of files.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

EXTENSIONS = {
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx h",
    "go": "go",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "python": "py pyi pyw",
    "rust": "rs",
    "typescript": "ts mts cts",
}
CTAGS_LANGUAGE = {
    "c": "C", "cpp": "C++", "go": "Go", "java": "Java", "javascript": "JavaScript", "python": "Python", "rust": "Rust",
    "typescript": "TypeScript",
}  # fmt: skip

# Kinds of both programs in the vocabulary of the table. What is in neither dictionary is not compared.
COMB = {
    "function": "function", "method": "function", "property": "function",
    "struct": "type", "class": "type", "union": "type", "enum": "enum", "interface": "interface", "trait": "interface",
    "macro": "macro", "typedef": "typedef", "field": "field", "enumerator": "enumerator",
    "variable": "variable", "constant": "variable", "module": "module", "namespace": "module",
}  # fmt: skip
CTAGS = {
    "function": "function", "func": "function", "method": "function", "getter": "function", "setter": "function",
    "generator": "function", "methodSpec": "function", "struct": "type", "class": "type", "union": "type",
    "enum": "enum", "interface": "interface", "trait": "interface", "annotation": "interface", "macro": "macro",
    "typedef": "typedef", "type": "typedef", "talias": "typedef", "alias": "typedef", "typealias": "typedef",
    "member": "field", "field": "field", "anonMember": "field", "property": "field",
    "enumerator": "enumerator", "enumConstant": "enumerator", "variable": "variable", "var": "variable",
    "constant": "variable", "const": "variable", "static": "variable", "namespace": "module", "module": "module",
}  # fmt: skip
# Kinds of ctags that have another meaning in a language; an empty one is not compared.
CTAGS_OF = {
    ("python", "member"): "function", ("python", "namespace"): "", ("python", "module"): "",
}  # fmt: skip
# The same for comb.
COMB_OF = {("python", "field"): "variable", ("java", "constant"): "field"}


@dataclass(frozen=True, order=True)
class Definition:
    path: str
    line: int
    name: str
    kind: str


def main() -> int:
    options = arguments()
    files = list_files(options.path, options.lang)
    with tempfile.NamedTemporaryFile("w", suffix=".files") as names:
        names.write("".join(f"{file}\n" for file in files))
        names.flush()
        ctags = run_ctags(names.name, options.lang)
    comb = run_comb(options, files)
    shown = False
    print(f"{len(files)} files of {options.lang}")
    print(f"{'kind':<12}{'ctags':>9}{'same':>9}{'other kind':>12}{'elsewhere':>11}{'not':>9}{'only comb':>11}")
    for kind in sorted({definition.kind for definition in ctags}):
        if options.kind in (None, kind):
            compare(kind, ctags, comb, options)
            shown = True
    return 0 if shown else 1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default=str(ROOT / "target/release/comb"))
    parser.add_argument("--lang", choices=sorted(EXTENSIONS), default="c")
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind")
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("path", nargs="+", type=Path)
    return parser.parse_args()


def list_files(paths: list[Path], language: str) -> list[str]:
    """Files of the language, in order, without those whose names hold bytes that a tags file cannot."""
    endings = tuple(f".{extension}" for extension in EXTENSIONS[language].split())
    found = set()
    for path in paths:
        inside = path.rglob("*") if path.is_dir() else [path]
        found.update(str(file) for file in inside if file.name.endswith(endings) and file.is_file())
    return sorted(file for file in found if file.isprintable())


def run_ctags(names: str, language: str) -> set[Definition]:
    """Definitions of ctags. It writes file names as they are given."""
    ctags = CTAGS_LANGUAGE[language]
    command = ["ctags", f"--languages={ctags}", f"--language-force={ctags}", "--fields=+nK", "--excmd=number"]
    command += ["--output-format=json", "-f-", "--sort=no", "-L", names]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    found = set()
    for line in output.splitlines():
        tag = json.loads(line.decode(errors="replace"))
        kind = CTAGS_OF.get((language, tag.get("kind")), CTAGS.get(tag.get("kind")))
        # Names that ctags makes up for what has none.
        if tag["_type"] != "tag" or not kind or tag["name"].startswith("__anon"):
            continue
        found.add(Definition(tag["path"], tag["line"], simple(tag["name"]), kind))
    return found


def run_comb(options: argparse.Namespace, files: list[str]) -> set[Definition]:
    found = set()
    for start in range(0, len(files), 5000):
        command = [options.comb, "symbols", "--format", "json", "--lang", options.lang]
        command += ["--thorough"] if options.thorough else []
        process = subprocess.run([*command, "--", *files[start : start + 5000]], stdout=subprocess.PIPE, check=False)
        for line in process.stdout.splitlines():
            symbol = json.loads(line)
            kind = COMB_OF.get((options.lang, symbol["kind"]), COMB[symbol["kind"]])
            found.add(Definition(symbol["path"], symbol["line"], simple(symbol["name"]), kind))
    return found


def simple(name: str) -> str:
    """Name without what the programs write in different ways: spaces in names of operators, quotes, `r#`."""
    return name.replace(" ", "").removeprefix("r#").strip("'\"`")


def compare(kind: str, ctags: set[Definition], comb: set[Definition], options: argparse.Namespace) -> None:
    """Prints the line of a kind, and examples."""
    of_ctags = {definition for definition in ctags if definition.kind == kind}
    of_comb = {definition for definition in comb if definition.kind == kind}
    places = {(definition.path, definition.line, definition.name) for definition in comb}
    names: dict[str, set[str]] = defaultdict(set)
    for definition in comb:
        names[definition.path].add(definition.name)
    groups: dict[str, list[Definition]] = {"same": [], "other kind": [], "elsewhere": [], "not": []}
    for definition in sorted(of_ctags):
        if definition in of_comb:
            group = "same"
        elif (definition.path, definition.line, definition.name) in places:
            group = "other kind"
        elif definition.name in names[definition.path]:
            group = "elsewhere"
        else:
            group = "not"
        groups[group].append(definition)
    known = {(definition.path, definition.line, definition.name) for definition in ctags}
    extra = [d for d in sorted(of_comb) if (d.path, d.line, d.name) not in known]
    share = {group: f"{100 * len(found) / len(of_ctags):.2f} %" for group, found in groups.items()}
    shares = f"{share['same']:>9}{share['other kind']:>12}{share['elsewhere']:>11}{share['not']:>9}"
    print(f"{kind:<12}{len(of_ctags):>9}{shares}{len(extra):>11}")
    chosen = random.Random(options.seed)
    for group, found in [*groups.items(), ("only comb", extra)]:
        if group != "same":
            show(group, chosen.sample(found, min(options.examples, len(found))))


def show(group: str, examples: list[Definition]) -> None:
    for definition in examples:
        print(f"    {group}: {definition.path}:{definition.line} {definition.name}: {source_line(definition)}")


def source_line(definition: Definition) -> str:
    with open(definition.path, "rb") as file:
        for number, line in enumerate(file, 1):
            if number == definition.line:
                return line.decode(errors="replace").strip()[:110]
    return ""


if __name__ == "__main__":
    sys.exit(main())
