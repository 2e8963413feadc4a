"""Tests of finecomb.top and finecomb.Counts beside the command, which is installed with the module."""

import io
import itertools
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import threading
import unittest
from array import array
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import finecomb
import pyarrow
from support import COMB, SAMPLES, Files, interrupted, quietly

SAMPLE = SAMPLES / "access.log"
LOG = b"2026-03-01T06:00:07Z in 1.5\n2026-03-01T06:02:09Z out 3\n2026-03-01T06:00:30Z in none\nshort\n\xff x \xfe\n"


def comb(*arguments: object) -> tuple[str, list[str], int]:
    done = subprocess.run([COMB, "top", *map(str, arguments)], capture_output=True)
    return done.stdout.decode(), done.stderr.decode().splitlines(), done.returncode


class Logs(Files):
    def setUp(self):
        super().setUp()
        self.log = self.write("a.log", LOG)


class Top(Logs):
    def test_rows_are_those_of_the_command(self):
        for flags in [
            {"fields": [7]},
            {"fields": "1,9", "n": 3, "grep": ["GET", "HTTP"], "vgrep": "bot"},
            {"fields": "path,status", "n": "all", "sort": "key"},
            {"extract": ["bot/([0-9.]+)"], "ignore_case": True, "missing": None},
            {"fields": "status", "sum": "bytes", "p99": ["bytes"], "where": "bytes > 100", "reverse": True},
            {"fields": "status", "share": ["bytes > 1000", "path ~ 'a' && method == \"GET\""], "n": "all", "sort": "key"},
            {"fields": "method", "every": "1mo", "tz": "UTC", "share": "status >= 400"},
            {"normalize": ["num", "path"], "sed": [("GET", "<$0>"), ("x", "")], "n": 5},
            {"every": timedelta(hours=1), "tz": "UTC"},
        ]:
            words = []
            for name, value in flags.items():
                flag = "--" + {"n": "number"}.get(name, name).replace("_", "-")
                match value:
                    case None:
                        pass
                    case True:
                        words.append(flag)
                    case [(_, _), *_]:
                        words += itertools.chain(*((flag, *pair) for pair in value))
                    case list() if name in ("fields", "normalize"):
                        words.append(f"{flag}={','.join(map(str, value))}")
                    case list():
                        words += [f"{flag}={item}" for item in value]
                    case timedelta():
                        words.append(f"{flag}=1h")
                    case _:
                        words.append(f"{flag}={value}")
            expected, messages, code = comb(*words, "--format=csv", SAMPLE)
            top = quietly(finecomb.top, SAMPLE, **flags)
            self.assertEqual([f"comb: {message}" for message in top.messages], messages, flags)
            rows = expected.splitlines()[1:]
            self.assertEqual(len(top), len(rows), flags)
            self.assertEqual([row.count for row in top], [int(row.split(",")[0]) for row in rows])
            self.assertGreater(len(top), 1, flags)

    def test_a_row_has_exact_bytes_numbers_and_names(self):
        top = quietly(finecomb.top, self.log, fields=3, sum=3, mean="3", min=1)
        row = next(row for row in top if row.text == "\ufffd")
        self.assertEqual((row.key, row.count, row.fields), (b"\xfe", 1, {"key": "\ufffd"}))
        row = next(row for row in top if row.text == "1.5")
        self.assertEqual(row.values, {"sum(3)": Decimal("1.5"), "mean(3)": Decimal("1.5"), "min(1)": None})
        row = quietly(finecomb.top, b"x 7\nx 8\n", fields=1, sum=2, n=1)[0]
        self.assertEqual((row.values, type(row.values["sum(2)"])), ({"sum(2)": 15}, int))
        row = quietly(finecomb.top, b"x 9e19\nx 9e19\nx 1e-18\nx -\n", fields=1, share="$2 > 1", sum=2)[0]
        exact = Decimal("180000000000000000000.000000000000000001")
        self.assertEqual(row.values, {"share($2 > 1)": Decimal("50.00"), "sum(2)": exact})
        row = quietly(finecomb.top, b"x 9e19\nx 9e19\n" * 10**6, fields=1, sum=2)[0]
        self.assertEqual(row.values, {"sum(2)": 18 * 10**25})
        self.assertEqual((row.error, row.certain), (0, True))
        self.assertEqual((top.records, top.distinct, top[-1].key), (4, 4, top[len(top) - 1].key))
        self.assertRaises(IndexError, lambda: top[4])

    def test_inputs_are_paths_bytes_buffers_and_file_objects(self):
        def keys(inputs):
            return [(row.count, row.key) for row in quietly(finecomb.top, inputs, n="all")]

        expected = keys(str(self.log))
        with open(self.log, "rb") as file:
            apart = memoryview(bytes(byte for byte in LOG for _ in range(2)))[::2]
            buffers = [LOG, bytearray(LOG), memoryview(LOG), apart, array("b", LOG), pyarrow.py_buffer(LOG)]
            for one in [self.log, *buffers, io.BytesIO(LOG), file]:
                self.assertEqual(keys(one), expected, type(one))
        twice = [(2 * count, key) for count, key in expected]
        self.assertEqual(keys([self.log, LOG]), twice)
        self.assertEqual(keys((io.BytesIO(LOG), str(self.log))), twice)
        self.assertEqual(keys([]), [], "standard input is left alone")
        with self.assertRaisesRegex(TypeError, "expected a path, bytes or a binary file object; found int"):
            finecomb.top(7)
        with self.assertRaisesRegex(TypeError, "open it with 'rb'"):
            finecomb.top(io.StringIO("a"))

    def test_errors_have_the_words_of_the_command(self):
        for flags, words in [
            ({"where": "a =="}, ["--where=a =="]),
            ({"fields": "3-"}, ["--fields=3-"]),
            ({"grep": "("}, ["--grep=("]),
            ({"sort": "sum(1)"}, ["--sort=sum(1)"]),
            ({"input": "xml"}, ["--input=xml"]),
        ]:
            _, messages, _ = comb(*words, self.log)
            with self.assertRaises(finecomb.Error) as caught:
                finecomb.top(self.log, **flags)
            self.assertEqual("comb: " + str(caught.exception).splitlines()[0], messages[0], flags)
        with self.assertRaisesRegex(finecomb.Error, "unexpected argument '--feilds'"):
            finecomb.top(self.log, feilds=1)
        with self.assertRaisesRegex(finecomb.Error, "--live: only the command has this flag"):
            finecomb.top(self.log, live=True)
        with self.assertRaisesRegex(TypeError, "fields: no flag takes a value of type dict"):
            finecomb.top(self.log, fields={})

    def test_problems_are_warnings_and_cost_nothing_else(self):
        with self.assertWarnsRegex(finecomb.Warning, "none.log: no such file or directory"):
            top = finecomb.top([self.log, self.directory / "none.log"], n=1)
        self.assertEqual(top.records, 5)
        with self.assertWarnsRegex(finecomb.Warning, "skipped 1 of 1 record.*; the first is bytes:1: a"):
            finecomb.top(b"a\n", fields=2)

    def test_the_lock_of_the_interpreter_is_released(self):
        read, write = os.pipe()
        result = []
        thread = threading.Thread(target=lambda: result.append(finecomb.top(f"/proc/self/fd/{read}")))
        thread.start()
        # It waits for this writer, which needs the lock.
        with os.fdopen(write, "wb") as pipe:
            pipe.write(b"a\n")
        thread.join(10)
        self.assertEqual(result[0].records, 1)
        os.close(read)

    def test_an_interrupt_ends_the_job(self):
        script = "import finecomb, os\nr, w = os.pipe()\nprint('ready', flush=True)\nfinecomb.top(f'/proc/self/fd/{r}')"
        self.assertIn(b"KeyboardInterrupt", interrupted(self, script))

    def test_progress_is_reported_and_may_stop_the_job(self):
        self.check_progress(finecomb.top, b"a\nb\n" * 1000, 2)

    def test_libraries_take_the_arrow_stream(self):
        import duckdb
        import polars

        top = quietly(finecomb.top, SAMPLE, fields="path,status", sum="bytes", mean="bytes", n=5)
        table = pyarrow.table(top)
        self.assertEqual(table.column_names, ["path", "status", "key_bytes", "count", "sum(bytes)", "mean(bytes)"])
        self.assertEqual(table["count"].to_pylist(), [row.count for row in top])
        self.assertEqual(table["sum(bytes)"].to_pylist(), [row.values["sum(bytes)"] for row in top])
        self.assertEqual(table["mean(bytes)"].to_pylist(), [float(row.values["mean(bytes)"]) for row in top])
        self.assertEqual(polars.DataFrame(top)["path"].to_list(), [row.fields["path"] for row in top])
        self.assertEqual(duckdb.sql("SELECT sum(count) FROM top").fetchall()[0][0], sum(row.count for row in top))


