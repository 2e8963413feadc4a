"""Tests of finecomb.grep beside the command, which is installed with the module."""

import base64
import functools
import io
import json
import os
import random
import subprocess
import unittest

import duckdb
import finecomb
import polars
import pyarrow
from support import COMB, Files, Threads, interrupted, quietly, words_of

WORDS = [b"a", b"ab", b"b", b"\xc3\xa9", b"\xff", b" ", b"\t", b"needle", b"\r", b"x" * 20]
PATTERNS = ["a", "b+", "^a", "b$", "^$", "", r"\w+", "a|needle", "(?-u)\\xFF", "é", "zzz"]


def by_command(pattern, paths, flags):
    """The lines that the command finds, as JSON has them."""
    words = [COMB, "grep", "--json", *words_of(flags), "-e", pattern, "--", *paths]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
    data = lambda value: value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])
    found = []
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["type"] not in ("match", "context"):
            continue
        of = message["data"]
        text = data(of["lines"])
        if flags.get("null_data"):
            text = text.removesuffix(b"\0")
        else:
            text = text.removesuffix(b"\r\n" if flags.get("crlf") and text.endswith(b"\r\n") else b"\n")
        is_context = message["type"] == "context"
        ends = lambda span: tuple(min(span[name], len(text)) for name in ("start", "end"))
        spans = [] if is_context else [ends(span) for span in of["submatches"]]
        path = os.fsdecode(data(of["path"]))
        found.append((path, of["line_number"], of["absolute_offset"], text, spans, is_context))
    return found


def as_tuple(match):
    return match.path, match.line_number, match.offset, match.line, match.spans, match.is_context


def as_rows(matches):
    """The lines of a stream of Arrow."""
    rows = pyarrow.table(matches).to_pylist()
    ends = lambda spans: [(span["start"], span["end"]) for span in spans or []]
    for row in rows:
        assert row["text"] == row["line"].decode(errors="replace"), row
    return [
        (row["path"], row["line_number"], row["offset"], row["line"], ends(row["spans"]), row["spans"] is None)
        for row in rows
    ]


class Lines(Files):
    def test_lines_are_those_of_the_command(self):
        source = random.Random(7)
        some = 0
        for run in range(150):
            directory = self.directory / str(run)
            for number in range(source.randint(1, 4)):
                lines = [b"".join(source.choices(WORDS, k=source.randint(0, 6))) for _ in range(source.randint(0, 30))]
                self.write(f"{run}/{number}", b"\n".join(lines) + source.choice([b"", b"\n"]))
            flags = {"text": True, "block_size": source.choice([1, 7, 4096]), "threads": source.choice([1, 2, 8])}
            for name, value in [
                ("ignore_case", True), ("word_regexp", True), ("invert_match", True), ("crlf", True), ("multiline", True),
                ("max_count", 2), ("context", 1), ("after_context", 2), ("not_", "ab"), ("null_data", True),
            ]:
                if source.random() < 0.15:
                    flags[name] = value
            if flags.get("null_data"):
                flags.pop("crlf", None)
            pattern = source.choice(PATTERNS)
            with self.subTest(run=run, pattern=pattern, flags=flags):
                expected = by_command(pattern, [directory], flags)
                found = [as_tuple(match) for match in finecomb.grep(pattern, directory, **flags)]
                self.assertEqual(found, expected)
                self.assertEqual(as_rows(finecomb.grep(pattern, directory, **flags)), found)
                some += len(found)
        self.assertGreater(some, 1000)

    def test_a_match_has_its_place_and_its_text(self):
        path = self.write("a", b"one\ncaf\xc3\xa9 \xff two, two\nthree\n")
        match, = finecomb.grep("two", path)
        self.assertEqual((match.path, match.line_number, match.offset), (str(path), 2, 4))
        self.assertEqual((match.line, match.text), (b"caf\xc3\xa9 \xff two, two", "café \ufffd two, two"))
        self.assertEqual([match.line[start:end] for start, end in match.spans], [b"two", b"two"])
        self.assertEqual(repr(match), f'<Match {path}:2: "café \ufffd two, two">')
        without, = finecomb.grep("two", path, no_line_number=True)
        self.assertIsNone(without.line_number)

    def test_several_patterns_are_alternatives(self):
        path = self.write("a", b"one\ntwo\nthree\n")
        self.assertEqual([match.text for match in finecomb.grep(["one", "two"], path)], ["one", "two"])
        patterns = self.write("patterns", b"three\n")
        self.assertEqual([match.text for match in finecomb.grep(None, path, file=patterns)], ["three"])

    def test_bytes_and_file_objects_have_names(self):
        path = self.write("log.txt", b"b\na\n")
        with open(path, "rb") as file:
            found = list(finecomb.grep("a", [b"a\n", memoryview(b"ba\n"), file, io.BytesIO(b"a")]))
        self.assertEqual([match.path for match in found], ["bytes", "bytes", str(path), "file object"])
        self.assertEqual(pyarrow.table(finecomb.grep("a", [b"a\n"]))["path"].to_pylist(), ["bytes"])

    def test_no_paths_are_no_lines(self):
        self.assertEqual(list(finecomb.grep("a", [])), [])
        self.assertEqual(pyarrow.table(finecomb.grep("a", [])).num_rows, 0)

    def test_a_path_keeps_its_bytes(self):
        name = b"\xff\n"
        with open(os.path.join(os.fsencode(self.directory), name), "wb") as file:
            file.write(b"a\n")
        match, = finecomb.grep("a", self.directory)
        self.assertEqual(os.path.basename(os.fsencode(match.path)), name)


