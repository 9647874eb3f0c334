"""Calls from compiled programs back into Python.

XLA calls a `HostCallback` on a thread of its own, while the thread that started the program has
gone on.  If it raises, XLA fails the program and all that depends on its results, with a text.  The
exception itself is kept here, under a number that the text carries, until somebody comes upon the
failure: who waits for a result, or for the program.

Within a program the order of effects is kept by tokens; among programs by waiting, before one with
ordered effects begins, for the last such one.
"""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import callback_errors as errors
from ..base import dtypes
from ..base.logs import logger
from ..core.avals import AbstractValue
from ..core.trace import current_trace, eval_trace
from ..ops.physical import physical_aval
from .array import ArrayImpl, move, put
from .devices import first_device, local_devices
from .failures import failure_behind, is_told, keep_failure
from .native import xla_client
from .placement import Placement, placement_on

# How many programs with callbacks may be under way before another one waits for the first.
PROGRAMS_UNDER_WAY = 32


class _Calls(threading.local):
    """Whether this thread is inside a callback: the program it belongs to waits for it."""

    depth = 0


calls = _Calls()


def callback_target(platform: str) -> str:
    """The name under which XLA knows what calls Python on a platform."""
    kinds = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "rocm": "gpu"}
    if platform not in kinds:
        raise NotImplementedError(errors.no_callbacks_on(platform))
    return f"xla_ffi_python_{kinds[platform]}_callback"


class HostCallback:
    """What XLA calls with NumPy arrays, after a token if the call has its place in an order."""

    __slots__ = ("fun", "in_avals", "name", "ordered", "out_avals")

    def __init__(
        self,
        fun: Callable[..., Any],
        name: str,
        in_avals: Sequence[AbstractValue],
        out_avals: Sequence[AbstractValue],
        ordered: bool,
    ):
        self.fun = fun
        self.name = name
        self.in_avals = in_avals
        self.out_avals = out_avals
        self.ordered = ordered

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        token, values = (args[:1], args[1:]) if self.ordered else ((), args)
        place = host_placement()
        try:
            # XLA's memory is there for the time of the call: the arrays are copies.
            arrays = [put(x, place, strong(aval)) for x, aval in zip(values, self.in_avals)]
            return (*token, *call(self.fun, self.name, arrays, self.out_avals))
        except BaseException as error:
            number = keep_failure(error)
            text = errors.callback_failed(self.name, self.fun, number)
            if isinstance(error, Exception):
                logger.error("covector.%s failed", self.name, exc_info=error)
            raise RuntimeError(text) from None


def call(
    fun: Callable[..., Any],
    name: str,
    arrays: Sequence[ArrayImpl],
    out_avals: Sequence[AbstractValue],
) -> list[np.ndarray]:
    """Call a function of arrays, and check what it returns."""
    calls.depth += 1
    try:
        with current_trace(eval_trace):
            outs = list(fun(*arrays))
            if len(outs) != len(out_avals):
                text = errors.wrong_number_of_outputs(name, len(out_avals), len(outs))
                raise RuntimeError(text)
            return [
                checked_output(name, i, out, physical_aval(aval))
                for i, (out, aval) in enumerate(zip(outs, out_avals))
            ]
    finally:
        calls.depth -= 1


def checked_output(name: str, position: int, value: Any, aval: Any) -> np.ndarray:
    """What a callback returned as an array of the promised type."""
    out = np.asarray(value, order="C")
    if out.dtype == object:
        raise TypeError(errors.output_not_an_array(name, position, value))
    if out.dtype != aval.dtype:  # a Python float, say: it is of the default width
        out = out.astype(dtypes.canonicalize_dtype(out.dtype), copy=False)
    if out.shape != aval.shape:
        raise RuntimeError(errors.wrong_output(name, "shape", position, aval.shape, out.shape))
    if out.dtype != aval.dtype:
        raise RuntimeError(errors.wrong_output(name, "dtype", position, aval.dtype, out.dtype))
    return out


def strong(aval: Any) -> Any:
    """The type of an array whose dtype was decided when the program was compiled."""
    return aval.update(weak_type=False)


def host_placement() -> Placement | None:
    """Where callbacks find their arguments: on the CPU."""
    if first_device().platform == "cpu":
        return None
    return placement_on(local_devices(backend="cpu")[0], True)


def call_on_host(
    fun: Callable[..., Any],
    name: str,
    arrays: Sequence[ArrayImpl],
    out_avals: Sequence[AbstractValue],
    placement: Placement | None,
) -> list[ArrayImpl]:
    """Call a function without a compiled program around it.

    Args:
      fun, name, out_avals: as for `call`.
      arrays: the arguments.
      placement: of the results.
    """
    place = host_placement()
    arrays = [x if x._first_device.platform == "cpu" else move(x, place) for x in arrays]
    outs = call(fun, name, arrays, out_avals)
    return [put(x, placement, aval) for x, aval in zip(outs, out_avals)]


# ---------------------------------------------------------------- programs under way


class _UnderWay:
    """The programs with callbacks that have been started and not been waited for."""

    def __init__(self) -> None:
        self.all: deque[Any] = deque()
        self.ordered: Any = None
        self.failed: BaseException | None = None  # the first failure that nobody was told of

    def started(self, token: Any, ordered: bool) -> None:
        self.all.append(token)
        if ordered:
            self.ordered = token
        if len(self.all) > PROGRAMS_UNDER_WAY and not calls.depth:
            self.settle(self.all.popleft())

    def wait_for_order(self) -> None:
        """Wait for the last program with ordered effects, unless this is a part of it."""
        token = self.ordered
        if token is not None and not calls.depth:
            self.ordered = None
            failed = self.failure_of(token)
            if failed is not None:
                raise failed

    def failure_of(self, token: Any) -> BaseException | None:
        """Wait; returns the failure if there is one that nobody has come upon."""
        try:
            token.block_until_ready()
        except xla_client.XlaRuntimeError as error:
            return None if is_told(error) else failure_behind(error)
        return None

    def settle(self, token: Any) -> None:
        """Wait, and keep a failure for who asks."""
        failed = self.failure_of(token)
        self.failed = self.failed or failed

    def wait_for_all(self) -> None:
        """Wait for all; the first failure is raised."""
        self.ordered = None
        while self.all:
            self.settle(self.all.popleft())
        failed, self.failed = self.failed, None
        if failed is not None:
            raise failed


under_way = _UnderWay()


class Launch:
    """How a program with callbacks is started: as any other, but it is known to be under way."""

    __slots__ = ("execute", "ordered")

    def __init__(self, execute: Callable[..., Any], ordered: bool):
        self.execute = execute
        self.ordered = ordered

    def __call__(self, buffers: list[Any]) -> Any:
        if self.ordered:
            under_way.wait_for_order()
        results = self.execute(buffers, with_tokens=True)
        under_way.started(results.consume_token(), self.ordered)
        return results


def effects_barrier() -> None:
    """Wait until all callbacks of the programs that have been started have run.

    Compiled programs run in the background, and so do the callbacks in them. If one of them raised
    an exception that has not reached anybody, it is raised here.

    >>> import covector as cv
    >>> calls = []
    >>> cv.jit(lambda x: cv.debug.callback(calls.append, x))(1.0)
    >>> cv.effects_barrier()
    >>> calls
    [Array(1., dtype=float32)]
    """
    if calls.depth:
        raise RuntimeError(errors.barrier_in_callback())
    under_way.wait_for_all()


@atexit.register
def _finish() -> None:
    """Let callbacks run before Python ends; their failures have been logged."""
    try:
        effects_barrier()
    except BaseException:
        return
