"""Texts of errors of exported programs: those of covector.export."""

from __future__ import annotations

from collections.abc import Sequence

# ---------------------------------------------------------------- exporting


def not_jitted(fun: object) -> str:
    return (
        f"[export] Function to be exported must be the result of `jit`, but it is {fun!r} of type "
        f"{type(fun).__name__}. Write `export(jit(f))`."
    )


def closes_over_tracers(name: str, count: int) -> str:
    return (
        f"[export] The function {name} closes over {count} traced values of a transformation that "
        "is under way, and an exported program must stand for itself. Pass them as arguments."
    )


def several_devices(name: str, count: int) -> str:
    return (
        f"[export] The function {name} is spread over {count} devices, and exported programs run "
        "on one. Export a function without shardings, and spread the calls of it."
    )


def no_platforms() -> str:
    return (
        '[export] `platforms` is empty. Name at least one, such as ("cpu",), or leave it out for '
        "the default one."
    )


def version_out_of_range(version: int, lowest: int, highest: int) -> str:
    return (
        f"[export] The requested export calling convention version {version} is outside the range "
        f"of supported versions [{lowest}..{highest}]. Set the flag "
        "jax_export_calling_convention_version to one of those."
    )


def unstable_targets(name: str, targets: Sequence[str], callbacks: bool) -> str:
    advice = (
        "Callbacks into Python (`debug.print`, `io_callback`, `pure_callback` ...) live in this "
        "process alone: take them out of the function."
        if callbacks
        else "Where the targets will be registered in every process that calls the program, export "
        "with disabled_checks=[DisabledSafetyCheck.custom_call(target)]."
    )
    return (
        f"[export] Cannot serialize code with custom calls whose targets {', '.join(targets)} may "
        f"be missing in other processes; {name} calls them. {advice}"
    )


# ---------------------------------------------------------------- calling


def trees_differ(name: str, differences: Sequence[tuple[str, str, str]]) -> str:
    listed = "".join(
        f"\n  {place}: {got} in the call, {want} when exported" for place, got, want in differences
    )
    return (
        f"[{name}] The invocation args and kwargs must have the same pytree structure as those "
        f"that the function was exported for. They differ here:{listed}\nPass the arguments in "
        "those containers; static arguments are left out."
    )


def rank_differs(name: str, place: str, want: Sequence[object], got: Sequence[object]) -> str:
    return (
        f"[{name}] Rank mismatch for {place}: the function was exported for the shape "
        f"{_shape(want)} and called with {_shape(got)}. {_OTHER_TYPE}"
    )


def dtype_differs(name: str, place: str, want: object, got: object) -> str:
    return (
        f"[{name}] Dtype mismatch for {place}: the function was exported for {want} and called "
        f"with {got}. Convert the argument, or export the function for its type."
    )


def size_differs(
    name: str, place: str, axis: int, want: Sequence[object], got: Sequence[object]
) -> str:
    return (
        f"[{name}] Shape mismatch for {place}.shape[{axis}] (expected same constant): the function "
        f"was exported for the shape {_shape(want)} and called with {_shape(got)}. {_OTHER_TYPE}"
    )


_OTHER_TYPE = (
    "Pass an array of that shape, or export the function for this one, or for a symbolic shape "
    "that covers both."
)


def _shape(sizes: Sequence[object]) -> str:
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def wrong_platform(name: str, exported: Sequence[str], platform: str) -> str:
    return (
        f"Function '{name}' was exported for platforms {tuple(exported)} but is used on "
        f"'{platform}'. Export it with platforms=({platform!r}, ...), or, if its program is the "
        "same there, with disabled_checks=[DisabledSafetyCheck.platform()]."
    )


def no_batching(name: str) -> str:
    return (
        f"[vmap] Batching rule for 'call_exported' not implemented: the program of {name} is "
        "compiled for the shapes it was exported with. Export `jit(vmap(f))` instead, or call it "
        f"for one element after another: `lax.map({name}.call, xs)`."
    )


def no_vjp(name: str) -> str:
    return (
        f"[{name}] No VJP is available: the program was serialized without derivatives of this "
        "order. Serialize it with a larger `vjp_order`: 1 for gradients, 2 for gradients of "
        "gradients."
    )