class Messages(Files):
    def test_files_that_cannot_be_read_are_warnings_and_do_not_cost_the_others(self):
        path = self.write("a", b"a\n")
        missing = self.directory / "none"
        for read in [lambda found: [match.text for match in found], lambda found: pyarrow.table(found)["text"].to_pylist()]:
            with self.assertWarns(finecomb.Warning) as caught:
                found = finecomb.grep("a", [missing, path])
                self.assertEqual(read(found), ["a"])
            self.assertEqual(found.messages, [f"{missing}: no such file or directory"])
            self.assertEqual(str(caught.warning), found.messages[0])

    def test_binary_files_are_reported_as_by_the_command(self):
        path = self.write("a", b"a\n\0\na\n")
        printed = subprocess.run([COMB, "grep", "-H", "a", path], capture_output=True).stdout
        for read in (list, pyarrow.table):
            found = finecomb.grep("a", path)
            quietly(read, found)
            self.assertEqual(found.messages, [printed.decode().splitlines()[-1]])

    def test_a_path_is_not_taken_for_the_pattern(self):
        path = self.write("needle", b"needle\n")
        for pattern in ([], None):
            with self.assertRaisesRegex(finecomb.Error, "no pattern; give one"):
                finecomb.grep(pattern, path)
        self.assertEqual([match.text for match in finecomb.grep(None, path, file=path)], ["needle"])

    def test_errors_have_the_words_of_the_command(self):
        for flags in [{"max_count": "many"}, {"encoding": "none-such"}, {"type": "none-such"}, {"glob": "{"}]:
            with self.assertRaises(finecomb.Error) as caught:
                finecomb.grep("a", self.directory, **flags)
            done = subprocess.run([COMB, "grep", *words_of(flags), "a", self.directory], capture_output=True, text=True)
            self.assertIn(str(caught.exception).splitlines()[0], done.stderr)
        with self.assertRaisesRegex(finecomb.Error, "regex parse error"):
            finecomb.grep("(", self.directory)
        with self.assertRaisesRegex(finecomb.Error, "^--color: only the command has this flag$"):
            finecomb.grep("a", self.directory, color="never")
        with self.assertRaises(TypeError):
            finecomb.grep(1, self.directory)

    def test_an_iterator_ends_once_and_each_stream_is_a_search(self):
        path = self.write("a", b"a\n")
        found = finecomb.grep("a", path)
        self.assertEqual(len(list(found)), 1)
        self.assertEqual(list(found), [])
        self.write("a", b"a\na\n")
        self.assertEqual(pyarrow.table(found).num_rows, 2)
        self.assertEqual(pyarrow.table(found).num_rows, 2)


class Running(Threads):
    def test_an_iteration_that_is_left_ends_the_search(self):
        path = self.write("big", b"a line with a needle\n" * 1_000_000)
        before = self.count()
        for _ in range(5):
            self.assertEqual(next(finecomb.grep("needle", path)).line_number, 1)
        self.assert_ended(before)

    def test_lines_come_while_the_search_goes_on(self):
        read, write = os.pipe()
        found = finecomb.grep("a", f"/proc/self/fd/{read}")
        os.write(write, b"a\n")
        self.assertEqual(next(found).text, "a")
        os.write(write, b"b\nba\n")
        self.assertEqual(next(found).line_number, 3)
        os.close(write)
        self.assertEqual(list(found), [])
        os.close(read)

    def test_progress_is_reported_and_may_stop_the_search(self):
        self.check_progress(functools.partial(finecomb.grep, "a"), b"a\nb\n" * 1000, 8000)
        before = self.count()
        found = finecomb.grep("a", self.slow_pipe(b"a\n"), progress=lambda done, total: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            list(found)
        self.assertEqual(list(found), [])
        self.assert_ended(before)

    def test_progress_of_a_stream_of_arrow_is_reported(self):
        seen = []
        found = finecomb.grep("a", self.slow_pipe(b"a\nb\n" * 1000), progress=lambda done, total: seen.append(done))
        self.assertEqual(polars.DataFrame(found).height, 8000)
        self.assertTrue(seen)
        with self.assertRaisesRegex(Exception, "ZeroDivisionError"):
            pyarrow.table(finecomb.grep("a", self.slow_pipe(b"a\n"), progress=lambda done, total: 1 / 0))

    def test_an_interrupt_ends_the_wait_for_a_line(self):
        script = (
            "import finecomb, os\n"
            "read, write = os.pipe()\n"
            "print('waits', flush=True)\n"
            "list(finecomb.grep('a', f'/proc/self/fd/{read}'))\n"
        )
        self.assertIn(b"KeyboardInterrupt", interrupted(self, script))
        self.assertIn(b"KeyboardInterrupt", interrupted(self, "import pyarrow\n" + script.replace("list(", "pyarrow.table(")))


class Arrow(Files):
    def test_streams_go_to_polars_duckdb_and_pyarrow_in_batches(self):
        path = self.write("big", b"".join(b"%d needle %d\n" % (n, n % 7) for n in range(200_000)))
        frame = polars.DataFrame(finecomb.grep("needle 3$", path))
        self.assertEqual(frame.columns, ["path", "line_number", "offset", "text", "line", "spans"])
        self.assertEqual(frame.height, 28571)
        self.assertEqual(frame["text"][-1], "199993 needle 3")
        lines = finecomb.grep("needle 3$", path)
        (total,), = duckdb.sql("SELECT sum(line_number) FROM lines").fetchall()
        self.assertEqual(total, frame["line_number"].sum())
        batches = list(pyarrow.RecordBatchReader.from_stream(finecomb.grep("needle", path)))
        self.assertGreater(len(batches), 3)
        self.assertEqual(sum(batch.num_rows for batch in batches), 200_000)
        for batch in batches:
            batch.validate(full=True)


if __name__ == "__main__":
    unittest.main()
