"""Tiles on CPUs: which programs XLA is told not to write in tiles.

XLA has two generators of code for what it fuses.  One writes a loop over elements, which LLVM turns
into vector instructions.  The other cuts arrays into tiles, and treats these as vectors from the
start.  It is chosen wherever it knows all operations of a fusion: transpositions, and some of
arithmetic on arrays of one shape, mostly single operations.

It is good at what it is for: a transposition takes half the time in tiles.  But code for a fusion
takes up to twice as long to generate, and arithmetic runs slower, up to seven times.  On one core,
a million 32-bit floats, in ms to compile and microseconds to run:

    operation                in tiles      in loops
    x * x                    35   310      24   145
    exp                      35   730      27   445
    rsqrt                    45  1660      27   225
    x + arange(1000.0)       40   300      26   715
    transposition            61   510      24   825

So tiles are left out for programs that transpose nothing, and count nothing in floats.  Products
transpose their operands where the dimensions that are summed over, or those of batches, are not
where the library takes them; the transposed product of two matrices is the product of the others,
and costs nothing.  Programs with operations that are not fused otherwise, as sorts and
convolutions, are left as they are.

In large programs that mostly multiply matrices, transpositions hardly count, but compiling does:
transformers compile in 0.85 to 0.9 of the time, and take 1.00 to 1.02 of the time to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import config, dtypes
from ..core.jaxpr import Jaxpr, JaxprEqn
from ..transforms.memory_plan import bodies_of
from .module import ModuleContext

LEAVES_OUT_TILES = "xla_cpu_disable_tiled_emitter"

# A program is large from so many eqns on ...
MANY = 200
# ... and mostly multiplies matrices with so many multiplications for each element transposed.
PRODUCTS = 512


class Work(NamedTuple):
    """What in a program decides between tiles and loops.

    Attributes:
      eqns: how many eqns there are where calls are written out.
      transposed: elements of arrays that are transposed.
      products: multiplications in products of matrices.
    """

    eqns: int = 0
    transposed: int = 0
    products: int = 0


def leave_out(module: ModuleContext, jaxpr: Jaxpr) -> None:
    """Ask the compiler for loops only, if a program runs no slower and compiles faster so."""
    if module.platform == "cpu" and not config.parity.value:
        work = _work(jaxpr, {})
        if work is not None and _is_for_loops(work):
            module.generator_options.add(LEAVES_OUT_TILES)


def _is_for_loops(work: Work) -> bool:
    if not work.transposed:
        return True
    return work.eqns >= MANY and work.products >= PRODUCTS * work.transposed


def _work(jaxpr: Jaxpr, known: dict[Jaxpr, Work | None]) -> Work | None:
    """The work of a program; None if something in it may be better in tiles."""
    if jaxpr not in known:
        matrices: set[Any] = set()
        known[jaxpr] = _sum(_work_of(eqn, known, matrices) for eqn in jaxpr.eqns)
    return known[jaxpr]


def _sum(parts: Iterable[Work | None]) -> Work | None:
    eqns = transposed = products = 0
    for part in parts:
        if part is None:
            return None
        eqns += part.eqns
        transposed += part.transposed
        products += part.products
    return Work(eqns, transposed, products)


def _work_of(eqn: JaxprEqn, known: dict[Jaxpr, Work | None], matrices: set[Any]) -> Work | None:
    """The work of an eqn; products of two matrices are added to `matrices`."""
    primitive = eqn.primitive
    fusion = primitive.fusion
    if fusion.applies:
        return _work(primitive.expanded([a.aval for a in eqn.invars], eqn.params).jaxpr, known)
    if fusion.bodies:
        return _sum(_work(body.jaxpr, known) for body in bodies_of(eqn))
    if primitive.name == "dot_general":
        if eqn.outvars[0].aval.ndim == 2:
            matrices.add(eqn.outvars[0])
        return _work_of_product(eqn)
    if primitive.name == "optimization_barrier":
        return Work(1)
    if not fusion.fused or (primitive.name == "iota" and _is_float(eqn.outvars[0].aval)):
        return None
    moves = fusion.permutes and eqn.invars[0] not in matrices
    return Work(1, eqn.outvars[0].aval.size if moves else 0)


def _is_float(aval: Any) -> bool:
    return dtypes.issubdtype(aval.dtype, np.floating)


def _work_of_product(eqn: JaxprEqn) -> Work:
    contracted, batches = eqn.params["dimension_numbers"]
    avals = [atom.aval for atom in eqn.invars]
    transposed = sum(map(_transposed, avals, contracted, batches))
    summed = 1
    for d in contracted[0]:
        summed *= avals[0].shape[d]
    return Work(1, transposed, eqn.outvars[0].aval.size * summed)


def _transposed(aval: Any, contracted: Sequence[int], batch: Sequence[int]) -> int:
    """How many elements of an operand of a product are moved before the library can take it."""
    rank, first, count = aval.ndim, len(batch), len(contracted)
    is_in_place = tuple(batch) == tuple(range(first)) and tuple(contracted) in (
        tuple(range(first, first + count)),
        tuple(range(rank - count, rank)),
    )
    return 0 if is_in_place else aval.size
