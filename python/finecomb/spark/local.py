"""Files that executors open by their paths."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import finecomb

from .counting import PARTIAL, Batches, CountSplits, Plan
from .splits import Split, divide, split_size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

SCHEME = "file:"


def path_of(text: str) -> str:
    """The path of `file:/logs`, `file:///logs` or a path, which is made absolute: executors run elsewhere.

    Raises `finecomb.Error` for a pipe or a device, which only one reader can read, once.
    """
    path = text
    if text.startswith(SCHEME):
        path = text.removeprefix(SCHEME)
        path = "/" + path.lstrip("/") if path.startswith("//") else path
    path = os.path.abspath(path)
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise finecomb.Error(f"{path}: neither a file nor a directory")
    return path


def list_tasks(counts: finecomb.Counts, paths: list[str], size: int | None, cores: int) -> list[list[Split]]:
    """The splits of all files by task. Warns of missing files."""
    if not paths:
        return []
    files = counts.files([path_of(path) for path in paths])
    return divide(files, size or split_size(sum(length for _, length in files), cores))


def count(spark: SparkSession, plan: Plan, tasks: list[list[Split]]) -> DataFrame:
    """Partial counts of the splits of all tasks."""
    return run(spark, len(tasks), CountSplits(plan, tasks), PARTIAL)


def run(spark: SparkSession, tasks: int, function: Callable[[Batches], Batches], schema: StructType | str) -> DataFrame:
    """Rows of tasks. The input of each task is its number."""
    return spark.range(0, tasks, 1, tasks).mapInArrow(function, schema)
