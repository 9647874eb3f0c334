"""Two processes of two devices, which compute together."""

import ast
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NAMES = [
    node.name
    for node in ast.parse((HERE / "checks.py").read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")
]


def free_port() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


def together(script: str, *args: str) -> list[subprocess.CompletedProcess]:
    """Run a script in two processes at once, which get their number, a port and the arguments."""
    port = free_port()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    processes = [
        subprocess.Popen(
            [sys.executable, str(HERE / script), str(number), port, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for number in range(2)
    ]
    try:
        outs = [process.communicate(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [
        subprocess.CompletedProcess(process.args, process.returncode, *out)
        for process, out in zip(processes, outs)
    ]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def results(cache):
    """Of each process what went wrong, by the names of the checks."""
    found = []
    for child in together("checks.py", str(cache)):
        lines = [line for line in child.stdout.splitlines() if line.startswith("{")]
        assert lines, child.stdout[-2000:] + child.stderr[-4000:]
        found.append((child.returncode, json.loads(lines[-1])))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_check(results, name):
    for _, errors in results:
        assert name in errors, "not reached, since another check failed"
        assert errors[name] is None, errors[name]


def test_both_end_well(results):
    assert [code for code, _ in results] == [0, 0]


def test_programs_are_kept_on_disk(results, cache):
    """Both write into one folder, and leave nothing unfinished there."""
    names = [path.name for path in cache.iterdir()]
    assert len(names) > 20 and all(name.endswith(".xla") for name in names)


def test_an_error_of_one_process_ends_the_others():
    first, second = together("failing.py")
    assert second.returncode == 1 and "ValueError: no more data" in second.stderr
    assert first.returncode == 1
    assert "Process 1 has ended by an error: ValueError: no more data." in first.stderr
    assert "finished" not in first.stdout


def test_example():
    child = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "processes.py")],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COVECTOR_NUM_CPU_DEVICES": "1"},
    )
    assert child.returncode == 0, child.stderr[-4000:]
    lines = [line for line in child.stdout.splitlines() if line.startswith("process")]
    of_first, of_second = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    assert [line.replace("process 1", "process 0") for line in of_second] == of_first
    assert of_first[0] == "process 0 of 2: 1 of 2 devices"
    assert "a batch of shape (128, 2), Array(shape=(128, 2), dtype=float32)" in of_first[1]
    losses = [float(re.findall(r"loss (.*)", line)[0]) for line in of_first[2:]]
    assert losses[1] < 0.5 * losses[0]
