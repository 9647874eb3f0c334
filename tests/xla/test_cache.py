"""Compiled programs on disk: found again, never trusted blindly, bounded, and off when asked."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from covector._src.xla import cache

PROGRAM = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, format="%(message)s", stream=sys.stdout)
import covector as cv, covector.numpy as jnp
print("result", float(cv.jit(lambda x: jnp.sin(x) * 3)(2.0)))
"""


# What the log says of where a program came from.
COMPILED = "Finished XLA compilation of jit(<lambda>)"
LOADED = "Finished loading the compiled jit(<lambda>) from disk"


def run(folder: Path, code: str = PROGRAM, **environment: str) -> tuple[str, str]:
    environment = {
        **os.environ,
        "COVECTOR_COMPILATION_CACHE_DIR": str(folder),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def result(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("result"))


def programs(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.xla"))


def test_a_second_process_compiles_nothing(tmp_path):
    first, _ = run(tmp_path)
    second, _ = run(tmp_path)
    assert COMPILED in first and LOADED not in first
    assert LOADED in second and COMPILED not in second
    assert result(first) == result(second)


@pytest.mark.parametrize("damage", [b"", b"not a program", None])
def test_a_damaged_file_is_compiled_again(tmp_path, damage):
    first, _ = run(tmp_path)
    for path in programs(tmp_path):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] + b"?" if damage is None else damage)
    again, warned = run(tmp_path)
    assert COMPILED in again and result(again) == result(first)
    assert "is damaged" in warned
    healed, quiet = run(tmp_path)
    assert LOADED in healed and "damaged" not in quiet


def test_options_of_xla_are_part_of_the_key(tmp_path):
    run(tmp_path)
    other, _ = run(tmp_path, XLA_FLAGS="--xla_cpu_enable_fast_math=false")
    assert COMPILED in other


@pytest.mark.parametrize(
    "name", ["COVECTOR_ENABLE_COMPILATION_CACHE", "JAX_ENABLE_COMPILATION_CACHE"]
)
def test_off_by_environment_variable(tmp_path, name):
    run(tmp_path, **{name: "0"})
    assert not programs(tmp_path)


def test_off_by_flag(tmp_path):
    code = PROGRAM.replace(
        "print", "cv.config.update('jax_enable_compilation_cache', False)\nprint"
    )
    run(tmp_path, code)
    assert not programs(tmp_path)


def test_a_folder_that_cannot_be_written_only_warns(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    text, warned = run(blocked / "cache")
    assert result(text).startswith("result 2.7")
    assert "could not be kept" in warned


def test_a_killed_writer_leaves_nothing_that_is_read(tmp_path):
    """A process is killed again and again while it writes; every file with a name is whole."""
    code = (
        "import os\nfrom pathlib import Path\nfrom covector._src.xla import cache\nimport hashlib\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "payload = os.urandom(4_000_000)\n"
        "content = cache._MAGIC + hashlib.sha256(payload).digest() + payload\n"
        "print('ready', flush=True)\n"
        "i = 0\nwhile True:\n"
        "    cache._write_atomically(folder, f'{os.getpid()}-{i % 5}', content)\n"
        "    i += 1\n"
    )
    for pause in (0.01, 0.03, 0.05):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    for path in programs(tmp_path):
        assert cache._verified(path.read_bytes()) is not None


def test_what_was_used_least_recently_goes_first(tmp_path):
    for i in range(5):
        path = tmp_path / f"{i}.xla"
        path.write_bytes(bytes(100))
        os.utime(path, (i + 1, i + 1))
    (tmp_path / "writing-old").write_bytes(b"half")
    os.utime(tmp_path / "writing-old", (1, 1))
    (tmp_path / "writing-new").write_bytes(b"half")
    cache.sweep(tmp_path, 250)
    assert {p.name for p in tmp_path.iterdir()} == {"3.xla", "4.xla", "writing-new"}


def test_no_limit_keeps_everything(tmp_path):
    (tmp_path / "a.xla").write_bytes(bytes(1000))
    cache.sweep(tmp_path, -1)
    cache.sweep(tmp_path, None)
    assert programs(tmp_path)


def test_processes_share_a_folder(tmp_path):
    environment = {**os.environ, "COVECTOR_COMPILATION_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    texts = [process.communicate()[0] for process in running]
    assert len({result(text) for text in texts}) == 1
    assert all(cache._verified(p.read_bytes()) is not None for p in programs(tmp_path))
