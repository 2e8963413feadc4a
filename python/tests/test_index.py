"""Tests of finecomb.Index beside the command, which is installed with the module, and beside bytes.find."""

import json
import os
import random
import subprocess
import sys
import threading
import unittest

import duckdb
import finecomb
import polars
import pyarrow
from support import COMB, Files, interrupted

# More occurrences than are sorted, so that they are found by scans.
SCANNED = 1 << 16


def comb(*arguments: object) -> tuple[bytes, str, int]:
    done = subprocess.run([COMB, *map(os.fsencode, arguments)], capture_output=True)
    return done.stdout, done.stderr.decode(), done.returncode


def offsets(text: bytes, pattern: bytes) -> list[int]:
    found, at = [], text.find(pattern)
    while at >= 0:
        found.append(at)
        at = text.find(pattern, at + 1)
    return found


class Indexes(Files):
    def build(self, text, alphabet="auto"):
        (self.directory / "text").write_bytes(text)
        path = self.directory / "text.comb"
        _, messages, code = comb("index", "build", self.directory / "text", "-o", path, "--alphabet", alphabet)
        self.assertEqual(code, 0, messages)
        return path

    def open(self, text, alphabet="auto"):
        return finecomb.Index.open(self.build(text, alphabet))


class Answers(Indexes):
    def check(self, index, text, pattern, rng):
        first = int(index.alphabet == "digits")
        expected = [offset + first for offset in offsets(text, pattern)]
        start = first + rng.randrange(len(text) + 1)
        after = [position for position in expected if position >= start]
        before = [position for position in expected if position < start]
        self.assertEqual(index.count(pattern), len(expected), pattern)
        self.assertEqual(index.find(pattern), next(iter(expected), None), pattern)
        self.assertEqual(index.find(pattern, start), next(iter(after), None), pattern)
        self.assertEqual(index.find(pattern, before=start), next(reversed(before), None), pattern)
        self.assertEqual(list(index.all(pattern)), expected, pattern)
        limit = rng.randrange(len(after) + 2)
        positions = index.all(pattern, start, limit=limit)
        for _ in range(2):
            self.assertEqual(list(positions), after[:limit], pattern)
            self.assertEqual(pyarrow.table(positions)["position"].to_pylist(), after[:limit], pattern)

    def test_random_patterns_are_found_where_they_are(self):
        rng = random.Random(1)
        for run in range(60):
            symbols = rng.choice([b"0123456789", b"01", b"ACGT", b"ab\n", b"a", bytes(range(256)), b"\0\xff\xc3\xa4"])
            text = bytes(rng.choices(symbols, k=rng.randrange(1, 2000)))
            index = self.open(text, rng.choice(["auto", "bytes"]))
            # A line feed at the end is no symbol of digits and DNA.
            text = text if index.alphabet == "bytes" else text.rstrip(b"\n")
            self.assertEqual(len(index), len(text))
            for length in [1, 1, 2, 3, 5, 9, 30, len(text)]:
                at = rng.randrange(max(1, len(text) - length + 1))
                self.check(index, text, text[at : at + length], rng)
                self.check(index, text, bytes(rng.choices(symbols, k=length)), rng)
            self.check(index, text, text + text[:1], rng)

    def test_positions_are_those_of_the_command(self):
        rng = random.Random(2)
        for symbols in [b"0123456789", b"ACGT", b"ab\n \xc3\xa4\xff"]:
            text = bytes(rng.choices(symbols, k=3000)) + symbols[:1]
            index = self.open(text)
            for _ in range(12):
                at = rng.randrange(len(text) - 6)
                pattern = text[at : at + rng.randrange(1, 6)]
                start, context = rng.randrange(1, 3000), rng.randrange(30)
                flags = ["--json", "--all", "--from", str(start), "--limit", "7", "-C", str(context), "--", pattern]
                answers = [json.loads(line) for line in comb("find", index.path, *flags)[0].splitlines()]
                found = [index.passage(position, len(pattern), context) for position in index.all(pattern, start, limit=7)]
                self.assertEqual([passage.match for passage in found], len(found) * [pattern])
                self.assertEqual(
                    [
                        {
                            "position": passage.position,
                            "line": passage.line,
                            "column": passage.column,
                            "before": passage.before.decode(errors="replace"),
                            "after": passage.after.decode(errors="replace"),
                        }
                        for passage in found
                    ],
                    [{name: answer[name] for name in ["position", "line", "column", "before", "after"]} for answer in answers],
                )

    def test_a_frequent_pattern_is_scanned_for(self):
        text = b"aab" * (SCANNED + 10) + b"c" * SCANNED * 2 + b"aab" * 9
        index = self.open(text)
        rng = random.Random(3)
        for pattern in [b"a", b"aa", b"aba", b"b", b"cc", b"caab"]:
            self.check(index, text, pattern, rng)
        positions = iter(index.all("a"))
        self.assertEqual([next(positions) for _ in range(5)], [0, 1, 3, 4, 6])

    def test_patterns_are_text_bytes_and_buffers(self):
        text = "ä\0b\xff\n".encode() * 9 + b"\xff\0"
        index = self.open(text)
        for pattern in ["ä\0b", "ä\0b".encode(), bytearray("ä\0b".encode()), memoryview("ä\0b".encode())]:
            self.assertEqual(index.count(pattern), 9)
        self.assertEqual((index.count(b"\xff\0"), index.count("\0"), index.find(b"\xff")), (1, 10, len(text) - 2))
        with self.assertRaisesRegex(TypeError, "expected str or bytes; found int"):
            index.count(7)
        with self.assertRaises(UnicodeEncodeError):
            index.count("\udcff")

    def test_text_has_the_positions_of_occurrences(self):
        for text, alphabet, first in [(b"31415926", "digits", 1), (b"ACGTTGCA", "dna", 0), (b"l\xc3\xb6\0\xff\n12", "bytes", 0)]:
            index = self.open(text)
            self.assertEqual((index.alphabet, len(index)), (alphabet, 8))
            for start in range(9):
                for end in range(12):
                    self.assertEqual(index.text(start + first, end + first), text[start:end])
        self.assertEqual(index.text(2, 1 << 63), text[2:])

    def test_an_empty_text_has_no_occurrences(self):
        index = self.open(b"")
        self.assertEqual((len(index), index.count("a"), index.find("a", 0), list(index.all("a"))), (0, 0, None, []))
        self.assertEqual((index.text(0, 9), pyarrow.table(index.all("a")).num_rows), (b"", 0))


