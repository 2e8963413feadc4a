"""Keyword arguments of searches: the flags of `finecomb.grep`, and the size of splits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import finecomb

from .flags import long_name, size

if TYPE_CHECKING:
    from finecomb import _GrepFlags

    class SearchFlags(_GrepFlags, total=False):
        """Flags of a search, and of the division among executors."""

        split_size: int | str | None


REFUSED = {
    "limit": "rows of splits have no order; use DataFrame.limit",
    "sort": "rows of splits have no order; use DataFrame.orderBy",
    "sortr": "rows of splits have no order; use DataFrame.orderBy",
    "index": "executors search files without an index",
    "index_dir": "executors search files without an index",
    "no_line_number": "lines are numbered only with line_number",
}
"""Flags without a meaning here, each with the reason."""

CONTEXT = ("after_context", "before_context", "context", "passthru")
"""Flags that print lines near the matches."""

DEPENDENT = (
    *CONTEXT, "max_count", "multiline", "multiline_dotall", "record", "stop_on_nonmatch", "file_and", "file_not",
    # The text of the file, or the ends of its lines, are other ones.
    "null_data", "encoding", "pre", "archives",
)  # fmt: skip
"""Flags with which the result for a line depends on more than the line."""

SELECTION = (
    "glob", "iglob", "glob_case_insensitive", "type", "type_not", "type_add", "type_clear", "file_search_regex", "hidden", "no_ignore",
    "no_ignore_dot", "no_ignore_exclude", "no_ignore_files", "no_ignore_global", "no_ignore_parent", "no_ignore_vcs", "no_require_git",
    "ignore_file", "ignore_file_case_insensitive", "ignore_dir", "follow", "max_depth", "max_filesize", "changed_within",
    "changed_before", "one_file_system",
)  # fmt: skip
"""Flags that select files below directories."""


@dataclass(frozen=True)
class SearchOptions:
    """The flags of a search on a cluster."""

    flags: dict[str, Any]
    """Flags of the searches of executors."""
    selection: dict[str, Any]
    """Flags that select files, for the driver."""
    numbers: bool
    """Whether lines are numbered."""
    context: bool
    """Whether lines are printed that are not found themselves."""
    split_size: int | None
    """Bytes of a split, if given."""

    @property
    def is_divisible(self) -> bool:
        """Whether lines can be searched apart from the others of their file."""
        return not any(name in self.flags for name in DEPENDENT)

    @property
    def ends_at_nul(self) -> bool:
        """Whether a NUL in a file decides about its other lines."""
        # The last of these flags counts.
        return [name for name in self.flags if name in ("text", "binary")][-1:] != ["text"]


def divide_search_flags(given: Mapping[str, Any]) -> SearchOptions:
    """Divides keyword arguments. Flags that are off are left out."""
    flags = {long_name("grep", name): value for name, value in given.items() if value is not None and value is not False}
    for name, reason in REFUSED.items():
        if name in flags:
            raise finecomb.Error(f"{name}: {reason}")
    split_size = flags.pop("split_size", None)
    if "file" in flags:
        flags["file"] = absolute(flags["file"])
    selection = {name: flags.pop(name) for name in SELECTION if name in flags}
    numbers = bool(flags.pop("line_number", False))
    # An executor runs one task on each of its cores.
    flags = {"threads": 1, **flags, "index": "never", "line_number" if numbers else "no_line_number": True}
    context = any(name in flags for name in CONTEXT)
    return SearchOptions(flags, selection, numbers, context, None if split_size is None else size("split_size", split_size))


def absolute(paths: Any) -> Any:
    """Paths of files of patterns, for executors that run elsewhere."""
    if isinstance(paths, list | tuple):
        return [os.path.abspath(path) for path in paths]
    return os.path.abspath(paths)
