"""Every flag is read somewhere: none is accepted and then ignored."""

import logging
import re
from pathlib import Path

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config

PACKAGE = Path(cv.__file__).parent

# Flags of parts that are not there yet: their values are kept for programs that set them.
AWAITED = {
    "distributed computation": {
        *("thread_guard", "distributed_debug", "cpu_collectives_implementation"),
        *("use_shardy_partitioner", "auto_pcast", "remove_size_one_mesh_axis_from_type"),
    },
    "mutable arrays": {"mutable_array_checks"},
    "export": {"export_calling_convention_version"},
    "error checking within programs": {
        *("error_checking_behavior_nan", "error_checking_behavior_divide"),
        "error_checking_behavior_oob",
    },
    "neural networks": {"softmax_custom_jvp"},
    "checkpoints": {"log_checkpoint_residuals"},
    "random numbers on GPUs": {"threefry_gpu_kernel_lowering"},
}


def is_read(name, texts):
    """Whether one of the texts reads a flag."""
    reading = re.compile(rf"\bconfig\.{name}\b|import .*\b{name}\b|\b{name}\.value\b")
    return any(name in text and reading.search(text) for text in texts)


def names():
    return [flag.__name__ for flag in config.config._flags.values()]


def test_every_flag_has_a_reader():
    awaited = set().union(*AWAITED.values())
    assert awaited <= set(names())
    group = {"transfer_guard"}  # sets the three others
    files = [p for p in PACKAGE.rglob("*.py") if p.name not in ("config.py", "__init__.py")]
    texts = [path.read_text() for path in files]
    unread = {name for name in names() if not is_read(name, texts)} - group
    assert unread <= awaited, unread - awaited


@pytest.mark.parametrize("name", ["optimization_level", "exec_time_optimization_effort"])
def test_what_only_the_compiler_reads_makes_no_new_traces(name):
    values = {"optimization_level": "O1", "exec_time_optimization_effort": 0.5}
    traces = []
    f = cv.jit(lambda x: traces.append(x) or x + 1)
    f(1.0)
    with cv._test_event_counter("count_jit_compilation_cache_miss") as compilations:
        with getattr(config, name)(values[name]):
            f(1.0)
            f(1.0)
        f(1.0)
    assert len(traces) == 1 and compilations() == 1


def test_no_tracing_and_no_execution():
    f = cv.jit(lambda x: x + 1)
    f(1.0)
    with cv.no_tracing():
        f(2.0)
        with pytest.raises(RuntimeError, match="new types, but the flag 'no_tracing' is on"):
            f(jnp.ones(3))
    with cv.no_execution():
        cv.jit(lambda x: x).lower(1.0).compile()
        for run in (lambda: f(1.0), lambda: jnp.sin(1.0)):
            with pytest.raises(RuntimeError, match="would run, but the flag 'no_execution' is on"):
                run()
    assert f(1.0) == 2.0


def test_programs_are_written_to_files(tmp_path):
    with config.dump_ir_to(str(tmp_path)), config.dump_ir_modes("stablehlo,jaxpr"):
        cv.jit(lambda x: jnp.sin(x)).lower(1.0)
    text, jaxpr = sorted(tmp_path.iterdir(), key=lambda path: path.suffix)
    assert "stablehlo.sine" in text.read_text() and "loc(" in text.read_text()
    assert jaxpr.read_text() == "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }"


def test_file_names_in_programs():
    def text(x):
        return cv.jit(lambda x: jnp.cos(x)).lower(x).as_text(debug_info=True)

    assert str(PACKAGE.parent) in text(1.0)
    with config.hlo_source_file_canonicalization_regex(str(PACKAGE.parent)):
        assert str(PACKAGE.parent) not in text(1.0)


def test_large_constants_are_warned_of():
    captured = jnp.arange(1000.0)
    text = r"constants were captured during lowering: 0.0 MB in 1 arrays, .*1000"
    warned = pytest.warns(UserWarning, match=text)
    with config.captured_constants_warn_bytes(4000), warned:
        cv.jit(lambda x: x + captured).lower(1.0)
    cv.jit(lambda x: x * captured).lower(1.0)


def test_levels_of_the_logger():
    logger = logging.getLogger("covector")
    before = logger.level
    try:
        config.update("jax_logging_level", "ERROR")
        assert logger.level == logging.ERROR
    finally:
        config.update("jax_logging_level", "NOTSET")
        logger.setLevel(before)
    with config.debug_log_modules("covector.some_module"):
        assert logging.getLogger("covector.some_module").level == logging.DEBUG
    assert logging.getLogger("covector.some_module").level == logging.NOTSET


def test_log_compiles(caplog):
    with cv.log_compiles(True):
        cv.jit(lambda x: x - 7)(1.0)
    texts = [record.getMessage() for record in caplog.records]
    assert any(text.startswith("Finished tracing <lambda> for jit in ") for text in texts)
    assert any("MLIR module conversion jit(<lambda>)" in text for text in texts)
    assert any(" jit(<lambda>) " in text and text.startswith("Finished ") for text in texts)
    assert all(record.levelname == "WARNING" for record in caplog.records)


def test_guards_of_transfers():
    f = cv.jit(lambda x: x + 1)
    f(np.arange(3))
    with cv.transfer_guard("disallow"):
        x = cv.device_put(np.arange(3))  # which is asked for in so many words
        f(x)
        with pytest.raises(RuntimeError, match="Disallowed host-to-device transfer"):
            f(np.arange(3))
    forbidden = pytest.raises(RuntimeError, match="Disallowed host-to-device transfer")
    with cv.transfer_guard_host_to_device("disallow_explicit"), forbidden:
        cv.device_put(np.arange(3))
    f(np.arange(3))
