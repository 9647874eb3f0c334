"""Writing to windows of an array: replacing, multiplying, bounding; see `gather.py` for adding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base import errors, gather_errors
from ..core.avals import aval_of
from ..core.jaxpr import ClosedJaxpr
from ..core.zeros import UndefinedPrimal, Zero
from .arithmetic import add_p, div_p, max_p, min_p, mul_p
from .base import Sample
from .comparison import eq_p
from .creation import iota_p
from .families import accumulate, filled_like
from .gather import read_back, scatter_add_p
from .gather_dimensions import ScatterDimensionNumbers
from .linear import constant_like, full, instantiate, reshape
from .scattering import (
    CLIP,
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    Scattering,
    emit_many,
    scatter_function,
)
from .select import select_n_p

# ---------------------------------------------------------------- scatter_mul


class ScatterMul(Scattering):
    """The operand with its windows that begin at the indices multiplied by updates.

    It is linear in the operand; and in the updates, if no two of them meet.
    """

    combine = mul_p
    numpy = np.multiply.at

    def jvp(self, primals, tangents, **params):
        x, indices, updates = primals
        t, _, t_updates = tangents
        out = self.bind(x, indices, updates, **params)
        total = None
        if type(t) is not Zero:
            total = accumulate(total, self.bind(t, indices, updates, **params), out)
        if type(t_updates) is not Zero:
            check_unique(params["unique_indices"])
            spread = scatter_add_p.apply(filled_like(x, 0), indices, t_updates, **_options(params))
            total = accumulate(total, mul_p.bind(x, spread), out)
        return out, Zero(aval_of(out).to_tangent_aval()) if total is None else total

    def transpose(self, ct, x, indices, updates, **params):
        if type(updates) is not UndefinedPrimal:
            return self.bind(ct, indices, updates, **params), None, None
        if type(x) is UndefinedPrimal:  # without updates, which alone it is linear in both
            return ct, None, Zero(updates.aval)
        check_unique(params["unique_indices"])
        numbers, mode = params["dimension_numbers"], params["mode"]
        product = mul_p.bind(ct, x)
        return None, None, read_back(product, indices, numbers, updates.aval.shape, mode)

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for sample in super().samples(rng):
            yield sample._replace(params=sample.params | dict(unique_indices=True))


def check_unique(unique_indices: bool) -> None:
    """Raise unless no two updates of a product meet."""
    if not unique_indices:
        raise NotImplementedError(gather_errors.repeated_factors())


def _options(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a scatter, as `Scattering.apply` takes them, for another one."""
    kept = ("indices_are_sorted", "mode", "unique_indices")
    return {"numbers": params["dimension_numbers"], **{key: params[key] for key in kept}}


# ---------------------------------------------------------------- scatter_min and scatter_max


