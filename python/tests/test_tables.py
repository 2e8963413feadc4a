"""Tests of results as tables of pyarrow, pandas and polars, and of the types of their columns."""

import io
import subprocess
import sys
import unittest
import warnings
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import finecomb
import pandas
import polars
import pyarrow
import pyarrow.parquet
from support import SAMPLES, Files, quietly

NGINX = SAMPLES / "nginx.log"
ACCESS = SAMPLES / "access.log"
BERLIN = ZoneInfo("Europe/Berlin")
# A number of 38 digits. The sum of two has 39.
LONG = "99999999999999999999.000000000000000001"


def measured(values, **flags):
    """The table of a measure of these values, and the values of its rows."""
    data = "k,n\n" + "".join(f"{key},{value}\n" for key, value in values)
    top = quietly(finecomb.top, data.encode(), input="csv", fields="k", sort="key", **flags)
    return top.to_arrow(), [row.values for row in top]


class Types(Files):
    def test_measures_have_the_type_that_holds_their_values(self):
        whole, fraction = [("a", 1), ("a", 2), ("b", 30)], [("a", "1.5"), ("a", "0.25"), ("b", 1)]
        large, none = [("a", 9223372036854775807), ("a", 1)], [("a", 1), ("b", "-")]
        integer, floating = pyarrow.int64(), pyarrow.float64()
        for values, flags, expected in [
            (whole, {"sum": "n"}, integer),
            (whole, {"max": "n"}, integer),
            (whole, {"p50": "n"}, integer),
            (fraction, {"distinct": "n"}, integer),
            ([("a", "0.5"), ("a", "0.50")], {"sum": "n"}, integer),
            (none, {"sum": "n"}, integer),
            ([("a", "-")], {"sum": "n"}, integer),
            (large[:1], {"sum": "n"}, integer),
            (large, {"sum": "n"}, pyarrow.decimal128(38, 0)),
            (fraction, {"sum": "n"}, pyarrow.decimal128(18, 2)),
            (fraction, {"min": "n"}, pyarrow.decimal128(18, 2)),
            (fraction, {"p99": "n"}, pyarrow.decimal128(18, 1)),
            ([("a", LONG)], {"sum": "n"}, pyarrow.decimal128(38, 18)),
            ([("a", LONG)] * 2, {"sum": "n"}, floating),
            ([("a", LONG), ("b", "9" * 20)] * 2, {"sum": "n"}, floating),
            (whole, {"mean": "n"}, floating),
            ([("a", 1), ("a", 1), ("a", 2)], {"mean": "n"}, floating),
            ([("a", "-")], {"mean": "n"}, floating),
            (whole, {"share": "n > 1"}, floating),
        ]:
            table, rows = measured(values, **flags)
            (name,) = rows[0]
            self.assertEqual(table.schema.field(name).type, expected, (values, flags))
            exact = [row[name] for row in rows]
            if expected == floating:
                exact = [None if value is None else float(value) for value in exact]
            self.assertEqual(table[name].to_pylist(), exact, (values, flags))

    def test_counts_are_integers_with_a_sign(self):
        top = quietly(finecomb.top, ACCESS, approx=True)
        schema = top.to_arrow().schema
        self.assertEqual([schema.field(name).type for name in ("count", "error")], [pyarrow.int64()] * 2)
        self.assertEqual(schema.field("certain").type, pyarrow.bool_())

    def test_shares_are_percents_that_are_not_rounded(self):
        top = finecomb.top(b"a 1\na 2\na 2\n", fields=1, share="$2 == 2")
        (row,) = top
        self.assertEqual(row.values, {"share($2 == 2)": 200 / 3})
        self.assertEqual(top.to_arrow()["share($2 == 2)"].to_pylist(), [200 / 3])

    def test_buckets_are_times_in_their_zone(self):
        log = b"".join(b"2026-%02d-%02dT%02d:30:00Z %s\n" % (month, day, hour, key) for month, day, hour, key in [
            (3, 28, 22, b"a"), (3, 29, 0, b"a"), (3, 29, 1, b"b"), (3, 29, 23, b"a"), (6, 1, 0, b"c"), (10, 25, 0, b"a"), (10, 25, 1, b"a"),
        ])
        for zone in ["UTC", "Europe/Berlin", "America/St_Johns", "+05:30", "-03:00"]:
            place = datetime.strptime(zone, "%z").tzinfo if zone[0] in "+-" else ZoneInfo(zone)
            for every in ["1h", "1d", "1w", "1mo", "1y"]:
                for flags in [{}, {"fields": 2}, {"fields": 2, "distinct": 2}, {"sum": 2}, {"reverse": True}, {"sort": "count"}]:
                    top = quietly(finecomb.top, log, every=every, tz=zone, n="all", **flags)
                    table = top.to_arrow()
                    self.assertEqual(table.schema.field("time").type, pyarrow.timestamp("us", zone))
                    times = [time.astimezone(place) for time in table["time"].to_pylist()]
                    self.assertEqual([row["time"] for row in top], times)
                    self.assertEqual([row["time"].utcoffset() for row in top], [time.utcoffset() for time in times])
                    for time, row in zip(times, top, strict=True):
                        shown = time.isoformat().replace("+00:00", "Z") if zone == "UTC" else time.isoformat()
                        label = row.fields["time"]
                        self.assertTrue(shown.startswith(label[:13]), (shown, label, zone, every))
                    self.assertEqual(sum(table["count"].to_pylist()), 7)

    def test_utc_has_one_name(self):
        for zone in ["UTC", "Z", "Etc/UTC"]:
            top = finecomb.top(b"2026-03-01T06:00:00Z\n", every="1d", tz=zone)
            self.assertEqual(str(top.to_arrow().schema.field("time").type), "timestamp[us, tz=UTC]")
            self.assertEqual(top[0]["time"].tzinfo, ZoneInfo("UTC"))

    def test_an_answer_without_rows_has_the_same_columns(self):
        for flags in [{"fields": "path,status", "sum": "bytes"}, {"every": "1h", "fields": "path"}, {"every": "1h", "mean": "bytes"}]:
            full = quietly(finecomb.top, NGINX, **flags).to_arrow()
            empty = quietly(finecomb.top, NGINX, where="status == 999", **flags).to_arrow()
            self.assertEqual((empty.num_rows, empty.schema), (0, full.schema))


