"""Counting in the executors: functions from batches of Arrow to batches of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

import finecomb

from .messages import END, Messages, Place
from .splits import Split

Batches: TypeAlias = Iterator[pa.RecordBatch]
Item = TypeVar("Item")

PARTIAL = "bucket int, counts binary"
"""Columns of partial counts: the number of a group of keys, and stored counts of it."""

MAX_ROWS = 10_000
"""Rows of a batch, as many as Spark's own batches have."""


@dataclass(frozen=True)
class Plan:
    """A count that all tasks have in common. Its times are absolute."""

    template: bytes
    """Stored counts without keys."""
    flags: dict[str, Any]
    memory: int
    parts: int
    """Number of groups of keys."""
    messages: Messages

    def counts(self) -> finecomb.Counts:
        """Counts of nothing."""
        return finecomb.Counts.from_bytes(self.template, **self.flags)


class Table:
    """Counts of a task."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.counts = plan.counts()

    def add(self, input: str | memoryview, place: Place, name: str = "", start: int = 0, end: int | None = None) -> Batches:
        """Counts a part of a file, or bytes with a name. Emits the counts whenever they exceed the memory."""
        plan = self.plan
        with plan.messages.of(place):
            emitted = self.counts.add_part(
                input, start, end, memory=plan.memory, parts=plan.parts, name=name
            )
        yield from map(stored, emitted)

    def batch(self) -> pa.RecordBatch:
        """The counts by groups of keys."""
        return stored(self.counts.split(self.plan.parts))


def stored(parts: list[bytes]) -> pa.RecordBatch:
    """Rows of stored counts, each with its number."""
    buckets, counts = pa.array(range(len(parts)), pa.int32()), pa.array(parts, pa.binary())
    return pa.RecordBatch.from_arrays([buckets, counts], ["bucket", "counts"])


def tasks_of(batches: Batches, tasks: list[list[Item]]) -> Iterator[list[Item]]:
    """The tasks whose numbers are the rows."""
    for batch in batches:
        for number in batch.column(0):
            yield tasks[number.as_py()]


def files_of(batches: Batches) -> Iterator[tuple[str, memoryview]]:
    """Path and contents of files, which are rows."""
    for batch in batches:
        for path, contents in zip(batch.column(0), batch.column(1)):
            yield path.as_py(), viewed(contents.as_buffer())


@dataclass(frozen=True)
class CountSplits:
    """Counts the splits of tasks, whose numbers are the rows. Spark sends the splits of all tasks to an executor once."""

    plan: Plan
    tasks: list[list[Split]]

    def __call__(self, batches: Batches) -> Batches:
        table = Table(self.plan)
        for task in tasks_of(batches, self.tasks):
            for split in task:
                yield from table.add(split.path, split.place, start=split.start, end=split.end)
        yield table.batch()


@dataclass(frozen=True)
class CountLines:
    """Counts lines without their line feeds, which are the rows."""

    plan: Plan

    def __call__(self, batches: Batches) -> Batches:
        table = Table(self.plan)
        for batch in batches:
            yield from table.add(joined(batch.column(0)), END, "lines")
        yield table.batch()


def joined(lines: pa.Array) -> memoryview:
    """A text of these lines."""
    kind = pa.large_binary()
    ended = pc.binary_join_element_wise(lines.cast(kind), pa.scalar(b"", kind), pa.scalar(b"\n", kind))
    # The values of an array are one after the other.
    return viewed(ended.buffers()[2])[: pc.sum(pc.binary_length(ended)).as_py() or 0]


def viewed(buffer: pa.Buffer) -> memoryview:
    """The bytes of a buffer of Arrow."""
    return memoryview(buffer).cast("B")


@dataclass(frozen=True)
class CountFiles:
    """Counts whole files, which are rows of a path and the contents."""

    plan: Plan

    def __call__(self, batches: Batches) -> Batches:
        table = Table(self.plan)
        for path, contents in files_of(batches):
            yield from table.add(contents, END, path)
        yield table.batch()


def merged(plan: Plan, batches: Batches) -> finecomb.Counts:
    """The sum of partial counts."""
    counts = plan.counts()
    for batch in batches:
        for part in batch.column(1):
            counts.merge(part.as_py())
    return counts


@dataclass(frozen=True)
class KeepFirst:
    """Merges partial counts of groups of keys, and keeps the first keys."""

    plan: Plan
    order: dict[str, Any]

    def __call__(self, batches: Batches) -> Batches:
        yield stored([merged(self.plan, batches).first(**self.order).to_bytes()])


@dataclass(frozen=True)
class MakeRows:
    """Merges partial counts, and makes rows of the first keys in their order."""

    plan: Plan
    order: dict[str, Any]

    def __call__(self, batches: Batches) -> Batches:
        top = merged(self.plan, batches).top(**self.order)
        columns = top.columns()
        for number, message in enumerate([*top.messages, *unfit(columns)]):
            self.plan.messages.report(message, (END[0], number))
        yield from pa.table(columns).to_batches(MAX_ROWS)


def unfit(columns: finecomb.Columns) -> list[str]:
    """Messages on numbers that have too many digits for their column."""
    return [f"{name}: numbers that are too large for decimal(38, 18) are null" for name in columns.unfit]
