"""Division of files into splits, and of splits among tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

MAX_SIZE = 256 << 20
"""Size of a split of a large file. It is counted in about the time in which a task of Python starts and ends."""

MIN_SIZE = 4 << 20
"""Size of a split if there is little to read: a smaller one takes less time than its task takes to start."""

OPEN_COST = 64 << 10
"""Bytes that are counted in the time in which a file is opened."""

COMPRESSED = (".gz", ".bgz", ".bz2", ".xz", ".zst", ".lz4", ".lzma", ".br", ".z", ".zip", ".tar", ".tgz")
"""Endings of files that are taken as a whole. Others that cannot be divided are recognised when they are counted."""


@dataclass(frozen=True)
class Split:
    """The lines of a file that begin at offsets from `start` up to `end`."""

    path: str
    start: int
    end: int | None
    """`None` for the last split of a file: lines that are appended before it is counted belong to it."""
    length: int
    """Bytes when the file was listed."""
    place: tuple[int, int]
    """Number of the file and of the split, for the order of messages."""


def split_size(total: int, cores: int) -> int:
    """Size of splits with which all cores have work."""
    return max(MIN_SIZE, min(MAX_SIZE, -(-total // max(cores, 1))))


def divide(files: Iterable[tuple[str, int]], size: int, whole: Collection[int] = ()) -> list[list[Split]]:
    """Divides files, each with its size, into tasks of about `size` bytes: splits of large files, or several small ones. Files with the
    numbers `whole` are not divided."""
    tasks: list[list[Split]] = []
    small: list[Split] = []
    room = size
    for number, (path, length) in enumerate(files):
        splits = list(splits_of(path, length, max(size, length) if number in whole else size, number))
        if len(splits) > 1 or length >= size:
            tasks.extend([split] for split in splits)
            continue
        if small and length + OPEN_COST > room:
            tasks.append(small)
            small, room = [], size
        small += splits
        room -= length + OPEN_COST
    if small:
        tasks.append(small)
    return tasks


def splits_of(path: str, length: int, size: int, number: int) -> Iterator[Split]:
    """Splits of a file, of equal sizes."""
    count = 1 if path.lower().endswith(COMPRESSED) else max(1, -(-length // size))
    borders = [length * index // count for index in range(count + 1)]
    for index in range(count):
        start, end = borders[index : index + 2]
        yield Split(path, start, end if index + 1 < count else None, end - start, (number, index))