class Tables(Files):
    def test_all_three_make_tables(self):
        source = self.write("a.py", b"def f(x):\n    return x\n\nclass A:\n    pass\n")
        for results in [
            lambda: quietly(finecomb.top, NGINX, fields="path,status", sum="bytes", mean="bytes"),
            lambda: finecomb.grep("GET", NGINX, context=1),
            lambda: finecomb.symbols(source),
        ]:
            table = pyarrow.table(results())
            self.assertGreater(table.num_rows, 1)
            self.assertEqual(results().to_arrow(), table)
            self.assertTrue(results().to_polars().equals(polars.DataFrame(table)))
            frame = results().to_pandas()
            self.assertEqual((list(frame.columns), len(frame)), (table.column_names, table.num_rows))
            for name in table.column_names:
                if name != "spans":
                    self.assertEqual(frame[name].tolist(), table[name].to_pylist(), name)
            file = io.BytesIO()
            pyarrow.parquet.write_table(results().to_arrow(), file)
            self.assertEqual(pyarrow.parquet.read_table(file).num_rows, table.num_rows)
            file = io.BytesIO()
            results().to_polars().write_parquet(file)
            file.seek(0)
            self.assertEqual(polars.read_parquet(file).height, table.num_rows)

    def test_columns_of_pandas_are_numbers_and_times(self):
        top = quietly(finecomb.top, NGINX, every="1w", tz="Europe/Berlin", sum="bytes", mean="bytes", share="status >= 400")
        types = top.to_pandas().dtypes
        self.assertEqual(str(types["time"]), "datetime64[us, Europe/Berlin]")
        self.assertEqual([str(types[name]) for name in ("count", "sum(bytes)", "mean(bytes)", "share(status >= 400)")],
                         ["int64", "int64", "float64", "float64"])
        decimals = finecomb.top(b"a 1.5\nb 2.25\n", fields=1, sum=2).to_pandas()["sum(2)"]
        self.assertEqual((decimals.sum(), (2 * decimals).tolist()), (Decimal("3.75"), [Decimal("3.00"), Decimal("4.50")]))
        self.assertTrue(pandas.api.types.is_numeric_dtype(decimals.dtype))
        # A missing value does not round the others.
        sums = quietly(finecomb.top, b"a 9007199254740993\nb -\n", fields=1, sum=2, sort="key").to_pandas()["sum(2)"]
        self.assertEqual((sums[0], sums.isna().tolist()), (9007199254740993, [False, True]))

    def test_constructors_take_answers(self):
        for flags in [
            {"fields": "path,status", "sum": "bytes", "mean": "bytes", "share": "status >= 400"},
            {"fields": "status", "every": "1h", "tz": "Europe/Berlin", "p50": "bytes"},
            {"every": "1d", "tz": "+02:00"},
            {"approx": True},
        ]:
            top = quietly(finecomb.top, NGINX, **flags)
            expected = top.to_pandas()
            frame = pandas.DataFrame(top)
            self.assertEqual(list(frame.columns), list(expected.columns), flags)
            for name in expected.columns:
                self.assertEqual(frame[name].tolist(), expected[name].tolist(), (flags, name))
            self.assertEqual(str(frame.dtypes["count"]), "int64")
            if "time" in frame:
                self.assertIsInstance(frame.dtypes["time"], pandas.DatetimeTZDtype)
            self.assertTrue(polars.DataFrame(top).equals(top.to_polars()))
            self.assertEqual(duckdb.sql("SELECT sum(count) FROM top").fetchall()[0][0], frame["count"].sum())

    def test_a_row_has_the_values_of_its_columns(self):
        top = finecomb.top(b"2026-03-01T06:00:00Z a 1\n2026-03-01T06:00:00Z a 2\n", fields=2, every="1h", tz="Europe/Berlin", mean=3)
        (row,) = top
        time = datetime(2026, 3, 1, 7, tzinfo=BERLIN)
        expected = {"time": time, "key": "a", "key_bytes": row.key, "count": 2, "mean(3)": 1.5}
        self.assertEqual((dict(row), row.keys(), row._fields), (expected, list(expected), tuple(expected)))
        self.assertEqual((list(row), len(row), row[3], row[-1]), (list(expected.values()), 5, 2, 1.5))
        self.assertEqual(row.values, {"mean(3)": Decimal("1.5")})
        self.assertEqual(row.fields["time"], "2026-03-01T07:00+01:00")
        with self.assertRaisesRegex(KeyError, "none"):
            row["none"]
        self.assertRaises(IndexError, lambda: row[5])

    def test_each_name_of_a_column_is_there_once(self):
        for data, flags, expected in [
            (b"count\n1\n", {"fields": "count"}, ["key_count", "key_bytes", "count"]),
            (b"a\n1\n", {"fields": "a,a"}, ["a", "key_a", "key_bytes", "count"]),
            (b"bytes,key_bytes\n1,2\n", {"fields": "bytes,key_bytes"}, ["bytes", "key_key_bytes", "key_bytes", "count"]),
            (b"count,key_count\n1,2\n", {"fields": "key_count,count"}, ["key_count", "key_key_count", "key_bytes", "count"]),
        ]:
            top = finecomb.top(data, input="csv", **flags)
            self.assertEqual((top.to_polars().columns, top[0].keys()), (expected, expected))
            self.assertEqual((top[0]["count"], top.to_arrow()["count"].to_pylist()), (1, [1]))

    def test_a_package_that_is_missing_is_named(self):
        script = "import sys\nsys.modules[{0!r}] = None\nimport finecomb\n{1}.to_{2}()"
        results = ["finecomb.top(b'a')", "finecomb.grep('a', b'a')", "finecomb.symbols([b'a = 1'], lang='python')"]
        for absent, method, needed in [
            ("pandas", "pandas", "pandas and pyarrow; install with: pip install pandas pyarrow"),
            ("pyarrow", "pandas", "pandas and pyarrow; install with: pip install pandas pyarrow"),
            ("pyarrow", "arrow", "pyarrow; install with: pip install pyarrow"),
            ("polars", "polars", "polars; install with: pip install polars"),
        ]:
            for result in results:
                words = [sys.executable, "-c", script.format(absent, result, method)]
                done = subprocess.run(words, capture_output=True, text=True)
                self.assertEqual(done.stderr.splitlines()[-1], f"ImportError: to_{method}() needs {needed}")


