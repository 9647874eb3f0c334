"""A primitive: one operation together with all of its rules.

Each rule is a method; a transformation looks up the method of its name and nothing else.  What a
class does not define is missing, and using it raises NotImplementedError that names the primitive
and the rule.  The families in `ops/families.py` derive rules from one another; `extend.core` gives
the same slots to primitives that users define.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import WeakSet

from ..base import errors, ref_errors
from .avals import AbstractValue, with_vma, without_vma
from .effects import Effects, NamedAxisEffect, no_effects
from .fusion import BOUNDARY
from .refs import AbstractRef
from .show import jaxprs_in_params
from .trace import Backend, Tracer, check_no_escaped_tracer, context, eval_trace

# A cache of shape rules is emptied when it reaches this many entries.
TYPE_CACHE_LIMIT = 8192

# Every primitive there is, for tables of their rules.
all_primitives: WeakSet[Primitive] = WeakSet()


class Primitive:
    """An operation known by name, and the slots for its rules.

    The rules, in the order in which every block lists them:

      abstract_eval(*avals, **params)       -> aval, or list of avals
      ref(*numpy_arrays, **params)          -> NumPy result: the oracle, and the second backend
      jvp(primals, tangents, **params)      -> (primal_out, tangent_out)
      transpose(ct, *args, **params)        -> a cotangent (or None) for each of args
      vmap(axis, dims, *args, **params)     -> (out, out_dim)
      emit(b, *operands, **params)          -> operand(s) of the emitter b

    With `multiple_results` an output is a list, in each of the rules.
    """

    multiple_results = False
    # How the compiler fuses it with others.
    fusion = BOUNDARY
    # Whether, in a printed jaxpr, variables of the jaxpr that it applies take the names of operands
    # and results.
    shares_names = False
    # Whether transposing it puts zeros into cotangents, of elements that the result has no part of.
    masks_cotangents = False
    # Partial evaluation of primitives that carry jaxprs; others are recorded whole.
    partial_eval: Callable[..., Any] | None = None
    # `stage(trace, args, params)`: how primitives that carry Python functions are written into a
    # jaxpr; others become an eqn.
    stage: Callable[..., Any] | None = None
    # `prune(eqn, used)`: the eqn with only those outputs, and what its jaxprs compute for them;
    # None if nothing of it is needed.
    prune: Callable[..., Any] | None = None
    # `retype(params, vmas)`: the parameters with jaxprs for operands that vary, within `shard_map`,
    # along these axes of a mesh; and along which each operand has to vary.  Results of other
    # primitives vary along all axes along which an operand does.
    retype: Callable[..., Any] | None = None
    # `show(printer, eqn)`: the document of an eqn that is not written as `outs = name[params] ins`.
    show: Callable[..., Any] | None = None
    # `fold(x, **params)`: the value for a scalar x that is a literal, instead of an eqn; or None.
    fold: Callable[..., Any] | None = None

    def __init__(self, name: str):
        self.name = name
        self._types: dict[Any, tuple[Any, Effects]] = {}
        if self.stage is None:
            all_primitives.add(self)

    def get_bind_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments of `bind` for an eqn with these parameters."""
        return params

    def __repr__(self) -> str:
        return self.name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive under the current trace."""
        return context.trace.process(self, args, params)

    def evaluate(self, backend: Backend, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply the primitive to concrete values."""
        check_no_escaped_tracer(args, self.name)
        return self.impl(*args, **params)

    def typecheck(self, avals: tuple[AbstractValue, ...], params: dict[str, Any]) -> tuple:
        """`(out_aval or list of them, effects)` of the primitive applied to `avals`; memoized."""
        key = (avals, *params.items()) if params else avals
        try:
            result = self._types.get(key)
        except TypeError:  # a parameter is not hashable
            return self._typed(avals, params)
        if result is None:
            result = self._typed(avals, params)
            if jaxprs_in_params(params):  # which the table would keep alive
                return result
            if len(self._types) >= TYPE_CACHE_LIMIT:
                self._types.clear()
            self._types[key] = result
        return result

    def _typed(self, avals: tuple[AbstractValue, ...], params: dict[str, Any]) -> tuple:
        """The result of `typecheck`, anew: where devices hold different operands, their results
        differ, too."""
        vma = frozenset().union(*[aval.vma for aval in avals])
        if not vma or self.retype is not None:
            return self.effectful_abstract_eval(*avals, **params)
        out, effects = self.effectful_abstract_eval(*map(without_vma, avals), **params)
        if self.multiple_results:
            return [with_vma(aval, vma) for aval in out], effects
        return with_vma(out, vma), effects

    def shown_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters that a printed jaxpr shows, in the order in which it does."""
        return dict(sorted(params.items()))

    def check_operands(self, avals: Sequence[AbstractValue], params: dict[str, Any]) -> None:
        """Raise TypeError if an eqn cannot have these operands; for jaxprs from other hands.

        The shape rules of most primitives say so themselves. Those that carry jaxprs, made for
        their operands, need not look again in the shape rule, but do so here.
        """

    def uses_axis(self, name: Any, params: dict[str, Any]) -> bool:
        """Whether the primitive, with these parameters, acts over the named axis `name`."""
        effect = NamedAxisEffect(name)
        return any(effect in jaxpr.effects for jaxpr in jaxprs_in_params(params))

    def scope(self, params: dict[str, Any]) -> AbstractContextManager[None]:
        """Within it named axes are in scope that the jaxprs in the parameters act over."""
        return nullcontext()

    def places(self, params: dict[str, Any]) -> Sequence[Any]:
        """The meshes and shardings of which the primitive, with these parameters, speaks."""
        return ()

    def result_shardings(self, params: dict[str, Any]) -> Sequence[Any] | None:
        """How the results are spread over devices, for primitives that say so."""
        return None

    def expanded(self, avals: Sequence[AbstractValue], params: dict[str, Any]) -> Any:
        """The closed jaxpr that the primitive stands for, if it does nothing but apply one."""
        return None

    def has_rule(self, slot: str) -> bool:
        """Whether the primitive has the rule of that name, its own or its family's."""
        rule = getattr(self, slot)
        return getattr(rule, "__func__", rule) is not getattr(Primitive, slot)

    # ---------------------------------------------------------------- the slots of the rules

    def impl(self, *args: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_impl(self.name))

    def effectful_abstract_eval(self, *avals: Any, **params: Any) -> tuple[Any, Effects]:
        return self.abstract_eval(*avals, **params), no_effects

    def abstract_eval(self, *avals: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_abstract_eval(self.name))

    def ref(self, *args: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_reference(self.name))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        raise NotImplementedError(errors.missing_jvp(self.name))

    def transpose(self, ct: Any, *args: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_transpose(self.name))

    def vmap(self, axis: Any, dims: Sequence[int | None], *args: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_batching(self.name))

    def emit(self, b: Any, *operands: Any, **params: Any) -> Any:
        raise NotImplementedError(errors.missing_lowering(self.name, b.platform))


