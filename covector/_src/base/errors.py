"""Every exception that Covector raises for its users, and the wording of its messages.

    Exception
    ├─ TypeError
    │  ├─ JAXTypeError
    │  │  ├─ ConcretizationTypeError            a traced value was used where a number is needed
    │  │  │  ├─ TracerBoolConversionError       ... in `if`, `while`, `and`, `bool()`
    │  │  │  ├─ TracerArrayConversionError      ... as a NumPy array
    │  │  │  └─ TracerIntegerConversionError    ... as a Python index
    │  │  └─ JaxprTypeError                     a jaxpr is not well typed
    │  └─ TypePromotionError                    (also ValueError) two dtypes have no common one
    ├─ IndexError
    │  └─ JAXIndexError
    │     └─ NonConcreteBooleanIndexError       a traced boolean mask decides a shape
    ├─ InconclusiveDimensionOperation           a question about unknown sizes has no one answer
    ├─ UnexpectedTracerError                    a traced value outlived its trace
    ├─ LeakedTracerError                        the same, found early by `checking_leaks`
    └─ ImpureFunctionError                      a traced function has side effects

A message has three parts: where (the public function), the fact with the user's own shapes, dtypes
and values, and what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

# ---------------------------------------------------------------- tracer errors


class JAXTypeError(TypeError):
    """A traced value was used in a way that tracing does not allow."""


class ConcretizationTypeError(JAXTypeError):
    """A traced value was used where its number must be known."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A traced value was used as a condition: in `if`, `while`, `and`, `or`, `not`, `bool()`."""


class TracerArrayConversionError(JAXTypeError):
    """A traced value was handed to NumPy, which needs its elements."""


class TracerIntegerConversionError(JAXTypeError):
    """A traced value was used as a Python integer: an index, a size, a `range`."""


class KeyReuseError(JAXTypeError):
    """A random key was used twice, which `debug_key_reuse` looks for."""


