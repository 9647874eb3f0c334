"""The primitive that users construct by name, and give its rules one at a time.

Its slots are those of every primitive (`primitive.py`); the methods here fill two of them, and
the tables in `interpreters/` the others.  Nothing is derived or remembered: a rule that was not
given is missing, and one that was given is called each time that it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..base import dtypes, extension_errors
from . import primitive
from .avals import AbstractValue, aval_of
from .effects import Effects
from .trace import Backend, check_no_escaped_tracer, context

Rule = TypeVar("Rule", bound=Callable[..., Any])


class _EveryPrimitive(type):
    """`isinstance(p, Primitive)` holds for the primitives of Covector itself, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, primitive.Primitive)


class Primitive(primitive.Primitive, metaclass=_EveryPrimitive):
    """An operation of your own, which transformations treat as one step.

    Args:
      name: how it appears in jaxprs and error messages.

    Attributes:
      multiple_results: set it to True for an operation with a list of results; each rule then
        takes and returns lists where it would otherwise one result.

    To apply it, call `bind` with the operands by position and the parameters by name. What it
    does in each situation, you say when you need it:

    - evaluation on arrays: `def_impl`
    - types of the results, for `jit` and everything else that traces: `def_abstract_eval`
    - compilation: `covector.interpreters.mlir.register_lowering`
    - derivatives: `covector.interpreters.ad.primitive_jvps` and `primitive_transposes`
    - batches: `covector.interpreters.batching.primitive_batchers`

    `covector.extend.primitive` is the shorter way: one class with all of the rules.

    >>> from covector.extend.core import Primitive
    >>> double_p = Primitive("double")
    >>> _ = double_p.def_impl(lambda x: 2 * x)
    >>> double_p.bind(4.0)
    8.0
    """

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive under the current trace.

        Args:
          *args: the operands: arrays, NumPy arrays, numbers, or tracers.
          **params: the parameters, which are handed to each rule as they are.

        Raises:
          TypeError: an operand is no array.
          NotImplementedError: the rule that is needed here was not given.
        """
        operands = [_operand(self.name, i, x) for i, x in enumerate(args)]
        return context.trace.process(self, operands, params)

    def evaluate(self, backend: Backend, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply the primitive to concrete values: call the function given to `def_impl`."""
        check_no_escaped_tracer(args, self.name)
        return self.impl(*args, **params)

    def typecheck(self, avals: tuple[AbstractValue, ...], params: dict[str, Any]) -> tuple:
        """The types of the results, and the effects, as the abstract rule gives them now."""
        out, effects = self.effectful_abstract_eval(*avals, **params)
        if isinstance(out, (list, tuple)) != self.multiple_results:
            raise ValueError(
                extension_errors.results_not_as_declared(self.name, self.multiple_results, out)
            )
        return out, Effects(effects)

    # ---------------------------------------------------------------- giving the rules

    def def_impl(self, impl: Rule) -> Rule:
        """Say how to evaluate the primitive on concrete values.

        Args:
          impl: takes the operands and, by name, the parameters; returns the result (an array, a
            NumPy array, or a number), or a list of results. It need not be traceable.

        Returns:
          `impl`, so that this is a decorator, too.
        """
        self.impl = impl
        return impl

    def def_abstract_eval(self, rule: Rule) -> Rule:
        """Say which type the result has.

        Args:
          rule: takes the types of the operands (`covector.core.ShapedArray`) and, by name, the
            parameters; returns the type of the result, or a list of types.

        Returns:
          `rule`, so that this is a decorator, too.
        """
        self.abstract_eval = rule
        return rule

    def def_effectful_abstract_eval(self, rule: Rule) -> Rule:
        """Say which type the result has, and which effects the primitive.

        Args:
          rule: as for `def_abstract_eval`, but returns a pair of the type (or list of types) and
            a set of `covector.extend.core.Effect`s.

        Returns:
          `rule`, so that this is a decorator, too.
        """
        self.effectful_abstract_eval = rule
        return rule


def _operand(name: str, position: int, x: Any) -> Any:
    """An operand with a dtype that exists under the current configuration."""
    if isinstance(x, (np.ndarray, np.generic)):
        dtype = dtypes.canonicalize_dtype(x.dtype)
        return x if dtype == x.dtype else x.astype(dtype)
    try:
        aval_of(x)
    except TypeError:
        raise TypeError(extension_errors.not_an_operand(name, position, x)) from None
    return x
