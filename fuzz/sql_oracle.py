"""DuckDB as an oracle of `comb top`, for the questions that SQL can ask too.

A table has two texts and two numbers, as CSV with quotes or JSON Lines. A question groups it by texts, with a condition and measures. DuckDB
reads the same file. `connect` returns None if the package `duckdb` is not installed.
"""

import csv
import io
import json
import random
from decimal import Decimal
from pathlib import Path

try:
    import duckdb
except ImportError:
    duckdb = None

TEXTS, NUMBERS = ["k", "t"], ["n", "x"]
WORDS = ["a", "b", "ab", "A", "Éa", "foo", "/x/y?z=1", "x y", "x,y", "p;q", "007", "12", "", "-", "null", "日本", "c\\d", 'say "hi"', "two\nlines", '"', '"",', "\n",
         "a\tb", "cr\r\nlf", " a", "a ", "\x1f"]  # fmt: skip
PATTERNS = ["a", "^a", "b$", "[0-9]+", "foo|ab", "^$", "A", "[^a]", "(a)(b)?"]
OPERATORS = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
NO_NUMBER = "('', '-')"


def connect():
    if duckdb is None:
        print("the Python package duckdb is not installed: without DuckDB as second oracle")
        return None
    connection = duckdb.connect(":memory:")
    connection.execute("SET threads = 1")
    return connection


class SqlTable:
    """Rows as bytes, and how both programs read them."""

    def __init__(self, rng: random.Random):
        self.is_json, self.header, self.rows = rng.random() < 0.5, b"", []
        self.delimiter, self.end = rng.choice(",,;|\t"), rng.choice(["\n", "\r\n"])
        words = rng.sample(WORDS, rng.choice([2, 5, len(WORDS)]))
        order = TEXTS + NUMBERS
        rng.shuffle(order)
        self.flags, self.order = ["--input", "json" if self.is_json else "csv"], order
        if not self.is_json:
            self.flags += ["-p", "\\t" if self.delimiter == "\t" else self.delimiter]
            self.header = (self.delimiter.join(order) + self.end).encode()
        for _ in range(rng.choice([1, 3, 10, 30, 100, 300])):
            row = {name: rng.choice(words) for name in TEXTS} | {name: number(rng) for name in NUMBERS}
            self.rows.append(self.json_row(rng, row) if self.is_json else self.csv_row(rng, [row[name] for name in order]))

    def json_row(self, rng: random.Random, row: dict) -> bytes:
        members = {name: value for name, value in row.items() if rng.random() < 0.95}
        for name in NUMBERS:
            if name in members and members[name].lstrip("-").replace(".", "", 1).isdigit() and rng.random() < 0.7:
                members[name] = json.loads(members[name])
        if "x" in members:
            members["m"] = {"y": 1, "x": members.pop("x")}
        names = rng.sample(list(members), len(members))
        separators = rng.choice([(",", ":"), (", ", ": ")])
        return (json.dumps({name: members[name] for name in names}, ensure_ascii=rng.random() < 0.5, separators=separators) + self.end).encode()

    def csv_row(self, rng: random.Random, values: list[str]) -> bytes:
        out = io.StringIO(newline="")
        style = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL
        csv.writer(out, delimiter=self.delimiter, lineterminator=self.end, quoting=style).writerow(values)
        return out.getvalue().encode()

    def source(self, path: Path) -> str:
        """The table as a subquery of texts, NULL where a field is missing."""
        if self.is_json:
            columns = "json->>'$.k' AS k, json->>'$.t' AS t, json->>'$.n' AS n, json->>'$.m.x' AS x"
            return f"(SELECT {columns} FROM read_ndjson_objects('{path}'))"
        columns = ", ".join(f"'{name}': 'VARCHAR'" for name in self.order)
        line = "\\r\\n" if self.end == "\r\n" else "\\n"
        return f"""(SELECT * FROM read_csv('{path}', auto_detect = false, header = true, delim = '{self.delimiter}', quote = '"', escape = '"', nullstr = '\x01',
            new_line = '{line}', columns = {{{columns}}}, parallel = false))"""

    def field(self, name: str) -> str:
        return ".m.x" if self.is_json and name == "x" else name


def number(rng: random.Random) -> str:
    kind = rng.randrange(12)
    if kind < 5:
        return str(rng.randrange(-5, 50))
    if kind < 9:
        return f"{rng.randrange(-100000, 1000000) / 100:.2f}"
    return rng.choice(["", "-", "x", "0", "123456789012.5", "-0.0001"])


