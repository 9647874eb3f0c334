"""The text of random programs: nested jits that share, drop and close over values, transformed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covector._src.base import config

X = np.arange(1, 4, dtype=np.float32)
UNARY = ("sin", "cos", "exp", "neg", "tanh", "sqrt", "square", "logistic", "log1p")
BINARY = ("add", "mul", "sub", "max")
KINDS = ("unary", "unary", "binary", "literal", "call", "call", "constant")


class Program:
    """A random function of two arrays, the same for every module that it is written with."""

    def __init__(self, rng: random.Random, depth: int, inputs: int, kinds: tuple[str, ...]):
        self.kinds = kinds
        self.name = f"f{rng.randint(0, 2)}"
        self.inputs = inputs
        self.inner = [
            Program(rng, depth - 1, rng.randint(1, 2), kinds) for _ in range(2 * (depth > 0))
        ]
        self.steps = [self.step(rng, inputs + i) for i in range(rng.randint(1, 5))]
        values = inputs + len(self.steps)
        self.outputs = [rng.randrange(values) for _ in range(rng.randint(1, 3))]

    def step(self, rng: random.Random, values: int) -> tuple[Any, ...]:
        """An operation, and the indices of its operands among the values so far."""
        kind = rng.choice(self.kinds)
        if kind == "call" and self.inner:
            inner = rng.randrange(len(self.inner))
            return kind, inner, *[rng.randrange(values) for _ in range(self.inner[inner].inputs)]
        if kind == "binary":
            return kind, rng.choice(BINARY), rng.randrange(values), rng.randrange(values)
        if kind in ("literal", "constant"):
            return kind, rng.choice(BINARY), rng.randrange(values), rng.choice([0.5, 2.0, 3.0])
        return "unary", rng.choice(UNARY), rng.randrange(values)

    def function(self, m: Any) -> Callable[..., Any]:
        """The program as a function of the module `m`."""
        inner = [m.jit(sub.function(m)) for sub in self.inner]
        constants = {value: np.full(3, value, np.float32) for value in (0.5, 2.0, 3.0)}

        def run(*values):
            values = list(values)
            for kind, what, *operands in self.steps:
                if kind == "call":
                    values.append(inner[what](*[values[i] for i in operands])[0])
                elif kind == "literal":
                    values.append(getattr(m.lax, what)(values[operands[0]], operands[1]))
                elif kind == "constant":
                    values.append(getattr(m.lax, what)(values[operands[0]], constants[operands[1]]))
                else:
                    values.append(getattr(m.lax, what)(*[values[i] for i in operands]))
            return [values[i] for i in self.outputs]

        run.__name__ = self.name
        return run


def total(m, x):
    return m.lax.reduce_sum_p.bind(x, axes=(0,), out_sharding=None)


# As the random programs are, and under each transformation.
TRANSFORMATIONS = {
    "none": lambda m, f: f,
    "jit": lambda m, f: m.jit(f),
    "jvp": lambda m, f: lambda x, y: m.jvp(f, (x, y), (x, y)),
    "vmap": lambda m, f: m.vmap(lambda x, y: f(m.lax.broadcast(x, (3,)), m.lax.broadcast(y, (3,)))),
    "grad": lambda m, f: m.grad(lambda x, y: total(m, f(x, y)[0])),
}


# How deep jits are nested.  Deeper, JAX's gradients keep constants that nothing uses.
DEPTHS = {"none": 3, "jit": 3, "jvp": 2, "vmap": 2, "grad": 1}


@pytest.mark.parametrize("first_seed", range(0, 200, 50))
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_text(transformation, first_seed, same_text):
    for seed in range(first_seed, first_seed + 50):
        # Under vmap, JAX's texts of constants contain NumPy integers, which ours do not.
        kinds = KINDS[:-1] if transformation == "vmap" else KINDS
        program = Program(random.Random(seed), DEPTHS[transformation], 2, kinds)
        # Zeros that win over infinities make different programs of one, which JAX writes only once.

        def traced(m, program=program):
            fun = TRANSFORMATIONS[transformation](m, program.function(m))
            return m.make_jaxpr(fun)(X, X)

        with config.parity(transformation == "grad"):
            same_text(traced)