class Counts(Logs):
    def test_random_parts_are_merged_to_the_whole(self):
        random.seed(1)
        for _ in range(60):
            lines = [f"{random.choice('abcde')} {random.randrange(50)}.{random.choice(['5', '25', ''])}\n" for _ in range(200)]
            flags = random.choice([{"fields": 1}, {"fields": "1", "sum": 2, "p50": 2, "distinct": 2}, {"fields": "2", "min": 1}])
            parts = [[] for _ in range(random.randrange(1, 5))]
            for line in lines:
                random.choice(parts).append(line)
            whole = finecomb.Counts(**flags)
            quietly(whole.add, "".join(lines).encode())
            merged = finecomb.Counts(**flags)
            for part in parts:
                counts = finecomb.Counts(**flags)
                quietly(counts.add, "".join(part).encode())
                if random.random() < 0.5:
                    counts = finecomb.Counts.from_bytes(counts.to_bytes())
                if random.random() < 0.5:
                    merged = counts + merged
                else:
                    merged.merge(counts)
            self.assertEqual(merged.to_bytes(), whole.to_bytes())
            top = quietly(finecomb.top, "".join(lines).encode(), n=3, **flags)
            self.assertEqual([(row.count, row.key, row.values) for row in merged.top(3)], [(row.count, row.key, row.values) for row in top])

    def test_the_command_reads_and_writes_them(self):
        counts = finecomb.Counts(fields=[7], where="$9 != 200")
        quietly(counts.add, SAMPLE)
        saved = self.directory / "counts"
        comb("--fields=7", "--where=$9 != 200", "--save-counts", saved, SAMPLE)
        self.assertEqual(counts.to_bytes(), saved.read_bytes())
        restored = finecomb.Counts.from_bytes(saved.read_bytes())
        self.assertEqual(restored.definition, "--fields=7 '--where=$9 != 200'")
        expected = [f"{row.count} {row.text}" for row in restored.top(4, min_count=2)]
        self.assertEqual(comb("--merge", "-n", 4, "--min-count", 2, saved)[0].splitlines(), expected)
        self.assertEqual(pickle.loads(pickle.dumps(counts)).to_bytes(), counts.to_bytes())

    def test_what_does_not_belong_together_is_refused(self):
        one, other = finecomb.Counts(fields=1), finecomb.Counts(fields=2)
        with self.assertRaisesRegex(finecomb.Error, "counts of --fields=2 cannot be added to those of --fields=1"):
            one.merge(other)
        self.assertRaises(finecomb.Error, lambda: one + other)
        with self.assertRaisesRegex(finecomb.Error, "not a file of counts"):
            finecomb.Counts.from_bytes(b"something else")
        data = bytearray(one.to_bytes())
        data[-1] ^= 1
        with self.assertRaisesRegex(finecomb.Error, "damaged counts: the checksum does not match"):
            finecomb.Counts.from_bytes(bytes(data))
        with self.assertRaisesRegex(finecomb.Error, "--memory: not available, as counts keep all keys in memory"):
            finecomb.Counts(fields=1, memory="1G")

    def test_relative_times_are_those_of_the_first_call(self):
        counts = finecomb.Counts(fields=2, last="1h")
        now = datetime.now(timezone.utc)
        lines = [f"{(now - timedelta(minutes=minutes)).isoformat()} a\n" for minutes in (5, 30, 90)]
        quietly(counts.add, "".join(lines).encode())
        self.assertEqual(counts.records, 2)
        self.assertIn("--since=", counts.definition)