class Errors(Indexes):
    def test_errors_have_the_words_of_the_command(self):
        index = self.open(b"1415926535")
        for arguments, flags in [
            (("",), [""]),
            (("3a",), ["3a"]),
            (("3", 0), ["3", "--from", "0"]),
            (("3", 12), ["3", "--from", "12"]),
            (("3" * ((1 << 24) + 1),), None),
        ]:
            for method in [index.find, index.all]:
                with self.assertRaises(finecomb.Error) as caught:
                    method(*arguments)
                if flags:
                    self.assertEqual(f"comb: {caught.exception}\n", comb("find", index.path, *flags)[1])
        with self.assertRaisesRegex(finecomb.Error, "the pattern is empty"):
            index.count(b"")
        with self.assertRaisesRegex(finecomb.Error, "position 12 is past the end of the text; the last position is 10"):
            index.find("3", before=12)
        with self.assertRaisesRegex(finecomb.Error, "position 0 is before the start"):
            index.text(0, 3)
        with self.assertRaisesRegex(finecomb.Error, "position 0 is before the start"):
            index.passage(0, 3)
        with self.assertRaisesRegex(finecomb.Error, "from_ cannot be used with before"):
            index.find("3", 1, before=2)
        for number in [-1, 1 << 64]:
            with self.assertRaisesRegex(finecomb.Error, f"^{number} is not between 0 and 18446744073709551615$"):
                index.all("3", limit=number)
        with self.assertRaises(TypeError):
            index.find("3", "1")

    def test_files_that_are_no_index_are_refused(self):
        intact = self.build(b"ab" * 999).read_bytes()
        path = self.directory / "other.comb"
        files = {
            "not a comb index": b"something else",
            "not a comb index$": b"",
            "index truncated": intact[:9000],
            "wrong checksum of the header": intact[:20] + b"\xff" + intact[21:],
            "unsupported index format version 7": intact[:8] + b"\x07" + intact[9:],
        }
        for words, data in files.items():
            path.write_bytes(data)
            with self.assertRaisesRegex(finecomb.Error, words) as caught:
                finecomb.Index.open(path)
            # The command adds what to type.
            words = comb("find", path, "a")[1].replace("; build one with 'comb index build'", "")
            self.assertEqual(f"comb: {caught.exception}\n", words)
        for path, kind in [(self.directory / "none", FileNotFoundError), (self.directory, IsADirectoryError)]:
            with self.assertRaises(kind) as caught:
                finecomb.Index.open(path)
            self.assertEqual(f"comb: {caught.exception}\n", comb("find", path, "a")[1])

    def test_damage_is_an_error(self):
        text = b"ab" * SCANNED
        path = self.build(text)
        data = bytearray(path.read_bytes())
        suffixes = int.from_bytes(data[128 + 24 : 128 + 32], "little")
        data[suffixes : suffixes + 4 * len(text)] = bytes(4 * len(text))
        path.write_bytes(data)
        index = finecomb.Index.open(path)
        for method in [index.find, index.count, index.all]:
            with self.assertRaisesRegex(finecomb.Error, "index corrupt: the suffix array does not match the text"):
                method("ab" * 99)

    def test_a_file_that_is_cut_while_it_is_read_is_an_error(self):
        path = self.build(b"ab" * (1 << 20))
        index = finecomb.Index.open(path)
        positions, table = iter(index.all("a")), pyarrow.RecordBatchReader.from_stream(index.all("a"))
        self.assertEqual((next(positions), len(table.read_next_batch())), (0, 1 << 16))
        os.truncate(path, 8192)
        words = "index truncated or unreadable while in use"
        with self.assertRaisesRegex(finecomb.Error, words):
            list(positions)
        self.assertEqual(list(positions), [])
        with self.assertRaisesRegex(Exception, words):
            table.read_all()
        with self.assertRaisesRegex(finecomb.Error, words):
            index.count("b")

    def test_an_index_can_be_closed(self):
        with self.open(b"ab" * SCANNED) as index:
            positions = index.all("a")
            started = iter(positions)
        self.assertRegex(repr(index), "^<Index .*text.comb: closed>$")
        for call in [lambda: index.find("a"), lambda: index.all("a"), lambda: len(index), lambda: index.alphabet]:
            with self.assertRaisesRegex(finecomb.Error, "text.comb: the index is closed"):
                call()
        index.close()
        self.assertEqual((len(list(positions)), len(list(started))), (SCANNED, SCANNED))

    def test_maps_are_given_back(self):
        path = self.build(b"abc")
        for _ in range(3000):
            with finecomb.Index.open(path):
                pass
            finecomb.Index.open(path)
        indexes = []
        with self.assertRaisesRegex(OSError, "text.comb: too many files are mapped into memory"):
            indexes += (finecomb.Index.open(path) for _ in range(2000))


    def test_an_interrupt_ends_a_list(self):
        path = self.build(b"ab" * SCANNED)
        # The whole loop is in C.
        script = (
            "import finecomb, itertools, sys\npositions = finecomb.Index.open(sys.argv[1]).all('a')\nprint('ready', flush=True)\n"
            "list(itertools.compress(itertools.chain.from_iterable(itertools.repeat(positions)), itertools.repeat(0)))"
        )
        self.assertIn(b"KeyboardInterrupt", interrupted(self, script, path))


