"""Exact counts and searches of logs on Apache Spark 4: each executor takes its splits of the files with the native engine.

    >>> import finecomb.spark
    >>> finecomb.spark.top(spark, "/logs/access.log", fields=7, n=3).show()
    >>> finecomb.spark.grep(spark, "error", "/logs").show()

``top`` and ``counts`` merge all splits and give the numbers that the command gives for the same files; ``grep`` gives its lines.
``register`` makes the data sources ``finecomb.top`` and ``finecomb.grep`` known to a session. The first counts each split on its own, for
queries of Spark that add the rows up.
"""

from pyspark.sql import SparkSession

from .frames import counts, top
from .grep_source import GrepSource
from .search import grep
from .source import TopSource

__all__ = ["GrepSource", "TopSource", "counts", "grep", "register", "top"]


def register(spark: SparkSession) -> None:
    """Makes the data sources known to a session, and lets Spark pass filters to data sources of Python."""
    spark.dataSource.register(TopSource)
    spark.dataSource.register(GrepSource)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
