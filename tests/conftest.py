"""What the tests share: the oracle, and a configuration that nothing leaks out of."""

import gc
import os

import pytest

# JAX, where a test compares with it, runs on the CPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# XLA's options for the oracle's programs. They run once, on a few numbers: what makes them faster
# takes more time to do than it saves, and compiling is most of what the tests wait for. Covector's
# own programs are compiled as its users' are.
OF_THE_ORACLE = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}


@pytest.fixture(scope="session")
def jax():
    """JAX 0.10.2, the oracle; tests that need it are skipped where it is not installed."""
    jax = pytest.importorskip("jax", reason="the oracle is not installed here")
    compile_quickly(pytest.importorskip("jax._src.compiler"))
    return jax


def compile_quickly(compiler):
    """Let JAX's compiler add our options to those of each program, which count before them."""
    options_of = compiler.get_compile_options

    def options(*args, env_options_overrides=None, **rest):
        given = {**OF_THE_ORACLE, **(env_options_overrides or {})}
        return options_of(*args, env_options_overrides=given, **rest)

    compiler.get_compile_options = options


@pytest.fixture(scope="module")
def optimized_jax(jax):
    """JAX with its usual options for the rest of a file: see who asks for it, and why."""
    quick = dict(OF_THE_ORACLE)
    OF_THE_ORACLE.clear()
    jax.clear_caches()  # of what was compiled without them
    yield jax
    OF_THE_ORACLE.update(quick)


@pytest.fixture
def only_new_garbage():
    """The garbage collector looks at what a test makes, not at millions of objects before it."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def without_kernels():
    """Programs are made of XLA's operations, also where Covector's own kernels are installed."""
    from covector._src.base import config  # not before the platform is chosen

    with config.native_kernels(False):
        yield
