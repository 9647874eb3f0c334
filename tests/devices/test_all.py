"""The tests of this folder, each file in a child process that has eight devices."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = sorted(p.name for p in HERE.glob("test_*.py") if p.name != "test_all.py")
FLAG = "--xla_force_host_platform_device_count=8"


@pytest.mark.parametrize("name", FILES)
def test_file(name):
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    child = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(HERE / name)],
        env=os.environ | {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {FLAG}"},
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stdout[-20_000:] + child.stderr[-2_000:]
    assert " passed" in child.stdout
