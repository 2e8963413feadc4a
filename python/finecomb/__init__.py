"""Searches and counts logs and large texts on all cores.

    >>> import finecomb
    >>> for row in finecomb.top("access.log", fields=[7], n=3):
    ...     print(row.count, row.text)

The command ``comb`` is installed beside this module. Its flags are keyword arguments here: ``comb top --help`` describes them.
"""

from . import _tables
from ._finecomb import (
    Columns,
    Counts,
    Error,
    Index,
    Match,
    Matches,
    Passage,
    Positions,
    Row,
    Symbol,
    Symbols,
    Top,
    Warning,
    grep,
    symbols,
    top,
)

__all__ = [
    "Columns",
    "Counts",
    "Error",
    "Index",
    "Match",
    "Matches",
    "Passage",
    "Positions",
    "Row",
    "Symbol",
    "Symbols",
    "Top",
    "Warning",
    "grep",
    "symbols",
    "top",
]
