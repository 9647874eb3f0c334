"""How a configuration flag works: its values, who sees them, and the key that caches use.

A flag has one value for the whole process, which `config.update` sets, and each thread may cover
it with its own for a while, by using the flag as a context manager:

    process       update ──► shared value ─────────────────┬──────────────┐
    thread                   with flag(v): v covers it     │ no cover     │ no cover
    reader                   flag.value is v          flag.value     flag.value

Reading must cost next to nothing, because every operation does it; changing may be slow, because
few programs do it.  So nothing is looked up at reading time: each thread holds the value that it
sees, and a change writes it into all threads that it concerns.  `threading.local` gives a reader
its thread's value by one lookup in C, hence a flag *is* a `threading.local`.

The values that decide what a trace or an executable looks like are gathered in one object, the
trace key.  There is one such object per combination of values, hashed by its identity, so that
`trace_key()` can be part of any cache's key at the price of one more attribute.
"""

from __future__ import annotations

import difflib
import functools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakValueDictionary

from . import errors
from .flag_kinds import Kind
from .warn import warn

# Held while values change and while a thread meets a flag for the first time: a change must not
# miss a thread that is just about to copy the old value.  Readers never take it.
_changing = threading.RLock()

_UNSET: Any = object()  # no value given; also: this thread does not cover the shared value


# ---------------------------------------------------------------- the trace key


class TraceKey:
    """One combination of values of the flags that affect tracing or compilation.

    Equal combinations are the same object, so it is compared and hashed by identity.
    """

    __slots__ = ("__weakref__", "_tracing", "values")
    values: tuple[Any, ...]
    _tracing: TraceKey | None

    @property
    def tracing(self) -> TraceKey:
        """The key without the flags that only the compiler reads: of what a trace looks like."""
        if self._tracing is None:
            self._tracing = _interned(
                tuple(
                    flag.default if flag.compiler_only else value
                    for flag, value in zip(_tracing_flags, self.values)
                )
            )
        return self._tracing

    def replace(self, index: int, value: Any) -> TraceKey:
        """The key that differs from this one in the flag with this index alone."""
        return _interned((*self.values[:index], value, *self.values[index + 1 :]))

    def differences(self, other: TraceKey) -> dict[str, tuple[Any, Any]]:
        """The flags in which two keys differ, each with the value here and the value there."""
        return {
            flag.name: (here, there)
            for flag, here, there in zip(_tracing_flags, self.values, other.values)
            if here != there
        }

    def __repr__(self) -> str:
        unusual = [
            f"{flag.name}={value!r}"
            for flag, value in zip(_tracing_flags, self.values)
            if value != flag.default
        ]
        return f"TraceKey({', '.join(unusual)})"


# Keys live as long as a thread or a cache holds them; the latest ones live on for a while, since
# the same context manager tends to be entered again.
_keys: WeakValueDictionary[tuple[Any, ...], TraceKey] = WeakValueDictionary()
_latest: deque[TraceKey] = deque(maxlen=64)
_tracing_flags: list[Flag] = []


def _interned(values: tuple[Any, ...]) -> TraceKey:
    key = _keys.get(values)
    if key is None:
        key = TraceKey()
        key.values = values
        key._tracing = None
        _keys[values] = key
        _latest.append(key)
    return key


class _Thread(threading.local):
    """What the current thread sees: its trace key."""

    def __init__(self) -> None:
        # A thread cannot cover a flag without coming here first, so it starts with shared values.
        with _changing:
            self.key = _interned(tuple(flag.shared for flag in _tracing_flags))
            _thread_views[threading.get_ident()] = self.__dict__


_thread_views: dict[int, dict[str, Any]] = {}
_thread = _Thread()

# A C callable: a Python function would cost twice as much.
trace_key: Callable[[], TraceKey] = functools.partial(getattr, _thread, "key")
trace_key.__doc__ = "The current thread's trace key: equal settings give the identical object."


