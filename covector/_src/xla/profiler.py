"""Traces of what a program does over time, for TensorBoard and Perfetto; use of device memory."""

from __future__ import annotations

import functools
import gzip
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

from jaxlib import _profile_data, _profiler

from ..base import profiler_errors as errors
from .devices import client, first_device, local_devices, platforms
from .native import version

ProfileData = _profile_data.ProfileData
ProfileEvent = _profile_data.ProfileEvent
ProfilePlane = _profile_data.ProfilePlane
ProfileOptions = _profiler.ProfileOptions

# Where Perfetto's page, in the browser, may fetch a trace from.
PERFETTO_PORT = 9001


class Session(NamedTuple):
    """A trace that is running."""

    session: Any
    log_dir: str
    perfetto: bool
    link: bool


class _State:
    session: Session | None = None
    server: Any = None
    port = 0


_lock = threading.Lock()

# ---------------------------------------------------------------- traces


def start_trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> None:
    """Begin to record what the CPU, accelerators and Python do, until `stop_trace`.

    Args:
      log_dir: the folder for the trace, such as that of a TensorBoard log.
      create_perfetto_link: whether `stop_trace` prints a link to Perfetto's page with the trace,
        and waits until it is opened.
      create_perfetto_trace: whether `stop_trace` also writes `perfetto_trace.json.gz`, which
        Perfetto can open.
      profiler_options: a `ProfileOptions`.

    Raises:
      RuntimeError: a trace is running.
    """
    with _lock:
        if _State.session is not None:
            raise RuntimeError(errors.already_tracing(_State.session.log_dir))
        first_device()  # a plugin that starts later would be missing from the trace
        _profiler.clear_metadata()
        _profiler.set_metadata("jaxlib_version", version)
        for platform in platforms():
            _profiler.set_metadata(f"{platform}_version", client(platform).platform_version)
        session = _profiler.ProfilerSession(profiler_options or ProfileOptions())
        perfetto = create_perfetto_trace or create_perfetto_link
        _State.session = Session(session, os.fspath(log_dir), perfetto, create_perfetto_link)


def stop_trace() -> None:
    """End the trace that `start_trace` began, and write it.

    Raises:
      RuntimeError: no trace is running.
    """
    with _lock:
        running, _State.session = _State.session, None
        if running is None:
            raise RuntimeError(errors.no_trace())
        running.session.stop_and_export(running.log_dir)
        _profiler.clear_metadata()
        if running.perfetto:
            path = _write_for_perfetto(Path(running.log_dir))
            if running.link:
                _serve_once(path)


@contextmanager
def trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: Any = None,
) -> Iterator[None]:
    """Record what happens in the block; the arguments are those of `start_trace`.

    >>> import tempfile, covector as cv, covector.numpy as jnp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with cv.profiler.trace(folder):
    ...         _ = jnp.ones(3).block_until_ready()
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


def _write_for_perfetto(log_dir: Path) -> Path:
    """The newest trace in a folder without its metadata, which Perfetto refuses."""
    newest = max((log_dir / "plugins" / "profile").iterdir(), key=os.path.getmtime)
    traces = [
        path for path in newest.glob("*.trace.json.gz") if path.name != "perfetto_trace.json.gz"
    ]
    if len(traces) != 1:
        raise ValueError(errors.not_one_trace(newest, len(traces)))
    with gzip.open(traces[0], "rt") as file:
        content = json.load(file)
    content.pop("metadata", None)
    target = newest / "perfetto_trace.json.gz"
    with gzip.open(target, "wt") as file:
        json.dump(content, file)
    return target


def _serve_once(path: Path) -> None:
    """Print a link to Perfetto's page with a file, and serve the file until it was fetched."""

    class Handler(SimpleHTTPRequestHandler):
        def end_headers(self) -> None:
            self.send_header("Access-Control-Allow-Origin", "*")
            super().end_headers()

        def copyfile(self, source: Any, outputfile: Any) -> None:
            shutil.copyfileobj(source, outputfile)
            fetched.append(self.path)

    fetched: list[str] = []
    folder = str(path.parent)
    with HTTPServer(
        ("127.0.0.1", PERFETTO_PORT), functools.partial(Handler, directory=folder)
    ) as s:
        here = f"http://127.0.0.1:{PERFETTO_PORT}/{path.name}"
        print(f"Open the trace in a browser: https://ui.perfetto.dev/#!/?url={here}")
        while f"/{path.name}" not in fetched:
            s.handle_request()


