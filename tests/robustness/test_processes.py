"""Processes: JAX, which may be installed too, stays away; and forks are warned of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRINTED = """\
bool [False, True] (0,) ()
int8 [0, 1] (0,) ()
uint16 [0, 1] (0,) ()
int32 [0, 1] (0,) ()
float16 [0.0, 1.0] (0,) ()
float32 [0.0, 1.0] (0,) ()
complex64 [0j, (1+0j)] (0,) ()
jax False
['RuntimeWarning'] True
[os.fork] the process is copied without the threads in which XLA computes: the copy will wait for \
ever when it applies an operation. Start processes that use Covector by \
`multiprocessing.get_context("spawn")`.
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_reading_arrays_imports_no_jax_and_forks_are_warned_of():
    program = Path(__file__).with_name("processes.py")
    environment = {**os.environ, "COVECTOR_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=100, env=environment
    )
    assert (done.stdout, done.stderr, done.returncode) == (PRINTED, "", 0)
