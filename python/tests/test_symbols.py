"""Tests of finecomb.symbols beside the command, which is installed with the module."""

import base64
import functools
import gzip
import io
import itertools
import json
import os
import random
import subprocess
import unittest
import zipfile
from pathlib import Path

import duckdb
import finecomb
import polars
import pyarrow
from support import COMB, Files, Threads, quietly, words_of

LANGUAGES = Path(__file__).parents[2] / "crates/symbols/tests/languages"
MEMBERS = [
    "path", "language", "kind", "name", "scope", "scope_kind", "line", "column", "end_line", "start_byte", "end_byte", "signature", "parameters",
    "has_errors",
]
PIECES = {
    "py": [b"class A:\n", b"    def f(self, a=1):\n        return a\n", b"x = 1\n", b"def g(\n  b,\n): pass\n", b"\xe9 = 2\n", b")\n", b"\0"],
    "c": [b"struct s { int a; };\n", b"int f(int a)\n{ return a; }\n", b"#define M(x) x\n", b"enum { A, B };\n", b"char *\xff;\n", b"{\n", b'"\n'],
    "rs": [b"mod m {\n", b"}\n", b"impl A { fn f(&self) {} }\n", b"struct A<T> { a: T }\n", b"const N: u8 = 1;\n", "fn é() {}\n".encode(), b"'\n"],
    "txt": [b"int f(int a) { return a; }\n"],
}
NAMES = ["f", "A", "^[a-f]", "é", "(?-u)\\xFF", "none"]


def by_command(paths, flags):
    """The symbols that the command lists, and its messages."""
    words = [COMB, "symbols", "--format", "json", *words_of(flags), "--", *paths]
    done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
    found = []
    for line in done.stdout.splitlines():
        one = {"has_errors": False, **json.loads(line)}
        exact = one.get("name_base64")
        found.append((*(one[member] for member in MEMBERS), base64.b64decode(exact) if exact else one["name"].encode()))
    messages = [line.removeprefix("comb: ") for line in done.stderr.decode(errors="replace").splitlines()]
    return found, messages


def as_tuple(symbol):
    # The command has no exact path unless it is asked for bytes.
    path = os.fsencode(symbol.path).decode(errors="replace")
    return (path, *(getattr(symbol, member) for member in MEMBERS[1:]), symbol.name_bytes)


def as_rows(symbols):
    """The symbols of a stream of Arrow."""
    return [(*(row[member] for member in MEMBERS), row["name_bytes"]) for row in pyarrow.table(symbols).to_pylist()]


class Sources(Files):
    def compare(self, paths, flags):
        """Compares an iteration and a stream with the command, and returns the number of symbols."""
        expected, messages = by_command(paths, flags)
        symbols = finecomb.symbols(paths, **flags)
        self.assertEqual([as_tuple(symbol) for symbol in quietly(list, symbols)], expected)
        self.assertEqual(symbols.messages, messages)
        symbols = finecomb.symbols(paths, **flags)
        self.assertEqual(quietly(as_rows, symbols), expected)
        self.assertEqual(symbols.messages, messages)
        return len(expected)