class Documents(unittest.TestCase):
    def test_the_programs_of_the_documents_run(self):
        root = SAMPLE.parents[1]
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        (Path(directory.name) / "samples").symlink_to(root / "samples")
        build = [COMB, "index", "build", "samples/access.log", "-o", "access.comb"]
        subprocess.run(build, cwd=directory.name, check=True, capture_output=True)
        clustered = []
        for page in ["README.md", "docs/python.md", "docs/spark.md"]:
            programs = [part.split("```")[0] for part in (root / page).read_text().split("```python\n")[1:]]
            self.assertTrue(programs, page)
            for program in programs:
                if "pyspark" in program:
                    clustered.append(program)
                else:
                    self.assertEqual(self.run_programs([program], directory.name).stderr, "", page)
        # In one process, as Spark takes ten seconds to start. It writes its log to standard error.
        self.run_programs(clustered, directory.name)

    def run_programs(self, programs, directory):
        each = "import json, sys\nfor program in json.load(sys.stdin):\n    exec(program, {})\n    print('\\0')"
        words = [sys.executable, "-c", each]
        done = subprocess.run(words, cwd=directory, input=json.dumps(programs), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        outputs = done.stdout.split("\0\n")
        self.assertEqual(len(outputs), len(programs) + 1)
        self.assertTrue(all(outputs[:-1]), outputs)
        return done


if __name__ == "__main__":
    unittest.main()
