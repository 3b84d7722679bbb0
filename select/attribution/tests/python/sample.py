"""Every construct that makes a code object, or might."""
from __future__ import annotations
import asyncio, dataclasses, functools
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from somewhere import something

    def only_checked(x): return lambda: x
else:
    def not_checked(): pass

squares = [n * n for n in range(3)]
later = (n for n in (m for m in range(3)) if (lambda: n)())
table = {k: (lambda v=k: v + 1) for k in squares}
names = {f"{n!r:>{10}} {(lambda: n)()}" for n in squares}


def decorate(*args, key=lambda x: x):
    def inner(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)
        return wrapper
    return inner


@decorate(1,
          key=lambda y: y)
def decorated(
    a: int = 1,
    b=[i for i in range(2)],
    /,
    *args,
    c=(lambda: 0),
    **kwargs,
) -> None:
    "a docstring"
    global made_global, MadeGlobal

    def made_global():
        return [lambda: a for _ in b]

    class MadeGlobal:
        def method(self): return a

    class Local:
        x = [i for i in range(3)]
        y = (i for i in range(3))
        z = lambda self: self.x

        def method(self):
            def deep(): return (q for q in self.y)
            return deep
    return Local


@overload
def twice(x: int) -> int: ...
@overload
def twice(x: str) -> str: ...
def twice(x): return x


class Outer(dict, metaclass=type):
    """doc"""
    __slots__ = ()
    field: list[int] = dataclasses.field(default_factory=lambda: [])

    @property
    def value(self):
        return 1

    @value.setter
    def value(self, new):
        def check(): nonlocal new; new = 2
        check()

    @staticmethod
    async def coroutine(x):
        async with x as y:
            async for z in y:
                yield [await w async for w in z]
                yield (await w async for w in z)

    class Inner:
        def __private(self): return lambda: (lambda: self)

        if squares:
            def conditional(self): return 1
        else:
            def conditional(self): return 2

    for index in range(2):
        def looped(self, i=index): return i


def generic[T, *Ts, **P](x: T, *args: *Ts, key: list[T] = (lambda: None)) -> T:
    def nested[U: int](u: U): return lambda: u
    return nested


class Generic[T: (int, str), U: list[int]](list[T]):
    def method[V](self, v: V) -> T:
        return (v for v in [v])

    type Alias = list[T]


type Alias = dict[str, int]
type Recursive[T] = T | list[Recursive[T]]


def matched(value):
    match value:
        case {"a": [x, *rest], **others} if (lambda: x)():
            return lambda: rest
        case Outer(value=1) | Outer.Inner():
            pass
        case _:
            try:
                yield from (lambda: value)()
            except* ValueError as group:
                print(f"{group=} {[g for g in group]} {(h for h in group)}")
            finally:
                del value


match = matched; type = 1; case = lambda match: match
if (walrus := (lambda: squares)()): print(walrus)
try:
    import nothing
except ImportError:
    def fallback(): return fallback
with open(__file__) as first, (open(__file__)) as second: asyncio.run(Outer.coroutine(1))
assert (lambda: True)(), (lambda: "why")()
print(*(lambda a, *b, c=1, **d: (a, b))(1, 2), sep=(lambda: "")())