class Lists(Sources):
    def test_symbols_of_all_languages_are_those_of_the_command(self):
        for flags in [{}, {"thorough": True}, {"reference": "^[a-e]"}, {"reference": "^.$", "definition": "^.$", "threads": 3}, {"kind": "class,method"}]:
            with self.subTest(flags=flags):
                self.assertGreater(self.compare([LANGUAGES], flags), 50)

    def test_symbols_of_random_sources_are_those_of_the_command(self):
        source = random.Random(11)
        some = 0
        for run in range(60):
            for number in range(source.randint(1, 5)):
                extension = source.choice(sorted(PIECES))
                data = b"".join(source.choices(PIECES[extension], k=source.randint(0, 20)))
                self.write(f"{run}/{'.hidden/' if source.random() < 0.1 else ''}{number}.{extension}", data)
            paths = [self.directory / str(run)]
            flags = {"threads": source.choice([1, 2, 8])}
            for name, values in [
                ("definition", NAMES), ("reference", NAMES), ("kind", ["function", ["class", "struct"], "field,method"]), ("hidden", [True]),
                ("lang", ["c", "python", ["rust", "c"]]), ("thorough", [True]), ("glob", ["*.py", ["*.c", "*.rs"], "!0*"]), ("max_depth", [1]),
                ("type", ["py", "c"]),
            ]:
                if source.random() < 0.12:
                    flags[name] = source.choice(values)
            if source.random() < 0.2:
                paths += [self.directory / "none.py", self.write(f"{run}/named.txt", PIECES["txt"][0])]
            with self.subTest(run=run, flags=flags):
                some += self.compare(paths, flags)
        self.assertGreater(some, 400)

    def test_a_symbol_has_its_place_and_its_text(self):
        path = self.write("a.py", b"class A:\n    def caf\xc3\xa9(self,\n        b): pass\n")
        _, symbol = finecomb.symbols(path)
        self.assertEqual((symbol.path, symbol.language, symbol.kind, symbol.name), (str(path), "python", "method", "café"))
        self.assertEqual((symbol.name_bytes, symbol.scope, symbol.scope_kind), (b"caf\xc3\xa9", "A", "class"))
        self.assertEqual((symbol.line, symbol.column, symbol.end_line, symbol.start_byte, symbol.end_byte), (2, 9, 3, 13, 45))
        self.assertEqual((symbol.signature, symbol.parameters), ("def café(self, b):", "(self, b)"))
        self.assertEqual(repr(symbol), f'<Symbol {path}:2: method "café">')
        outer, = finecomb.symbols(path, kind="class")
        self.assertEqual((outer.scope, outer.scope_kind, outer.parameters), (None, None, None))

    def test_letters_do_not_depend_on_the_locale(self):
        # The parser of this language asks the C library, in which Python sets the locale.
        path = self.write("a.sh", "éa=1\nb=2\n".encode())
        self.compare([path], {})

    def test_bytes_and_file_objects_have_names_and_a_language_by_flag(self):
        path = self.write("a.py", b"def one(): pass\n")
        with open(path, "rb") as file:
            found = list(finecomb.symbols([b"def two(): pass\n", file, io.BytesIO(b"x = 1\n"), path], lang="python"))
        self.assertEqual([symbol.path for symbol in found], ["bytes", str(path), "file object", str(path)])
        self.assertEqual([symbol.name for symbol in found], ["two", "one", "x", "one"])
        self.assertEqual(pyarrow.table(finecomb.symbols(b"int f(void);\nint f(void) {}", lang="c"))["path"].to_pylist(), ["bytes"])
        symbols = finecomb.symbols(b"x = 1\n")
        self.assertEqual(quietly(list, symbols), [])
        self.assertEqual(symbols.messages, ["bytes: unknown language; use --lang to name it"])

    def test_no_paths_are_no_symbols(self):
        self.assertEqual(list(finecomb.symbols([])), [])
        self.assertEqual(pyarrow.table(finecomb.symbols([])).num_rows, 0)

    def test_a_path_keeps_its_bytes(self):
        name = b"\xff\n.py"
        with open(os.path.join(os.fsencode(self.directory), name), "wb") as file:
            file.write(b"x = 1\n")
        symbol, = finecomb.symbols(self.directory)
        self.assertEqual(os.path.basename(os.fsencode(symbol.path)), name)

    def test_members_of_archives_are_listed(self):
        path = self.directory / "a.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("b/c.py", "x = 1\n")
        self.assertEqual([symbol.path for symbol in finecomb.symbols(path, archives=True)], [f"{path}!b/c.py"])
        self.compare([path], {"archives": True})

    def test_an_index_is_used_and_changes_nothing(self):
        for number in range(50):
            self.write(f"tree/{number}.py", b"def f%d(): pass\n" % number)
        tree, home = self.directory / "tree", self.directory / "home"
        flags = {"index_dir": home, "index": "require", "definition": "f7"}
        symbols = finecomb.symbols(tree, **flags)
        quietly(list, symbols)
        self.assertRegex(symbols.messages[0], "index")
        subprocess.run([COMB, "index", "build", "--index-dir", home, tree], check=True, capture_output=True)
        update = [COMB, "symbols", "--index-dir", home, "--index-update", "-q", tree]
        subprocess.run(update, check=True, capture_output=True)
        self.write("tree/7.py", b"\ndef f7(): pass\n")
        self.assertEqual(self.compare([tree], flags), 1)
        self.assertEqual(self.compare([tree], {"index_dir": home, "index": "require"}), 50)


