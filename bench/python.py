#!/usr/bin/env python3
"""Compares functions of the Python module with the command and with other libraries on a log, prints a table and writes the
section of this processor in bench/RESULTS-python.md.

    bench/python.py LOG [--rounds N] [--pattern REGEX] [--comb PATH] [--output FILE]

Needs the module, polars, duckdb and pyarrow in this Python. Before anything is timed, all programs of a row must give the same answer. Programs run
in interleaved rounds, so that drift of the machine affects all of them; the table shows medians. Times of functions are those of the call in a running
Python; times of the command are those of the process, with its output to a pipe that is read to the end, as a program would read it.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import finecomb
import machine
import polars

HERE = Path(__file__).resolve().parent
COMB = Path(sys.executable).with_name("comb")
KEYS = 10


@dataclass(frozen=True)
class Row:
    """Programs with one answer: the first is what the others are compared with."""

    title: str
    programs: dict[str, Callable[[], object]]
    goals: dict[str, float]


def run(command: list[object]) -> bytes:
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE)
    # 1: nothing was found.
    if done.returncode > 1:
        sys.exit(f"{command} failed")
    return done.stdout


def counts_of_comb(comb: Path, log: str) -> list[int]:
    return [int(line.split()[0]) for line in run([comb, "top", "-f", 7, "-n", KEYS, log]).splitlines()]


def counts_of_duckdb(log: str) -> list[int]:
    lines = f"read_csv('{log}', header=false, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', auto_detect=false)"
    query = f"SELECT count(*) AS n FROM {lines} GROUP BY split_part(line, ' ', 7) ORDER BY n DESC LIMIT {KEYS}"
    return [row[0] for row in duckdb.sql(query).fetchall()]


def lines_of_polars(log: str) -> polars.LazyFrame:
    return polars.scan_csv(log, has_header=False, new_columns=["line"], separator="\x01", quote_char=None, encoding="utf8-lossy")


def counts_of_polars(log: str) -> list[int]:
    key = polars.col("line").str.split(" ").list.get(6, null_on_oob=True)
    counts = lines_of_polars(log).select(key).group_by("line").len()
    return counts.top_k(KEYS, by="len").collect()["len"].sort(descending=True).to_list()


def rows(log: str, comb: Path, pattern: str) -> list[Row]:
    top = Row(
        "most frequent URLs",
        {
            "comb top -f 7": lambda: counts_of_comb(comb, log),
            "finecomb.top": lambda: [row.count for row in finecomb.top(log, fields=7, n=KEYS)],
            "DuckDB": lambda: counts_of_duckdb(log),
            "polars": lambda: counts_of_polars(log),
        },
        {"finecomb.top": 1.1},
    )
    grep = [
        Row(
            f"lines that match `{regex}`",
            {
                "comb grep -n": lambda regex=regex: run([comb, "grep", "-n", regex, log]).count(b"\n"),
                "finecomb.grep into polars": lambda regex=regex: polars.DataFrame(finecomb.grep(regex, log)).height,
                "finecomb.grep, a loop": lambda regex=regex: sum(1 for _ in finecomb.grep(regex, log)),
                "polars": lambda regex=regex: lines_of_polars(log).filter(polars.col("line").str.contains(regex)).collect().height,
            },
            {"finecomb.grep into polars": 1.3},
        )
        for regex in [pattern, " 500 ", "no such line"]
    ]
    return [top, *grep]


def measure(row: Row, rounds: int) -> dict[str, float]:
    """Medians of the times of all programs in interleaved rounds, after one that is not timed."""
    answers = {name: program() for name, program in row.programs.items()}
    if len(set(map(str, answers.values()))) != 1:
        sys.exit(f"{row.title}: the answers differ: {answers}")
    times: dict[str, list[float]] = {name: [] for name in row.programs}
    for _ in range(rounds):
        for name, program in row.programs.items():
            start = time.monotonic()
            program()
            times[name].append(time.monotonic() - start)
    return {name: statistics.median(all_times) for name, all_times in times.items()}


def table(row: Row, rounds: int) -> list[str]:
    medians = measure(row, rounds)
    base = next(iter(medians.values()))
    lines = [f"### {row.title}", "", "| program | median | ratio | goal |", "| --- | ---: | ---: | --- |"]
    for name, median in medians.items():
        goal = row.goals.get(name)
        judged = "" if goal is None else f"{goal:.1f}: {'met' if median <= goal * base else 'missed'}"
        lines.append(f"| {name} | {median * 1000:.0f} ms | {median / base:.2f} | {judged} |")
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares the Python module with the command and with other libraries.")
    parser.add_argument("log", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--pattern", default="Linux")
    parser.add_argument("--comb", type=Path, default=COMB, help="the command (default: the one that is installed with the module)")
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS-python.md")
    arguments = parser.parse_args()
    log, size = str(arguments.log.resolve()), arguments.log.stat().st_size
    lines = [
        machine.describe(arguments.log.resolve().parent),
        f"polars {polars.__version__}, DuckDB {duckdb.__version__}.",
        f"A log of {size / 1e6:.0f} MB, warm cache, {arguments.rounds} rounds. `bench/python.py` measures it.",
        "",
    ]
    for row in rows(log, arguments.comb, arguments.pattern):
        lines += table(row, arguments.rounds)
    text = "\n".join(lines).rstrip() + "\n"
    print(text, end="")
    machine.write_section(arguments.output, "Results of the Python module", machine.processor(), text)


if __name__ == "__main__":
    main()
