"""What errors about random keys and samplers say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_INVALID = "JAX encountered invalid PRNG key data: expected"  # what users' tests look for

# ---------------------------------------------------------------- keys


def name_taken(name: str) -> str:
    return f"[register_prng] A generator of the name {name!r} exists already; choose another name."


def unknown_generator(name: str, known: Iterable[str]) -> str:
    listed = ", ".join(f'"{n}"' for n in known)
    return f'unrecognized PRNG implementation "{name}": use one of {listed}.'


def not_a_generator(kind: type) -> str:
    return (
        f"unrecognized type {kind} for a PRNG implementation: give the name of a generator, such "
        'as "threefry2x32", or the dtype of a key.'
    )


def impl_and_dtype(where: str) -> str:
    return (
        f"[{where}] Cannot specify both `impl` and `dtype`: they say the same; `dtype` is the one "
        "to keep."
    )


def seed_is_key(where: str) -> str:
    return f"{where} accepts a scalar seed, which is an integer, but was given a random key."


def seed_not_scalar(where: str, shape: tuple[int, ...]) -> str:
    return (
        f"{where} accepts a scalar seed, but was given an array of shape {shape}. Map it over the "
        "seeds with `vmap`."
    )


def seed_not_integer(aval: Any) -> str:
    return f"PRNG key seed must be an integer, but its type is {aval.str_short()}."


def key_data_not_array(x: object) -> str:
    return f"{_INVALID} an array of dtype uint32, but got {x!r}. Make keys with `random.key(seed)`."


def key_data_rank(ndim: int) -> str:
    return f"{_INVALID} an array of at least one dimension, but got ndim={ndim}."


def key_data_shape(wanted: tuple[int, ...], shape: tuple[int, ...], name: str) -> str:
    return (
        f"{_INVALID} a shape that ends with {wanted}, as keys of {name} have, but got the shape "
        f"{shape}. Make keys with `random.key(seed)`."
    )


def key_data_dtype(dtype: Any) -> str:
    return f"{_INVALID} the dtype uint32, but got {dtype}. Make keys with `random.key(seed)`."


def not_a_key(x: object) -> str:
    return f"unexpected PRNG key type {type(x)}: make a key with `random.key(seed)`."


def unwrap_not_keys(dtype: Any) -> str:
    return f"random_unwrap takes key array operand, got an array of the dtype {dtype}."


def not_keys(name: str, dtype: Any) -> str:
    return f"[{name}] takes an array of random keys, but got one of the dtype {dtype}."


def key_is_batch(where: str, shape: tuple[int, ...]) -> str:
    return (
        f"{where} accepts a single key, but was given a key array of shape {shape} != (). "
        "Use jax.vmap for batching."
    )


def fold_in_not_scalar(shape: tuple[int, ...]) -> str:
    return (
        f"fold_in accepts a scalar, but was given an array of shape {shape} != (). Map it over "
        "the integers with `vmap`."
    )


def legacy_key() -> str:
    return (
        "Legacy uint32 key array passed as key to jax.random function. Make keys with "
        '`random.key(seed)`, or set the flag `jax_legacy_prng_key` to "allow".'
    )


def raw_key_deprecated() -> str:
    return (
        "Raw arrays as random keys to jax.random functions are deprecated: this one is taken for a "
        "key of the default generator. Make keys with `random.key(seed)`."
    )


def key_as_numpy() -> str:
    return (
        "JAX array with PRNGKey dtype cannot be converted to a NumPy array. Use "
        "`random.key_data(keys)` to get the integers that the keys are made of."
    )


def cipher_dtypes(name: str, dtypes: Sequence[Any]) -> str:
    listed = ", ".join(map(str, dtypes))
    return f"[{name}] Keys and counters must have the dtype uint32, but have {listed}."


def bits_width(width: object) -> str:
    return f"random bits come in widths of 8-, 16-, 32- or 64-bit, not {width}."


# ---------------------------------------------------------------- samplers


def dtype_kind(where: str, kind: str, dtype: Any) -> str:
    return f"dtype argument to `{where}` must be {kind} dtype, got {dtype}"


def integer_dtype(where: str, dtype: Any) -> str:
    return f"{where} only accepts integer dtypes, got {dtype}"


def shape_mismatch(where: str, shape: tuple[int, ...], result: tuple[int, ...]) -> str:
    return (
        f"[random.{where}] The shapes of the parameters must broadcast to the shape argument "
        f"{shape}, but the result of broadcasting is {result}. Ask for the larger shape, or leave "
        "the shape argument out."
    )


def unsafe_cast(where: str, have: Any, want: Any) -> str:
    return (
        f"In arguments to {where}, cannot safely cast argument of type {have} to {want}: convert "
        "it, or ask for a wider dtype."
    )


def float_width(dtype: Any) -> str:
    return f"uniform only accepts 8-, 16-, 32-, or 64-bit dtypes, got {dtype}"


def unknown_mode(where: str, mode: object, known: Sequence[str]) -> str:
    listed = " or ".join(map(repr, known))
    return f"[random.{where}] got mode={mode!r}, expected {listed}"


def probability_dtype(dtype: Any) -> str:
    return (
        f"bernoulli probability `p` must have a floating dtype, got {dtype}. Write 1.0 for 1, or "
        "convert the array."
    )


def too_many_bits(size: int, width: int) -> str:
    return (
        f"[random_bits] {size} numbers of {width} bits need more than 2**32 words, which only the "
        "partitionable generator gives: set the flag `jax_threefry_partitionable`."
    )


def nothing_to_permute(dtype: Any) -> str:
    return (
        "[random.permutation] x must be an integer or at least 1-dimensional, but is a number of "
        f"dtype {dtype}."
    )


def too_few_categories(draws: int, categories: int) -> str:
    return (
        f"[random.categorical] Number of samples without replacement ({draws}) cannot exceed "
        f"number of categories ({categories}). Draw fewer, or with `replace=True`."
    )


def shape_not_sequence(shape: object) -> str:
    return (
        f"[random.choice] The shape must be a sequence, got {shape!r}. Write ({shape},) for one "
        "dimension."
    )


def nothing_to_choose_from() -> str:
    return "[random.choice] a must be greater than 0, or not empty, unless no samples are taken."


def sample_too_large(draws: int, count: int) -> str:
    return (
        f"[random.choice] Cannot take a larger sample (size {draws}) than population (size "
        f"{count}) when 'replace=False'."
    )


def probabilities_shape(shape: tuple[int, ...], count: int) -> str:
    return (
        f"[random.choice] p must be None or a 1D vector of a probability for each of the {count} "
        f"elements, but has shape {shape}."
    )


def rank_too_low(where: str, what: str, wanted: int, shape: tuple[int, ...]) -> str:
    return (
        f"[random.{where}] {where} requires {what}.ndim >= {wanted}, got {what}.ndim == "
        f"{len(shape)}."
    )


def unknown_method(where: str, method: object, known: Sequence[str]) -> str:
    return f"[random.{where}] method must be one of {', '.join(known)}, got {method!r}."


def covariance_shape(n: int, shape: tuple[int, ...]) -> str:
    return (
        f"multivariate_normal requires cov.shape == (..., n, n) for n={n}, the number of elements "
        f"of a mean, but got cov.shape == {shape}."
    )


def poisson_generator(name: str) -> str:
    return (
        f"[random.poisson] `poisson` is only implemented for the threefry2x32 RNG, not {name}: "
        "make the key with `random.key(seed, impl='threefry2x32')`."
    )


# ---------------------------------------------------------------- XLA's generators


def generator_state(aval: Any) -> str:
    return (
        "[rng_bit_generator] The state must be a uint32 array of shape (4,), or a uint64 array of "
        f"shape (2,), but is {aval.str_short()}."
    )


def generator_dtype(dtype: Any) -> str:
    return (
        f"[rng_bit_generator] unsupported dtype {dtype}: bits come as uint8, uint16, uint32 or "
        "uint64."
    )


def bounds_not_scalar(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    return f"[rng_uniform] The bounds must be scalars, but have the shapes {a} and {b}."


# ---------------------------------------------------------------- generators with a state


def not_a_typed_key(got: Any) -> str:
    return (
        f"[StatefulPRNG] Expected base_key to be a typed PRNG key; got {got}. Make one with "
        "`random.key(seed)`, or the generator with `stateful_rng(seed)`."
    )


def counter_not_a_reference(got: Any) -> str:
    return (
        f"[StatefulPRNG] Expected counter to be a scalar integer ref; got {got}. Make one with "
        "`new_ref(0)`, or the generator with `stateful_rng(seed)`."
    )


def split_generator(shape: tuple[int, ...]) -> str:
    return (
        f"[StatefulPRNG.key] cannot operate on split stateful generator: there are {shape} of "
        "them in it. Map over it with `vmap`, or make single ones with `spawn`."
    )


def no_seed() -> str:
    return (
        "[stateful_rng] When used within transformed code, it requires an explicit seed: one drawn "
        "now would stay the same in every call of the compiled program. Pass an integer, which may "
        "be an argument of the function."
    )
