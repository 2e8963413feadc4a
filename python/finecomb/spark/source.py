"""The data source `finecomb.top`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

import finecomb

from . import hadoop, local
from .flags import ORDER, Division, divide_flags
from .frames import schema_of
from .splits import MAX_SIZE, Split

PATHS = ("path", "paths")


def register(spark: SparkSession) -> None:
    """Makes the data source `finecomb.top` known to a session."""
    spark.dataSource.register(TopSource)


class TopSource(DataSource):
    """The counts of each split: a row for each key of a split, or several if the keys exceed the memory of a task.

    Spark adds them up: `spark.read.format("finecomb.top").option("fields", "7").load(path).groupBy("key").sum("count")`. Options are the
    flags of `finecomb.spark.counts` as text. Only measures that Spark can add up are possible: sum, min and max. An input that cannot be
    read ends the query, as in the file sources of Spark.
    """

    @classmethod
    def name(cls) -> str:
        return "finecomb.top"

    def schema(self) -> StructType:
        counting, _ = flags_of(self.options)
        return schema_of(finecomb.Counts(**counting).top(0))

    def reader(self, schema: StructType) -> DataSourceReader:
        return TopReader(dict(self.options))


@dataclass
class TopPartition(InputPartition):
    """The splits of a task."""

    template: bytes
    flags: dict[str, Any]
    memory: int
    splits: list[Split]


class TopReader(DataSourceReader):
    """Divides files into splits, and counts them."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options

    def partitions(self) -> list[InputPartition]:
        ...
