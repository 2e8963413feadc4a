"""Messages on their way from executors to the driver, where each is a `finecomb.Warning` once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from pyspark.accumulators import Accumulator, AccumulatorParam

import finecomb

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Place: TypeAlias = tuple[int, int]
Found: TypeAlias = dict[str, Place]
"""Messages, each with its place among them. A task that is repeated has the same ones again."""

END: Place = (1 << 62, 0)
"""Place of messages on all records."""


class FoundParam(AccumulatorParam[Found]):
    """Joins messages, and calls `on_new` with new ones on the driver."""

    def __init__(self, on_new: Callable[[str], None] | None = None) -> None:
        self.on_new = on_new

    def __reduce__(self) -> tuple[type[FoundParam], tuple[()]]:
        return (FoundParam, ())

    def zero(self, value: Found) -> Found:
        return {}

    def addInPlace(self, value1: Found, value2: Found) -> Found:
        for message in sorted(value2, key=value2.__getitem__):
            if message not in value1 and self.on_new:
                self.on_new(message)
            value1[message] = min(value2[message], value1.get(message, value2[message]))
        return value1


class Messages:
    """Messages of a job. Tasks take it along and report with it."""

    def __init__(self, spark: SparkSession, on_new: Callable[[str], None] | None = None) -> None:
        self.found: Accumulator[Found] = spark.sparkContext.accumulator({}, FoundParam(on_new))

    def report(self, message: str, place: Place) -> None:
        """Sends a message to the driver."""
        self.found.add({message: place})

    @contextmanager
    def of(self, place: Place) -> Iterator[None]:
        """Sends the warnings of a block to the driver."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", finecomb.Warning)
            yield
        for warning in caught:
            if issubclass(warning.category, finecomb.Warning):
                self.report(str(warning.message), place)
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    def warn(self) -> None:
        """Warns of all messages in their order. For the driver, at the end of the job."""
        found = self.found.value
        for message in sorted(found, key=found.__getitem__):
            warn(message)


def warn(message: str) -> None:
    """Warns with the words of the command."""
    warnings.warn(message, finecomb.Warning, stacklevel=2)
