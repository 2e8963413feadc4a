#!/usr/bin/env python3
"""Differential test of `comb grep ARGS` against `rg --sort path ARGS`: the same standard output and exit status.

    bench/compare_grep.py [--tree DIR] [--data DIR] [--log FILE] [--extra] [--widths 1,2,3,8,64] [--only TEXT]

    --tree DIR     a source tree of Linux with its ignore files (run `git init` there if it has no .git);
                   most command lines run in it, without a path argument
    --data DIR     a directory of logs, one of them with CRLF (default: samples, and a CRLF copy of it)
    --log FILE     a large log, for outputs of hundreds of megabytes
    --extra        also run a long list of command lines on a directory of generated edge cases

Needs ripgrep 15 in PATH. Prints a line per command line: ok or DIFFERENT, and the exit status and output size of ripgrep. Outputs
are written to disk and compared as streams. Times are masked in both: the elapsed times of --json and the two lines of seconds of
--stats. Standard error is not compared.

WEAK marks a command line for which the exit status of ripgrep is not the expected one, since the tree lacks a match: it tests less
than intended. UNSTEADY marks one with several valid outputs of ripgrep, one of them from comb (only with a late NUL in a pipe). The
exit status is 1 if anything differs.
"""

import argparse
import filecmp
import itertools
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

WORDS = """PM_RESUME PM_SUSPEND kmalloc kzalloc spin_lock_irqsave mutex_lock_interruptible dev_err_probe of_match_table
platform_driver module_init late_initcall request_irq free_irq ioremap readl_relaxed writel_relaxed usb_register regmap_write
clk_prepare_enable devm_clk_get i2c_transfer skb_put netif_rx napi_schedule copy_from_user copy_to_user rcu_read_lock
list_for_each_entry_safe schedule_timeout wake_up_interruptible""".split()


@dataclass
class Row:
    """A command line. Placeholders such as @plain@ stand for files that are determined at run time."""

    line: str
    # Working directory, relative to that of its group.
    folder: str = "."
    # File for standard input, through a pipe or redirected; otherwise /dev/null.
    pipe: str | None = None
    redirect: str | None = None
    # Expected exit status of ripgrep; another one makes the row weak.
    expect: int = 0
    # Compares the exit status alone.
    only_code: bool = False
    # The output of ripgrep depends on the size of each read from the pipe.
    may_vary: bool = False

    def label(self) -> str:
        text = self.line
        if self.folder != ".":
            text = f"cd {self.folder}; {text}"
        if self.pipe:
            text = f"{text}   (pipe: {self.pipe})"
        if self.redirect:
            text = f"{text} < {self.redirect}"
        return text

    def has_times(self) -> bool:
        return "--json" in self.line or "--stats" in self.line


@dataclass
class Group:
    name: str
    root: Path
    rows: list[Row]
    names: dict[str, str]
    environment: dict[str, str] = field(default_factory=dict)


