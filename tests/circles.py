#!/usr/bin/env python3
"""Finds files of a crate that import each other in a circle, and fails if a circle has more files than MOST.

Reads the `use` lines and the paths `crate::…` of each file of `crates/*/src`, without its tests. A name that a module only
re-exports counts as an import of the file that defines it.
"""

import argparse
import re
import sys
from pathlib import Path

# Files of a circle at most: a type and its two halves may know each other.
MOST = 3

TESTS = re.compile(r"^#\[cfg\(test\)\]\s*\n(?:#\[[^\n]*\]\s*\n)*(?:pub(?:\([^)]*\))? )?mod \w+ \{.*", re.M | re.S)
COMMENT = re.compile(r"//[^\n]*")
USE = re.compile(r"^([ \t]*)(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
PATH = re.compile(r"\b((?:crate|super|self)(?:::\w+)+)")


def module_of(file, source):
    parts = list(file.relative_to(source).with_suffix("").parts)
    if parts[-1] in ("lib", "main", "mod"):
        parts.pop()
    return tuple(parts)


def expanded(tree):
    """The paths of a `use` tree, as lists of names; `a as b` counts as `a`."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        return [(re.sub(r"\s+as\s+\w+$", "", tree), re.sub(r".*\s+as\s+|.*::", "", tree, flags=re.S))]
    prefix, inner, depth, start, parts = tree[:brace], tree[brace + 1 : tree.rindex("}")], 0, 0, []
    for at, letter in enumerate(inner):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(inner[start:at])
            start = at + 1
    parts.append(inner[start:])
    paths = []
    for part in parts:
        if part.strip():
            for path, name in expanded(part):
                paths.append((prefix + path, name))
    return paths


class Crate:
    def __init__(self, source):
        self.source = source
        self.files = {}
        self.texts = {}
        for file in sorted(source.rglob("*.rs")):
            if file.name != "tests.rs" and "tests" not in file.relative_to(source).parts:
                module = module_of(file, source)
                self.files[module] = file
                self.texts[module] = COMMENT.sub("", TESTS.sub("", file.read_text()))
        # Names that a module has from elsewhere, and from where.
        self.exports = {module: {} for module in self.files}
        for module in self.files:
            for path, name in self.uses(module):
                self.exports[module][name] = path

    def uses(self, module):
        found = []
        for indentation, tree in USE.findall(self.texts[module]):
            for path, name in expanded(tree):
                # A module within the file names the file so.
                if indentation and path.startswith("super::"):
                    continue
                names = self.absolute(module, [part.strip() for part in path.split("::")])
                if names is not None:
                    if names[-1:] == ("self",):
                        names, name = names[:-1], names[-2] if len(names) > 1 else ""
                    found.append((names, name))
        return found

    def absolute(self, module, path):
        """The path from the root of the crate; `None` for other crates."""
        first = path[0]
        if first == "crate":
            return tuple(path[1:])
        if first not in ("super", "self"):
            return module + tuple(path) if module + (first,) in self.files and first.islower() else None
        base = module
        while path and path[0] in ("super", "self"):
            if path[0] == "super":
                base = base[:-1]
            path = path[1:]
        return base + tuple(path)

    def home(self, path, seen=()):
        """The module that defines what the path names."""
        module = path
        while module not in self.files:
            if not module:
                return ()
            module = module[:-1]
        rest = path[len(module) :]
        if rest and rest[0] in self.exports[module] and (module, rest[0]) not in seen:
            target = self.exports[module][rest[0]]
            return self.home(target + rest[1:], seen + ((module, rest[0]),))
        return module

    def imports(self):
        """For each module, the modules that it imports from, and the names."""
        arrows = {module: {} for module in self.files}
        for module in self.files:
            paths = [(path, name) for path, name in self.uses(module) if self.is_used(module, name)]
            text = USE.sub("", self.texts[module])
            for path in PATH.findall(text):
                if path.startswith("super"):
                    continue
                names = self.absolute(module, path.split("::"))
                if names is not None and path.split("::")[0] != "self":
                    paths.append((names, path))
            for path, name in paths:
                home = self.home(path)
                if home != module:
                    arrows[module].setdefault(home, set()).add(name)
        return arrows

    def is_used(self, module, name):
        """Whether the module uses the name itself, and does not only re-export it."""
        text = USE.sub("", self.texts[module])
        return name in ("*", "_") or re.search(rf"\b{re.escape(name)}\b", text) is not None


def circles(arrows):
    """Strongly connected sets of more than one module, after Tarjan (1972)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(module):
        index[module] = low[module] = len(index)
        stack.append(module)
        on_stack.add(module)
        for other in sorted(arrows[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in on_stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            circle = []
            while True:
                circle.append(stack.pop())
                on_stack.discard(circle[-1])
                if circle[-1] == module:
                    break
            if len(circle) > 1:
                found.append(sorted(circle))

    for module in sorted(arrows):
        if module not in index:
            visit(module)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="print circles of any size, and the names that tie them")
    parser.add_argument("sources", nargs="*", type=Path, help="source folders [default: those of all crates]")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    root = Path(__file__).resolve().parent.parent
    sources = arguments.sources or sorted((root / "crates").glob("*/src"))
    failed = False
    for source in sources:
        crate = Crate(source.resolve())
        arrows = crate.imports()
        for circle in circles(arrows):
            too_large = len(circle) > MOST
            failed |= too_large
            if not too_large and not arguments.all:
                continue
            print(f"{source}: {len(circle)} files import each other in a circle (at most {MOST}):")
            for module in circle:
                for other, names in sorted(arrows[module].items()):
                    if other in circle:
                        here, there = ("::".join(parts) or "lib" for parts in (module, other))
                        print(f"    {here} -> {there}: {', '.join(sorted(names))}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
