"""Events, and those who listen to them."""

import numpy as np
import pytest

import covector as cv
from covector import monitoring

KINDS = [
    ("record_event", "register_event_listener", "unregister_event_listener", ()),
    (
        "record_event_duration_secs",
        "register_event_duration_secs_listener",
        "unregister_event_duration_listener",
        (2.5,),
    ),
    (
        "record_event_time_span",
        "register_event_time_span_listener",
        "unregister_event_time_span_listener",
        (1.0, 2.0),
    ),
    ("record_scalar", "register_scalar_listener", "unregister_scalar_listener", (7,)),
]


@pytest.mark.parametrize("record, register, unregister, values", KINDS)
def test_listeners(record, register, unregister, values):
    heard = []

    def listener(*args, **kwargs):
        heard.append((args, kwargs))

    record = getattr(monitoring, record)
    record("/early", *values)
    getattr(monitoring, register)(listener)
    record("/now", *values, step=1)
    getattr(monitoring, unregister)(listener)
    record("/late", *values)
    assert heard == [(("/now", *values), {"step": 1})]
    with pytest.raises(ValueError):
        getattr(monitoring, unregister)(listener)
    getattr(monitoring, register)(listener)
    monitoring.clear_event_listeners()
    record("/later", *values)
    assert len(heard) == 1


def test_what_covector_tells():
    heard = []
    listener = lambda event, seconds, **details: heard.append((event, seconds, details))  # noqa: E731
    monitoring.register_event_duration_secs_listener(listener)
    try:

        @cv.jit
        def told(x):
            return x + 1

        told(np.ones(3, np.float32))
        told(np.ones(3, np.float32))
    finally:
        monitoring.unregister_event_duration_listener(listener)
    found = [(event, details) for event, _, details in heard if details["fun_name"] == "told"]
    folder = "/jax/core/compile/"
    names = ("jaxpr_trace_duration", "jaxpr_to_mlir_module_duration", "backend_compile_duration")
    assert found == [(folder + name, {"fun_name": "told"}) for name in names]
    assert all(seconds > 0 for _, seconds, _ in heard)