def tree_rows() -> list[Row]:
    many = " ".join(f"-e {word}" for word in WORDS)
    return [
        # Patterns.
        Row("PM_RESUME"),
        Row("-n PM_RESUME"),
        Row("-n xyzzy_nowhere_to_be_found", expect=1),
        Row("-n Torvalds"),
        Row("-n return"),
        Row("-i pm_resume"),
        Row("-ni pm_resume"),
        Row("-S pm_resume"),
        Row("-S Pm_Resume", expect=1),
        Row("-s pm_resume"),
        Row("-w pm"),
        Row("-nw pm"),
        Row("-nwi 'pm|suspend'"),
        Row(r"-x '\s*return 0;'"),
        Row(r"-xc '\}'"),
        Row("-nF '(*func)('"),
        Row("-nF -e '->dev.of_node' -e '[i].'"),
        Row("-cF '.'"),
        Row("-n '[A-Z]+_SUSPEND'"),
        Row(r"-n 'EXPORT_SYMBOL_GPL\(.*_register'"),
        Row(r"-n '^\s*#\s*define\s+\w+_RESUME\b'"),
        Row(r"-n '(foo|bar|baz)\d+\s*='"),
        Row(r"-n '\bsuspend\b.*\bresume\b'"),
        Row(f"-n {many}"),
        Row(f"-c {many}"),
        Row("-n -f @patterns@"),
        Row("-n -f @patterns@ -e Torvalds"),
        Row("-nF -f @patterns@"),
        Row("-n -e -foo"),
        Row("-n -- -foo"),
        Row("-n '[äöüß]'"),
        Row("-ni 'MÜLLER'"),
        Row(r"-no '\p{Greek}+'"),
        Row(r"-n --no-unicode '\bK\w+\xc3'"),
        Row(r"-nic --no-unicode 'kelvin|\W{40}'"),
        Row(r"-n '(?-u:\xc3\xa9)[a-z]'"),
        Row(r"-n '(?-u:\xe9)[a-z]'", expect=1),
        # Counting, listing.
        Row("-c PM_RESUME"),
        Row("-c return"),
        Row("-c ''"),
        Row("--count-matches return"),
        Row("--count-matches -i 'pm_[a-z]'"),
        Row("-c --include-zero PM_RESUME", "drivers/usb"),
        Row("--count-matches --include-zero return", "kernel"),
        Row("-l PM_RESUME"),
        Row("-l return"),
        Row("--files-without-match return"),
        Row("--files-without-match PM", "fs"),
        Row("-c -l PM_RESUME"),
        # Matches only, offsets, replacements.
        Row("-o 'PM_[A-Z]+'"),
        Row("-no 'PM_[A-Z]+'"),
        Row("-o -b 'PM_[A-Z]+'"),
        Row("-b PM_RESUME"),
        Row("-nb --column PM_SUSPEND"),
        Row("-n -r '$2-$1' '(PM)_([A-Z]+)'"),
        Row("-o -r '<$tail>' 'PM_(?P<tail>[A-Z]+)'"),
        Row("-n -r '' PM_SUSPEND"),
        Row("-nob -r '$0$0' 'PM_RES'"),
        # Inverted matches.
        Row("-v '[a-z;]'", "net"),
        Row("-nv '[a-z; ]'", "kernel"),
        Row("-v -c e"),
        Row("-v -c ''", expect=1),
        Row("-vl e", "include"),
        # Context.
        Row("-A 3 PM_RESUME"),
        Row("-nB 3 PM_RESUME"),
        Row("-nC 3 PM_SUSPEND"),
        Row("-nC 50 PM_RESUME"),
        Row("-nC 1000 PM_RESUME"),
        Row("-nC 1 return", "kernel"),
        Row("-nA 2 -B 7 'if \\('", "block"),
        Row("-n -C 2 --heading PM_SUSPEND"),
        Row("-nC 1 --context-separator '<==>' PM_SUSPEND"),
        Row("-nC 1 --no-context-separator PM_SUSPEND"),
        Row("-nC 1 --context-separator '' PM_RESUME"),
        Row("--passthru pm_runtime_resume", "drivers/base"),
        Row("-n --passthru -o suspend", "kernel/power"),
        Row("-vnC 1 '[a-z{}]'", "mm"),
        # Limits.
        Row("-m 1 return"),
        Row("-nm 3 -A 2 return"),
        Row("-c -m 5 return"),
        Row("-nvm 2 e"),
        Row("-m 0 return", expect=1),
        Row("-n --stop-on-nonmatch include", "drivers/usb"),
        # Across lines.
        Row(r"-Un 'struct \w+ \{\n\s+int \w+;'"),
        Row(r"-Uo '\breturn\s*\n\s*\w+'"),
        Row(r"-Unob 'else\n\s+return -E[A-Z]+;'"),
        Row(r"-Uc '\{\n\}'"),
        Row(r"-U --count-matches '\{\n\}'"),
        Row(r"-Un -r '$1 $2' '(else)\n\s+(return)'", "kernel"),
        Row(r"-Un --multiline-dotall 'PM_SUSPEND.{0,200}?PM_RESUME'"),
        Row(r"-Un --multiline-dotall -o '/\*.*?\*/'", "init"),
        Row(r"-UnC 2 'goto \w+;\n\s*\}\n\n'", "fs/ext4"),
        Row(r"-Uv -c '\{\n'", "kernel"),
        Row(r"-Ul '\n\n\n\n'"),
        Row(r"-Un PM_RESUME"),
        Row(r"-n 'a\nb'", expect=2, only_code=True),
        # Machine-readable output.
        Row("--json PM_RESUME"),
        Row("--json -C 1 PM_SUSPEND"),
        Row(r"--json -U 'else\n\s+return -E[A-Z]+;'", "kernel"),
        Row("--json -m 2 return", "drivers/usb"),
        Row("--json -v '[a-z]'", "init"),
        Row("--json -r X PM_RESUME"),
        Row("--json -n '[äöüß]'"),
        Row("--stats PM_RESUME"),
        Row("--stats -c return"),
        Row("--stats --count-matches return", "kernel"),
        Row("--stats -nC 2 PM_SUSPEND"),
        Row("--stats xyzzy_nowhere_to_be_found", expect=1),
        Row("--column PM_RESUME"),
        Row("--vimgrep PM_SUSPEND"),
        Row("--vimgrep return", "kernel/power"),
        Row("--vimgrep -C 1 PM_RESUME"),
        # Format of lines.
        Row("-N PM_RESUME"),
        Row("-nI PM_RESUME"),
        Row("-nH PM_RESUME"),
        Row("-n --trim PM_RESUME"),
        Row("-n --trim -C 2 PM_SUSPEND"),
        Row("-n -M 80 PM_SUSPEND"),
        Row("-n -M 80 --max-columns-preview PM_SUSPEND"),
        Row("-no -M 8 'PM_[A-Z]+'"),
        Row("-nC 2 -M 40 PM_SUSPEND"),
        Row("--heading PM_SUSPEND"),
        Row("--heading -n PM_SUSPEND"),
        Row("--heading -c PM_SUSPEND"),
        Row("-p PM_RESUME"),
        Row("-n0 PM_RESUME"),
        Row("-0 -l PM_RESUME"),
        Row("-0 -c PM_RESUME"),
        Row("-n --field-match-separator '\\t' PM_RESUME"),
        Row("-nC 1 --field-context-separator '\\x00' --field-match-separator '##' PM_RESUME"),
        Row("-n --path-separator '\\' PM_RESUME"),
        Row("-n --color always PM_RESUME"),
        Row("--color always --heading PM_SUSPEND"),
        Row("--color always --heading -nC 2 PM_RESUME"),
        Row("--color always -on 'PM_[A-Z]+'"),
        Row("--color always -n --column -b PM_RESUME"),
        Row("--color always -c PM_RESUME"),
        Row("--color always -l PM_RESUME"),
        Row("--color always -n --colors match:fg:blue --colors path:none --colors line:style:bold PM_RESUME"),
        Row("--color ansi -n --colors match:bg:0xff,0x00,0x80 -r '<$0>' PM_RESUME"),
        Row("--color always --vimgrep PM_RESUME"),
        Row(r"--color always -Un 'else\n\s+return -E[A-Z]+;'", "kernel"),
        # Selection of files.
        Row("-n -g '*.h' PM_SUSPEND"),
        Row("-n -g '!*.c' PM_SUSPEND"),
        Row("-n -g 'drivers/**' -g '!drivers/usb/**' PM_SUSPEND"),
        Row("-n -g '/kernel/**' -g '!*.h' suspend"),
        Row("-n -g '/kernel/' suspend", expect=2),
        Row("-n --iglob '*.RST' PM_SUSPEND"),
        Row("-n --glob-case-insensitive -g 'MAKEFILE*' obj"),
        Row("-n -t c PM_SUSPEND"),
        Row("-n -T c PM_SUSPEND"),
        Row("-c -t make -t kconfig PM"),
        Row("-n --type-add 'dts:*.{dts,dtsi}' -t dts suspend"),
        Row("-n --type-clear c --type-add 'c:*.h' -t c PM_SUSPEND"),
        Row("-n -t no_such_type PM_SUSPEND", expect=2, only_code=True),
        Row("--type-list"),
        Row("--type-add 'own:*.own' --type-list"),
        Row("-nu PM_SUSPEND"),
        Row("-nuu PM_SUSPEND"),
        Row("-n --hidden PM_SUSPEND"),
        Row("-n --no-ignore PM_SUSPEND"),
        Row("-n --no-ignore-vcs PM_SUSPEND"),
        Row("-n --no-ignore-parent PM", "kernel/power"),
        Row("-cuu e", "tools/testing/selftests/net"),
        Row("-cuuu e", "tools/testing"),
        Row("-nuuu ELF", "tools"),
        Row("-n --ignore-file @ignore@ PM_SUSPEND"),
        Row("-n --max-depth 2 PM"),
        Row("-n -d 1 linux"),
        Row("-n --max-filesize 4K PM_SUSPEND"),
        Row("-c --one-file-system PM_SUSPEND"),
        Row("--files"),
        Row("--files -g '*.rs'"),
        Row("--files -g '!*.c' -g '!*.h'"),
        Row("--files -uu"),
        Row("--files -0 -t py"),
        Row("--files --max-depth 3"),
        Row("--files drivers/usb include/linux/usb.h Documentation/usb"),
        Row("--files -g '*.nowhere'", expect=1),
        Row("-g '*.nowhere' PM", expect=2),
        # Bytes.
        Row("-na PM_SUSPEND"),
        Row(r"-ca '\x00'"),
        Row("-n --binary PM_SUSPEND"),
        Row("-c -E utf-16le e", "drivers/base", expect=1),
        Row("-n -E utf-16le '[一-龥]{10}'", "lib"),
        Row("-c -E none return", "kernel"),
        Row("-n -E latin1 'Ã'"),
        Row("-c --null-data PM_RESUME"),
        Row("-c --crlf ';$'", "kernel"),
        Row("-n --no-mmap PM_SUSPEND"),
        Row("-n --mmap PM_SUSPEND", "kernel"),
        # Path arguments.
        Row("-n suspend drivers/usb include/linux/usb.h drivers/net/usb"),
        Row("-n suspend include/linux/usb.h drivers/usb/core"),
        Row("-n suspend drivers/usb/"),
        Row("-n suspend ./drivers/usb"),
        Row("-n suspend ."),
        Row("-n suspend ./"),
        Row("-n suspend ../power ../../include/linux/pm.h", "kernel/power"),
        Row("-n suspend drivers//usb kernel/../kernel/power"),
        Row("-n suspend kernel/power kernel/power"),
        Row("-n suspend include/linux/pm.h"),
        Row("-c suspend include/linux/pm.h"),
        Row("-n suspend include/linux/pm.h -g '*.c'"),
        Row("-n suspend kernel/power no/such/path include/linux/pm.h", expect=2),
        Row("-n --no-messages suspend kernel/power no/such/path", expect=2),
        Row("-n suspend no/such/path", expect=2),
        Row("--files kernel/power no/such/path", expect=2),
        # Exit status.
        Row("-q PM_RESUME"),
        Row("-q xyzzy_nowhere_to_be_found", expect=1),
        Row("-q suspend kernel/power no/such/path"),
        Row("-q nowhere_to_be_found kernel/power no/such/path", expect=2),
        Row("-q --files"),
        Row("--json -q xyzzy_nowhere_to_be_found kernel", expect=1),
        Row("-n 'foo('", expect=2, only_code=True),
        Row("-n '*foo' '[z-a]'", expect=2, only_code=True),
        Row("--no-such-flag PM", expect=2, only_code=True),
        Row("-A many PM", expect=2, only_code=True),
        Row("-f no/such/file", expect=2, only_code=True),
        Row("", expect=2, only_code=True),
    ]


