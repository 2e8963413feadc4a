#!/usr/bin/env python3
"""Counts and searches random files with finecomb.spark, in random splits, and compares rows and messages with comb's.

    hunt_spark.py [--runs N] [--seed S] [--spark]

The jobs run in this process, in a stand-in for Spark that shuffles partitions and repeats some tasks; with --spark, in Spark itself on two
cores, which takes a thousand times as long. Runs in an environment with the module, the command beside it, and pyspark. Prints each fault with the seed
of its run, and exits with 1 if there was one.
"""

import argparse
import bz2
import gzip
import os
import pickle
import random
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import finecomb
import finecomb.spark
import pyarrow
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python" / "tests"))
from support import quietly  # noqa: E402
from test_spark import caught, comb, grepped, numbers, session  # noqa: E402

KEYS = [b"a", b"b", b"ab", b"key", b"\xff\xfe", b"\xc3\xa4", b"\"q\"", b""]
VALUES = [b"1", b"-7", b"2.5", b"0.125", b"-", b"x", b"9999999999999999", b"1e3", b"00", b""]
WORDS = [b"a", b"ab", b"B", b"needle", b"\xc3\xa9", b"\xff", b" ", b"\t", b"x" * 40]
PATTERNS = ["a", "b+", "^a", "b$", "^$", "", r"\w+", "a|needle", r"(?-u)\xFF", "é", "zzz", "[^a]", r"a\s"]

COUNTS = [
    ("fields", lambda source: source.choice(["1", "2", "1,2", "3", "2,1"])),
    ("n", lambda source: source.choice(["all", 1, 3, 100])), ("sum", lambda source: "2"), ("mean", lambda source: "2"),
    ("min", lambda source: "2"), ("max", lambda source: "2"), ("p99", lambda source: "2"), ("percentile", lambda source: "12.5:2"),
    ("distinct", lambda source: "2"), ("reverse", lambda source: True), ("sort", lambda source: source.choice(["key", "count"])),
    ("min_count", lambda source: source.randint(1, 4)), ("grep", lambda source: source.choice(["a", "^b", "1"])),
    ("vgrep", lambda source: source.choice(["a", "^b"])), ("ignore_case", lambda source: True),
    ("fieldseparator", lambda source: source.choice(["b", "e+"])), ("where", lambda source: source.choice(["$2 > 1", '$1 == "a"'])),
]  # fmt: skip
SEARCHES = [
    ("text", lambda source: True), ("binary", lambda source: True), ("invert_match", lambda source: True),
    ("word_regexp", lambda source: True), ("line_regexp", lambda source: True), ("ignore_case", lambda source: True),
    ("crlf", lambda source: True), ("search_zip", lambda source: True), ("max_count", lambda source: source.randint(1, 4)),
    ("context", lambda source: source.randint(0, 2)), ("not_", lambda source: source.choice(["ab", "x"])),
    ("and_", lambda source: source.choice(["a", " "])), ("multiline", lambda source: True), ("fixed_strings", lambda source: True),
    ("hidden", lambda source: True), ("glob", lambda source: source.choice(["*.log", "!a*"])),
]  # fmt: skip


class Frame:
    """Partitions of rows, each a list of batches that is made when it is needed."""

    def __init__(self, cluster, schema, partitions):
        self.cluster, self.schema, self.partitions = cluster, schema, partitions

    def mapInArrow(self, task, schema):
        def ran(partition):
            return lambda: self.cluster.run(task, partition())

        return Frame(self.cluster, schema, list(map(ran, self.partitions)))

    def repartition(self, number, *column):
        def part(wanted):
            def take():
                for batch in self.batches():
                    # Rows with the same number are together; without a column, all are.
                    buckets = batch.column(column[0]).to_pylist() if column else [0] * batch.num_rows
                    kept = [row for row, bucket in enumerate(buckets) if bucket * 7 % number == wanted]
                    yield batch.take(pyarrow.array(kept, pyarrow.int64()))

            return take

        return Frame(self.cluster, self.schema, list(map(part, range(number))))

    def batches(self):
        """All batches. Partitions come as they are done."""
        order = list(self.partitions)
        self.cluster.source.shuffle(order)
        return [batch for partition in order for batch in partition()]

    def toArrow(self):
        batches = self.batches()
        return pyarrow.Table.from_batches(batches) if batches else arrow_schema(self.schema).empty_table()

    def collect(self):
        return rows_of(self.toArrow())


