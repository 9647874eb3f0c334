"""Uncaught exceptions show the user's frames, and ours only when asked."""

import subprocess
import sys
import traceback

import pytest

import covector as cv

PROGRAM = """
import numpy as np, covector as cv, covector.lax as lax

def inner(x):
    return lax.add(x, np.ones((2, 3), np.float32))

@cv.jit
def outer(x):
    return cv.grad(lambda y: inner(y))(x)

outer(np.ones((4, 5), np.float32))
"""


def printed(tmp_path, **environment):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        env={**__import__("os").environ, **environment},
    )
    assert run.returncode == 1
    return run.stderr


def files(text):
    return [line.split('"')[1] for line in text.splitlines() if line.startswith('  File "')]


def test_only_the_users_frames_are_printed(tmp_path):
    text = printed(tmp_path)
    assert {f.rsplit("/", 1)[-1] for f in files(text)} == {"program.py"}
    assert [line.split(" in ")[1] for line in text.splitlines() if " in " in line][:4] == [
        "<module>",
        "outer",
        "<lambda>",
        "inner",
    ]
    *_, message, note = text.splitlines()
    assert "(4, 5), (2, 3)" in message
    assert note.startswith("For simplicity, this traceback leaves out Covector's own frames.")


def test_all_frames_are_printed_when_asked(tmp_path):
    text = printed(tmp_path, COVECTOR_TRACEBACK_FILTERING="off")
    assert any("covector/_src" in f for f in files(text))
    assert "For simplicity" not in text


def test_caught_exceptions_lose_the_frames_between_the_users():
    @cv.jit
    def f(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        cv.jit(lambda x: f(x))(1.0)
    frames = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    own = [f for f in frames if "covector/_src" in f]
    # One frame at most for each boundary that the exception passed on its way out here.
    assert len(own) <= 3 and frames[-1] == __file__
