"""The job of a search: a data frame of the lines that are found."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Unpack

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

import finecomb
from finecomb import _finecomb

from . import hadoop
from .flags import Paths
from .local import path_of, run
from .messages import Messages, warn
from .search_flags import SELECTION, SearchOptions, divide_search_flags
from .searching import SURVEY, Part, Search, SearchFiles, SearchLines, SearchParts, SurveySplits
from .session import check_session
from .splits import Split, divide, split_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .search_flags import SearchFlags

MIN_SIZE = 16
"""Size of the smallest split: a byte order mark belongs to the first line."""

Files = list[tuple[str, int, bool]]
"""Path and size of each file, and whether it is named."""


def grep(
    spark: SparkSession, pattern: str | Sequence[str] | None, paths: Paths, **flags: Unpack[SearchFlags]
) -> DataFrame:
    """Searches files for lines that match `pattern`, a regular expression or a list of them, and returns the lines, in no order.

    The columns are `path`, `offset`, `line` (binary) and `text`; `line_number` with that flag. Flags are those of `finecomb.grep`. Files
    are listed at once. The search runs when rows are asked for; its messages are warnings of the class `finecomb.Warning`, each once.
    """
    check_session(spark, "grep", "finecomb.grep")
    search = search_of(pattern, flags)
    messages = Messages(spark, warn)
    remote, nearby = hadoop.divided(paths)
    hadoop.check_selection(search.options.selection, remote)
    files = list_files(search, nearby)
    rows = []
    if there := hadoop.readable(spark, remote):
        rows.append(search_remote(spark, search, there, messages))
    if files or not rows:
        rows.append(search_local(spark, search, files, messages))
    return reduce(DataFrame.union, rows)


def search_of(pattern: str | Sequence[str] | None, flags: Any) -> Search:
    """The search with these arguments."""
    return Search(pattern if pattern is None or isinstance(pattern, str) else list(pattern), divide_search_flags(flags))


def list_files(search: Search, paths: list[str]) -> Files:
    """The files of a search. Raises an error of the pattern or a flag, and warns of paths that are not there."""
    flags = {**search.options.flags, **search.options.selection}
    return _finecomb.grep_files(search.pattern, [path_of(path) for path in paths], **flags)


def search_remote(spark: SparkSession, search: Search, paths: list[str], messages: Messages) -> DataFrame:
    """Rows of files that a reader of Spark reads: as lines, or as a whole if a line depends on others."""
    has_lines = search.options.is_divisible
    read = hadoop.read(spark, paths, has_lines, hadoop.PATH)
    task = SearchLines(search, messages) if has_lines else SearchFiles(search, messages)
    return read.mapInArrow(task, from_arrow_schema(search.schema))


def search_local(spark: SparkSession, search: Search, files: Files, messages: Messages) -> DataFrame:
    """Rows of files that executors open by their paths."""
    cores = spark.sparkContext.defaultParallelism
    size = max(MIN_SIZE, search.options.split_size or split_size(sum(length for _, length, _ in files), cores))
    tasks = divide(sizes(files), size, whole_files(files, search.options.is_divisible))
    known = survey(spark, search.options, [split for task in tasks for split in task])
    if known.binary:
        tasks = divide(sizes(files), size, known.binary)
    parts = [[part_of(split, files, known) for split in task] for task in tasks] or [[]]
    return run(spark, len(parts), SearchParts(search, parts, messages), from_arrow_schema(search.schema))


def sizes(files: Files) -> list[tuple[str, int]]:
    """Path and size of each file."""
    return [(path, length) for path, length, _ in files]


def whole_files(files: Files, is_divisible: bool) -> set[int]:
    """Numbers of the files that are not divided: all or none."""
    return set() if is_divisible else set(range(len(files)))


@dataclass(frozen=True)
class Known:
    """Results of the survey of files that are divided."""

    binary: set[int]
    """Numbers of files with a NUL."""
    before: dict[tuple[int, int], int]
    """Numbers of lines before splits, by their places."""


def survey(spark: SparkSession, options: SearchOptions, splits: list[Split]) -> Known:
    """Surveys the splits of files that are divided, in a job, if the search depends on it."""
    divided = [split for split in splits if not is_whole(split)]
    if not divided or not (options.numbers or options.ends_at_nul):
        return Known(set(), {})
    surveyed = run(spark, len(divided), SurveySplits([[split] for split in divided]), SURVEY).toArrow()
    rows = list(zip(*(column.to_pylist() for column in surveyed.columns)))
    binary = {file for file, _, _, nul in rows if nul} if options.ends_at_nul else set()
    return Known(binary, lines_before((file, part, lines) for file, part, lines, _ in rows))


def lines_before(rows: Iterable[tuple[int, int, int]]) -> dict[tuple[int, int], int]:
    """Numbers of lines before splits, of rows of file, split and number of lines."""
    before, counted = {}, defaultdict[int, int](int)
    for file, part, lines in sorted(rows):
        before[file, part] = counted[file]
        counted[file] += lines
    return before


def is_whole(split: Split) -> bool:
    """Whether a split is all of its file."""
    return split.start == 0 and split.end is None


def part_of(split: Split, files: Files, known: Known) -> Part:
    """The split with what is known of its file."""
    _, _, named = files[split.place[0]]
    return Part(split, named, is_whole(split), known.before.get(split.place, 0))