def as_number(name: str) -> str:
    return f"TRY_CAST({name} AS DECIMAL(38, 6))"


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def condition(rng: random.Random, table: SqlTable, depth: int = 0) -> tuple[str, str]:
    """A condition of comb, and the same in SQL."""
    kind = rng.choice(["number", "number", "text", "text", "match"] + (["and", "or", "not"] if depth < 2 else []))
    if kind in ("and", "or"):
        (one, sql), (other, other_sql) = condition(rng, table, depth + 1), condition(rng, table, depth + 1)
        return f"({one} {'&&' if kind == 'and' else '||'} {other})", f"({sql} {kind} {other_sql})"
    if kind == "not":
        one, sql = condition(rng, table, depth + 1)
        return f"!({one})", f"(NOT {sql})"
    operator = rng.choice(list(OPERATORS))
    if kind == "number":
        name, value = rng.choice(NUMBERS), rng.choice(["0", "1", "5", "12", "49", "-1", "1.5", "0.01", "4999.99"])
        otherwise = "true" if operator == "!=" else "false"
        test = f"coalesce({as_number(name)} {OPERATORS[operator]} {value}, {name} IS NOT NULL AND {otherwise})"
        return f"{table.field(name)} {operator} {value}", test
    name = rng.choice(TEXTS)
    if kind == "text":
        value = rng.choice(WORDS)
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'{name} {operator} "{quoted}"', f"coalesce({name} {OPERATORS[operator]} {literal(value)}, false)"
    pattern, negated = rng.choice(PATTERNS), rng.random() < 0.3
    sql = f"{'NOT ' if negated else ''}regexp_matches({name}, {literal(pattern)})"
    return f'{name} {"!~" if negated else "~"} "{pattern}"', f"coalesce({sql}, false)"


class SqlQuestion:
    def __init__(self, rng: random.Random, table: SqlTable):
        self.keys = rng.choice([["k"], ["t"], ["k"], ["k", "t"], ["t", "k"], []])
        self.where = condition(rng, table) if rng.random() < 0.6 else None
        self.missing = rng.choice([None, None, "NONE"]) if self.keys else None
        self.min_count = rng.choice([1, 1, 2, 5])
        measures = [(kind, name) for kind in ("sum", "min", "max") for name in NUMBERS] + [("distinct", name) for name in TEXTS]
        self.measures = rng.sample(measures, rng.choice([0, 1, 2, 4] if self.keys else [1, 2, 4]))
        self.flags = [*table.flags, "-n", "all", "--format", "json"]
        self.flags += ["-f", ",".join(self.keys)] if self.keys else []
        self.flags += ["--where", self.where[0]] if self.where else []
        self.flags += ["--missing", self.missing] if self.missing else []
        self.flags += ["--min-count", str(self.min_count)] if self.min_count > 1 else []
        for kind, name in self.measures:
            self.flags += [f"--{kind}", table.field(name)]

    def select(self, source: str) -> str:
        values = ["count(*)"]
        for kind, name in self.measures:
            values.append(f"count(DISTINCT {name}) FILTER (WHERE {name} NOT IN {NO_NUMBER})" if kind == "distinct" else f"{kind}({as_number(name)})")
        tests = [self.where[1]] if self.where else []
        keys = self.keys if self.missing is None else [f"coalesce({key}, {literal(self.missing)})" for key in self.keys]
        tests += [f"{key} IS NOT NULL" for key in keys]
        columns = [f"{key} AS g{index}" for index, key in enumerate(keys)] + values
        # Materialized: otherwise the casts become types of the columns of the file.
        select = f"WITH source AS MATERIALIZED {source} SELECT {', '.join(columns)} FROM source"
        select += f" WHERE {' AND '.join(tests)}" if tests else ""
        select += f" GROUP BY {', '.join(keys)}" if keys else ""
        return select + f" HAVING count(*) >= {self.min_count}"


def exact(value) -> Decimal | None:
    return None if value is None else Decimal(value).normalize() + 0


def check(connection, comb_top, table: SqlTable, question: SqlQuestion, path: Path, seed: int) -> str | None:
    """A difference between comb and DuckDB, or None. `comb_top` runs comb with flags on the file."""
    path.write_bytes(table.header + b"".join(table.rows))
    width = random.Random(seed).choice([["-j1"], ["-j7", "--block-size", "64"], ["-j3", "--block-size", "7"], []])
    code, out, errors = comb_top([*width, *question.flags], path)
    if code not in (0, 1):
        return f"exit status {code}, {errors!r:.500}"
    answer = json.loads(out, parse_float=str, parse_int=str)
    found = []
    for entry in answer["top"]:
        key = entry["key"]
        key = list(key.values()) if isinstance(key, dict) else [key] if question.keys else []
        found.append((key, [exact(value) for name, value in entry.items() if not name.startswith("key")]))
    rows = connection.execute(question.select(table.source(path))).fetchall()
    size = len(question.keys)
    expected = [(list(row[:size]), [exact(value) for value in row[size:]]) for row in rows]
    if size == 1:
        expected.sort(key=lambda entry: (-entry[1][0], entry[0][0].encode()))
    else:
        found.sort(key=lambda entry: entry[0])
        expected.sort(key=lambda entry: entry[0])
    if found == expected:
        return None
    wrong = next((pair for pair in zip(found, expected) if pair[0] != pair[1]), None)
    return f"{len(found)} keys, DuckDB has {len(expected)}; {wrong!r:.600}"