def arrow_schema(schema):
    """The columns of a schema of Spark."""
    if isinstance(schema, StructType):
        return to_arrow_schema(schema)
    return pyarrow.schema([(name, TYPES[kind]) for name, kind in (column.split() for column in schema.split(","))])


TYPES = {"int": pyarrow.int32(), "bigint": pyarrow.int64(), "binary": pyarrow.binary(), "boolean": pyarrow.bool_()}


class Row(tuple):
    """A row with columns by name."""

    def __new__(cls, values):
        row = super().__new__(cls, values.values())
        row.__dict__.update(values)
        return row

    def __getitem__(self, key):
        return self.__dict__[key] if isinstance(key, str) else super().__getitem__(key)


def rows_of(table):
    return [Row(row) for row in table.to_pylist()]


class Cluster:
    """A stand-in for a session of Spark, with the part of it that jobs on files need."""

    def __init__(self, source):
        self.source = source
        self.sparkContext = SimpleNamespace(defaultParallelism=source.randint(1, 5), accumulator=self.accumulator)
        self.conf = SimpleNamespace(get=lambda name: str(source.randint(1, 4)))
        self.accumulators = []

    def accumulator(self, zero, param):
        accumulator = Accumulator(len(self.accumulators), zero, param)
        self.accumulators.append(accumulator)
        return accumulator

    def range(self, start, end, step, partitions):
        assert (start, step, partitions) == (0, 1, end)
        batch = lambda number: lambda: iter([pyarrow.record_batch({"id": [number]})])
        return Frame(self, "id bigint", list(map(batch, range(end))))

    def createDataFrame(self, table, schema):
        return SimpleNamespace(collect=lambda: rows_of(table))

    def run(self, task, batches):
        """Runs a task as an executor does: a copy of it, whose messages count once it has ended. Some are repeated from the beginning."""
        batches, data = list(batches), pickle.dumps(task)
        if self.source.random() < 0.1:
            # The executor was lost in the middle of its task.
            for _ in zip(range(self.source.randint(0, 2)), pickle.loads(data)(iter(batches))):
                pass
        RECEIVED.clear()
        found = list(pickle.loads(data)(iter(batches)))
        for number, values in list(RECEIVED):
            own = self.accumulators[number]
            own.value = own.param.addInPlace(own.value, values)
        return iter(found)


RECEIVED = []


class Accumulator:
    """An accumulator of the driver, which a copy in an executor sends to."""

    def __init__(self, number, zero, param):
        self.number, self.value, self.param = number, zero, param

    def __reduce__(self):
        return (Sender, (self.number,))

    def add(self, values):
        self.value = self.param.addInPlace(self.value, values)


class Sender:
    def __init__(self, number):
        self.number = number

    def add(self, values):
        RECEIVED.append((self.number, values))


def packed(source, name, text):
    if name.endswith(".gz"):
        cut = source.randint(1, 20) if source.random() < 0.1 else 0
        data = gzip.compress(text)
        return data[: len(data) - cut]
    return bz2.compress(text) if name.endswith(".bz2") else text


def write(source, directory, make):
    """Random files, and the paths that name them."""
    names = source.sample(["a.log", "b.log", "c.log.gz", "d", "e.log.bz2", ".f.log"], source.randint(1, 4))
    for name in names:
        (directory / name).write_bytes(packed(source, name, make(source)))
    if source.random() < 0.3:
        return [str(directory)]
    return [str(directory / name) for name in names] + [str(directory / "none")] * (source.random() < 0.1)


def log(source):
    end = source.choice([b"\n", b"\n", b"\r\n"])
    lines = []
    for _ in range(source.choice([0, 1, 5, 40, 200])):
        key = source.choice([*KEYS, b"key%d" % source.randrange(300)])
        tail = b"x" * (source.choice([0, 3, 3, 3, 2000]))
        lines.append(b" ".join([key, source.choice(VALUES), tail][: source.randint(1, 3)]))
    text = end.join(lines) + source.choice([b"", end])
    return b"\xef\xbb\xbf" + text if source.random() < 0.1 else text