class Uses(Indexes):
    def test_a_path_is_any_bytes(self):
        path = self.build(b"abc").rename(self.directory / os.fsdecode(b"\xff.comb"))
        for opened in [path, str(path)]:
            self.assertEqual(finecomb.Index.open(opened).path, str(path))

    def test_descriptions(self):
        index = self.open(b"14159")
        self.assertEqual(repr(index), f"<Index {index.path}: 5 digits>")
        self.assertEqual(repr(index.all("41")), f'<Positions of "41" in {index.path}>')
        self.assertEqual(repr(index.passage(2, 2)), "<Passage at 2: 1[41]59>")
        self.assertRegex(repr(self.open(b"ACGT")), "4 bases>$")
        self.assertRegex(repr(self.open(b"a\n")), "2 bytes>$")

    def test_engines_take_batches(self):
        text = b"1415926535" * 30_000
        index = self.open(text)
        positions = index.all("5", 7)
        expected = [offset + 1 for offset in offsets(text, b"5") if offset >= 6]
        table = pyarrow.table(positions)
        self.assertEqual(table.schema, pyarrow.schema([pyarrow.field("position", pyarrow.uint64(), nullable=False)]))
        self.assertEqual(table["position"].to_pylist(), expected)
        self.assertGreater(table["position"].num_chunks, 1)
        self.assertEqual(polars.DataFrame(positions)["position"].to_list(), expected)
        self.assertEqual(duckdb.sql("SELECT position FROM positions").fetchall(), [(position,) for position in expected])
        nothing = index.all("77")
        self.assertEqual((polars.DataFrame(nothing).shape, pyarrow.table(nothing).shape), ((0, 1), (0, 1)))
        self.assertEqual(duckdb.sql("SELECT count(*) FROM nothing").fetchall(), [(0,)])

    def test_threads_share_an_index_and_an_iterator(self):
        text = random.Random(4).randbytes(200_000)
        index = self.open(text)
        patterns = [text[at : at + 2] for at in range(0, 1000, 25)]
        expected = {pattern: offsets(text, pattern) for pattern in patterns}
        shared, taken, failures = iter(index.all(b"\0")), [], []

        def work():
            try:
                for pattern in patterns:
                    self.assertEqual(list(index.all(pattern)), expected[pattern])
                    self.assertEqual(index.count(pattern), len(expected[pattern]))
                    taken.extend(next(shared, None) for _ in range(9))
                taken.extend(shared)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(sorted(position for position in taken if position is not None), offsets(text, b"\0"))

    def test_the_lock_of_the_interpreter_is_released(self):
        index = self.open(b"ab" * 1000)
        interval = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, interval)
        # Without a call that releases the lock, the other thread keeps it for longer than the test takes.
        sys.setswitchinterval(1000)
        for call in [
            lambda: index.find("ab", 7),
            lambda: index.count("ab"),
            lambda: index.text(0, 2000),
            lambda: index.passage(7, 2),
            lambda: next(iter(index.all("a"))),
        ]:
            calls = iter(range(1_000_000))

            def work():
                started.set()
                for _ in calls:
                    call()

            started, thread = threading.Event(), threading.Thread(target=work)
            thread.start()
            started.wait()
            rest = sum(1 for _ in calls)
            thread.join()
            self.assertGreater(rest, 0)


if __name__ == "__main__":
    unittest.main()
