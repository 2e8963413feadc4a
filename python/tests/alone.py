"""Tests of the module in an environment that has neither other packages nor the command."""

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

import finecomb

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Alone(unittest.TestCase):
    def test_the_environment_is_empty(self):
        self.assertFalse(Path(sys.executable).with_name("comb").exists())
        self.assertIsNone(importlib.util.find_spec("pyarrow"))
        self.assertTrue(Path(finecomb.__file__).is_relative_to(sys.prefix))

    def test_top_counts(self):
        top = finecomb.top([b"a x\nb y\na z\n"], fields=1)
        self.assertEqual([(row.text, row.count) for row in top], [("a", 2), ("b", 1)])
        self.assertGreater(finecomb.top(SAMPLES / "nginx.log", fields="path").records, 0)

    def test_grep_and_symbols_find(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "a.py")
            path.write_text("def one():\n    pass\n")
            self.assertEqual([match.text for match in finecomb.grep("pass", directory)], ["    pass"])
            self.assertEqual([symbol.name for symbol in finecomb.symbols(directory)], ["one"])

    def test_tables_name_the_package_that_they_need(self):
        with self.assertRaisesRegex(ImportError, "pip install pandas pyarrow"):
            finecomb.top(b"a\n").to_pandas()

    def test_what_is_refused_is_an_exception(self):
        with self.assertRaises(finecomb.Error):
            finecomb.grep("(", SAMPLES)
