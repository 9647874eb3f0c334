"""`custom_jvp` and `custom_vjp`: functions whose derivatives the user writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from ..base import config, custom_errors, dtypes, ref_errors, tree
from ..base.dtypes import float0
from ..base.errors import UnexpectedTracerError
from ..base.tracebacks import boundary
from ..base.tree_keys import keystr
from ..base.tree_partial import Partial
from ..control.custom_jvp import custom_jvp_function_p
from ..control.custom_vjp import custom_vjp_function_p
from ..control.discharge import check_aliases
from ..core.avals import AbstractValue, aval_of, is_valid_type
from ..core.jaxpr import DebugInfo, eval_jaxpr
from ..core.refs import Ref
from ..core.trace import Tracer, eval_trace
from ..core.zeros import Zero
from ..ops.linear import instantiate
from ..transforms.flatten import FlatFunction
from ..transforms.purity import call_traced
from ..transforms.signatures import debug_info
from ..transforms.stage import stage
from .arguments import check_arrays
from .custom_arguments import CustomArguments, positions_of, resolve_keywords
from .wrapping import check_callable


class SymbolicZero:
    """A tangent or cotangent that is known to be zero; nothing is stored or computed for it.

    Rules that are defined with `symbolic_zeros=True` are given it, and may return it.

    Attributes:
      aval: the type of the zero.
    """

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue):
        self.aval = aval

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicZero) and self.aval == other.aval

    def __hash__(self) -> int:
        return hash(self.aval)

    @property
    def shape(self) -> Any:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return self.aval.size

    @staticmethod
    def from_primal_value(x: Any) -> SymbolicZero:
        """The zero tangent of a primal value."""
        return SymbolicZero(aval_of(x).to_tangent_aval())


@dataclass(frozen=True, slots=True)
class CustomVJPPrimal:
    """An argument of a forward rule that is defined with `symbolic_zeros=True`; a leaf of trees.

    Attributes:
      value: the argument, as an array.
      perturbed: whether a derivative may be asked for in it.
    """

    value: Any
    perturbed: bool


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangents of a tree of values.

    Args:
      val: a tree of arrays.
      symbolic_zeros: whether to return `SymbolicZero`s rather than arrays of zeros.

    >>> import covector as cv
    >>> cv.custom_derivatives.zero_from_primal({"a": 1.0, "b": 2})
    {'a': 0.0, 'b': array((b'',), dtype=[('float0', 'V')])}
    """

    def zero(x: Any) -> Any:
        aval = aval_of(x).to_tangent_aval()
        return SymbolicZero(aval) if symbolic_zeros else instantiate(Zero(aval))

    return tree.map(zero, val)


def custom_vjp_primal_tree_values(values: Any) -> Any:
    """The values of a tree of `CustomVJPPrimal`s.

    >>> import covector as cv
    >>> from covector.custom_derivatives import CustomVJPPrimal, custom_vjp_primal_tree_values
    >>> custom_vjp_primal_tree_values([CustomVJPPrimal(1.0, True), CustomVJPPrimal(2, False)])
    [1.0, 2]
    """
    is_primal = lambda x: type(x) is CustomVJPPrimal  # noqa: E731
    return tree.map(lambda x: x.value, values, is_leaf=is_primal)


class Forwarding:
    """A function with rules, through which the methods of one that it wraps are reached."""

    def __getattr__(self, name: str) -> Any:
        wrapped = self.__dict__.get("fun")
        if isinstance(wrapped, Forwarding):
            return getattr(wrapped, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class _Custom(Forwarding):
    """What custom_jvp and custom_vjp share: the function, and its arguments without derivatives."""

    where: str
    fun: Callable[..., Any]
    nondiff_argnums: tuple[int, ...]

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ):
        check_callable(self.where, fun)
        update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = positions_of(fun, nondiff_argnums, nondiff_argnames)
        self.symbolic_zeros = False
        self.name = custom_errors.name_of(fun)
        place = custom_errors.describe_callable(fun)
        self.debug_info = DebugInfo(self.where, self.name + place, None)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _bound(self, instance)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CustomArguments:
        """The arguments of a call, checked."""
        args = resolve_keywords(self.where, self.fun, args, kwargs)
        arguments = CustomArguments(args, self.nondiff_argnums)
        for x in arguments.operands:
            if not is_valid_type(x):
                varying = tuple([x for i, x in enumerate(args) if i not in arguments.nondiff])
                info = debug_info(self.where, self.fun, varying, {})
                check_arrays(self.where, info, arguments.operands[arguments.num_consts :])
        if Ref in {*map(type, arguments.operands)}:
            varying = tuple([x for i, x in enumerate(args) if i not in arguments.nondiff])
            check_aliases(debug_info(self.where, self.fun, varying, {}), arguments.operands)
        return arguments