def no_vjp_to_serialize(name: str) -> str:
    return (
        f"[Exported.serialize] {name} has no VJP, or none of so high an order: it was itself "
        "deserialized with a smaller `vjp_order`. Serialize the original with a larger one."
    )


# ---------------------------------------------------------------- trees


def dict_keys_not_strings(keys: Sequence[object]) -> str:
    return (
        f"[Exported.serialize] Serialization is supported only for dictionaries with string keys, "
        f"but an argument or result has the keys {list(keys)}. Rename the keys."
    )


def type_not_registered(kind: type) -> str:
    helper = (
        "register_namedtuple_serialization"
        if issubclass(kind, tuple)
        else "register_pytree_node_serialization"
    )
    return (
        f"[Exported.serialize] Cannot serialize trees with nodes of the unregistered type {kind}. "
        f"Register it with `export.{helper}`, in the processes that read it too."
    )


def name_not_registered(name: str) -> str:
    return (
        f"[deserialize] The arguments or results have nodes of a type that was registered as "
        f"{name!r}, which nobody has registered here. Import the module that does so by "
        "`export.register_pytree_node_serialization` first."
    )


def type_registered_twice(kind: type, name: str) -> str:
    return (
        f"[export] Duplicate serialization registration for type `{kind}`: it is registered as "
        f"`{name}`. A type is registered once."
    )


def name_registered_twice(name: str, kind: type) -> str:
    return (
        f"[export] Duplicate serialization registration for serialized_name `{name}`: it stands "
        f"for `{kind}`. Give each type a name of its own."
    )


def not_a_node(kind: type) -> str:
    return (
        "[register_pytree_node_serialization] If `from_children` is not present, one must call "
        f"`tree_util.register_pytree_node` for {kind} first. It is no node of trees yet."
    )


def not_a_namedtuple(kind: object) -> str:
    return (
        "[register_namedtuple_serialization] Use `export.register_pytree_node_serialization` for "
        f"{kind!r}, which is no namedtuple."
    )


def fields_differ(kind: type, stored: Sequence[str]) -> str:
    return (
        f"[deserialize] The program was serialized when {kind} had the fields {list(stored)}; now "
        f"it has {list(kind._fields)}. Export the function again."
    )


def auxiliary_not_bytes(kind: type, value: object) -> str:
    return (
        f"[Exported.serialize] `serialize_auxdata` of {kind} returned {value!r} of type "
        f"{type(value).__name__}. It must return bytes."
    )


# ---------------------------------------------------------------- effects


def effect_without_constructor(kind: type) -> str:
    return (
        f"[Exported.serialize] The effect class {kind} must have a nullary constructor, by which "
        "the effect is made again when the program is read."
    )


def effect_not_equal(kind: type) -> str:
    return (
        f"[Exported.serialize] The effect class {kind} must have a nullary class constructor that "
        "produces an equal effect object: define `__eq__` and `__hash__`."
    )


def effect_unknown(name: str) -> str:
    return (
        f"[deserialize] The program has the effect {name}, and no such class is loaded here. "
        "Import the module that defines it first."
    )


# ---------------------------------------------------------------- files


def not_ours(start: bytes) -> str:
    return (
        f"[deserialize] These bytes are no exported program of Covector: they begin with {start!r}."
        " Pass what `Exported.serialize()` returned, unchanged; files of JAX's cannot be read."
    )


def format_too_new(version: int, known: int) -> str:
    return (
        f"[deserialize] The program has version {version} of the format, and this Covector reads "
        f"versions up to {known}. Update Covector here, or export with an older one."
    )


def damaged(what: object) -> str:
    return (
        f"[deserialize] The exported program is damaged: {what}. It was cut short or changed on "
        "its way; serialize it again."
    )


def program_unreadable(name: str, reason: object) -> str:
    return (
        f"[{name}] This jaxlib cannot read the exported program of {name}: {reason}. Perhaps it "
        "was written by a much newer jaxlib; then update the one here."
    )


def unserializable_dtype(dtype: object) -> str:
    return (
        f"[Exported.serialize] Arrays of dtype {dtype} cannot be written. Export a function of "
        "arrays of numbers."
    )
