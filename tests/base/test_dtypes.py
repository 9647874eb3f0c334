"""Dtypes against JAX 0.10.2: every pair, weak and strong, in each mode."""

import contextlib
import itertools
import random
import warnings

import ml_dtypes
import numpy as np
import pytest

from covector import dtypes as public
from covector._src.base import config, dtypes, lattice

jax = pytest.importorskip("jax")
jnp = jax.numpy
jax_dtypes = pytest.importorskip("jax._src.dtypes")

NAMES = [n for n in lattice.NODES if "*" not in n and (hasattr(np, n) or hasattr(ml_dtypes, n))]
ALL = [np.dtype(n) for n in NAMES]
WIDE = {np.dtype(n) for n in ("int64", "uint64", "float64", "complex128")}
MODES = [
    pytest.param(x64, mode, id=f"x{64 if x64 else 32}-{mode}")
    for x64 in (False, True)
    for mode in ("standard", "strict")
]


class Value:
    """What both libraries take for an array: it has a dtype, which is weak or not."""

    def __init__(self, dtype, weak_type):
        self.dtype = np.dtype(dtype)
        self.weak_type = weak_type
        self.aval = self

    def __repr__(self):
        return f"{self.dtype}{'*' if self.weak_type else ''}"


@contextlib.contextmanager
def modes(x64=False, promotion="standard"):
    with contextlib.ExitStack() as stack:
        for flags in (config, jax):
            stack.enter_context(flags.enable_x64(x64))
            stack.enter_context(flags.numpy_dtype_promotion(promotion))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        yield


def outcome(function, *args, **kwargs):
    """What a function returns, or the fact that it refuses; JAX's refusals are ValueErrors."""
    try:
        return function(*args, **kwargs)
    except ValueError:
        return "refused"


def assert_same(ours, theirs, cases, **kwargs):
    wrong = {
        str(args): (found, wanted)
        for args in cases
        if (found := outcome(ours, *args, **kwargs)) != (wanted := outcome(theirs, *args, **kwargs))
    }
    assert not wrong


def values(x64):
    dtypes_here = [d for d in ALL if x64 or d not in WIDE]
    return [Value(d, weak) for d in dtypes_here for weak in (False, True)[: 1 + (d.name != "bool")]]


# ---------------------------------------------------------------- promotion


def test_the_lattice_has_all_dtypes():
    assert len(ALL) >= 29
    assert {"int2", "uint4", "bfloat16", "float8_e8m0fnu", "float6_e3m2fn"} <= set(NAMES)


@pytest.mark.parametrize(("x64", "promotion"), MODES)
def test_lattice_result_type_of_every_pair(x64, promotion):
    with modes(x64, promotion):
        pairs = list(itertools.product(values(x64), repeat=2))
        assert len(pairs) > 2500
        assert_same(dtypes.lattice_result_type, jax_dtypes.lattice_result_type, pairs)


@pytest.mark.parametrize(("x64", "promotion"), MODES)
def test_result_type_of_every_pair(x64, promotion):
    # Weak narrow integers, which no program has, are left out: JAX ends with a KeyError.
    def usual(value):
        return not (value.weak_type and value.dtype.name in lattice.NARROW_INTS)

    with modes(x64, promotion):
        pairs = itertools.product(filter(usual, values(x64)), repeat=2)
        assert_same(dtypes.result_type, jax.dtypes.result_type, pairs, return_weak_type_flag=True)
        for name, default in (("int4", "int64"), ("uint2", "uint64")):
            found = dtypes.result_type(Value(name, True), return_weak_type_flag=True)
            assert found == (dtypes.canonicalize_dtype(default), True)


@pytest.mark.parametrize(("x64", "promotion"), MODES)
def test_promote_types_of_every_pair(x64, promotion):
    with modes(x64, promotion):
        pairs = itertools.product([*ALL, int, float, complex, bool], repeat=2)
        assert_same(dtypes.promote_types, jnp.promote_types, pairs)