def _bound(custom: _Custom, instance: Any) -> Callable[..., Any]:
    """The function as a method of an instance."""

    def method(*args: Any, **kwargs: Any) -> Any:
        return custom(instance, *args, **kwargs)

    return update_wrapper(method, custom.fun)


class _Call:
    """One call of such a function: its flat form, and what is known of its results."""

    def __init__(self, custom: Any, arguments: CustomArguments):
        self.custom = custom
        self.arguments = arguments
        self.out_tree: Any = None
        self.out_avals: list[Any] | None = None

    def __call__(self, *operands: Any) -> list[Any]:
        fun = self.custom.fun
        outs, self.out_tree = tree.flatten(call_traced(fun, self.arguments.all_args(operands), {}))
        for path, x in enumerate(outs):
            if not is_valid_type(x):
                raise TypeError(custom_errors.result_not_an_array(self.custom.where, fun, path, x))
            if type(x) is Ref:
                name = self.custom.debug_info.func_src_info
                raise ValueError(ref_errors.ref_returned(self.custom.where, name, x.aval, ""))
        self.out_avals = [aval_of(x) for x in outs]
        return outs

    def check_outputs(self, text: Callable[..., str], rule: Any, outs: Any, out_tree: Any) -> None:
        """Raise unless the outputs of a rule are what the function was seen to return."""
        if self.out_tree is None:
            self.out_tree = out_tree
            return
        fun = self.custom.fun
        if out_tree != self.out_tree:
            raise TypeError(text(rule, fun, "structure", out_tree, self.out_tree))
        got = [_type_of(aval_of(x)) for x in outs]
        if self.out_avals is not None and got != [_type_of(aval) for aval in self.out_avals]:
            shown = [
                ", ".join(map(_short, avals)) for avals in (map(aval_of, outs), self.out_avals)
            ]
            raise TypeError(text(rule, fun, "type", *shown))


def _as_array(x: Any) -> Any:
    """A value as what has a shape and a dtype: itself if it is traced, else as an array."""
    return x if isinstance(x, Tracer) else eval_trace.backend.to_array(x)


def _type_of(aval: Any) -> tuple[Any, Any]:
    return aval.shape, aval.dtype


def _short(aval: Any) -> str:
    return aval.str_short()


# ---------------------------------------------------------------- forward rules


class custom_jvp(_Custom):
    """A function whose derivative is given by a rule, for both modes of differentiation.

    Args:
      fun: a function of trees of arrays.
      nondiff_argnums: positions of arguments that are not differentiated, such as functions; the
        rule gets them first, by themselves. They may also be arrays.
      nondiff_argnames: the same by name.

    The rule is defined by `defjvp`, or one for each argument by `defjvps`:

    >>> import covector as cv, covector.numpy as jnp
    >>> @cv.custom_jvp
    ... def log1pexp(x):
    ...     return jnp.log1p(jnp.exp(x))
    >>> @log1pexp.defjvp
    ... def log1pexp_jvp(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t
    >>> print(cv.grad(log1pexp)(100.0))
    1.0
    """

    where = "custom_jvp"

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Define the rule of the derivative. May be used as a decorator.

        Args:
          jvp: takes a tuple of the arguments and one of their tangents (after those that are not
            differentiated), and returns a pair: what the function returns, and its tangent. It must
            be linear in the tangents.
          symbolic_zeros: whether tangents known to be zero are given as `SymbolicZero`s; by default
            they are arrays of zeros.

        Returns:
          `jvp`.
        """
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Define one rule for each argument.

        Args:
          *jvps: for each argument a function `(tangent, output, *arguments)` that returns what it
            contributes to the output's tangent; or None where it contributes nothing.

        Raises:
          TypeError: some arguments are not differentiated; `defjvp` is for these.

        >>> import covector as cv
        >>> times = cv.custom_jvp(lambda x, y: x * y)
        >>> times.defjvps(lambda t, out, x, y: t * y, lambda t, out, x, y: x * t)
        >>> print(cv.grad(times, argnums=1)(3.0, 4.0))
        3.0
        """
        if self.nondiff_argnums:
            raise TypeError(custom_errors.defjvps_with_nondiff(self.fun))

        def jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
            out = self(*primals)
            parts = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            if not parts:
                return out, zero_from_primal(out)
            return out, tree.map(lambda *xs: sum(xs[1:], xs[0]), *parts)

        self.defjvp(jvp)

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise AttributeError(custom_errors.no_rule(self.where, self.fun))
        arguments = self.arguments(args, kwargs)
        call = _JVPCall(self, arguments)
        outs = custom_jvp_function_p.bind(
            *arguments.hand_over(),
            fun=call,
            rule=_Shown(call.rule, self.jvp),
            num_consts=arguments.num_consts,
            symbolic_zeros=self.symbolic_zeros,
            name=self.name,
            debug_info=self.debug_info,
        )
        return tree.unflatten(call.out_tree, outs)


