"""Results as tables of pyarrow, pandas and polars. These packages are imported when they are needed.

The methods are functions of Python. PyO3 assumes that a method of Rust keeps the lock of the interpreter, which pyarrow releases while it reads
the stream of a search.
"""

from datetime import datetime
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

from ._finecomb import Matches, Symbols, Top


def to_arrow(self: Any) -> Any:
    """The results as a ``pyarrow.Table``."""
    (pyarrow,) = packages("to_arrow", "pyarrow")
    return pyarrow.table(self)


def to_pandas(self: Any) -> Any:
    """The results as a ``pandas.DataFrame``. It needs pyarrow."""
    pandas, pyarrow = packages("to_pandas", "pandas", "pyarrow")
    table = pyarrow.table(self)
    columns = {}
    for index, column in enumerate(table.columns):
        kind, types = column.type, pyarrow.types
        # By default these are objects of Python, and integers that are rounded to floating-point numbers.
        is_exact = types.is_decimal(kind) or (types.is_integer(kind) and column.null_count > 0)
        columns[index] = column.to_pandas(types_mapper=pandas.ArrowDtype if is_exact else None)
    frame = pandas.DataFrame(columns)
    frame.columns = pandas.Index(table.column_names)
    return frame


def to_polars(self: Any) -> Any:
    """The results as a ``polars.DataFrame``."""
    (polars,) = packages("to_polars", "polars")
    return polars.DataFrame(self)


for results in (Top, Matches, Symbols):
    for method in (to_arrow, to_pandas, to_polars):
        setattr(results, method.__name__, method)


def packages(method: str, *names: str) -> list[Any]:
    """The packages that a method needs."""
    try:
        return [import_module(name) for name in names]
    except ModuleNotFoundError as error:
        if error.name not in names:
            raise
        needed = f"{method}() needs {' and '.join(names)}; install with: pip install {' '.join(names)}"
        raise ImportError(needed, name=error.name) from error


def time(seconds: int, zone: str) -> datetime:
    """A time by seconds since 1970, in a zone that has a name, or an offset such as +01:00."""
    is_offset = zone[0] in "+-"
    return datetime.fromtimestamp(seconds, datetime.strptime(zone, "%z").tzinfo if is_offset else ZoneInfo(zone))