class Messages(Sources):
    def test_files_that_cannot_be_read_are_warnings_and_do_not_cost_the_others(self):
        path = self.write("a.py", b"x = 1\n")
        missing = self.directory / "none.py"
        for read in [lambda found: [symbol.name for symbol in found], lambda found: pyarrow.table(found)["name"].to_pylist()]:
            with self.assertWarns(finecomb.Warning) as caught:
                found = finecomb.symbols([missing, path])
                self.assertEqual(read(found), ["x"])
            self.assertEqual(found.messages, [f"{missing}: no such file or directory"])
            self.assertEqual(str(caught.warning), found.messages[0])

    def test_files_that_are_damaged_are_reported_as_by_the_command(self):
        self.write("deep.js", b"function f() {" * 100 + b"}" * 100)
        self.write("binary.c", bytes(range(256)) * 20 + b"\nint f(void) { return 0; }\n")
        self.write("open.rs", b"mod a { fn f() { \"")
        self.write("long.py", b"x = 1\n" * 11_200_000)
        self.write("part.py", gzip.compress(b"x = 1\n" * 1000)[:50])
        self.assertGreater(self.compare([self.directory, self.directory / "part.py"], {}), 60)

    def test_errors_have_the_words_of_the_command(self):
        for flags in [{"kind": "verb"}, {"lang": "pyton"}, {"definition": "("}, {"type": "none-such"}, {"glob": "{"}, {"max_depth": "deep"}]:
            with self.assertRaises(finecomb.Error) as caught:
                finecomb.symbols(self.directory, **flags)
            done = subprocess.run([COMB, "symbols", *words_of(flags), self.directory], capture_output=True, text=True)
            self.assertIn(str(caught.exception).splitlines()[0], done.stderr)
        for flag in ["format", "json", "outline", "stats", "quiet", "output", "append", "index_update", "profile", "help"]:
            name = flag.replace("_", "-")
            with self.assertRaisesRegex(finecomb.Error, f"^--{name}: only the command has this flag$"):
                finecomb.symbols(self.directory, **{flag: "x"})
        with self.assertRaisesRegex(finecomb.Error, "unexpected argument '--none-such'"):
            finecomb.symbols(self.directory, none_such=True)
        with self.assertRaises(TypeError):
            finecomb.symbols(1)

    def test_an_iterator_ends_once_and_each_stream_is_a_list(self):
        path = self.write("a.py", b"x = 1\n")
        found = finecomb.symbols(path)
        self.assertEqual(len(list(found)), 1)
        self.assertEqual(list(found), [])
        self.write("a.py", b"x = 1\ny = 2\n")
        self.assertEqual(pyarrow.table(found).num_rows, 2)
        self.assertEqual(pyarrow.table(found).num_rows, 2)


class Running(Threads):
    def test_an_iteration_that_is_left_ends_the_list(self):
        for number in range(40):
            self.write(f"{number}.py", b"def a_function_with_a_name(): pass\n" * 10_000)
        before = self.count()
        for _ in range(5):
            self.assertEqual([symbol.line for symbol in itertools.islice(finecomb.symbols(self.directory), 2)], [1, 2])
        reader = pyarrow.RecordBatchReader.from_stream(finecomb.symbols(self.directory))
        self.assertGreater(reader.read_next_batch().num_rows, 0)
        del reader
        self.assert_ended(before)

    def test_progress_is_reported_and_may_stop_the_list(self):
        self.check_progress(functools.partial(finecomb.symbols, lang="python"), b"def f(): pass\n", 8)

    def test_symbols_come_while_the_list_goes_on(self):
        self.write("a.py", b"".join(b"x%d = 1\n" % number for number in range(5000)))
        pipe = self.directory / "b.py"
        os.mkfifo(pipe)
        found = finecomb.symbols([self.directory / "a.py", pipe])
        self.assertEqual(next(found).name, "x0")
        pipe.write_bytes(b"y = 1\n")
        self.assertEqual([symbol.name for symbol in found][-1], "y")


class Arrow(Sources):
    def test_streams_go_to_polars_duckdb_and_pyarrow_in_batches(self):
        for number in range(8):
            members = b"".join(b"    def method_%d(self, argument_%d): pass\n" % (n, number) for n in range(10_000))
            self.write(f"{number}.py", b"class A:\n" + members)
        frame = polars.DataFrame(finecomb.symbols(self.directory))
        self.assertEqual(frame.columns, [*MEMBERS[:4], "name_bytes", *MEMBERS[4:]])
        self.assertEqual(frame.height, 80_008)
        self.assertEqual((frame["name"][-1], frame["scope"][-1], frame["scope"][0]), ("method_9999", "A", None))
        self.assertEqual(frame["parameters"][-1], "(self, argument_7)")
        symbols = finecomb.symbols(self.directory)
        query = "SELECT kind, count(*), sum(line) FROM symbols GROUP BY kind ORDER BY kind"
        self.assertEqual(duckdb.sql(query).fetchall(), [("class", 8, 8), ("method", 80_000, 8 * 50_015_000)])
        batches = list(pyarrow.RecordBatchReader.from_stream(finecomb.symbols(self.directory)))
        self.assertGreater(len(batches), 3)
        self.assertEqual(sum(batch.num_rows for batch in batches), 80_008)
        for batch in batches:
            batch.validate(full=True)


if __name__ == "__main__":
    unittest.main()
