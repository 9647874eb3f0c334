"""`ufunc`: elementwise functions as objects, whose methods fold, accumulate and update arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from ..api.jit import jit
from ..base import ufunc_errors
from ..core.array import Array, ArrayLike
from . import folds
from .arguments import axis_argument, check_no_out
from .creation import asarray
from .promotion import BOOL, as_array, operand, operands
from .shaping import reshape
from .vectorize import vectorize

Method = Callable[..., Any] | None


class ufunc(functools.partial):  # a call of it costs no frame of Python's
    """A function that is applied element by element to arrays broadcast against each other.

    `covector.numpy.add` and others are such objects; `frompyfunc` makes more of them.

    Args:
      func: the function of elements.
      nin, nout: how many arguments it takes, and how many results it returns.
      name: what it is called; by default the name of `func`.
      nargs: how many arguments can be given; by default `nin`.
      identity: the value that leaves others as they are when combined with it, or None.
      call: a function of arrays that does the same; by default `func` is vectorized.
      reduce, accumulate, at, reduceat: functions that do what the methods of these names would do,
        and take their arguments, but for `out` and `inplace`.

    >>> import covector.numpy as jnp
    >>> jnp.add
    <jnp.ufunc 'add'>
    >>> jnp.add.reduce(jnp.array([[1, 2], [3, 4]]))
    Array([4, 6], dtype=int32)
    >>> jnp.maximum.accumulate(jnp.array([1, 3, 2, 5]))
    Array([1, 3, 3, 5], dtype=int32)
    >>> jnp.multiply.outer(jnp.array([1, 2]), jnp.array([3, 4, 5]))
    Array([[ 3,  4,  5],
           [ 6,  8, 10]], dtype=int32)
    """

    def __new__(
        cls,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        nargs: int | None = None,
        identity: Any = None,
        call: Method = None,
        reduce: Method = None,
        accumulate: Method = None,
        at: Method = None,
        reduceat: Method = None,
    ) -> ufunc:
        name = func.__name__ if name is None else name
        self = super().__new__(cls, call or _vectorized(func, name))
        counts = map(operator.index, (nin, nout, nin if nargs is None else nargs))
        methods = dict(reduce=reduce, accumulate=accumulate, at=at, reduceat=reduceat)
        self.__dict__.update(
            __name__=name,
            __doc__=func.__doc__,
            _facts=(func, name, identity, *counts),
            _arguments=dict(nargs=nargs, call=call, **methods),
            _methods={key: method for key, method in methods.items() if method is not None},
        )
        return self

    _func = property(lambda self: self._facts[0], doc="The function of elements.")
    identity = property(lambda self: self._facts[2], doc="The neutral value, or None.")
    nin = property(lambda self: self._facts[3], doc="The number of arguments.")
    nout = property(lambda self: self._facts[4], doc="The number of results.")
    nargs = property(lambda self: self._facts[5], doc="The number of arguments that can be given.")

    def __repr__(self) -> str:
        return f"<jnp.ufunc {self.__name__!r}>"

    def __hash__(self) -> int:
        return hash(self._facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ufunc) and self._facts == other._facts

    def __reduce__(self) -> Any:
        if "__module__" in vars(self):  # one that is found there under its name
            return self.__name__
        func, name, identity, nin, nout, _ = self._facts
        arguments = dict(self._arguments, name=name, identity=identity)
        return functools.partial(ufunc, **arguments), (func, nin, nout)

    def _check_binary(self, method: str) -> None:
        if (self.nin, self.nout) != (2, 1):
            raise ValueError(ufunc_errors.not_binary(method, self.__name__, self.nin, self.nout))

    def reduce(
        self,
        a: ArrayLike,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        """Combine all elements along an axis.

        Args:
          a: an array.
          axis: the axis; several of them, or None for all, are gone through in row-major order.
          dtype: that of the result.
          out: not supported.
          keepdims: whether the dimensions stay, with size 1.
          initial: a value to begin with; by default the identity of the function.
          where: booleans, broadcast against `a`: which elements take part.

        Returns:
          An array without the axis.

        Raises:
          ValueError: there may be no element, and neither an identity nor `initial`; the function
            does not take two arguments and return one result.

        >>> import covector.numpy as jnp
        >>> jnp.bitwise_or.reduce(jnp.array([[1, 2, 4], [1, 1, 1]]), axis=1)
        Array([7, 1], dtype=int32)
        """
        name = f"{self.__name__}.reduce"
        self._check_binary("reduce")
        check_no_out(name, out)
        a = as_array(name, a)
        if initial is not None:
            initial = operand(name, initial)
        if where is not None:
            where = as_array(name, where)
            if where.dtype != BOOL:
                raise ValueError(ufunc_errors.mask_not_boolean(self.__name__, where.dtype))
            if self.identity is None and initial is None:
                raise ValueError(ufunc_errors.mask_needs_initial(self.__name__))
        method = self._methods.get("reduce") or functools.partial(folds.reduce, self)
        return method(
            a, axis=axis, dtype=dtype, keepdims=bool(keepdims), initial=initial, where=where
        )

    def accumulate(self, a: ArrayLike, axis: int = 0, dtype: Any = None, out: None = None) -> Array:
        """Combine the elements up to each one along an axis.

        Args:
          a: an array of at least one dimension.
          axis: the axis.
          dtype: that of the result.
          out: not supported.

        Returns:
          An array of the shape of `a`.

        Raises:
          ValueError: the axis is not an integer, or the function not one of two arguments.

        >>> import covector.numpy as jnp
        >>> jnp.subtract.accumulate(jnp.array([10, 3, 2]))
        Array([10,  7,  5], dtype=int32)
        """
        name = f"{self.__name__}.accumulate"
        self._check_binary("accumulate")
        check_no_out(name, out)
        a = as_array(name, a)
        axis = self._one_axis("accumulate", axis, a.ndim)
        method = self._methods.get("accumulate") or functools.partial(folds.accumulate, self)
        return method(a, axis=axis, dtype=dtype)

    def at(
        self, a: ArrayLike, indices: Any, b: ArrayLike | None = None, /, *, inplace: bool = True
    ) -> Array:
        """Apply the function at the elements that an index selects, as often as it does.

        Args:
          a: an array.
          indices: as in `a[indices]`.
          b: the second argument of the function, if it takes two; broadcast to `a[indices]`.
          inplace: must be False: the array itself is not changed.

        Returns:
          An array of the shape of `a`.

        Raises:
          NotImplementedError: `inplace` is true.

        >>> import covector.numpy as jnp
        >>> jnp.add.at(jnp.zeros(3), jnp.array([0, 2, 2]), 1, inplace=False)
        Array([1., 0., 2.], dtype=float32)
        """
        if inplace:
            raise NotImplementedError(ufunc_errors.at_in_place(self.__name__))
        name = f"{self.__name__}.at"
        values = [] if b is None else [as_array(name, b)]
        if self.nout != 1 or self.nin != 1 + len(values):
            raise ValueError(ufunc_errors.at_operands(self.__name__, self.nin, 1 + len(values)))
        method = self._methods.get("at") or functools.partial(folds.at, self)
        return method(as_array(name, a), indices, *values)

    def reduceat(
        self, a: ArrayLike, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """Combine the elements of parts of an axis.

        Args:
          a: an array of at least one dimension.
          indices: a vector of integers: where each part begins. It ends where the next begins; if
            that is not behind it, the part is one element. The last one goes to the end.
          axis: the axis.
          dtype: that of the result; by default that of `a`.
          out: not supported.

        Returns:
          An array with as many elements along the axis as there are indices.

        Raises:
          ValueError: `a` is a scalar, the indices are no vector, or the axis is no integer.

        >>> import covector.numpy as jnp
        >>> jnp.add.reduceat(jnp.arange(8), jnp.array([0, 2, 5]))
        Array([ 1,  9, 18], dtype=int32)
        """
        name = f"{self.__name__}.reduceat"
        self._check_binary("reduceat")
        check_no_out(name, out)
        if isinstance(indices, (list, tuple)):
            indices = asarray(indices, None if len(indices) else int)
        a, indices = (as_array(name, x) for x in (a, indices))
        if a.ndim == 0 or indices.ndim != 1:
            raise ValueError(ufunc_errors.reduceat_shapes(self.__name__, a.shape, indices.shape))
        axis = self._one_axis("reduceat", axis, a.ndim)
        method = self._methods.get("reduceat") or functools.partial(folds.reduceat, self)
        return method(a, indices, axis=axis, dtype=dtype)

    def _one_axis(self, method: str, axis: Any, ndim: int) -> int:
        if axis is None or isinstance(axis, (tuple, list)):
            raise ValueError(ufunc_errors.one_axis_needed(self.__name__, method, axis))
        return axis_argument(f"{self.__name__}.{method}", axis, ndim)

    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array:
        """Apply the function to all pairs of elements of two arrays.

        Args:
          A, B: the arrays.

        Returns:
          An array of the dimensions of `A`, followed by those of `B`.

        Raises:
          ValueError: the function is not one of two arguments.

        >>> import covector.numpy as jnp
        >>> jnp.add.outer(jnp.array([10, 20]), jnp.array([1, 2, 3]))
        Array([[11, 12, 13],
               [21, 22, 23]], dtype=int32)
        """
        self._check_binary("outer")
        A, B = (as_array(f"{self.__name__}.outer", x) for x in (A, B))
        return self(reshape(A, A.shape + (1,) * B.ndim), reshape(B, (1,) * A.ndim + B.shape))


def _vectorized(func: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A function of elements as one of arrays."""
    compiled = jit(vectorize(func))

    def call(*args: ArrayLike) -> Any:
        return compiled(*operands(name, args))

    return call


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """Make a ufunc of a function of scalars.

    Args:
      func: the function; it is traced, so it must be written in functions of arrays.
      nin, nout: how many arguments it takes, and how many results it returns.
      identity: the value that leaves others as they are when combined with it, if there is one.

    Returns:
      A `ufunc`.

    >>> import covector.numpy as jnp
    >>> hypot = jnp.frompyfunc(lambda x, y: jnp.sqrt(x * x + y * y), nin=2, nout=1, identity=0)
    >>> hypot(jnp.array([3.0, 5.0]), jnp.array([4.0, 12.0]))
    Array([ 5., 13.], dtype=float32)
    >>> hypot.reduce(jnp.array([2.0, 3.0, 6.0]))
    Array(7., dtype=float32)
    """
    return ufunc(func, nin=nin, nout=nout, identity=identity)