def _live(views: dict[int, dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The views of threads that still run; those of the others are forgotten."""
    running = sys._current_frames()
    for ident in list(views):
        if ident in running:
            yield ident, views[ident]
        else:
            del views[ident]


# ---------------------------------------------------------------- flags


class Flag(threading.local):
    """A setting: `flag.value` reads it, `flag(value)` is a context manager that covers it.

    Args:
      name: the full name, such as "jax_enable_x64".
      default: the value where neither the environment nor the program says otherwise.
      kind: which values are allowed, and how they are read from text.
      description: one or two sentences for the user.
      affects_tracing: whether functions are traced again when the value differs.
      affects_compilation: whether programs are compiled again, of the same traces.
      covering: the value that `flag()` without an argument stands for; none if not given.
    """

    # Slots of a `threading.local` are shared by all threads; everything else is per thread.
    __slots__ = (
        "__name__",
        "_checks",
        "_covering",
        "_listeners",
        "_views",
        "compiler_only",
        "default",
        "description",
        "index",
        "kind",
        "name",
        "shared",
    )

    def __new__(
        cls,
        name: str,
        default: Any,
        kind: Kind,
        description: str,
        *,
        affects_tracing: bool = False,
        affects_compilation: bool = False,
        covering: Any = _UNSET,
    ):
        self = super().__new__(cls, name, default, kind, description)  # pyright: ignore
        self.name = name
        self.default = default
        self.kind = kind
        self._covering = covering
        self._checks = []
        self._listeners = []
        self._views = {}
        self.__name__ = name.removeprefix("jax_")
        self.description = description
        self.shared = default
        self.compiler_only = affects_compilation and not affects_tracing
        in_key = affects_tracing or affects_compilation
        self.index = _add_to_trace_keys(self) if in_key else None
        return self

    def __init__(self, *definition: Any, **options: Any) -> None:
        # Runs again in each thread that meets the flag, with the constructor's arguments.
        with _changing:
            self.value = self.shared
            self._covered = False
            self.__doc__ = self.description  # for help(); a slot would hide the class's own
            self._views[threading.get_ident()] = self.__dict__

    @property
    def affects_tracing(self) -> bool:
        return self.index is not None and not self.compiler_only

    def update(self, value: Any) -> None:
        """Set the value of the whole process; threads that cover the flag keep their own."""
        value = self.accept(value, "config.update")
        for check in self._checks:
            check(value)
        with _changing:
            self.shared = value
            covering = set()
            for ident, view in _live(self._views):
                if view["_covered"]:
                    covering.add(ident)
                else:
                    view["value"] = value
            if self.index is not None:
                for ident, view in _live(_thread_views):
                    if ident not in covering:
                        view["key"] = view["key"].replace(self.index, value)
        self._tell(value)

    def get_global(self) -> Any:
        """The value of the whole process, which threads that cover the flag do not see."""
        return self.shared

    def set_global(self, value: Any) -> None:
        """As `update`."""
        self.update(value)

    def __call__(self, new_val: Any = _UNSET) -> Cover:
        """A context manager (or decorator) under which this thread sees `new_val`."""
        if new_val is _UNSET:
            new_val = self._covering
        if new_val is _UNSET:
            raise TypeError(errors.flag_needs_a_value(self.__name__, self.kind.allowed))
        return Cover((self,), self.accept(new_val, self.__name__))

    def accept(self, value: Any, where: str) -> Any:
        """The value in its normal form, or a ValueError that names the allowed ones."""
        try:
            return self.kind.accept(value)
        except ValueError:
            message = errors.wrong_flag_value(where, self.name, value, self.kind.allowed)
            raise ValueError(message) from None

    def read(self, text: str, where: str) -> Any:
        """The value that a text stands for, or a ValueError that names the allowed ones."""
        try:
            return self.kind.read(text)
        except ValueError:
            message = errors.wrong_flag_value(where, self.name, text, self.kind.allowed)
            raise ValueError(message) from None

    def on_change(self, callback: Callable[[Any], object]) -> Callable[[Any], object]:
        """Call `callback(value)` after each update, and when a context manager enters or exits.

        The call happens in the thread that makes the change.  Returns the callback, so that this
        serves as a decorator.
        """
        self._listeners.append(callback)
        return callback

    def before_update(self, check: Callable[[Any], object]) -> Callable[[Any], object]:
        """Call `check(value)` before each update; what it raises keeps the value as it was."""
        self._checks.append(check)
        return check

    def cover(self, value: Any) -> Any:
        """Let this thread see `value`; returns what `uncover` needs to undo that."""
        with _changing:
            before = self.value if self._covered else _UNSET
            self._show(value, covered=True)
        self._tell(value)
        return before

    def uncover(self, before: Any) -> None:
        """Go back to this thread's outer cover, or to the shared value if there is none."""
        with _changing:
            covered = before is not _UNSET
            value = before if covered else self.shared
            self._show(value, covered)
        self._tell(value)

    def _show(self, value: Any, covered: bool) -> None:
        self.value = value
        self._covered = covered
        if self.index is not None:
            _thread.key = _thread.key.replace(self.index, value)

    def _tell(self, value: Any) -> None:
        for callback in self._listeners:
            callback(value)

    def __bool__(self) -> bool:
        raise TypeError(errors.flag_is_not_its_value(self.__name__))

    def __repr__(self) -> str:
        return f"<flag {self.name}={self.value!r}>"


class GroupFlag(Flag):
    """A flag that sets several others along with itself."""

    __slots__ = ("members",)
    members: tuple[Flag, ...]

    def update(self, value: Any) -> None:
        super().update(value)
        for member in self.members:
            member.update(value)

    def get_global(self) -> Any:
        """The value of the whole process, which threads that cover the flag do not see."""
        return self.shared

    def set_global(self, value: Any) -> None:
        """As `update`."""
        self.update(value)

    def __call__(self, new_val: Any = _UNSET) -> Cover:
        return Cover((self, *self.members), super().__call__(new_val).value)


class Cover:
    """The context manager that a flag gives; it may be entered again inside itself."""

    __slots__ = ("_before", "flags", "value")

    def __init__(self, flags: tuple[Flag, ...], value: Any) -> None:
        self.flags = flags
        self.value = value
        self._before: list[list[Any]] = []

    def __enter__(self) -> None:
        self._before.append([flag.cover(self.value) for flag in self.flags])

    def __exit__(self, *exception: object) -> None:
        for flag, before in zip(self.flags, self._before.pop()):
            flag.uncover(before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def covered(*args: Any, **kwargs: Any) -> Any:
            with Cover(self.flags, self.value):  # its own: other threads may call it meanwhile
                return function(*args, **kwargs)

        return covered


def _add_to_trace_keys(flag: Flag) -> int:
    with _changing:
        index = len(_tracing_flags)
        _tracing_flags.append(flag)
        for _, view in _live(_thread_views):
            view["key"] = _interned((*view["key"].values, flag.shared))
        return index


# ---------------------------------------------------------------- all flags together


class Config:
    """All flags by name: `config.jax_enable_x64` reads one, `config.update` sets one.

    Names are accepted with and without the prefix `jax_`.

    >>> from covector._src.base.flag_kinds import Choice
    >>> config = Config()
    >>> config.add(Flag("jax_colour", "blue", Choice("blue", "green"), "The colour."))
    <flag jax_colour='blue'>
    >>> config.update("jax_colour", "green")
    >>> config.jax_colour, config.colour, config.read("colour")
    ('green', 'green', 'green')
    """

    __slots__ = ("_flags", "_without_effect")
    _flags: dict[str, Flag]
    _without_effect: set[str]

    def __init__(self) -> None:
        object.__setattr__(self, "_flags", {})
        object.__setattr__(self, "_without_effect", set())

    def add(self, flag: Flag) -> Flag:
        """Make a flag known by its name; the environment, if it says anything, sets it."""
        self._flags[flag.name] = flag
        # The first variable that is set counts; the second is the one that JAX's users know.
        for variable in ("COVECTOR_" + flag.__name__.upper(), flag.name.upper()):
            text = os.environ.get(variable)
            if text is not None:
                flag.update(flag.read(text, f"environment variable {variable}"))
                break
        return flag

    def accept_without_effect(self, names: Iterable[str]) -> None:
        """Let programs set what JAX has flags for, and Covector has no use for."""
        self._without_effect.update(names)

    def flag(self, name: str) -> Flag:
        """The flag of this name; AttributeError names the closest one if there is none."""
        found = self._flags.get(name, self._flags.get("jax_" + name))
        if found is None:
            known = {flag.__name__: flag.name for flag in self._flags.values()}
            close = difflib.get_close_matches(name.removeprefix("jax_"), known, n=1)
            raise AttributeError(errors.unknown_flag(name, known[close[0]] if close else None))
        return found

    def update(self, name: str, val: Any) -> None:
        """Set a flag for the whole process.

        Raises AttributeError for an unknown name and ValueError for a value out of range. A flag
        that only JAX has means nothing here: a warning says so.
        """
        if name in self._without_effect:
            warn(errors.flag_without_effect(name, val))
        else:
            self.flag(name).update(val)

    def read(self, name: str) -> Any:
        """The value of a flag as the current thread sees it."""
        return self.flag(name).value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.flag(name).value

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(errors.flag_is_not_assignable(self.flag(name).name, value))

    @property
    def x64_enabled(self) -> bool:
        """The older name of `jax_enable_x64`."""
        return self.read("jax_enable_x64")

    @property
    def values(self) -> dict[str, Any]:
        """The values of all flags, by full name."""
        return {name: flag.value for name, flag in self._flags.items()}

    def parse_flags_with_absl(self) -> None:
        """Take flags from the command line: `--jax_name=value`, `--jax_name`, `--nojax_name`.

        Other arguments are passed over, and everything after `--`.  No further package is needed.
        """
        for argument in sys.argv[1:]:
            if argument == "--":
                break
            name, given, text = argument.lstrip("-").partition("=")
            negated = name.startswith("nojax_")
            flag = self._flags.get(name.removeprefix("no") if negated else name)
            if argument.startswith("-") and flag is not None:
                flag.update(flag.read(text, "command line") if given else not negated)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._flags})