# ---------------------------------------------------------------- names in traces


class TraceAnnotation(_profiler.TraceMe):
    """A block that appears in traces under a name.

    >>> import covector as cv
    >>> with cv.profiler.TraceAnnotation("load batch"):
    ...     batch = [1, 2, 3]
    """


class StepTraceAnnotation(TraceAnnotation):
    """A block that is one step of a training, by which TensorBoard groups what happens.

    Args:
      name: of the step's kind, such as `"train"`.
      **kwargs: `step_num`, the number of the step, and whatever else is to be shown.
    """

    def __init__(self, name: str, **kwargs: Any):
        super().__init__(name, _r=1, **kwargs)


def annotate_function(
    func: Callable[..., Any], name: str | None = None, **decorator_kwargs: Any
) -> Callable[..., Any]:
    """Decorator: each call of the function appears in traces.

    Args:
      func: the function.
      name: under which name; by default its own.
      **decorator_kwargs: whatever else is to be shown.

    >>> import covector as cv
    >>> @cv.profiler.annotate_function
    ... def load(n):
    ...     return list(range(n))
    >>> load(2)
    [0, 1]
    """
    name = name or getattr(func, "__qualname__", None) or func.__name__

    @functools.wraps(func)
    def annotated(*args: Any, **kwargs: Any) -> Any:
        with TraceAnnotation(name, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


# ---------------------------------------------------------------- the server


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Let TensorBoard take traces of this process while it runs.

    Args:
      port: where the server listens.
      requires_backend: whether devices are started first, so that they are part of the traces.

    Returns:
      The server, which runs until `stop_server`.

    Raises:
      ValueError: it runs already.
    """
    with _lock:
        if _State.server is not None:
            raise ValueError(errors.server_runs(_State.port))
        if requires_backend:
            first_device()
        _State.server, _State.port = _profiler.start_server(port), port
        return _State.server


def stop_server() -> None:
    """Stop the server.

    Raises:
      ValueError: there is none.
    """
    with _lock:
        if _State.server is None:
            raise ValueError(errors.no_server())
        _State.server = None


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Let traces of this process include those of another one, whose server runs at a port.

    Args:
      pid: the other process.
      port: of the server that it has started.

    Returns:
      A function that undoes it.
    """
    return _profiler.register_subprocess(pid, port)


# ---------------------------------------------------------------- memory


def device_memory_profile(backend: str | None = None) -> bytes:
    """What the devices' memory holds, and which lines of Python made it.

    Args:
      backend: the name of a platform; by default that of the default device.

    Returns:
      The profile in the format of the tool `pprof`.
    """
    return local_devices(backend=backend)[0].client.heap_profile()


def save_device_memory_profile(filename: Any, backend: str | None = None) -> None:
    """Write `device_memory_profile` to a file."""
    Path(filename).write_bytes(device_memory_profile(backend))


def get_profiled_instructions_proto(tensorboard_dir: str) -> bytes:
    """What each instruction of the programs in a profile cost, for XLA's optimization by profile.

    Args:
      tensorboard_dir: the folder of one trace, `<log_dir>/plugins/profile/<run>`.

    Returns:
      A serialized `ProfiledInstructionsProto` of XLA's; empty unless a GPU of NVIDIA's was traced.
    """
    return _profiler.get_profiled_instructions_proto(tensorboard_dir)