def data_rows() -> list[Row]:
    rows = [
        Row(line)
        for line in [
            r"-n '\d+:\d\d' @plain@",
            r"'1\d' @plain@",
            "-c 1 @plain@",
            "-c 1 @other@ @plain@ @crlf@",
            "-n 11 @other@ @plain@ @crlf@",
            "-n 11 @plain@ @plain@",
            "-nH 11 @plain@",
            "-nI 11 @plain@ @crlf@",
            "-n 11",
            "-c 11",
            "--heading -n 111",
            "-l 11",
            "-C 2 -n 1111",
            "-o '[0-9]{3,}'",
            r"-ob '\d\d:\d\d' @plain@ @crlf@",
            r"--count-matches '\d'",
            r"-r '$b:$a' -n '(?P<a>\d\d):(?P<b>\d\d)' @plain@",
            r"-v -n '[5-9]'",
            "--passthru 11 @crlf@",
            "-m 7 -n 1",
            "-nM 120 11",
            "-nM 120 --max-columns-preview 11",
            "--json 111",
            "--json 111 @plain@",
            "--stats -n 111",
            "--stats -c 111 @plain@",
            "--vimgrep 11 @plain@",
            "--column 11 @crlf@",
            "--trim 11 @crlf@",
            "--color always -n 11 @plain@",
            "--color always -n 11",
            "-a -c ''",
            "-E none -c 1",
            "-E latin1 -c 1",
            r"--crlf -c '\w$' @crlf@",
            r"--crlf -n '\w+$' @crlf@",
            r"--crlf -no '\w+$' @crlf@",
            r"--crlf -n -r '<$0>' '\w+$' @crlf@",
            r"--crlf -nC 1 '1$' @crlf@",
            r"--crlf --json '1$' @crlf@",
            r"--crlf -x -n '.*1' @crlf@",
            r"--crlf -vn '[a-z]$' @crlf@",
            r"--crlf -Un '\w+$\n1' @crlf@ @plain@",
            r"--crlf -c '^$'",
            "--crlf --passthru 11 @crlf@",
            r"-c '\r$' @crlf@",
            r"-Uc '\r\n' @crlf@",
            r"-Uo '1\r\n\S+' @crlf@",
            r"-Un --multiline-dotall '11.{1,300}?22'",
            "--null-data -c 11",
            "--null-data -o 111 @plain@",
            "--mmap -n 11 @plain@",
            "--no-mmap -n 11 @plain@",
            "-q 11 @plain@",
        ]
    ]
    rows += [
        Row(r"-c '\w$' @crlf@", expect=0),
        Row("-n 11 @plain@ no_such_file @crlf@", expect=2),
        Row("-n nowhere_to_be_found @plain@", expect=1),
        Row("-c nowhere_to_be_found @plain@", expect=1),
        Row("-c --include-zero nowhere_to_be_found @plain@ @crlf@", expect=1),
    ]
    for line in ["-n 11", "-n 11 -", "-c 11", "-n 11 - @crlf@", "-n 11 @crlf@ -", "-C 3 111", "-l 11", "--json -m 5 11",
                 "-H -n 11", "--passthru 11", "-v -c 111", "--stats 111", "--vimgrep 111", "-m 2 -n 1"]:
        rows.append(Row(line, pipe="@plain@"))
    rows += [
        Row("-n 11", redirect="@plain@"),
        Row("-b -n 11 -", redirect="@plain@"),
        Row("-Uc '1\\r\\n'", pipe="@crlf@"),
        Row("--crlf -n '1$'", pipe="@crlf@"),
        Row("-f - @plain@", pipe="@patterns@", expect=1),
    ]
    return rows


def log_rows() -> list[Row]:
    rows = [
        Row(line)
        for line in [
            "-c '' @log@",
            "-c 'googlebot|bingbot|Twitterbot' @log@",
            "-n ':12:34:5' @log@",
            "-nb ':12:34:5[0-9]' @log@",
            "-n Linux @log@",
            "Linux @log@",
            r"-no ':\d\d:34:5\d' @log@",
            "-C 2 -n ':12:34:5[0-9]' @log@",
            "-vc 1 @log@",
            "-vn Mozilla @log@",
            "--count-matches 1 @log@",
            "-m 5 -n 1 @log@",
            "-m 100000 -n Linux @log@",
            "-m 100 -C 100 -n ':12:34' @log@",
            "--json ':12:34:5' @log@",
            "--stats -c Linux @log@",
            "-n -M 200 ':12:34' @log@",
            "-n -r '$1' '(:12):34' @log@",
            r"-Uc '\W\n5' @log@",
            r"-Unob ':12:34.*\n.*:12:3[45]' @log@",
            "--no-mmap -n ':12:34:5' @log@",
            "-E none -c Linux @log@",
            "-nH ':12:34:5' @log@ @log@",
            "--passthru -N ':12:34:5' @log@",
        ]
    ]
    rows += [
        Row("-n ':12:34:5'", pipe="@log@"),
        Row("-c Linux", pipe="@log@"),
        Row("-m 3 -n Linux", pipe="@log@"),
        Row("-n ':12:34:5' -", redirect="@log@"),
        Row("-q nowhere_to_be_found @log@", expect=1),
        Row("-q ':12:34:5' @log@"),
    ]
    return rows