@pytest.mark.parametrize(("x64", "promotion"), MODES)
def test_result_type_of_three_and_four(x64, promotion):
    common = [v for v in values(x64) if v.dtype.itemsize >= 4 or v.dtype.name in ("bool", "int8")]
    draw = random.Random(20240607).choices
    with modes(x64, promotion):
        cases = [draw(common, k=k) for k in (1, 3, 4) for _ in range(500)]
        assert_same(dtypes.result_type, jax.dtypes.result_type, cases, return_weak_type_flag=True)


def mixed_operands():
    return [
        *(True, 1, 2.5, 1j, int, float, complex, bool, None),
        *("int8", "float64", np.dtype("uint16"), np.float32, np.int64, ml_dtypes.bfloat16),
        *(np.float64(1), np.int8(1), np.bool_(True), np.ones(2), np.ones(2, "int16")),
        *(np.zeros(2, ml_dtypes.int4), np.zeros(2, "complex128"), np.ones(2, "uint64")),
        *(jnp.ones(2), jnp.asarray(1), jnp.ones(2, "bfloat16"), jnp.ones((), "int8")),
    ]


@pytest.mark.parametrize(("x64", "promotion"), MODES)
def test_result_type_of_mixed_operands(x64, promotion):
    with modes(x64, promotion):
        pairs = itertools.product(mixed_operands(), repeat=2)
        assert_same(dtypes.result_type, jax.dtypes.result_type, pairs, return_weak_type_flag=True)


def test_an_array_made_in_64_bit_mode_keeps_its_dtype_alone():
    wide, narrow = Value("float64", False), Value("float32", False)
    assert dtypes.result_type(wide) == np.float64
    assert dtypes.result_type(wide, wide) == np.float64
    for _ in range(2):  # remembered answers must not swallow the warning
        with pytest.warns(UserWarning, match="float64 needs 64-bit mode"):
            assert dtypes.result_type(wide, narrow) == np.float32


def test_join_is_the_least_upper_bound():
    # From the definition, by walking the arrows: c bounds a and b, and whatever bounds both
    # bounds c.
    def above(node):
        return {node}.union(*(above(n) for n in lattice._STANDARD.get(node, ())))

    for a, b in itertools.combinations(lattice.NODES, 2):
        bounds = above(a) & above(b)
        least = [c for c in bounds if bounds <= above(c)]
        if least:
            assert [lattice.join(frozenset((a, b)), strict=False, x64=True)] == least
        else:
            with pytest.raises(dtypes.TypePromotionError):
                lattice.join(frozenset((a, b)), strict=False, x64=True)


# ---------------------------------------------------------------- canonical dtypes


@pytest.mark.parametrize("x64", [False, True])
def test_canonicalize_dtype(x64):
    forms = [
        *ALL,
        *NAMES,
        *(d.type for d in ALL),
        *(int, float, complex, bool, None, np.dtype("S3"), [("a", "f4")], dtypes.float0),
    ]
    with modes(x64):
        for form in forms:
            for _ in range(2):  # computed, then remembered
                wanted = np.dtype(form)
                if wanted in WIDE and not x64:
                    wanted = np.dtype(f"{wanted.name.rstrip('0123456789')}{wanted.itemsize * 4}")
                assert dtypes.canonicalize_dtype(form) == wanted
                if not isinstance(form, list):  # JAX takes hashable forms only
                    assert jax.dtypes.canonicalize_dtype(form) == wanted


@pytest.mark.parametrize("x64", [False, True])
def test_dtype_of(x64):
    with modes(x64):
        for x in mixed_operands():
            if x is not None:
                assert dtypes.dtype_of(x) == jax.dtypes.result_type(x), x


def test_is_weakly_typed():
    weak = [1, 2.5, 1j, Value("int8", True), jnp.asarray(1)]
    strong = [True, np.float64(1), np.int32(1), np.ones(2), Value("int8", False), "int8", object()]
    assert all(map(dtypes.is_weakly_typed, weak))
    assert not any(map(dtypes.is_weakly_typed, strong))


