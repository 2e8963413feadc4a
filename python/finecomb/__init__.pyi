from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from os import PathLike
from types import TracebackType
from typing import Literal, Protocol, SupportsIndex, TypedDict

import pandas
import polars
import pyarrow
from typing_extensions import Buffer, Self, TypeAlias, Unpack

class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...

_Input: TypeAlias = str | PathLike[str] | Buffer | _Reader
_Inputs: TypeAlias = _Input | Sequence[_Input]
_Pattern: TypeAlias = str | Buffer
_Fields: TypeAlias = str | int | Sequence[str | int]
_Value: TypeAlias = str | bytes | int | float | bool | Decimal | datetime | None
_Progress: TypeAlias = Callable[[int, int | None], object]

class _CountFlags(TypedDict, total=False):
    input: str | None
    record: str | None
    records: str | None
    unwrap: str | None
    no_header: bool | None
    fieldseparator: str | None
    quotedfields: bool | None
    fields: str | int | Sequence[str | int] | None
    extract: str | Sequence[str] | None
    each: bool | None
    columns: str | None
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
    share: str | Sequence[str] | None
    unit: str | Sequence[str] | None
    number_format: str | None
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
    diff: bool | str | timedelta | None
    min_count: int | None

class _TopFlags(_CountFlags, _OrderFlags, total=False):
    n: int | str | None
    approx: bool | str | None
    recount: bool | None
    memory: str | None
    temporary_directory: str | PathLike[str] | None

class _GrepFlags(TypedDict, total=False):
    file: str | PathLike[str] | Sequence[str | PathLike[str]] | None
    and_: str | Sequence[str] | None
    not_: str | Sequence[str] | None
    file_and: str | Sequence[str] | None
    file_not: str | Sequence[str] | None
    fixed_strings: bool | None
    ignore_case: bool | None
    case_sensitive: bool | None
    smart_case: bool | None
    word_regexp: bool | None
    line_regexp: bool | None
    multiline: bool | None
    multiline_dotall: bool | None
    pcre2: bool | None
    engine: str | None
    auto_hybrid_regex: bool | None
    no_unicode: bool | None
    regex_size_limit: str | int | None
    dfa_size_limit: str | int | None
    glob: str | Sequence[str] | None
    iglob: str | Sequence[str] | None
    glob_case_insensitive: bool | None
    type: str | Sequence[str] | None
    type_not: str | Sequence[str] | None
    type_add: str | Sequence[str] | None
    type_clear: str | Sequence[str] | None
    file_search_regex: str | None
    hidden: bool | None
    no_ignore: bool | None
    no_ignore_dot: bool | None
    no_ignore_exclude: bool | None
    no_ignore_files: bool | None
    no_ignore_global: bool | None
    no_ignore_parent: bool | None
    no_ignore_vcs: bool | None
    no_require_git: bool | None
    ignore_file: str | PathLike[str] | Sequence[str | PathLike[str]] | None
    ignore_file_case_insensitive: bool | None
    ignore_dir: str | Sequence[str] | None
    follow: bool | None
    max_depth: int | None
    max_filesize: str | int | None
    changed_within: str | datetime | timedelta | None
    changed_before: str | datetime | timedelta | None
    archives: bool | None
    one_file_system: bool | None
    sort: str | None
    sortr: str | None
    text: bool | None
    binary: bool | None
    encoding: str | None
    search_zip: bool | None
    pre: str | PathLike[str] | None
    pre_glob: str | Sequence[str] | None
    crlf: bool | None
    null_data: bool | None
    record: str | None
    invert_match: bool | None
    max_count: int | None
    limit: int | None
    stop_on_nonmatch: bool | None
    line_number: bool | None
    no_line_number: bool | None
    after_context: int | None
    before_context: int | None
    context: int | None
    passthru: bool | None
    threads: int | str | None
    index: str | None
    index_dir: str | PathLike[str] | None
    max_line: str | int | None
    block_size: str | int | None

