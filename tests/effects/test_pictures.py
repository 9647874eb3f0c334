"""Pictures of arrays in text: their parts on devices, and their values."""

import inspect
from typing import NamedTuple

import numpy as np
import pytest

import covector as cv
import covector.numpy as jnp
from covector import debug

X = np.arange(6, dtype=np.float32).reshape(2, 3)
HERE = cv.sharding.SingleDeviceSharding(cv.devices()[0])


class Device(NamedTuple):
    id: int
    platform: str = "gpu"


class Grid:
    """A sharding over a grid of devices, each dimension in so many parts, with equal copies."""

    def __init__(self, *parts, copies=1):
        self.parts = parts
        self.copies = copies

    def devices_indices_map(self, shape):
        found = {}
        for number in range(int(np.prod(self.parts)) * self.copies):
            place = np.unravel_index(number // self.copies, self.parts)
            sizes = [n // parts for n, parts in zip(shape, self.parts)]
            index = tuple([slice(i * n, (i + 1) * n) for i, n in zip(place, sizes)])
            found[Device(number)] = index
        return found


def test_signatures_are_those_of_jax():
    jax = pytest.importorskip("jax")
    for name in ("inspect_array_sharding", "visualize_sharding", "visualize_array_sharding"):
        ours, theirs = (inspect.signature(getattr(m.debug, name)) for m in (cv, jax))
        assert list(ours.parameters) == list(theirs.parameters)
        for mine, other in zip(ours.parameters.values(), theirs.parameters.values()):
            assert (mine.kind, mine.default) == (other.kind, other.default)


# ---------------------------------------------------------------- shardings


def test_shardings_are_told_once_for_each_compilation():
    told = []

    def f(x):
        debug.inspect_array_sharding({"x": x, "y": jnp.sin(x)}, callback=told.append)
        return x * 2

    debug.inspect_array_sharding([jnp.ones(2), 1.0], callback=told.append)
    assert told == [HERE, HERE]
    jitted = cv.jit(f)
    lowered = jitted.lower(X)
    assert len(told) == 2
    lowered.compile()
    assert told[2:] == [HERE, HERE]
    told.clear()
    for _ in range(2):
        np.testing.assert_array_equal(jitted(X), X * 2)
    assert told == [HERE, HERE]
    told.clear()
    assert cv.grad(lambda x: f(x).sum())(X).tolist() == [[2, 2, 2], [2, 2, 2]]
    assert cv.vmap(f)(X).tolist() == (X * 2).tolist()
    assert told == [HERE] * 4


def test_values_of_programs_are_of_the_device_that_runs_them():
    told = []
    f = cv.jit(lambda x: debug.inspect_array_sharding(x, callback=told.append) or x)
    f(cv.device_put(X, cv.devices()[0]))
    (sharding,) = told
    assert sharding.device_set == {cv.devices()[0]}
    assert sharding.devices_indices_map((2, 3)) == {cv.devices()[0]: (slice(None), slice(None))}


PICTURES = {
    "a row": ((8,), Grid(4), {}, """
┌───────┬───────┬───────┬───────┐
│ GPU 0 │ GPU 1 │ GPU 2 │ GPU 3 │
└───────┴───────┴───────┴───────┘
"""),
    "copies": ((6, 6), Grid(2, 1, copies=3), {}, """
┌───────────────────────┐
│                       │
│       GPU 0,1,2       │
│                       │
│                       │
├───────────────────────┤
│                       │
│       GPU 3,4,5       │
│                       │
│                       │
└───────────────────────┘
"""),
    "a grid": ((4, 4), Grid(2, 2), {"scale": 0.4}, """
┌───────┬───────┐
│ GPU 0 │ GPU 1 │
├───────┼───────┤
│ GPU 2 │ GPU 3 │
└───────┴───────┘
"""),
    "numbers of two digits": ((6, 2), Grid(6, 2), {"min_width": 4}, """
┌──────┬──────┐
│GPU 0 │GPU 1 │
├──────┼──────┤
│GPU 2 │GPU 3 │
├──────┼──────┤
│GPU 4 │GPU 5 │
├──────┼──────┤
│GPU 6 │GPU 7 │
├──────┼──────┤
│GPU 8 │GPU 9 │
├──────┼──────┤
│GPU 10│GPU 11│
└──────┴──────┘
"""),
    "narrow": ((2, 100), Grid(1, 1), {"max_width": 12, "scale": 0.1}, """
┌──────────┐
│  GPU 0   │
└──────────┘
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_of_shardings(name, capsys):
    shape, sharding, options, picture = PICTURES[name]
    debug.visualize_sharding(shape, sharding, **options)
    assert capsys.readouterr().out == picture[1:] + "\n"


def test_arrays_and_empty_ones(capsys):
    debug.visualize_array_sharding(jnp.ones(3))
    box = "┌───────┐\n│ CPU 0 │\n└───────┘\n\n"
    if cv.devices()[0].platform == "cpu":
        assert capsys.readouterr().out == box
    cv.jit(lambda x: debug.visualize_array_sharding(x[0]) or x)(X)
    assert "0 │" in capsys.readouterr().out
    debug.visualize_sharding((0, 3), HERE)
    assert " 0 " in capsys.readouterr().out


# ---------------------------------------------------------------- values


def show(x, **options):

    debug.visualize_array(x, **options)
    cv.effects_barrier()


def test_a_ramp(capsys):
    show(np.arange(10.0, dtype=np.float32))
    assert capsys.readouterr().out == (
        "float32[10] from 0 to 9\n┌──────────┐\n│ .:-=+*#%@│\n└──────────┘\n"
    )


def test_means_of_parts(capsys):
    x = np.kron(np.array([[0.0, 9.0], [9.0, 0.0]], np.float32), np.ones((50, 50), np.float32))
    show(x, width=8, height=2)
    assert capsys.readouterr().out.splitlines()[2:4] == ["│    @@@@│", "│@@@@    │"]


def test_what_is_no_number_is_told(capsys):
    show(jnp.array([[0.0, jnp.nan], [-jnp.inf, 1.0]]))
    assert capsys.readouterr().out.splitlines() == [
        "float32[2,2] from 0 to 1", "┌────┐", "│  ??│", "│!!@@│", "└────┘",
    ]  # fmt: skip
    show(jnp.full((2,), jnp.nan))
    assert "│??│" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("x", "title"),
    [
        (np.zeros((0, 3), np.float32), "float32[0,3] has no elements"),
        (np.array([True, False]), "bool[2] from 0 to 1"),
        (np.array([3 + 4j, 0], np.complex64), "complex64[2] from 0 to 5"),
        (np.array([7, 7], np.int32), "int32[2] from 7 to 7"),
    ],
)
def test_other_dtypes_and_sizes(x, title, capsys):
    show(x)
    assert capsys.readouterr().out.splitlines()[0] == title


def test_within_programs(capsys):
    f = cv.jit(cv.vmap(lambda x: debug.visualize_array(x) or x.sum()))
    f(X).block_until_ready()
    cv.effects_barrier()
    assert sorted(capsys.readouterr().out.splitlines()[::4]) == [
        "float32[3] from 0 to 2", "float32[3] from 3 to 5",
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(), (2, 2, 2)])
def test_wrong_ranks(shape):
    said = rf"only arrays with 1 or 2 dimensions .* the shape is {shape!s}".replace("(", r"\(")
    said = said.replace(")", r"\)")
    with pytest.raises(ValueError, match=r"visualize_sharding\] " + said):
        debug.visualize_sharding(shape, HERE)
    with pytest.raises(ValueError, match=r"visualize_array\] " + said):
        debug.visualize_array(np.zeros(shape))
