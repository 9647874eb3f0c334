"""What a Python function can reach and change: a picture taken of it, compared, and put back.

The picture starts at a function and its arguments and follows closures, defaults, the globals that
code names, attributes, items and elements.  It leaves out what is not the user's: modules, objects
and functions of the standard library and of NumPy, and this package's own, through which it passes
to the functions that they wrap.  Attributes kept by `functools.cached_property` do not count.
"""

from __future__ import annotations

import functools
import reprlib
import sys
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from operator import is_
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np

from .array import Array
from .avals import aval_of
from .trace import Tracer

# How many objects a picture shows, of how many parts of each it looks at what they hold themselves,
# how many steps it goes from a root, and how large a NumPy array may be to be copied.
MOST_HOLDERS = 5000
MOST_PARTS = 1000
FARTHEST = 8
LARGEST_ARRAY = 1 << 24

_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "ml_dtypes", "jaxlib"}
_PACKAGE = __name__.split(".")[0]
_MISSING: Any = object()
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


class Change(NamedTuple):
    """A change of what an object holds.

    Attributes:
      mark: the identity of the object, and the name or key that has changed, if there is one.
      text: the change in words.
    """

    mark: tuple[int, Any]
    text: str


# ---------------------------------------------------------------- objects that hold others


class Holder:
    """An object whose contents can change.

    Attributes:
      held: the object.
      name: how the user would write it.
      before: what it held when the picture was taken.
    """

    __slots__ = ("before", "held", "name")

    def __init__(self, held: Any, name: str):
        self.held = held
        self.name = name
        self.before: Any = self.read()

    def read(self) -> Any:
        raise NotImplementedError

    def put_back(self) -> None:
        raise NotImplementedError

    def parts(self) -> Iterable[tuple[Any, str]]:
        """The values that it held, and how the user would write each."""
        return ()

    def changes(self) -> list[Change]:
        raise NotImplementedError


class _Named(Holder):
    """What holds values under names or keys: `read` gives them as a dict."""

    __slots__ = ()

    def label(self, key: Any) -> str:
        """How the user would write one of the values."""
        return f"{self.name}[{key!r}]"

    def words(self, key: Any) -> str:
        return f"`{self.label(key)}`"

    def parts(self) -> Iterable[tuple[Any, str]]:
        return ((value, self.label(key)) for key, value in self.before.items())

    def changes(self) -> list[Change]:
        now = self.read()
        if _identical(now, self.before) and _identical(now.values(), self.before.values()):
            return []
        found = []
        for key in [*self.before, *[key for key in now if key not in self.before]]:
            old, new = self.before.get(key, _MISSING), now.get(key, _MISSING)
            if not _same(old, new):
                found.append(Change((id(self.held), key), _rebound(self.words(key), old, new)))
        return found


class Cell(_Named):
    """A variable that a function shares with the one around it."""

    __slots__ = ()

    def read(self) -> dict[str, Any]:
        try:
            return {"": self.held.cell_contents}
        except ValueError:  # it is not bound
            return {}

    def put_back(self) -> None:
        if self.before:
            self.held.cell_contents = self.before[""]
        elif self.read():
            del self.held.cell_contents

    def label(self, key: Any) -> str:
        return self.name

    def words(self, key: Any) -> str:
        return f"the closed-over variable `{self.name}`"


class Globals(_Named):
    """The globals of a module that code names; `held` is the dict of all."""

    __slots__ = ("names",)

    def __init__(self, held: Any, name: str):
        self.names: set[str] = set()
        super().__init__(held, name)

    def add(self, names: Iterable[str]) -> list[tuple[Any, str]]:
        """Show more names; returns the values that these have."""
        new = set(names) - self.names
        self.names |= new
        found = {name: self.held[name] for name in new if name in self.held}
        self.before.update(found)
        return [(value, name) for name, value in found.items()]

    def read(self) -> dict[str, Any]:
        return {name: self.held[name] for name in self.names if name in self.held}

    def put_back(self) -> None:
        for name in self.names:
            self.held.pop(name, None)
        self.held.update(self.before)

    def label(self, key: Any) -> str:
        return key

    def words(self, key: Any) -> str:
        return f"the global `{key}`"