class BuiltinPrimitive(Primitive):
    """A primitive of Covector's own: concrete values go to the backend, which compiles `emit`."""

    # Whether operands may be mutable references.
    takes_refs = False

    def __init__(self, name: str):
        super().__init__(name)
        # Whether `evaluate` is the one below, so that `bind` need not call it.
        self._on_backend = type(self).evaluate is BuiltinPrimitive.evaluate

    def _typed(self, avals: tuple[AbstractValue, ...], params: dict[str, Any]) -> tuple:
        if not self.takes_refs:
            for aval in avals:
                if type(aval) is AbstractRef:
                    raise TypeError(ref_errors.not_an_array(self.name, aval))
        return super()._typed(avals, params)

    def evaluate(self, backend: Backend, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return backend.execute(self, args, params)

    def bind(self, *args: Any, **params: Any) -> Any:
        trace = context.trace
        if trace is eval_trace:
            if self._on_backend:
                return eval_trace.backend.execute(self, args, params)
            return self.evaluate(eval_trace.backend, args, params)
        return trace.process(self, args, params)

    def impl(self, *args: Any, **params: Any) -> Any:
        if context.trace is not eval_trace and any(isinstance(x, Tracer) for x in args):
            return context.trace.process(self, args, params)
        return type(self).evaluate(self, eval_trace.backend, args, params)

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Evaluate the primitive on concrete values by another function from now on.

        Compiled programs do not change. The primitive's own `impl` undoes it.
        """
        self._on_backend = False
        if impl == self.impl:
            vars(self).pop("evaluate", None)
        else:
            self.evaluate = lambda backend, args, params: impl(*args, **params)
        return impl
