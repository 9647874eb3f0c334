"""Operators and methods of sparse arrays, which are those of dense ones, sparsified; and vmap."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..api.vmappable import register_vmappable
from ..base import sparse_errors as errors
from ..numpy import reductions, shaping
from .bcoo import BCOO, JAXSparse, spread
from .bcoo_layout import bcoo_update_layout
from .bcsr import BCSR
from .sparsify import sparsify


def _binary(fun: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    applied = sparsify(fun)
    return lambda self, other: applied(self, other), lambda self, other: applied(other, self)


for _name in ("add", "sub", "mul", "truediv", "matmul", "mod"):
    _forward, _reflected = _binary(getattr(operator, _name))
    setattr(JAXSparse, f"__{_name}__", _forward)
    setattr(JAXSparse, f"__r{_name}__", _reflected)
for _name in ("neg", "abs"):
    setattr(JAXSparse, f"__{_name}__", sparsify(getattr(operator, _name)))


def _power(self: Any, exponent: Any) -> Any:
    return sparsify(lambda x: x**exponent)(self)


def _item(self: Any, item: Any) -> Any:
    return sparsify(lambda x: x[item])(self)


def _iterate(self: Any) -> Iterator[Any]:
    return iter([self[i] for i in range(self.shape[0])])


def _sum(self: Any, axis: Any = None, **options: Any) -> Any:
    """The sum over some or all dimensions; see `numpy.sum`."""
    return sparsify(lambda x: reductions.sum(x, axis=axis, **options))(self)


def _reshape(self: Any, *shape: Any, **options: Any) -> Any:
    """The array in another shape; see `numpy.reshape`."""
    shape = shape[0] if len(shape) == 1 else shape
    return sparsify(lambda x: shaping.reshape(x, shape, **options))(self)


def _astype(self: Any, dtype: Any) -> Any:
    """The array in another dtype."""
    return sparsify(lambda x: x.astype(dtype))(self)


JAXSparse.__pow__ = _power
JAXSparse.__getitem__ = _item
JAXSparse.__iter__ = _iterate
JAXSparse.sum = _sum
JAXSparse.reshape = _reshape
JAXSparse.astype = _astype
BCOO.update_layout = bcoo_update_layout


# ---------------------------------------------------------------- vmap


def _check_axis(axis: Any, mat: Any, count: int) -> None:
    if not isinstance(axis, int) or not 0 <= axis < count:
        raise ValueError(errors.batch_axis(axis, mat.n_batch))


def _to_element(kind: Any) -> Callable[..., Any]:
    def element(example: Any, index: Any, batch: Any, axis: Any) -> Any:
        if axis is None:
            return batch
        _check_axis(axis, batch, batch.n_batch)
        buffers, (shape, *flags) = _spread(batch).tree_flatten()
        buffers = [example(x, axis) for x in buffers]
        return kind.tree_unflatten((shape[:axis] + shape[axis + 1 :], *flags), buffers)

    return element


def _from_element(kind: Any) -> Callable[..., Any]:
    def batch(batch: Any, size: Any, element: Any, axis: Any) -> Any:
        if axis is None:
            return element
        _check_axis(axis, element, element.n_batch + 1)
        buffers, (shape, *flags) = element.tree_flatten()
        buffers = [batch(size, x, axis) for x in buffers]
        return kind.tree_unflatten(((*shape[:axis], size, *shape[axis:]), *flags), buffers)

    return batch


def _spread(mat: Any) -> Any:
    """With all batch dimensions of buffers as large as the array's."""
    return spread(mat) if isinstance(mat, BCOO) else mat


for _kind in (BCOO, BCSR):
    register_vmappable(_kind, int, int, _to_element(_kind), _from_element(_kind), None)
