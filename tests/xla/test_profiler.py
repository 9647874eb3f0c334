"""Traces and profiles of memory, and what is told of versions, devices and live arrays."""

import gzip
import json

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import profiler

# ---------------------------------------------------------------- traces


def names_in(path):
    data = profiler.ProfileData.from_file(str(path))
    return {event.name for plane in data.planes for line in plane.lines for event in line.events}


def test_trace(tmp_path):
    f = cv.jit(lambda x: jnp.sin(x) @ x)
    x = jnp.ones((8, 8))
    with profiler.trace(tmp_path, create_perfetto_trace=True):
        with profiler.TraceAnnotation("my block"), profiler.StepTraceAnnotation("step", step_num=3):
            f(x).block_until_ready()
        profiler.annotate_function(lambda: None, name="my function")()
    (folder,) = (tmp_path / "plugins" / "profile").iterdir()
    (path,) = folder.glob("*.xplane.pb")
    assert {"my block", "step", "my function"} <= names_in(path)
    with gzip.open(folder / "perfetto_trace.json.gz", "rt") as file:
        content = json.load(file)
    assert "metadata" not in content
    assert "my block" in {event.get("name") for event in content["traceEvents"]}


def test_one_trace_at_a_time(tmp_path):
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()
    with profiler.trace(tmp_path), pytest.raises(RuntimeError, match="already been started"):
        profiler.start_trace(tmp_path)
    with pytest.raises(ZeroDivisionError), profiler.trace(tmp_path):
        1 / 0  # noqa: B018
    with pytest.raises(RuntimeError, match="No profile started"):
        profiler.stop_trace()


def test_annotated_functions_keep_their_names_and_errors():
    @profiler.annotate_function
    def divide(x, y=1):
        """Its text."""
        return x / y

    assert (divide.__name__, divide.__doc__) == ("divide", "Its text.")
    assert divide(6, y=3) == 2
    with pytest.raises(ZeroDivisionError):
        divide(1, y=0)


def test_memory_profile(tmp_path):
    kept = jnp.ones(1000)
    profiler.save_device_memory_profile(tmp_path / "memory.prof")
    written = (tmp_path / "memory.prof").read_bytes()
    assert b"cpu" in written.lower() and b"cpu" in profiler.device_memory_profile("cpu").lower()
    del kept


def test_server_that_does_not_run():
    with pytest.raises(ValueError, match="there is no server"):
        profiler.stop_server()


# ---------------------------------------------------------------- what runs here


def test_environment(capsys, monkeypatch):
    monkeypatch.setenv("COVECTOR_SOMETHING", "7")
    assert cv.print_environment_info() is None
    printed = capsys.readouterr().out
    assert cv.print_environment_info(return_string=True) == printed.rstrip("\n")
    lines = printed.splitlines()
    assert lines[0] == f"covector: {cv.__version__}" and lines[2] == f"numpy:  {np.__version__}"
    assert "device info: cpu-1, 1 local devices" in lines
    assert "COVECTOR_SOMETHING=7" in lines


def test_version():
    assert cv.version.__version__ == cv.__version__
    assert ".".join(map(str, cv.version.__version_info__)) == cv.__version__


def test_live_arrays():
    shape = (7, 13, 3)

    def count():
        return sum(x.shape == shape for x in cv.live_arrays())

    assert count() == 0
    x, y = jnp.ones(shape), jnp.zeros(shape, "bfloat16")
    assert count() == 2 and {str(z.dtype) for z in cv.live_arrays("cpu") if z.shape == shape} == {
        "float32",
        "bfloat16",
    }
    del y
    assert count() == 1
    for z in cv.live_arrays():
        if z.shape == shape:
            z.delete()
    assert x.is_deleted() and count() == 0