class ScatterExtremum(Scattering):
    """A scatter that keeps the smaller, or the larger, of an element and its updates.

    Where several of them are the result, the tangent is the mean of theirs.
    """

    sampled = (np.float32, np.int32)

    def jvp(self, primals, tangents, **params):
        x, indices, updates = primals
        t, _, t_updates = tangents
        out = self.bind(x, indices, updates, **params)
        t, t_updates = instantiate(t), instantiate(t_updates)
        numbers, windows = params["dimension_numbers"], aval_of(updates).shape
        # What is read for windows that are left out does not matter; they must not be counted.
        clips = params["mode"] is CLIP
        mode = CLIP if clips else FILL_OR_DROP

        def read(x: Any) -> Any:
            return read_back(x, indices, numbers, windows, CLIP if clips else PROMISE_IN_BOUNDS)

        def count(zeros: Any, which: Any) -> Any:
            return read(scatter_add_p.apply(zeros, indices, which, numbers, mode=mode))

        old, new = read(x), read(out)
        succeeds, stays = eq_p.bind(updates, new), eq_p.bind(old, new)
        zeros, ones = filled_like(x, 0), filled_like(updates, 1)
        winners = count(zeros, select_n_p.bind(succeeds, filled_like(updates, 0), ones))
        zeros, ones = filled_like(x, 0), filled_like(updates, 1)
        updaters = count(zeros, ones)
        one = constant_like(winners, 1)

        def share_with_old() -> Any:
            return div_p.bind(one, add_p.bind(winners, one))

        # An element that is as large as the winners among its updates takes part in the mean.
        beside, alone = share_with_old(), div_p.bind(one, winners)
        share = select_n_p.bind(stays, alone, beside)
        share = select_n_p.bind(succeeds, filled_like(updates, 0), share)
        # What an element loses of its own tangent, it loses to all of its updates alike.
        beside = share_with_old()
        kept = select_n_p.bind(stays, filled_like(winners, 0), beside)
        lost = div_p.bind(add_p.bind(constant_like(kept, -1), kept), updaters)
        t_new = add_p.bind(mul_p.bind(read(t), lost), mul_p.bind(t_updates, share))
        return out, scatter_add_p.apply(t, indices, t_new, **_options(params))

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        yield from super().samples(rng)
        # Three updates of one element, two of which are equal, and are the element too.
        for x in ([1.0, 4.0], [-9.0, 9.0]):
            updates = np.array([1, 1, 0.5, 1], np.float32) * self.tie
            indices = np.array([[0], [0], [0], [1]], np.int32)
            operands = np.array(x, np.float32), indices, updates
            params = self.params(ScatterDimensionNumbers((), (0,), (0,)), np.float32)
            yield Sample(operands, params, smooth=False)

    tie = 1.0


class ScatterMin(ScatterExtremum):
    """The operand with the windows that begin at the indices bounded above by updates."""

    combine = min_p
    numpy = np.minimum.at
    tie = -1.0


class ScatterMax(ScatterExtremum):
    """The operand with the windows that begin at the indices bounded below by updates."""

    combine = max_p
    numpy = np.maximum.at


# ---------------------------------------------------------------- scatter

# The dtype of the numbers by which updates are told apart.
NUMBER = np.dtype(np.uint32)


