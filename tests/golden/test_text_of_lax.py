"""The text of programs made of single operations of `lax`."""

from __future__ import annotations

import numpy as np
import pytest

S = np.float32(0.5)
X = np.arange(3, dtype=np.float32)
A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(12, dtype=np.float32).reshape(3, 4)
T = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
N = np.arange(3, dtype=np.int32)
P = np.array([True, False, True])
Z = np.array([1 + 2j, 3j], dtype=np.complex64)
H = np.arange(3, dtype=np.float16)

I = np.array([[0], [2]], np.int32)


def elements(m, x, indices, **options):
    """Elements of a vector."""
    numbers = m.lax.GatherDimensionNumbers(
        offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,)
    )
    return m.lax.gather(x, indices, numbers, slice_sizes=(1,), **options)


def where_elements_go(m):
    """The dimension numbers of updates of elements of a vector."""
    return m.lax.ScatterDimensionNumbers(
        update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
    )


PROGRAMS = {
    # elementwise, of one operand
    "sin": lambda m: m.make_jaxpr(lambda x: m.lax.sin(x))(X),
    "sin of a number": lambda m: m.make_jaxpr(lambda x: m.lax.sin(x))(1.0),
    "chain": lambda m: m.make_jaxpr(lambda x: m.lax.exp(m.lax.cos(m.lax.sin(x))))(X),
    "neg of integers": lambda m: m.make_jaxpr(lambda x: m.lax.neg(x))(N),
    "abs of complex": lambda m: m.make_jaxpr(lambda x: m.lax.abs(x))(Z),
    "real and imag": lambda m: m.make_jaxpr(lambda x: (m.lax.real(x), m.lax.imag(x)))(Z),
    "integer_pow": lambda m: m.make_jaxpr(lambda x: m.lax.integer_pow(x, 3))(X),
    "square": lambda m: m.make_jaxpr(lambda x: m.lax.square(x))(X),
    "round": lambda m: m.make_jaxpr(lambda x: m.lax.round(x, m.lax.RoundingMethod.TO_NEAREST_EVEN))(
        X
    ),
    "logistic": lambda m: m.make_jaxpr(lambda x: m.lax.logistic(x))(X),
    "not": lambda m: m.make_jaxpr(lambda x: m.lax.bitwise_not(x))(P),
    "is_finite": lambda m: m.make_jaxpr(lambda x: m.lax.is_finite(x))(X),
    "half precision": lambda m: m.make_jaxpr(lambda x: m.lax.tanh(x))(H),
    # elementwise, of more
    "add": lambda m: m.make_jaxpr(lambda x, y: m.lax.add(x, y))(X, X),
    "mul of a literal": lambda m: m.make_jaxpr(lambda x: m.lax.mul(x, np.float32(2)))(X),
    "mul of a Python number": lambda m: m.make_jaxpr(lambda x: m.lax.mul(x, 2.0))(X),
    "literal in front": lambda m: m.make_jaxpr(lambda x: m.lax.sub(1.0, x))(X),
    "pow": lambda m: m.make_jaxpr(lambda x, y: m.lax.pow(x, y))(X, X),
    "max of integers": lambda m: m.make_jaxpr(lambda x: m.lax.max(x, 7))(N),
    "comparison": lambda m: m.make_jaxpr(lambda x, y: (m.lax.gt(x, y), m.lax.eq(x, y)))(X, X),
    "select": lambda m: m.make_jaxpr(lambda p, x, y: m.lax.select(p, x, y))(P, X, X),
    "clamp": lambda m: m.make_jaxpr(lambda x: m.lax.clamp(0.0, x, 1.0))(X),
    "and": lambda m: m.make_jaxpr(lambda x, y: m.lax.bitwise_and(x, y))(P, P),
    "special literals": lambda m: m.make_jaxpr(
        lambda x: m.lax.max(m.lax.add(x, np.float32(np.nan)), np.float32(-np.inf))
    )(X),
    "complex literal": lambda m: m.make_jaxpr(lambda x: m.lax.mul(x, np.complex64(1 + 2j)))(Z),
    "bool literal": lambda m: m.make_jaxpr(lambda x: m.lax.bitwise_or(x, True))(P),
    "small literals": lambda m: m.make_jaxpr(lambda x: m.lax.mul(x, np.float32(1e-20)))(X),
    # dtypes
    "convert": lambda m: m.make_jaxpr(lambda x: m.lax.convert_element_type(x, np.int32))(X),
    "convert nothing": lambda m: m.make_jaxpr(lambda x: m.lax.convert_element_type(x, np.float32))(
        X
    ),
    "convert a literal": lambda m: m.make_jaxpr(
        lambda x: m.lax.mul(x, m.lax.convert_element_type(2, np.float32))
    )(X),
    "bitcast": lambda m: m.make_jaxpr(lambda x: m.lax.bitcast_convert_type(x, np.int32))(X),
    # shapes
    "reshape": lambda m: m.make_jaxpr(lambda x: m.lax.reshape(x, (3, 2)))(A),
    "transpose": lambda m: m.make_jaxpr(lambda x: m.lax.transpose(x, (1, 0)))(A),
    "squeeze": lambda m: m.make_jaxpr(lambda x: m.lax.squeeze(x, (0,)))(X[None]),
    "expand_dims": lambda m: m.make_jaxpr(lambda x: m.lax.expand_dims(x, (0, 2)))(X),
    "rev": lambda m: m.make_jaxpr(lambda x: m.lax.rev(x, (0,)))(X),
    "broadcast": lambda m: m.make_jaxpr(lambda x: m.lax.broadcast(x, (2,)))(X),
    "broadcast a scalar": lambda m: m.make_jaxpr(lambda x: m.lax.broadcast(x, (2, 3)))(1.0),
    "broadcast_in_dim": lambda m: m.make_jaxpr(lambda x: m.lax.broadcast_in_dim(x, (3, 2), (0,)))(
        X
    ),
    "full": lambda m: m.make_jaxpr(lambda: m.lax.full((2, 3), 7.0))(),
    "full_like": lambda m: m.make_jaxpr(lambda x: m.lax.full_like(x, 1))(X),
    "iota": lambda m: m.make_jaxpr(lambda: m.lax.iota(np.int32, 5))(),
    "broadcasted_iota": lambda m: m.make_jaxpr(
        lambda: m.lax.broadcasted_iota(np.float32, (2, 3), 1)
    )(),
    "concatenate": lambda m: m.make_jaxpr(lambda x, y: m.lax.concatenate([x, y], 0))(X, X),
    "slice": lambda m: m.make_jaxpr(lambda x: m.lax.slice(x, (0, 1), (2, 3)))(A),
    "slice with strides": lambda m: m.make_jaxpr(lambda x: m.lax.slice(x, (0,), (3,), (2,)))(X),
    "pad": lambda m: m.make_jaxpr(lambda x: m.lax.pad(x, 0.0, [(1, 2, 0)]))(X),
    "dynamic_slice": lambda m: m.make_jaxpr(lambda x, i: m.lax.dynamic_slice(x, (i, i), (1, 2)))(
        A, np.int32(1)
    ),
    "dynamic_update_slice": lambda m: m.make_jaxpr(
        lambda x, y, i: m.lax.dynamic_update_slice(x, y, (i,))
    )(X, X[:1], np.int32(1)),
    # reductions
    "reduce_sum": lambda m: m.make_jaxpr(
        lambda x: m.lax.reduce_sum_p.bind(x, axes=(0,), out_sharding=None)
    )(A),
    "reduce_max": lambda m: m.make_jaxpr(lambda x: m.lax.reduce_max(x, axes=(1,)))(A),
    "argmax": lambda m: m.make_jaxpr(lambda x: m.lax.argmax(x, 1, np.int32))(A),
    # products
    "dot": lambda m: m.make_jaxpr(lambda x, y: m.lax.dot(x, y))(A, B),
    "dot_general": lambda m: m.make_jaxpr(
        lambda x, y: m.lax.dot_general(x, y, (((2,), (2,)), ((0,), (0,))))
    )(T, T),
    "dot_general with a dtype": lambda m: m.make_jaxpr(
        lambda x, y: m.lax.dot_general(
            x, y, (((1,), (0,)), ((), ())), preferred_element_type=np.float32
        )
    )(A, B),
    "dot with precision": lambda m: m.make_jaxpr(
        lambda x, y: m.lax.dot(x, y, precision=m.lax.Precision.HIGHEST)
    )(A, B),
    # parts
    "index_in_dim": lambda m: m.make_jaxpr(lambda x: m.lax.index_in_dim(x, 1, 0))(A),
    "dynamic_index_in_dim": lambda m: m.make_jaxpr(
        lambda x, i: m.lax.dynamic_index_in_dim(x, i, 0)
    )(A, np.int32(1)),
    "split": lambda m: m.make_jaxpr(lambda x: m.lax.split(x, (1, 2), axis=1))(A),
    "collapse": lambda m: m.make_jaxpr(lambda x: m.lax.collapse(x, 0, 2))(A),
    "gather": lambda m: m.make_jaxpr(lambda x, i: elements(m, x, i))(X, I),
    "gather with a fill value": lambda m: m.make_jaxpr(
        lambda x, i: elements(m, x, i, mode="fill", fill_value=0.0)
    )(X, I),
    "grad of gather": lambda m: m.make_jaxpr(
        m.grad(
            lambda x, i: m.lax.reduce_sum_p.bind(elements(m, x, i), axes=(0,), out_sharding=None)
        )
    )(X, I),
    "scatter": lambda m: m.make_jaxpr(lambda x, i, u: m.lax.scatter(x, i, u, where_elements_go(m)))(
        X, I, X[:2]
    ),
    "scatter_add": lambda m: m.make_jaxpr(
        lambda x, i, u: m.lax.scatter_add(x, i, u, where_elements_go(m))
    )(X, I, X[:2]),
    "scatter_max with clipping": lambda m: m.make_jaxpr(
        lambda x, i, u: m.lax.scatter_max(x, i, u, where_elements_go(m), mode="clip")
    )(X, I, X[:2]),
    # what carries a jaxpr
    "reduce": lambda m: m.make_jaxpr(
        lambda x: m.lax.reduce((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,))
    )(A),
    # special params
    "accuracy": lambda m: m.make_jaxpr(lambda x: m.lax.exp(x, accuracy=m.lax.AccuracyMode.HIGHEST))(
        X
    ),
    "algorithm of a product": lambda m: m.make_jaxpr(
        lambda x, y: m.lax.dot(x, y, precision=m.lax.DotAlgorithmPreset.F32_F32_F32)
    )(A, B),
    "reduce_precision": lambda m: m.make_jaxpr(lambda x: m.lax.reduce_precision(x, 5, 10))(X),
    "grad of stop_gradient": lambda m: m.make_jaxpr(
        m.grad(lambda x: m.lax.mul(x, m.lax.stop_gradient(x)))
    )(1.0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text(name, same_text):
    same_text(PROGRAMS[name])
