"""Mutable references in eager code: reading and writing as NumPy does, and mistakes."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

INDICES = {
    "whole": ...,
    "empty": (),
    "integer": 1,
    "negative": -1,
    "slice": slice(1, None),
    "step": (slice(None), slice(None, None, 2)),
    "backwards": (..., slice(None, None, -1)),
    "integers": (1, 2, 3),
    "last": (..., 0),
    "middle": (slice(None), 1),
    "array": np.array([1, 0, 1]),
    "two arrays": (np.array([0, 1]), np.array([2, 0])),
    "apart": (np.array([0, 1]), slice(None), np.array([2, 0])),
    "list": ([0, 1],),
    "mask": X[..., 0] > 5,
    "new dimension": (None, 1),
    "scalar of NumPy": np.int64(1),
    "nothing": slice(2, 2),
    "none": None,
    "empty list": [],
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_reads_what_numpy_reads(index):
    # For `get`, None is the whole, as in JAX; beside other entries it is a new dimension.
    expected = X if index is None else X[[] if isinstance(index, list) else index]
    ref = cv.new_ref(X)
    np.testing.assert_array_equal(ref[index], expected)
    np.testing.assert_array_equal(cv.jit(lambda r: r[index])(ref), expected)


def test_a_matrix_of_indices_reads_what_numpy_reads():
    ref, i = cv.new_ref(X), np.array([[0, 1], [1, 1]])
    np.testing.assert_array_equal(ref[i, :, jnp.asarray(i)], X[i, :, i])


@pytest.mark.parametrize("kind", ["set", "add", "swap", "addupdate"])
@pytest.mark.parametrize(
    "index", [v for k, v in INDICES.items() if k not in ("none", "empty list")]
)
def test_writes_what_numpy_writes(index, kind):
    ref, host = cv.new_ref(X), X.copy()
    value = np.full(X[index].shape, 7, np.float32)
    before = host[index].copy()
    if kind == "set":
        ref[index] = value
        host[index] = value
    elif kind == "add":
        ref[index] += value
        host[index] += value
    elif kind == "swap":
        np.testing.assert_array_equal(cv.ref.swap(ref, index, value), before)
        host[index] = value
    else:
        cv.ref.addupdate(ref, index, value)
        np.add.at(host, index, value)
    np.testing.assert_array_equal(ref[...], host)


def test_parts_of_parts():
    ref, host = cv.new_ref(X), X.copy()
    part = ref.at[1].at[0:2]
    assert part.shape == (2, 4) and part.dtype == np.float32 and len(part) == 2
    part[:, 1] = 5.0
    host[1][0:2][:, 1] = 5.0
    part.at[0].addupdate(np.ones(4, np.float32))
    host[1, 0] += 1
    np.testing.assert_array_equal(ref.at[0].swap(X[1]), X[0])
    host[0] = X[1]
    part.at[1].set(2.0)
    host[1, 1] = 2.0
    np.testing.assert_array_equal(ref[...], host)
    np.testing.assert_array_equal(part.get(1), host[1, 1])


def test_what_was_read_and_passed_stays():
    x = jnp.zeros(3)
    ref = cv.new_ref(x)
    before = ref[...]
    ref[0] = 1.0
    add_one = cv.jit(lambda r: r.addupdate(1.0))
    for _ in range(2):
        add_one(ref)
    after = ref[...]
    add_one(ref)
    ref[...] = x
    add_one(ref)
    np.testing.assert_array_equal(before, np.zeros(3))
    np.testing.assert_array_equal(after, [3, 2, 2])
    np.testing.assert_array_equal(x, np.zeros(3))


def test_a_program_writes_in_place():
    ref = cv.new_ref(jnp.zeros(1000))

    @cv.jit
    def write(ref, i):
        ref[i] = 1.0

    write(ref, 0)
    place = ref.unsafe_buffer_pointer()
    write(ref, 1)
    assert ref.unsafe_buffer_pointer() == place
    assert float(ref[...].sum()) == 2.0


def test_attributes_and_text():
    ref = cv.new_ref(jnp.arange(3.0))
    assert isinstance(ref, cv.Ref) and isinstance(ref, cv.ref.Ref)
    assert not isinstance(ref, cv.Array) and not isinstance(jnp.ones(3), cv.Ref)
    assert (ref.shape, ref.dtype, ref.ndim, ref.size, len(ref)) == ((3,), np.float32, 1, 3, 3)
    assert [float(x) for x in ref] == [0, 1, 2]
    assert repr(ref) == "Ref([0., 1., 2.], dtype=float32)"
    assert repr(cv.typeof(ref)) == "Ref{float32[3]}"
    assert cv.typeof(ref) is cv.ref.AbstractRef(cv.typeof(jnp.ones(3)))
    assert ref.sharding == jnp.ones(3).sharding


def test_dtypes():
    assert cv.new_ref(1)[...].weak_type and cv.new_ref(1).dtype == np.int32
    ints = cv.new_ref(jnp.arange(3))
    ints[0] = jnp.uint8(7)
    ints[1] = 1
    assert ints.dtype == np.int32 and ints[...].tolist() == [7, 1, 2]
    with cv.enable_x64():
        wide = cv.new_ref(np.ones(2))
        wide[0] = 0.1
        assert wide.dtype == np.float64 and float(wide[0]) == 0.1
    half = cv.new_ref(jnp.ones(2, jnp.bfloat16))
    half[0] = 0.5
    assert half.dtype == jnp.bfloat16 and float(half[0]) == 0.5
    special = cv.new_ref(np.float32([np.nan, np.inf]))
    special[1] = -np.inf
    np.testing.assert_array_equal(special[...], np.float32([np.nan, -np.inf]))
    keys = cv.new_ref(cv.random.key(3))
    keys[...] = cv.random.key(4)
    assert (cv.random.key_data(keys[...]) == cv.random.key_data(cv.random.key(4))).all()


def test_freeze_and_free():
    ref = cv.new_ref(jnp.ones(2))
    np.testing.assert_array_equal(cv.freeze(ref), [1, 1])
    empty = cv.empty_ref(cv.ShapeDtypeStruct((2,), "int8"))
    assert empty.dtype == np.int8 and empty.shape == (2,)
    cv.free_ref(empty)
    for use in (lambda: empty[0], lambda: cv.free_ref(empty), lambda: cv.freeze(empty)):
        with pytest.raises(ValueError, match="was freed"):
            use()

    @cv.jit
    def freed(x):
        ref = cv.new_ref(x)
        cv.free_ref(ref)
        return ref[...]

    with pytest.raises(ValueError, match="was freed"):
        freed(1.0)


REF = cv.new_ref(np.zeros(3, np.float32))
WRONG = {
    "shape": (lambda: REF.set(np.zeros(2, np.float32)), ValueError, "shape (2,)"),
    "dtype": (lambda: REF.set(jnp.zeros(3, jnp.int32)), ValueError, "dtype int32"),
    "complex": (lambda: REF.set(1j), ValueError, "dtype complex64"),
    "bounds": (lambda: REF[3], IndexError, "index 3 out of bounds"),
    "rank": (lambda: REF[0, 0], IndexError, "2 were indexed"),
    "list": (lambda: cv.new_ref([1, 2]), TypeError, "[1, 2] of type list"),
    "none": (lambda: cv.new_ref(None), TypeError, "holds one array"),
    "ref of ref": (lambda: cv.new_ref(REF), TypeError, "holds one array"),
    "array": (lambda: cv.ref.get(jnp.ones(3)), ValueError, "must be a `Ref`"),
    "type": (lambda: cv.empty_ref(3), TypeError, "`ShapeDtypeStruct`"),
    "sum": (lambda: REF + 1, TypeError, "unsupported operand"),
    "sine": (lambda: jnp.sin(REF), TypeError, "Ref{float32[3]}"),
}


@pytest.mark.parametrize(("wrong", "kind", "text"), WRONG.values(), ids=WRONG)
def test_mistakes(wrong, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        wrong()


def test_names_and_signatures(jax):
    names = ("addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap")
    for name in names:
        ours, theirs = (inspect.signature(getattr(m.ref, name)) for m in (cv, jax))
        assert list(ours.parameters) == list(theirs.parameters), name
        for a, b in zip(ours.parameters.values(), theirs.parameters.values()):
            assert a.kind == b.kind
            assert a.default == b.default or name == "swap", name  # the name that errors begin with
    for name in ("Ref", "new_ref", "empty_ref", "free_ref", "freeze"):
        assert getattr(cv, name) is getattr(cv.ref, name)
    assert list(inspect.signature(cv.ds).parameters) == list(inspect.signature(jax.ds).parameters)
