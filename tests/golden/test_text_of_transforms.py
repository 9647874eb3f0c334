"""The text of programs that transformations make, and of programs within programs."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

X = np.arange(3, dtype=np.float32)
A = np.arange(6, dtype=np.float32).reshape(2, 3)
N = np.arange(3, dtype=np.int32)
P = np.array([True, False, True])


def total(m, x):
    return m.lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)), out_sharding=None)


def polynomial(m, x):
    """A function with enough eqns that its jaxpr does not stay in one line."""
    return m.lax.add(m.lax.mul(m.lax.mul(x, x), x), m.lax.mul(x, 3.0))


def long_chain(m, x, count):
    for _ in range(count):
        x = m.lax.sin(x)
    return x


def called_twice(m, fun):
    jitted = m.jit(fun)
    return lambda x: m.lax.add(jitted(x), jitted(m.lax.cos(x)))


def nested(m):
    @m.jit
    def inner(x):
        return m.lax.sin(x)

    @m.jit
    def outer(x, y):
        return m.lax.mul(inner(x), y), inner(y)

    return outer


def closure(m):
    """A jitted function within another that reads the outer one's argument."""

    def outer(x, y):
        return m.jit(lambda z: m.lax.mul(m.lax.sin(z), x))(y)

    return outer


class Callables:
    """What can be called without being a function."""

    def __init__(self, m):
        self.lax = m.lax

    def __call__(self, x):
        return self.lax.neg(x)

    def method(self, x):
        return self.lax.sin(x)


def on_device(m):
    """A function that closes over a concrete array of no dimensions."""
    y = m.jit(lambda: m.lax.sin(1.0))()
    return lambda x: m.lax.mul(x, y)


def named(m, name, fun):
    fun.__name__ = name
    return m.jit(fun)


