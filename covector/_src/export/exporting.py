"""`export`: from a jitted function to a portable program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..api.autodiff import vjp
from ..api.jit import jit
from ..api.shape_dtype import ShapeDtypeStruct
from ..base import config, dim_errors, tree
from ..base import export_errors as errors
from ..base.dims import Dim
from ..core.effects import ordered_effects
from ..core.jaxpr import ClosedJaxpr, jaxpr_as_fun
from ..xla.compile import lower_jaxpr
from ..xla.devices import first_device, lowering_platform
from ..xla.dynamic import NUMBERS, lower_symbolic
from ..xla.portable import called_targets, to_artifact
from .call import argument_of, place
from .exported import Exported
from .safety import DisabledSafetyCheck, check_targets
from .solving import Problem, equations_of, measured

minimum_supported_calling_convention_version = 9
maximum_supported_calling_convention_version = 10


def default_export_platform() -> str:
    """The platform for which functions are exported by default: that of the default device.

    >>> from covector import export
    >>> export.default_export_platform()
    'cpu'
    """
    return lowering_platform(first_device())


def export(
    fun_jit: Callable[..., Any],
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
) -> Callable[..., Exported]:
    """Lower a function to a program that can be stored, and called without the function.

    Args:
      fun_jit: a function made by `jit`, or one of Covector's own.
      platforms: where the program is to run: some of `"cpu"`, `"cuda"`, `"rocm"`, `"tpu"`, which
        need not be present here; the default platform if None.
      disabled_checks: checks to leave out.

    Returns:
      A function that takes arguments of the types to export for, arrays or `ShapeDtypeStruct`s,
      and returns an `Exported`. Static arguments are part of the program.

    Raises:
      ValueError: the function is not jitted; or, when it is lowered, it calls foreign functions
        that other processes may not have, such as callbacks into Python.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import export
    >>> exported = export.export(cv.jit(jnp.sin))(cv.ShapeDtypeStruct((2,), jnp.float32))
    >>> exported
    Exported(fun_name=sin, (f32[2]) -> (f32[2]), platforms=('cpu',))
    >>> print(exported.call(jnp.zeros(2)))
    [0. 0.]
    """
    if not (callable(getattr(fun_jit, "trace", None)) and hasattr(fun_jit, "lower")):
        if not _is_own(fun_jit):
            raise ValueError(errors.not_jitted(fun_jit))
        fun_jit = jit(fun_jit)
    names = (default_export_platform(),) if platforms is None else tuple(platforms)
    if not names:
        raise ValueError(errors.no_platforms())

    def exporting(*args: Any, **kwargs: Any) -> Exported:
        _check_scopes(fun_jit, args, kwargs)
        return _exported(fun_jit.trace(*args, **kwargs), names, tuple(disabled_checks))

    return exporting


def _check_scopes(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise ValueError if symbolic sizes of arguments are of more than one scope."""
    first: Any = None
    for path, leaf in tree.leaves_with_path((args, kwargs)):
        for size in getattr(leaf, "shape", ()):
            if not isinstance(size, Dim):
                continue
            if first is None:
                first = size, place(path)
            elif size.scope is not first[0].scope:
                when = f"when exporting {getattr(fun, '__name__', fun)}"
                raise ValueError(
                    dim_errors.scopes_mixed(when, first[0], size, (first[1], place(path)))
                )


def _is_own(fun: Any) -> bool:
    """Whether a function is of Covector's own public namespaces, which elsewhere are jitted."""
    module = getattr(fun, "__module__", None) or ""
    return callable(fun) and module.partition(".")[0] == __name__.partition(".")[0]


def _exported(
    traced: Any, platforms: tuple[str, ...], disabled: tuple[DisabledSafetyCheck, ...]
) -> Exported:
    """What a traced function is exported as."""
    jaxpr: ClosedJaxpr = traced.jaxpr
    name: str = traced.fun_name
    captured = len(jaxpr.in_avals) - traced.in_tree.num_leaves
    if traced._spread is not None and traced._spread.is_over_many:
        raise NotImplementedError(errors.several_devices(name, len(traced._spread.devices)))
    if captured:
        raise ValueError(errors.closes_over_tracers(name, captured))
    problem = equations_of(jaxpr.in_avals, lambda i: argument_of(traced.in_tree, i))
    lowered = [_lowered(traced, platform, disabled, problem) for platform in platforms]
    return Exported(
        fun_name=name,
        in_tree=traced.in_tree,
        in_avals=tuple(jaxpr.in_avals),
        out_tree=traced.out_tree,
        out_avals=tuple(jaxpr.out_avals),
        platforms=platforms,
        ordered_effects=tuple(ordered_effects(jaxpr.effects)),
        unordered_effects=tuple(
            sorted([effect for effect in jaxpr.effects if not effect.ordered], key=repr)
        ),
        disabled_safety_checks=disabled,
        calling_convention_version=_version(),
        module_kept_var_idx=lowered[0][1],
        modules=tuple(artifact for artifact, _ in lowered),
        _get_vjp=lambda primal: _exported_vjp(jaxpr, primal),
    )


def _version() -> int:
    version: int = config.export_calling_convention_version.value
    lowest = minimum_supported_calling_convention_version
    highest = maximum_supported_calling_convention_version
    if not lowest <= version <= highest:
        raise ValueError(errors.version_out_of_range(version, lowest, highest))
    return version


def _lowered(
    traced: Any, platform: str, disabled: Sequence[DisabledSafetyCheck], problem: Problem
) -> tuple[bytes, tuple[int, ...]]:
    """The program for a platform, and which arguments it takes."""
    jaxpr, name = traced.jaxpr, traced.fun_name
    if problem.equations:
        solve = lambda size_at: measured(problem, size_at, NUMBERS)  # noqa: E731
        context, kept = lower_symbolic(jaxpr, name, platform, solve)
    else:
        keep_unused = traced._params["keep_unused"]
        lowered = lower_jaxpr(
            jaxpr, name, keep_unused=keep_unused, platform=platform, is_portable=True
        )
        context, kept = lowered.module_context, lowered.kept
    check_targets(name, called_targets(context.module), disabled)
    artifact = to_artifact(context.module)
    context.close()
    return artifact, tuple(kept)


def _exported_vjp(jaxpr: ClosedJaxpr, primal: Exported) -> Exported:
    """The exported derivative of an exported program."""
    fun = jaxpr_as_fun(jaxpr)

    def pulled_back(*leaves: Any) -> tuple[Any, ...]:
        count = len(primal.in_avals)
        _, pullback = vjp(lambda *at: fun(*at), *leaves[:count])
        return pullback(list(leaves[count:]))

    pulled_back.__name__ = pulled_back.__qualname__ = f"{primal.fun_name}_vjp"
    cotangents = [aval.to_cotangent_aval() for aval in primal.out_avals]
    exporting = export(
        jit(pulled_back),
        platforms=primal.platforms,
        disabled_checks=primal.disabled_safety_checks,
    )
    return exporting(*map(ShapeDtypeStruct.like, [*primal.in_avals, *cotangents]))
