"""Ctrl-C: it reaches the user, and the next call works."""

import subprocess
import sys
from pathlib import Path


def test_interrupts_end_whatever_is_going_on_and_break_nothing():
    program = Path(__file__).with_name("interrupted.py")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr, done.returncode) == ("end\n", "", 0)
