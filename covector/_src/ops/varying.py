"""How values vary between the devices of a mesh, within `shard_map`: casts, and sums.

There the type of a value tells along which axes of the mesh the devices may hold different ones
(`vma`); along the others they hold the same.  A cast forgets that they do, and a sum over an axis
makes values of which all have the same:

    pvary : a  ->  a{V:x}        psum_invariant : a{V:x}  ->  a

The two are each other's transposes.  A value that all devices share is one value: if each of them
reads its own copy, its cotangent is the sum of those of the copies.  And of a sum that all devices
share each summand has the cotangent of the sum, of which there is one.
"""

from __future__ import annotations

from typing import Any

from ..core.avals import aval_of, with_vma
from ..core.axis import check_axes_bound, in_order
from ..core.effects import NamedAxisEffect
from .base import Op
from .replicas import all_reduce

Vma = frozenset[Any]


class Variation(Op):
    """An op over the axes of a mesh, linear in its operand, that changes along which it varies."""

    where: str

    def varies(self, vma: Vma, axes: Vma) -> Vma:
        """Along which axes the result varies, if the operand does along `vma`."""
        raise NotImplementedError

    def uses_axis(self, name, params):
        return name in params["axes"]

    def typecheck(self, avals, params):
        check_axes_bound(params["axes"], self.where)
        (x,) = avals
        effects = frozenset(map(NamedAxisEffect, params["axes"]))
        return with_vma(x, self.varies(x.vma, frozenset(params["axes"]))), effects

    def shape(self, x, *, axes):
        return x.shape

    def retype(self, params, vmas):
        return params, vmas

    def jvp(self, primals, tangents, **params):
        (x,), (t,) = primals, tangents
        return self.bind(x, **params), self.bind(t, **params)

    def vmap(self, axis, dims, x, **params):
        return self.bind(x, **params), dims[0]


class PVary(Variation):
    """The operand as one that varies along `axes` as well."""

    where = "pcast"

    def varies(self, vma, axes):
        return vma | axes

    def ref(self, x, *, axes):
        return x

    def transpose(self, ct, x, *, axes):
        return (psum_invariant_p.bind(vary(ct, frozenset(axes)), axes=axes),)

    def emit(self, b, x, *, axes):
        return x


class PSumInvariant(Variation):
    """The sum over all devices along `axes`, the same for all of them."""

    where = "psum"

    def varies(self, vma, axes):
        return vma - axes

    def retype(self, params, vmas):
        return params, [vma.union(params["axes"]) for vma in vmas]

    def transpose(self, ct, x, *, axes):
        return (vary(ct, frozenset(axes)),)

    def emit(self, b, x, *, axes):
        return all_reduce(b, self.where, "add", x, axes)


pvary_p = PVary("pvary")
psum_invariant_p = PSumInvariant("psum_invariant")


def vary(x: Any, vma: Vma) -> Any:
    """A value cast to one that varies along the axes `vma` at least."""
    missing = vma - aval_of(x).vma if vma else vma
    return pvary_p.bind(x, axes=in_order(missing)) if missing else x
