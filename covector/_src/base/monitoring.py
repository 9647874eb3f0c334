"""Events that libraries and programs tell about, and those who listen to them.

Events have names like paths, `"/covector/..."`. There are four kinds: one that happened, one that
took a while, one with a beginning and an end, and a number that was measured. Covector tells how
long it took to trace, to lower and to compile each function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Listener = Callable[..., Any]

_happened: list[Listener] = []
_lasted: list[Listener] = []
_spanned: list[Listener] = []
_measured: list[Listener] = []

# ---------------------------------------------------------------- telling


def record_event(event: str, **kwargs: str | int) -> None:
    """Tell that an event has happened.

    Args:
      event: its name.
      **kwargs: what else there is to know of it, for the listeners.

    >>> from covector import monitoring
    >>> def listener(event, **details):
    ...     print(event, details)
    >>> monitoring.register_event_listener(listener)
    >>> monitoring.record_event("/my/checkpoint", step=3)
    /my/checkpoint {'step': 3}
    >>> monitoring.unregister_event_listener(listener)
    """
    for listener in tuple(_happened):
        listener(event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Tell how many seconds something took."""
    for listener in tuple(_lasted):
        listener(event, duration, **kwargs)


def record_event_time_span(
    event: str, start_time: float, end_time: float, **kwargs: str | int
) -> None:
    """Tell when something began and ended, in seconds since some point in time."""
    for listener in tuple(_spanned):
        listener(event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float | int, **kwargs: str | int) -> None:
    """Tell a number."""
    for listener in tuple(_measured):
        listener(event, value, **kwargs)


# ---------------------------------------------------------------- listening


def register_event_listener(callback: Listener) -> None:
    """Call `callback(event, **kwargs)` at each `record_event`."""
    _happened.append(callback)


def register_event_duration_secs_listener(callback: Listener) -> None:
    """Call `callback(event, seconds, **kwargs)` at each `record_event_duration_secs`.

    Covector tells how long it took to trace a function, to lower it and to compile it, under the
    names that JAX has for these events: `/jax/core/compile/jaxpr_trace_duration`,
    `jaxpr_to_mlir_module_duration` and `backend_compile_duration`, with the function's name as
    `fun_name`.
    """
    _lasted.append(callback)


def register_event_time_span_listener(callback: Listener) -> None:
    """Call `callback(event, start_time, end_time, **kwargs)` at each `record_event_time_span`."""
    _spanned.append(callback)


def register_scalar_listener(callback: Listener) -> None:
    """Call `callback(event, value, **kwargs)` at each `record_scalar`."""
    _measured.append(callback)


def unregister_event_listener(callback: Listener) -> None:
    """Undo `register_event_listener`; ValueError if the callback is not registered."""
    _happened.remove(callback)


def unregister_event_duration_listener(callback: Listener) -> None:
    """Undo `register_event_duration_secs_listener`; ValueError if it is not registered."""
    _lasted.remove(callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
    """Undo `register_event_time_span_listener`; ValueError if it is not registered."""
    _spanned.remove(callback)


def unregister_scalar_listener(callback: Listener) -> None:
    """Undo `register_scalar_listener`; ValueError if the callback is not registered."""
    _measured.remove(callback)


def clear_event_listeners() -> None:
    """Forget all listeners of all kinds."""
    for listeners in (_happened, _lasted, _spanned, _measured):
        listeners.clear()
