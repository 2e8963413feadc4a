"""Tests of --format arrow and parquet of the command, read by pyarrow. The command needs the feature parquet."""

import io
import random
import subprocess
import unittest

import finecomb
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
from support import COMB, SAMPLES, Files

SAMPLE = SAMPLES / "access.log"


def run(*words, **keywords):
    return subprocess.run([COMB, *map(str, words)], capture_output=True, stdin=subprocess.DEVNULL, **keywords)


def table(format, data):
    if format == "arrow":
        return pyarrow.ipc.open_stream(io.BytesIO(data)).read_all()
    return pyarrow.parquet.read_table(io.BytesIO(data))


class Formats(Files):
    def test_answers_are_those_of_the_module(self):
        for flags, words in [
            ({"fields": 7, "n": 5}, ["-f", "7", "-n", "5"]),
            ({"fields": "path,status", "sum": "bytes", "p99": "bytes"}, ["-f", "path,status", "--sum", "bytes", "--p99", "bytes"]),
            ({"approx": True}, ["--approx"]),
            ({"grep": "no such record"}, ["-g", "no such record"]),
        ]:
            expected = pyarrow.table(finecomb.top(SAMPLE, **flags))
            for format in ("arrow", "parquet"):
                done = run("top", *words, "--format", format, SAMPLE)
                self.assertEqual(table(format, done.stdout).to_pylist(), expected.to_pylist(), (words, done.stderr))
                self.assertEqual(table(format, done.stdout).schema, expected.schema)

    def test_lines_are_those_of_the_module_at_any_width(self):
        source = random.Random(3)
        words = [b"needle", b"a", b"\xc3\xa9", b"\xff", b" ", b"a text of some more bytes"]
        for name in "abc":
            lines = [b"".join(source.choices(words, k=source.randint(0, 9))) for _ in range(20_000)]
            (self.directory / name).write_bytes(b"\n".join(lines))
        for flags, words in [
            ({}, []),
            ({"context": 1, "max_count": 100}, ["-C", "1", "-m", "100"]),
            ({"no_line_number": True, "limit": 7}, ["-N", "--limit", "7"]),
            ({"fixed_strings": True, "word_regexp": True}, ["-F", "-w"]),
        ]:
            expected = pyarrow.table(finecomb.grep("needle", self.directory, **flags))
            self.assertGreater(expected.num_rows, 0)
            for format in ("arrow", "parquet"):
                for threads in ("1", "2", "8"):
                    done = run("grep", "needle", *words, "--format", format, "-j", threads, self.directory)
                    self.assertEqual((done.returncode, done.stderr), (0, b""))
                    self.assertEqual(table(format, done.stdout).to_pylist(), expected.to_pylist(), (words, format))

    def test_symbols_are_those_of_the_module_at_any_width(self):
        for number in range(12):
            members = b"".join(b"  int method_%d(int \xe9) { return g(); }\n" % member for member in range(1000))
            (self.directory / f"{number}.cc").write_bytes(b"class A {\n" + members + b"};\n")
        for flags, words in [({}, []), ({"reference": "g", "kind": "method"}, ["-r", "g", "--kind", "method"]), ({"definition": "none"}, ["-d", "none"])]:
            expected = pyarrow.table(finecomb.symbols(self.directory, **flags))
            for format in ("arrow", "parquet"):
                for threads in ("1", "2", "8"):
                    done = run("symbols", *words, "--format", format, "-j", threads, self.directory)
                    self.assertEqual((done.returncode, done.stderr), (int(expected.num_rows == 0), b""))
                    self.assertEqual(table(format, done.stdout), expected, (words, format))

    def test_a_table_of_symbols_replaces_only_a_table(self):
        source = self.write("a.py", b"x = 1\n")
        for format, other in [("arrow", "a stream of Arrow"), ("parquet", "a Parquet file")]:
            output = self.directory / format
            for _ in range(2):
                self.assertEqual(run("symbols", "--format", format, "-o", output, source).stderr, b"")
                self.assertEqual(table(format, output.read_bytes())["name"].to_pylist(), ["x"])
            done = run("symbols", "--format", format, "-o", source, source)
            message = f"comb: {source}: file exists and is not {other}; use --force to replace it\n"
            self.assertEqual((done.returncode, done.stderr.decode()), (2, message))
        self.assertEqual(source.read_bytes(), b"x = 1\n")

    def test_a_table_without_rows_has_its_columns(self):
        for words in (["zzz", SAMPLE], ["-m", "0", "a", SAMPLE], ["--limit", "0", "a", SAMPLE]):
            for format in ("arrow", "parquet"):
                done = run("grep", "--format", format, *words)
                self.assertEqual((done.returncode, table(format, done.stdout).num_rows), (1, 0))

    def test_the_last_mode_of_output_counts(self):
        self.assertEqual(run("grep", "--format", "arrow", "-c", "a", SAMPLE).stdout, run("grep", "-c", "a", SAMPLE).stdout)
        done = run("grep", "-c", "--format", "parquet", "Googlebot", SAMPLE)
        self.assertGreater(table("parquet", done.stdout).num_rows, 0)
        self.assertEqual(run("grep", "-q", "--format", "arrow", "a", SAMPLE).stdout, b"")

    def test_notices_and_problems_go_to_standard_error(self):
        (self.directory / "a").write_bytes(b"a\n\0\na\n")
        done = run("grep", "--format", "arrow", "a", "none", "a", cwd=self.directory)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.decode().splitlines(), [
            "comb: none: no such file or directory",
            'comb: a: binary file matches (found "\\0" byte around offset 2)',
        ])

    def test_text_cannot_be_mixed_with_a_table(self):
        for words, reason in [
            (["grep", "--stats", "--format", "arrow", "a", SAMPLE], "--stats: prints text; omit it with --format arrow"),
            (["symbols", "--stats", "--format", "arrow", SAMPLES],
             "--stats would end up in the table; use -o to write that to a file"),
            (["symbols", "--append", "-o", self.directory / "a", "--format", "arrow", SAMPLES],
             "--append updates a tags file; use it with --format ctags"),
            (["top", "--tail", "--format", "parquet", SAMPLE],
             "--format parquet: a table has an end; use --format json with --tail"),
        ]:
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr.decode()), (2, f"comb: {reason}\n"))

    def test_a_reader_that_leaves_ends_the_search(self):
        with open(self.directory / "big", "wb") as file:
            file.write(b"a needle in a line\n" * 2_000_000)
        words = [COMB, "grep", "--format", "arrow", "needle", self.directory / "big"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            child.stdout.read(1000)
            child.stdout.close()
            self.assertEqual(child.stderr.read(), b"")
            child.wait(timeout=20)


if __name__ == "__main__":
    unittest.main()
