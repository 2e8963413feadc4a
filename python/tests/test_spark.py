"""Tests of finecomb.spark beside the command: a session on two cores, and one on a cluster of two executors."""

import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from decimal import Decimal
from pathlib import Path

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import finecomb
import finecomb.spark
from finecomb import _finecomb
from finecomb.spark import counting, splits
from finecomb.spark.flags import divide_flags
from support import COMB, SAMPLES, Files, words_of

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def session(master, **settings):
    # Executors run this Python, which has the module.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master)
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def caught(function, *arguments, **flags):
    """The result of a function, and its messages."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*arguments, **flags)
    return result, [str(warning.message) for warning in found if warning.category is finecomb.Warning]


def comb(paths, flags):
    """Rows of the command, and its messages."""
    done = subprocess.run([COMB, "top", "--json", *words_of(flags), *paths], capture_output=True)
    answer = json.loads(done.stdout, parse_float=Decimal, parse_int=Decimal)
    measures = [name for name in (answer["top"] or [{}])[0] if "(" in name]
    rows = [(row["count"], *(row[name] for name in measures)) for row in answer["top"]]
    return rows, [line.removeprefix("comb: ") for line in done.stderr.decode().splitlines()]


def grepped(pattern, paths, flags):
    """Lines that the command finds, and its messages."""
    command = [COMB, "grep", "-Hnb0", *words_of(flags), "-e", pattern, "--", *paths]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    found = []
    for text in done.stdout.split(b"\n"):
        # Without a path with its NUL, it is a notice or a separator.
        if printed := re.fullmatch(rb"(/[^\0]*)\0(\d+)[:-](\d+)[:-](.*)", text, re.DOTALL):
            path, number, offset, line = printed.groups()
            line = line.removesuffix(b"\r") if flags.get("crlf") else line
            found.append((os.fsdecode(path), int(number), int(offset), line))
    return sorted(found), [line.removeprefix("comb: ") for line in done.stderr.decode().splitlines()]


def numbers(frame):
    """The count and the measures of all rows."""
    return [(row["count"], *row[3:]) for row in frame.collect()]


class Logs(Files):
    def write(self, name, data):
        return str(super().write(name, data))

    def assert_same(self, spark, paths, flags, **division):
        """Compares the rows with the module's, and their numbers with the command's."""
        top, messages = caught(finecomb.top, paths, **flags)
        frame, found = caught(finecomb.spark.top, spark, paths, **flags, **division)
        self.assertEqual(
            [(bytes(row.key), row.text, row["count"], *row[3:]) for row in frame.collect()],
            [(row.key, row.text, row.count, *row.values.values()) for row in top],
            (flags, division),
        )
        rows, said = comb(paths, flags)
        self.assertEqual(numbers(frame), rows, flags)
        # The first record that was left out is known only where it was read.
        self.assertEqual(found, [message.split("; the first is ")[0] for message in messages], (flags, division))
        self.assertEqual(messages, said)


class OnTwoCores(Logs):
    @classmethod
    def setUpClass(cls):
        # The file system of a cluster, as Hadoop's own reader reads it.
        link = f"file://{SAMPLES}"
        cls.spark = session("local[2]", **{"spark.hadoop.fs.viewfs.mounttable.logs.link./samples": link})

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()


class Local(OnTwoCores):
    def random_log(self, name, lines):
        end = random.choice([b"\n", b"\r\n"])
        log = bytearray()
        for _ in range(lines):
            key = random.choice([b"a", b"b", b"key%d" % random.randrange(400), b"\xff\xfe", b"\xc3\xa4"])
            value = random.choice([b"%d" % random.randrange(90), b"%d.25" % random.randrange(9), b"-", b"9999999999999999"])
            log += b" ".join([key, value, b"x" * random.choice([0, 9, 9, 3000 if random.random() < 0.02 else 1])]) + end
        if random.random() < 0.5:
            del log[-len(end) :]
        return self.write(name, gzip.compress(log) if name.endswith(".gz") else bytes(log))

    def test_random_logs_have_the_counts_of_the_command(self):
        random.seed(7)
        for number in range(12):
            names = random.sample(["a.log", "b.log", "c.log.gz", "empty.log"], random.randrange(1, 4))
            paths = [self.random_log(name, 0 if name == "empty.log" else random.randrange(1, 300)) for name in names]
            flags = random.choice(
                [
                    {"fields": "1"},
                    {"n": "all"},
                    {"fields": "1", "sum": "2", "mean": "2", "p99": "2", "distinct": "2", "sort": "sum(2)"},
                    {"fields": "1,3", "min": "2", "max": "2", "reverse": True, "min_count": 2},
                    {"grep": "key", "fields": "2", "sort": "key", "n": 7},
                ]
            )
            size = random.choice(["1K", "3K", "100K"])
            memory, partitions = random.choice([("4K", 1), ("256M", 3), ("4K", None)])
            with self.subTest(number=number, flags=flags):
                self.assert_same(self.spark, paths, flags, split_size=size, memory=memory, partitions=partitions)

    def test_formats_times_and_directories(self):
        (self.directory / "below").mkdir()
        for name in ["below/a.log", "below/b.log", "c.log"]:
            self.write(name, (SAMPLES / "nginx.log").read_bytes())
        rows = b"".join(b'"a\nb%d",%d\n' % (number % 3, number) for number in range(400))
        table = self.write("t.csv", b"name,size\n" + rows)
        log, sample = str(self.directory / "below"), str(SAMPLES / "nginx.log")
        for paths, flags in [
            ([log], {"fields": "path,status", "sum": "bytes", "n": 5}),
            ([sample], {"every": "1h", "tz": "UTC"}),
            ([sample], {"every": "1h", "tz": "UTC", "fields": "status", "n": 2}),
            ([table], {"fields": "name", "sum": "size"}),
        ]:
            self.assert_same(self.spark, paths, flags, split_size="20K")

    def test_counts_are_those_of_all_keys(self):
        path = str(SAMPLES / "access.log")
        frame = finecomb.spark.counts(self.spark, path, fields=7, split_size="100K", partitions=3)
        self.assertEqual(
            [(name, kind) for name, kind in frame.dtypes], [("key", "binary"), ("text", "string"), ("count", "bigint")]
        )
        found = {bytes(row.key): row["count"] for row in frame.collect()}
        self.assertEqual(found, {row.key: row.count for row in finecomb.top(path, fields=7, n="all")})
        self.assertEqual(frame.agg(F.sum("count")).first()[0], sum(found.values()))

    def test_a_missing_or_damaged_file_is_a_warning_on_the_driver(self):
        good = self.write("a.log", b"a\nb\na\n")
        damaged = self.write("b.log.gz", gzip.compress(b"a\n" * 9000)[:-9])
        missing = str(self.directory / "none.log")
        top, expected = caught(finecomb.top, [good, damaged, missing])
        self.assertEqual(len(expected), 2)
        frame, messages = caught(finecomb.spark.top, self.spark, [good, damaged, missing], split_size="1K")
        self.assertEqual(sorted(messages), sorted(expected))
        self.assertEqual(frame.first()["count"], top[0].count)
        frame, listed = caught(finecomb.spark.counts, self.spark, [good, damaged, missing])
        for _ in range(2):
            _, more = caught(frame.collect)
            listed += more
        self.assertEqual(sorted(listed), sorted(expected), "each once, though the tasks ran twice")
        frame, messages = caught(finecomb.spark.top, self.spark, [missing])
        self.assertEqual((frame.count(), messages), (0, [f"{missing}: no such file or directory"]))

    def test_numbers_with_too_many_digits_are_null_with_a_warning(self):
        path = self.write("a.log", b"a 99999999999999999999.5\nb 1\n" * 2)
        frame, messages = caught(finecomb.spark.top, self.spark, path, fields=1, sum=2)
        self.assertEqual([row[3] for row in frame.collect()], [None, 2])
        self.assertEqual(messages, ["sum(2): numbers that are too large for decimal(38, 18) are null"])

    def test_file_systems_of_hadoop(self):
        for name, flags in [("access.log", {"fields": "7"}), ("nginx.log", {"fields": "path", "mean": "bytes"})]:
            path, remote = str(SAMPLES / name), f"viewfs://logs/samples/{name}"
            top = finecomb.top(path, **flags)
            frame = finecomb.spark.top(self.spark, [remote], memory="8K", **flags)
            self.assertEqual(numbers(frame), [(row.count, *row.values.values()) for row in top])
        frame, messages = caught(finecomb.spark.top, self.spark, [path, remote, remote + "x"], **flags)
        self.assertEqual([row["count"] for row in frame.collect()], [2 * row.count for row in top])
        self.assertEqual(messages, [f"{remote}x: no such file or directory"])

    def test_the_data_source_has_rows_that_spark_adds_up(self):
        finecomb.spark.register(self.spark)
        path = str(SAMPLES / "nginx.log")
        reader = self.spark.read.format("finecomb.top").options(fields="path", sum="bytes", split_size="100K", memory="8K")
        frame = reader.load([path, path])
        self.assertGreater(frame.rdd.getNumPartitions(), 2)
        frame = frame.groupBy("key").agg(F.sum("count"), F.sum("`sum(bytes)`"))
        top = finecomb.top([path, path], fields="path", sum="bytes", n="all")
        self.assertEqual(
            {bytes(key): numbers for key, *numbers in frame.collect()},
            {row.key: [row.count, row.values["sum(bytes)"]] for row in top},
        )
        for options, path, message in [
            ({"n": "3"}, path, "number: not available: each row counts one split"),
            ({"mean": "bytes"}, path, "mean: cannot be merged from splits"),
            ({"each": "yes"}, path, "each: expected true or false; found 'yes'"),
            ({}, "/none.log", "/none.log: no such file or directory"),
            ({}, "s3a:/logs/a", "s3a:/logs/a: the data source reads only files"),
        ]:
            with self.assertRaisesRegex(Exception, message):
                self.spark.read.format("finecomb.top").options(**options).load(path).collect()

    def test_invalid_arguments_are_refused_before_anything_is_read(self):
        for flags, message in [
            ({"where": "a =="}, "--where: column 5"),
            ({"sort": "sum(1)"}, "--sort 'sum\\(1\\)'"),
            ({"approx": True}, "--approx: not available"),
            ({"memory": "12X"}, "memory: expected a size in bytes"),
            ({"split_size": 0}, "split_size: expected a size in bytes"),
            ({"partitions": 0}, "partitions: expected at least 1"),
            ({"glob": "*.log"}, "glob: Spark lists the files of hdfs:/logs; select them with a pattern in the path"),
        ]:
            with self.assertRaisesRegex(finecomb.Error, message):
                finecomb.spark.top(self.spark, ["hdfs:/logs", "none.log"], **flags)
        with self.assertRaisesRegex(finecomb.Error, "min_count: all keys are returned; use finecomb.spark.top"):
            finecomb.spark.counts(self.spark, "none.log", min_count=2)
        os.mkfifo(self.directory / "pipe")
        with self.assertRaisesRegex(finecomb.Error, "pipe: neither a file nor a directory"):
            finecomb.spark.top(self.spark, self.directory / "pipe")


class Search(OnTwoCores):
    def random_file(self, source, name):
        end = source.choice([b"\n", b"\n", b"\r\n"])
        words = [b"a", b"ab", b"b", b"needle", b"\xc3\xa9", b"\xff", b" ", b"x" * 30]
        lines = [b"".join(source.choices(words, k=source.randint(0, 9))) for _ in range(source.randint(0, 400))]
        if source.random() < 0.3:
            lines.insert(source.randrange(len(lines) + 1), b"needle" + b"y" * 5000)
        text = end.join(lines) + source.choice([b"", end])
        if source.random() < 0.2:
            text = b"\xef\xbb\xbf" + text
        if source.random() < 0.25:
            text *= source.choice([1, 20])
            at = source.randrange(len(text) + 1)
            text = text[:at] + b"\0" + text[at:]
        return self.write(name, gzip.compress(text) if name.endswith(".gz") else text)

    def assert_found(self, pattern, paths, flags, **division):
        """Compares the rows and messages with the command's and the module's."""
        expected, said = grepped(pattern, paths, flags)
        _, messages = caught(lambda: list(finecomb.grep(pattern, paths, **flags)))
        frame, found = caught(finecomb.spark.grep, self.spark, pattern, paths, line_number=True, **flags, **division)
        rows, more = caught(frame.collect)
        for row in rows:
            self.assertEqual(row.text, bytes(row.line).decode(errors="replace"))
        rows = sorted((row.path, row.line_number, row.offset, bytes(row.line)) for row in rows)
        self.assertEqual(rows, expected, (pattern, flags, division))
        self.assertEqual(sorted(found + more), sorted(messages), (pattern, flags, division))
        return len(rows)

    def test_random_files_have_the_lines_of_the_command(self):
        source = random.Random(11)
        some = 0
        for run in range(16):
            (self.directory / str(run)).mkdir()
            names = source.sample(["a.log", "b.log", "c.log.gz", "d.log"], source.randint(1, 4))
            paths = [self.random_file(source, f"{run}/{name}") for name in names]
            if source.random() < 0.5:
                paths = [str(self.directory / str(run))]
            flags = {}
            for name, value in [
                ("text", True), ("invert_match", True), ("word_regexp", True), ("ignore_case", True), ("crlf", True),
                ("search_zip", True), ("max_count", 2), ("context", 1), ("not_", "ab"), ("binary", True), ("multiline", True),
            ]:  # fmt: skip
                if source.random() < 0.2:
                    flags[name] = value
            pattern = source.choice(["needle", "^a", "b$", "a+b", "", "zzz", "(?-u)\\xFF"])
            with self.subTest(run=run, pattern=pattern, flags=flags):
                some += self.assert_found(pattern, paths, flags, split_size=source.choice(["1K", "3K", "40K"]))
        self.assertGreater(some, 1000)

    def test_flags_may_be_given_by_other_names(self):
        path = self.write("a.log", b"a\nb\n" * 5000)
        for flags, rows in [({"max-count": 1}, [(0, False)]), ({"max_count": 1, "after": 1}, [(0, False), (2, True)])]:
            frame = finecomb.spark.grep(self.spark, "a", path, split_size="1K", **flags)
            self.assertEqual(sorted((row.offset, len(row) > 4 and row.is_context) for row in frame.collect()), rows)
        frame = finecomb.spark.grep(self.spark, "b", path, numbers=True, split_size="1K")
        self.assertEqual(sorted(row.line_number for row in frame.collect()), list(range(2, 10_001, 2)))

    def test_columns_are_those_that_are_wanted(self):
        path = self.write("a.log", b"a\nb\xff\n")
        plain = [("path", "string"), ("offset", "bigint"), ("line", "binary"), ("text", "string")]
        frame = finecomb.spark.grep(self.spark, "(?-u)\\xFF", path)
        self.assertEqual(frame.dtypes, plain)
        self.assertEqual(frame.collect(), [(path, 2, bytearray(b"b\xff"), "b\ufffd")])
        frame = finecomb.spark.grep(self.spark, ["b", "c"], Path(path), line_number=True, before_context=1)
        self.assertEqual(frame.dtypes, [plain[0], ("line_number", "bigint"), *plain[1:], ("is_context", "boolean")])
        self.assertEqual([(row.line_number, row.is_context) for row in frame.collect()], [(1, True), (2, False)])
        self.assertEqual(finecomb.spark.grep(self.spark, "a", []).collect(), [])

    def test_files_are_selected_as_by_the_command(self):
        for name in ["a.log", "b.txt", ".c.log", "below/d.log"]:
            (self.directory / name).parent.mkdir(exist_ok=True)
            self.write(name, b"a\n")
        directory = str(self.directory)
        for flags in [{}, {"glob": "*.log"}, {"hidden": True}, {"max_depth": 1, "type": "txt"}]:
            self.assert_found("a", [directory], flags)

    def test_a_missing_or_unreadable_file_is_a_warning_on_the_driver(self):
        good = self.write("a.log", b"a\n" * 5000)
        damaged = self.write("b.log.gz", gzip.compress(b"a\n" * 9000)[:-9])
        missing = str(self.directory / "none.log")
        self.assert_found("a", [good, damaged, missing], {"search_zip": True}, split_size="1K")
        vanished = self.write("c.log", b"a\n" * 5000)
        frame, _ = caught(finecomb.spark.grep, self.spark, "a", [good, vanished], split_size="1K", text=True)
        os.unlink(vanished)
        rows, messages = caught(frame.collect)
        self.assertEqual((len(rows), messages), (5000, [f"{vanished}: no such file or directory"]))

    def test_file_systems_of_hadoop(self):
        sample, remote = str(SAMPLES / "access.log"), "viewfs://logs/samples/access.log"
        expected, _ = grepped("POST", [sample], {})
        for flags in [{}, {"max_count": 10**6}]:
            frame = finecomb.spark.grep(self.spark, "POST", remote, line_number=True, **flags)
            rows = frame.collect()
            self.assertEqual(sorted(bytes(row.line) for row in rows), sorted(line for *_, line in expected))
            self.assertEqual({(row.line_number, row.offset) for row in rows}, {(None, None)})
            self.assertEqual({row.path.rsplit("/", 1)[1] for row in rows}, {"access.log"})
        frame, messages = caught(finecomb.spark.grep, self.spark, "POST", [sample, remote, remote + "x"])
        self.assertEqual(frame.count(), 2 * len(expected))
        self.assertEqual(messages, [f"{remote}x: no such file or directory"])
        with self.assertRaisesRegex(finecomb.Error, "glob: Spark lists the files of viewfs:"):
            finecomb.spark.grep(self.spark, "POST", remote, glob="*.log")

    def test_the_data_source_has_the_lines_of_the_command(self):
        finecomb.spark.register(self.spark)
        path = self.write("a.log", b"a\nbb\n" * 5000)
        other = self.write("b c.log", b"a\0\nbb\n" * 5000)
        expected, _ = grepped("b+", [path, other], {"text": True})
        reader = self.spark.read.format("finecomb.grep").options(pattern="b+", text="true", split_size="10K")
        frame = reader.load([path, other])
        self.assertGreater(frame.rdd.getNumPartitions(), 3)
        rows = sorted((row.path, row.offset, bytes(row.line)) for row in frame.collect())
        self.assertEqual(rows, [(path, offset, line) for path, _, offset, line in expected])
        for condition, one in [(F.col("path") == path, path), (F.col("path").endswith("c.log"), other)]:
            frame = reader.load([path, other]).where(condition)
            self.assertEqual({row.path for row in frame.collect()}, {one})
            self.assertLess(frame.rdd.getNumPartitions(), 6)
        numbered = reader.options(line_number="true").load(path)
        self.assertEqual([row.line_number for row in numbered.collect()], list(range(2, 10_001, 2)))
        for options, path, message in [
            ({}, path, "finecomb.grep: no pattern"),
            ({"pattern": "a("}, path, "unclosed group"),
            ({"pattern": "a", "text": "yes"}, path, "text: expected true or false; found 'yes'"),
            ({"pattern": "a", "limit": "3"}, path, "limit: rows of splits have no order; use DataFrame.limit"),
            ({"pattern": "a"}, "/none.log", "/none.log: no such file or directory"),
            ({"pattern": "a"}, "s3a://logs/a", "use finecomb.spark.grep"),
        ]:
            with self.assertRaisesRegex(Exception, message):
                self.spark.read.format("finecomb.grep").options(**options).load(path).collect()

    def test_invalid_arguments_are_refused_before_anything_is_read(self):
        for flags, message in [
            ({"limit": 3}, "limit: rows of splits have no order; use DataFrame.limit"),
            ({"sort": "path"}, "sort: rows of splits have no order"),
            ({"index": "require"}, "index: executors search files without an index"),
            ({"split_size": "12X"}, "split_size: expected a size in bytes"),
            ({"color": "never"}, "--color: only the command has this flag"),
            ({"pcre2": True, "fixed_strings": "x"}, "fixed-strings"),
        ]:
            with self.assertRaisesRegex(finecomb.Error, message):
                finecomb.spark.grep(self.spark, "a", "none.log", **flags)
        with self.assertRaisesRegex(finecomb.Error, "unclosed group"):
            finecomb.spark.grep(self.spark, "a(", [])

    def test_spark_connect_is_pointed_to_the_data_source(self):
        connect = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
        for function, arguments in [("top", []), ("counts", []), ("grep", ["a"])]:
            with self.assertRaisesRegex(finecomb.Error, f"finecomb.spark.{function} needs a session with a driver"):
                getattr(finecomb.spark, function)(connect, *arguments, "a.log")


class Parts(Logs):
    def test_surveys_of_parts_have_their_lines_and_nuls(self):
        text = b"a\n\nbc\0d\ne"
        path = self.write("a", text)
        for start in range(len(text) + 1):
            for end in range(start, len(text) + 1):
                lines = sum(at == 0 or text[at - 1] == 10 for at in range(start, end))
                self.assertEqual(_finecomb.survey_part(path, start, end), (lines, 0 in text[start:end]), (start, end))
        self.assertEqual(_finecomb.survey_part(path, 3), (2, True))
        self.assertEqual(_finecomb.survey_part(self.write("b", b"a\n"), 0), (1, False))
        self.assertEqual(_finecomb.survey_part(self.write("c", b""), 0), (0, False))
        with self.assertRaisesRegex(OSError, "none: "):
            _finecomb.survey_part(str(self.directory / "none"), 0)

    def test_a_table_that_exceeds_the_memory_is_emitted_and_begun_anew(self):
        path = self.write("a.log", b"".join(b"key%d\n" % number for number in range(20_000)))
        packed = self.write("b.log.gz", gzip.compress(Path(path).read_bytes()))
        flags, _, division = divide_flags({"memory": "8K"})
        whole = finecomb.Counts(**flags)
        whole.add([path, packed])
        plan = counting.Plan(finecomb.Counts(**flags).to_bytes(), flags, division.memory, 2, Quiet())
        table = counting.Table(plan)
        batches = [*table.add(path, (0, 0), start=0, end=90_000), *table.add(path, (0, 1), start=90_000)]
        batches += [*table.add(packed, (1, 0)), table.batch()]
        self.assertGreater(len(batches), 2)
        self.assertEqual(counting.merged(plan, iter(batches)).to_bytes(), whole.to_bytes())

    def test_splits_cover_files_and_small_files_are_together(self):
        files = [("a", 1000), ("b.gz", 1000), ("c", 0), ("d", 10), ("e", 10)]
        tasks = splits.divide(files, 300)
        self.assertEqual([[split.path for split in task] for task in tasks][:5], [["a"]] * 4 + [["b.gz"]])
        borders = [(task[0].start, task[0].end, task[0].length) for task in tasks[:4]]
        self.assertEqual(borders, [(0, 250, 250), (250, 500, 250), (500, 750, 250), (750, None, 250)])
        together = splits.divide([(str(number), 10) for number in range(100)], 1 << 20)
        self.assertEqual([len(task) for task in together][:2], [15, 15])
        self.assertEqual(sum(map(len, together)), 100)

    def test_parts_of_counts(self):
        counts = finecomb.Counts(fields=1)
        path = self.write("a.log", b"a 1\nb 2\na 3\n")
        counts.add_file(path, 0, 1)
        counts.add_file(path, 1, 5)
        counts.add_file(path, start=5)
        whole = finecomb.Counts(fields=1)
        whole.add(path)
        self.assertEqual(counts.to_bytes(), whole.to_bytes())
        sum_ = finecomb.Counts(fields=1)
        for part in counts.split(5):
            sum_.merge(part)
        self.assertEqual(sum_.to_bytes(), whole.to_bytes())
        self.assertEqual([row.text for row in counts.first(1).top("all")], ["a"])
        self.assertEqual(counts.first(1).records, 3)
        self.assertEqual(counts.files([path, path]), [(path, 12)] * 2)
        self.assertGreater(counts.memory, 1000)
        with self.assertRaisesRegex(finecomb.Error, "at least one part"):
            counts.split(0)
        with self.assertRaisesRegex(finecomb.Error, "cannot be added"):
            counts.merge(finecomb.Counts(fields=2).to_bytes())
        emitted, messages = caught(counts.add_part, b"\n", memory=1 << 20, parts=2)
        self.assertEqual(emitted, [])
        self.assertEqual(messages, [])
        _, messages = caught(counts.add_bytes, b"\n", name="x")
        self.assertIn("the first is x:1", messages[0])

    def test_columns_have_the_same_types_for_all_rows(self):
        top, _ = caught(finecomb.top, b"a 1.5\nb x\n", fields=1, sum=2)
        table = pyarrow.table(top.columns(places=2))
        self.assertEqual(table.schema.field("sum(2)").type, pyarrow.decimal128(38, 2))
        self.assertEqual(table["sum(2)"].to_pylist(), [Decimal("1.5"), None])
        self.assertEqual(top.columns(places=0).unfit, {"sum(2)": 1})
        with self.assertRaisesRegex(finecomb.Error, "200 places: at most 38"):
            top.columns(places=200)


class Quiet:
    """Takes no messages."""

    def of(self, place):
        return warnings.catch_warnings()


class Cluster(Logs):
    @classmethod
    def setUpClass(cls):
        cls.spark = session("local-cluster[2,1,1024]")

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def executors(self):
        """Processes of executors."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and self.is_own(words):
                    found.append(int(entry.name))
        return found

    def is_own(self, words):
        return self.spark.sparkContext.applicationId.encode() in words

    def test_counts_are_those_of_the_command(self):
        self.assert_same(self.spark, [str(SAMPLES / "nginx.log")], {"fields": "path", "p99": "bytes"}, split_size="200K")

    def test_counts_are_exact_though_an_executor_is_killed(self):
        damaged = self.write("b.log.gz", gzip.compress(b"a\n" * 9000)[:-9])
        paths = [damaged, self.write("a.log", b"".join(b"key%d\n" % (number % 999) for number in range(2_000_000)))]
        tracker = self.spark.sparkContext.statusTracker()
        killed = []

        def kill():
            # Once the stage that counts has tasks in both executors, and one is done.
            while not killed:
                for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()):
                    if stage and stage.numTasks > 10 and stage.numCompletedTasks > 0 and stage.numActiveTasks > 1:
                        killed.append(self.executors()[0])
                        os.kill(killed[0], signal.SIGKILL)
                        return
                time.sleep(0.01)

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        frame, messages = caught(finecomb.spark.top, self.spark, paths, n="all", split_size="1M", memory="256K")
        thread.join(1)
        self.assertEqual(len(killed), 1)
        self.assertFalse(Path(f"/proc/{killed[0]}").exists())
        top, expected = caught(finecomb.top, paths, n="all")
        self.assertEqual([(bytes(row.key), row["count"]) for row in frame.collect()], [(row.key, row.count) for row in top])
        self.assertEqual(messages, expected)


if __name__ == "__main__":
    unittest.main()
