"""Jobs: data frames of the keys of all records."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

import finecomb

from . import hadoop, local
from .counting import PARTIAL, KeepFirst, MakeRows, Plan
from .flags import Paths, divide_flags
from .messages import Messages, warn
from .session import check_session

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from .flags import CountFlags, TopFlags

PARTS_PER_PARTITION = 4
"""Groups of keys for each partition. Spark assigns them by a hash, so that several are more evenly spread than one."""


SELECTION = ("glob", "type", "ignore", "no_hidden")
"""Flags that select files below directories."""

OF_WHOLE_FILES = ("encoding", "archives", "no_decompress")
"""Flags for files as they are, which Spark would decode and divide into lines."""

DEFAULT_NUMBER = 10
"""Number of keys that `comb top` shows."""

MERGED_SIZE = 512 << 20
"""Bytes of input whose counts are merged in one task. Its memory is that of their distinct keys."""

MAX_CANDIDATES = 100_000
"""First keys of all partitions that the driver puts in order. With more, a task does."""


def top(spark: SparkSession, paths: Paths, **flags: Unpack[TopFlags]) -> DataFrame:
    """Counts the keys of all records of files, and returns the most frequent ones in their order.

    The columns are `key` (binary), `text`, `count`, and a decimal for each measure. Flags are those of `finecomb.top`. The job runs at
    once; its messages are warnings of the class `finecomb.Warning`.
    """
    check_session(spark, "top", "finecomb.top")
    job = Job(spark, paths, flags, Messages(spark))
    make_rows = MakeRows(job.plan, job.order)
    merged = merge(job.partial, job.partitions)
    if job.partitions == 1:
        rows = merged.mapInArrow(make_rows, job.schema).toArrow()
    else:
        first = merged.mapInArrow(KeepFirst(job.plan, job.order), PARTIAL)
        if job.number * job.partitions > MAX_CANDIDATES:
            rows = merge(first, 1).mapInArrow(make_rows, job.schema).toArrow()
        else:
            batches = make_rows(iter(first.toArrow().to_batches()))
            rows = pa.Table.from_batches(batches, schema=job.columns)
    job.plan.messages.warn()
    return spark.createDataFrame(rows, schema=job.schema)


def counts(spark: SparkSession, paths: Paths, **flags: Unpack[CountFlags]) -> DataFrame:
    """Counts the keys of all records of files, and returns all of them, in no order.

    Columns and flags are those of `top`, without the ones of the number and the order of keys. Files are listed at once. The job runs
    when rows are asked for; its messages are warnings of the class `finecomb.Warning`, each once.
    """
    check_session(spark, "counts", "finecomb.top")
    for name in divide_flags(flags)[1]:
        raise finecomb.Error(f"{name}: all keys are returned; use finecomb.spark.top, or DataFrame.orderBy and limit")
    job = Job(spark, paths, flags, Messages(spark, warn))
    return merge(job.partial, job.partitions).mapInArrow(MakeRows(job.plan, {"n": "all"}), job.schema)


def merge(partial: DataFrame, partitions: int) -> DataFrame:
    """Brings the partial counts of each group of keys together."""
    return partial.repartition(partitions, "bucket") if partitions > 1 else partial.repartition(1)


class Job:
    """A count on a cluster: its plan, the partial counts of all inputs, and the number of partitions in which they are merged."""

    def __init__(self, spark: SparkSession, paths: Paths, flags: Any, messages: Messages) -> None:
        counting, self.order, division = divide_flags(flags)
        template = finecomb.Counts(**counting)
        # Refuses an invalid order before anything is read.
        top = template.top(**self.order)
        self.columns = arrow_schema_of(top)
        self.schema = from_arrow_schema(self.columns)
        number = self.order.get("number") or DEFAULT_NUMBER
        self.number = MAX_CANDIDATES if number == "all" else int(number)
        remote, nearby = hadoop.divided(paths)
        hadoop.check_selection([name for name in SELECTION if counting.get(name)], remote)
        remote = hadoop.readable(spark, remote)
        cores = spark.sparkContext.defaultParallelism
        tasks = local.list_tasks(template, nearby, division.split_size, cores)
        has_lines = template.input in hadoop.LINES and not any(map(counting.get, OF_WHOLE_FILES))
        rows = [hadoop.read(spark, remote, has_lines)] if remote else []
        size = sum(split.length for task in tasks for split in task)
        size += sum(frame.rdd.getNumPartitions() * hadoop.SPLIT_SIZE for frame in rows)
        most = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        self.partitions = division.partitions or max(1, min(-(-size // MERGED_SIZE), most))
        parts = self.partitions * PARTS_PER_PARTITION if self.partitions > 1 else 1
        self.plan = Plan(template.to_bytes(), counting, division.memory, parts, messages)
        partial = [hadoop.count(self.plan, frame, has_lines) for frame in rows]
        if tasks or not partial:
            partial.append(local.count(spark, self.plan, tasks or [[]]))
        self.partial = reduce(DataFrame.union, partial)


def schema_of(top: finecomb.Top) -> StructType:
    """The columns of rows."""
    return from_arrow_schema(arrow_schema_of(top))


def arrow_schema_of(top: finecomb.Top) -> pa.Schema:
    """The same for Arrow."""
    return pa.table(top.columns()).schema
