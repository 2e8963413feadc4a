"""Keyword arguments: the flags of `finecomb.top`, and the division among executors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import finecomb
from finecomb import _finecomb

if TYPE_CHECKING:
    from finecomb import _CountFlags, _OrderFlags

    class CountFlags(_CountFlags, total=False):
        """Flags of counts, and of the division among executors."""

        memory: int | str | None
        split_size: int | str | None
        partitions: int | None

    class TopFlags(CountFlags, _OrderFlags, total=False):
        """The same, and flags of the number and the order of keys."""

        n: int | str | None


Paths: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]

ORDER = ("number", "sort", "reverse", "min_count")

DEFAULT_MEMORY = "256M"

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Division:
    """How work is divided among executors."""

    memory: int
    """Bytes of memory of the keys of a task, from which on it emits its counts and begins new ones."""
    split_size: int | None
    """Bytes of a split, if given."""
    partitions: int | None
    """Number of partitions in which counts are merged, if given."""


def divide_flags(flags: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Division]:
    """Divides keyword arguments into flags of counts, flags of the order of keys, and the division among executors."""
    counting = {long_name("top", name): value for name, value in flags.items()}
    ordering = {name: counting.pop(name) for name in ORDER if name in counting}
    memory = size("memory", counting.pop("memory", None) or DEFAULT_MEMORY)
    split_size = counting.pop("split_size", None)
    split_size = None if split_size is None else size("split_size", split_size)
    partitions = counting.pop("partitions", None)
    if partitions is not None and partitions < 1:
        raise finecomb.Error(f"partitions: expected at least 1; found {partitions}")
    if counting.get("threads") is None:
        # An executor runs one task on each of its cores.
        counting["threads"] = 1
    return counting, ordering, Division(memory, split_size, partitions)


def long_name(command: str, name: str) -> str:
    """The name by which tables here have a flag of `top` or `grep`, which may be given by an alias or with hyphens."""
    return _finecomb.flag_name(command, name)


def size(name: str, text: int | str) -> int:
    """Parses a size in bytes as the command does: a number with an optional suffix K, M or G for powers of 1024."""
    digits, unit = str(text), 1
    if digits[-1:].upper() in UNITS:
        digits, unit = digits[:-1], UNITS[digits[-1].upper()]
    if not (digits.isascii() and digits.isdigit() and int(digits) > 0):
        raise finecomb.Error(f"{name}: expected a size in bytes, such as 4096, 128K, 64M or 1G; found {text!r}")
    return int(digits) * unit