FUNCTIONS = {
    # what is returned
    "identity": (lambda m: lambda x: x, (X,)),
    "nothing": (lambda m: lambda x: (), (X,)),
    "argument twice": (lambda m: lambda x: (x, x), (X,)),
    "literals": (lambda m: lambda x: (x, 1, 2.5, True, 1j, np.float16(2)), (X,)),
    "trees": (lambda m: lambda d: {"b": m.lax.neg(d["a"][0]), "a": d["a"][1]}, ({"a": (X, N)},)),
    "no arguments": (lambda m: lambda: m.lax.sin(1.0), ()),
    "many arguments": (lambda m: lambda *xs: m.lax.add(xs[0], xs[-1]), (X,) * 30),
    # what is dropped
    "unused eqn": (lambda m: lambda x: (m.lax.sin(x), m.lax.cos(x))[1], (X,)),
    "unused chain": (lambda m: lambda x: (m.lax.exp(m.lax.sin(x)), x)[1], (X,)),
    "unused result of jit": (
        lambda m: lambda x: m.jit(lambda y: (m.lax.sin(y), m.lax.cos(y)))(x)[0],
        (X,),
    ),
    "unused within jit": (
        lambda m: lambda x: m.jit(lambda y: (m.lax.sin(y), m.lax.cos(y))[0])(x),
        (X,),
    ),
    # constants
    "constant array": (lambda m: lambda x: m.lax.mul(x, X), (X,)),
    "one constant, used twice": (lambda m: lambda x: m.lax.add(m.lax.mul(x, X), X), (X,)),
    "two constants": (lambda m: lambda x: m.lax.add(m.lax.mul(x, X), X + 1), (X,)),
    "constant of no dimension": (lambda m: lambda x: m.lax.mul(x, np.array(2, "float32")), (X,)),
    "scalar on a device": (on_device, (1.0,)),
    "constant returned": (lambda m: lambda x: X, (X,)),
    "constant in jit": (lambda m: lambda x: m.jit(lambda y: m.lax.mul(y, X))(x), (X,)),
    # weak types are not shown, and Python numbers are
    "weak arguments": (lambda m: lambda x, y: m.lax.add(x, y), (1.0, 2.0)),
    "integers": (lambda m: lambda x, y: m.lax.add(x, y), (1, 2)),
    "bool": (lambda m: lambda x: m.lax.bitwise_not(x), (True,)),
    "complex": (lambda m: lambda x: m.lax.mul(x, x), (1j,)),
    # lines
    "line that breaks": (lambda m: lambda x: polynomial(m, x), (X,)),
    "many names": (lambda m: lambda x: long_chain(m, x, 60), (X,)),
    "many results": (lambda m: lambda x: tuple(long_chain(m, x, k) for k in range(12)), (X,)),
    "long literals": (
        lambda m: lambda x: m.lax.add(m.lax.mul(x, 1.2345678901234567e-30), -1.0),
        (1.0,),
    ),
    # jit
    "jit": (lambda m: m.jit(lambda x: m.lax.sin(x)), (X,)),
    "jit of a named function": (
        lambda m: named(m, "a_rather_long_name_of_a_function", lambda x: polynomial(m, x)),
        (X,),
    ),
    "jit of a partial": (lambda m: m.jit(partial(m.lax.mul, 2.0)), (X,)),
    "jit of a method": (lambda m: m.jit(Callables(m).method), (X,)),
    "jit of an object": (lambda m: m.jit(Callables(m)), (X,)),
    "jit within": (lambda m: lambda x: m.lax.neg(m.jit(lambda y: polynomial(m, y))(x)), (X,)),
    "jit twice": (lambda m: called_twice(m, lambda x: polynomial(m, x)), (X,)),
    "jit twice, one line": (lambda m: called_twice(m, lambda x: m.lax.sin(x)), (X,)),
    "jit of one long function": (lambda m: m.jit(lambda x: long_chain(m, x, 11)), (X,)),
    "jit of one function of 10 eqns": (lambda m: m.jit(lambda x: long_chain(m, x, 10)), (X,)),
    "jit in jit": (nested, (X, X)),
    "jit in jit in jit": (lambda m: m.jit(m.jit(m.jit(lambda x: m.lax.sin(x)))), (X,)),
    "shared names of two functions": (
        lambda m: (
            lambda x: called_twice(m, lambda y: m.lax.sin(y))(
                called_twice(m, lambda y: m.lax.cos(y))(x)
            )
        ),
        (X,),
    ),
    "a name like a variable": (
        lambda m: called_twice(m, named(m, "b", lambda x: m.lax.neg(x))),
        (X,),
    ),
    "jit of the same argument twice": (lambda m: lambda x: m.jit(lambda a, b: (b, a))(x, x), (X,)),
    "jit of a literal": (lambda m: lambda x: m.jit(lambda a, b: m.lax.mul(a, b))(x, 2.0), (X,)),
    "jit reads the outer argument": (closure, (X, X)),
    "jit with unused argument": (lambda m: m.jit(lambda x, y: m.lax.sin(x)), (X, N)),
    "jit that keeps unused": (
        lambda m: m.jit(lambda x, y: m.lax.sin(x), keep_unused=True),
        (X, N),
    ),
    "jit that donates": (
        lambda m: m.jit(lambda x, y: m.lax.add(x, y), donate_argnums=0),
        (X, X),
    ),
    "jit inline": (lambda m: lambda x: m.jit(lambda y: m.lax.sin(y), inline=True)(x), (X,)),
    "jit returns its argument": (lambda m: m.jit(lambda x: (x, m.lax.sin(x))), (X,)),
    # derivatives
    "grad of sin": (lambda m: m.grad(lambda x: m.lax.sin(x)), (1.0,)),
    "grad of a chain": (lambda m: m.grad(lambda x: m.lax.sin(m.lax.cos(x))), (1.0,)),
    "grad of a polynomial": (lambda m: m.grad(lambda x: polynomial(m, x)), (1.0,)),
    "grad of a sum": (lambda m: m.grad(lambda x: total(m, m.lax.mul(x, x))), (X,)),
    "grad of two": (
        lambda m: m.grad(lambda x, y: m.lax.mul(m.lax.sin(x), y), argnums=(0, 1)),
        (1.0, 2.0),
    ),
    "value_and_grad": (lambda m: m.value_and_grad(lambda x: m.lax.exp(m.lax.sin(x))), (1.0,)),
    "grad of grad": (lambda m: m.grad(m.grad(lambda x: m.lax.sin(x))), (1.0,)),
    "grad of jit": (lambda m: m.grad(m.jit(lambda x: m.lax.sin(m.lax.cos(x)))), (1.0,)),
    "jit of grad": (lambda m: m.jit(m.grad(lambda x: m.lax.sin(m.lax.cos(x)))), (1.0,)),
    "grad of a constant": (lambda m: m.grad(lambda x: 3.0), (1.0,)),
    "jvp": (
        lambda m: lambda x, t: m.jvp(lambda y: m.lax.sin(m.lax.exp(y)), (x,), (t,)),
        (X, X),
    ),
    "jvp of jit": (lambda m: lambda x, t: m.jvp(m.jit(lambda y: m.lax.sin(y)), (x,), (t,)), (X, X)),
    "vjp": (lambda m: lambda x, ct: m.vjp(lambda y: m.lax.sin(y), x)[1](ct), (X, X)),
    "grad of tanh": (lambda m: m.grad(lambda x: m.lax.tanh(x)), (1.0,)),
    "grad of log and exp": (lambda m: m.grad(lambda x: m.lax.log(m.lax.exp(x))), (1.0,)),
    "grad of div": (lambda m: m.grad(lambda x, y: m.lax.div(x, y)), (1.0, 2.0)),
    "grad of dot": (
        lambda m: m.grad(lambda x, y: total(m, m.lax.dot(x, y)), argnums=(0, 1)),
        (A, A.T.copy()),
    ),
    "grad of a jitted polynomial": (lambda m: m.grad(m.jit(lambda x: polynomial(m, x))), (1.0,)),
    "grad of jit of two": (
        lambda m: m.grad(m.jit(lambda x, y: m.lax.mul(m.lax.sin(x), m.lax.exp(y))), (0, 1)),
        (1.0, 2.0),
    ),
    "grad of jit in jit": (
        lambda m: m.grad(m.jit(lambda x: m.jit(lambda y: polynomial(m, y))(m.lax.cos(x)))),
        (1.0,),
    ),
    "grad of grad of jit": (
        lambda m: m.grad(m.grad(m.jit(lambda x: m.lax.mul(m.lax.sin(x), m.lax.mul(x, x))))),
        (1.0,),
    ),
    "jit of grad of jit": (
        lambda m: m.jit(m.grad(m.jit(lambda x: polynomial(m, x)))),
        (1.0,),
    ),
    "vmap of grad of jit": (lambda m: m.vmap(m.grad(m.jit(lambda x: polynomial(m, x)))), (X,)),
    "linearize": (
        lambda m: lambda x, t: m.linearize(lambda y: polynomial(m, y), x)[1](t),
        (X, X),
    ),
    "grad with auxiliary": (
        lambda m: m.grad(lambda x: (m.lax.sin(x), m.lax.cos(x)), has_aux=True),
        (1.0,),
    ),
    "grad of concatenate": (
        lambda m: m.grad(lambda x: total(m, m.lax.sin(m.lax.concatenate([x, x], 0)))),
        (X,),
    ),
    "grad of transpose": (
        lambda m: m.grad(lambda x: total(m, m.lax.sin(m.lax.transpose(x, (1, 0))))),
        (A,),
    ),
    "grad of max": (lambda m: m.grad(lambda x: m.lax.max(x, 1.0)), (2.0,)),
    "grad of sqrt": (lambda m: m.grad(lambda x: m.lax.sqrt(x)), (2.0,)),
    "grad of integer_pow": (lambda m: m.grad(lambda x: m.lax.integer_pow(x, 3)), (2.0,)),
    "grad of logistic": (lambda m: m.grad(lambda x: m.lax.logistic(x)), (2.0,)),
    "grad of clamp": (lambda m: m.grad(lambda x: m.lax.clamp(0.0, x, 1.0)), (2.0,)),
    "grad of convert": (
        lambda m: m.grad(
            lambda x: m.lax.convert_element_type(
                m.lax.sin(m.lax.convert_element_type(x, np.float16)), np.float32
            )
        ),
        (np.float32(1.0),),
    ),
    # vmap
    "vmap of select": (lambda m: m.vmap(lambda x: m.lax.select(True, x, m.lax.neg(x))), (X,)),
    "vmap of concatenate": (lambda m: m.vmap(lambda x: m.lax.concatenate([x, x], 0)), (A,)),
    "vmap of pad": (lambda m: m.vmap(lambda x: m.lax.pad(x, 0.0, [(1, 1, 0)])), (A,)),
    "vmap of slice": (lambda m: m.vmap(lambda x: m.lax.slice(x, (1,), (3,))), (A,)),
    "vmap of sin": (lambda m: m.vmap(lambda x: m.lax.sin(x)), (A,)),
    "vmap of a reshape": (lambda m: m.vmap(lambda x: m.lax.reshape(x, (3, 1))), (A,)),
    "vmap with one fixed": (
        lambda m: m.vmap(lambda x, y: m.lax.mul(x, y), in_axes=(0, None)),
        (A, 2.0),
    ),
    "vmap along 1": (lambda m: m.vmap(lambda x: m.lax.sin(x), in_axes=1, out_axes=1), (A,)),
    "vmap of jit": (lambda m: m.vmap(m.jit(lambda x: m.lax.sin(x))), (A,)),
    "vmap of grad": (lambda m: m.vmap(m.grad(lambda x: polynomial(m, x))), (X,)),
    "grad of vmap": (
        lambda m: m.grad(lambda x: total(m, m.vmap(lambda y: m.lax.sin(y))(x))),
        (X,),
    ),
    "vmap of vmap": (lambda m: m.vmap(m.vmap(lambda x: m.lax.exp(x))), (A,)),
    "vmap of dot": (lambda m: m.vmap(lambda x, y: m.lax.dot(x, y)), (A, A)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_text(name, same_text):
    make, args = FUNCTIONS[name]
    same_text(lambda m: m.make_jaxpr(make(m))(*args))
