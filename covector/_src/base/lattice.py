"""The promotion lattice: which dtype two dtypes have in common.

An arrow leads from a dtype to the ones just above it, into which its values are converted
implicitly.  Dtypes with a star are weak: they are those of Python's own numbers (`i*` of int,
`f*` of float, `c*` of complex) and stand below every array dtype of their kind, so that an array
keeps its dtype when it meets a number.

                  ┌─► int1, int2, int4, uint1, uint2, uint4
                  │
                  ├─► uint8 ────► uint16 ────► uint32 ────► uint64 ──┐
    bool ──► i* ──┤     │           │            │                   ├──► f*
                  │     └───────┐   └────────┐   └────────┐          │
                  │             ▼            ▼            ▼          │
                  └─► int8 ──► int16 ─────► int32 ─────► int64 ──────┘

                  ┌─► float4_*, float6_*, float8_*
                  │
                  ├─► bfloat16 ──┐
    f* ───────────┤              ├──► float32 ─────► float64
                  ├─► float16 ───┘       │              │
                  │                      ▼              ▼
                  └─► c* ───────────► complex64 ──► complex128

Without 64-bit dtypes, uint32 leads to int32 instead of int64: it is the one arrow by which two
dtypes of at most 32 bits would meet at 64.  The dtypes at the end of the first branches (narrow
integers, narrow floats) have nothing above them, since one rarely wants their conversion.

In strict mode the arrays' dtypes are not connected; only weak ones give way to them:

    i* ──► every integer dtype, f*       f* ──► every float dtype, c*       c* ──► complex64, 128

The common dtype of a set N is its least upper bound, "join".  With up(n) for the dtypes that can
be reached from n (n included), the common upper bounds are B = ∩ up(n) over n in N, and the join
is the one b in B below all the others: B ⊆ up(b).  Such a b need not exist (B may be empty: int4
and int8), but there cannot be two, as each would lie below the other and the arrows have no cycle.
"""

from __future__ import annotations

import functools

from . import errors

NARROW_INTS = ("int1", "int2", "int4", "uint1", "uint2", "uint4")
NARROW_FLOATS = (
    *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3"),
    *("float8_e8m0fnu", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz"),
)
INTS = (*NARROW_INTS, *(f"{u}int{bits}" for u in ("u", "") for bits in (8, 16, 32, 64)))
FLOATS = (*NARROW_FLOATS, "bfloat16", "float16", "float32", "float64")
COMPLEXES = ("complex64", "complex128")

# The node of a Python number.
WEAK = {int: "i*", float: "f*", complex: "c*"}

_Arrows = dict[str, tuple[str, ...]]

_STANDARD: _Arrows = {
    "bool": ("i*",),
    "i*": (*NARROW_INTS, "uint8", "int8"),
    "uint8": ("uint16", "int16"),
    "uint16": ("uint32", "int32"),
    "uint32": ("uint64", "int64"),
    "uint64": ("f*",),
    "int8": ("int16",),
    "int16": ("int32",),
    "int32": ("int64",),
    "int64": ("f*",),
    "f*": (*NARROW_FLOATS, "bfloat16", "float16", "c*"),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64", "complex64"),
    "float64": ("complex128",),
    "c*": ("complex64",),
    "complex64": ("complex128",),
}
_STANDARD_32: _Arrows = _STANDARD | {"uint32": ("uint64", "int32")}
_STRICT: _Arrows = {"i*": (*INTS, "f*"), "f*": (*FLOATS, "c*"), "c*": COMPLEXES}

NODES = ("bool", *INTS, *FLOATS, *COMPLEXES, *WEAK.values())


def _reachable(arrows: _Arrows) -> dict[str, frozenset[str]]:
    """up(n) for every node n."""

    @functools.cache
    def up(node: str) -> frozenset[str]:
        return frozenset((node,)).union(*(up(above) for above in arrows.get(node, ())))

    return {node: up(node) for node in NODES}


_UP_STRICT = _reachable(_STRICT)
_UP_STANDARD = {True: _reachable(_STANDARD), False: _reachable(_STANDARD_32)}


def join(nodes: frozenset[str], strict: bool, x64: bool) -> str:
    """The least upper bound of some nodes.

    Raises TypePromotionError if they have none, and for names that are no nodes.
    """
    up = _UP_STRICT if strict else _UP_STANDARD[x64]
    if not nodes <= up.keys():
        raise errors.TypePromotionError(errors.not_promotable(nodes - up.keys()))
    bounds = frozenset.intersection(*(up[node] for node in nodes))
    for bound in bounds:
        if bounds <= up[bound]:
            return bound
    narrow = nodes.intersection((*NARROW_INTS, *NARROW_FLOATS))
    raise errors.TypePromotionError(errors.no_common_dtype(nodes, strict, narrow))