def text(source):
    end = source.choice([b"\n", b"\n", b"\r\n"])
    # NULs are rare, as they hide the rest of a file.
    words = [*WORDS, b"\0"] if source.random() < 0.1 else WORDS
    lines = [b"".join(source.choices(words, k=source.randint(0, 6))) for _ in range(source.choice([0, 1, 5, 40, 300]))]
    if source.random() < 0.2:
        lines.insert(source.randrange(len(lines) + 1), b"needle" + b"y" * 3000)
    found = end.join(lines) + source.choice([b"", end])
    return source.choice([b"\xef\xbb\xbf", b"\xff\xfe"]) + found if source.random() < 0.1 else found


def chosen(source, flags, share):
    return {name: value(source) for name, value in flags if source.random() < share}


def split_size(source, directory):
    """A size that makes not too many splits."""
    largest = max(path.stat().st_size for path in directory.iterdir())
    return max(source.choice([1, 7, 40, 1000, 3000, 40_000]), largest // 50)


def compare_counts(source, spark, directory):
    """A description of the first difference, if there is one, and the number of rows."""
    paths, flags = write(source, directory, log), chosen(source, COUNTS, 0.15)
    division = {
        "split_size": split_size(source, directory), "memory": source.choice(["1K", "4K", "256M"]),
        "partitions": source.choice([None, 1, 2, 3]),
    }  # fmt: skip
    case = f"counts of {paths} with {flags} {division}"
    try:
        top, messages = caught(finecomb.top, paths, **flags)
    except finecomb.Error as error:
        try:
            quietly(finecomb.spark.top, spark, paths, **flags, **division)
        except finecomb.Error as other:
            return (None if str(other) == str(error) else f"{case}: {other}, but {error}"), 0
        return f"{case}: no error, but {error}", 0
    frame, found = caught(finecomb.spark.top, spark, paths, **flags, **division)
    rows = [(bytes(row.key), row.text, row["count"], *row[3:]) for row in frame.collect()]
    expected = [(row.key, row.text, row.count, *row.values.values()) for row in top]
    if rows != expected:
        return f"{case}: {rows}, but one process has {expected}", 0
    printed, said = comb(paths, flags)
    if numbers(frame) != printed:
        return f"{case}: {numbers(frame)}, but comb prints {printed}", 0
    if messages != said:
        return f"{case}: messages {messages}, but comb says {said}", 0
    # The first record that was left out is known only where it was read.
    if sorted(found) != sorted(message.split("; the first is ")[0] for message in messages):
        return f"{case}: messages {found}, but one process has {messages}", 0
    return None, len(rows)


def lines_of(row, flags):
    """The lines of a row as the command prints them: a match may have several."""
    offset = row.offset
    for number, line in enumerate(bytes(row.line).split(b"\n")):
        yield row.path, row.line_number + number, offset, line.removesuffix(b"\r") if flags.get("crlf") else line
        offset += len(line) + 1


def compare_lines(source, spark, directory):
    """The same for a search."""
    paths, flags = write(source, directory, text), chosen(source, SEARCHES, 0.12)
    pattern, size = source.choice(PATTERNS), split_size(source, directory)
    case = f"search for {pattern!r} in {paths} with {flags} in splits of {size}"
    expected, said = grepped(pattern, paths, flags)
    frame, found = caught(finecomb.spark.grep, spark, pattern, paths, line_number=True, split_size=size, **flags)
    rows, more = caught(frame.collect)
    if any(row.text != bytes(row.line).decode(errors="replace") for row in rows):
        return f"{case}: the text of a line is another one", 0
    rows = sorted(line for row in rows for line in lines_of(row, flags))
    if rows != expected:
        return f"{case}: {rows}, but comb prints {expected}", 0
    _, messages = caught(lambda: list(finecomb.grep(pattern, paths, **flags)))
    if sorted(found + more) != sorted(messages):
        return f"{case}: messages {found + more}, but one process has {messages}; comb says {said}", 0
    return None, len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--spark", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", finecomb.Warning)
    spark = session("local[2]") if arguments.spark else None
    faults = rows = 0
    for run in range(arguments.runs):
        source = random.Random(f"{arguments.seed}/{run}")
        compare = source.choice([compare_counts, compare_lines])
        with tempfile.TemporaryDirectory() as directory:
            fault, count = compare(source, spark or Cluster(source), Path(directory))
        rows += count
        if fault:
            faults += 1
            print(f"run {run} of seed {arguments.seed}: {fault}"[:3000], flush=True)
    print(f"{arguments.runs} runs with {rows} rows, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