def test_a_python_scalar_has_the_default_dtype():
    assert [dtypes.python_scalar_dtype(t).name for t in (bool, int, float, complex)] == [
        *("bool", "int32", "float32", "complex64")
    ]
    with config.enable_x64(True):
        assert dtypes.python_scalar_dtype(complex) == np.complex128


# ---------------------------------------------------------------- properties of dtypes

ABSTRACT = [
    *(np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact),
    *(np.floating, np.complexfloating, np.bool_, np.void, int, float, complex, bool, None),
]


def test_issubdtype():
    both = [*ALL, *(d.type for d in ALL), *NAMES, *ABSTRACT, dtypes.float0]
    for _ in range(2):
        assert_same(dtypes.issubdtype, jax.dtypes.issubdtype, itertools.product(both, repeat=2))


def test_isdtype():
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating"]
    kinds += ["complex floating", "numeric", "int4", np.float32, ("bool", "float16"), ()]
    assert_same(dtypes.isdtype, jnp.isdtype, itertools.product(ALL, kinds))


def test_itemsize_bits():
    assert_same(dtypes.itemsize_bits, jax.dtypes.itemsize_bits, ((d,) for d in [*ALL, *NAMES]))
    known = {"int2": 2, "uint4": 4, "bool": 8, "float6_e2m3fn": 6, "bfloat16": 16, "complex64": 64}
    for name, bits in known.items():
        assert dtypes.itemsize_bits(name) == bits


@pytest.mark.parametrize("dtype", [d for d in ALL if dtypes.isdtype(d, "real floating")], ids=str)
def test_finfo(dtype):
    ours, theirs = dtypes.finfo(dtype), jnp.finfo(dtype)
    for field in ("bits", "eps", "max", "min", "tiny", "nmant", "nexp", "dtype", "resolution"):
        assert getattr(ours, field) == getattr(theirs, field)
    one = dtype.type(1)
    if dtype.name != "float8_e8m0fnu":  # powers of two: no number stands between 1 and 2
        assert float(one) + float(ours.eps) == float(np.nextafter(one, dtype.type(2)))


@pytest.mark.parametrize("dtype", [d for d in ALL if dtypes.isdtype(d, "integral")], ids=str)
def test_iinfo(dtype):
    info = dtypes.iinfo(dtype)
    bits = dtypes.itemsize_bits(dtype)
    signed = not dtype.name.startswith("u")
    assert info.bits == bits
    assert int(info.max) == 2 ** (bits - signed) - 1
    assert int(info.min) == (-(2 ** (bits - 1)) if signed else 0)