# Large edge cases; every line of the first matches.
LARGE = ["dense.txt", "sparse.txt", "crlf.txt"]


def nothing_left(line: str, name: str) -> int:
    """Expected exit status: 1 if lines that do not match are selected from a file in which all do."""
    return int(name == "dense.txt" and line.startswith("-v"))


def extra_rows() -> list[Row]:
    rows = [
        Row(line)
        for line in [
            # All files, without a path argument.
            "needle",
            "-n needle",
            "-ni NEEDLE",
            "-nw needle",
            "-x needle",
            "-c needle",
            "--count-matches needle",
            "-c --include-zero needle",
            "-c ''",
            "-n '^$'",
            "-c '^'",
            "--count-matches ''",
            "--count-matches 'x*'",
            r"-c '\z'",
            "-no 'x*needle'",
            "-o 'z*' small",
            "-nob 'e*' small",
            "-r '-' 'e*' small",
            "-l needle",
            "-l ''",
            "--files-without-match needle",
            "-o needle",
            "-nob needle",
            "-n -r '[$0]' needle",
            "-no -r '$1' 'n(ee)dle'",
            "-v -c needle",
            "-vn needle small",
            "-von needle small",
            "-nC 2 needle",
            "-nA 1 -B 30 needle",
            "--passthru needle small",
            "-n --passthru needle",
            "--passthru -v needle small",
            "-m 1 -n needle",
            "-m 3 -nA 2 needle",
            "-m 2 -vn needle",
            "-m 1 -c needle",
            "--json needle",
            "--json -C 1 needle small",
            "--json -m 2 needle",
            "--json -v needle small",
            "--json ''  small",
            r"--json -U 'needle\n\w+'",
            "--stats -n needle",
            "--stats -c ''",
            "--stats -l needle",
            "--stats -v -c needle",
            "--column needle",
            "--vimgrep needle",
            "--vimgrep -o needle small",
            "--trim -n needle",
            "-nM 80 needle",
            "-nM 80 --max-columns-preview needle",
            "-nM 80 -o 'needle.*'",
            "-nM 80 -r '<$0>' needle",
            "-nM 80 -C 1 needle",
            "-cM 80 needle",
            "--heading needle",
            "--heading -nC 1 needle",
            "-0 needle",
            "-0 -l needle",
            "-0 --files",
            "--color always -n needle",
            "--color always --heading -nC 1 needle",
            "--color always -no needle",
            "--color always -l needle",
            "--color always --vimgrep needle small",
            "--color always -r X -n needle small",
            "--color always -M 80 -n needle",
            "--color always -v -n needle small",
            "--color always --crlf -n 'needle$'",
            "--crlf -n 'needle$'",
            "--crlf -no '\\w+$' small",
            "--crlf -r X -n 'needle$'",
            "--crlf --passthru -n 'needle$' small",
            "--crlf -c '^$'",
            "-a -n needle",
            "-a -c ''",
            "-a -o 'needle.*'",
            "-na '\\x00'",
            "--binary -n needle",
            "--binary -c needle",
            "--binary -l needle",
            "--binary -v -c needle",
            "--binary -nC 1 needle bytes",
            "--binary -m 1 needle bytes",
            "--binary --json needle bytes",
            "--json needle bytes",
            "--null-data -n needle bytes",
            "--null-data -c needle",
            "--null-data -o needle bytes small",
            "-E none -n needle bytes",
            "-E utf-16le -n needle bytes",
            "-E utf-16be -c needle bytes",
            "-E utf-16 -nb needle bytes",
            "-E latin1 -n 'needle.' bytes",
            "-nb needle bytes",
            "-b -o needle bytes",
            "-n --no-unicode 'needle.' bytes",
            r"-n '(?-u:[\x80-\xff])' bytes",
            "-n --no-encoding needle bytes",
            r"-n '^\x{feff}?needle' bytes",
            "-n '^first needle' bytes",
            "--no-mmap -n needle",
            "--no-mmap -n needle bytes",
            "--mmap -n needle bytes",
            # Selection of files.
            "--files",
            "--files -u",
            "--files -uu",
            "--files -uuu",
            "--files --hidden",
            "--files --no-ignore",
            "--files --no-ignore-vcs",
            "--files --no-ignore-dot",
            "--files --no-ignore-exclude",
            "--files --no-ignore-global",
            "--files --no-require-git",
            "--files --no-require-git plain",
            "--files --no-ignore-files --ignore-file @ignore@",
            "--files --ignore-file @ignore@",
            "--files --ignore-file-case-insensitive",
            "--files --max-depth 1",
            "--files --max-depth 2",
            "--files --max-filesize 100",
            "--files --max-filesize 1M",
            "--files -g '*.txt'",
            "--files -g '!ignored'",
            "--files -g '*.log'",
            "--files -g '**/inner/**'",
            "--files -g '*.{c,h}' -g '!*.h'",
            "--files --iglob '*.TXT'",
            "--files -t txt",
            "--files -T txt",
            "--files ignored",
            "--files ignored/inner",
            "--files ./ignored plain small",
            "--files small/ ./bytes/ names",
            "-n needle ignored",
            "-nu needle ignored",
            "-n needle ignored/by_git.log",
            "-n needle .hidden_folder",
            "-n --hidden needle",
            "-nuu needle",
            "-nuuu needle",
            "-n needle links/to_file",
            "-n needle links/to_folder",
            "-n needle links/to_folder/",
            "-n needle names",
            "-n0 needle names",
            "--heading needle names",
            "--json needle names",
            "--vimgrep needle names",
            "--color always -l needle names",
            "-n --path-separator '+' needle names deep",
            "-n needle deep",
            "-n needle order",
            "--files order",
            "-c needle order small order",
            "-n needle small/empty.txt small/no_newline.txt",
            "-n needle 'names/with space.txt'",
            # Block borders.
            "-nb needle blocks.txt",
            "-c '' blocks.txt",
            "-vc needle blocks.txt",
            "-nC 1 needle blocks.txt",
            "-o -b needle blocks.txt long_lines.txt",
            "-cv needle long_lines.txt",
            "-nM 100 needle long_lines.txt",
            "-nM 100 --max-columns-preview needle long_lines.txt one_line.txt",
            "--count-matches needle one_line.txt",
            "-ob needle one_line.txt",
            "-r '' -c needle one_line.txt",
            "-c '' one_line.txt",
            "-C 1 -n ^last one_line.txt long_lines.txt",
            r"-Un 'begin\n(?:.*\n)*?end' spans.txt",
            r"-Uc 'begin\n(?:.*\n)*?end' spans.txt",
            r"-U --count-matches 'begin\n(?:.*\n)*?end' spans.txt",
            r"-Uob 'begin\n(?:.*\n)*?end' spans.txt",
            r"-Uv -n 'begin\n(?:.*\n)*?end' spans.txt",
            r"-UnC 2 'begin\n(?:.*\n)*?end' spans.txt",
            r"-Un -r 'gone' 'begin\n(?:.*\n)*?end' spans.txt",
            r"-U --json 'begin\n(?:.*\n)*?end' spans.txt",
            r"-U --vimgrep 'begin\n(?:.*\n)*?end' spans.txt",
            r"-U --column -m 3 'begin\n(?:.*\n)*?end' spans.txt",
            r"-U --color always -n 'begin\n(?:.*\n)*?end' spans.txt",
            r"-U --multiline-dotall -c 'begin.*?end' spans.txt",
            r"-U --multiline-dotall -c 'begin.*end'",
            r"-U --passthru -n 'end of it\noutside' spans.txt",
            r"-U --stats -c 'end of it\n' spans.txt",
            r"-Un '\n' small",
            r"-Uno '\nneedle' small bytes",
            r"-Un 'needle\s*\z' small",
            r"-Un '(?s)needle.*needle' small bytes",
            r"-Un '$\s^' small",
            r"-U --crlf -no 'needle$' small",
        ]
    ]
    for name in LARGE:
        for line in ["-n needle", "-c needle", "-nb needle", "-vn needle", "-vc needle", "--passthru needle", "-n --passthru needle",
                     "--json needle", "--json -C 3 needle", "-on needle", "-ob '[a-z]+ needle'", "--count-matches '[aeiou]'",
                     "-n -r '<$0>' needle", "--stats needle", "-vc --stats needle", "--vimgrep needle", "--crlf -c '\\w$'",
                     "--color always -n needle", "-q needle", "-l needle", "-nM 40 needle", "--trim -n needle", "--heading -nH needle",
                     "-Un 'needle.*\\n.*'", "-Uc '\\n1'", "-nx '.*needle.*'", "-nw needle", "-ni NEEDLE", "--null-data -c needle",
                     "-a -n needle", "-E none -n needle", "--no-mmap -nC 4 needle", "-vnC 2 needle", "-vnA 1 -m 5 needle",
                     "--stop-on-nonmatch -n needle"]:  # fmt: skip
            rows.append(Row(f"{line} {name}", expect=nothing_left(line, name)))
        for count in [1, 2, 3, 10, 84, 999, 1000, 1001, 5000]:
            rows.append(Row(f"-n -m {count} needle {name}"))
            rows.append(Row(f"-n -m {count} -C 2 needle {name}"))
            rows.append(Row(f"-vn -m {count} needle {name}", expect=nothing_left("-v", name)))
        for line in ["-n -m 3 -A 2 needle", "-nC 2 needle", "-c needle", "-vn needle", "--passthru needle", "--json -m 20 needle"]:
            rows.append(Row(line, pipe=name, expect=nothing_left(line, name)))
        rows.append(Row("-n -m 3 needle -", redirect=name))
    for lines in range(1, 51):
        rows.append(Row(f"-n -C {lines} needle sparse.txt"))
        rows.append(Row(f"-n -A {lines} -B {51 - lines} needle spans.txt blocks.txt"))
        if lines % 10 == 0:
            rows.append(Row(f"-n -C {lines} 'needle.*7' dense.txt"))
            rows.append(Row(f"-n -m 40 -C {lines} 'needle.*7' dense.txt"))
    for lines in [499, 500, 501, 1000, 100000]:
        rows.append(Row(f"-n -C {lines} needle sparse.txt"))
        rows.append(Row(f"-n -B {lines} -m 3 needle sparse.txt"))
        rows.append(Row(f"-n -C {lines} needle", pipe="sparse.txt"))
    for name in ["nul_early.bin", "nul_late.bin", "nul_after_match.bin", "utf16le.txt", "utf16be.txt", "utf8_bom.txt", "invalid.txt"]:
        for line in ["needle", "-n needle", "-c needle", "-l needle", "-nv again", "-o needle", "-b needle", "-m 1 needle",
                     "-C 1 needle", "--json needle", "-a -n needle", "--binary -n needle", "-U -n needle", "-U --binary -c needle",
                     "--no-mmap -n needle", "--mmap -n needle", "--stats -c needle", "--passthru needle", "--files-without-match xyz",
                     "-q needle", "-r X needle", "--count-matches needle"]:  # fmt: skip
            rows.append(Row(f"{line} bytes/{name}"))
        rows.append(Row("-n needle", pipe=f"bytes/{name}", may_vary=name.startswith("nul_")))
        rows.append(Row("-c needle", redirect=f"bytes/{name}"))
    rows += [
        Row("-n nowhere_to_be_found", expect=1),
        Row("-c --include-zero nowhere_to_be_found", expect=1),
        Row("-vn '' small", expect=1),
        Row("-c needle links", expect=1),
        Row("--files-without-match needle bytes/invalid.txt", expect=1),
        Row("-nL needle", expect=2),
        Row("--files -L", expect=2),
        Row("-n needle links/dangling", expect=2),
        Row("-nL needle links", expect=2),
        Row("-n --no-require-git needle", folder="plain"),
        Row("-n needle", folder="plain"),
        Row("-n needle", folder="ignored/inner"),
        Row("--files", folder="ignored/repository"),
        Row("--files", folder="ignored/repository/sub"),
        Row("-n needle .. ../../small", folder="ignored/inner"),
        Row("-n needle", folder="nothing", expect=2),
        Row("-n needle .", folder="nothing", expect=1),
        Row("--files", folder="nothing", expect=1),
        Row("-c ''", pipe="small/empty.txt", expect=1),
        Row("-n needle", pipe="small/no_newline.txt"),
        Row("-n needle - small", pipe="small/no_newline.txt"),
        Row("--json needle", pipe="small/no_newline.txt"),
        Row("-n ''", redirect="small/no_newline.txt"),
        Row("--files-without-match needle", pipe="small/empty.txt"),
    ]
    return rows