class _SymbolsFlags(TypedDict, total=False):
    definition: str | None
    reference: str | None
    kind: str | Sequence[str] | None
    lang: str | Sequence[str] | None
    thorough: bool | None
    glob: str | Sequence[str] | None
    type: str | Sequence[str] | None
    no_ignore: bool | None
    hidden: bool | None
    archives: bool | None
    follow: bool | None
    max_depth: int | None
    threads: int | str | None
    index: str | None
    index_dir: str | PathLike[str] | None

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
    def values(self) -> dict[str, int | Decimal | float | None]: ...
    @property
    def error(self) -> int: ...
    @property
    def certain(self) -> bool: ...
    def keys(self) -> list[str]: ...
    @property
    def _fields(self) -> tuple[str, ...]: ...
    def __getitem__(self, column: str | int, /) -> _Value: ...
    def __iter__(self) -> Iterator[_Value]: ...
    def __len__(self) -> int: ...

class _Tables:
    def to_arrow(self) -> pyarrow.Table: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Top(_Tables):
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Row: ...
    def __iter__(self) -> Iterator[Row]: ...
    @property
    def records(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def messages(self) -> list[str]: ...
    def columns(self, places: int = 18) -> Columns: ...

class Columns:
    @property
    def unfit(self) -> dict[str, int]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Counts:
    def __init__(self, **flags: Unpack[_CountFlags]) -> None: ...
    def add(self, paths: _Inputs, *, progress: _Progress | None = None) -> None: ...
    def add_file(
        self,
        path: str | PathLike[str],
        start: int = 0,
        end: int | None = None,
        *,
        progress: _Progress | None = None,
    ) -> None: ...
    def add_bytes(self, data: Buffer, *, name: str = "bytes", progress: _Progress | None = None) -> None: ...
    def add_part(
        self,
        input: str | PathLike[str] | Buffer,
        start: int = 0,
        end: int | None = None,
        *,
        memory: int,
        parts: int,
        name: str = "bytes",
    ) -> list[list[bytes]]: ...
    def files(self, paths: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[tuple[str, int]]: ...
    def merge(self, other: Counts | bytes) -> None: ...
    def split(self, parts: int) -> list[bytes]: ...
    def first(self, n: int | str | None = None, **flags: Unpack[_OrderFlags]) -> Counts: ...
    def __add__(self, other: Counts) -> Counts: ...
    def top(self, n: int | str | None = None, **flags: Unpack[_OrderFlags]) -> Top: ...
    @property
    def records(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def input(self) -> str: ...
    @property
    def definition(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes, **flags: Unpack[_CountFlags]) -> Counts: ...

class Match:
    @property
    def path(self) -> str: ...
    @property
    def line_number(self) -> int | None: ...
    @property
    def offset(self) -> int: ...
    @property
    def line(self) -> bytes: ...
    @property
    def text(self) -> str: ...
    @property
    def spans(self) -> list[tuple[int, int]]: ...
    @property
    def is_context(self) -> bool: ...

class Matches(_Tables):
    def __iter__(self) -> Matches: ...
    def __next__(self) -> Match: ...
    @property
    def messages(self) -> list[str]: ...

class Symbol:
    @property
    def path(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def name_bytes(self) -> bytes: ...
    @property
    def scope(self) -> str | None: ...
    @property
    def scope_kind(self) -> str | None: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def signature(self) -> str: ...
    @property
    def parameters(self) -> str | None: ...
    @property
    def has_errors(self) -> bool: ...

class Symbols(_Tables):
    def __iter__(self) -> Symbols: ...
    def __next__(self) -> Symbol: ...
    @property
    def messages(self) -> list[str]: ...

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

def grep(
    pattern: str | Sequence[str] | None, paths: _Inputs, *, progress: _Progress | None = None, **flags: Unpack[_GrepFlags]
) -> Matches: ...
def symbols(paths: _Inputs, *, progress: _Progress | None = None, **flags: Unpack[_SymbolsFlags]) -> Symbols: ...
def top(paths: _Inputs, *, progress: _Progress | None = None, **flags: Unpack[_TopFlags]) -> Top: ...
