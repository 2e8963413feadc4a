#!/usr/bin/env python3
"""Compares the quick list of `comb symbols` with the thorough one, which is the reference.

    fuzz/compare_thorough.py [--comb PROGRAM] [--ctags PROGRAM] [--examples N] [--least SHARE] --lang LANGUAGE PATH...

Prints the number of definitions of each kind in both lists, in the quick one only and in the thorough one only, the time that each takes,
and examples of what differs. Definitions are the same if path, kind, name, scope, place, extent, signature and parameters are. Exit status
is 1 if the quick list lacks more than 1 - SHARE of the thorough one, or adds as much.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter

KEYS = ["path", "kind", "name", "scope", "line", "column", "end_line", "start_byte", "end_byte", "signature", "parameters"]


def run(command: list[str]) -> tuple[bytes, str, float]:
    """Standard output, standard error, and CPU time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 2):
        sys.exit(f"{command[0]} ended with {done.returncode}: {done.stderr[-400:]!r}")
    return done.stdout, done.stderr.decode(errors="replace"), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def definitions(output: bytes) -> Counter:
    found = Counter()
    for line in output.splitlines():
        one = json.loads(line)
        found[tuple(one[key] for key in KEYS)] += 1
    return found


def ctags_time(program: str, language: str, paths: list[str]) -> str:
    names = {"c": "C", "cpp": "C++", "csharp": "C#", "javascript": "JavaScript", "typescript": "TypeScript", "php": "PHP"}
    with tempfile.NamedTemporaryFile() as tags:
        name = names.get(language, language.capitalize())
        try:
            return f"{run([program, '-R', '-f', tags.name, f'--languages={name}', *paths])[2]:.2f} s"
        except FileNotFoundError:
            return "not installed"


def show(title: str, only: Counter, total: int, examples: int) -> None:
    count = sum(only.values())
    print(f"\n{title}: {count} ({count / max(total, 1):.4%})")
    for definition in sorted(only, key=str)[:: max(1, len(only) // max(examples, 1))][:examples]:
        one = dict(zip(KEYS, definition))
        print(f"  {one['path']}:{one['line']}:{one['column']} {one['kind']} {one['scope']} {one['name']} {one['start_byte']}-{one['end_byte']} {one['signature'][:90]!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--ctags", default="ctags")
    parser.add_argument("--lang", required=True)
    parser.add_argument("--examples", type=int, default=10)
    parser.add_argument("--least", type=float, default=0.999)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    options = parser.parse_args()
    command = [options.comb, "symbols", "-L", "--no-ignore", "--hidden", "--lang", options.lang, "--format", "json"]
    quick_output, quick_errors, quick_time = run([*command, *options.paths])
    output, errors, thorough_time = run([*command, "--thorough", *options.paths])
    quick, thorough = definitions(quick_output), definitions(output)
    only_quick, only_thorough = quick - thorough, thorough - quick
    total = sum(thorough.values())
    print(f"{'kind':12}{'thorough':>10}{'quick':>10}{'- quick':>10}{'+ quick':>10}")
    by_kind = [Counter() for _ in range(4)]
    for counter, part in zip(by_kind, (thorough, quick, only_thorough, only_quick)):
        for definition, count in part.items():
            counter[definition[1]] += count
    for kind in sorted(by_kind[0] | by_kind[1]):
        print(f"{kind:12}" + "".join(f"{counter[kind]:>10}" for counter in by_kind))
    print(f"{'all':12}" + "".join(f"{sum(counter.values()):>10}" for counter in by_kind))
    show("only in the thorough list", only_thorough, total, options.examples)
    show("only in the quick list", only_quick, total, options.examples)
    names_quick = Counter(d[:3] + d[4:6] for d in quick.elements())
    names_thorough = Counter(d[:3] + d[4:6] for d in thorough.elements())
    share = 1 - max(sum((names_thorough - names_quick).values()), sum((names_quick - names_thorough).values())) / max(total, 1)
    print(f"\nthe same by path, kind, name and place: {share:.4%}")
    print(f"CPU time: thorough {thorough_time:.2f} s, quick {quick_time:.2f} s, ctags {ctags_time(options.ctags, options.lang, options.paths)}")
    for name, text in (("thorough", errors), ("quick", quick_errors)):
        for line in text.splitlines()[-3:]:
            print(f"{name}: {line}")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
