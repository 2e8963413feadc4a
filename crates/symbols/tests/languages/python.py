"""Orders.

class InDocstring:
    def no(self): ...
"""
from __future__ import annotations

import dataclasses
from typing import TypeVar

T = TypeVar("T")
LIMIT: int = 10
declared: str
a = b = 1
x, y = 1, 2
(left, [right, *rest]) = 1, [2, 3]
a = 3
a += 1
cache = {}
cache["key"] = 1
cache.attribute = 2
text = "def quoted(): pass"
twice = lambda n: n * 2
type Vector = list[float]
type Pair[K, V] = tuple[K, V]


def plain(a, b=2, *args, c: int = 3, **kwargs) -> int:
    local = a
    global counter
    counter = 1

    def inner(n):
        return n

    class Local:
        member = 1

        def run(self): ...

    return local


async def load(
    path: str,
    limit: int = 10,
) -> None:
    pass


def largest[T: int](a: T, b: T) -> T:
    return a


@dataclasses.dataclass(frozen=True)
class Order(Base, metaclass=Meta):
    """An order."""

    __slots__ = ("name",)
    name: str
    count: int = 0
    one = other = 1

    def __init__(self, name: str) -> None:
        self.name = name
        self.total: float = 0.0

    @property
    def price(self) -> float:
        return 0.0

    @price.setter
    def price(self, value):
        self.value = value

    @staticmethod
    def create() -> "Order":
        return Order("")

    async def save(self): ...

    @functools.cache
    def cached(self):
        return self.getter

    def __add__(self, other): return self  # comment

    @property  # comment
    def commented(  # comment
        self,
    ):  # comment
        # comment
        return f"{self['}']}"
        # comment
    # comment outside

    class Meta:
        ordering = ["name"]

    alias = create


class Generic[K, V]:
    pass


if LIMIT > 3:
    conditional = True

    def on_condition(): ...
else:
    conditional = False

try:
    import fast
except ImportError:
    fast = None

for index in range(3):
    last = index

with open("file") as handle:
    content = handle.read()

if (walrus := len(text)) > 3:
    print(walrus)

match a:
    case [first, *others]:
        matched = first
    case [1]: alone = 1; second = 2

match = {"x": [1,
  2]}  # not a block
converted = lambda value, *, base=10: int(value, base)
