"""The tests of this folder, in a child process that has eight devices."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = sorted(p.stem for p in HERE.glob("test_*.py") if p.name != "test_all.py")
FLAG = "--xla_force_host_platform_device_count=8"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Of each file how many of its tests ran, and what went wrong in them."""
    report = tmp_path_factory.mktemp("devices") / "report.xml"
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--junit-xml={report}"]
    child = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(HERE)],
        env=os.environ | {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {FLAG}"},
        capture_output=True,
        text=True,
    )
    assert report.exists(), child.stdout + child.stderr
    found = {name: (0, []) for name in FILES}
    for case in ElementTree.parse(report).iter("testcase"):
        where = f"{case.get('classname')}.{case.get('name')}"
        (name,) = [name for name in FILES if name in where.split(".")]
        wrong = [f"{where}\n{x.text}" for x in case if x.tag in ("failure", "error")]
        found[name] = found[name][0] + 1, found[name][1] + wrong
    return found


@pytest.mark.parametrize("name", FILES)
def test_file(outcomes, name):
    count, wrong = outcomes[name]
    assert not wrong, "\n\n".join(wrong)
    assert count, "none of its tests ran"
