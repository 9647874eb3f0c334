"""Where eqns come from, for those who write interpreters of jaxprs: places and scopes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..base import source
from ..core.jaxpr import SourceInfo
from ..core.scopes import NameStack, TransformScope
from ..core.trace import Scope, context


def new_name_stack(name: str = "") -> NameStack:
    """The names of no scope, or of one."""
    return NameStack((name,) if name else ())


def new_source_info() -> SourceInfo:
    """An unknown place, in no scope."""
    return SourceInfo(None, 0, NameStack())


def current() -> SourceInfo:
    """The user's place and scopes to which a primitive applied now would be attributed."""
    code, offset = (context.place or source.current_place(2) or (None, 0))[:2]
    return SourceInfo(code, offset, NameStack(context.name_stack))


def current_name_stack() -> NameStack:
    """The names of the scopes that are open now."""
    return NameStack(context.name_stack)


def summarize(source_info: SourceInfo, num_frames: int = 1) -> str:
    """A place as `file:line:column (function)`; "unknown" if it is.

    Args:
      source_info: what is known of an eqn's origin.
      num_frames: has no effect: the innermost frame of the user's is all that is kept.

    >>> from covector.extend import source_info_util
    >>> source_info_util.summarize(source_info_util.new_source_info())
    'unknown'
    """
    return source.describe(source_info.traceback) or "unknown"


def transform_name_stack(name: str) -> Scope:
    """Context manager: what is traced in it is under a transformation of that name."""
    return Scope(TransformScope(name))


@contextmanager
def set_name_stack(name_stack: tuple[str, ...]) -> Iterator[None]:
    """Context manager: what is traced in it is in these scopes, and in no others."""
    outer = context.name_stack
    context.name_stack = tuple(name_stack)
    try:
        yield
    finally:
        context.name_stack = outer


def reset_name_stack():
    """Context manager: what is traced in it is in no scope."""
    return set_name_stack(())


@contextmanager
def user_context(
    traceback: source.Place | None, *, name_stack: tuple[str, ...] | None = None
) -> Iterator[None]:
    """Context manager: what is traced in it is attributed to a given place.

    Args:
      traceback: the place, as in `eqn.source_info.traceback`; None for the caller's own.
      name_stack: the scopes; None for those that are open.

    >>> import covector as cv
    >>> from covector.extend.source_info_util import user_context
    >>> (eqn,) = cv.make_jaxpr(lambda x: cv.lax.neg(x))(1.0).eqns
    >>> def again(x):
    ...     with user_context(eqn.source_info.traceback):
    ...         return cv.lax.sin(x)
    >>> cv.make_jaxpr(again)(1.0).eqns[0].source_line == eqn.source_line
    True
    """
    outer = context.place
    context.place = traceback
    try:
        with set_name_stack(context.name_stack if name_stack is None else name_stack):
            yield
    finally:
        context.place = outer
