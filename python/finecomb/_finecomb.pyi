"""Functions of the native module for searches that `finecomb.spark` divides among executors."""

from collections.abc import Sequence
from os import PathLike

from typing_extensions import Buffer, Unpack

from . import Matches, _GrepFlags

def flag_name(command: str, name: str) -> str: ...
def grep_files(
    pattern: str | Sequence[str] | None, paths: Sequence[str], **flags: Unpack[_GrepFlags]
) -> list[tuple[str, int, bool]]: ...
def grep_share(
    pattern: str | Sequence[str] | None,
    input: Sequence[str] | Buffer,
    *,
    named: bool,
    start: int | None = None,
    end: int | None = None,
    name: str = "bytes",
    **flags: Unpack[_GrepFlags],
) -> Matches: ...
def survey_part(path: str | PathLike[str], start: int, end: int | None = None) -> tuple[int, bool]: ...
