#!/usr/bin/env python3
"""Draws docs/top.svg and docs/grep.svg: output of comb in a terminal, in colour.

    bench/pictures.py --comb PROGRAM --log ACCESS_LOG --linux LINUX_TREE

The log is shown as access.log; the tree is searched from its directory kernel.
"""

import argparse
import html
import re
import subprocess
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
WIDTH, CHAR, LINE = 760, 8.43, 20
STYLE = "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#d8dee9}"
PROMPT, BOLD = "#88c0d0", "#eceff4"
NAMED = {"1": "#bf616a", "2": "#a3be8c", "4": "#81a1c1", "5": "#b48ead"}

TOP = [
    "comb top -f 7 -n 5 access.log",
    "comb top -q -f 6 -g bot -v Googlebot -n 3 access.log",
    "comb top -f 1 -n 2 --profile access.log",
]
GREP = [
    "comb grep -w pm_suspend_target_state -m 3 ../include power",
    "comb grep -m 2 -C 1 'goto (Thaw|Enable)' power/hibernate.c",
    "comb grep -j 2 --profile -c 'EXPORT_SYMBOL_GPL\\(pm_' ../drivers/base",
]


def terminal_lines(comb: Path, command: str, directory: Path) -> list[str]:
    """Lines that a command prints on a terminal, with escape sequences."""
    as_on_terminal = "--pretty" if command.startswith("comb grep") else "--color always"
    line = re.sub(r"^comb \w+", lambda found: f"{comb}{found[0][4:]} {as_on_terminal}", command)
    done = subprocess.run(line, shell=True, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    lines = done.stdout.decode().replace("\t", "        ").splitlines()
    # Omits the rows after the total.
    rows = next((at for at, line in enumerate(lines) if line.startswith("total")), len(lines))
    return lines[: rows + 1]


def spans(line: str):
    """Parts of a line of the same style: offset, text, foreground and background colour, bold."""
    at, foreground, background, bold = 0, None, None, False
    for code, text in re.findall(r"(?:\x1b\[([0-9;]*)m)?([^\x1b]*)", line):
        codes = code.split(";")
        while code and codes:
            first = codes.pop(0)
            if first in ("", "0"):
                foreground, background, bold = None, None, False
            elif first == "1":
                bold = True
            elif first in ("38", "48") and codes[:1] == ["2"]:
                color = "#" + "".join(f"{int(part):02x}" for part in codes[1:4])
                foreground, background = (color, background) if first == "38" else (foreground, color)
                codes = codes[4:]
            elif first[:1] == "3" and first[1:] in NAMED:
                foreground = NAMED[first[1:]]
        if text:
            yield at, text, foreground or (BOLD if bold else None), background, bold
            at += len(text)


def drawing(commands: list[str], comb: Path, directory: Path, title: str) -> str:
    parts, y = [], 12
    for number, command in enumerate(commands):
        y += LINE + (LINE if number else 0)
        parts.append(f'<text x="18" y="{y}" fill="{PROMPT}" style="fill:{PROMPT}" xml:space="preserve">$ {html.escape(command)}</text>')
        for line in terminal_lines(comb, command, directory):
            y += LINE
            for at, text, foreground, background, bold in spans(line):
                x, width = 18 + at * CHAR, len(text) * CHAR
                if background:
                    parts.append(f'<rect x="{x:.1f}" y="{y - 15}" width="{width:.1f}" height="{LINE}" fill="{background}"/>')
                style = (f"fill:{foreground};" if foreground else "") + ("font-weight:bold" if bold else "")
                style = f' style="{style}"' if style else ""
                parts.append(f'<text x="{x:.1f}" y="{y}" textLength="{width:.1f}"{style} xml:space="preserve">{html.escape(text)}</text>')
    size = f'viewBox="0 0 {WIDTH} {y + 28}" width="{WIDTH}" height="{y + 28}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">\n<style>{STYLE}</style>\n'
    return head + f'<rect width="{WIDTH}" height="{y + 28}" rx="8" fill="#20252e"/>\n' + "\n".join(parts) + "\n</svg>\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--linux", type=Path, required=True)
    arguments = parser.parse_args()
    comb = arguments.comb.resolve()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "access.log").symlink_to(arguments.log.resolve())
        (DOCS / "top.svg").write_text(drawing(TOP, comb, Path(directory), "comb top in a terminal"))
    (DOCS / "grep.svg").write_text(drawing(GREP, comb, arguments.linux / "kernel", "comb grep in a terminal"))


if __name__ == "__main__":
    main()
