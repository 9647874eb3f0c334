"""Covector under the name of JAX, in a process of its own."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import jax, jax.numpy as jnp
import jax.experimental.checkify, jax._src.traceback_util, jax.extend.core
from jax import lax, P
from jax._src import core as private
from jax.experimental import hijax
from jax.scipy import stats
import covector
assert jax.__version__ == "0.10.2" and jax.__version_info__ == (0, 10, 2)
assert covector.__version__ != jax.__version__ and jax is not covector
assert sys.modules["jax.tree_util"] is covector.tree_util is jax.tree_util
assert jnp is covector.numpy and lax is jax.lax is covector.lax and stats is covector.scipy.stats
assert jnp.__name__ == "covector.numpy" and jnp.__spec__.name == "covector.numpy"
assert jax.jit is covector.jit and P is covector.P and "grad" in dir(jax)
assert jax.grad(lambda x: jnp.sin(x) ** 2)(0.0) == 0.0
assert private.Tracer is jax.core.Tracer and private.trace_state_clean()
assert not jax.jit(lambda: private.trace_state_clean())()
for missing in ("jax.no_such_module", "jax._src.no_such_module", "jax._src.numpy.ufunc"):
    try:
        __import__(missing)
    except ModuleNotFoundError:
        pass
    else:
        raise AssertionError(missing)
try:
    jax.no_such_name
except AttributeError as error:
    assert "module 'jax' has no attribute 'no_such_name'" in str(error)
assert isinstance(jax.new_ref(jnp.ones(3)), jax.Ref)
try:
    hijax.HiType()
except NotImplementedError as error:
    assert "high-level types" in str(error)
assert not isinstance(jnp.ones(3), jax.Ref)
# Libraries ask classes for the library that they are of.
kinds = [type(jnp.ones(3))]
jax.vmap(jax.grad(lambda x: [kinds.append(type(x)), x][1]))(jnp.ones(3))
jax.jit(lambda x: kinds.append(type(x)))(1.0)
assert len(kinds) == 3 and {kind.__module__.split(".")[0] for kind in kinds} == {"jax"}, kinds
from jax._src import api
from jax._src.lax import lax as private_lax
from jax._src.lib.mlir.dialects import hlo
assert api.grad(private_lax.sin)(0.0) == 1.0 and hlo.AddOp and hlo.__name__.endswith("stablehlo")
from jax._src.util import HashablePartial, safe_map
assert safe_map(max, [1, 4], [3, 2]) == [3, 4]
two = [HashablePartial(max, 2, key=abs) for _ in range(2)]
assert two[0] == two[1] != HashablePartial(max, 3, key=abs) and len(set(two)) == 1
assert two[0](-3) == -3
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental import colocated_python, pallas as pl
from jax.extend import ifrt_programs
for absent in (pl.pallas_call, splash.make_splash_mha, colocated_python.colocated_python):
    assert not isinstance(3, absent)
    try:
        absent(3)
    except NotImplementedError as error:
        assert "Covector has no `jax.experimental." in str(error)
jax.jit = "replaced"
assert jax.jit == "replaced" != covector.jit
print(sys.argv[1:], __name__)
"""

INSTALLED = "from covector import as_jax\nas_jax.install()\nas_jax.install()\n"
TOO_LATE = "import sys, types\nsys.modules['jax'] = types.ModuleType('jax')\n" + INSTALLED


def run(*arguments):
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("way", ["install", "program", "module"])
def test_jax_is_covector(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program_for_jax.py"
    path.write_text((INSTALLED if way == "install" else "") + PROGRAM)
    arguments = {
        "install": [path],
        "program": ["-m", "covector.as_jax", path],
        "module": ["-m", "covector.as_jax", "-m", "program_for_jax"],
    }[way]
    code, out, err = run(*arguments, "one", "two")
    assert code == 0, err
    assert out == "['one', 'two'] __main__\n"


def test_jax_that_is_there_already_is_told():
    code, _, err = run("-c", TOO_LATE)
    assert code != 0 and "[as_jax.install] `jax` is imported already" in err


def test_nothing_to_run():
    code, _, err = run("-m", "covector.as_jax")
    assert code == 1 and "usage: python -m covector.as_jax" in err
