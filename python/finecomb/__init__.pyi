from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from os import PathLike
from types import TracebackType
from typing import Literal, Protocol, SupportsIndex, TypedDict

from typing_extensions import Buffer, Self, TypeAlias, Unpack

class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...

_Input: TypeAlias = str | PathLike[str] | Buffer | _Reader
_Inputs: TypeAlias = _Input | Sequence[_Input]
_Pattern: TypeAlias = str | Buffer
_Fields: TypeAlias = str | int | Sequence[str | int]
_Progress: TypeAlias = Callable[[int, int | None], object]

class _CountFlags(TypedDict, total=False):
    input: str | None
    no_header: bool | None
    fieldseparator: str | None
    quotedfields: bool | None
    fields: str | int | Sequence[str | int] | None
    extract: str | Sequence[str] | None
    each: bool | None
    missing: str | None
    ignore_case: bool | None
    normalize: str | Sequence[str] | None
    sed: tuple[str, str] | Sequence[tuple[str, str]] | None
    grep: str | Sequence[str] | None
    vgrep: str | Sequence[str] | None
    where: str | None
    time: str | None
    time_format: str | None
    tz: str | None
    since: str | datetime | None
    until: str | datetime | None
    every: str | timedelta | None
    last: str | timedelta | None
    sorted: bool | str | timedelta | None
    sum: _Fields | None
    mean: _Fields | None
    min: _Fields | None
    max: _Fields | None
    p50: _Fields | None
    p95: _Fields | None
    p99: _Fields | None
    distinct: _Fields | None
    percentile: str | Sequence[str] | None
    glob: str | Sequence[str] | None
    type: str | Sequence[str] | None
    ignore: bool | None
    no_hidden: bool | None
    archives: bool | None
    no_decompress: bool | None
    encoding: str | None
    threads: int | str | None
    max_line: str | int | None
    block_size: str | int | None

class _OrderFlags(TypedDict, total=False):
    number: int | str | None
    sort: str | None
    reverse: bool | None
    min_count: int | None

class _TopFlags(_CountFlags, _OrderFlags, total=False):
    n: int | str | None
    approx: bool | str | None
    recount: bool | None
    memory: str | None
    temporary_directory: str | PathLike[str] | None

class Error(ValueError): ...
class Warning(UserWarning): ...

class Row:
    @property
    def key(self) -> bytes: ...
    @property
    def text(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def fields(self) -> dict[str, str]: ...
    @property
    def values(self) -> dict[str, int | Decimal | None]: ...
    @property
    def error(self) -> int: ...
    @property
    def certain(self) -> bool: ...

class Top:
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Row: ...
    def __iter__(self) -> Iterator[Row]: ...
    @property
    def records(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def messages(self) -> list[str]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Counts:
    def __init__(self, **flags: Unpack[_CountFlags]) -> None: ...
    def add(self, paths: _Inputs, *, progress: _Progress | None = None) -> None: ...
    def merge(self, other: Counts) -> None: ...
    def __add__(self, other: Counts) -> Counts: ...
    def top(self, n: int | str | None = None, **flags: Unpack[_OrderFlags]) -> Top: ...
    @property
    def records(self) -> int: ...
    @property
    def definition(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Counts: ...

class Passage:
    @property
    def position(self) -> int: ...
    @property
    def line(self) -> int | None: ...
    @property
    def column(self) -> int | None: ...
    @property
    def before(self) -> bytes: ...
    @property
    def match(self) -> bytes: ...
    @property
    def after(self) -> bytes: ...

class Positions:
    def __iter__(self) -> Iterator[int]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Index:
    @staticmethod
    def open(path: str | PathLike[str]) -> Index: ...
    def find(
        self, pattern: _Pattern, from_: SupportsIndex | None = None, *, before: SupportsIndex | None = None
    ) -> int | None: ...
    def count(self, pattern: _Pattern) -> int: ...
    def all(
        self, pattern: _Pattern, from_: SupportsIndex | None = None, *, limit: SupportsIndex | None = None
    ) -> Positions: ...
    def text(self, start: SupportsIndex, end: SupportsIndex) -> bytes: ...
    def passage(self, position: SupportsIndex, length: SupportsIndex, context: SupportsIndex = 20) -> Passage: ...
    def close(self) -> None: ...
    @property
    def alphabet(self) -> Literal["digits", "dna", "bytes"]: ...
    @property
    def path(self) -> str: ...
    def __len__(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

def top(paths: _Inputs, *, progress: _Progress | None = None, **flags: Unpack[_TopFlags]) -> Top: ...