class _JVPCall(_Call):
    def rule(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The user's rule on flat primals and tangents."""
        custom, arguments = self.custom, self.arguments
        count = arguments.num_consts
        prepare = _symbolic if custom.symbolic_zeros else instantiate
        given = (
            *arguments.nondiff_args(primals),
            arguments.diff_args(primals[count:]),
            arguments.diff_args([prepare(t) for t in tangents[count:]]),
        )
        result = call_traced(custom.jvp, given, {})
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(custom_errors.jvp_rule_no_pair(custom.jvp, custom.fun, result))
        outs, out_tree = tree.flatten(result[0])
        out_tangents, tangent_tree = tree.flatten(result[1])
        if out_tree != tangent_tree:
            raise TypeError(
                custom_errors.jvp_rule_trees(custom.jvp, custom.fun, out_tree, tangent_tree)
            )
        self.check_outputs(custom_errors.jvp_rule_output, custom.jvp, outs, out_tree)
        return outs, [self.tangent(i, x, t) for i, (x, t) in enumerate(zip(outs, out_tangents))]

    def tangent(self, position: int, out: Any, tangent: Any) -> Any:
        """The tangent of an output, checked."""
        want: Any = aval_of(out).to_tangent_aval()
        got: Any = tangent.aval if type(tangent) is SymbolicZero else aval_of(tangent)
        if (want.shape, want.dtype) != (got.shape, got.dtype):
            path, _ = tree.leaves_with_path(
                tree.unflatten(self.out_tree, range(self.out_tree.num_leaves))
            )[position]
            raise TypeError(
                custom_errors.jvp_rule_tangent(
                    *(self.custom.jvp, self.custom.fun, keystr(path)),
                    *(_short(want), _short(aval_of(out)), _short(got)),
                )
            )
        return Zero(want) if type(tangent) is SymbolicZero or want.dtype == float0 else tangent


def _symbolic(x: Any) -> Any:
    return SymbolicZero(x.aval) if type(x) is Zero else x


class _Shown:
    """A flat rule that is printed as the user's."""

    __slots__ = ("rule", "user_rule")

    def __init__(self, rule: Callable[..., Any], user_rule: Callable[..., Any]):
        self.rule = rule
        self.user_rule = user_rule

    def __call__(self, *args: Any) -> Any:
        return self.rule(*args)

    def __repr__(self) -> str:
        return custom_errors.name_of(self.user_rule)


# ---------------------------------------------------------------- reverse rules


class custom_vjp(_Custom):
    """A function whose derivative is given by a forward and a backward rule.

    Args:
      fun: a function of trees of arrays.
      nondiff_argnums: positions of arguments that are not differentiated, such as functions; the
        backward rule gets them first, by themselves. They may also be arrays.
      nondiff_argnames: the same by name.

    The rules are defined by `defvjp`:

    >>> import covector as cv, covector.numpy as jnp
    >>> @cv.custom_vjp
    ... def clip_gradient(x):
    ...     return x
    >>> clip_gradient.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -1, 1),))
    >>> print(cv.grad(lambda x: 100 * clip_gradient(x))(2.0))
    1.0

    Forward-mode differentiation works, too, where the backward rule can be transposed.
    """

    where = "custom_vjp"

    def __init__(
        self,
        fun: Callable[..., Any],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Define the rules of the derivative.

        Args:
          fwd: takes the arguments of the function, and returns a pair: what the function returns,
            and a tree of residuals.
          bwd: takes (the arguments that are not differentiated,) the residuals and the cotangent of
            the output, and returns a tuple with the cotangent of each other argument; None says
            that it is zero.
          symbolic_zeros: whether `fwd` gets its arguments as `CustomVJPPrimal`s, which say whether
            they are differentiated, and `bwd` gets `SymbolicZero`s for cotangents known to be zero.
          optimize_remat: whether the function itself runs in place of `fwd` where residuals are
            not used, as in the first pass over a checkpointed function; else what `fwd` computes
            for residuals alone is dropped there.
        """
        self.fwd = fwd
        self.bwd = bwd
        self.symbolic_zeros = symbolic_zeros
        self.optimize_remat = optimize_remat

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(custom_errors.no_rule(self.where, self.fun))
        arguments = self.arguments(args, kwargs)
        if config.parity.value:
            self.refuse_traced(arguments)
        call = _VJPCall(self, arguments)
        outs = custom_vjp_function_p.bind(
            *arguments.hand_over(),
            fun=call,
            fwd=_Shown(call.forward, self.fwd),
            bwd=_Shown(self.bwd, self.bwd),
            num_consts=arguments.num_consts,
            out_trees=call.out_trees,
            symbolic_zeros=self.symbolic_zeros,
            optimize_remat=self.optimize_remat,
            name=self.name,
            debug_info=self.debug_info,
        )
        return tree.unflatten(call.out_tree, outs)

    def refuse_traced(self, arguments: CustomArguments) -> None:
        """Raise if an argument that is not differentiated is traced."""
        for x in arguments.operands[: arguments.num_consts]:
            if isinstance(x, Tracer):
                raise UnexpectedTracerError(custom_errors.traced_nondiff(self.fun, x.aval))


class _VJPCall(_Call):
    residual_tree: Any = None

    def out_trees(self) -> tuple[Any, Any]:
        """The structures of the output and of the residuals, as far as they are known."""
        return self.out_tree, self.residual_tree

    def forward(self, operands: Sequence[Any], perturbed: Sequence[bool]) -> Any:
        """The user's forward rule on flat operands."""
        custom, arguments = self.custom, self.arguments
        if custom.symbolic_zeros:
            count = arguments.num_consts
            primals = map(_as_array, operands[count:])
            operands = [*operands[:count], *map(CustomVJPPrimal, primals, perturbed[count:])]
        result = call_traced(custom.fwd, arguments.all_args(operands), {})
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(custom_errors.fwd_rule_no_pair(custom.fwd, custom.fun, result))
        outs, out_tree = tree.flatten(result[0])
        residuals, residual_tree = tree.flatten(result[1])
        for x in residuals:
            if type(x) is Ref and all(x is not given for given in operands):
                raise ValueError(ref_errors.residual_ref(custom_errors.name_of(custom.fwd), x.aval))
        self.residual_tree = residual_tree
        self.check_outputs(custom_errors.fwd_rule_output, custom.fwd, outs, out_tree)
        in_avals = [
            aval_of(x.value if type(x) is CustomVJPPrimal else x).to_cotangent_aval()
            for x in operands
        ]
        residuals = [*residuals, *operands[: arguments.num_consts]]
        return outs, residuals, partial(self.backward, residual_tree, in_avals)

    def backward(
        self, residual_tree: Any, in_avals: Sequence[Any], residuals: Any, cts: Sequence[Any]
    ) -> list[Any]:
        """The user's backward rule on flat residuals and cotangents."""
        custom, arguments = self.custom, self.arguments
        consts = len(residuals) - arguments.num_consts
        prepare = _symbolic if custom.symbolic_zeros else instantiate
        given = (
            *arguments.nondiff_args(residuals[consts:]),
            tree.unflatten(residual_tree, residuals[:consts]),
            tree.unflatten(self.out_tree, [prepare(ct) for ct in cts]),
        )
        result = call_traced(custom.bwd, given, {})
        zeros = any(type(ct) is Zero for ct in cts) and custom.symbolic_zeros
        of_consts = [Zero(aval) for aval in in_avals[: arguments.num_consts]]
        return of_consts + self.cotangents(result, in_avals[arguments.num_consts :], zeros)

    def cotangents(self, result: Any, in_avals: Sequence[Any], zeros_given: bool) -> list[Any]:
        """The flat cotangents in the tuple that the backward rule returned, checked."""
        fun, rule = self.custom.fun, self.custom.bwd
        in_trees = tree.treedef_children(self.arguments.in_tree)
        if isinstance(result, list):
            result = tuple(result)
        if not isinstance(result, tuple) or len(result) != len(in_trees):
            raise TypeError(custom_errors.bwd_rule_no_tuple(rule, fun, len(in_trees), result))
        avals = iter(in_avals)
        cts: list[Any] = []
        for position, (ct, treedef) in enumerate(zip(result, in_trees)):
            leaves = self._leaves(ct, treedef, position)
            for (path, leaf), aval in zip(leaves, avals):
                cts.append(self._cotangent(leaf, aval, f"output[{position}]{path}", zeros_given))
        return cts

    def _leaves(self, ct: Any, treedef: Any, position: int) -> list[tuple[str, Any]]:
        """Path and leaf for each leaf of an argument; None where its cotangent is None."""
        example = tree.unflatten(treedef, range(treedef.num_leaves))
        paths = [keystr(path) for path, _ in tree.leaves_with_path(example)]
        is_none = lambda x: x is None  # noqa: E731
        try:
            spread = tree.broadcast_prefix(
                tree.map(lambda x: _NONE if x is None else _Leaf(x), ct, is_leaf=is_none),
                example,
            )
        except ValueError:
            want, got = treedef, tree.structure(ct)
            rule, fun = self.custom.bwd, self.custom.fun
            raise TypeError(custom_errors.bwd_rule_tree(rule, fun, position, want, got)) from None
        return [(path, None if x is _NONE else x.value) for path, x in zip(paths, spread)]

    def _cotangent(self, ct: Any, aval: Any, place: str, zeros_given: bool) -> Any:
        if ct is None or aval.dtype == float0:
            return Zero(aval)
        is_zero = type(ct) is SymbolicZero
        got: Any = ct.aval if is_zero else aval_of(ct)
        # A rule may keep more digits than the argument has, as for weights of 8 or 16 bits.
        other = all(dtypes.issubdtype(dtype, np.inexact) for dtype in (aval.dtype, got.dtype))
        if got.shape == aval.shape and (other or got.dtype in (aval.dtype, float0)):
            return Zero(aval) if is_zero or got.dtype == float0 else ct
        note = custom_errors.CONSIDER_NONE if zeros_given else ""
        rule, fun = self.custom.bwd, self.custom.fun
        types = _short(aval), _short(got)
        raise ValueError(custom_errors.bwd_rule_type(rule, fun, place, *types, note))


class _Leaf:
    """A cotangent, kept apart from what `None` may stand for in a tree."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value


_NONE = _Leaf(None)


# ---------------------------------------------------------------- rules that the function returns


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns, together with its output, the function that pulls cotangents back.

    Args:
      fun: takes trees of arrays, and returns a pair of the output and of a function from the
        output's cotangent to the cotangents of the arguments (a tuple, or one if there is one).

    Returns:
      The function with the output alone.

    >>> import covector as cv
    >>> @cv.custom_gradient
    ... def square_with_half_gradient(x):
    ...     return x**2, lambda ct: ct * x
    >>> print(cv.grad(square_with_half_gradient)(3.0))
    3.0
    """
    from_rule = custom_vjp(lambda *args: fun(*args)[0])

    def forward(*args: Any) -> Any:
        out, pull = fun(*args)
        return out, _staged(pull, out)

    def backward(pull: Callable[..., Any], ct: Any) -> tuple[Any, ...]:
        cts = pull(ct)
        return cts if isinstance(cts, tuple) else tuple(cts) if isinstance(cts, list) else (cts,)

    from_rule.defvjp(forward, backward)

    def with_rule(*args: Any, **kwargs: Any) -> Any:
        return from_rule(*resolve_keywords("custom_gradient", fun, args, kwargs))

    return update_wrapper(with_rule, fun)


def _staged(pull: Callable[[Any], Any], out: Any) -> Partial:
    """A function of the cotangent of `out` as a tree: its leaves are what it closes over."""
    flat = FlatFunction(pull, tree.structure(((out,), {})))
    cts = [aval_of(x).to_cotangent_aval() for x in tree.leaves(out)]
    jaxpr, consts = stage(flat, cts)

    def apply(*args: Any) -> Any:
        *values, ct = args
        outs = eval_jaxpr(jaxpr, values, *tree.leaves(ct))
        return tree.unflatten(flat.out_tree, outs)

    return Partial(apply, *consts)
