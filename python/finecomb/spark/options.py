"""Options of data sources."""

from __future__ import annotations

import json
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import finecomb

from . import hadoop
from .flags import long_name


@contextmanager
def warnings_as_errors() -> Iterator[None]:
    """Ends the query at a message: a data source has no way to send it to the driver."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", finecomb.Warning)
        try:
            yield
        except finecomb.Warning as message:
            raise finecomb.Error(str(message)) from None


def paths_of(options: Mapping[str, str], source: str, function: str) -> list[str]:
    """The paths of `load`: Spark passes several as JSON. `function` is the one that reads others."""
    paths = json.loads(options["paths"]) if "paths" in options else [options["path"]] if "path" in options else []
    if not paths:
        raise finecomb.Error(f"finecomb.{source}: no path; name files or directories in load")
    for path in filter(hadoop.is_remote, paths):
        raise finecomb.Error(f"{path}: the data source reads only files that executors can open; use finecomb.spark.{function}")
    return [str(path) for path in paths]


def flags_in(options: Mapping[str, str], command: str, switches: Collection[str]) -> dict[str, Any]:
    """The flags of a command in options, by their long names. `switches` are those without a value."""
    flags = {long_name(command, name): value for name, value in options.items() if name not in ("path", "paths")}
    return {name: switch(name, value) if name in switches else value for name, value in flags.items()}


def switch(name: str, text: str) -> bool:
    """Parses the option of a flag without a value."""
    if text.lower() not in ("true", "false"):
        raise finecomb.Error(f"{name}: expected true or false; found {text!r}")
    return text.lower() == "true"
