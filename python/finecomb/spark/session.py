"""Sessions of Spark."""

from __future__ import annotations

import finecomb


def check_session(spark: object, function: str, source: str) -> None:
    """Refuses a session of Spark Connect, which has no driver in this process. `source` is the data source to use there."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise finecomb.Error(
            f"finecomb.spark.{function} needs a session with a driver in this process, which Spark Connect does not have; "
            f'use the data source: finecomb.spark.register(spark), then spark.read.format("{source}")'
        )
