"""Arrays of random keys, and the arrays of numbers that they are made of.

wrap  <->  unwrap          clone
"""

from __future__ import annotations

from typing import Any

from ..base import random_errors
from ..base.keys import KeyTy, PRNGImpl, check_key_data, key_type
from ..core.avals import ShapedArray, aval_of
from ..core.zeros import Zero
from .base import Op
from .linear import full, move_axis
from .physical import physical_aval


class KeyOp(Op):
    """A primitive of random keys: they do not vary continuously, and so it has no derivative."""

    def jvp(self, primals, tangents, **params):
        out = self.bind(*primals, **params)
        return out, Zero(aval_of(out).to_tangent_aval())

    def vmap(self, axis, dims, x, **params):
        return self.bind(x, **params), dims[0]


def check_keys(name: str, aval: Any) -> None:
    """Raise unless arrays of this aval hold random keys."""
    if not isinstance(aval.dtype, KeyTy):
        raise TypeError(random_errors.not_keys(name, aval.dtype))


class Reinterpretation(KeyOp):
    """The same numbers under another type: nothing is computed."""

    def evaluate(self, backend, args, params):
        (x,) = args
        x = backend.to_array(x, self.name)
        aval, _ = self.typecheck((x.aval,), params)
        return backend.retyped(x, aval)

    def emit(self, b, x, **params):
        return x


class RandomWrap(Reinterpretation):
    """Keys of a generator from the numbers that they are made of."""

    def abstract_eval(self, base_arr, *, impl):
        check_key_data(impl, base_arr)
        return ShapedArray(base_arr.shape[: base_arr.ndim - len(impl.key_shape)], key_type(impl))

    def vmap(self, axis, dims, base_arr, *, impl):
        return self.bind(move_axis(base_arr, dims[0], 0), impl=impl), 0


class RandomUnwrap(Reinterpretation):
    """The numbers that keys are made of."""

    def abstract_eval(self, keys):
        if not isinstance(keys.dtype, KeyTy):
            raise TypeError(random_errors.unwrap_not_keys(keys.dtype))
        return physical_aval(keys)


class RandomClone(Reinterpretation):
    """The same keys, which the checker of key reuse takes for new ones."""

    def abstract_eval(self, keys):
        return keys


random_wrap_p = RandomWrap("random_wrap")
random_unwrap_p = RandomUnwrap("random_unwrap")
random_clone_p = RandomClone("random_clone")


def random_wrap(base_arr: Any, *, impl: PRNGImpl) -> Any:
    """Keys of a generator from the numbers that they are made of."""
    return random_wrap_p.bind(base_arr, impl=impl)


def random_unwrap(keys: Any) -> Any:
    """The numbers that keys are made of."""
    return random_unwrap_p.bind(keys)


def filled_keys(shape: tuple[int, ...], number: Any, dtype: KeyTy) -> Any:
    """Keys that are made of nothing but one number."""
    numbers = full((*shape, *dtype.element_shape), number, dtype.element_dtype)
    return random_wrap(numbers, impl=dtype._impl)