def test_finfo_of_well_known_formats():
    assert float(dtypes.finfo("float16").max) == 65504
    assert float(dtypes.finfo("bfloat16").eps) == 2**-7
    assert float(dtypes.finfo("float8_e4m3fn").max) == 448
    assert dtypes.finfo("complex64").dtype == np.float32


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_short_name_is_that_of_a_printed_jaxpr(dtype):
    with modes(x64=True):
        jaxpr = str(jax.make_jaxpr(lambda x: x)(jax.ShapeDtypeStruct((), dtype)))
    assert f"a:{dtypes.short_name(dtype)}[]." in jaxpr


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_supports_inf(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # integers warn of the conversion
        converted = np.asarray(np.inf).astype(dtype)
    inexact = dtypes.issubdtype(dtype, np.inexact)
    assert dtypes.supports_inf(dtype) == bool(inexact and np.isinf(converted))


def test_scalar_type_of():
    cases = [*ALL, True, 1, 2.5, 1j, np.ones(2), jnp.ones(2, "bfloat16")]
    with modes(x64=True):
        assert_same(dtypes.scalar_type_of, jax.dtypes.scalar_type_of, ((x,) for x in cases))


# ---------------------------------------------------------------- conversions


@pytest.mark.parametrize("x64", [False, True])
def test_to_inexact_dtype_is_that_of_sin(x64):
    narrow = {*lattice.NARROW_INTS, *lattice.NARROW_FLOATS} - {"int4", "uint4"}
    with modes(x64):
        for dtype in ALL:
            if dtype.name in narrow or (dtype in WIDE and not x64):
                continue  # JAX has no sine of them
            out = jax.eval_shape(jnp.sin, jax.ShapeDtypeStruct((), dtype))
            assert dtypes.to_inexact_dtype(dtype) == out.dtype
    assert dtypes.to_inexact_dtype("int2") == np.float32


@pytest.mark.parametrize("name", ["bool", "int8", "int64", "float16", "float64", "complex64"])
def test_to_complex_and_floating_dtypes_are_those_of_fft(name):
    with modes(x64=True):
        out = jax.eval_shape(jnp.fft.fft, jax.ShapeDtypeStruct((4,), dtypes.to_inexact_dtype(name)))
        assert dtypes.to_complex_dtype(name) == out.dtype
    real = {"bool": "float32", "int8": "float32", "int64": "float64", "complex64": "float32"}
    assert dtypes.to_floating_dtype(name) == real.get(name, name)


def test_to_numeric_dtype():
    assert dtypes.to_numeric_dtype("bool") == np.int32
    assert dtypes.to_numeric_dtype("float16") == np.float16


def test_primal_tangent_dtype():
    for dtype in ALL:
        varies = dtypes.issubdtype(dtype, np.inexact)
        assert dtypes.primal_tangent_dtype(dtype) == (dtype if varies else dtypes.float0)


def test_safe_to_cast():
    assert dtypes.safe_to_cast("int16", "float32")
    assert dtypes.safe_to_cast(1, "int8")  # a Python number yields
    assert dtypes.safe_to_cast("float32", "complex64")
    assert not dtypes.safe_to_cast("float32", "int16")
    assert not dtypes.safe_to_cast("uint8", "int8")


# ---------------------------------------------------------------- extended dtypes


class KeyDType(dtypes.ExtendedDType):
    __slots__ = ()
    type = dtypes.prng_key
    name = "key<test>"
    element_shape = (2,)
    element_dtype = np.dtype("uint32")


def test_extended_dtypes():
    key, theirs = KeyDType(), jax.random.key(0).dtype
    assert (str(key), key.itemsize) == ("key<test>", 8)
    assert key == KeyDType() and hash(key) == hash(KeyDType()) and key != np.dtype("uint32")
    for abstract in (dtypes.extended, dtypes.prng_key):
        assert dtypes.issubdtype(key, abstract)
    their_abstract = [jax.dtypes.extended, jax.dtypes.prng_key, *ABSTRACT]
    for ours, others in zip([dtypes.extended, dtypes.prng_key, *ABSTRACT], their_abstract):
        assert dtypes.issubdtype(key, ours) == jax.dtypes.issubdtype(theirs, others)
    assert dtypes.issubdtype(key, key) and not dtypes.issubdtype("uint32", key)
    assert not dtypes.issubdtype("uint32", dtypes.extended)
    assert dtypes.result_type(key, key) == key == dtypes.dtype_of(key)
    assert dtypes.canonicalize_dtype(key, allow_extended_dtype=True) is key
    assert dtypes.primal_tangent_dtype(key) == dtypes.float0
    assert dtypes.short_name(key) == dtypes.name(key) == "key<test>"
    assert dtypes.is_supported(key)


def test_float0():
    assert dtypes.float0 == jax.dtypes.float0
    assert dtypes.result_type(dtypes.float0, dtypes.float0) == dtypes.float0
    assert dtypes.name(dtypes.float0) == dtypes.short_name(dtypes.float0) == "float0"


def test_the_public_namespace_is_that_of_jax():
    theirs = {n for n in dir(jax.dtypes) if not n.startswith("_")}
    assert {n for n in vars(public) if not n.startswith("_")} == theirs