class Attributes(_Named):
    """The attributes of an object, of a class, or of a function."""

    __slots__ = ()

    def read(self) -> dict[str, Any]:
        cls = type(self.held)
        found = {k: v for k, v in getattr(self.held, "__dict__", {}).items() if not _is_dunder(k)}
        for base in cls.__mro__:
            for name, slot in vars(base).items():
                if isinstance(slot, MemberDescriptorType) and not _is_dunder(name):
                    value = getattr(self.held, name, _MISSING)
                    if value is not _MISSING:
                        found[name] = value
                elif isinstance(slot, functools.cached_property):
                    found.pop(name, None)
        return found

    def put_back(self) -> None:
        set_, delete = (
            (type.__setattr__, type.__delattr__)
            if isinstance(self.held, type)
            else (object.__setattr__, object.__delattr__)  # also where the class forbids it
        )
        now = self.read()
        for name in now.keys() - self.before.keys():
            delete(self.held, name)
        for name, value in self.before.items():
            if now.get(name, _MISSING) is not value:
                set_(self.held, name, value)

    def label(self, key: Any) -> str:
        return f"{self.name}.{key}"


class Items(_Named):
    """The items of a dict."""

    __slots__ = ()

    def read(self) -> dict[Any, Any]:
        return dict(self.held)

    def put_back(self) -> None:
        self.held.clear()
        self.held.update(self.before)


class Elements(Holder):
    """The elements of a list or a deque."""

    __slots__ = ()

    def read(self) -> tuple[Any, ...]:
        return tuple(self.held)

    def put_back(self) -> None:
        self.held.clear()
        self.held.extend(self.before)

    def parts(self) -> Iterable[tuple[Any, str]]:
        return ((value, f"{self.name}[{i}]") for i, value in enumerate(self.before))

    def changes(self) -> list[Change]:
        now, mark = self.read(), (id(self.held), None)
        if _identical(now, self.before):
            return []
        if len(now) != len(self.before):
            kind, counts = type(self.held).__name__, (len(self.before), len(now))
            return [Change(mark, f"the {kind} `{self.name}` had {counts[0]} elements, "
                                 f"and now has {counts[1]}")]  # fmt: skip
        return [
            Change(mark, _rebound(f"`{self.name}[{i}]`", old, new))
            for i, (old, new) in enumerate(zip(self.before, now))
            if not _same(old, new)
        ]


class Members(Holder):
    """The members of a set."""

    __slots__ = ()

    def read(self) -> frozenset[Any]:
        return frozenset(self.held)

    def put_back(self) -> None:
        self.held.clear()
        self.held.update(self.before)

    def changes(self) -> list[Change]:
        now = self.read()
        if now == self.before:
            return []
        counts = len(now - self.before), len(self.before - now)
        text = f"the set `{self.name}` got {counts[0]} new members and lost {counts[1]}"
        return [Change((id(self.held), None), text)]


class Numbers(Holder):
    """The elements of a NumPy array."""

    __slots__ = ()

    def read(self) -> np.ndarray:
        return self.held.copy()

    def put_back(self) -> None:
        self.held[...] = self.before

    def changes(self) -> list[Change]:
        if self.held.tobytes() == self.before.tobytes():
            return []
        text = f"elements of the NumPy array `{self.name}` were written"
        return [Change((id(self.held), None), text)]


def _identical(now: Collection[Any], before: Collection[Any]) -> bool:
    """Whether two collections have the same objects in the same order; quickly."""
    return len(now) == len(before) and all(map(is_, now, before))


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    return type(old) is type(new) and isinstance(old, _PLAIN) and (old == new or old != old)


def _rebound(what: str, old: Any, new: Any) -> str:
    if new is _MISSING:
        return f"{what} was deleted"
    if old is _MISSING:
        return f"{what} was set to {shown(new)}"
    return f"{what} was {shown(old)}, and is now {shown(new)}"


def shown(x: Any) -> str:
    """A value in a few words."""
    if isinstance(x, Tracer):
        return f"a traced {x.aval.str_short()}"
    if isinstance(x, Array) or (isinstance(x, np.ndarray) and not x.dtype.hasobject):
        return f"an array {aval_of(x).str_short()}"
    return reprlib.repr(x)


def _is_dunder(name: str) -> bool:
    return name[:2] == "__" and name[-2:] == "__"


# ---------------------------------------------------------------- the picture


