"""Derivative rules of primitives: the tables, and ways to declare the common ones.

The tables are views of the primitives' slots `jvp` and `transpose`; see `tables.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.extension_errors import no_linear_operand, wrong_cotangent_count
from ..core.primitive import Primitive
from ..core.zeros import UndefinedPrimal, Zero
from ..ops.families import accumulate
from ..ops.linear import instantiate
from ..transforms import jvp as forward
from .tables import Rule, RuleTable

# ---------------------------------------------------------------- the tables


def _jvp_slot(primitive: Primitive, rule: Rule) -> Rule:
    return lambda primals, tangents, **params: rule(tuple(primals), tuple(tangents), **params)


def _transpose_slot(primitive: Primitive, rule: Rule) -> Rule:
    def transpose(ct: Any, *args: Any, **params: Any) -> Any:
        cts = rule(ct, *args, **params)
        if not isinstance(cts, (list, tuple)) or len(cts) != len(args):
            raise TypeError(wrong_cotangent_count(primitive.name, cts, len(args)))
        return cts

    return transpose


def _as_it_is(method: Rule) -> Rule:
    return method


# Each rule is called as `rule(primals, tangents, **params)`, with tuples; a tangent may be a
# `Zero`.  It returns the result and its tangent (or `Zero`), or lists of them.
primitive_jvps = RuleTable("primitive_jvps", "jvp", _jvp_slot, _as_it_is)

# Each rule is called as `rule(ct, *operands, **params)`, where the operands in which the primitive
# is linear are `UndefinedPrimal`s.  It returns a cotangent for each of those, and None for others.
primitive_transposes = RuleTable("primitive_transposes", "transpose", _transpose_slot, _as_it_is)


def get_primitive_transpose(primitive: Primitive) -> Rule:
    """The transpose rule of a primitive; calling it raises if the primitive has none."""
    return primitive_transposes.get(primitive, primitive.transpose)


# ---------------------------------------------------------------- declaring rules


def defjvp(primitive: Primitive, *jvprules: Rule | None) -> None:
    """Give the derivative of a primitive with one result, operand by operand.

    Args:
      primitive: the primitive.
      *jvprules: for each operand a function `rule(t, *operands, **params)` of the tangent t of
        that operand and of all operands, which returns what it contributes to the tangent of the
        result; None for an operand that contributes nothing.

    >>> from covector.extend.core import Primitive
    >>> from covector.interpreters import ad
    >>> square_p = Primitive("square_of_mine")
    >>> _ = square_p.def_impl(lambda x: x * x)
    >>> ad.defjvp(square_p, lambda t, x: 2 * x * t)
    >>> import covector as cv
    >>> value, slope = cv.jvp(square_p.bind, (3.0,), (1.0,))
    >>> print(value, slope)
    9.0 6.0
    """
    _set_jvp(primitive, jvprules, lambda rule, t, out, args, params: rule(t, *args, **params))


def defjvp2(primitive: Primitive, *jvprules: Rule | None) -> None:
    """Give the derivative operand by operand, where the rules make use of the result.

    Args:
      primitive: the primitive.
      *jvprules: as for `defjvp`, but called as `rule(t, result, *operands, **params)`.
    """
    _set_jvp(primitive, jvprules, lambda rule, t, out, args, params: rule(t, out, *args, **params))


def _set_jvp(primitive: Primitive, rules: Sequence[Rule | None], apply: Rule) -> None:
    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        total = None
        for rule, t in zip(rules, tangents, strict=True):
            if rule is not None and type(t) is not Zero:
                total = accumulate(total, apply(rule, t, out, primals, params), out)
        return out, Zero.from_primal_value(out) if total is None else total

    primitive_jvps[primitive] = jvp


def deflinear(primitive: Primitive, transpose_rule: Rule) -> None:
    """Declare that a primitive is linear in all of its operands together.

    Args:
      primitive: the primitive.
      transpose_rule: called as `rule(ct, **params)`, returns the operands' cotangents.
    """
    deflinear2(primitive, lambda ct, *operands, **params: transpose_rule(ct, **params))


def deflinear2(primitive: Primitive, transpose_rule: Rule) -> None:
    """Declare that a primitive is linear in all of its operands together.

    Args:
      primitive: the primitive.
      transpose_rule: called as `rule(ct, *operands, **params)`, where the operands are
        `UndefinedPrimal`s; returns their cotangents.
    """

    def jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            outs = [Zero.from_primal_value(x) for x in (out if _lists(primitive) else [out])]
            return out, outs if _lists(primitive) else outs[0]
        return out, primitive.bind(*map(instantiate, tangents), **params)

    def transpose(ct: Any, *operands: Any, **params: Any) -> Any:
        if type(ct) is Zero:
            return [Zero(x.aval) if is_undefined_primal(x) else None for x in operands]
        return transpose_rule(ct, *operands, **params)

    primitive_jvps[primitive] = jvp
    primitive_transposes[primitive] = transpose


def _lists(primitive: Primitive) -> bool:
    return primitive.multiple_results


def defbilinear(primitive: Primitive, lhs_rule: Rule, rhs_rule: Rule) -> None:
    """Declare that a primitive is linear in each of its two operands while the other is fixed.

    Args:
      primitive: the primitive.
      lhs_rule: called as `rule(ct, x, y, **params)` where x is an `UndefinedPrimal`; returns the
        cotangent of x.
      rhs_rule: the same for y.
    """
    defjvp(
        primitive,
        lambda t, x, y, **params: primitive.bind(t, y, **params),
        lambda t, x, y, **params: primitive.bind(x, t, **params),
    )

    def transpose(ct: Any, x: Any, y: Any, **params: Any) -> tuple[Any, Any]:
        if is_undefined_primal(x) == is_undefined_primal(y):
            which = "both" if is_undefined_primal(x) else "none"
            raise TypeError(no_linear_operand(primitive.name, which))
        if is_undefined_primal(x):
            return (Zero(x.aval) if type(ct) is Zero else lhs_rule(ct, x, y, **params)), None
        return None, (Zero(y.aval) if type(ct) is Zero else rhs_rule(ct, x, y, **params))

    primitive_transposes[primitive] = transpose


def is_undefined_primal(x: Any) -> bool:
    """Whether `x` stands for a linear operand, in a transpose rule."""
    return type(x) is UndefinedPrimal


# ---------------------------------------------------------------- forward mode


def jvp(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    instantiate_zeros: bool = True,
) -> tuple[list[Any], list[Any]]:
    """Push tangents forward through a function of flat arguments.

    Args:
      fun: takes the primals, returns a sequence of arrays.
      primals: arrays.
      tangents: for each primal its tangent, or a `Zero`.
      instantiate_zeros: whether tangents that are zero come out as arrays instead of `Zero`s.

    Returns:
      The results and their tangents.
    """
    outs, out_tangents = forward.jvp(fun, primals, tangents)
    return outs, [instantiate(t) for t in out_tangents] if instantiate_zeros else out_tangents
