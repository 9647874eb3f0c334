"""Tiles: which programs XLA's second generator of code is left out for, and that it is."""

import subprocess
import sys

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector._src.base import config
from covector._src.xla.compile import lower_jaxpr
from covector._src.xla.devices import first_device
from covector._src.xla.options import compile_options
from covector._src.xla.tiles import LEAVES_OUT_TILES


def wide(*shape):
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def in_loops(f, *args):
    """Whether writing the program asks for loops only."""
    lowered = lower_jaxpr(cv.make_jaxpr(f)(*args))
    return LEAVES_OUT_TILES in lowered.module_context.generator_options


X, HEADS = wide(4, 6), wide(2, 8, 3, 4)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * x,
        lambda x: jnp.exp(x - x.max(1, keepdims=True)),
        lambda x: jnp.tanh(x[:, :4] @ x),
        cv.grad(lambda x: jnp.tanh(x[:, :4] @ x).sum()),
        lambda x: jnp.where(jnp.arange(6) > 2, x, 0),
        lambda x: jnp.concatenate([x[::-1], jnp.pad(x, 1)[1:-1, 1:-1]]),
        lambda x: cv.lax.scan(lambda c, row: (c + row, c * row), x[0], x),
        lambda x: cv.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x),
        cv.jit(cv.checkpoint(lambda x: jnp.sin(x) / 2)),
    ],
)
def test_arithmetic_and_products_of_matrices_are_written_as_loops(f):
    assert in_loops(f, X)
    with config.parity(True):
        assert not in_loops(f, X)


@pytest.mark.parametrize(
    "f",
    [
        jnp.transpose,
        lambda x: x.T + 1,
        cv.jit(lambda x: x.T + 1),
        lambda x: x + jnp.arange(6.0),
        lambda x: cv.lax.fori_loop(0, 2, lambda i, x: x.T + i, x[:, :4]),
        lambda x: cv.lax.cond(x[0, 0] > 0, lambda x: x[:, :4].T, lambda x: x[:, :4], x),
        lambda x: jnp.cumsum(x, 1) + jnp.sort(x, 1),
    ],
)
def test_transpositions_counts_in_floats_and_what_is_not_fused_are_not(f):
    assert not in_loops(f, X)


def test_products_that_transpose_their_operands_are_not():
    assert in_loops(lambda x: jnp.einsum("abij,abkj->abik", x, x), HEADS)
    assert not in_loops(lambda x: jnp.einsum("aibj,akbj->abik", x, x), HEADS)


def test_large_programs_that_mostly_multiply_are():
    def chain(x, turns, matrix):
        for _ in range(turns):
            x = jnp.sin(matrix @ x).T.reshape(x.shape)
        return x

    square, x = wide(600, 600), wide(600, 2)
    assert in_loops(lambda x: chain(x, 60, square), x)
    assert not in_loops(lambda x: chain(x, 2, square), x)
    assert not in_loops(lambda x: chain(x, 60, square[:9, :9]), x[:9])


def test_the_option_reaches_the_compiler_beside_all_others():
    options = compile_options(
        (first_device(),),
        {"xla_backend_optimization_level": 2},
        disabled_passes=["b"],
        generator_options={LEAVES_OUT_TILES},
    )
    assert LEAVES_OUT_TILES.encode() in options.SerializeAsString()
    build = options.executable_build_options
    assert build.debug_options.xla_disable_hlo_passes == "b"
    assert list(options.env_option_overrides) == [("xla_backend_optimization_level", 2)]
    usual = compile_options((first_device(),), None).executable_build_options
    assert repr(build.device_assignment) == repr(usual.device_assignment)
    assert build.num_partitions == usual.num_partitions


def test_the_compiler_knows_the_option(tmp_path):
    """If this fails on a new version of XLA, `tiles.py` may have become superfluous."""
    code = (
        "import covector as cv, numpy as np\n"
        "x = np.ones((512, 512), np.float32)\n"
        "for parity in (True, False):\n"
        "    cv.config.update('jax_parity', parity)\n"
        "    cv.jit(lambda x: cv.lax.exp(x)).lower(x).compile()\n"
    )
    environment = {
        "XLA_FLAGS": f"--xla_dump_to={tmp_path}",
        "JAX_ENABLE_COMPILATION_CACHE": "0",
        "PATH": "",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    dumps = [path for path in sorted(tmp_path.glob("*ir-no-opt.ll")) if "exp" in path.name]
    if not dumps:
        pytest.skip("this version of XLA does not dump the code of kernels")
    parity, ours = (path.read_text() for path in dumps)
    assert "vector<" in parity or " x float>" in parity
    assert " x float>" not in ours
