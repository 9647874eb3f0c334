"""`Exported`: a function that was lowered to a portable program, and can be called and stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..base import export_errors as errors
from ..core.avals import ShapedArray
from ..core.effects import Effect
from ..xla.portable import artifact_text, from_artifact
from .call import argument, call_on_trees, differentiable
from .encoding import decode, encode
from .safety import DisabledSafetyCheck
from .solving import Problem, equations_of


@dataclass(frozen=True, eq=False, repr=False)
class Exported:
    """A function lowered to StableHLO, with all that is needed to call it.

    It is made by `export` or read by `deserialize`.

    Attributes:
      fun_name: the name of the function.
      in_tree: the structure of the arguments, `(args, kwargs)`.
      in_avals: the types of the arguments' leaves.
      out_tree: the structure of the result.
      out_avals: the types of the result's leaves.
      platforms: the platforms it can be called on, such as `("cpu", "cuda")`.
      ordered_effects, unordered_effects: what it does besides returning a result.
      disabled_safety_checks: which checks are left out.
      calling_convention_version: the version of the way in which the program takes its arguments.
      module_kept_var_idx: which leaves of the arguments the program takes; it reads no others.
      modules: for each platform its program, as a portable artifact of StableHLO's.
      nr_devices: on how many devices it runs.
    """

    fun_name: str
    in_tree: Any
    in_avals: tuple[Any, ...]
    out_tree: Any
    out_avals: tuple[Any, ...]
    platforms: tuple[str, ...]
    ordered_effects: tuple[Effect, ...]
    unordered_effects: tuple[Effect, ...]
    disabled_safety_checks: tuple[DisabledSafetyCheck, ...]
    calling_convention_version: int
    module_kept_var_idx: tuple[int, ...]
    modules: tuple[bytes, ...] = field(repr=False)
    nr_devices: int = 1
    _get_vjp: Callable[[Exported], Exported] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        types = f"{self._types(self.in_avals)} -> {self._types(self.out_avals)}"
        return f"Exported(fun_name={self.fun_name}, {types}, platforms={self.platforms})"

    def _types(self, avals: Sequence[ShapedArray]) -> str:
        return f"({', '.join(aval.str_short(True) for aval in avals)})"

    # ---------------------------------------------------------------- the program

    @property
    def mlir_module_serialized(self) -> bytes:
        """The program for the first platform, as a portable artifact."""
        return self.modules[0]

    def module_for(self, platform: str) -> bytes:
        """The program for one of the platforms, as a portable artifact."""
        return self.modules[self.platforms.index(platform)]

    def mlir_module(self, serialized: bool = True, platform: str | None = None) -> Any:
        """The program as text, or as an object of jaxlib's.

        Args:
          serialized: whether it is wanted as text.
          platform: for which platform; the first one by default.
        """
        artifact = self.module_for(platform or self.platforms[0])
        return artifact_text(artifact) if serialized else from_artifact(artifact)

    @property
    def uses_global_constants(self) -> bool:
        """Whether shapes of arguments are symbolic, or the platform is known only on the call."""
        return len(self.platforms) > 1 or self.is_symbolic

    @property
    def is_symbolic(self) -> bool:
        """Whether shapes of arguments are symbolic."""
        return bool(self.equations.equations)

    @cached_property
    def equations(self) -> Problem:
        """What shapes of arguments say of the dimension variables."""
        return equations_of(self.in_avals, lambda i: argument(self, i))

    @property
    def constraints(self) -> list[str]:
        """What was said of the dimension variables when the function was exported."""
        if not self.is_symbolic:
            return []
        scope = self.equations.equations[0].size.scope
        return [constraint.text for constraint in scope.constraints]

    # ---------------------------------------------------------------- devices

    @property
    def in_shardings_hlo(self) -> tuple[None, ...]:
        """For each argument how it is spread over devices, of which the program asks nothing."""
        return (None,) * len(self.in_avals)

    @property
    def out_shardings_hlo(self) -> tuple[None, ...]:
        """For each result how it is spread over devices, of which the program says nothing."""
        return (None,) * len(self.out_avals)

    def in_shardings_jax(self, mesh: Any) -> tuple[None, ...]:
        """For each argument its sharding over a mesh: None, as any will do."""
        return self.in_shardings_hlo

    def out_shardings_jax(self, mesh: Any) -> tuple[None, ...]:
        """For each result its sharding over a mesh: None, as nothing is said of it."""
        return self.out_shardings_hlo

    # ---------------------------------------------------------------- calling

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        It may be called within functions that are compiled, exported or differentiated in reverse
        mode; not under `vmap`.

        Args:
          *args, **kwargs: trees of arrays in the containers, and of the shapes and dtypes, that the
            function was exported for.

        Returns:
          Its result.

        Raises:
          ValueError: the arguments are others, or the function was not exported for the platform.
        """
        return call_on_trees(self, args, kwargs)

    @cached_property
    def call_flat(self) -> Any:
        """The function from leaves of the arguments to the tuple of the result's leaves."""
        return differentiable(self)

    def has_vjp(self) -> bool:
        """Whether the function can be differentiated."""
        return self._get_vjp is not None

    def vjp(self) -> Exported:
        """The exported derivative, from primals and cotangents of the result.

        Returns:
          A program that takes the leaves of the arguments and, after them, a cotangent for each
          leaf of the result, and returns a tuple of cotangents of the arguments' leaves.

        Raises:
          ValueError: the program was read from where it was stored without derivatives.
        """
        if self._get_vjp is None:
            raise ValueError(errors.no_vjp(self.fun_name))
        return self._vjp

    @cached_property
    def _vjp(self) -> Exported:
        assert self._get_vjp is not None
        return self._get_vjp(self)

    # ---------------------------------------------------------------- storing

    def serialize(self, vjp_order: int = 0) -> bytearray:
        """The program as bytes, which `deserialize` reads in this or a later Covector.

        Args:
          vjp_order: how often the function that is read can be differentiated.

        Raises:
          TypeError, ValueError: arguments or results are in containers that cannot be written.
        """
        return bytearray(encode(self, vjp_order))


def deserialize(blob: bytes | bytearray) -> Exported:
    """Read an exported program.

    Args:
      blob: what `Exported.serialize` returned. Nothing in it is executed when it is read; calling
        the result runs the program, so do that only with programs whose origin is known.

    Raises:
      ValueError: it is no such program, is damaged, was written by a later version, or has
        containers or effects of classes that are not known in this process.

    >>> import covector as cv, covector.numpy as jnp
    >>> from covector import export
    >>> data = export.export(cv.jit(lambda x: 2 * x))(jnp.ones(3)).serialize()
    >>> print(export.deserialize(data).call(jnp.ones(3)))
    [2. 2. 2.]
    """
    return _from_fields(decode(bytes(blob)))


def _from_fields(fields: dict[str, Any]) -> Exported:
    vjp = fields.pop("vjp")
    return Exported(**fields, _get_vjp=vjp and (lambda _: _from_fields(dict(vjp))))
