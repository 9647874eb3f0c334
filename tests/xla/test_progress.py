"""The line that says what is being compiled: on terminals, for what takes long, erased at the end.

How the terminal looks is found by a small one made here, of one line; that a real one is known as
such, by a program that runs on one.
"""

import io
import os
import re
import subprocess
import sys
import threading
import time

import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector._src.xla import progress


class Terminal(io.StringIO):
    """Takes what is written, and knows what its line shows at the end."""

    def isatty(self):
        return True

    @property
    def line(self):
        return re.split(r"\x1b\[K", self.getvalue())[-1]


class File(Terminal):
    def isatty(self):
        return False


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Time passes a hundred times as fast."""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_INTERVAL", 0.01)


def wait_for(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def test_a_long_compilation_counts_seconds_and_is_erased(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.Progress("step"):
        assert wait_for(lambda: terminal.getvalue().count("Compiling step") >= 3)
        assert re.fullmatch(r"Compiling step \.\.\. \d+ s", terminal.line)
    assert terminal.line == ""


def test_a_short_one_says_nothing(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 30.0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    start = time.monotonic()
    with progress.Progress("step"):
        pass
    assert terminal.getvalue() == ""
    assert time.monotonic() - start < 5  # and nobody waits for the patience to end


@pytest.mark.parametrize("stream", [File(), None, object()])
def test_nobody_looks(monkeypatch, stream):
    threads = threading.active_count()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.Progress("step"):
        time.sleep(0.1)
        assert threading.active_count() == threads
    assert not isinstance(stream, File) or stream.getvalue() == ""


def test_the_flag_leaves_it_out(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with config.compile_progress(False), progress.Progress("step"):
        time.sleep(0.1)
    assert terminal.getvalue() == ""


def test_errors_pass_and_erase_the_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(KeyError), progress.Progress("step"):
        assert wait_for(terminal.getvalue)
        raise KeyError
    assert terminal.line == ""


def test_a_terminal_that_goes_away_disturbs_nothing(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.Progress("step"):
        assert wait_for(terminal.getvalue)
        terminal.close()
        time.sleep(0.05)
    with progress.Progress("step"):
        pass


def test_of_several_at_a_time_one_has_the_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.Progress("first"):
        assert wait_for(terminal.getvalue)
        with progress.Progress("second"):
            time.sleep(0.1)
        assert "second" not in terminal.getvalue()
    assert terminal.line == ""


def test_compilations_of_jit(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def slow(x):
        for i in range(40):
            x = jnp.sort(jnp.sin(x) + i)
        return x

    with config.enable_compilation_cache(False):
        cv.jit(slow)(jnp.ones(8))
    assert "Compiling slow ... 0 s" in terminal.getvalue()
    assert terminal.line == ""


PROGRAM = """
import covector as cv, covector.numpy as jnp
from covector._src.xla import progress
progress.PATIENCE = 0.0
def slow(x):
    for i in range(20):
        x = jnp.sort(jnp.sin(x) + i)
    return x
cv.config.update("jax_enable_compilation_cache", False)
cv.jit(slow)(jnp.ones(8))
"""


def test_a_program_on_a_terminal():
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        subprocess.run([sys.executable, "-c", PROGRAM], stderr=theirs, check=True, timeout=60)
    finally:
        os.close(theirs)
    with open(ours, "rb", buffering=0) as terminal:
        written = terminal.read(2**16).decode()
    assert "\r\x1b[KCompiling slow ... 0 s" in written
    assert written.endswith("\r\x1b[K")
