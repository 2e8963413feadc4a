#!/usr/bin/env python3
"""Compares finecomb.spark with Spark SQL on a log in one session, prints a table and writes the section of
this processor in bench/RESULTS-spark.md.

    bench/spark.py LOG [--field N] [--pattern REGEX] [--rounds N] [--master MASTER] [--rdd] [--comb PATH] [--output FILE]

Needs pyspark, pyarrow, pandas and finecomb in this Python (docs/spark.md). Before anything is timed, all programs are compared: the counts
of the first keys must be the same, and the number and the length of the lines that are found. The first rounds warm up the JVM and the Python workers and are not timed; so the start of Spark is
left out. Programs run in interleaved rounds, so that drift of the machine affects all of them; the table shows medians.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import finecomb
import finecomb.spark
import machine
import pyarrow  # type: ignore[import-untyped]
import pyspark
from pyspark.sql import DataFrame, SparkSession, functions

HERE = Path(__file__).resolve().parent
COMB = Path(sys.executable).with_name("comb")
KEYS, WARM_UP, GOAL = 10, 10, 0.2
SQL, OURS = "Spark SQL, split by a space", "finecomb.spark.top"
RLIKE, GREP = "Spark SQL, rlike", "finecomb.spark.grep"


def session(master: str) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def of_sql(spark: SparkSession, log: str, field: int, separator: str) -> list[int]:
    key = functions.split("value", separator)[field - 1].alias("key")
    frame = spark.read.text(log).select(key).groupBy("key").count()
    return counts_of(frame.orderBy(functions.desc("count")).limit(KEYS))


def of_rdd(spark: SparkSession, log: str, field: int) -> list[int]:
    lines = spark.sparkContext.textFile(log).map(str.split).filter(lambda fields: len(fields) >= field)
    counts = lines.map(lambda fields: (fields[field - 1], 1)).reduceByKey(lambda one, other: one + other)
    return sorted((count for _, count in counts.takeOrdered(KEYS, key=lambda pair: -pair[1])), reverse=True)


def counts_of(frame: DataFrame) -> list[int]:
    return [row["count"] for row in frame.collect()]


def of_lines(lines: DataFrame) -> list[int]:
    """Number and length of lines, which are made for this."""
    return list(lines.agg(functions.count("text"), functions.sum(functions.length("text"))).first() or [])


def of_rlike(spark: SparkSession, log: str, pattern: str) -> list[int]:
    lines = spark.read.text(log).withColumnRenamed("value", "text")
    return of_lines(lines.where(functions.col("text").rlike(pattern)))


def of_module(log: str, pattern: str) -> list[int]:
    texts = pyarrow.table(finecomb.grep(pattern, log, no_line_number=True))["text"]
    return [len(texts), sum(map(len, texts.to_pylist()))]


def of_comb(comb: Path, log: str, field: int) -> list[int]:
    command = [comb, "top", f"--fields={field}", f"--number={KEYS}", "--format=csv", log]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return [int(line.split(b",")[0]) for line in done.stdout.splitlines()[1:]]


def measure(programs: dict[str, Callable[[], list[int]]], rounds: int) -> dict[str, list[float]]:
    """Times of all programs in interleaved rounds."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    answers = {}
    for number in range(WARM_UP + rounds):
        for name, program in programs.items():
            start = time.monotonic()
            answers[name] = program()
            if number >= WARM_UP:
                times[name].append(time.monotonic() - start)
        if len(set(map(tuple, answers.values()))) != 1:
            sys.exit(f"the counts differ: {answers}")
    return times


def table(times: dict[str, list[float]], size: int, reference: str) -> list[str]:
    base = statistics.median(times[reference])
    rows = ["| program | median | least | GB/s | of Spark SQL |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, all_times in times.items():
        median = statistics.median(all_times)
        speed = size / median / 1e9
        rows.append(f"| {name} | {median:.2f} s | {min(all_times):.2f} s | {speed:.2f} | {median / base:.2f} |")
    return rows


def goal(times: dict[str, list[float]]) -> str:
    ratio = statistics.median(times[OURS]) / statistics.median(times[SQL])
    return f"Goal: {OURS} in {GOAL} of the time of Spark SQL: {'met' if ratio <= GOAL else 'missed'} ({ratio:.2f})."


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares finecomb.spark with Spark SQL.")
    parser.add_argument("log", type=Path)
    parser.add_argument("--field", type=int, default=7)
    parser.add_argument("--pattern", default='" 50[0-9] ', help="expression of the lines that are searched for (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--master", default=f"local[{machine.CORES}]", help="such as local-cluster[2,1,1024], with executors of their own (default: %(default)s)")
    parser.add_argument("--comb", type=Path, default=COMB, help="the command (default: the one that is installed with the module)")
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS-spark.md")
    parser.add_argument("--rdd", action="store_true", help="also measure an RDD of Python, which takes minutes")
    arguments = parser.parse_args()
    log, field = str(arguments.log.resolve()), arguments.field
    setting = machine.describe(arguments.log.resolve().parent)
    spark = session(arguments.master)
    programs = {
        SQL: lambda: of_sql(spark, log, field, " "),
        "Spark SQL, split by blanks": lambda: of_sql(spark, log, field, r"\s+"),
        OURS: lambda: counts_of(finecomb.spark.top(spark, log, fields=field, n=KEYS)),
        "finecomb.top, without Spark": lambda: [row.count for row in finecomb.top(log, fields=field, n=KEYS)],
        "comb top": lambda: of_comb(arguments.comb, log, field),
    }
    if arguments.rdd:
        programs["RDD of Python"] = lambda: of_rdd(spark, log, field)
    pattern = arguments.pattern
    searches = {
        RLIKE: lambda: of_rlike(spark, log, pattern),
        GREP: lambda: of_lines(finecomb.spark.grep(spark, pattern, log)),
        f"{GREP}, text": lambda: of_lines(finecomb.spark.grep(spark, pattern, log, text=True)),
        "finecomb.grep, without Spark": lambda: of_module(log, pattern),
    }
    size = arguments.log.stat().st_size
    counted, searched = measure(programs, arguments.rounds), measure(searches, arguments.rounds)
    lines = [
        f"{setting} pyspark {pyspark.__version__}, `{arguments.master}`.",
        f"The {KEYS} most frequent values of field {field} of a log of {size / 1e6:.0f} MB, warm cache, {arguments.rounds} rounds after {WARM_UP} for warm-up.",
        "",
        *table(counted, size, SQL),
        "",
        goal(counted),
        "",
        f"The lines of this log that match `{pattern}`, with their number and length.",
        "",
        *table(searched, size, RLIKE),
    ]
    print("\n".join(lines))
    machine.write_section(arguments.output, "Results of finecomb.spark", machine.processor(), "\n".join(lines))


if __name__ == "__main__":
    main()