class Inputs(Files):
    def test_inputs_of_which_none_can_be_opened_are_an_exception(self):
        file, none = self.write("a.py", b"a = 1\n"), self.directory / "none.py"
        loop = self.directory / "loop.py"
        loop.symlink_to(loop)
        jobs = [finecomb.top, lambda paths: finecomb.grep("a", paths), finecomb.symbols, finecomb.Counts(fields=1).add]
        for job in jobs:
            for paths, kind, first in [
                (none, FileNotFoundError, none),
                ([str(none), loop], FileNotFoundError, none),
                ([loop, none], OSError, loop),
                (file / "x", NotADirectoryError, file / "x"),
            ]:
                with self.assertRaises(kind) as caught, warnings.catch_warnings():
                    warnings.simplefilter("error")
                    job(paths)
                self.assertEqual(caught.exception.filename, str(first))
            self.assertRegex(str(caught.exception), r"^\[Errno 20\] not a directory: '")
            quietly(job, [])

    def test_a_flag_that_is_invalid_comes_first(self):
        with self.assertRaises(finecomb.Error):
            finecomb.top(self.directory / "none", where="a ==")

    def test_some_that_cannot_be_opened_are_warnings(self):
        file, none = self.write("a.py", b"a = 1\n"), self.directory / "none.py"
        for job in [finecomb.top, lambda paths: list(finecomb.grep("a", paths)), lambda paths: list(finecomb.symbols(paths))]:
            with self.assertWarnsRegex(finecomb.Warning, "none.py: no such file or directory"):
                self.assertEqual(len(job([none, file])), 1)

    def test_an_answer_that_is_empty_says_why(self):
        for flags, reason in [
            ({"where": "status == 999"}, "--where: 0 of [0-9,]+ records meet the condition"),
            ({"grep": "no such record"}, "-g left no record"),
            ({"since": "2027-01-01"}, "0 of [0-9,]+ records in the window of time"),
        ]:
            with self.assertWarnsRegex(finecomb.Warning, reason):
                self.assertEqual(len(finecomb.top(NGINX, fields="path", **flags)), 0)


if __name__ == "__main__":
    unittest.main()
