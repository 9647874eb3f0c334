"""Reading and writing mutable references: `ref[index]`, `ref.at[index]`, and the functions of both.

The index of a reference is that of an array: integers, slices, `...`, `None`, and arrays of
integers or known booleans; and `ds(start, size)`, a slice of fixed size whose start may be traced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import dtypes, ref_errors, tree
from ..base.tracebacks import boundary
from ..control.refs import (
    WHOLE,
    addupdate_p,
    apply,
    create,
    empty_ref_p,
    free_ref_p,
    freeze_p,
    get_p,
    new_ref_p,
    shape_fits,
    swap_p,
)
from ..core.array import as_array
from ..core.avals import ShapedArray, aval_of, is_valid_type
from ..core.refs import AbstractRef, Ref, Slice
from ..core.trace import Tracer, context
from ..ops.conversion import convert
from ..ops.dynamic_indices import dynamic_slice, dynamic_update_slice
from ..ops.gather_dimensions import GatherScatterMode
from ..ops.linear import reshape
from ..ops.shaping import broadcast_to
from . import creation, indices
from .indexing import getitem
from .updates import Update, updated

# ---------------------------------------------------------------- indices


def ds(start: Any, size: int | None = None, stride: int | None = None) -> Any:
    """A slice of `size` elements from `start` on, as an index of a reference.

    Args:
      start: the index of the first element, which may be traced; or, alone, the size.
      size: how many elements there are.
      stride: the distance from one to the next, by default 1.

    >>> import covector as cv, covector.numpy as jnp
    >>> reference = cv.new_ref(jnp.arange(5))
    >>> cv.jit(lambda x, i: x[cv.ds(i, 2)])(reference, 3)
    Array([3, 4], dtype=int32)
    """
    stride = 1 if stride is None else stride
    return Slice(0, start, stride) if size is None else Slice(start, size, stride)


class _Bounds(NamedTuple):
    """A slice of Python, which is no key."""

    start: int | None
    stop: int | None
    step: int


class _Window(NamedTuple):
    """A slice of a fixed size from an operand on."""

    size: int


class _Operand:
    """An entry of an index that is known only when the program runs, or is an array."""


_OPERAND = _Operand()


class RefIndex(NamedTuple):
    """An index of a part of a part of ... an array, but for what is known only at run time.

    Attributes:
      levels: for each index in the chain its entries, and the sizes of what it is applied to.
    """

    levels: tuple[tuple[tuple[Any, ...], tuple[int, ...]], ...]

    def read(self, x: Any, *operands: Any) -> Any:
        """The part of an array."""
        rest = iter(operands)
        for entries, _ in self.levels:
            x = _read(x, _filled(entries, rest))
        return x

    def write(self, x: Any, value: Any, *operands: Any) -> Any:
        """The array with the part replaced."""
        return self._updated(x, "set", value, operands)

    def add(self, x: Any, value: Any, *operands: Any) -> Any:
        """The array with a value added to the part."""
        return self._updated(x, "add", value, operands)

    def _updated(self, x: Any, kind: str, value: Any, operands: Sequence[Any]) -> Any:
        rest = iter(operands)
        filled = [_filled(entries, rest) for entries, _ in self.levels]
        wholes = [x]
        for index in filled[:-1]:
            wholes.append(_read(wholes[-1], index))
        for whole, index in zip(reversed(wholes), reversed(filled)):
            value, kind = _write(whole, index, kind, value), "set"
        return value

    def text(self, names: Sequence[str]) -> str:
        rest = iter(names)
        return "".join(
            f"[{','.join(_entries_text(entries, shape, rest))}]" for entries, shape in self.levels
        )


def _filled(entries: tuple[Any, ...], operands: Iterator[Any]) -> list[Any]:
    """The entries with operands where they belong."""

    def filled(entry: Any) -> Any:
        if entry is _OPERAND:
            return next(operands)
        if type(entry) is _Window:
            return Slice(next(operands), entry.size)
        return slice(*entry) if type(entry) is _Bounds else entry

    return [filled(entry) for entry in entries]


def _entries_text(entries: Any, shape: Sequence[int], names: Iterator[str]) -> Iterator[str]:
    sizes = iter(shape)
    for entry in entries:
        size = None if entry is None else next(sizes)
        if type(entry) is _Window:
            name = next(names)
            yield f"{name}:{name}+{entry.size}"
        elif type(entry) is _Bounds:
            start = "" if entry.start == 0 else str(entry.start)
            stop = "" if entry.stop in (None, size) else str(entry.stop)
            yield f"{start}:{stop}" + (f":{entry.step}" if entry.step != 1 else "")
        else:
            yield next(names) if entry is _OPERAND else str(entry)


def _windows(index: Sequence[Any]) -> tuple[list[Any], list[int]] | None:
    """Starts and sizes of the part that an index with slices of `ds` cuts out; else None."""
    if not any(type(entry) is Slice for entry in index):
        return None
    starts, sizes = [], []
    for entry in index:
        if type(entry) is Slice:
            starts.append(entry.start)
            sizes.append(entry.size)
        elif isinstance(entry, slice) and entry.step == 1:
            starts.append(entry.start)
            sizes.append(entry.stop - entry.start)
        elif entry is not None and not isinstance(entry, slice) and np.ndim(entry) == 0:
            starts.append(entry)
            sizes.append(1)
        else:
            raise IndexError(ref_errors.slice_beside_array(index))
    dtype = next(entry.start.dtype for entry in index if type(entry) is Slice)
    return [convert(start, dtype) for start in starts], sizes


def _read(x: Any, index: list[Any]) -> Any:
    cut = _windows(index)
    if cut is None:
        return getitem(x, tuple(index))
    part = dynamic_slice(x, *cut)
    kept = [n for n, entry in zip(cut[1], index) if isinstance(entry, (Slice, slice))]
    return reshape(part, tuple(kept))


def _write(x: Any, index: list[Any], kind: str, value: Any) -> Any:
    cut = _windows(index)
    if cut is None:
        mode = GatherScatterMode.from_any(None)
        return updated(Update(x, tuple(index), mode, False, False, True), kind, value)
    starts, sizes = cut
    value = reshape(value, tuple(sizes))
    if kind == "add":
        value = dynamic_slice(x, starts, sizes) + value
    return dynamic_update_slice(x, value, starts)


def _read_index(shape: tuple[int, ...], index: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """The entries of an index, one for each dimension (and those that are None), and its operands.

    Integers and the bounds of slices are counted from the front.
    """
    given = list(index) if type(index) is tuple else [index]
    given = [_as_slice(entry) if type(entry) is Slice else entry for entry in given]
    indices.check_literals(shape, tuple([slice(None) if type(e) is Slice else e for e in given]))
    entries: list[Any] = []
    for entry in given:
        if isinstance(entry, (list, np.ndarray)) or hasattr(entry, "dtype"):
            entries += _array_entries(entry)
        else:
            entries.append(entry)
    missing = len(shape) - sum(entry is not None and entry is not Ellipsis for entry in entries)
    place = next((i for i, entry in enumerate(entries) if entry is Ellipsis), len(entries))
    entries[place : place + 1] = [slice(None)] * missing
    if missing < 0 or Ellipsis in [e for e in entries if type(e) is type(Ellipsis)]:
        indices.read(shape, index)  # says what is wrong
    found, operands, sizes = [], [], iter(shape)
    for entry in entries:
        size = 0 if entry is None else next(sizes)
        found.append(_entry(entry, size, operands))
    return tuple(found), operands


def _as_slice(entry: Slice) -> Any:
    """A slice of Python for one whose start is known, or whose stride is not 1."""
    if not isinstance(entry.start, Tracer):
        start = int(entry.start)
        return slice(start, start + entry.size * entry.stride, entry.stride)
    if entry.stride == 1:
        return entry
    first: Any = entry.start
    return first + np.arange(entry.size, dtype=np.int32) * entry.stride


def _array_entries(entry: Any) -> list[Any]:
    """An array in an index; booleans, which must be known, as the indices where they are true."""
    if isinstance(entry, Tracer):
        return [entry] if entry.dtype != np.bool_ else indices.read(entry.shape, entry).entries
    host = np.asarray(entry)
    if host.dtype == np.bool_ and host.ndim:
        return list(np.nonzero(host))
    if host.ndim == 0 and dtypes.issubdtype(host.dtype, np.integer):
        return [int(host)]
    return [entry if hasattr(entry, "dtype") else host if host.size else host.astype(np.int32)]


def _entry(entry: Any, size: int, operands: list[Any]) -> Any:
    if entry is None or type(entry) is int:
        return entry + size if entry is not None and entry < 0 else entry
    if isinstance(entry, slice):
        start, stop, step = entry.indices(size)
        return _Bounds(start, max(stop, start) if step > 0 else None if stop < 0 else stop, step)
    if type(entry) is Slice:
        operands.append(entry.start)
        return _Window(entry.size)
    operands.append(entry)
    return _OPERAND


def _part_shape(shape: tuple[int, ...], entries: Sequence[Any], operands: Sequence[Any]) -> Any:
    """The shape of a part: that of the part of an array of nothing."""
    stand_ins = [np.zeros(np.shape(x), np.int32) for x in operands]
    index = [
        slice(0, entry.size) if type(entry) is Slice else entry
        for entry in _filled(tuple(entries), iter(stand_ins))
    ]
    nothing = np.broadcast_to(np.zeros((), np.int8), shape)
    return nothing[tuple(index)].shape


# ---------------------------------------------------------------- parts of references


class RefView:
    """`ref.at[index]`: a part of what a reference holds, read and written like a reference.

    It is a tree of the reference and of what is known of the index only at run time, and so may be
    passed to functions that are transformed.
    """

    __slots__ = ("_levels", "_operands", "ref", "shape")

    def __init__(self, ref: Ref, levels: tuple[Any, ...], operands: list[Any], shape: Any):
        self.ref = ref
        self._levels = levels
        self._operands = operands
        self.shape = shape

    dtype = property(lambda self: self.ref.dtype)
    ndim = property(lambda self: len(self.shape))
    at = property(lambda self: RefIndexer(self), doc="A part of the part.")

    def part(self, index: Any) -> RefView:
        """The part of the part at an index."""
        if index is None or index is Ellipsis or (type(index) is tuple and not index):
            return self
        entries, operands = _read_index(self.shape, index)
        shape = _part_shape(self.shape, entries, operands)
        levels = (*self._levels, (entries, self.shape))
        return RefView(self.ref, levels, [*self._operands, *operands], shape)

    def apply(self, primitive: Any, *args: Any) -> Any:
        """Apply an operation on references to the part."""
        index = RefIndex(self._levels) if self._levels else WHOLE
        return apply(primitive, self.ref, *args, *self._operands, index=index)

    def __getitem__(self, index: Any) -> Any:
        return get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        set(self, index, value)

    def __len__(self) -> int:
        return _length(self)

    def __repr__(self) -> str:
        return f"RefView({self.ref!r}, shape={self.shape})"

    def get(self, idx: Any = ()) -> Any:
        """The part; see `ref.get`."""
        return get(self, idx)

    def set(self, value: Any, idx: Any = ()) -> None:
        """Replace the part; see `ref.set`."""
        set(self, idx, value)

    def swap(self, value: Any, idx: Any = ()) -> Any:
        """Replace the part, and return what it was; see `ref.swap`."""
        return swap(self, idx, value)

    def addupdate(self, x: Any, idx: Any = ()) -> None:
        """Add to the part; see `ref.addupdate`."""
        addupdate(self, idx, x)


def _parts_of_view(view: RefView) -> tuple[Any, Any]:
    return (view.ref, view._operands), (view._levels, tuple(view.shape))


def _view_of_parts(static: Any, parts: Any) -> RefView:
    levels, shape = static
    ref, operands = parts
    return RefView(ref, levels, operands, shape)


tree.register_pytree_node(RefView, _parts_of_view, _view_of_parts)


class RefIndexer:
    """`ref.at`; its brackets take an index."""

    __slots__ = ("_ref",)

    def __init__(self, ref: Ref | RefView):
        self._ref = ref

    def __getitem__(self, index: Any) -> RefView:
        return _view("Ref.at", self._ref).part(index)


def _view(where: str, ref: Any) -> RefView:
    if type(ref) is RefView:
        return ref
    if not isinstance(ref, Ref):
        raise ValueError(ref_errors.not_a_ref(where, ref))
    return RefView(ref, (), [], ref.shape)


def _value(where: str, view: RefView, value: Any) -> Any:
    """A value to be written, in the dtype of the reference and the shape of the part."""
    value = creation.asarray(value) if isinstance(value, (list, tuple)) else value
    aval: Any = aval_of(value)
    if aval.dtype != view.dtype:
        if not _casts(aval, view.dtype):
            raise ValueError(ref_errors.wrong_dtype(where, view.dtype, aval.dtype))
        known = isinstance(value, (int, float, complex, np.ndarray, np.generic))
        value = np.asarray(value, view.dtype) if known else convert(value, view.dtype)
    if not shape_fits(aval.shape, view.shape):
        raise ValueError(ref_errors.wrong_shape(where, view.ref.aval, view.shape, aval.shape))
    value = as_array(value)
    return value if aval.shape == tuple(view.shape) else broadcast_to(value, view.shape, where)


def _casts(aval: Any, dtype: Any) -> bool:
    """Whether values may be written to a reference of another dtype: integers, and weak types that
    lose nothing by it."""
    kinds = (np.bool_, np.integer, np.floating, np.complexfloating)
    given, wanted = (
        next((i for i, kind in enumerate(kinds) if dtypes.issubdtype(each, kind)), -1)
        for each in (aval.dtype, dtype)
    )
    return given == wanted == 1 or (aval.weak_type and 0 < given <= wanted)


# ---------------------------------------------------------------- functions


@boundary
def get(ref: Any, idx: Any = None) -> Any:
    """A part of what a reference holds: `ref[idx]`.

    Args:
      ref: a `Ref`, or a part of one, `ref.at[...]`.
      idx: an index, as of arrays; None and `...` mean the whole.

    Returns:
      An array, which later writes to the reference do not change.

    >>> import covector as cv, covector.numpy as jnp
    >>> cv.ref.get(cv.new_ref(jnp.arange(5)), slice(1, 3))
    Array([1, 2], dtype=int32)
    """
    return _view("ref.get", ref).part(idx).apply(get_p)


@boundary
def swap(ref: Any, idx: Any, value: Any, _function_name: str = "ref.swap") -> Any:
    """Replace a part of what a reference holds, and return what was there before.

    Args:
      ref: a `Ref`, or a part of one, `ref.at[...]`.
      idx: an index, as of arrays; None and `...` mean the whole.
      value: an array of the dtype of the reference that broadcasts to the part.

    Raises:
      ValueError: the value has another dtype, or does not broadcast; or it belongs to a
        transformation (`vmap`, `grad`) in which the reference takes no part.

    >>> import covector as cv, covector.numpy as jnp
    >>> ref = cv.new_ref(jnp.arange(3))
    >>> cv.ref.swap(ref, 1, 10), ref
    (Array(1, dtype=int32), Ref([ 0, 10,  2], dtype=int32))
    """
    view = _view(_function_name, ref).part(idx)
    return view.apply(swap_p, _value(_function_name, view, value))


@boundary
def set(ref: Any, idx: Any, value: Any) -> None:
    """Replace a part of what a reference holds: `ref[idx] = value`; see `swap`.

    >>> import covector as cv, covector.numpy as jnp
    >>> ref = cv.new_ref(jnp.zeros(3))
    >>> cv.ref.set(ref, slice(0, 2), 7.0)
    >>> ref
    Ref([7., 7., 0.], dtype=float32)
    """
    swap(ref, idx, value, "ref.set")


@boundary
def addupdate(ref: Any, idx: Any, x: Any) -> None:
    """Add to a part of what a reference holds; elements that an index names twice get both.

    Args:
      ref: a `Ref`, or a part of one, `ref.at[...]`.
      idx: an index, as of arrays; None and `...` mean the whole.
      x: an array of the dtype of the reference that broadcasts to the part.

    >>> import covector as cv, covector.numpy as jnp
    >>> ref = cv.new_ref(jnp.zeros(3))
    >>> cv.ref.addupdate(ref, jnp.array([0, 2, 2]), 1.0)
    >>> ref
    Ref([1., 0., 2.], dtype=float32)
    """
    view = _view("ref.addupdate", ref).part(idx)
    view.apply(addupdate_p, _value("ref.addupdate", view, x))


@boundary
def new_ref(init_val: Any, *, memory_space: Any = None, kind: str | None = None) -> Ref:
    """Make a mutable reference that holds a copy of an array.

    Args:
      init_val: the array, or a number.
      memory_space, kind: are kept with the type of the reference; they have no effect.

    Raises:
      TypeError: the value is no array.

    >>> import covector as cv, covector.numpy as jnp
    >>> counter = cv.new_ref(0)
    >>> @cv.jit
    ... def count():
    ...     counter[...] += 1
    >>> count(), count(), counter
    (None, None, Ref(2, dtype=int32, weak_type=True))
    """
    if not is_valid_type(init_val) or isinstance(init_val, Ref):
        raise TypeError(ref_errors.not_an_initial_value(init_val))
    return create(new_ref_p, as_array(init_val), kind=kind, memory_space=memory_space)


@boundary
def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """Make a mutable reference to an array that is still to be written; until then it holds zeros.

    Args:
      ty: a `ShapeDtypeStruct`, or anything with a shape and a dtype.
      memory_space: is kept with the type of the reference; it has no effect.

    >>> import covector as cv
    >>> cv.empty_ref(cv.ShapeDtypeStruct((2,), "float32"))
    Ref([0., 0.], dtype=float32)
    """
    if not (hasattr(ty, "shape") and hasattr(ty, "dtype")):
        raise TypeError(ref_errors.no_type(ty))
    aval = AbstractRef(ShapedArray(ty.shape, dtypes.canonicalize_dtype(ty.dtype)), memory_space)
    return create(empty_ref_p, ty=aval)


@boundary
def freeze(ref: Ref) -> Any:
    """The last value of a reference, which must not be used afterwards.

    >>> import covector as cv
    >>> cv.freeze(cv.new_ref(3.0))
    Array(3., dtype=float32, weak_type=True)
    """
    if not isinstance(ref, Ref):
        raise ValueError(ref_errors.not_a_ref("freeze", ref))
    return apply(freeze_p, ref)


@boundary
def free_ref(ref: Ref) -> None:
    """End the use of a reference, and of the memory that it holds.

    >>> import covector as cv
    >>> cv.free_ref(cv.new_ref(3.0))
    """
    if not isinstance(ref, Ref):
        raise ValueError(ref_errors.not_a_ref("free_ref", ref))
    apply(free_ref_p, ref)


# ---------------------------------------------------------------- methods of references


def _length(ref: Any) -> int:
    if not ref.shape:
        raise TypeError("len() of unsized object: the reference has no dimensions")
    return ref.shape[0]


def _iterate(ref: Any) -> Iterator[Any]:
    return (get(ref, i) for i in range(_length(ref)))


def _text(ref: Ref) -> str:
    if ref._value is None or isinstance(ref._value, Tracer) or context.trace is None:
        return f"Ref({ref.aval})"
    return "Ref" + repr(ref._value).removeprefix("Array")


_OF_REFS: dict[str, Any] = {
    "__getitem__": get,
    "__setitem__": set,
    "__len__": _length,
    "__iter__": _iterate,
    "__repr__": _text,
    "addupdate": RefView.addupdate,
    "at": property(RefIndexer, doc="`ref.at[index]`: a part, read and written like a reference."),
    "committed": property(lambda ref: ref._value.committed),
    "format": property(lambda ref: ref._value.format),
    "get": RefView.get,
    "set": RefView.set,
    "sharding": property(lambda ref: ref._value.sharding),
    "swap": RefView.swap,
    "unsafe_buffer_pointer": lambda ref: ref._value.unsafe_buffer_pointer(),
}
for _name, _method in _OF_REFS.items():
    setattr(Ref, _name, _method)