class Picture:
    """What can be reached from some values, as it is now.

    Args:
      roots: values, and how the user would write each.
    """

    def __init__(self, roots: Sequence[tuple[Any, str]]):
        self.holders: list[Holder] = []
        self._globals: dict[int, Globals] = {}
        self._held: set[int] = set()
        seen: dict[int, Any] = {}  # keeps what it names alive, so that ids stay true
        ways = deque([(value, name, 0) for value, name in roots])
        while ways and len(self.holders) < MOST_HOLDERS:
            value, name, depth = ways.popleft()
            if id(value) in seen or depth > FARTHEST:
                continue
            seen[id(value)] = value
            for part, part_name in self._reached_from(value, name):
                ways.append((part, part_name, depth + 1))

    def marks(self) -> set[Any]:
        """What all changes of what is shown are told by: of globals also the name."""
        found: set[Any] = set()
        for holder in self.holders:
            if isinstance(holder, Globals):
                found.update((id(holder.held), name) for name in holder.names)
            else:
                found.add(id(holder.held))
        return found

    def _reached_from(self, value: Any, name: str) -> Iterator[tuple[Any, str]]:
        """The values one step further; remembers the contents of `value` if they can change."""
        if isinstance(value, (*_PLAIN, Tracer, Array, ModuleType, CodeType)):
            return
        if isinstance(value, FunctionType):
            yield from self._of_function(value, name)
        elif isinstance(value, MethodType):
            yield value.__self__, "self"
            yield value.__func__, value.__func__.__qualname__
        elif isinstance(value, BuiltinFunctionType):
            yield value.__self__, name.rpartition(".")[0] or name
        elif isinstance(value, functools.partial):
            yield value.func, name
            yield value.args, f"{name}.args"
            yield from [(x, f"{name}.keywords[{k!r}]") for k, x in value.keywords.items()]
        elif isinstance(value, (tuple, frozenset)):
            yield from [(x, f"{name}[{i}]") for i, x in enumerate(value)]
        elif isinstance(value, (staticmethod, classmethod)):
            yield value.__func__, name
        elif isinstance(value, property):
            yield value.fget, name
        elif isinstance(value, functools.cached_property):
            yield value.func, name
        else:
            yield from self._of_object(value, name)

    def _of_function(self, fun: FunctionType, name: str) -> Iterator[tuple[Any, str]]:
        origin = _origin(fun.__globals__.get("__name__", ""))
        cells = list(zip(fun.__code__.co_freevars, fun.__closure__ or ()))
        if origin == "own":
            for _, cell in cells:
                yield from _wrapped_in(Cell(cell, "").before.values(), name)
        if origin != "user":
            return
        for variable, cell in cells:
            yield from self._remember(Cell(cell, variable))
        if id(fun.__globals__) not in self._globals:
            held = self._globals[id(fun.__globals__)] = Globals(fun.__globals__, "")
            self.holders.append(held)
        yield from self._globals[id(fun.__globals__)].add(_names_in(fun.__code__))
        yield from self._remember(Attributes(fun, fun.__name__))
        for default in (*(fun.__defaults__ or ()), *(fun.__kwdefaults__ or {}).values()):
            yield default, f"a default of {fun.__name__}"

    def _of_object(self, value: Any, name: str) -> Iterator[tuple[Any, str]]:
        kinds = {dict: Items, list: Elements, deque: Elements, set: Members}
        kind = next((kind for base, kind in kinds.items() if isinstance(value, base)), None)
        if kind is not None:
            yield from self._remember(kind(value, name))
        elif isinstance(value, np.ndarray):
            if (
                value.nbytes <= LARGEST_ARRAY
                and value.flags.writeable
                and not value.dtype.hasobject
            ):
                yield from self._remember(Numbers(value, name))
        elif isinstance(value, CellType):
            yield from self._remember(Cell(value, name))
        elif not isinstance(value, GetSetDescriptorType):
            cls = value if isinstance(value, type) else type(value)
            origin = _origin(cls.__module__)
            if origin == "user":
                yield from self._remember(Attributes(value, name))
                yield cls, cls.__name__
                yield from [(base, base.__name__) for base in cls.__bases__]
            elif origin == "own" and value is not cls:
                yield from _wrapped_in(Attributes(value, name).before.values(), name)

    def _remember(self, holder: Holder) -> Iterable[tuple[Any, str]]:
        if id(holder.held) in self._held:  # such as a variable that two functions share
            return ()
        self._held.add(id(holder.held))
        self.holders.append(holder)
        return islice(holder.parts(), MOST_PARTS)


def _wrapped_in(values: Iterable[Any], name: str) -> Iterator[tuple[Any, str]]:
    """What this package's own objects hold of a user's: not the containers, which are caches."""
    for value in values:
        if not isinstance(value, (dict, list, set, deque)):
            yield value, name


def _origin(module: Any) -> str:
    """Whose code a module is: "own", of a "library", or the "user"'s."""
    root = str(module).partition(".")[0]
    return "own" if root == _PACKAGE else "library" if root in _LIBRARIES else "user"


def is_user_module(module: Any) -> bool:
    """Whether a module of that name is neither ours nor one that pictures leave out."""
    return _origin(module) == "user"


@functools.cache
def _names_in(code: CodeType) -> frozenset[str]:
    """The names that code, and the functions written in it, may mean globals by."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return frozenset(code.co_names).union(*map(_names_in, inner))
