"""Primitives of random keys: make them, derive others from them, draw bits from them.

A generator (`PRNGImpl`) gives the functions of single keys; the rules here apply them to arrays of
keys.  Keys come from integers, do not vary continuously, and so have no derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from ..base import config, dtypes
from ..base.keys import PRNGImpl, key_type
from ..core.avals import ShapedArray, aval_of
from ..core.axis import Axis
from ..core.jaxpr import ClosedJaxpr
from ..ops.families import align_batches, broadcast_shape
from ..ops.linear import bring_to, reshape
from ..ops.physical import physical_aval
from ..ops.random_keys import KeyOp, check_keys
from ..transforms.stage import stage_closed
from ..transforms.vmap import vmap

# ---------------------------------------------------------------- lowering


@lru_cache(maxsize=4096)
def _program(
    rule: Callable[..., Any],
    options: tuple[Any, ...],
    batch: tuple[int, ...],
    elements: tuple[ShapedArray, ...],
    _trace_key: Any,
) -> ClosedJaxpr:
    """The jaxpr of `rule(*elements, *options)`, applied to arrays of the shape `batch` of them."""
    size = math.prod(batch)

    def one(*args: Any) -> list[Any]:
        return [rule(*args, *options)]

    def all_of_them(*args: Any) -> list[Any]:
        if not batch:
            return one(*args)
        flat = [reshape(x, (size, *element.shape)) for x, element in zip(args, elements)]
        (out,), (dim,) = vmap(one, Axis(size), flat, [0] * len(flat))
        out = bring_to(out, size, dim, 0)
        return [reshape(out, (*batch, *aval_of(out).shape[1:]))]

    return stage_closed(
        all_of_them, [ShapedArray((*batch, *element.shape), element.dtype) for element in elements]
    )


class MappedKeyOp(KeyOp):
    """A primitive that applies a function of single keys, or of their seeds, to arrays of them."""

    def emit_each(self, b: Any, rule: Any, options: tuple[Any, ...], *operands: Any) -> Any:
        """Write the application of `rule(*elements, *options)` to arrays of elements."""
        batch = b.avals_in[0].shape
        elements = tuple([physical_aval(aval.update(shape=())) for aval in b.avals_in])
        program = _program(rule, options, batch, elements, config.trace_key())
        (out,) = b.call(self.name, program, operands)
        return out


class RandomSeed(MappedKeyOp):
    """Keys from integers, one from each."""

    def abstract_eval(self, seeds, *, impl):
        return ShapedArray(seeds.shape, key_type(impl))

    def emit(self, b, seeds, *, impl):
        return self.emit_each(b, impl.seed, (), seeds)


class RandomSplit(MappedKeyOp):
    """An array of new keys, of the given shape, from each key."""

    def abstract_eval(self, keys, *, shape):
        check_keys(self.name, keys)
        return ShapedArray((*keys.shape, *shape), keys.dtype)

    def emit(self, b, keys, *, shape):
        return self.emit_each(b, b.avals_in[0].dtype._impl.split, (shape,), keys)


class RandomFoldIn(MappedKeyOp):
    """New keys, each from a key and an integer; keys and integers broadcast."""

    def abstract_eval(self, keys, msgs):
        check_keys(self.name, keys)
        return ShapedArray(broadcast_shape(self.name, [keys.shape, msgs.shape]), keys.dtype)

    def vmap(self, axis, dims, *args):
        args, dim = align_batches(dims, args)
        return self.bind(*args), dim

    def emit(self, b, keys, msgs):
        keys_aval, msgs_aval = b.avals_in
        (out,) = b.avals_out
        keys = b.broadcast_to(keys, keys_aval, out.shape)
        msgs = b.broadcast_to(msgs, msgs_aval, out.shape)
        b = b.replace(avals_in=(out, msgs_aval.update(shape=out.shape)))
        return self.emit_each(b, keys_aval.dtype._impl.fold_in, (), keys, msgs)


class RandomBits(MappedKeyOp):
    """An array of unsigned integers, of the given shape and width, from each key."""

    def abstract_eval(self, keys, *, bit_width, shape):
        check_keys(self.name, keys)
        dtype = dtypes.check_user_dtype_supported(f"uint{bit_width}", "random_bits")
        return ShapedArray((*keys.shape, *shape), dtype)

    def emit(self, b, keys, *, bit_width, shape):
        rule = b.avals_in[0].dtype._impl.random_bits
        return self.emit_each(b, rule, (bit_width, shape), keys)


random_seed_p = RandomSeed("random_seed")
random_split_p = RandomSplit("random_split")
random_fold_in_p = RandomFoldIn("random_fold_in")
random_bits_p = RandomBits("random_bits")


def random_seed(seeds: Any, impl: PRNGImpl) -> Any:
    """Keys of a generator from integers."""
    return random_seed_p.bind(seeds, impl=impl)


def random_split(keys: Any, shape: Sequence[int]) -> Any:
    """An array of new keys, of the given shape, from each key."""
    return random_split_p.bind(keys, shape=tuple(shape))


def random_fold_in(keys: Any, msgs: Any) -> Any:
    """New keys, each from a key and an integer."""
    return random_fold_in_p.bind(keys, msgs)


def random_bits(keys: Any, bit_width: int, shape: Sequence[int]) -> Any:
    """An array of unsigned integers, of the given shape and width, from each key."""
    return random_bits_p.bind(keys, bit_width=bit_width, shape=tuple(shape))