class Scatter(Scattering):
    """The operand with the windows that begin at the indices replaced by updates.

    Which one it is where several updates meet is not defined. With an `update_jaxpr`, elements are
    replaced by what that makes of them instead: see `control/scatter_apply.py`.
    """

    masks_cotangents = True
    # The jvp rule with an `update_jaxpr`, which `control/scatter_apply.py` puts here.
    jvp_of_apply: Callable[..., Any]
    sampled = (np.float32, np.complex64, np.int32, np.bool_)

    def ref(self, x, indices, updates, **params):
        if params["update_jaxpr"] is not None:
            raise NotImplementedError(errors.missing_reference("scatter_apply"))
        return super().ref(x, indices, updates, **params)

    def numpy(self, x, index, updates):
        x[index] = updates

    def jvp(self, primals, tangents, **params):
        if params["update_jaxpr"] is not None:
            return self.jvp_of_apply(primals, tangents, **params)
        x, indices, updates = primals
        t, t_updates = instantiate(tangents[0]), instantiate(tangents[2])
        if params["unique_indices"]:
            out = self.bind(x, indices, updates, **params)
            return out, self.bind(t, indices, t_updates, **params)
        # With what is not written, and what is written over, set to zero, the result is a sum.
        windows = aval_of(updates).shape
        stays, wins = self.winners(aval_of(x).shape, indices, windows, params)

        def masked(x: Any, updates: Any) -> tuple[Any, Any]:
            x = select_n_p.bind(stays(), filled_like(x, 0), x)
            return x, select_n_p.bind(wins(), filled_like(updates, 0), updates)

        x, updates = masked(x, updates)
        t, t_updates = masked(t, t_updates)
        options = _options(params)
        out = scatter_add_p.apply(x, indices, updates, **options)
        return out, scatter_add_p.apply(t, indices, t_updates, **options)

    def winners(
        self, shape: tuple[int, ...], indices: Any, windows: tuple[int, ...], params: dict[str, Any]
    ) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """Functions that tell which elements are not written over, and which updates are written.

        Of updates that meet, any may be the one that is written. Numbers that are written in their
        stead, the same way, tell which it is.
        """
        numbers = params["dimension_numbers"]
        number = numbers_of_updates(windows, numbers)
        written = self.apply(full(shape, 0, NUMBER), indices, number, **_options(params))
        found = read_back(written, indices, numbers, windows)
        return (
            lambda: eq_p.bind(written, filled_like(written, 0)),
            lambda: eq_p.bind(number, found),
        )

    def transpose(self, ct, x, indices, updates, **params):
        wants_x, wants_updates = [type(v) is UndefinedPrimal for v in (x, updates)]
        windows = updates.aval.shape if wants_updates else aval_of(updates).shape
        numbers, mode = params["dimension_numbers"], params["mode"]
        ct_x = ct_updates = None
        if params["unique_indices"]:
            if wants_x:
                ct_x = self.bind(ct, indices, full(windows, 0, aval_of(ct).dtype), **params)
            if wants_updates:
                ct_updates = read_back(ct, indices, numbers, windows, mode)
            return ct_x, None, ct_updates
        stays, wins = self.winners(aval_of(ct).shape, indices, windows, params)
        if wants_x:
            ct_x = select_n_p.bind(stays(), filled_like(ct, 0), ct)
        if wants_updates:
            ct_updates = read_back(ct, indices, numbers, windows, mode)
            ct_updates = select_n_p.bind(wins(), filled_like(ct_updates, 0), ct_updates)
        return ct_x, None, ct_updates

    def emit(self, b, x, indices, updates, *, dimension_numbers, mode, **params):
        jaxpr, consts = params["update_jaxpr"], params["update_consts"]
        operands, numbers = (x, indices, updates), dimension_numbers
        if jaxpr is None or not b.avals_in[2].size:
            return super().emit(b, *operands, dimension_numbers=numbers, mode=mode, **params)

        def applied(b: Any, aval: Any, x: Any, update: Any) -> Any:
            (out,) = b.inline(ClosedJaxpr(jaxpr, consts), (x, update))
            return out

        promises = {key: params[key] for key in ("indices_are_sorted", "unique_indices")}
        return emit_many(b, operands, numbers, mode, applied, **promises)

    def combined(self, b, aval, x, update):
        return update

    def samples(self, rng: np.random.Generator) -> Iterator[Sample]:
        for sample in super().samples(rng):
            for unique in (True, False):
                yield sample._replace(params=sample.params | dict(unique_indices=unique))


def numbers_of_updates(shape: tuple[int, ...], numbers: ScatterDimensionNumbers) -> Any:
    """An array of the shape of the updates, with a number for each window; they begin at 1."""
    window = numbers.update_window_dims
    counted = [1 if dim in window else size for dim, size in enumerate(shape)]
    count = math.prod(counted)
    each = iota_p.bind(dtype=NUMBER, shape=(count,), dimension=0, sharding=None)
    return add_p.bind(reshape(each, counted), full(shape, 1, NUMBER))


scatter_mul_p = ScatterMul("scatter-mul")
scatter_min_p = ScatterMin("scatter-min")
scatter_max_p = ScatterMax("scatter-max")
scatter_p = Scatter("scatter")

# ---------------------------------------------------------------- functions

scatter = scatter_function(
    scatter_p,
    "scatter",
    "An array with updates written over windows of it.",
    instead="x.at[i].set(y)",
    example="[2., 0., 3.]",
)
scatter_mul = scatter_function(
    scatter_mul_p,
    "scatter_mul",
    "An array with updates multiplied into windows of it.",
    instead="x.at[i].multiply(y)",
    example="[2., 1., 3.]",
    start="ones",
)
scatter_min = scatter_function(
    scatter_min_p,
    "scatter_min",
    "An array with windows of it bounded above by updates.",
    instead="x.at[i].min(y)",
    example="[0., 0., 0.]",
)
scatter_max = scatter_function(
    scatter_max_p,
    "scatter_max",
    "An array with windows of it bounded below by updates.",
    instead="x.at[i].max(y)",
    example="[2., 0., 3.]",
)
