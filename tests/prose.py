#!/usr/bin/env python3
"""Checks the words of documents, comments and messages against a list.

Usage: tests/prose.py [FILE]...        (default: every file that git tracks)

Rules are regular expressions with a suggestion each. In Rust, Python and shell files they apply to comments and
string literals, in Markdown to everything outside of code; some apply to comments and documents alone. A line that has
to say a word says why: `prose: allow`.
Exit status: 0 without findings, 1 with some, 2 if a file cannot be read.
"""

import re
import subprocess
import sys
from pathlib import Path

# (expression, suggestion); letter case is ignored.
WORDS = [
    (r"\bwho(m|so)?ever\b", "name the subject: a caller, a thread, a user"),
    (r"\bnobody\b", "name the subject: no thread, no caller"),
    (r"\b(what|which)ever\b", "'all input', 'any N', or a plain 'if'"),
    (r"\bhow(so)?ever (many|much|long|large|often)\b", "'any number of', 'of any length'"),
    (r"\bso (many|much)\b", "state the number: 'exactly N threads'"),
    (r"\bthat which\b", "name the thing"),
    (r"\b(what|that) is left of\b", "'the rest of', 'the remaining'"),
    (r"\bpass(es|ed|ing)? over (a|an|the|what|hidden|binary|file|it|them)\b", "'skip'"),
    (r"\bas (it|they) stands?\b", "'literal', 'unchanged'"),
    (r"\btells? .{1,30} apart\b", "'distinguish', 'ignore case'"),
    (r"\bwithout a word\b", "'silently'"),
    (r"\bwith nothing in (memory|its hands)\b", "'cold cache', 'holding no work'"),
    (r"\b(all of them|all|whole) or not at all\b", "'atomically'"),
    (r"\bgives? (it|the processor|the core) up\b", "'voluntary context switch'"),
    (r"\bleads? in a circle\b", "'symlink loop'"),
    (r"\bout of order\b(?! (execution|results?))", "'unavailable', 'corrupt', 'unordered'"),
    (r"\bplain twin\b", "'reference implementation'"),
    (r"\b(fifteen|ten|twenty|\d+) times (sooner|as fast)\b", "'15× faster'"),
    (r"\bprocessor time\b", "'CPU time'"),
    (r"\bhow often (it|they)\b", "'the number of …'"),
    (r"\basks? (after|nobody)\b", "'checks', 'without coordination'"),
    (r"\bfinds? (it|this) out\b", "'adapts', 'determines'"),
    (r"\bby and by\b", "'gradually'"),
    (r"\bsay(s)? so\b(?! in)", "'reports it', 'is set'"),
    (r"\bhere(by|in|of|with)\b|\bthere(by|in|of|with|upon)\b|\bwhere(by|in|of|upon)\b", "a plain clause"),
    (r"\blest\b|\bsave for\b|\bbut for\b|\bnought\b|\bamongst\b|\bwhilst\b", "'except', 'so that … not', 'among', 'while'"),
]

# The same for comments and documents alone: names and messages may say these.
WORDS_OF_COMMENTS = [
    (r"(?-i:\bOf\b)", "the subject first: 'Only N of them are …'"),
    (r"\bof which\b", "two sentences, or 'whose', 'including'"),
    (r"(?<!\bleft )(?<!\blook-)\bbehind\b(?! (a proxy|lighttpd)\b)", "'after', 'past the end', 'in'"),
    (r"\bas far as\b", "'if', 'the readable part', 'up to N'"),
    (r"\bgo(es)? on\b", "'continues', 'runs'"),
    (r"\btells\b", "'reports', 'shows', 'determines', 'returns'"),
]


def compiled(words):
    return [(re.compile(expression, re.IGNORECASE), suggestion) for expression, suggestion in words]


RULES = compiled(WORDS)
COMMENT_RULES = compiled(WORDS_OF_COMMENTS)

# Openings of a doc comment that hide its subject.
OPENINGS = re.compile(r"^\s*(///|//!)\s+(What|Who|Whoever|Whatever|How many|How much|How often|So many|That which|Those (who|that|which)|Into (how|which))\b")

# Parts of a line that are read, by the suffix of the file: comments and string literals.
PARTS = {
    ".rs": re.compile(r'//.*|"(?:\\.|[^"\\])*"?'),
    ".py": re.compile(r'#.*|"""|"(?:\\.|[^"\\])*"?'),
    ".sh": re.compile(r"#.*"),
    "": re.compile(r"#.*"),
}


def prose(path, text):
    """Yields the number of each line, the text to be read in it, and the part of that text that is a comment or a document."""
    if path.suffix == ".md":
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced and not line.startswith("    "):
                words = re.sub(r"`[^`]*`", "`…`", line)
                yield number, words, words
        return
    part = PARTS[path.suffix]
    docstring = False
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix == ".py":
            marks = line.count('"""')
            if docstring or marks:
                yield number, line, line
            docstring ^= marks % 2 == 1
            if docstring or marks:
                continue
        parts = part.findall(line)
        comment = "".join(parts[-1:]) if parts and parts[-1].startswith(("//", "#")) else ""
        # A line without code may continue a Rust string literal.
        is_text = path.suffix == ".rs" and not re.search(r"[;{}()=]", line)
        yield number, line if is_text else " ".join(parts), comment


def findings(path, text):
    """Yields a message for each word that the list knows a better one for."""
    for number, line, comment in prose(path, text):
        if "prose: allow" in line:
            continue
        if OPENINGS.match(line):
            yield f"{path}:{number}: opening of a comment: {line.strip()[:60]!r}: lead with the noun or the verb"
        for rules, words in ((RULES, line), (COMMENT_RULES, comment)):
            for expression, suggestion in rules:
                for found in expression.finditer(words):
                    yield f"{path}:{number}: {found.group()!r}: {suggestion}"


def tracked():
    """The files that git tracks and that hold prose."""
    names = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.splitlines()
    scripts = ("tests/install", "tests/run", "tests/long", ".ci/run", "bench/gate")
    return [Path(n) for n in names if Path(n).suffix in (".rs", ".py", ".sh", ".md") or n in scripts]


def main():
    paths = [Path(name) for name in sys.argv[1:]] or tracked()
    count = 0
    for path in paths:
        if path.name == "prose.py":
            continue
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            sys.exit(f"prose: {path}: {error}")
        for message in findings(path, text):
            count += 1
            print(message)
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
