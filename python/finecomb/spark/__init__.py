"""Exact counts of logs on Apache Spark 4: each executor counts its splits of the files with the native engine.

    >>> import finecomb.spark
    >>> finecomb.spark.top(spark, "/logs/access.log", fields=7, n=3).show()

``top`` and ``counts`` merge all splits and give the numbers that the command gives for the same files. ``register`` makes the data source
``finecomb.top`` known to a session: it counts each split on its own, for queries of Spark that add the rows up.
"""

from .frames import counts, top
from .source import TopSource, register

__all__ = ["TopSource", "counts", "register", "top"]
