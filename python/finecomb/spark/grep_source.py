"""The data source `finecomb.grep`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

import finecomb

from .counting import Batches
from .options import flags_in, paths_of, warnings_as_errors
from .search import Known, list_files, part_of, search_of, sizes, whole_files
from .searching import Part, Report, Search
from .splits import MAX_SIZE, divide

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

SWITCHES = (
    "fixed_strings", "ignore_case", "case_sensitive", "smart_case", "word_regexp", "line_regexp", "multiline", "multiline_dotall", "pcre2",
    "auto_hybrid_regex", "no_unicode", "glob_case_insensitive", "hidden", "no_ignore", "no_ignore_dot", "no_ignore_exclude",
    "no_ignore_files", "no_ignore_global", "no_ignore_parent", "no_ignore_vcs", "no_require_git", "ignore_file_case_insensitive", "follow",
    "archives", "one_file_system", "text", "binary", "search_zip", "crlf", "null_data", "invert_match", "stop_on_nonmatch", "line_number",
    "passthru",
)  # fmt: skip
"""Flags without a value."""

PATH_FILTERS: dict[str, Callable[[str, Any], bool]] = {
    "EqualTo": lambda path, value: bool(path == value),
    "In": lambda path, value: path in value,
    "StringStartsWith": lambda path, value: path.startswith(value),
    "StringEndsWith": lambda path, value: path.endswith(value),
    "StringContains": lambda path, value: value in path,
}
"""Filters by which files are left out. Their classes are in Spark 4.1 and later."""


class GrepSource(DataSource):
    """The lines of files that match a pattern, in no order.

    `spark.read.format("finecomb.grep").option("pattern", "error").load(path)` has the columns of `finecomb.spark.grep`. Other options are
    its flags as text. An input that cannot be read ends the query, as in the file sources of Spark.
    """

    @classmethod
    def name(cls) -> str:
        return "finecomb.grep"

    def schema(self) -> StructType:
        schema: StructType = from_arrow_schema(search_in(self.options).schema)
        return schema

    def reader(self, schema: StructType) -> DataSourceReader:
        return GrepReader(dict(self.options))


class GrepReader(DataSourceReader):
    """Divides files into splits, and searches them."""

    def __init__(self, options: dict[str, str]) -> None:
        self.paths = paths_of(options, "grep", "grep")
        self.search = search_in(options)
        self.filters: list[tuple[str, Any]] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Takes filters on the path, to leave out files. Spark applies all filters to the rows as well."""
        for filter in filters:
            if getattr(filter, "attribute", None) == ("path",) and type(filter).__name__ in PATH_FILTERS:
                self.filters.append((type(filter).__name__, getattr(filter, "value")))
        return filters

    def partitions(self) -> list[InputPartition]:
        with warnings_as_errors():
            files = [file for file in list_files(self.search, self.paths) if self.is_wanted(file[0])]
        options = self.search.options
        # No job of Spark can look for NULs or count lines here.
        is_divisible = options.is_divisible and not options.ends_at_nul and not options.numbers
        tasks = divide(sizes(files), options.split_size or MAX_SIZE, whole_files(files, is_divisible))
        return [InputPartition([part_of(split, files, Known(set(), {})) for split in task]) for task in tasks or [[]]]

    def is_wanted(self, path: str) -> bool:
        """Whether rows of a file may pass the filters."""
        shown = os.fsencode(path).decode(errors="replace")
        return all(PATH_FILTERS[kind](shown, value) for kind, value in self.filters)

    def read(self, partition: InputPartition) -> Batches:
        return self.search.parts(cast(list[Part], partition.value), Report(None))


def search_in(options: Mapping[str, str]) -> Search:
    """The search with these options."""
    flags = flags_in(options, "grep", SWITCHES)
    pattern = flags.pop("pattern", None)
    if pattern is None and "file" not in flags:
        raise finecomb.Error('finecomb.grep: no pattern; give one with option("pattern", …)')
    return search_of(pattern, flags)