def lines_of(count: int, end: bytes, matches: Callable[[int], bool]) -> Iterator[bytes]:
    """Lines of 8 to about 150 bytes, the same in every call, with the word needle in those that shall match."""
    chance = random.Random(count)
    vocabulary = [b"alpha", b"beta", b"gamma", b"noodle", b"need", b"le", b"\xc3\xa9t\xc3\xa9", b"\t", b"=", b"zeta", b"7"]
    for number in range(1, count + 1):
        words = chance.choices(vocabulary, k=chance.randrange(1, 25))
        if matches(number):
            words.insert(chance.randrange(len(words) + 1), b"needle")
        yield b"%d %s%s" % (number, b" ".join(words), end)


def edge_cases(root: Path) -> None:
    """Edge cases for programs that read in blocks, detect encodings or walk directories."""

    def put(name: str | bytes, content: bytes | str) -> None:
        path = os.path.join(os.fsencode(root), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(content.encode() if isinstance(content, str) else content)

    # Small files.
    put("small/empty.txt", "")
    put("small/newline.txt", "\n")
    put("small/newlines.txt", "\n\n\n\n")
    put("small/no_newline.txt", "first needle\nsecond\nlast needle")
    put("small/only_needle.txt", "needle")
    put("small/needle_line.txt", "needle\n")
    put("small/first_and_last.txt", "needle\na\nb\nc\nd\ne\nneedle\n")
    put("small/neighbours.txt", "a\nneedle\nneedle\nb\nc\nneedle\nd\ne\nf\nneedle\ng")
    put("small/crlf.txt", "needle\r\nplain\r\n\r\nwith needle\r\nneedle last")
    put("small/mixed_ends.txt", "needle\r\nneedle\nneedle\rneedle\n\r\n\r")
    put("small/repeated.txt", "needleneedle needle needles needle-work\n  \t needle indented\n")
    put("small/colons.txt", "a:b-c needle\n1:needle\n2-needle\n--\nneedle\n")
    put("small/escapes.txt", "\x1b[31mneedle\x1b[0m \"quoted needle\" back\\slash needle\t\x01\x7f\n")
    put("small/unicode.txt", "Straße needle ſK K\n日本語 needle 😀\nE\u0301 needle\n")
    # Bytes.
    put("bytes/nul_early.bin", b"needle\n\x00binary\nneedle again\n")
    put("bytes/nul_in_match.bin", b"one\nneedle \x00 needle\nneedle\n")
    put("bytes/nul_late.bin", b"".join(lines_of(2000, b"\n", lambda n: n % 100 == 1)) + b"\x00\nneedle after the NUL\n")
    put("bytes/nul_after_match.bin", b"needle\n" + b"x\n" * 60_000 + b"a\x00b\n" + b"needle\n" * 3)
    put("bytes/nul_late_no_match.bin", b"hay\n" * 40_000 + b"\x00\nneedle\n")
    put("bytes/nul_last.bin", b"needle\nneedle\n\x00")
    put("bytes/nul_records.bin", b"first needle\x00second\nline needle\x00\x00third\x00needle")
    text = "first needle\nsecond line\nthird needle é 日本\n\nlast needle"
    put("bytes/utf16le.txt", b"\xff\xfe" + text.encode("utf-16-le"))
    put("bytes/utf16be.txt", b"\xfe\xff" + text.encode("utf-16-be"))
    put("bytes/utf16le_no_bom.txt", text.encode("utf-16-le"))
    put("bytes/utf16_odd.txt", b"\xff\xfe" + text.encode("utf-16-le") + b"\x00\xd8n")
    text = "".join(f"{number} {'hay' if number % 50 else 'needle é'}\n" for number in range(60_000))
    put("bytes/utf16_large.txt", b"\xff\xfe" + text.encode("utf-16-le"))
    put("bytes/utf8_bom.txt", b"\xef\xbb\xbffirst needle\nsecond needle\n")
    put("bytes/bom_only.txt", b"\xef\xbb\xbf")
    put("bytes/invalid.txt", b"needle \xff\xfe\n\xc3needle\xa9\nneedle\xe9\n\xf0\x9f\x98needle\n")
    put("bytes/latin1.txt", "Müller needle é\n".encode("latin-1"))
    # Large files.
    put("dense.txt", b"".join(lines_of(70_000, b"\n", lambda n: True)))
    put("sparse.txt", b"".join(lines_of(85_000, b"\n", lambda n: n % 1000 == 0)))
    put("crlf.txt", b"".join(lines_of(30_000, b"\r\n", lambda n: n % 300 == 0)))
    put("one_line.txt", b"start " + b"hay " * 300_000 + b"needle " * 1000 + b"hay " * 450_000 + b"needle\nlast needle")
    lines = (b"%d " % n + b"z" * (n * 7919 % 200_000) + (b" needle\n" if n % 3 else b"\n") for n in range(40))
    put("long_lines.txt", b"".join(lines) + b"last")
    # The word is across, just before and just after every multiple of 16 KiB.
    blocks = bytearray((b"." * 62 + b"\n") * 50_000)
    for number, border in enumerate(range(1 << 14, len(blocks), 1 << 14)):
        at = border - 7 + number % 9
        blocks[at : at + 6] = b"needle"
    for number, border in enumerate(range(1 << 16, len(blocks), 1 << 16)):
        blocks[border - 2 + number % 4] = ord("\n")
    put("blocks.txt", bytes(blocks))
    chance = random.Random(3)
    spans = b""
    for _ in range(1500):
        spans += b"outside\n" * chance.randrange(40) + b"needle begin\n" + b"inside\n" * chance.randrange(400) + b"end of it\n"
    put("spans.txt", spans)
    # Ignore files. A directory .git suffices to make a repository.
    put(".git/HEAD", "ref: refs/heads/main\n")
    put(".git/config", "[core]\n\tbare = false\n")
    put(".git/info/exclude", "excluded.log\n/ignored/excluded_folder/\n")
    put(".gitignore", "by_git.log\n*.tmp\n!keep.tmp\nbuild/\n/ignored/anchored.txt\ndoc/**/x.txt\n\\#odd\ntrailing \n[ab].cls\n")
    put(".ignore", "by_ignore.log\n!by_git_but_not_ignore.log\n")
    put(".rgignore", "by_rg.log\n!by_ignore_but_not_rg.log\n")
    put(".hidden.txt", "hidden needle\n")
    put(".hidden_folder/file.txt", "needle in a hidden folder\n")
    ignored = [
        "by_git.log", "by_ignore.log", "by_rg.log", "excluded.log", "kept.log", "drop.tmp", "keep.tmp", "anchored.txt", "#odd", "trailing",
        "a.cls", "c.cls", "build/out.txt", "sub/build/out.txt", "doc/x.txt", "doc/a/x.txt", "doc/a/b/x.txt", "excluded_folder/file.txt",
        "inner/by_git.log", "inner/drop.tmp", "inner/again.tmp", "inner/special.log", "inner/deeper/special.log", "inner/deeper/by_rg.log",
        "inner/only.txt", "inner/build", "globally.log", "UPPER.TMP", "code.c", "code.h", "sub/anchored.txt",
    ]  # fmt: skip
    for name in ignored:
        put(f"ignored/{name}", f"needle in {name}\n")
    put("ignored/inner/.gitignore", "!by_git.log\n!again.tmp\nspecial.log\n/only.txt\n")
    put("ignored/inner/.ignore", "!special.log\n")
    put("ignored/inner/deeper/.rgignore", "special.log\n!by_rg.log\n")
    put("ignored/.gitignore", "code.*\n!code.h\n!.shown\n")
    put("ignored/.shown", "a hidden needle that is asked for\n")
    put("ignored/invalid/.gitignore", "[z-a]\n{a\ngood.txt\n")
    put("ignored/invalid/good.txt", "needle\n")
    put("ignored/invalid/other.txt", "needle\n")
    put("ignored/crlf/.gitignore", "one.txt\r\ntwo.txt\r\n")
    put("ignored/crlf/one.txt", "needle\n")
    put("ignored/crlf/three.txt", "needle\n")
    put("ignored/star/.gitignore", "*\n!*/\n!*.keep\n")
    put("ignored/star/a/b/c.keep", "needle\n")
    put("ignored/star/a/b/c.drop", "needle\n")
    put("ignored/repository/.git/info/exclude", "own.log\n")
    put("ignored/repository/by_git.log", "needle: the parent's .gitignore ends at the inner repository\n")
    put("ignored/repository/own.log", "needle\n")
    put("ignored/repository/sub/by_git.log", "needle\n")
    put("ignored/repository/sub/by_ignore.log", "needle: but .ignore does not end there\n")
    put("ignored/worktree/.git", "gitdir: ../elsewhere\n")
    put("ignored/worktree/by_git.log", "needle\n")
    # Names and their order.
    for name in [b"with space.txt", b"new\nline.txt", b"invalid\xff\xfe.txt", "ünï.txt".encode(), b"-dash.txt", b"colon:1:2.txt", b"tab\t.txt",
                 b"quote'\".txt", b"back\\slash.txt", b"glob[a]*.txt", b"\x1b[31mred.txt"]:  # fmt: skip
        put(b"names/" + name, b"needle\n")
    for name in ["a", "a.txt", "a-b/x", "a/b", "a+/x", "A/x", "a0", "aa/x", "b.c/d", "b/c", "b.txt", "Z", "_", "é", "z/z/z", "z.z"]:
        put(f"order/{name}" if name != "a" else "order/a/file", "needle\n")
    put("deep/" + "d/" * 200 + "file.txt", "a deep needle\n")
    for branch in range(30):
        put(f"deep/wide/{branch}/file.txt", "needle\n" if branch % 2 else "hay\n")
    # Links and special files.
    (root / "links").mkdir()
    links = {"to_file": "../small/no_newline.txt", "to_folder": "../small", "loop": "..", "self": "self", "dangling": "nowhere"}
    for name, target in links.items():
        (root / "links" / name).symlink_to(target)
    os.mkfifo(root / "links/pipe")
    # A separate directory, without a repository.
    put("plain/.gitignore", "ignored.txt\n")
    put("plain/ignored.txt", "needle\n")
    put("plain/seen.txt", "needle\n")
    (root / "nothing").mkdir()


def extra_group(scratch: Path, names: dict[str, str]) -> Group:
    root = scratch / "nasty"
    root.mkdir()
    edge_cases(root)
    settings = scratch / "settings"
    (settings / "git").mkdir(parents=True)
    (settings / "git/ignore").write_text("globally.log\n")
    environment = {"HOME": str(settings), "XDG_CONFIG_HOME": str(settings)}
    return Group("edge cases", root, extra_rows(), names, environment)


def data_group(folder: Path | None, scratch: Path, names: dict[str, str]) -> Group:
    """Finds a log with LF and one with CRLF, or makes them from the sample of the repository."""
    if folder is None:
        folder = scratch / "data"
        folder.mkdir()
        sample = (ROOT / "samples/access.log").read_bytes()
        (folder / "plain.log").write_bytes(sample)
        (folder / "other.log").write_bytes(b"".join(sample.splitlines(keepends=True)[1::3]))
        (folder / "crlf.log").write_bytes(sample[: 1 << 18].replace(b"\n", b"\r\n"))
    files = sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: (-path.stat().st_size, path))
    crlf = [path for path in files if b"\r\n" in path.read_bytes()[:4096]]
    plain = [path for path in files if path not in crlf]
    if not crlf or not plain:
        sys.exit(f"compare_grep: {folder} needs a file with CRLF and one without")
    other = (plain[1:] + crlf[1:] + crlf)[0]
    names = {**names, "plain": plain[0].name, "crlf": crlf[0].name, "other": other.name}
    return Group("data", folder, data_rows(), names)