class JAXIndexError(IndexError):
    """An array was indexed in a way that is not supported."""


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean mask would decide the shape of the result."""


class JaxprTypeError(TypeError):
    """A jaxpr is not well typed."""


class JaxRuntimeError(RuntimeError):
    """XLA refused to compile a program, or failed while running it."""


class InconclusiveDimensionOperation(Exception):
    """A question about symbolic sizes of dimensions has not the same answer for all of them."""


class UnexpectedTracerError(Exception):
    """A traced value was used after the transformation that made it had returned."""


class LeakedTracerError(Exception):
    """Somebody still held a traced value when the transformation that made it returned."""


class ImpureFunctionError(Exception):
    """A traced function has side effects, which `checking_purity` looks for.

    Attributes:
      findings: each of them in words, with the user's line where it is known.
    """

    def __init__(self, message: str, findings: Sequence[str] = ()):
        super().__init__(message)
        self.findings = list(findings)


# ---------------------------------------------------------------- rules that are missing
# The first line of each is the text that JAX's users know; the second says how to give the rule.


def missing_impl(name: str) -> str:
    return f"Evaluation rule for '{name}' not implemented"


def missing_abstract_eval(name: str) -> str:
    return f"Abstract evaluation for '{name}' not implemented"


def missing_jvp(name: str) -> str:
    return f"Differentiation rule for '{name}' not implemented"


def missing_transpose(name: str) -> str:
    return f"Transpose rule (for reverse-mode differentiation) for '{name}' not implemented"


def missing_batching(name: str) -> str:
    return f"Batching rule for '{name}' not implemented"


def missing_lowering(name: str, platform: str) -> str:
    return f"MLIR translation rule for primitive '{name}' not found for platform {platform}"


def missing_reference(name: str) -> str:
    return (
        f"Reference rule for '{name}' not implemented: give the primitive a method `ref` that "
        "computes its result on NumPy arrays"
    )


# ---------------------------------------------------------------- values


def alias_and_donate() -> str:
    return (
        "[device_put] may_alias and donate cannot be True at the same time: memory that is given "
        "away cannot be shared with its owner. Leave one of them out."
    )


def masked_array() -> str:
    return (
        "numpy masked arrays are not supported as arguments: their masks would be lost. Fill in "
        "the masked elements first, with `x.filled(0)`, or pass `x.data` and `x.mask` separately."
    )


def not_a_valid_array_type(x: object) -> str:
    return (
        f"Value {_shortened(x)} of type {type(x)} is not a valid JAX type. Arrays, NumPy arrays "
        "and scalars, and Python numbers are; pass other values as static arguments, or close "
        "over them."
    )


def dtype_not_accepted(
    name: str, dtype: object, accepts: Sequence[type], index: int, count: int
) -> str:
    kinds = ", ".join(kind.__name__.rstrip("_") for kind in accepts)
    if count == 1:
        return f"{name} does not accept dtype {dtype}. Accepted dtypes are subtypes of {kinds}."
    return (
        f"{name} does not accept dtype {dtype} at position {index}. Accepted dtypes at position "
        f"{index} are subtypes of {kinds}."
    )


def dtypes_differ(name: str, found: Sequence[object]) -> str:
    listed = ", ".join(map(str, found))
    return (
        f"lax.{name} requires arguments to have the same dtypes, got {listed}. Convert one with "
        f"`x.astype(...)`, or use the function of covector.numpy, which promotes."
    )


def ranks_differ(name: str, shapes: Sequence[tuple[int, ...]]) -> str:
    listed = " and ".join(map(str, shapes))
    return (
        f"lax.{name}: arrays must have the same number of dimensions, or none, got shapes "
        f"{listed}. Add dimensions with `reshape`, or use the function of covector.numpy, which "
        "broadcasts."
    )


def shapes_do_not_broadcast(name: str, shapes: Sequence[tuple[int, ...]]) -> str:
    listed = ", ".join(map(str, shapes))
    return (
        f"{name} got incompatible shapes for broadcasting: {listed}. In each dimension the sizes "
        "must be equal, or 1."
    )


# ---------------------------------------------------------------- arguments of transformations


def aot_tree_differs(name: str, want: object, got: object) -> str:
    return (
        f"[{name}] Function compiled with input pytree does not match the input pytree it was "
        f"called with: it was compiled for {want}, and called with {got}. Static arguments are "
        "left out of the call of a compiled program."
    )


def aot_transformed(name: str, kind: type) -> str:
    return (
        f"[{name}] Cannot apply JAX transformations to a function lowered and compiled for a "
        f"particular signature. Detected an argument of the type {kind}: call the jitted function "
        "itself there."
    )


def aot_types_differ(name: str, wrong: Sequence[tuple[str, object, object]]) -> str:
    listed = "".join(
        f"\nArgument {arg!r} compiled with {want} and called with {got}" for arg, want, got in wrong
    )
    return (
        f"[{name}] Argument types differ from the types for which this computation was "
        f"compiled. The mismatches are:{listed}\nCall it with arguments of those types, or call "
        "the jitted function, which compiles for new ones."
    )


def unhashable_static(where: str, value: object) -> str:
    return (
        f"[{where}] Non-hashable static arguments are not supported, but got a value of type "
        f"{type(value)}: {_shortened(value)}. Static arguments are compared between calls to "
        "decide whether to trace again: pass a tuple instead of a list, or pass arrays as "
        "ordinary arguments."
    )


def incomparable_static(value: object) -> str:
    return (
        f"[jit] static arguments should be comparable using __eq__, which failed for one of type "
        f"{type(value)}. They are compared between calls to decide whether to trace again."
    )


def argnum_not_int(where: str, what: str, value: object) -> str:
    return f"[{where}] {what} must be integers, but got {value!r} of type {type(value)}."


def argname_not_str(where: str, what: str, value: object) -> str:
    return f"[{where}] {what} must be strings, but got {value!r} of type {type(value)}."


def argnum_out_of_range(
    where: str, what: str, n: int, fun: object, signature: object, count: int
) -> str:
    return (
        f"[{where}] {what} names position {n}, but {_name_of(fun)}{signature} takes {count} "
        f"positional arguments: positions go from {-count} to {count - 1}."
    )


def unknown_argname(where: str, what: str, name: str, fun: object, signature: object) -> str:
    return (
        f"[{where}] {what} names {name!r}, but {_name_of(fun)}{signature} takes no argument of "
        "that name."
    )


def static_and_donated(where: str, arguments: Sequence[object]) -> str:
    return (
        f"[{where}] static_argnames and donate_argnames cannot intersect, nor can their argnums, "
        f"but {arguments} are in both: a static argument is no array whose memory could be reused."
    )


def tracing_forbidden(fun: object) -> str:
    return (
        f"[jit] {_name_of(fun)} would be traced for arguments of new types, but the flag "
        "'no_tracing' is on. Call it with arguments of the types that it was traced for before."
    )


def execution_forbidden(name: str) -> str:
    return f"[{name}] a computation would run, but the flag 'no_execution' is on."


def no_signature(where: str, what: str, fun: object) -> str:
    return (
        f"[{where}] Getting the signature of function {_name_of(fun)} failed. Pass {what}_argnums "
        f"instead of {what}_argnames."
    )


def argument_not_an_array(where: str, fun: str, name: str, value: object) -> str:
    own_class = "__dict__" in dir(type(value)) and not isinstance(value, type)
    node = ", or register its class as a node of trees (tree_util.register_dataclass)"
    return (
        f"[{where}] Error interpreting argument to {fun} as an abstract array. The problematic "
        f"value is of type {type(value)} and was passed to the function at path {name}. It is "
        f"{_shortened(value)}: pass it as a static argument (static_argnums or static_argnames of "
        f"jit), or close over it{node if own_class else ''}."
    )


def description_not_an_array(where: str, value: object) -> str:
    return (
        f"[{where}] Value {_shortened(value)} of type {type(value)} is not a valid JAX type here: "
        "it tells of an array, but has no elements. Pass an array; or trace without elements, with "
        "`eval_shape`, `make_jaxpr` or `jit(f).lower`."
    )


def argument_too_large(where: str, fun: str, name: str, value: int) -> str:
    return (
        f"[{where}] An overflow of the argument to {fun} whose argument path is {name}: the "
        f"integer {_shortened(value)} has more bits than integers have here. Pass a NumPy array or "
        "number of a wider dtype while `covector.enable_x64` is on, or a float."
    )


def _name_of(fun: object) -> str:
    return getattr(fun, "__name__", None) or repr(fun)


# ---------------------------------------------------------------- arrays and devices


def array_deleted(aval: object) -> str:
    return (
        f"The array of type {aval} was deleted: by its `delete`, or because it was donated to a "
        "compiled function (donate_argnums), which reused its memory for a result. Use the "
        "function's result, or do not donate the argument."
    )


def no_cuda_interface(device: object) -> str:
    return (
        "__cuda_array_interface__ is only defined for unsharded GPU buffers, but this array "
        f"lies on {device}. Use `__dlpack__`, or numpy.asarray."
    )


def dlpack_dtype_unsupported(array: object, error: object) -> str:
    dtype = getattr(array, "dtype", "unknown")
    return (
        f"[from_dlpack] an array of dtype {dtype} cannot be taken over: {error}. Convert it to a "
        "supported dtype first, or copy it with `covector.numpy.asarray(numpy.asarray(x))`."
    )


def argument_deleted(name: str) -> str:
    return (
        f"[{name}] an argument is an array that was deleted: by its `delete`, or because it was "
        "donated to a compiled function (donate_argnums), which reused its memory for a result. "
        "Use that function's result, or do not donate the argument."
    )


def devices_differ(doing: str, arrays: Sequence[tuple[object, object]]) -> str:
    listed = "; ".join(f"{aval} on {device}" for aval, device in arrays)
    return (
        f"[{doing}] Received incompatible devices for one computation: {listed}. Arrays that were "
        "put on a device with `device_put` stay there; move them to one device with `device_put` "
        "first."
    )


def started_already(flag: str) -> str:
    return (
        f"[config.update] {flag} config should be updated before backends are initialized: set it "
        "before the first array is made, or in the environment."
    )


def forked() -> str:
    return (
        "[os.fork] the process is copied without the threads in which XLA computes: the copy will "
        "wait for ever when it applies an operation. Start processes that use Covector by "
        '`multiprocessing.get_context("spawn")`.'
    )


def unknown_backend(name: str, why: str) -> str:
    return (
        f"[devices] the backend {name!r} is not available: {why}. Install the PJRT plugin that "
        "matches this jaxlib, or choose another platform (the `platforms` flag, or the "
        "environment variable COVECTOR_PLATFORMS)."
    )


def escaped_tracer(tracer: Any, doing: str) -> str:
    origin = tracer.origin()
    made = f"\n  It was created {origin}." if origin else ""
    return (
        f"[{doing}] Encountered an unexpected tracer: a traced value of type "
        f"{tracer.aval} was used after the transformation that made it had returned."
        f"{made}\n"
        "  A traced value stands for an array only while its function is being transformed. "
        "Return it from the function instead of storing it in a list, attribute or other global "
        "state; `covector.checking_leaks()` reports the place where it is stored."
    )


# ---------------------------------------------------------------- configuration


def flag_without_effect(name: str, value: object) -> str:
    return (
        f"[config] '{name}' is a flag of JAX's that means nothing to Covector: setting it to "
        f"{value!r} has no effect."
    )


def unknown_flag(name: str, closest: str | None) -> str:
    advice = f"Did you mean '{closest}'?" if closest else "`covector.config.values` lists all."
    return f"[config] There is no flag '{name}'. {advice}"


def wrong_flag_value(where: str, name: str, value: object, allowed: str) -> str:
    return (
        f"[{where}] The flag {name} cannot be {_shortened(value)} ({type(value).__name__}). "
        f"Allowed are: {allowed}."
    )


def flag_needs_a_value(name: str, allowed: str) -> str:
    return (
        f"[{name}] This context manager was called without a value. Give one, as in "
        f"`with covector.{name}(value):`; allowed are: {allowed}."
    )


def flag_is_not_its_value(name: str) -> str:
    return (
        f"[{name}] The flag itself is neither true nor false. Read `covector.config.jax_{name}`, "
        f"or the attribute `value` of the flag."
    )


def flag_is_not_assignable(name: str, value: object) -> str:
    return (
        f"[config] The flag {name} cannot be assigned to. Call "
        f"`covector.config.update({name!r}, {_shortened(value)})` instead."
    )


# ---------------------------------------------------------------- dtypes


class TypePromotionError(TypeError, ValueError):
    """Dtypes that meet in one operation have no common dtype."""


def no_common_dtype(nodes: Iterable[str], strict: bool, narrow: Iterable[str]) -> str:
    met = " and ".join(sorted(nodes))
    if strict:
        return (
            f"[dtype promotion] Input dtypes {met} have no available implicit dtype promotion path "
            "when jax_numpy_dtype_promotion=strict. Convert an operand explicitly, as in "
            "`x.astype('float32')`, or use `covector.numpy_dtype_promotion('standard')`."
        )
    kinds = sorted({_kind_of_narrow(name) for name in narrow})
    reason = f" {' and '.join(kinds)} do not support implicit promotion." if kinds else ""
    return (
        f"[dtype promotion] Input dtypes {met} have no available implicit dtype promotion path."
        f"{reason} Convert an operand explicitly, as in `x.astype('float32')`."
    )


def _kind_of_narrow(name: str) -> str:
    """`4-bit integers` for int4 and uint4, `8-bit floats` for float8_e5m2 and its kin."""
    family, digits = re.match(r"([a-z]+)(\d)", name).groups()  # type: ignore[union-attr]
    return f"{digits}-bit {'floats' if family == 'float' else 'integers'}"


def not_promotable(names: Iterable[str]) -> str:
    return (
        f"[dtype promotion] Values of dtype {' and '.join(sorted(names))} meet only values of the "
        "same dtype; there is no common dtype with others. Convert an operand explicitly."
    )


def not_a_dtype(where: str, dtype: object) -> str:
    hint = f" A shape is one argument: `{where}((2, 3))`." if isinstance(dtype, int) else ""
    return (
        f"[{where}] {_shortened(dtype)} is not understood as a dtype. Give a NumPy dtype or "
        f"scalar type, a name such as 'float32', or bool, int, float or complex.{hint}"
    )


def no_dtype_given(where: str) -> str:
    return f"[{where}] The dtype is None. Give one, such as 'float32'."


def array_given_as_dtype(where: str, dtype: object) -> str:
    return f"[{where}] The dtype is an array of dtype {dtype}. Pass its attribute `dtype` instead."


def unsupported_dtype(where: str, dtype: object) -> str:
    return (
        f"[{where}] An array of dtype {dtype} is not a valid JAX type. Supported are booleans, "
        "integers, floats and complex numbers in the machine's byte order, and strings."
    )


def no_arguments(where: str, wanted: str) -> str:
    return f"[{where}] There is no argument. Give {wanted}, at least."


def no_dtype_of_value(x: object) -> str:
    return (
        f"[dtype] The value {_shortened(x)} of type {type(x).__name__} has no dtype. Make it an "
        "array first, with `covector.numpy.asarray`."
    )


def dtype_needs_x64(where: str, dtype: object, truncated: object) -> str:
    return (
        f"[{where}] Explicitly requested dtype {dtype} needs 64-bit mode, which is off; "
        f"{truncated} is used in its place. To turn it on, call "
        "`covector.config.update('jax_enable_x64', True)` or set the environment variable "
        "COVECTOR_ENABLE_X64=1."
    )


def dtype_forbidden_without_x64(where: str, dtype: object) -> str:
    return (
        f"[{where}] Explicitly requested dtype {dtype} needs 64-bit mode, which is off, and "
        "`explicit_x64_dtypes` is 'error'. Call `covector.config.update('jax_enable_x64', "
        "True)`, or set that flag to 'allow'."
    )


def extended_dtype_in(where: str, dtype: object) -> str:
    return (
        f"[{where}] The extended dtype {dtype} has no NumPy counterpart. Pass "
        "`allow_extended_dtype=True` to get it back as it is."
    )


def no_item_size(dtype: object) -> str:
    return (
        f"[itemsize_bits] Elements of dtype {dtype} have no fixed number of bits here. Give a "
        "boolean, integer, float or complex dtype."
    )


def not_a_scalar_kind(dtype: object) -> str:
    return (
        f"[scalar_type_of] No Python number corresponds to dtype {dtype}. Give a value or dtype "
        "that is boolean, integer, float or complex."
    )


def unknown_dtype_kind(kind: object, kinds: Iterable[str]) -> str:
    return (
        f"[isdtype] {kind!r} is neither a dtype nor a kind of dtypes. The kinds are: "
        f"{', '.join(map(repr, kinds))}."
    )


def _shortened(x: object, limit: int = 80) -> str:
    text = repr(x)
    return text if len(text) <= limit else text[: limit - 3] + "..."
