#!/usr/bin/env python3
"""Differential test of the regular expressions of `comb top` against Go's regexp package, on random expressions and texts.

    fuzz/compare_go.py [--comb PROGRAM] [--runs N] [--seed N]

Needs Go in PATH. comb must accept every expression that Go accepts, select the same records with -g, and give the same keys with -s.
Texts are not always UTF-8. comb may accept expressions that Go rejects, as it has more syntax: they are counted, and printed with
--verbose. comb rejects two things that Go accepts, with an error: two groups of the same name, and a repetition of flags such as
`(?i)*`, which in Go repeats the expression before the flags.
"""

import argparse
import base64
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
package main

import (
	"encoding/json"
	"os"
	"regexp"
)

type Case struct {
	Pattern, Replacement string
	Text                 []byte
}

type Answer struct {
	Valid, Matches bool
	Edited         []byte
}

func main() {
	var cases []Case
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	answers := []Answer{}
	for _, c := range cases {
		re, err := regexp.Compile(c.Pattern)
		if err != nil {
			answers = append(answers, Answer{})
			continue
		}
		answers = append(answers, Answer{true, re.Match(c.Text), re.ReplaceAll(c.Text, []byte(c.Replacement))})
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
"""

ATOMS = ["a", "b", "é", ".", r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\b", r"\B", "^", "$", " ", "{", "}", "]", "-", "{bar}", "{,3}",
         r"\Qa.\E", r"\x{e9}", r"\x41", r"\101", r"\pL", r"\p{^Greek}", r"\PL", r"\.", r"\_", r"\<", "(?i)", "(?s)", "(?U)", "#", "&", "K",
         r"\x{FFFD}", r"\z", r"\A", "k", "1"]
MEMBERS = ["a", "b", "é", "[", "-", "&&", "~~", "--", "a-z", r"\d", r"\W", r"\s", "[:alpha:]", "[:^digit:]", "^", r"\]", r"\x41", "{", " ", "]",
           r"\pL", r"\x{FFFD}", "😀", "[:", ":", "k", "#"]
COUNTS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,}", "{,2}", "{x}", "{1,2}?", "{01}"]
PIECES = [b"a", b"b", b" ", b"[", b"]", b"-", b"{bar}", b"{", b"K", b"k", "é".encode(), "😀".encode(), b"\xe9", b"\xff", b"\xc3", b"\xa9", b"\xed\xb2\x80", b"1",
          b"&", b"~", b"#", b"<", b"A", b"_", "\ufffd".encode(), "\u212a".encode(), b"a.", b"{,3}", "α".encode()]
REFUSED = [b"duplicate capture group name", b"repetition operator missing expression"]
REPLACEMENTS = ["", "-", "<$0>", "$1", "${1}x", "$1x", r"\1", "$$", "$", "${", "[$2$1]"]


def expression(rng: random.Random, depth: int = 0) -> str:
    parts = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.55:
            part = rng.choice(ATOMS)
        elif kind < 0.8:
            part = "[" + rng.choice(["", "", "^"]) + "".join(rng.choices(MEMBERS, k=rng.randint(1, 4))) + "]"
        elif depth < 2:
            part = rng.choice(["(", "(?:", "(?i:", "(?P<n>"]) + expression(rng, depth + 1) + ")"
        else:
            part = "a|b"
        parts.append(part + (rng.choice(COUNTS) if rng.random() < 0.35 else ""))
    return rng.choice(["", "|"]).join(parts) if rng.random() < 0.2 else "".join(parts)


def by_comb(comb: str, case: dict) -> tuple[bool, bool, bytes]:
    """Whether comb accepts the expression, whether it matches, and the edited key (or the error)."""
    text = base64.b64decode(case["Text"]) + b"\n"
    chosen = subprocess.run([comb, "top", "-g", case["Pattern"]], input=text, capture_output=True)
    edit = [comb, "top", "--format", "json", "-s", case["Pattern"], case["Replacement"]]
    edited = subprocess.run(edit, input=text, capture_output=True)
    if edited.returncode == 2 or chosen.returncode == 2:
        return False, False, edited.stderr
    key = json.loads(edited.stdout)["top"][0]
    key = base64.b64decode(key["key_base64"]) if "key_base64" in key else key["key"].encode()
    return True, chosen.returncode == 0, key


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="comb")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--verbose", action="store_true", help="print expressions that only comb accepts")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    cases = []
    for _ in range(arguments.runs):
        text = b"".join(rng.choices(PIECES, k=rng.randint(0, 8)))
        case = {"Pattern": expression(rng), "Replacement": rng.choice(REPLACEMENTS), "Text": base64.b64encode(text).decode()}
        cases.append(case)
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory, "main.go")
        program.write_text(PROGRAM)
        done = subprocess.run(["go", "run", program], input=json.dumps(cases).encode(), stdout=subprocess.PIPE, check=True)
    wrong = more = refused = matching = 0
    for case, answer in zip(cases, json.loads(done.stdout)):
        valid, matches, edited = by_comb(arguments.comb, case)
        expected = answer["Valid"], answer["Matches"], base64.b64decode(answer["Edited"] or "")
        matching += expected[1]
        if not expected[0]:
            more, refused = more + valid, refused + 1
            if valid and arguments.verbose:
                print(f"only comb accepts {case['Pattern']!r}")
        elif not valid and any(reason in edited for reason in REFUSED):
            continue
        elif (valid, matches, edited) != expected:
            wrong += 1
            text = base64.b64decode(case["Text"])
            print(f"-s {case['Pattern']!r} {case['Replacement']!r} on {text!r}: Go {expected}, comb {(valid, matches, edited)}")
    print(f"seed {arguments.seed}: {arguments.runs} expressions, {matching} matching, {refused} rejected by Go ({more} of them accepted by comb), {wrong} differences")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
