#!/usr/bin/env python3
"""Compares the definitions that `comb symbols` lists with the tags of Universal Ctags, kind by kind.

    bench/compare_ctags.py [--comb PROGRAM] [--lang LANGUAGE] [--examples N] [--seed S] [--thorough] [--kind KIND] PATH...

    --comb PROGRAM   the comb to run (default: target/release/comb)
    --lang LANGUAGE  bash, c, cpp, csharp, d, go, java, javascript, kotlin, lua, php, python, ruby, rust or typescript
                     (default: c)
    --examples N     also print N random examples of each difference
    --seed S         seed of the random choice (default: 1)
    --kind KIND      only this kind
    --thorough       let comb parse every byte

Prints a line per kind: number of definitions of ctags; share of them that comb has at the same line with the same name and kind,
at the same line under another kind, elsewhere in the file, and not at all; number of definitions that only comb has. Kinds are
mapped to one vocabulary: functions and methods are one kind, structs, classes and records are one, and so on. Ctags 5.9 or later has to
be in PATH. Both programs get the same list of files. Headers of C++ may have no extension, below `include`; a `.h` file of C++ that comb takes for C
is listed as C.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Kinds of both programs in the vocabulary of the table. What is in neither dictionary is not compared.
COMB = {
    "function": "function", "method": "function", "property": "function",
    "struct": "type", "class": "type", "union": "type", "enum": "enum", "interface": "interface", "trait": "interface",
    "macro": "macro", "typedef": "typedef", "field": "field", "enumerator": "enumerator",
    "variable": "variable", "constant": "variable", "module": "module", "namespace": "module",
}  # fmt: skip
CTAGS = {
    "function": "function", "func": "function", "method": "function", "getter": "function", "setter": "function",
    "generator": "function", "methodSpec": "function", "singletonMethod": "function",
    "struct": "type", "class": "type", "union": "type", "object": "type",
    "enum": "enum", "interface": "interface", "trait": "interface", "annotation": "interface", "macro": "macro",
    "typedef": "typedef", "type": "typedef", "talias": "typedef", "alias": "typedef", "typealias": "typedef",
    "member": "field", "field": "field", "anonMember": "field", "property": "field",
    "event": "property", "accessor": "property",
    "enumerator": "enumerator", "enumConstant": "enumerator", "variable": "variable", "var": "variable",
    "constant": "variable", "const": "variable", "static": "variable", "define": "variable",
    "namespace": "module", "module": "module", "template": "module",
}  # fmt: skip

# Names that ctags makes up for what has none.
ANONYMOUS = re.compile("__anon|anonymous|Anonymous(Function|Class)[0-9a-f]{8}")


@dataclass(frozen=True)
class Language:
    """Name of a language in ctags, the extensions of its files, and what the kinds of both programs mean in it, where that is not
    what they mean in others; an empty meaning is not compared."""

    title: str
    extensions: str
    ctags: dict[str, str] = field(default_factory=dict)
    comb: dict[str, str] = field(default_factory=dict)


LANGUAGES = {
    "bash": Language("Sh", "sh bash ksh zsh", {"alias": "macro"}),
    "c": Language("C", "c h"),
    "cpp": Language("C++", "cc cpp cxx hh hpp hxx h tcc inc"),
    "csharp": Language("C#", "cs", {"property": "property"}, {"property": "property", "constant": "field"}),
    "d": Language("D", "d di", {"module": ""}),
    "go": Language("Go", "go"),
    "java": Language("Java", "java", {}, {"constant": "field"}),
    "javascript": Language("JavaScript", "js jsx mjs cjs"),
    "kotlin": Language("Kotlin", "kt kts", {}, {"property": "variable", "enum": "type"}),
    "lua": Language("Lua", "lua"),
    "php": Language("PHP", "php", {"alias": ""}, {"field": "variable"}),
    "python": Language("Python", "py pyi pyw", {"member": "function", "namespace": "", "module": ""}, {"field": "variable"}),
    "ruby": Language("Ruby", "rb", {"alias": "function"}, {"property": "property"}),
    "rust": Language("Rust", "rs"),
    "typescript": Language("TypeScript", "ts mts cts"),
}


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
    parser.add_argument("--lang", choices=sorted(LANGUAGES), default="c")
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind")
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("path", nargs="+", type=Path)
    return parser.parse_args()


def list_files(paths: list[Path], language: str) -> list[str]:
    """Files of the language, in order, without links, and without names with bytes that a tags file cannot hold. Headers of C++
    may have no extension, below a directory `include`."""
    endings = [f".{extension}" for extension in LANGUAGES[language].extensions.split()]
    found = set()
    for path in paths:
        for file in path.rglob("*") if path.is_dir() else [path]:
            is_header = language == "cpp" and not file.suffix and "include" in file.parts
            if (is_header or file.suffix in endings) and file.is_file() and not file.is_symlink():
                found.add(str(file))
    return sorted(file for file in found if file.isprintable())


def run_ctags(names: str, language: str) -> set[Definition]:
    """Definitions of ctags. It writes file names as they are given."""
    ctags, kinds = LANGUAGES[language].title, CTAGS | LANGUAGES[language].ctags
    command = ["ctags", f"--languages={ctags}", f"--language-force={ctags}", "--fields=+nK", "--excmd=number"]
    command += ["--output-format=json", "-f-", "--sort=no", "-L", names]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    found = set()
    for line in output.splitlines():
        tag = json.loads(line.decode(errors="replace"))
        kind = kinds.get(tag.get("kind"))
        if tag["_type"] != "tag" or not kind or ANONYMOUS.match(tag["name"]):
            continue
        found.add(Definition(tag["path"], tag["line"], simple(tag["name"], language), kind))
    return found


def run_comb(options: argparse.Namespace, files: list[str]) -> set[Definition]:
    kinds = COMB | LANGUAGES[options.lang].comb
    runs = [(options.lang, files)]
    if options.lang == "cpp":
        # Headers that have nothing that only C++ has are C.
        runs.append(("c", [file for file in files if file.endswith(".h")]))
    found = set()
    for language, part in [(lang, names[at : at + 5000]) for lang, names in runs for at in range(0, len(names), 5000)]:
        command = [options.comb, "symbols", "--format", "json", "--lang", language]
        command += ["--thorough"] if options.thorough else []
        process = subprocess.run([*command, "--", *part], stdout=subprocess.PIPE, check=False)
        for line in process.stdout.splitlines():
            symbol = json.loads(line)
            found.add(Definition(symbol["path"], symbol["line"], simple(symbol["name"], language), kinds[symbol["kind"]]))
    return found


def simple(name: str, language: str) -> str:
    """Name without what the programs write in different ways: spaces in names of operators, quotes, `r#`, and the scope in C# and Lua."""
    if language in ("csharp", "lua"):
        name = (re.findall(r"[^\W\d]\w*", name) or [name])[-1]
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