def words_of(line: str, names: dict[str, str]) -> list[str]:
    return [filled(word, names) for word in shlex.split(line)]


def filled(word: str, names: dict[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda match: names.get(match[1], match[0]), word)


@dataclass
class Answer:
    code: int | None
    stdout: Path
    errors: str
    seconds: float


def run_command(command: list[str], row: Row, group: Group, stdout: Path, timeout: float) -> Answer:
    """Runs a command with its standard output in a file."""
    environment = {**os.environ, **group.environment}
    environment.pop("RIPGREP_CONFIG_PATH", None)
    folder = group.root / row.folder
    source = filled(row.pipe or row.redirect or "", group.names)
    feeder = None
    begin = time.monotonic()
    with open(stdout, "wb") as out, tempfile.TemporaryFile() as errors:
        if row.pipe:
            feeder = subprocess.Popen(["cat", source], cwd=group.root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            stdin: BinaryIO | int = feeder.stdout
        elif row.redirect:
            stdin = open(group.root / source, "rb")
        else:
            stdin = subprocess.DEVNULL
        try:
            files = {"stdin": stdin, "stdout": out, "stderr": errors}
            code = subprocess.run(command, **files, cwd=folder, env=environment, timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            code = None
        finally:
            if not isinstance(stdin, int):
                stdin.close()
            if feeder:
                feeder.wait()
        errors.seek(0)
        message = errors.read(2000).decode(errors="replace").strip()
    return Answer(code, stdout, message, time.monotonic() - begin)


TIMES = re.compile(rb'("elapsed(?:_total)?":)\{[^}]*\}')
SECONDS = re.compile(rb"^\d+\.\d+ (seconds(?: spent searching)?(?: total)?)$")


def masked(line: bytes) -> bytes:
    if line.startswith(b"{"):
        return TIMES.sub(rb"\1{}", line)
    return SECONDS.sub(rb"- \1", line) if line.endswith(b"\n") and len(line) < 80 else line


def first_difference(ours: Path, theirs: Path, has_times: bool) -> tuple[int, bytes | None, bytes | None] | None:
    """Number of the first different line, and that line of both outputs, or None past the end."""
    if filecmp.cmp(ours, theirs, shallow=False):
        return None
    with open(ours, "rb") as left, open(theirs, "rb") as right:
        for number, (a, b) in enumerate(itertools.zip_longest(left, right), start=1):
            if a != b and not (has_times and a is not None and b is not None and masked(a) == masked(b)):
                return number, a, b
    return None


def excerpt(line: bytes | None, other: bytes | None) -> str:
    """The line, or an excerpt around the first difference if it is long."""
    if line is None:
        return "(end of output)"
    same = len(os.path.commonprefix([line, other or b""]))
    start = max(0, same - 60) if len(line) > 160 else 0
    text = ascii(line[start : start + 160])[1:]
    return f"{'…' if start else ''}{text}{'…' if start + 160 < len(line) else ''}"


def size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count} B"


@dataclass
class Tally:
    same: int = 0
    unsteady: int = 0
    different: int = 0
    weak: int = 0
    runs: int = 0


def faults_of(ours: Answer, theirs: Answer, row: Row) -> list[str]:
    """Lines that describe the differences from ripgrep; empty if there are none."""
    if ours.code is None or theirs.code is None:
        name, late = ("comb", ours) if ours.code is None else ("rg", theirs)
        return [f"{name} timed out after {late.seconds:.0f} s"]
    faults = []
    if ours.code != theirs.code:
        faults.append(f"exit status {ours.code}, rg: {theirs.code}")
        faults += [f"  comb: {ours.errors.splitlines()[0]}"] if ours.errors else []
        faults += [f"  rg:   {theirs.errors.splitlines()[0]}"] if theirs.errors else []
    difference = None if row.only_code else first_difference(ours.stdout, theirs.stdout, row.has_times())
    if difference:
        number, left, right = difference
        faults += [f"line {number}", f"  comb: {excerpt(left, right)}", f"  rg:   {excerpt(right, left)}"]
    return faults


def is_answer_of_rg(ours: Answer, run_rg: Callable[[Row], Answer], row: Row) -> bool:
    """With a late NUL in a pipe, the output of ripgrep depends on the size of each read: accepts any of its outputs.

    Reads from the file itself are never short.
    """
    full_reads = replace(row, pipe=None, redirect=row.pipe)
    return any(not faults_of(ours, run_rg(asked), row) for asked in [full_reads, *[row] * 40])


def compare(group: Group, row: Row, arguments: argparse.Namespace, scratch: Path, tally: Tally) -> None:
    words = words_of(row.line, group.names)
    rg = ["rg", "--sort", "path", *words]
    theirs = run_command(rg, row, group, scratch / "theirs", arguments.timeout)
    faults: list[str] = []
    seconds = 0.0
    unsteady = False
    for width in arguments.widths:
        command = [str(arguments.comb), "grep", *(["-j", str(width)] if width else []), *words]
        ours = run_command(command, row, group, scratch / "ours", arguments.timeout)
        tally.runs += 1
        seconds = max(seconds, ours.seconds)
        found = faults_of(ours, theirs, row)
        again = partial(run_command, rg, group=group, stdout=scratch / "again", timeout=arguments.timeout)
        if found and row.may_vary and is_answer_of_rg(ours, again, row):
            unsteady = True
        elif found:
            faults += [f"at -j {width}:", *found] if width else found
    weak = theirs.code != row.expect
    tally.weak += weak
    tally.unsteady += unsteady and not faults
    tally.same += not faults
    tally.different += bool(faults)
    facts = f"exit {theirs.code}, {size(theirs.stdout.stat().st_size)}, rg {theirs.seconds:.2f} s, comb {seconds:.2f} s"
    notes = f" WEAK: exit {row.expect} expected" if weak else ""
    notes += " UNSTEADY: one of several outputs of rg" if unsteady else ""
    print(f"{'DIFFERENT' if faults else 'ok':9}  {row.label()}   [{facts}]{notes}", flush=True)
    for fault in faults:
        print(f"             {fault}", flush=True)


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", type=Path, default=ROOT / "target/dist/comb", help="path of comb (default: target/dist/comb)")
    parser.add_argument("--tree", type=Path, help="a source tree of Linux")
    parser.add_argument("--data", type=Path, help="a directory of logs")
    parser.add_argument("--log", type=Path, help="a large log")
    parser.add_argument("--extra", action="store_true", help="also run on generated edge cases")
    parser.add_argument("--widths", "--width", type=numbers, default=[0], help="run comb with each of these values of -j, such as 1,2,3,8,64")
    parser.add_argument("--only", help="only command lines that contain this")
    parser.add_argument("--timeout", type=float, default=300, help="time-out of a command in seconds (default: 300)")
    parser.add_argument("--scratch", type=Path, help="directory for outputs (default: the temporary directory)")
    arguments = parser.parse_args()
    if not shutil.which("rg"):
        sys.exit("compare_grep: ripgrep is not installed; try: cargo install ripgrep")
    version = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    if not version.startswith("15."):
        print(f"compare_grep: the list is for ripgrep 15; {version} may differ", file=sys.stderr)
    arguments.comb = arguments.comb.resolve()
    if not arguments.comb.exists():
        sys.exit(f"compare_grep: {arguments.comb} does not exist; try: cargo build --profile dist --locked")
    sys.stdout.reconfigure(errors="backslashreplace")

    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="compare_grep.", dir=arguments.scratch) as name:
        scratch = Path(name)
        (scratch / "patterns").write_text("".join(f"{word}\n" for word in WORDS))
        (scratch / "ignore").write_text("drivers/\n*.txt\n!no_newline.txt\n")
        names = {"patterns": str(scratch / "patterns"), "ignore": str(scratch / "ignore")}
        groups = [data_group(arguments.data and arguments.data.resolve(), scratch, names)]
        if arguments.tree:
            groups.insert(0, Group("tree", arguments.tree.resolve(), tree_rows(), names))
        if arguments.log:
            log = arguments.log.resolve()
            groups.append(Group("log", log.parent, log_rows(), {**names, "log": log.name}))
        if arguments.extra:
            groups.append(extra_group(scratch, names))
        for group in groups:
            if not group.root.is_dir():
                sys.exit(f"compare_grep: {group.root} is not a directory")
            rows = [row for row in group.rows if not arguments.only or arguments.only in row.label()]
            print(f"# {group.name}: {len(rows)} command lines", flush=True)
            for row in rows:
                if not (group.root / row.folder).is_dir():
                    print(f"DIFFERENT  {row.label()}   [no directory {row.folder}: not run]", flush=True)
                    tally.different += 1
                    continue
                compare(group, row, arguments, scratch, tally)
    skipped = [flag for flag in ("tree", "log", "extra") if not getattr(arguments, flag)]
    widths = f" at widths {','.join(map(str, arguments.widths))}" if arguments.widths != [0] else ""
    counts = f"{tally.same} ok ({tally.unsteady} unsteady), {tally.different} DIFFERENT, {tally.weak} weak"
    print(f"\nripgrep {version}: {counts}; {tally.runs} runs of comb{widths}")
    if skipped:
        print(f"skipped: {', '.join('--' + flag for flag in skipped)}")
    sys.exit(1 if tally.different or not tally.same else 0)


if __name__ == "__main__":
    main()
