"""A user of the module for mypy --strict: every call here is right, and the last ones are not."""

import io
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import finecomb
import finecomb.spark
from pyspark.sql import DataFrame, SparkSession

top = finecomb.top("access.log", fields=[7], n=3, ignore_case=True, since=datetime(2026, 3, 1), every=timedelta(minutes=5))
first: finecomb.Row = top[0]
count: int = first.count
value: int | float | Decimal | None = first.values["sum(10)"]
texts: list[str] = [row.text for row in top]
names_of_columns: list[str] = first.keys()
column: str | bytes | int | float | bool | Decimal | datetime | None = first["time"] or first[-1] or next(iter(first))
print(top.to_pandas(), top.to_polars().height, top.to_arrow())
counts = finecomb.Counts(fields="1,7", sum=10, sed=[("a", "b")])
counts.add([Path("a.log"), "b.log"], progress=lambda done, total: print(done, total))
counts.add(io.BytesIO(b"a"))
both: finecomb.Counts = counts + finecomb.Counts.from_bytes(counts.to_bytes())
rows: int = len(both.top(5, sort="sum(10)", reverse=True))
with finecomb.Index.open(Path("pi.comb")) as index:
    at: int | None = index.find("14", 100)
    last: int | None = index.find(b"14", before=len(index))
    number: int = index.count(bytearray(b"14"))
    positions: list[int] = list(index.all("14", from_=7, limit=10))
    digits: bytes = index.text(1, 7)
    passage: finecomb.Passage = index.passage(1, 2, context=8)
    line: int | None = passage.line
    around: bytes = passage.before + passage.match + passage.after
matches = finecomb.grep(["a", "b"], Path("src"), progress=lambda done, total: None, ignore_case=True, context=2, not_="c")
match: finecomb.Match = next(matches)
found: list[tuple[str, int | None, int]] = [(match.path, match.line_number, match.offset) for match in matches]
spans: list[tuple[int, int]] = match.spans
print(matches.to_pandas(), matches.to_polars().height, matches.to_arrow())
counts.add_file("a.log", 0, 100)
counts.merge(counts.split(3)[0])
emitted: list[list[bytes]] = counts.add_part(b"a", memory=1 << 20, parts=3)
spark: SparkSession = SparkSession.builder.getOrCreate()
frame: DataFrame = finecomb.spark.top(spark, [Path("a.log"), "b.log"], fields=7, n=3, split_size="64M")
frame = finecomb.spark.counts(spark, "hdfs:///logs", fields="path", sum="bytes", since="1h")
finecomb.spark.register(spark)
frame = finecomb.spark.grep(spark, ["a", "b"], Path("src"), ignore_case=True, line_number=True, split_size="64M")
finecomb.spark.grep(spark, "a", "src", color="never")  # type: ignore[call-arg]
finecomb.spark.counts(spark, "a.log", n=3)  # type: ignore[call-arg]
symbols = finecomb.symbols([Path("src"), b"x = 1"], lang="python", kind=["class", "function"], max_depth=3)
symbol: finecomb.Symbol = next(symbols)
names: list[tuple[str, bytes, str | None, int]] = [(one.name, one.name_bytes, one.scope, one.end_line) for one in symbols]
finecomb.symbols("src", outline=True)  # type: ignore[call-arg]
finecomb.grep("a", "src", color="never")  # type: ignore[call-arg]
finecomb.top("access.log", field=7)  # type: ignore[call-arg]
finecomb.Counts(n=3)  # type: ignore[call-arg]
index.find(14)  # type: ignore[arg-type]
index.all("14", 1, 10)  # type: ignore[call-arg]
