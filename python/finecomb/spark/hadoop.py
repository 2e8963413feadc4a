"""Files of HDFS, S3A and other file systems of Hadoop, as bytes from the readers of Spark."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from pyspark.sql.functions import col

import finecomb

from .counting import PARTIAL, CountFiles, CountLines, Plan
from .flags import Paths
from .messages import warn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LINES = ("lines", "clf", "combined", "vhost_combined", "nginx", "json", "logfmt", "syslog", "regex")
"""Formats in which each line is a record and no line is a header."""


PATH = "_metadata.file_path"
"""Column of the URI of the file of a line."""

SPLIT_SIZE = 128 << 20
"""Maximum size of a partition of the readers of Spark, unless it is configured."""


def is_remote(path: str) -> bool:
    """Whether a path names a file system, other than that of the machine."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", path) is not None and not path.startswith("file:")


def divided(paths: Paths) -> tuple[list[str], list[str]]:
    """The paths that name a file system, and the others."""
    names = [fspath(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]
    return [name for name in names if is_remote(name)], [name for name in names if not is_remote(name)]


def check_selection(flags: Iterable[str], paths: list[str]) -> None:
    """Refuses flags that select files in the listings of Spark."""
    for name in flags:
        for path in paths:
            raise finecomb.Error(f"{name}: Spark lists the files of {path}; select them with a pattern in the path")


def readable(spark: SparkSession, paths: list[str]) -> list[str]:
    """The paths at which there is something. Warns of the others."""
    there = [path for path in paths if exists(spark, path)]
    for path in paths:
        if path not in there:
            warn(f"{path}: no such file or directory")
    return there


def exists(spark: SparkSession, path: str) -> bool:
    """Whether a path or a pattern of paths names something."""
    jvm: Any = spark.sparkContext._jvm
    place = jvm.org.apache.hadoop.fs.Path(path)
    system = place.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    return bool(system.globStatus(place))


def read(spark: SparkSession, paths: list[str], has_lines: bool, *metadata: str) -> DataFrame:
    """Lines as bytes, after columns of metadata such as `PATH`; or whole files by path."""
    reader = spark.read.option("recursiveFileLookup", "true")
    if has_lines:
        return reader.option("lineSep", "\n").text(paths).select(*metadata, col("value").cast("binary"))
    return reader.format("binaryFile").load(paths).select("path", "content")


def count(plan: Plan, rows: DataFrame, has_lines: bool) -> DataFrame:
    """Partial counts of what `read` has read."""
    return rows.mapInArrow(CountLines(plan) if has_lines else CountFiles(plan), PARTIAL)
