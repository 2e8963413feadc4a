"""Searches in the executors: functions from batches of Arrow to batches of Arrow."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

import finecomb
from finecomb import _finecomb

from .counting import Batches, files_of, joined, tasks_of
from .messages import END, Messages, Place
from .search_flags import SearchOptions
from .splits import Split

LINES = {"text": True, "encoding": "none", "line_number": True}
"""Flags for lines from a reader of Spark, which has decompressed and divided the files. Line numbers are row numbers."""

NOT_OF_LINES = ("binary", "no_line_number", "search_zip")
"""Flags that these replace."""

SURVEY = "file int, part int, lines bigint, nul boolean"
"""Columns of surveys: numbers of the file and of the split, number of lines, and whether there is a NUL."""


@dataclass(frozen=True)
class Part:
    """A split of a file for a search."""

    split: Split
    named: bool
    """Whether the file itself is named, not a directory above it."""
    is_whole: bool
    before: int = 0
    """Number of lines of the file before the split."""


@dataclass(frozen=True)
class Search:
    """A search that all tasks have in common."""

    pattern: str | list[str] | None
    options: SearchOptions

    @property
    def schema(self) -> pa.Schema:
        """The columns of rows."""
        columns = [("path", pa.string())]
        if self.options.numbers:
            columns.append(("line_number", pa.int64()))
        columns += [("offset", pa.int64()), ("line", pa.binary()), ("text", pa.string())]
        if self.options.context:
            columns.append(("is_context", pa.bool_()))
        return pa.schema(columns)

    def batch(self, found: pa.RecordBatch, **changed: pa.Array) -> pa.RecordBatch:
        """Rows of lines, with `changed` columns in place of the found ones. Spark has no views and no unsigned numbers."""
        columns = {name: changed.get(name, found.column(name)) for name in found.schema.names}
        columns["is_context"] = pc.is_null(found.column("spans"))
        return pa.RecordBatch.from_arrays([columns[field.name].cast(field.type) for field in self.schema], schema=self.schema)

    def parts(self, parts: Iterable[Part], report: Report) -> Batches:
        """Rows of splits. Whole files are searched together."""
        for (is_whole, named), some in groupby(parts, lambda part: (part.is_whole, part.named)):
            if is_whole:
                yield from self.files(list(some), named, report)
            else:
                for part in some:
                    yield from self.part(part, report)

    def files(self, files: list[Part], named: bool, report: Report) -> Batches:
        """Rows of whole files."""
        paths = [part.split.path for part in files]
        matches = _finecomb.grep_share(self.pattern, paths, named=named, **self.options.flags)
        return map(self.batch, report(matches, files[0].split.place))

    def part(self, part: Part, report: Report) -> Batches:
        """Rows of a split."""
        split = part.split
        start, end = split.start, split.end
        matches = _finecomb.grep_share(self.pattern, [split.path], named=part.named, start=start, end=end, **self.options.flags)
        for found in report(matches, split.place):
            yield self.batch(found, line_number=pc.add(found.column("line_number"), pa.scalar(part.before, pa.uint64())))

    def lines(self, batch: pa.RecordBatch, report: Report) -> Batches:
        """Rows of lines without their line feeds, each with its path."""
        flags = {name: value for name, value in self.options.flags.items() if name not in NOT_OF_LINES}
        matches = _finecomb.grep_share(self.pattern, joined(batch.column(1)), named=True, name="lines", **{**flags, **LINES})
        paths = decoded(batch.column(0))
        for found in report(matches, END):
            rows = pc.subtract(found.column("line_number"), pa.scalar(1, pa.uint64()))
            yield self.batch(found, path=paths.take(rows), **unknown(found))

    def contents(self, path: str, contents: memoryview, report: Report) -> Batches:
        """Rows of a whole file, by its contents."""
        matches = _finecomb.grep_share(self.pattern, contents, named=True, name=path, **self.options.flags)
        for found in report(matches, END):
            yield self.batch(found, **unknown(found))


def unknown(found: pa.RecordBatch) -> dict[str, pa.Array]:
    """Columns that are not known of what a reader of Spark has read."""
    return {name: pa.nulls(found.num_rows, pa.int64()) for name in ("offset", "line_number")}


def decoded(paths: pa.Array) -> pa.Array:
    """Paths of files, which Spark has as URIs."""
    encoded = paths.dictionary_encode()
    names = pa.array([unquote(path) for path in encoded.dictionary.to_pylist()], pa.string())
    return names.take(encoded.indices)


class Report:
    """Batches of a search, whose messages go to `messages` at the end; without that, the first one ends the query."""

    def __init__(self, messages: Messages | None) -> None:
        self.messages = messages

    def __call__(self, matches: finecomb.Matches, place: Place) -> Batches:
        stream = pa.RecordBatchReader.from_stream(matches)
        while (batch := read(stream)) is not None:
            yield batch
        for message in matches.messages:
            if self.messages is None:
                raise finecomb.Error(message)
            self.messages.report(message, place)


def read(stream: Iterator[pa.RecordBatch]) -> pa.RecordBatch | None:
    """The next batch, if there is one. Warnings are messages of the search as well."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", finecomb.Warning)
        return next(stream, None)


@dataclass(frozen=True)
class SearchParts:
    """Searches the splits of tasks, whose numbers are the rows. Spark sends the splits of all tasks to an executor once."""

    search: Search
    tasks: list[list[Part]]
    messages: Messages

    def __call__(self, batches: Batches) -> Batches:
        for parts in tasks_of(batches, self.tasks):
            yield from self.search.parts(parts, Report(self.messages))


@dataclass(frozen=True)
class SearchLines:
    """Searches lines, which are rows of a path and a line."""

    search: Search
    messages: Messages

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            yield from self.search.lines(batch, Report(self.messages))


@dataclass(frozen=True)
class SearchFiles:
    """Searches whole files, which are rows of a path and the contents."""

    search: Search
    messages: Messages

    def __call__(self, batches: Batches) -> Batches:
        for path, contents in files_of(batches):
            yield from self.search.contents(path, contents, Report(self.messages))


@dataclass(frozen=True)
class SurveySplits:
    """Counts the lines of splits, and looks for NULs. The rows are the numbers of tasks."""

    tasks: list[list[Split]]

    def __call__(self, batches: Batches) -> Batches:
        for splits in tasks_of(batches, self.tasks):
            rows = [(*split.place, *survey(split)) for split in splits]
            columns: list[Any] = [list(column) for column in zip(*rows)]
            types = [pa.int32(), pa.int32(), pa.int64(), pa.bool_()]
            arrays = [pa.array(column, kind) for column, kind in zip(columns, types)]
            yield pa.RecordBatch.from_arrays(arrays, ["file", "part", "lines", "nul"])


def survey(split: Split) -> tuple[int, bool]:
    """The number of lines of a split, and whether there is a NUL in it. A search of the whole file reports that it cannot be read."""
    try:
        return _finecomb.survey_part(split.path, split.start, split.end)
    except OSError:
        return 0, True
