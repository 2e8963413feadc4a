"""A user of the module for mypy --strict: every call here is right, and the last ones are not."""

import io
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import finecomb

top = finecomb.top("access.log", fields=[7], n=3, ignore_case=True, since=datetime(2026, 3, 1), every=timedelta(minutes=5))
first: finecomb.Row = top[0]
count: int = first.count
value: int | Decimal | None = first.values["sum(10)"]
texts: list[str] = [row.text for row in top]
counts = finecomb.Counts(fields="1,7", sum=10, sed=[("a", "b")])
counts.add([Path("a.log"), "b.log"], progress=lambda done, total: print(done, total))
counts.add(io.BytesIO(b"a"))
both: finecomb.Counts = counts + finecomb.Counts.from_bytes(counts.to_bytes())
rows: int = len(both.top(5, sort="sum(10)", reverse=True))
finecomb.top("access.log", field=7)  # type: ignore[call-arg]
finecomb.Counts(n=3)  # type: ignore[call-arg]
