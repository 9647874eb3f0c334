"""The wording of errors about `reduce`, a reduction with a function of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def trees_differ(operands: object, init_values: object) -> str:
    return (
        "[reduce] Operands must have the same tree structure as init_values, but the structures "
        f"are {operands} and {init_values}."
    )


def init_not_scalar(shapes: Iterable[Sequence[int]]) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return (
        f"[reduce] reduce found non-scalar initial value: the shapes of init_values are {listed}. "
        "Each must be the scalar that the computation leaves every element as it is with."
    )


def init_dtypes(operands: Iterable[object], inits: Iterable[object]) -> str:
    return (
        "[reduce] Each initial value must have the dtype of its operand, but the operands are "
        f"{', '.join(map(str, operands))}, and init_values {', '.join(map(str, inits))}."
    )


def operand_shapes(shapes: Iterable[Sequence[int]]) -> str:
    listed = ", ".join(str(tuple(shape)) for shape in shapes)
    return f"[reduce] Operands that are reduced together must have one shape, but have {listed}."


def varying_init() -> str:
    return (
        "[reduce] The derivative with respect to init_values does not exist: they must be the "
        "identity of the computation. Use `lax.stop_gradient`, or add the value afterwards."
    )


def computation_tree(where: str, expected: object, got: object) -> str:
    return (
        f"[{where}] The {where} output must have the same tree structure as the operands, but the "
        f"computation returns {got} where the operands are {expected}."
    )


def computation_result(where: str, expected: Iterable[object], got: Iterable[object]) -> str:
    return (
        f"[{where}] The computation must return what it takes, an element of each operand. It gets "
        f"{', '.join(map(str, expected))} twice, but returns {', '.join(map(str, got))}."
    )


def computation_captures(where: str, tracer: object) -> str:
    return (
        f"[{where}] The computation uses a traced value from outside itself, of type "
        f"{tracer}. It may depend on its two arguments only."
    )
