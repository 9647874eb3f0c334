"""For those who call the compiler, or change what it does: passes, options, modules, platforms."""

import inspect
import subprocess
import sys

import jax
import jax.extend.backend
import jax.extend.mlir
import jax.extend.xla
import numpy as np
import pytest
from jax.interpreters import pxla as pxla_in_jax

import covector as cv
import covector.numpy as jnp
from covector.extend import backend, lowering, mlir, xla
from covector.interpreters import pxla


@pytest.mark.parametrize("stage", list(xla.PipelineStage))
def test_passes(stage):
    seen = []
    xla.register_hlo_module_transformation(seen.append, name="look", stage=stage)
    try:
        out = cv.jit(lambda x: jnp.sin(x) + 0.625)(0.0)
        assert float(out) == 0.625
        assert len(seen) == 1 and b"sine" in seen[0]
    finally:
        assert xla.clear_hlo_module_transformation("look", stage)
    assert not xla.clear_hlo_module_transformation("look", stage)
    cv.jit(lambda x: jnp.sin(x) + 0.25).lower(0.0).compile()
    assert len(seen) == 1


def test_a_pass_changes_programs_and_what_is_on_disk_is_not_used():
    other = jax.jit(lambda x: jax.numpy.cos(x)).lower(1.0).compile()
    as_cosine = other.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    sine = lambda: cv.jit(lambda x: jnp.sin(x))  # noqa: E731
    assert float(sine()(0.0)) == 0
    xla.register_hlo_module_transformation(lambda hlo: as_cosine, name="cosine")
    try:
        assert float(sine()(0.0)) == 1
    finally:
        xla.clear_hlo_module_transformation("cosine")
    assert float(sine()(0.0)) == 0


def test_no_stage():
    with pytest.raises(TypeError, match="stage must be a PipelineStage enum, got <class 'int'>"):
        xla.register_hlo_module_transformation(lambda hlo: None, name="a", stage=0)
    with pytest.raises(TypeError, match="stage must be a PipelineStage enum"):
        xla.clear_hlo_module_transformation("a", "now")


def test_options():
    given = 1, 2, np.array([[0, 1]]), {"xla_cpu_enable_fast_math": True}, b"profile"
    ours, theirs = (m.get_compile_options(*given) for m in (backend, jax.extend.backend))
    for name in ("num_replicas", "num_partitions"):
        assert getattr(ours, name) == getattr(theirs, name)
    for name in ("use_spmd_partitioning", "use_shardy_partitioner", "fdo_profile"):
        assert getattr(ours.executable_build_options, name) == getattr(
            theirs.executable_build_options, name
        ), name
    assert str(ours.device_assignment) == str(theirs.device_assignment)
    with pytest.raises(ValueError, match="device_assignment does not match num_replicas"):
        backend.get_compile_options(2, 1, np.array([[0]]))
    with pytest.raises(ValueError, match="device_assignment does not match num_partitions"):
        backend.get_compile_options(1, 1, np.array([[0, 1]]))


def test_options_compile():
    devices = np.array(cv.devices())
    options = pxla.create_compile_options(None, False, [False], [True], None, devices, {})
    module = cv.jit(lambda x: x + 1).lower(1.0).compiler_ir("stablehlo")
    loaded = backend.get_backend().compile_and_load(str(module), list(devices), options)
    out = loaded.execute_sharded([jnp.float32(2.0)._buffer])
    assert np.asarray(out.disassemble_into_single_device_arrays()[0][0]) == 3


def test_modules():
    lowered = cv.jit(lambda x: x + 1).lower(1.0)
    hlo = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
    assert mlir.hlo_to_stablehlo(hlo) == jax.extend.mlir.hlo_to_stablehlo(hlo)
    module = lowered.compiler_ir("stablehlo")
    artifact = mlir.serialize_portable_artifact(module, "1.0.0")
    with module.context:
        again = mlir.deserialize_portable_artifact(artifact)
    assert "stablehlo.add" in str(again)
    context = lowering.JaxIrContext()
    context.append_dialect_registry(lowering.upstream_dialects)
    with context:
        parsed = mlir.ir.Module.parse("func.func @f(%x: i32) -> i32 { return %x : i32 }")
        assert parsed.operation.verify()


PLATFORM = """
import covector as cv
from covector.extend import backend
from covector._src.xla.native import xla_client
made = []
def make():
    made.append("mine")
    return xla_client.make_cpu_client(num_devices=3)
def fail():
    raise RuntimeError("no hardware")
backend.register_backend_factory("gone", fail, priority=900)
backend.register_backend_factory("mine", make, priority=500)
assert len(cv.devices()) == 3 and len(cv.devices("cpu")) == 1 and made == ["mine"]
assert cv.jit(lambda x: 2 * x)(cv.numpy.arange(3)).tolist() == [0, 2, 4]
try:
    backend.register_backend_factory("late", make)
except RuntimeError as error:
    assert "Backend late comes too late" in str(error)
else:
    assert False
class Kept:
    def cache_clear(self):
        made.append("cleared")
backend.register_backend_cache(Kept(), "a test")
before = backend.get_backend()
backend.clear_backends()
assert backend.get_backend() is not before and made == ["mine", "cleared", "mine"]
assert cv.numpy.ones(2).sum() == 2
"""


def test_a_platform_of_ones_own(monkeypatch):
    for name in ("JAX_PLATFORMS", "COVECTOR_PLATFORMS", "XLA_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run([sys.executable, "-c", PLATFORM], check=True)


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (xla.register_hlo_module_transformation, jax.extend.xla.register_hlo_module_transformation),
        (xla.clear_hlo_module_transformation, jax.extend.xla.clear_hlo_module_transformation),
        (backend.get_compile_options, jax.extend.backend.get_compile_options),
        (backend.register_backend_factory, jax.extend.backend.register_backend_factory),
        (pxla.create_compile_options, pxla_in_jax.create_compile_options),
    ],
    ids=lambda f: f.__name__,
)
def test_signatures_are_those_of_jax(ours, theirs):
    given, wanted = (inspect.signature(f).parameters.values() for f in (ours, theirs))
    shown = [(p.name, p.kind, str(p.default)) for p in given]
    assert shown == [(p.name, p.kind, str(p.default)) for p in wanted]
