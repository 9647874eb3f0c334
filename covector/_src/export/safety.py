"""Which foreign functions an exported program may call, and which checks one may leave out."""

from __future__ import annotations

from collections.abc import Sequence

from ..base import export_errors as errors

_CUSTOM_CALL = "custom_call:"


class DisabledSafetyCheck:
    """A check of exported programs that is left out; made by `platform` or `custom_call`.

    >>> from covector.export import DisabledSafetyCheck
    >>> DisabledSafetyCheck.custom_call("my_kernel")
    custom_call:my_kernel
    """

    __slots__ = ("_text",)

    def __init__(self, _impl: str):
        self._text = _impl

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Let the program be called on platforms that it was not exported for."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Let the program call a foreign function that other processes may not have.

        Args:
          target_name: the name of the function, or `"ALL"`.
        """
        return cls(_CUSTOM_CALL + target_name)

    def is_custom_call(self) -> str | None:
        """The name of the foreign function that this lets the program call."""
        found = self._text.startswith(_CUSTOM_CALL)
        return self._text.removeprefix(_CUSTOM_CALL) if found else None

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisabledSafetyCheck) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def _lapack_targets() -> set[str]:
    """The functions for matrices that jaxlib has had under the same names for long."""
    real = ("orgqr", "ormqr", "syevd", "sytrd")
    complex_ = ("ungqr", "unmqr", "heevd", "hetrd")
    both = (
        *("potrf", "getrf", "geqrf", "geqp3", "gesdd", "gesvd", "geev", "gees", "gehrd"),
        *("gtsv", "trsm"),
    )
    kinds = {"sd": (*real, *both), "cz": (*complex_, *both)}
    return {f"lapack_{k}{name}_ffi" for ks, names in kinds.items() for k in ks for name in names}


# The foreign functions that every jaxlib brings, by platform: CPU, GPU, TPU, all.
STABLE_TARGETS = frozenset(
    {
        *_lapack_targets(),
        *(
            f"{maker}{name}_ffi"
            for maker in ("cusolver_", "hipsolver_")
            for name in ("getrf", "geqrf", "orgqr", "potrf", "syevd", "gesvd", "gesvdj", "sytrd")
        ),
        *("hipsolver_gesdd_ffi", "cusparse_gtsv2_ffi"),
        *(f"{maker}_lu_pivots_to_permutation" for maker in ("cu", "hip")),
        *(f"{maker}_threefry2x32_ffi" for maker in ("cu", "hip")),
        *("Eigh", "Qr", "ProductOfElementaryHouseholderReflectors", "LuDecomposition"),
        *("ApproxTopK", "stablehlo.dynamic_approx_top_k"),
        *("stablehlo.dynamic_reduce_window", "stablehlo.dynamic_rng_bit_generator"),
        *("stablehlo.dynamic_top_k", "Sharding", "annotate_device_placement"),
    }
)


def check_targets(name: str, targets: Sequence[str], disabled: Sequence[object]) -> None:
    """Raise ValueError if a program calls foreign functions that other processes may not have.

    Args:
      name: of the exported function.
      targets: what it calls.
      disabled: checks that are left out.
    """
    allowed = {c.is_custom_call() for c in disabled if isinstance(c, DisabledSafetyCheck)}
    wrong = [target for target in targets if target not in STABLE_TARGETS | allowed]
    if wrong and "ALL" not in allowed:
        callbacks = any("python" in target and "callback" in target for target in wrong)
        raise ValueError(errors.unstable_targets(name, wrong, callbacks))
