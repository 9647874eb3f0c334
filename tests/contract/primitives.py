"""All primitives of the package, and what is known to be special about some of them."""

from __future__ import annotations

import functools
import importlib
import pkgutil

import numpy as np

import covector._src
from covector._src.core.primitive import Primitive
from covector._src.numpy.composite import Composite
from covector._src.testing.checks import Case, cases

# Primitives without samples, each with the reason and the place where it is tested instead.
WITHOUT_SAMPLES = {
    "addupdate": "of references, which NumPy lacks: tests/refs",
    "after_all": "has no arrays: tests/ops/test_barrier.py",
    "all_gather": "needs an axis: tests/ops/test_collectives.py",
    "all_gather_invariant": "needs a mesh: tests/devices/test_collectives.py",
    "all_to_all": "needs an axis: tests/ops/test_collectives.py",
    "axis_index": "needs an axis: tests/ops/test_collectives.py",
    "call": "applies a jaxpr: tests/extend/test_calls.py",
    "call_exported": "runs an exported program: tests/export/test_calls.py",
    "check": "computes nothing: tests/checkify",
    "closed_call": "applies a jaxpr: tests/extend/test_calls.py",
    "composite": "applies a jaxpr: tests/ops/test_barrier.py",
    "create_token": "has no arrays: tests/ops/test_barrier.py",
    "custom_jvp_call": "has the user's derivative: tests/compose/test_custom_jvp.py",
    "custom_lin": "is a part of custom_vjp: tests/compose/test_custom_vjp.py",
    "custom_linear_solve": "has the derivative of an equation: tests/control/test_linear_solve.py",
    "custom_root": "has the derivative of an equation: tests/control/test_custom_root.py",
    "custom_vjp_call": "has the user's derivative: tests/compose/test_custom_vjp.py",
    "custom_vmap_call": "has no reverse mode: tests/compose/test_custom_vmap.py",
    "dce_sink": "computes nothing: tests/ops/test_barrier.py",
    "debug_callback": "computes nothing: tests/effects/test_debug.py",
    "debug_print": "computes nothing: tests/effects/test_debug.py",
    "device_put": "moves arrays, and computes nothing: tests/xla/test_placement.py",
    "dim_as_value": "has no arrays: tests/export/test_symbolic.py",
    "empty_ref": "of references, which NumPy lacks: tests/refs",
    "ffi_call": "has no derivative: tests/extend/test_ffi.py",
    "free_ref": "of references, which NumPy lacks: tests/refs",
    "freeze": "of references, which NumPy lacks: tests/refs",
    "get": "of references, which NumPy lacks: tests/refs",
    "inspect_sharding": "computes nothing: tests/effects/test_pictures.py",
    "io_callback": "has no derivative: tests/effects/test_callbacks.py",
    "jit": "applies a jaxpr: tests/compose",
    "layout_constraint": "computes nothing: tests/experimental",
    "new_ref": "of references, which NumPy lacks: tests/refs",
    "pbroadcast": "needs an axis: tests/ops/test_collectives.py",
    "platform_index": "depends on the platform: tests/control/test_platform_dependent.py",
    "ppermute": "needs an axis: tests/ops/test_collectives.py",
    "psum_invariant": "needs a mesh: tests/devices/test_collectives.py",
    "pure_callback": "has no derivative: tests/effects/test_callbacks.py",
    "pvary": "needs a mesh: tests/devices/test_shard_map_rules.py",
    "ragged_all_to_all": "needs an axis: tests/ops/test_collectives_ragged.py",
    "random_bits": "of random keys, which NumPy lacks: tests/random/test_key_primitives.py",
    "random_clone": "of random keys, which NumPy lacks: tests/random/test_key_primitives.py",
    "random_fold_in": "of random keys, which NumPy lacks: tests/random/test_key_primitives.py",
    "random_gamma": "of random keys, which NumPy lacks: tests/random/test_gamma.py",
    "random_seed": "of random keys, which NumPy lacks: tests/random/test_key_primitives.py",
    "random_split": "of random keys, which NumPy lacks: tests/random/test_key_primitives.py",
    "random_unwrap": "of random keys, which NumPy lacks: tests/random/test_key_primitives.py",
    "random_wrap": "of random keys, which NumPy lacks: tests/random/test_key_primitives.py",
    "reduce_scatter": "needs an axis: tests/ops/test_collectives.py",
    "remat2": "applies a jaxpr: tests/compose/test_checkpoint.py",
    "remat_opt": "has the user's derivative: tests/compose/test_custom_vjp.py",
    "rng_bit_generator": "gives XLA's own bits: tests/random/test_generators.py",
    "rng_uniform": "gives other numbers each time: tests/random/test_generators.py",
    "rules_lost": "computes nothing: tests/refs",
    "schur": "is unique up to signs alone: tests/linalg/test_reductions.py",
    "shard_map": "needs a mesh: tests/devices/test_shard_map.py",
    "swap": "of references, which NumPy lacks: tests/refs",
    "while": "applies jaxprs: tests/control/test_while.py",
    "while_linear": "is a part of reverse mode: tests/control/test_while_reverse.py",
    "while_record": "is a part of reverse mode: tests/control/test_while_reverse.py",
    "while_reverse": "is a part of reverse mode: tests/control/test_while_reverse.py",
}

# Checks that a primitive does not pass, and why that is right.
EXCEPTIONS = {
    ("reduce_precision", "vjp"): "its derivative rounds, and rounding is not quite linear",
}

# Primitives that need no sample with an empty array, and why.
NEVER_EMPTY: dict[str, str] = {}


def _modules():
    package = covector._src
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.startswith("covector._src.testing"):
            yield importlib.import_module(module.name)


@functools.cache
def primitives() -> dict[str, Primitive]:
    """Every primitive of programs that a module of the package holds, by name.

    `Composite`s are left out: they are functions that evaluation runs as one op, and no
    transformation or program has anything to do with them; `tests/numpy` compares their values.
    """
    found: dict[str, Primitive] = {}
    for module in _modules():
        for value in vars(module).values():
            # Those that are staged in their own way carry Python functions; no program holds one.
            if not isinstance(value, Primitive) or value.stage is not None:
                continue
            if not isinstance(value, Composite):
                known = found.setdefault(value.name, value)
                assert known is value, f"two primitives go by the name {value.name}"
    return dict(sorted(found.items()))


SAMPLED = [name for name in primitives() if name not in WITHOUT_SAMPLES]


@functools.cache
def cases_of(name: str) -> list[Case]:
    """The cases of a primitive; the samples of some depend on the rules under test."""
    return list(cases(primitives()[name]))


def draws(seed: int = 0) -> np.random.Generator:
    """Random numbers that are the same for each case, whichever tests are run."""
    return np.random.default_rng(seed)


def report(name: str, failures: list[tuple[str, Case, BaseException | str]]) -> str:
    """What failed, as the message of a test: check, sample and reason, a few of each check."""
    lines, shown = [f"{name}: {len(failures)} failures"], {}
    for check, case, reason in failures:
        shown[check] = shown.get(check, 0) + 1
        if shown[check] <= 3:
            kind = "" if isinstance(reason, str) else f"{type(reason).__name__}: "
            lines.append(f"  {check}: {case}\n      {kind}{reason}")
            lines += [f"      operand {i} = {_short(x)}" for i, x in enumerate(case.args)]
    lines += [f"  ... {n - 3} more of {check}" for check, n in shown.items() if n > 3]
    return "\n".join(lines)


def _short(x: np.ndarray) -> str:
    text = " ".join(repr(x).split())
    return text if len(text) < 200 else text[:197] + "..."
