"""Ops that compute nothing, and tell the compiler something about what others compute.

xla_metadata_value   the operation that makes its operand carries attributes
shard_alike          two arrays are spread over devices in the same way
layout_constraint    the operand lies in memory in a given order
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.fusion import BOUNDARY
from ..core.primitive import BuiltinPrimitive
from ..core.zeros import UndefinedPrimal, Zero
from .base import Sample, draw
from .identities import Everywhere, Identity
from .linear import Linear, bring_to

# ---------------------------------------------------------------- xla_metadata_value


class XlaMetadataValue(Identity, Linear):
    """The operand; the operation of which it is a result carries attributes.

    Parameters:
      xla_metadata_kvs: names and values.
    """

    def transpose(self, ct, x, **params):
        return (ct,)

    def emit(self, b, x, *, xla_metadata_kvs):
        b.module_context.mark(x, texts_of(dict(xla_metadata_kvs)))
        return x

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in [(3,), (), (0, 2)]:
            for dtype in ("float32", "int32", "complex64"):
                yield Sample((draw(rng, shape, dtype),), {"xla_metadata_kvs": (("a", 1),)})


xla_metadata_value_p = XlaMetadataValue("xla_metadata_value")


def texts_of(values: dict[str, Any]) -> dict[str, str]:
    """Values of attributes as XLA reads them."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
        if value is not None
    }


# ---------------------------------------------------------------- shard_alike


class ShardAlike(BuiltinPrimitive):
    """The two operands, of one shape, which the compiler spreads over devices in the same way."""

    multiple_results = True

    def abstract_eval(self, x, y):
        return [x, y]

    def ref(self, x, y):
        return [np.asarray(x), np.asarray(y)]

    def jvp(self, primals, tangents):
        alone = any(type(t) is Zero for t in tangents)
        return self.bind(*primals), list(tangents) if alone else self.bind(*tangents)

    def transpose(self, cts, *xs):
        if not any(type(ct) is Zero for ct in cts):
            cts = self.bind(*cts)
        return tuple([ct if type(x) is UndefinedPrimal else None for ct, x in zip(cts, xs)])

    def vmap(self, axis, dims, x, y):
        to = dims[1] if dims[0] is None else dims[0]
        x, y = bring_to(x, axis.size, dims[0], to), bring_to(y, axis.size, dims[1], to)
        return self.bind(x, y), [to, to]

    def emit(self, b, x, y):
        if b.is_divided:
            module = b.module_context
            module.sharding_groups += 1
            for value in (x, y):
                b.op("sdy.sharding_group", value, out=[], group_id=module.sharding_groups)
        return [x, y]

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for shape in [(3,), (2, 3), (0, 2)]:
            yield Sample((draw(rng, shape, "float32"), draw(rng, shape, "float32")), {})


shard_alike_p = ShardAlike("shard_alike")

# ---------------------------------------------------------------- layout_constraint


class LayoutConstraint(Everywhere):
    """The operand, which lies in memory in a given order within a program.

    Parameters:
      layout: the order (`xla.layout.Layout`).
    """

    fusion = BOUNDARY

    def evaluate(self, backend, args, params):
        return backend.to_array(args[0])

    def vmap(self, axis, dims, x, *, layout):
        (to,) = dims
        order = (to, *[dim + (dim >= to) for dim in layout.major_to_minor])
        return self.bind(x, layout=replace(layout, major_to_minor=order)), to

    def emit(self, b, x, *, layout):
        return b.constrain_layout(x, layout.major_to_minor)


layout_constraint_p = LayoutConstraint("layout_constraint")
