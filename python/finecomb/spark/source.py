"""The data source `finecomb.top`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

import finecomb

from . import local
from .counting import MAX_ROWS, Batches, unfit
from .flags import ORDER, Division, divide_flags
from .frames import schema_of
from .messages import warn
from .options import flags_in, paths_of, warnings_as_errors
from .splits import MAX_SIZE, Split

SWITCHES = ("archives", "each", "ignore", "ignore_case", "no_decompress", "no_header", "no_hidden", "quotedfields")
"""Flags without a value."""

NOT_SUMS = ("distinct", "mean", "p50", "p95", "p99", "percentile", "share")
"""Measures that cannot be merged from the measures of splits."""


class TopSource(DataSource):
    """The counts of each split: a row for each key of a split, or several if the keys exceed the memory of a task.

    Spark adds them up: `spark.read.format("finecomb.top").option("fields", "7").load(path).groupBy("key").sum("count")`. Options are the
    flags of `finecomb.spark.counts` as text. Only measures that Spark can merge are possible: sum, min and max. An input that cannot be
    read ends the query, as in the file sources of Spark.
    """

    @classmethod
    def name(cls) -> str:
        return "finecomb.top"

    def schema(self) -> StructType:
        counting, _ = flags_of(self.options)
        return schema_of(finecomb.Counts(**counting).top())

    def reader(self, schema: StructType) -> DataSourceReader:
        return TopReader(dict(self.options))


class TopReader(DataSourceReader):
    """Divides files into splits, and counts them."""

    def __init__(self, options: dict[str, str]) -> None:
        self.paths = paths_of(options, "top", "counts")
        self.flags, self.division = flags_of(options)
        # All tasks share the counts' definition, so that relative times mean the same instants.
        self.template = finecomb.Counts(**self.flags).to_bytes()

    def partitions(self) -> list[InputPartition]:
        with warnings_as_errors():
            tasks = local.list_tasks(self.counts(), self.paths, self.division.split_size or MAX_SIZE, 1)
        return [InputPartition(task) for task in tasks or [[]]]

    def read(self, partition: InputPartition) -> Batches:
        counts, splits = self.counts(), cast(list[Split], partition.value)
        for split in splits:
            with warnings_as_errors():
                emitted = counts.add_part(split.path, split.start, split.end, memory=self.division.memory, parts=1)
            for (part,) in emitted:
                yield from rows(finecomb.Counts.from_bytes(part))
        yield from rows(counts)

    def counts(self) -> finecomb.Counts:
        """Counts of nothing."""
        return finecomb.Counts.from_bytes(self.template, **self.flags)


def rows(counts: finecomb.Counts) -> Batches:
    """The rows of all keys. Messages on records that were left out go to the log of the executor."""
    top = counts.top("all")
    for message in top.messages:
        warn(message)
    columns = top.columns()
    if lost := unfit(columns):
        raise finecomb.Error(lost[0])
    return iter(pa.table(columns).to_batches(MAX_ROWS))


def flags_of(options: Mapping[str, str]) -> tuple[dict[str, Any], Division]:
    """The flags in options, and the division among executors."""
    flags = flags_in(options, "top", SWITCHES)
    for name in flags:
        if name in ORDER or name == "partitions":
            raise finecomb.Error(f"{name}: not available: each row counts one split; order and limit the result in the query")
        if name in NOT_SUMS:
            raise finecomb.Error(f"{name}: cannot be merged from splits; use finecomb.spark.counts")
    counting, _, division = divide_flags(flags)
    return counting, division
